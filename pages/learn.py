"""Learn: a shelf of short lessons, and inside each a question, something to move, what happened."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import segno
import streamlit as st

from cpp_core.lessons import LESSONS
from cpp_core.lessons.charts import large
from cpp_core.lessons.lesson import Control, Lesson, Pick, Shown, Slider, applies
from cpp_core.verdicts.language import unbroken
from pages.parts import lesson_link
from pages.parts.lesson_link import PARTS
from pages.parts.marked import image, marked
from pages.parts.shell import foot, page
from pages.parts.show import as_html, as_markdown, dark, literal, show_chart
from pages.parts.teaching import GLOSSARY, MORE, PAGE

STYLE = Path(__file__).parent / "parts" / "learn.css"
LARGE = Path(__file__).parent / "parts" / "lecture.css"
KEYS = f"<script>{(STYLE.parent / 'lecture.js').read_text()}</script>"
NAMES = list(LESSONS)
ALONE = (
    " But this address is of this machine alone: start the server with "
    "`STREAMLIT_SERVER_ADDRESS=0.0.0.0`, and open it here by the name that phones can reach."
)


# The shelf


def shelf(unknown: str = "") -> None:
    """All lessons, with a picture each, and what there is beside them.

    A link may have asked for an ``unknown`` one.
    """
    head("Learn it by playing", {})
    if unknown:
        name = f"“{unknown[:40]}{'…' * (len(unknown) > 40)}”"
        st.info(f"The link names a lesson that is not here, {literal(name)}. Here are all of them.")
    st.html(
        "<p class='lead'>One picture, one thing to move, one surprise: each takes about two "
        "minutes.</p>"
    )
    with st.container(key="shelf"):
        for i, lesson in enumerate(LESSONS.values(), 1):
            with st.container(key=f"card-{lesson.name}", border=True, gap=None):
                st.html(image(lesson.cover(dark())))
                query = lesson_link.link(lesson.name)
                st.page_link(PAGE, label=f"{i}. {lesson.title}", query_params=query)
                st.caption(as_markdown(lesson.question))
    with st.container(key="more", horizontal=True):
        for name, more in MORE.items():
            st.page_link(PAGE, label=more.title, query_params=lesson_link.link(name))
    if lesson_link.lecture():
        way(NAMES[0], f"1. {LESSONS[NAMES[0]].title} →", "Right")


def head(title: str, query: dict[str, str]) -> None:
    """The title of a view, and what a lecturer needs beside it; the query is that of its link."""
    with st.container(key="head", horizontal=True, horizontal_alignment="distribute"):
        st.html(f"<h1>{as_html(title)}</h1>", width="content")
        with st.container(horizontal=True, width="content", key="mode"):
            mode(query)


# A lesson


def control_widget(lesson: Lesson, control: Control) -> None:
    """Something to move."""
    key = lesson_link.widget(lesson, control)
    changed: dict[str, Any] = {"on_change": lesson_link.take, "args": (lesson, control)}
    if isinstance(control, Slider):
        ends = control.low, control.high
        st.slider(control.label, *ends, step=control.step, key=key, **changed)
    elif isinstance(control, Pick):
        options: dict[str, Any] = {
            "options": list(control.options),
            "format_func": control.options.__getitem__,
        }
        if control.kind == "steps":
            st.select_slider(control.label, **options, key=key, **changed)
        elif control.kind == "list":
            st.radio(control.label, **options, key=key, **changed)
        else:
            st.segmented_control(control.label, **options, required=True, key=key, **changed)
    else:
        take: dict[str, Any] = {"on_click": lesson_link.take, "args": (lesson, control)}
        st.button(control.label, key=key, **take)


def controls(lesson: Lesson) -> None:
    """All that can be moved now, but for a list, which has its own place."""
    values = st.session_state[lesson_link.VALUES]
    with st.container(key="controls", horizontal=True, vertical_alignment="bottom"):
        for control in lesson.controls:
            if applies(control, values) and control.kind != "list":
                with st.container(key=f"control-{control.kind}-{control.key}", width="content"):
                    control_widget(lesson, control)


def told(lesson: Lesson, shown: Shown) -> None:
    """The words, the formula, the code and the question at the end, behind toggles."""
    place = lesson_link.opened(lesson)
    taken: dict[str, Any] = {"on_change": lesson_link.take_opened, "args": (lesson,)}
    chosen = st.pills("More", PARTS, key=place, label_visibility="collapsed", **taken)
    if chosen == "Why?":
        st.html(f'<p class="words">{marked(shown.words or lesson.words)}</p>')
    elif chosen == "The formula":
        st.markdown(unbroken(lesson.formula))
    elif chosen == "In Python":
        st.code(shown.code, language="python")
    elif chosen == "Check yourself":
        check = shown.check or lesson.check
        st.html(
            f"<p><strong>{marked(check.question)}</strong></p><details><summary>Show the "
            f"answer</summary><p>{marked(check.answer)}</p></details>"
        )


def only_here(address: str) -> bool:
    """Whether an address means the machine that opens it, so that no phone finds this server.

    >>> only_here("http://localhost:8501/learn"), only_here("http://10.0.0.7:8501/learn")
    (True, False)
    """
    host = urlsplit(address).hostname or ""
    return host in ("localhost", "::1", "0.0.0.0") or host.startswith("127.")


def mode(query: dict[str, str]) -> None:
    """Lecturer's mode, and a code that opens the present view on a phone."""
    lecturing = lesson_link.lecture()
    label = "Leave lecturer's mode" if lecturing else "Lecturer's mode"
    # Another key in each mode: a button that kept the focus would end the lecture at a space.
    key = "lecture-end" if lecturing else "lecture-begin"
    st.button(label, key=key, on_click=lesson_link.set_lecture, args=(not lecturing,))
    with st.popover("QR for the class"):
        address = f"{st.context.url or ''}{'?' if query else ''}{urlencode(query)}"
        code = segno.make(address, error="m", micro=False).svg_data_uri(
            scale=6, border=3, light="white"
        )
        st.html(f'<img class="qr" src="{code}" alt="A QR code of this view\'s link">')
        st.caption("Opens this view on a phone." + (ALONE if only_here(address) else ""))
        st.code(address, language=None, wrap_lines=True)


