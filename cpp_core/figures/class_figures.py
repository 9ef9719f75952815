"""The cases by class: median sets, and bounds that are calibrated within a class."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from cpp_core.figures.case_figures import PLAIN, axis_of, titled
from cpp_core.figures.panels import Axis, Panel, chart_text, fill, look
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.verdicts.about import About
from cpp_core.verdicts.class_sentences import class_finding, own_promise
from cpp_core.verdicts.language import counted
from cpp_core.verdicts.set_words import has_words

MOST_LEVEL, MOST_WRITTEN = 12, 24
"""Bars up to this many have their values written level, and upwards."""
ROOM = 1.2
"""The height of the chart beside that of its highest bar: room for the values."""


class ClassChart(Sketch):
    """Bars side by side for each class, as many as there are slots."""

    def __init__(self, axis: Axis, labels: Sequence[Any], slots: int, about: About) -> None:
        super().__init__()
        self.along, self.labels, self.slots, self.about = axis, labels, slots, about

    def draw(
        self, slot: int, rows: pd.DataFrame, ends: tuple[str, str], said: list[str], **look_: Any
    ) -> None:
        """The bars of one slot between two columns of ``rows``; an empty set has no length."""
        width = 0.84 / self.slots
        at = [self.labels.index(own) + (slot + 0.5) * width - 0.42 for own in rows["label"]]
        lower, upper = (rows[name].tolist() for name in ends)
        low = [self.along.clip(end) for end in lower]
        high = [self.along.clip(max(pair)) for pair in zip(lower, upper, strict=True)]
        texts = [
            self.about.upper_end(b) if a <= b else "empty"
            for a, b in zip(lower, upper, strict=True)
        ]
        n_bars = len(self.labels) * self.slots
        words: Settings = {"text": texts, "textangle": 0 if n_bars <= MOST_LEVEL else -90}
        words |= {"textposition": "outside" if n_bars <= MOST_WRITTEN else "none"}
        words |= {"textfont": {"size": 10}, "cliponaxis": False, "constraintext": "none"}
        place: Settings = {"base": low, "width": [0.92 * width] * len(at), "customdata": said}
        self.bar(at, np.subtract(high, low), **place, **words, **look_)

    def frame_classes(self, unit: str, counts: pd.Series, legend: bool) -> None:
        """Frame the classes, each with how many cases it has."""
        axis, n = self.along, len(self.labels)
        ticks = [f"{chart_text(str(label))}<br>({counts[label]:,})" for label in self.labels]
        x: Settings = {"tickvals": list(range(n)), "ticktext": ticks, "showgrid": False}
        x |= {"automargin": True, "range": [-0.5, n - 0.5], "tickangle": 0 if n <= 12 else -45}
        top = axis.low + ROOM * (axis.high - axis.low)
        if axis.log:
            top = axis.low * (axis.high / axis.low) ** ROOM
        y = Axis(axis.low, top, axis.log).layout(titled(axis, unit))
        self.frame(290, showlegend=legend, xaxis=x, yaxis=y)


def class_bars(
    frame: pd.DataFrame, unit: str = "", side: str = "two-sided", about: About = PLAIN
) -> Panel:
    """Per class and algorithm the median set and, hatched, the class's own bound if there is one.

    ``frame`` is what ``class_bounds`` gives.
    """
    if frame.empty:
        raise ValueError("There is no class to draw; give the rows of at least one.")
    labels, names = (list(dict.fromkeys(frame[name])) for name in ("label", "algorithm"))
    own = "bound" in frame
    data = frame.assign(bound=frame["bound"].where(frame["more"] == 0)) if own else frame
    axis = axis_of(data[name] for name in ("lower", "upper", "bound") if name in data)
    data = data.assign(zero=axis.low)
    figure = ClassChart(axis, labels, len(names) * (2 if own else 1), about)
    for i, name in enumerate(names):
        rows, shown = data[data["algorithm"] == name], look(name).label
        known = rows.dropna(subset="upper")
        said = [_set_words(row, side, about) for row in known.to_dict("records")]
        slot = i * (2 if own else 1)
        style = {"marker": fill(name, opacity=1.0), "hover": f"{shown}, median of %{{customdata}}"}
        figure.draw(slot, known, ("lower", "upper"), said, name=shown, **style)
        if own:
            known = rows.dropna(subset="bound")
            said = [_bound_words(row, about) for row in known.to_dict("records")]
            style = {"marker": fill(name, hatched=True), "hover": f"{shown}, %{{customdata}}"}
            key = f"{shown}, the label's own"
            figure.draw(slot + 1, known, ("zero", "bound"), said, name=key, **style)
    counts = data.groupby("label", sort=False)["cases"].first()
    figure.frame_classes(unit, counts, len(names) > 1 or own)
    title = class_finding(data, about)
    caption = (
        "Bar: the median over the test cases of a label (how many: in parentheses). The promise "
        "is over all of them, not for each label."
    )
    caption = f"{caption} {own_promise(frame)}" if own else caption
    return Panel("classes", title, figure, caption, f"Bars per class. {title}.", frame)


def _set_words(row: dict[Any, Any], side: str, about: About) -> str:
    """The median set of a class."""
    label = chart_text(str(row["label"]))
    return f"{label}: {has_words(about, row['lower'], row['upper'], side)}"


def _bound_words(row: dict[Any, Any], about: About) -> str:
    """The bound of a class by itself."""
    bound = has_words(about, -math.inf, row["bound"], "upper")
    return f"{chart_text(str(row['label']))}: {bound}, from {counted(row['k'], 'score')}"
