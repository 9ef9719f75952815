"""Histograms binned before they are sent: the same edges for what is compared."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.subplots import make_subplots

from cpp_core.panels import (
    BINS,
    counted,
    finite,
    framed,
    look,
    number,
    plain,
    round_step,
    too_few,
    words,
)
from cpp_core.ranks import Level
from cpp_core.results import (
    Results,
)


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


def histogram(
    values: Any, edges: NDArray, log: bool, hover: str, **style: Any
) -> tuple[go.Bar, int]:
    """Bars of the filled bins, and how many finite values lie outside all bins.

    ``hover`` names what is counted.
    """
    known = finite(values)
    counts = np.histogram(known, edges)[0]
    filled = np.flatnonzero(counts)
    step = edges[1] - edges[0]
    digits = max(0, -math.floor(math.log10(step) + 1e-9))

    def text(edge: float) -> str:
        return number(edge) if log else f"{edge:.{digits}f}"

    bar = go.Bar(
        x=plain((edges[filled] + edges[filled + 1]) / 2),
        y=counts[filled].tolist(),
        width=plain(np.diff(edges)[filled]),
        customdata=[f"{text(edges[i])} to {text(edges[i + 1])}" for i in filled],
        hovertemplate=f"{hover} from %{{customdata}}: %{{y}} trials<extra></extra>",
        **style,
    )
    return bar, int(known.size - counts.sum())


def left_out(n_infinite: int, n_outside: int, thing: str) -> str:
    """What a histogram does not show, as a sentence; empty when it shows all."""
    parts = []
    if n_infinite:
        parts.append(counted(n_infinite, f"infinite {thing}"))
    if n_outside:
        parts.append(f"{counted(n_outside, thing)} beyond the axis")
    return f" Not drawn: {words(parts)}." if parts else ""


def histogram_data(series: Mapping[tuple[str, str], Any], edges: NDArray) -> pd.DataFrame:
    """Counts by algorithm, quantity and bin, without the empty bins."""
    frames = []
    for (algorithm, quantity), values in series.items():
        counts = np.histogram(finite(values), edges)[0]
        frame = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "trials": counts})
        frame.insert(0, "quantity", quantity)
        frame.insert(0, "algorithm", algorithm)
        frames.append(frame[counts > 0])
    return pd.concat(frames, ignore_index=True)


def say_nothing(figure: go.Figure, results: Results, alpha: Level, side: str) -> None:
    """Words where there is nothing finite to draw."""
    text = (too_few(results, alpha, side) or "no finite bound").replace(": ", ":<br>")
    place = {"xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5}
    figure.add_annotation(text=text, showarrow=False, **place)
    figure.update_yaxes(range=[0, 1])


def stacked(count: int) -> go.Figure:
    """One small chart above the other, with one horizontal axis."""
    return make_subplots(rows=count, cols=1, shared_xaxes=True, vertical_spacing=0.2 / count)


def frame_rows(
    figure: go.Figure, names: Sequence[str], axis: Mapping[str, Any], top: float
) -> bool:
    """Frame small charts alike: the same ranges, and the algorithm's name above each.

    Bars higher than ``top`` are cut, with their counts; says whether there are any.
    """
    framed(figure, 80 + 140 * len(names))
    figure.update_layout(legend_y=1 + 0.2 / len(names))
    figure.update_xaxes({**axis, "title": {}})
    figure.update_xaxes(title=axis["title"], row=len(names), col=1)
    figure.update_yaxes(automargin=True, nticks=4, range=plain([0, 1.2 * top]))
    figure.update_yaxes(title_text="trials", row=(len(names) + 1) // 2, col=1)
    for row, name in enumerate(names, start=1):
        place = {"xref": "x domain", "yref": "y domain", "x": 0, "y": 1, "row": row, "col": 1}
        corner = {"xanchor": "left", "yanchor": "bottom", "showarrow": False}
        figure.add_annotation(text=f"<b>{look(name).label}</b>", **place, **corner)
    cut = [
        (bar.xaxis, bar.yaxis, x, y)
        for bar in figure.select_traces({"type": "bar"})
        for x, y in zip(bar.x, bar.y, strict=True)
        if y > 1.2 * top
    ]
    for xref, yref, x, y in cut:
        at = math.log10(x) if axis["type"] == "log" else x
        place = {"xref": xref, "yref": f"{yref} domain", "x": at, "y": 1, "yanchor": "top"}
        place |= {"xanchor": "left", "font": {"size": 10}}
        figure.add_annotation(text=f"↑ {y:,}", showarrow=False, **place)
    return bool(cut)


def columns(results: Results, alpha: Level, side: str) -> dict[str, pd.DataFrame]:
    """``results.at`` by algorithm."""
    frame = results.at(alpha, side)
    return {name: frame[frame["algorithm"] == name] for name in results.algorithms}


def numeric(results: Results) -> None:
    """Refuse symbolic sets, which have no ends."""
    if results.experiment.variant == "symbolic":
        raise ValueError("Sets of symbols have no ends to draw; use symbol_bars for them.")


def smallest(values: Mapping[str, NDArray]) -> tuple[str, float, float]:
    """Who is most often below all others, in which share of the trials, and the share of ties."""
    stack = np.stack(list(values.values()))
    least = stack == stack.min(axis=0)
    alone = least.sum(axis=0) == 1
    shares = (least & alone).mean(axis=1)
    return list(values)[int(shares.argmax())], float(shares.max()), float((~alone).mean())