def keyed(name: str, text: str, shortcut: str | None, goes: Callable[..., None], *to: Any) -> None:
    """A button with a key, and with the one that a presenter's remote control sends.

    Streamlit writes the key beside it, which is an arrow already.
    """
    text = text.strip("← →") if shortcut else text
    going: dict[str, Any] = {"on_click": goes, "args": to, "type": "tertiary"}
    st.button(text, key=f"go-{name}", shortcut=shortcut, **going)
    if shortcut:  # the remote control's is a button that nobody sees
        with st.container(key=f"remote-{name}"):
            remote = "PageDown" if shortcut == "Right" else "PageUp"
            st.button(text, key=f"remote-go-{name}", shortcut=remote, **going)


def way(name: str, text: str, shortcut: str | None = None) -> None:
    """The way to another lesson or to the shelf; in lecturer's mode a button with a key.

    Backwards it leads to the last stage, as among slides.
    """
    if lesson_link.lecture():
        stages = lesson_link.stages(LESSONS[name]) if shortcut == "Left" and name in NAMES else None
        values = {stages.key: list(stages.options)[-1]} if stages else None
        keyed(name, text, shortcut, lesson_link.go, name, values)
    else:
        st.page_link(PAGE, label=text, query_params=lesson_link.link(name))


def stage_ways(lesson: Lesson) -> tuple[Callable[[], None] | None, ...]:
    """In a lecture: what draws the ways to the stage before and to the next, where there are."""
    stages = lesson_link.stages(lesson) if lesson_link.lecture() else None
    if stages is None:
        return None, None
    options = list(stages.options)
    at = options.index(st.session_state[lesson_link.VALUES][stages.key])
    to = lesson_link.go_to, stages

    def draw(option: Any, text: str, shortcut: str) -> None:
        keyed(f"{lesson.name}-{option}", text, shortcut, *to, option)

    before, after = options[:at][-1:], options[at + 1 :][:1]
    return (
        partial(draw, before[0], f"← {stages.options[before[0]]}", "Left") if before else None,
        partial(draw, after[0], f"{stages.options[after[0]]} →", "Right") if after else None,
    )


