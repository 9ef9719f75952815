"""Drawing what cpp_core has computed: panels, verdicts, badges."""

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape
from threading import Lock
from typing import Any, TypeVar

import plotly.graph_objects as go
import plotly.io as pio
import streamlit as st

from cpp_core import Results
from cpp_core.figures.panels import Panel
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.verdicts.about import Verdict
from cpp_core.verdicts.answers import decisions_from
from cpp_core.verdicts.bounds import under_threshold
from cpp_core.verdicts.language import unbroken
from pages.parts.choices import Choice

T = TypeVar("T")
_drawing = Lock()

BADGES = {
    "guaranteed": ("✔ guaranteed", ("#0054a3", "#6cb6ff")),
    "approximate": ("≈ approximate", ("#8a4b00", "#ffbd45")),
}
"""What each badge says, and its colours on light and on dark."""


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
    """A title that states the finding, the chart, how to read it, and its data."""
    with st.container(border=True):
        st.markdown(f"**{as_markdown(panel.title)}**")
        show_chart(panel, place)
        with st.container(horizontal=True, horizontal_alignment="distribute"):
            st.caption(as_markdown(panel.caption), width="stretch")
            st.download_button(
                "CSV",
                data=lambda: panel.data.to_csv(index=False),
                file_name=f"{panel.key}.csv",
                mime="text/csv",
                key=f"csv-{panel.key}-{place}",
                type="tertiary",
                help="The numbers behind this chart",
            )


def show_decisions(results: Results, choice: Choice) -> None:
    """The answers to what the visitor asked, and how sure it is that a loss stays in its limit."""
    asked = {name: value for name, value in choice.question if name != "margin"}
    if not asked or results.experiment.kind.symbolic:
        return
    for verdict in kept(decisions_from, results, choice.alpha, **asked):
        show_verdict(verdict)
    if "at_most" in asked:
        with st.expander("How sure is it?"):
            for name in results.algorithms:
                limit = asked["at_most"], asked["delta"]
                show_verdict(kept(under_threshold, results, name, *limit))


def show_verdict(verdict: Verdict, large: bool = False) -> None:
    """A sentence with its badge; "why?" opens the computation behind it.

    One element: a page has many of them, and each costs the browser time at every move of alpha.
    """
    st.html(verdict_html(verdict, large, dark()))


def verdict_html(verdict: Verdict, large: bool, on_dark: bool) -> str:
    """A verdict in one line of HTML, in which nothing is read as Markdown."""
    mark, colors = BADGES[verdict.badge]
    color, tag = colors[on_dark], "h3" if large else "p"
    style = "font-size:1.75rem;font-weight:600;line-height:1.25" if large else "margin-bottom:.5rem"
    text, why, assumes = (
        escape(unbroken(said), quote=False)
        for said in (verdict.text, verdict.why, f"Assumes {verdict.assumptions}.")
    )
    badge = (
        f'<span style="color:{color};background:{color}22;border-radius:.4rem;padding:.1rem .4rem;'
        f'white-space:nowrap">{mark}</span>'
    )
    details = (
        '<details><summary style="cursor:pointer">why?</summary>'
        f'<p style="margin:.5rem 0">{why}</p><p style="opacity:.7">{assumes}</p></details>'
    )
    row = "display:flex;gap:1rem;align-items:baseline;font-size:.9rem;margin-bottom:.5rem"
    return (
        f'<div><{tag} style="{style}">{text}</{tag}><div style="{row}">{badge}{details}</div></div>'
    )
