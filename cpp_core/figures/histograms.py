"""Histograms binned before they are sent: the same edges for what is compared."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.figures.panels import BINS, Axis, finite, look, round_step, wants_log
from cpp_core.figures.sketch import Settings, Sketch, axis_id, plain
from cpp_core.verdicts.language import counted, listed, number


def bin_edges(series: Sequence[Any], log: bool, zero: bool = False) -> NDArray:
    """Edges for several samples together, at round numbers; far outliers are left outside.

    A sample reaches at most as far beyond its middle 98 % as these are wide.
    """
    lows, highs = [], []
    for values in series:
        known = finite(values)
        known = np.log10(known[known > 0]) if log else known
        if known.size:
            a, b = np.quantile(known, [0.01, 0.99], method="nearest")
            lows.append(max(known.min(), a - (b - a)))
            highs.append(min(known.max(), b + (b - a)))
    low, high = (min(lows), max(highs)) if lows else (0.0, 1.0)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    rough = (high - low) / BINS or abs(high) / 10 or 0.1
    step = round_step(rough)
    edges = np.arange(math.floor(low / step), math.floor(high / step) + 2) * step
    # Rounding must not put the extremes outside.
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    return 10**edges if log else edges


@dataclass(frozen=True)
class Bins:
    """The bins of all samples of a panel, which may be equally wide on a log axis."""

    edges: NDArray
    log: bool

    @classmethod
    def of(cls, series: Sequence[NDArray], log: bool | None = None, zero: bool = False) -> "Bins":
        """Bins for these samples together."""
        is_log = wants_log(np.concatenate(series), log)
        return cls(bin_edges(series, is_log, zero), is_log)

    def axis(self, title: str) -> Settings:
        """The settings of the Plotly axis."""
        return Axis.around(self.edges, self.log).layout(title)

    def draw(self, figure: Sketch, values: Any, what: str, marker: Settings, **more: Any) -> int:
        """Bars of the filled bins; how high the highest is. ``what`` names what is counted."""
        edges, counts = self.edges, np.histogram(finite(values), self.edges)[0]
        filled = np.flatnonzero(counts)
        digits = max(0, -math.floor(math.log10(edges[1] - edges[0]) + 1e-9))
        texts = [number(edge) if self.log else f"{edge:.{digits}f}" for edge in edges]
        figure.bar(
            (edges[filled] + edges[filled + 1]) / 2,
            counts[filled],
            marker,
            f"{what} from %{{customdata}}: %{{y}} trials",
            width=np.diff(edges)[filled],
            customdata=[f"{texts[i]} to {texts[i + 1]}" for i in filled],
            **more,
        )
        return int(counts.max())

    def left_out(self, series: Iterable[NDArray], thing: str) -> str:
        """What is not drawn, as a sentence; empty where all is."""
        values = np.concatenate(list(series))
        known, parts = finite(values), []
        infinite = values.size - known.size
        outside = known.size - int(np.histogram(known, self.edges)[0].sum())
        if infinite:
            parts.append(counted(infinite, f"infinite {thing}"))
        if outside:
            parts.append(f"{counted(outside, thing)} beyond the axis")
        return f" Not drawn: {listed(parts)}." if parts else ""

    def data(self, series: Mapping[tuple[str, str], NDArray]) -> pd.DataFrame:
        """Counts by algorithm, quantity and bin, without the empty bins."""
        rows, edges = [], self.edges
        for names, values in series.items():
            counts = np.histogram(finite(values), edges)[0]
            rows += [(*names, edges[i], edges[i + 1], counts[i]) for i in np.flatnonzero(counts)]
        return pd.DataFrame(rows, columns=["algorithm", "quantity", "from", "to", "trials"])


def say_nothing(figure: Sketch, lacking: str) -> None:
    """Words where there is nothing finite to draw."""
    figure.note(lacking.replace(": ", ":<br>"), xref="paper", yref="paper", x=0.5, y=0.5)
    figure.axis("y", {"range": [0, 1]})


def stacked(count: int) -> Sketch:
    """One small chart above the other, with one horizontal axis."""
    return Sketch(count, 0.2 / count, shared=True)


def frame_rows(figure: Sketch, names: Sequence[str], axis: Mapping[str, Any], top: float) -> bool:
    """Frame small charts alike: the same ranges, and the algorithm's name above each.

    Bars higher than ``top`` are cut, with their counts; says whether there are any.
    """
    figure.frame(80 + 140 * len(names), legend={"y": 1 + 0.2 / len(names)})
    figure.axis("x", {**axis, "title": {}})
    figure.axis("x", {"title": axis["title"]}, len(names))
    figure.axis("y", {"automargin": True, "nticks": 4, "range": plain([0, 1.2 * top])})
    figure.axis("y", {"title": {"text": "trials"}}, (len(names) + 1) // 2)
    for row, name in enumerate(names, start=1):
        name_row(figure, f"<b>{look(name).label}</b>", row)
    cut = [
        (row, x + width / 2, y)
        for row in range(1, len(names) + 1)
        for bar in figure.data
        if bar["type"] == "bar" and bar["yaxis"] == axis_id("y", row)
        for x, y, width in zip(bar["x"], bar["y"], bar["width"], strict=True)
        if y > 1.2 * top
    ]
    for row, x, y in cut:
        at = math.log10(x) if axis["type"] == "log" else x
        place: Settings = {"x": at, "y": 1, "yanchor": "top", "xanchor": "left"}
        figure.note(f"↑ {y:,}", row, yref="y domain", font={"size": 10}, **place)
    return bool(cut)


def name_row(figure: Sketch, name: str, row: int) -> None:
    """A name above the left corner of a chart."""
    place: Settings = {"x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"}
    figure.note(name, row, "x domain", "y domain", **place)
