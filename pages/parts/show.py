"""Drawing what cpp_core has computed: panels, verdicts, badges."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape
from threading import Lock
from typing import Any, TypeVar

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
import streamlit as st

from cpp_core import ALGORITHMS, Results
from cpp_core.figures.panels import Panel
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.report.export import csv_text, harmless_frame
from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.strip import Strip
from cpp_core.verdicts.strip_cards import STRENGTHS, Card
from cpp_core.verdicts.summary import Table
from cpp_core.verdicts.terms import with_terms
from cpp_core.verdicts.verdict import Verdict
from pages.parts.keeping import DRAWN, Made, made, name_of

T = TypeVar("T")
_drawing = {large: Lock() for large in (False, True)}
LARGE = 2**25
"""Bytes of results from which on a drawing takes long: it delays no small one."""

COLORS = {
    "exact": ("#1d4f9e", "#6cb6ff"),
    "approximate": ("#8a4b00", "#ffbd45"),
    None: ("#5b6170", "#b8bdc9"),
}
"""Colours of a claim by its strength, and of an outcome without one, on light and on dark."""


def dark() -> bool:
    """Whether the visitor sees the dark theme."""
    return st.context.theme.type == "dark"


def kept(function: Callable[..., T], results: Results, *args: Any, **settings: Any) -> T:
    """What a function makes of results; of complete ones it is made once for all sessions."""
    if len(results.trials) < results.asked:
        return function(results, *args, **settings)
    key = function, name_of(results), args, tuple(sorted(settings.items()))

    def draw() -> Made:
        with _drawing[results.nbytes > LARGE]:  # one by one: all at once would all be late
            drawn = DRAWN.find(key)  # by somebody else meanwhile
            return made(function, results, *args, **settings) if drawn is None else drawn

    return DRAWN.get(key, draw).value


@lru_cache(maxsize=1)
def template() -> Settings:
    """Streamlit's theme for charts."""
    return pio.templates[pio.templates.default].to_plotly_json()


class Unchecked(go.Figure):
    """A figure that is sent as it is; checking it again would take longer than drawing it."""

    def __init__(self, sketch: Sketch) -> None:
        layout = sketch.layout | {"template": template()}
        self._spec: Settings = {"data": sketch.data, "layout": layout, "frames": sketch.frames}

    def to_dict(self) -> Settings:
        return self._spec


def as_markdown(text: str) -> str:
    """The text for Markdown: a percentage stays on one line, a dollar is a dollar."""
    return re.sub(r"(?<!\\)\$", r"\$", unbroken(text))


def show_chart(panel: Panel, place: str) -> None:
    """The chart alone."""
    st.plotly_chart(
        Unchecked(panel.sketch),
        key=f"{panel.key}-{place}",
        width="stretch",
        alt=panel.alt,
        config={"displayModeBar": False},
    )


def show_panel(panel: Panel, place: str = "", beside: bool = False) -> None:
    """A title that states the finding with its data beside it, the chart, how to read it.

    One that stands ``beside`` another is as high as that.
    """
    with st.container(border=True, height="stretch" if beside else "content"):
        with st.container(horizontal=True, wrap=False, horizontal_alignment="distribute"):
            st.html(f'<p class="finding">{explained(panel.title, set())}</p>', width="stretch")
            st.download_button(
                "CSV",
                data=lambda: csv_text(panel.data),
                file_name=f"{panel.key}.csv",
                mime="text/csv",
                key=f"csv-{panel.key}-{place}",
                type="tertiary",
                help="The numbers behind this chart",
            )
        show_chart(panel, place)
        st.html(f'<p class="caption">{explained(panel.caption, set())}</p>')


def show_table(table: Table) -> None:
    """A small table of texts, and how to read it."""
    lines = [table.head, ["---", *["---:"] * (len(table.head) - 1)], *table.rows]
    st.markdown(as_markdown("\n".join(f"| {' | '.join(line)} |" for line in lines)))
    st.caption(as_markdown(table.caption))


def show_frame(frame: pd.DataFrame) -> None:
    """A table to look through. The browser offers it as CSV, cell by cell as it is shown."""
    st.dataframe(harmless_frame(frame), hide_index=True)


