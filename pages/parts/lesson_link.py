"""The link of a lesson, in which every control stands: ``/learn?lesson=coverage-is-random&k=99``.

A key means something else in every lesson. While a visitor stays in one, the session is newer than
the link, which comes with a request that may have been sent before the last answer arrived.
"""

from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from cpp_core.lessons.lesson import Control, Lesson, Pick, applies

OPENED, VALUES, LECTURE = "_lesson", "_lesson_values", "_lecture"
MOVED = "_lesson_moved"
"""In the session: whether the visitor has moved anything in the lesson that is open."""
LECTURING = {"lecture": "1"}
OPEN = "_lesson_open"
"""In the session: which of the parts under the picture is open."""
PARTS = ("Why?", "The formula", "In Python", "Check yourself")
IN_LINK = dict(zip(("why", "formula", "python", "check"), PARTS, strict=True))
SHELF = "shelf"


def read(control: Control) -> Any:
    """What the link says of a control; where it starts if it says nothing, or nonsense."""
    try:
        return control.read(st.query_params.get(control.key, ""))
    except ValueError:
        return control.default


def enter(name: str, lesson: Lesson | None) -> None:
    """Take in what the link says, when it was opened or gone back to."""
    state, run = st.session_state, get_script_run_ctx()
    back = run is not None and run.is_history_navigation
    if state.get(OPENED) != name or back:
        controls = lesson.controls if lesson else ()
        state[OPENED], state[VALUES] = name, {c.key: read(c) for c in controls}
        state[MOVED] = False
        state[OPEN] = IN_LINK.get(st.query_params.get("open", ""))
        state[LECTURE] = st.query_params.get("lecture") == LECTURING["lecture"]
        if not back:  # a link to the page that one is on changes the view, but not the address
            # Only what is ours: Streamlit refuses to write some keys that it reads.
            known = ("lesson", *(c.key for c in controls), "open", *LECTURING)
            said = {key: st.query_params.get_all(key) for key in known if key in st.query_params}
            st.query_params.from_dict({key: texts[-1] for key, texts in said.items() if texts})


def leave(lesson: Lesson) -> None:
    """Write to the link what the controls say, where it says something else, or nonsense."""
    values = st.session_state[VALUES]
    lecturing = st.query_params.get("lecture") == LECTURING["lecture"]
    says = {c.key: st.query_params.get(c.key, str(c.default)) for c in lesson.controls}
    meant = {c.key: str(values[c.key]) for c in lesson.controls}
    shows = IN_LINK.get(st.query_params.get("open", ""))
    if says != meant or lecturing != lecture() or shows != st.session_state[OPEN]:
        names = [name for name, part in IN_LINK.items() if part == st.session_state[OPEN]]
        told = {"open": names[0]} if names else {}
        st.query_params.from_dict(link(lesson.name, values) | told)


def link(name: str, values: dict[str, Any] | None = None) -> dict[str, str]:
    """The link of a lesson at these values, in the present mode; of the shelf without a name."""
    told = {"lesson": name} if name != SHELF else {}
    told |= {key: str(value) for key, value in (values or {}).items()}
    return told | (LECTURING if lecture() else {})


def shortest(lesson: Lesson, values: dict[str, Any]) -> dict[str, str]:
    """The shortest link that opens the same view, out of lecturer's mode: for a code to scan."""
    moved = [c for c in lesson.controls if applies(c, values) and values[c.key] != c.default]
    return {"lesson": lesson.name} | {c.key: str(values[c.key]) for c in moved}


def opened(lesson: Lesson) -> str:
    """The key of the widget that opens a part, which shows the part that is open."""
    key = f"{lesson.name}-told"
    if st.session_state.get(key) != st.session_state[OPEN]:
        st.session_state[key] = st.session_state[OPEN]
    return key


def take_opened(lesson: Lesson) -> None:
    """Know which part the visitor has opened, or that none is open."""
    st.session_state[OPEN] = st.session_state[f"{lesson.name}-told"]


def lecture() -> bool:
    """Whether the page is shown to a class."""
    return bool(st.session_state.get(LECTURE))


def set_lecture(on: bool) -> None:
    """Begin or end lecturer's mode, in the link too."""
    st.session_state[LECTURE] = on
    if on:
        st.query_params.update(LECTURING)
    else:
        st.query_params.pop("lecture", None)


def go(name: str, values: dict[str, Any] | None = None) -> None:
    """Open another lesson where it starts, or at these values."""
    st.query_params.from_dict(link(name, values))


def stages(lesson: Lesson) -> Pick | None:
    """The control whose options a lecture goes through one after the other."""
    found = (c for c in lesson.controls if isinstance(c, Pick) and c.kind == "stages")
    return next(found, None)


def go_to(control: Pick, option: Any) -> None:
    """Go to another stage of the lesson that is open."""
    st.session_state[MOVED] = True
    st.session_state[VALUES][control.key] = option


def widget(lesson: Lesson, control: Control) -> str:
    """The key of a control's widget, which shows what is known of it.

    It is told again and again until the visitor moves something: a browser that is slow to load
    sees the last answer only, and would show where the widget starts.
    """
    state, key = st.session_state, f"{lesson.name}-{control.key}"
    value = state[VALUES][control.key]
    if control.kind != "again" and (not state[MOVED] or state.get(key) != value):
        state[key] = value
    return key


def take(lesson: Lesson, control: Control) -> None:
    """Know what the visitor chose."""
    st.session_state[MOVED] = True
    known = st.session_state[VALUES]
    if control.kind == "again":
        known[control.key] = (known[control.key] + 1) % 10_000
    else:
        known[control.key] = st.session_state[f"{lesson.name}-{control.key}"]
