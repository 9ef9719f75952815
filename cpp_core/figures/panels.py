"""How a figure is drawn: axes, bars, histograms, numbers and words that all panels share."""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS, Algorithm
from cpp_core.checks import lookup
from cpp_core.figures.sketch import Settings, Sketch, plain
from cpp_core.verdicts.about import LEAST_TRIALS, About
from cpp_core.verdicts.language import number, percent

GREY = "#8C8C8C"
TRIALS: Settings = {"title": {"text": "trials"}, "automargin": True}
"""The vertical axis of a histogram over trials."""
DECADES = 3
"""Positive values that spread over more powers of ten than this get a log axis."""
BINS = 40
CUT = " An arrow gives the count of a bar that is higher than its chart."
FADES = ((0.05, 0.95, 0.16), (0.25, 0.75, 0.34))
"""Quantiles between which ends are drawn as a fade, with its opacity."""


@dataclass(frozen=True)
class Panel:
    """A figure with all that is said about it.

    ``title`` states the finding, ``caption`` how to read it, ``alt`` the same for people who cannot
    see it; ``data`` are the tidy numbers behind it.
    """

    key: str
    title: str
    sketch: Sketch
    caption: str
    alt: str
    data: pd.DataFrame

    @cached_property
    def figure(self) -> go.Figure:
        """The sketch as Plotly's figure, checked by it."""
        return go.Figure(self.sketch.data, self.sketch.layout, self.sketch.frames)


# Drawing


def look(name: str) -> Algorithm:
    """How an algorithm is shown."""
    return lookup(name, ALGORITHMS, "algorithm")


def ink(dark: bool) -> str:
    """The colour of what is known or promised, and of what happened."""
    return "#FFFFFF" if dark else "#000000"


def stroke(dark: bool, dash: str = "solid") -> Settings:
    """A line of what is known, promised or chosen."""
    return {"color": ink(dark), "dash": dash, "width": 1.5}


def clear(dark: bool, opacity: float = 0.0) -> Settings:
    """A bar in no algorithm's colour."""
    return {"color": faded(ink(dark), opacity), "line": {"color": ink(dark), "width": 1}}


def diamond(dark: bool, size: int) -> dict[str, Any]:
    """The mark of what happened, the same everywhere."""
    line = {"color": ink(not dark), "width": 1}
    return {"symbol": "diamond", "size": size, "color": ink(dark), "line": line}


