"""The frame around every page: configuration, navigation, the sidebar.

With a ``pages`` folder, a fresh server whose first request is a sub-page runs that page's file
alone. Each page therefore starts through ``page``, which builds the frame first when nobody has.
"""

from collections.abc import Callable

import streamlit as st

from pages.parts.choices import Choice, sidebar

PAGES = {
    "overview": ("Overview", "pages/overview.py"),
    "compare": ("Compare", "pages/compare.py"),
    "case": ("One case", "pages/case.py"),
    "report": ("Report", "pages/report.py"),
}
INSIDE, CHOICE = "_inside_frame", "_choice"


def frame() -> None:
    """Draw the navigation and the sidebar, then the current page."""
    st.set_page_config(page_title="Conformal performance prediction", page_icon="🎯", layout="wide")
    pages = [
        st.Page(path, title=title, url_path=name, default=name == "overview")
        for name, (title, path) in PAGES.items()
    ]
    current = st.navigation(pages, position="top")
    st.html("<style>.stMainBlockContainer {padding-top: 4rem}</style>")
    st.session_state[CHOICE] = sidebar()
    st.session_state[INSIDE] = True
    try:
        current.run()
    finally:
        st.session_state[INSIDE] = False


def page(body: Callable[[Choice], None]) -> None:
    """Draw a page inside the frame, or the whole frame when the page's file is run alone."""
    if not st.session_state.get(INSIDE):
        frame()
    elif st.session_state[CHOICE] is not None:
        body(st.session_state[CHOICE])
