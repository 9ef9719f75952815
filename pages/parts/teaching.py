"""What Learn offers beside its lessons: glossary, lecture plan, exercises, one page to print."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from cpp_core.catalog.presets import PRESETS
from cpp_core.lessons import LESSONS
from cpp_core.lessons.exercises import exercises
from cpp_core.lessons.glossary import glossary
from cpp_core.lessons.plan import MINUTES, PLAN, Step
from cpp_core.report.sheets import (
    NOT_SAID,
    STEPS,
    TITLE,
    exercises_html,
    needed_table,
    pictures,
    plan_html,
    summary_html,
)
from pages.parts import door, lesson_link
from pages.parts.controls import settings_of
from pages.parts.marked import image, marked
from pages.parts.shell import FIRST
from pages.parts.show import as_html, dark

PAGE = "pages/learn.py"
GLOSSARY = "glossary"


def to_print(label: str, make: Callable[[], str], name: str) -> None:
    """A file to print or to hand out, made when it is asked for."""
    st.download_button(label, make, f"{name}.html", "text/html", key=f"print-{name}")


def show_glossary() -> None:
    """Every term, with the lessons in which it stands."""
    numbers = {name: i for i, name in enumerate(LESSONS, 1)}
    rows = "".join(
        f'<dt id="term-{escape(own.name)}">{as_html(own.name)}</dt><dd>{as_html(own.definition)} '
        + ", ".join(
            f'<a href="?lesson={name}" target="_self">lesson {numbers[name]}</a>'
            for name in own.lessons[:3]
        )
        + "</dd>"
        for own in glossary()
    )
    st.html(
        "<h1>Glossary</h1><p class='lead'>One wording for each term, on every page. Marked words "
        f"show it where they stand.</p><dl class='terms'>{rows}</dl>"
    )


def opens(step: Step) -> tuple[str, dict[str, Any]]:
    """The page that a part of the lecture opens, and the query of its link."""
    if step.is_lesson:
        return PAGE, {"lesson": step.name, **{k: str(v) for k, v in step.settings.items()}}
    return f"pages/{PRESETS[step.name].opens}.py", door.link_of(settings_of(step.name), {})


def addresses() -> dict[str, str]:
    """Where the parts of the lecture open on this server, by their names."""
    server, found = (st.context.url or "").rpartition("/")[0], {}
    for step in PLAN:
        page, query = opens(step)
        name = Path(page).stem
        found[step.name] = f"{server}/{'' if name == FIRST else name}?{urlencode(query, True)}"
    return found


def show_plan() -> None:
    """The lecture, part by part, each with what to open and what to ask."""
    st.html(
        f"<h1>Lecture plan</h1><p class='lead'>{MINUTES} minutes: the lessons and the paper's four "
        "runs, with a question and its answer for each.</p>"
    )
    known = addresses()
    to_print("To print", lambda: plan_html(known), "lecture-plan")
    at = 0
    for i, step in enumerate(PLAN):
        with st.container(key=f"step-{i}", horizontal=True, vertical_alignment="top"):
            st.html(f"<div class='at'>{at}′</div>", width="content")
            with st.container(gap=None):
                page, query = opens(step)
                mode = lesson_link.LECTURING if step.is_lesson and lesson_link.lecture() else {}
                label = step.title if step.is_lesson else f"Run: {step.title}"
                st.page_link(page, label=label, query_params=query | mode)
                st.html(
                    f"<details><summary>{marked(step.question)}</summary>"
                    f"<p>{marked(step.answer)}</p></details>"
                )
        at += step.minutes


def show_exercises() -> None:
    """Tasks with their solutions behind a click."""
    st.html(
        "<h1>Exercises</h1><p class='lead'>From easy to hard; most need only pen and paper.</p>"
    )
    with st.container(horizontal=True):
        to_print("To print", lambda: exercises_html(solutions=False), "exercises")
        to_print("With solutions", lambda: exercises_html(solutions=True), "exercises-solutions")
    tasks = "".join(
        f"<li><strong>{as_html(own.title)}</strong><p>{marked(own.task)}</p><details><summary>"
        f"Solution</summary><p>{as_html(own.solution)}</p></details></li>"
        for own in exercises()
    )
    st.html(f"<ol class='tasks'>{tasks}</ol>")


def show_summary() -> None:
    """The method, as it stands on the page to print."""
    st.html(f"<h1>{TITLE}</h1>")
    to_print("To print", summary_html, "one-page")
    steps = "".join(f"<li>{marked(step)}</li>" for step in STEPS)
    limits = "".join(f"<li>{marked(said)}</li>" for said in NOT_SAID)
    st.html(f"<ol>{steps}</ol>")
    for place, drawing in zip(st.columns(2), pictures(dark()), strict=True):
        place.html(f"{image(drawing)}<p class='seen'>{as_html(drawing.caption)}</p>")
    table = needed_table()
    lines = [table.head, ["---"] * len(table.head), *table.rows]
    st.markdown("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    st.caption(table.caption)
    st.html(f"<h3>What it does not say</h3><ul>{limits}</ul>")


class More(NamedTuple):
    """Something beside the lessons: what it is called, and what draws it."""

    title: str
    show: Callable[[], None]


MORE = {
    "plan": More(f"Lecture plan, {MINUTES} minutes", show_plan),
    "exercises": More("Exercises", show_exercises),
    GLOSSARY: More("Glossary", show_glossary),
    "summary": More("One page to print", show_summary),
}
"""What stands under the shelf, by its name in the link."""
