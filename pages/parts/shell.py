"""The frame around every page: configuration, navigation, the sidebar.

With a ``pages`` folder, a fresh server whose first request is a sub-page runs that page's file
alone. Each page therefore starts through ``page``, which builds the frame first when nobody has.
"""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.terms import with_terms
from cpp_core.verdicts.texts import SEPARATOR, chosen_words
from pages.parts import door, tour
from pages.parts.choices import Choice, sidebar
from pages.parts.controls import confidence_control


class Page(NamedTuple):
    """A page in the navigation.

    ``sidebar`` is False where it asks for all that it needs itself; ``own_link`` is True where the
    keys in its link mean something else than in those of other pages.
    """

    title: str
    sidebar: bool = True
    own_link: bool = False


ROOT = Path(__file__).parents[2]
PLANNED = {
    "overview": Page("Overview"),
    "data": Page("Your data", sidebar=False),
    "compare": Page("Compare"),
    "case": Page("One case"),
    "losses": Page("Losses", sidebar=False),
    "learn": Page("Learn", sidebar=False, own_link=True),
    "report": Page("Report"),
}
PAGES = {name: kind for name, kind in PLANNED.items() if (ROOT / f"pages/{name}.py").exists()}
"""The pages by their names in a link, in the order of the navigation."""

FIRST = "overview"
INSIDE, CHOICE = "_inside_frame", "_choice"
ALONE = '<i class="alone"></i>'
"""Marks a page without a sidebar, whose empty place is hidden when a visitor comes from others."""


def frame() -> None:
    """Draw the navigation and the sidebar, then the current page."""
    st.set_page_config(page_title="Conformal performance prediction", page_icon="🎯", layout="wide")
    pages = {
        name: st.Page(f"pages/{name}.py", title=kind.title, url_path=name, default=name == FIRST)
        for name, kind in PAGES.items()
    }
    current = st.navigation(list(pages.values()), position="hidden")
    name = current.url_path or FIRST
    goal = st.session_state.pop(door.GO, name)
    if goal != name:
        st.switch_page(pages[goal], query_params=door.link())
    door.enter(name, PAGES[name].sidebar, reads=not PAGES[name].own_link)
    bar = st.container(key="pages", horizontal=True, gap=None)
    if PAGES[name].sidebar:
        line = st.container(key="chosen", horizontal=True, vertical_alignment="center")
        choice = st.session_state[CHOICE] = sidebar()
        with line:
            show_chosen(choice)
        door.leave()
    with bar:
        for other, kind in PAGES.items():
            st.page_link(pages[other], query_params=door.link() if kind.sidebar else None)
        if not PAGES[name].sidebar:
            st.html(ALONE)
    tour.show(name)
    st.session_state[INSIDE] = True
    try:
        current.run()
    finally:
        st.session_state[INSIDE] = False
    if "learn" in pages and name != "learn":
        foot({"lesson": "glossary"})
    if not (PAGES[name].sidebar or PAGES[name].own_link):
        door.leave(tells_all=False)
    door.settle()


def foot(query: dict[str, str]) -> None:
    """The foot of a page: where its words are explained."""
    with st.container(key="foot"):
        st.page_link("pages/learn.py", label="Glossary", query_params=query)


def show_chosen(choice: Choice | None) -> None:
    """Say what was chosen; a narrow screen, whose sidebar is a drawer, has the confidence here.

    There the line ends before confidence and trials.
    """
    if choice is not None:
        told = chosen_words(choice.experiment, choice.alpha, choice.trials, choice.side)
        start, *rest = unbroken(told).split(SEPARATOR)
        asked, more = (
            "".join(SEPARATOR + with_terms(part) for part in parts)
            for parts in (rest[:-2], rest[-2:])
        )
        st.html(f'<div class="chosen">{escape(start)}{asked}<span class="rest">{more}</span></div>')
    with st.container(key="phone"):
        confidence_control("confidence-phone", words=False)


def page(body: Callable[..., Any], sidebar: bool = True) -> None:
    """Draw a page inside the frame, or the whole frame when the page's file is run alone.

    ``body`` takes the choice of the sidebar, or nothing where the page has none; ``PLANNED`` says
    the same, because the frame is drawn before the page.
    """
    if not st.session_state.get(INSIDE):
        frame()
    elif not sidebar:
        body()
    elif st.session_state[CHOICE] is not None:
        body(st.session_state[CHOICE])
