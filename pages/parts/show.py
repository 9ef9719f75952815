"""Drawing what cpp_core has computed: panels, verdicts, badges."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from html import escape
from threading import Lock
from typing import Any, TypeVar

import plotly.graph_objects as go
import plotly.io as pio
import streamlit as st

from cpp_core import ALGORITHMS, Results
from cpp_core.figures.panels import Panel
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.verdicts.about import Verdict
from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.strip import STRENGTHS, Card, Strip

T = TypeVar("T")
_drawing = Lock()

COLORS = {
    "exact": ("#1d4f9e", "#6cb6ff"),
    "approximate": ("#8a4b00", "#ffbd45"),
    None: ("#5b6170", "#b8bdc9"),
}
"""Colours of a claim by its strength, and of an outcome without one, on light and on dark."""

STYLE = """<style>
.strip h1 {font-size: 2.25rem; line-height: 1.15; padding: 0; margin: 0 0 .3rem; display: inline;
  font-weight: 700; text-decoration-line: underline; text-decoration-thickness: 5px;
  text-underline-offset: 7px; text-decoration-skip-ink: none}
.strip .under {margin: .55rem 0 .8rem}
.strip .sub {font-size: 1.05rem; opacity: .85}
.strip .sub p {font-size: .82rem}
.cards {display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr))}
.card {border: 1px solid rgba(128, 128, 128, .3); border-radius: .7rem; padding: .65rem .9rem}
.card > * {margin: 0}
.card .topic, .card .detail {font-size: .82rem; opacity: .8}
.card .figure {font-size: 1.25rem; font-weight: 700; line-height: 1.3; margin: .1rem 0}
.told {font-size: .82rem}
.told summary {cursor: pointer; list-style: none}
.told summary::-webkit-details-marker {display: none}
.told summary u {opacity: .8}
.told p {margin: .5rem 0}
.verdict {margin: 0 0 .6rem}
.verdict > p {margin: 0 0 .1rem}
@media (max-width: 640px) {
  .strip h1 {font-size: 1.6rem} .strip .under {margin: .4rem 0 .5rem}
  .strip .sub {font-size: .95rem}
  .cards {gap: .45rem} .card {padding: .4rem .7rem}
}
</style>"""
"""How strips and verdicts look, once for each page."""


def dark() -> bool:
    """Whether the visitor sees the dark theme."""
    return st.context.theme.type == "dark"


@lru_cache(maxsize=1024)
def _kept(function: Callable[..., Any], *args: Any, **settings: Any) -> Any:
    return function(*args, **settings)


def kept(function: Callable[..., T], results: Results, *args: Any, **settings: Any) -> T:
    """What a function makes of results; of complete ones it is made once for all sessions."""
    if len(results.trials) < results.asked:
        return function(results, *args, **settings)
    with _drawing:  # one after the other: all at once would all be late
        return _kept(function, results, *args, **settings)


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


def show_panel(panel: Panel, place: str = "") -> None:
    """A title that states the finding with its data beside it, the chart, how to read it."""
    with st.container(border=True):
        with st.container(horizontal=True, wrap=False, horizontal_alignment="distribute"):
            st.markdown(f"**{as_markdown(panel.title)}**", width="stretch")
            st.download_button(
                "CSV",
                data=lambda: panel.data.to_csv(index=False),
                file_name=f"{panel.key}.csv",
                mime="text/csv",
                key=f"csv-{panel.key}-{place}",
                type="tertiary",
                help="The numbers behind this chart",
            )
        show_chart(panel, place)
        st.caption(as_markdown(panel.caption))


def show_strip(strip: Strip, colors: Mapping[str, str] | None = None) -> None:
    """The decision and the figures that it rests on: the first thing on a page.

    ``colors`` are those of names that are no algorithm's.
    One element: a page has many, and each costs the browser time at every move of a slider.
    """
    st.html(strip_html(strip, dark(), colors))


def show_verdict(verdict: Verdict) -> None:
    """A verdict in a line with its outcome and strength; "why?" opens the sentences behind it."""
    st.html(STYLE + verdict_html(verdict, dark()))


def as_html(text: str) -> str:
    """A text in which nothing is read as markup, with every percentage on one line."""
    return escape(unbroken(text), quote=False)


def chip(mark: str, strength: str | None, on_dark: bool) -> str:
    """A word on outcome or strength in its colour."""
    if not mark:
        return ""
    color = COLORS[strength][on_dark]
    return f'<span style="color:{color}">{as_html(mark)}</span>'


def behind(verdicts: Sequence[Verdict]) -> str:
    """The sentences in full, with what they rest on."""
    return "".join(
        f"<p><strong>{as_html(own.text)}</strong><br>{as_html(own.why)} Assumes "
        f"{as_html(own.assumptions)}.</p>"
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
    line, mark = as_html(verdict.brief.line), chip(verdict.mark, strength, on_dark)
    return f'<div class="verdict"><p>{line}</p>{why(mark, [verdict])}</div>'


def card_html(card: Card, on_dark: bool) -> str:
    """One figure with its topic above, what belongs to it below, and what it is worth."""
    mark = chip(card.mark, card.strength, on_dark)
    return (
        f'<div class="card"><p class="topic">{as_html(card.topic)}</p>'
        f'<p class="figure">{as_html(card.text)}</p><p class="detail">{as_html(card.detail)}</p>'
        f"{why(mark, card.verdicts)}</div>"
    )


def strip_html(strip: Strip, on_dark: bool, colors: Mapping[str, str] | None = None) -> str:
    """Headline, sentence and cards; the headline is underlined in the colour of whom it names."""
    if colors is None:
        colors = {name: own.color for name, own in ALGORITHMS.items()}
    known = [colors[name] for name in strip.names if name in colors]
    color = known[0] if len(known) == 1 else "rgba(128,128,128,.5)"
    text = f'<span class="sub">{as_html(strip.text)}</span>'
    if strip.choice:
        text = (
            f'<details class="sub told"><summary>{text} <u>why?</u></summary>'
            f"{behind([strip.choice])}</details>"
        )
    cards = "".join(card_html(card, on_dark) for card in strip.cards)
    return (
        f'{STYLE}<div class="strip"><h1 style="text-decoration-color:{color}">'
        f'{as_html(strip.title)}</h1><div class="under">{text}</div>'
        f'<div class="cards">{cards}</div></div>'
    )
