"""The frame around every page: configuration, navigation, the sidebar.

With a ``pages`` folder, a fresh server whose first request is a sub-page runs that page's file
alone. Each page therefore starts through ``page``, which builds the frame first when nobody has.
"""

from collections.abc import Callable

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from pages.parts.choices import sidebar

PAGES = {
    "overview": ("Overview", "pages/overview.py"),
    "compare": ("Compare", "pages/compare.py"),
    "case": ("One case", "pages/case.py"),
    "learn": ("Learn", "pages/learn.py"),
    "report": ("Report", "pages/report.py"),
}
WITHOUT_SIDEBAR = {"learn"}
"""Pages that ask for all that they need themselves."""
Settings = dict[str, list[str]]
INSIDE, CHOICE, ADDRESS = "_inside_frame", "_choice", "_address"


def frame() -> None:
    """Draw the navigation and the sidebar, then the current page."""
    st.set_page_config(page_title="Conformal performance prediction", page_icon="🎯", layout="wide")
    had, has = st.session_state.get(ADDRESS, {}), address()
    st.session_state[ADDRESS] = had | has  # before there is a link to another page
    pages = [
        st.Page(path, title=title, url_path=name, default=name == "overview")
        for name, (title, path) in PAGES.items()
    ]
    current = st.navigation(pages, position="top")
    st.html("<style>.stMainBlockContainer {padding-top: 4rem}</style>")
    if current.url_path in WITHOUT_SIDEBAR:
        st.session_state[ADDRESS] = had
    else:
        give_back(had, has, current)
        st.session_state[CHOICE] = sidebar()
        told = {key: v for key, v in address().items() if key in st.session_state}
        st.session_state[ADDRESS] = told
    st.session_state[INSIDE] = True
    try:
        current.run()
    finally:
        st.session_state[INSIDE] = False


def address() -> Settings:
    """The settings in the link, as texts."""
    return {key: st.query_params.get_all(key) for key in st.query_params}


def give_back(had: Settings, has: Settings, current: StreamlitPage) -> None:
    """Give back to the link what it lost when a page was left before it was complete.

    Streamlit takes settings along to another page only once the browser has drawn their controls.
    A control that the server knows writes its value when it is set again; if there is none yet, the
    page starts anew with the link that it should have had.
    """
    lost = had.keys() - has.keys()
    for key in lost & st.session_state.keys():
        st.session_state[key] = st.session_state[key]
    if lost - st.session_state.keys():
        st.switch_page(current, query_params=had | has)


def page(body: Callable[..., None], sidebar: bool = True) -> None:
    """Draw a page inside the frame, or the whole frame when the page's file is run alone."""
    if not st.session_state.get(INSIDE):
        frame()
    elif not sidebar:
        body()
    elif st.session_state[CHOICE] is not None:
        body(st.session_state[CHOICE])
