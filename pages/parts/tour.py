"""The tour: a line above each page that it goes through, and the way on."""

import streamlit as st

from cpp_core.verdicts.tour_words import STOPS, stop_words
from pages.parts import door

AT = "_tour"
"""In the session: the stop that the tour is at."""


def begin() -> None:
    """Start at the first stop."""
    st.session_state[AT] = 0


def _onward(i: int) -> None:
    if i + 1 < len(STOPS):
        st.session_state[AT] = i + 1
        door.go_to(STOPS[i + 1].page)
        st.rerun()
    end()


def end() -> None:
    """Leave the tour; the whole page is drawn anew."""
    st.session_state.pop(AT, None)
    st.rerun()


def show(page: str) -> None:
    """What to look at on this page, where the tour is there; the first stop ends with a run."""
    pages = [stop.page for stop in STOPS]
    if AT not in st.session_state or page not in pages:
        return
    i = st.session_state[AT] = pages.index(page)  # the visitor may go any way
    with st.container(key="tour", border=True):
        text, onward, leave = st.columns([8, 2.2, 1], vertical_alignment="center")
    text.markdown(stop_words(i))
    if i:
        onward.button(STOPS[i].onward, key=f"tour-{i}", on_click=_onward, args=(i,))
    leave.button("Leave", key="tour-end", type="tertiary", on_click=end)
