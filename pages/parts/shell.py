"""The frame around every page: configuration, navigation, the sidebar.

With a ``pages`` folder, a fresh server whose first request is a sub-page runs that page's file
alone. Each page therefore starts through ``page``, which builds the frame first when nobody has.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st

from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.terms import with_terms
from cpp_core.verdicts.texts import SEPARATOR, chosen_words
from pages.parts import door, tour
from pages.parts.choices import Choice, Refused, sidebar
from pages.parts.controls import chosen_alpha, confidence_control


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
INSIDE, CHOICE, LINKED = "_inside_frame", "_choice", "_pages"
"""In the session: whether the frame is drawn, what was chosen, and the pages that links lead to."""

ALONE = '<i class="alone"></i>'
"""Marks a page without a sidebar, whose empty place is hidden when a visitor comes from others."""


def frame() -> None:
    """Draw the navigation and the sidebar, then the current page."""
    st.set_page_config(page_title="Conformal performance prediction", page_icon="🎯", layout="wide")
    pages = {
        name: st.Page(f"pages/{name}.py", title=kind.title, url_path=name, default=name == FIRST)
        for name, kind in PAGES.items()
    }
    st.session_state[LINKED] = pages
    current = st.navigation(list(pages.values()), position="hidden")
    name = current.url_path or FIRST
    goal = st.session_state.pop(door.GO, name)
    if goal != name:
        st.switch_page(pages[goal], query_params=door.link())
    door.enter(name, PAGES[name].sidebar, reads=not PAGES[name].own_link)
    if PAGES[name].sidebar:
        st.session_state[CHOICE] = sidebar()
        door.leave()
    else:
        show_links(sidebar=False)
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
    st.session_state[door.WHOLE] = PAGES[name].sidebar


def show_links(sidebar: bool = True) -> None:
    """The navigation, with links that tell what was chosen."""
    with st.container(key="pages", horizontal=True, gap=None):
        for name in PAGES:
            link_to(name)
        if not sidebar:
            st.html(ALONE)


def link_to(name: str, label: str | None = None) -> None:
    """A link to a page, which takes along what was chosen where the page asks for that."""
    query = door.link() if PAGES[name].sidebar else None
    st.page_link(st.session_state[LINKED][name], label=label, query_params=query)


def foot(query: dict[str, str]) -> None:
    """The foot of a page: where its words are explained."""
    with st.container(key="foot"):
        st.page_link("pages/learn.py", label="Glossary", query_params=query)


def show_chosen(choice: Choice | Refused) -> None:
    """Say what was chosen; a narrow screen, whose sidebar is a drawer, has the confidence here.

    There the line ends before confidence and trials.
    """
    if isinstance(choice, Choice):
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
    else:
        answer(body, st.session_state[door.FOLLOWING])


@st.fragment
def answer(body: Callable[[Choice], Any], following: Sequence[door.Following]) -> None:
    """All that follows alpha: the page but for the other controls, drawn alone when it is moved."""
    choice: Choice | Refused = st.session_state[CHOICE]
    if isinstance(choice, Choice):
        choice = replace(choice, alpha=chosen_alpha())
    for place, draw in following:
        with place:
            draw()
    show_links()
    with st.container(key="chosen", horizontal=True, vertical_alignment="center"):
        show_chosen(choice)
    tour.show(st.session_state[door.WHERE])
    if isinstance(choice, Refused):
        choice.say()
    else:
        body(choice)