def faded(color: str, opacity: float) -> str:
    """A colour "#rrggbb" that lets others through."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def finite(values: Any) -> NDArray:
    """The finite ones among the values."""
    flat = np.asarray(values, dtype=float).ravel()
    return flat[np.isfinite(flat)]


def wants_log(values: Any, log: bool | None) -> bool:
    """Whether to use a log axis: as asked, or where positive values spread over decades."""
    known = finite(values)
    if log is None:
        return bool(known.size and known.min() > 0 and known.max() > 10**DECADES * known.min())
    return log and bool((known > 0).any())


@dataclass(frozen=True)
class Axis:
    """The part of the losses that is drawn; ends beyond it are drawn at its ends."""

    low: float
    high: float
    log: bool = False

    @classmethod
    def around_zero(cls, values: Any) -> "Axis":
        """An axis for differences: zero inside, with room on both sides for open ends."""
        axis = cls.around(values, log=False, zero=True)
        room = 0.08 * (axis.high - axis.low)
        return cls(min(axis.low, -room), max(axis.high, room))

    @classmethod
    def around(cls, values: Any, log: bool | None = None, zero: bool = False) -> "Axis":
        """An axis with room for all finite values, and for 0 where it is asked for."""
        known, is_log = finite(values), wants_log(values, log)
        if is_log:
            known = np.log10(known[known > 0])
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        if zero and not is_log:
            low, high = min(low, 0.0), max(high, 0.0)
        room = 0.05 * (high - low) or 0.05 * abs(high) or 0.05
        low, high = (low if zero and low == 0 else low - room), high + room
        return cls(10**low, 10**high, True) if is_log else cls(low, high)

    def clip(self, value: float) -> float:
        """The place of an end on the axis."""
        return float(np.clip(value, self.low, self.high))

    def value(self, end: float) -> float:
        """An end as Plotly has it in annotations and ranges: its logarithm on a log axis."""
        return math.log10(end) if self.log else end

    def place(self, end: float) -> float:
        """How far along the axis an end lies, 0 to 1."""
        low, high = self.value(self.low), self.value(self.high)
        return (self.value(end) - low) / (high - low)

    def layout(self, title: str) -> dict[str, Any]:
        """The settings of the Plotly axis."""
        ends = [self.low, self.high]
        # A lower end may have underflowed to 0.
        positive = np.maximum(ends, np.finfo(np.float64).tiny)
        shown = plain(np.log10(positive)) if self.log else plain(ends)
        kind = {"type": "log", "dtick": 1} if self.log else {"type": "linear"}
        digits = {"exponentformat": "none", "separatethousands": True}
        # In lines that fit on a phone.
        text = "<br>".join(line for part in title.split("<br>") for line in wrap(part, 46))
        return {**kind, **digits, "range": shown, "title": {"text": text}, "automargin": True}


def round_step(least: float) -> float:
    """The next round number from a positive one on: 1, 2, 4 or 5 times a power of ten."""
    unit = 10.0 ** math.floor(math.log10(least))
    return next(unit * nice for nice in (1, 2, 4, 5, 10) if unit * nice >= least * (1 - 1e-9))


@dataclass(frozen=True)
class SetMark:
    """How one set is drawn: its ends, what a hover says, and words where an end is missing."""

    lower: float
    upper: float
    color: str
    hover: str
    note: str = ""
    thickness: float = 0.36
    hatch: str = ""


def rows_layout(labels: Sequence[str]) -> dict[str, Any]:
    """A vertical axis with one labelled row for each bar, from top to bottom."""
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": list(labels),
        "range": [len(labels) - 0.45, -0.55],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "ticklabelstandoff": 6,
    }


class SetChart(Sketch):
    """Rows of sets along an axis of losses."""

    def __init__(self, axis: Axis, rows: int = 1, spacing: float = 0.0) -> None:
        super().__init__(rows, spacing)
        self.along = axis

    def frame_sets(self, title: str, labels: Sequence[str], around: int, each: int) -> None:
        """Frame labelled rows, with so many pixels around them and for each."""
        x, y = self.along.layout(title), rows_layout(labels)
        self.frame(around + each * len(labels), xaxis=x, yaxis=y)

    def counters(self, labels: Sequence[str]) -> None:
        """Where the counts of new cases are told, below the labels: the first of all notes."""
        others = self.layout.pop("annotations", [])
        for row, label in enumerate(labels):
            place: Settings = {"xref": "paper", "x": 0, "xanchor": "right", "xshift": -10, "y": row}
            self.note(" ", **place, yshift=-16 - 8 * label.count("<br>"))
        self.layout["annotations"] += others

    def span(self, y: float, ends: tuple[float, float], thickness: float, **style: Any) -> None:
        """A horizontal bar from one end to the other."""
        left, right = map(self.along.clip, ends)
        place: Settings = {"base": [left], "width": [thickness], "orientation": "h"}
        self.bar([right - left], [y], **place, **style)

    def set(self, y: float, mark: SetMark) -> None:
        """One set as a bar; an empty one as a mark, an infinite end as an arrow, with words."""
        axis, color, hover = self.along, mark.color, mark.hover
        label: Settings = {"yanchor": "top", "y": y + mark.thickness / 2, "align": "right"}
        if mark.lower > mark.upper:
            middle = axis.clip((mark.lower + mark.upper) / 2)
            cross = {"symbol": "x-thin", "size": 12, "line": {"color": color, "width": 3}}
            self.marks([middle], [y], cross, hover)
            self.note("empty set", x=math.log10(middle) if axis.log else middle, **label)
            return
        hatch = {"shape": mark.hatch, "fillmode": "replace", "solidity": 0.4} if mark.hatch else {}
        bar = {"color": color, "line": {"color": color, "width": 1.5}, "pattern": hatch}
        self.span(y, (mark.lower, mark.upper), mark.thickness, marker=bar, hover=hover)
        arrows = [(axis.low, "triangle-left")] if mark.lower == -math.inf else []
        arrows += [(axis.high, "triangle-right")] if mark.upper == math.inf else []
        for x, symbol in arrows:
            arrow = {"symbol": symbol, "size": 22, "color": color}
            self.marks([x], [y], arrow, hover, cliponaxis=False)
        if mark.note:
            # Broken after the colon, so that it fits on a phone.
            corner: Settings = {"xref": "x domain", "x": 1, "xanchor": "right"}
            text = mark.note.replace(": ", ":<br>")
            self.note(text, **label, **corner, font={"size": 11})

    def difference(self, y: float, mark: SetMark, right: str) -> None:
        """The set of a difference, in another colour to the right of zero."""
        parts = [
            replace(mark, upper=min(mark.upper, 0.0)),
            replace(mark, lower=max(mark.lower, 0.0), color=right),
        ]
        drawn = [part for part in parts if part.lower < part.upper] or [mark]
        for i, part in enumerate(drawn):
            self.set(y, part if i == 0 else replace(part, note=""))

    def fade(
        self,
        y: float,
        ends: NDArray,
        color: str,
        about: About,
        thickness: float = 0.66,
        strength: float = 1.0,
    ) -> None:
        """The spread of an end over the trials: 5 to 95 % and 25 to 75 % of them.

        A thin one needs more ``strength`` to be seen. Few trials show no spread.
        """
        spans, colors, texts = [], [], []
        for low, high, opacity in FADES if len(ends) >= LEAST_TRIALS else ():
            # Order statistics: an interpolation between two infinite ends is undefined.
            a, b = np.quantile(ends, [low, high], method="nearest")
            if a < b:
                spans.append((self.along.clip(a), self.along.clip(b)))
                colors.append(faded(color, round(strength * opacity, 2)))
                words = f"{percent(low)} to {percent(high)} of the trials: "
                texts.append(f"{words}{about.lower_end(a)} to {about.upper_end(b)}")
        if spans:
            marker = {"color": colors, "line": {"width": 0}}
            place: Settings = {"base": [a for a, _ in spans], "width": [thickness] * len(spans)}
            place |= {"orientation": "h", "customdata": texts}
            self.bar([b - a for a, b in spans], [y] * len(spans), marker, "%{customdata}", **place)

    def averages(self, labels: Sequence[str], averages: Sequence[float], name: str) -> None:
        """A grey tick for the average of each row."""
        known = [row for row, value in enumerate(averages) if math.isfinite(value)]
        tick = {"symbol": "line-ns", "size": 34, "line": {"color": GREY, "width": 4}}
        said = [f"{labels[row]}: {number(averages[row])}" for row in known]
        hover, more = f"{name} of %{{customdata}}", {"customdata": said, "showlegend": True}
        self.marks([averages[row] for row in known], known, tick, hover, name=name, **more)


def percent_axis(values: Any, title: str) -> dict[str, Any]:
    """An axis of shares in percent with round ticks, none of them outside 0 to 100."""
    axis = Axis.around(values)
    low, high = max(axis.low, 0.0), min(axis.high, 100.0)
    step = round_step((high - low) / 6)
    ticks = np.arange(math.ceil(low / step), math.floor(high / step + 1e-9) + 1) * step
    texts = [f"{tick:g} %" for tick in ticks]
    return {**axis.layout(title), "tickvals": plain(ticks), "ticktext": texts}


def fill(name: str, hatched: bool = False, opacity: float = 0.85) -> dict[str, Any]:
    """A bar in an algorithm's colour, with an outline so that a hatched one stays visible."""
    shown = look(name)
    pattern = {"shape": shown.hatch, "fillmode": "replace", "size": 6} if hatched else {}
    color = faded(shown.color, opacity) if not hatched else shown.color
    return {"color": color, "line": {"color": shown.color, "width": 1}, "pattern": pattern}


def chart_text(value: str) -> str:
    """A user's text for a chart, where Plotly would read tags and templates.

    >>> chart_text("<b>%{x}")
    '&lt;b&gt;%&#123;x}'
    """
    return html.escape(value, quote=False).replace("{", "&#123;")