def show_strip(strip: Strip, colors: Mapping[str, str] | None = None) -> None:
    """The decision and the figures that it rests on: the first thing on a page.

    ``colors`` are those of names that are no algorithm's.
    One element: a page has many, and each costs the browser time at every move of a slider.
    """
    st.html(strip_html(strip, dark(), colors))


def show_verdict(verdict: Verdict) -> None:
    """A verdict in a line with its outcome and strength; "why?" opens the sentences behind it."""
    st.html(verdict_html(verdict, dark()))


def literal(text: str) -> str:
    """A user's text that Markdown shows as it is."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", unbroken(text))


def as_html(text: str) -> str:
    """A text in which nothing is read as markup, with every percentage on one line."""
    return escape(unbroken(text), quote=False)


def explained(text: str, seen: set[str]) -> str:
    """The same, with the terms explained that were not seen in the texts before it."""
    return with_terms(unbroken(text), seen)


def chip(mark: str, strength: str | None, on_dark: bool) -> str:
    """A word on outcome or strength in its colour."""
    if not mark:
        return ""
    color = COLORS[strength][on_dark]
    return f'<span style="color:{color}">{as_html(mark)}</span>'


def behind(verdicts: Sequence[Verdict]) -> str:
    """The sentences in full, with what they rest on."""
    seen: set[str] = set()
    return "".join(
        f"<p><strong>{explained(own.text, seen)}</strong><br>{explained(own.why, seen)} Assumes "
        f"{explained(own.assumptions, seen)}.</p>"
        for own in verdicts
    )


def why(mark: str, verdicts: Sequence[Verdict]) -> str:
    """A mark, and what opens behind it."""
    if not verdicts:
        return f'<div class="told">{mark}</div>' if mark else ""
    between = " · " if mark else ""
    return (
        f'<details class="told"><summary>{mark}{between}<u>why?</u></summary>'
        f"{behind(verdicts)}</details>"
    )


def verdict_html(verdict: Verdict, on_dark: bool) -> str:
    """One line of a list of verdicts."""
    strength = STRENGTHS[verdict.badge] if verdict.claim == "yes" else None
    line, mark = explained(verdict.brief.line, set()), chip(verdict.mark, strength, on_dark)
    return f'<div class="verdict"><p>{line}</p>{why(mark, [verdict])}</div>'


def card_html(card: Card, on_dark: bool, seen: set[str]) -> str:
    """One figure with its topic above, what belongs to it below, and what it is worth."""
    mark = chip(card.mark, card.strength, on_dark)
    topic, figure, detail = (explained(own, seen) for own in (card.topic, card.text, card.detail))
    return (
        f'<div class="card"><p class="topic">{topic}</p>'
        f'<p class="figure">{figure}</p><p class="detail">{detail}</p>'
        f"{why(mark, card.verdicts)}</div>"
    )


def strip_html(strip: Strip, on_dark: bool, colors: Mapping[str, str] | None = None) -> str:
    """Headline, sentence and cards; the headline is underlined in the colour of whom it names."""
    if colors is None:
        colors = {name: own.color for name, own in ALGORITHMS.items()}
    known = [colors[name] for name in strip.names if name in colors]
    color = known[0] if len(known) == 1 else "rgba(128,128,128,.5)"
    seen: set[str] = set()
    text = f'<span class="sub">{explained(strip.text, seen)}</span>'
    if strip.behind:
        own = strip.judged
        strength = STRENGTHS[own.badge] if own and own.claim == "yes" else None
        mark = f" {chip(own.mark, strength, on_dark)} ·" if own else ""
        text = (
            f'<details class="sub told"><summary>{text}{mark} <u>why?</u></summary>'
            f"{behind(strip.behind)}</details>"
        )
    cards = "".join(card_html(card, on_dark, seen) for card in strip.cards)
    failed = "".join(f'<p class="failed">{as_html(line)}</p>' for line in strip.failed)
    return (
        f'<div class="strip"><h1 style="text-decoration-color:{color}">'
        f'{as_html(strip.title)}</h1><div class="under">{text}</div>'
        f'{failed}<div class="cards">{cards}</div></div>'
    )