def neighbours(lesson: Lesson) -> None:
    """The way on and back."""
    i = NAMES.index(lesson.name)
    before, after = stage_ways(lesson)
    with st.container(key="neighbours", horizontal=True, horizontal_alignment="distribute"):
        if before:
            before()
        elif i > 0:
            way(NAMES[i - 1], f"← {i}. {LESSONS[NAMES[i - 1]].title}", "Left")
        way(lesson_link.SHELF, "All lessons", None if i or before else "Left")
        if after:
            after()
        elif i + 1 < len(NAMES):
            way(NAMES[i + 1], f"{i + 2}. {LESSONS[NAMES[i + 1]].title} →", "Right")


def lesson_page(lesson: Lesson) -> None:
    """One lesson."""
    number = NAMES.index(lesson.name) + 1
    values = st.session_state[lesson_link.VALUES]
    head(f"{number}. {lesson.title}", lesson_link.shortest(lesson, values))
    seen: set[str] = set()
    st.html(f'<p class="lead">{marked(lesson.opening, seen)}</p>')
    shown = lesson.play(dark(), **values)
    lists = [control for control in lesson.controls if control.kind == "list"]
    widths = [0.22] * len(lists) + [0.7] + [0.3] * bool(shown.layouts)
    columns = st.columns(widths, gap="large")
    for control in lists:
        with columns[0], st.container(key="list"):
            control_widget(lesson, control)
    with columns[len(lists)]:
        controls(lesson)
        st.html(
            f"<style>.stApp {{--fell: {shown.fell:.5g}}}</style><div class='found'>"
            f'<div class="finding">{as_html(shown.finding)}</div>'
            f'<p class="said">{marked(shown.said, seen)}</p></div>'
        )
        for panel in shown.panels:
            sketch = large(panel.sketch) if lesson_link.lecture() else panel.sketch
            show_chart(replace(panel, sketch=sketch), lesson.name)
            st.html(f"<p class='seen'>{marked(panel.caption, seen)}</p>")
        told(lesson, shown)
        st.html(f"<p class='seen'>⚠ {marked(shown.caveat or lesson.caveat, seen)}</p>")
    for drawing in shown.layouts:
        columns[-1].html(f"{image(drawing)}<p class='seen'>{marked(drawing.caption, seen)}</p>")
    neighbours(lesson)
    if lesson_link.lecture():
        films = any(panel.sketch.frames for panel in shown.panels)
        more = "; P plays the picture" if films else ""
        st.html(f"<p class='seen keys'>Keys: ← and →, or Page Up and Page Down{more}.</p>")
        st.html(KEYS, unsafe_allow_javascript=True)
    lesson_link.leave(lesson)


def body() -> None:
    st.html(STYLE)
    name = st.query_params.get("lesson", lesson_link.SHELF)
    lesson_link.enter(name, LESSONS.get(name))
    if lesson_link.lecture():
        st.html(LARGE)
    if name in LESSONS:
        lesson_page(LESSONS[name])
    elif name in MORE:
        MORE[name].show()
        way(lesson_link.SHELF, "All lessons")
    else:
        shelf("" if name == lesson_link.SHELF else name)
    if name != GLOSSARY and (name in LESSONS or name in MORE):  # the shelf has it among its links
        foot(lesson_link.link(GLOSSARY))


page(body, sidebar=False)
