"""Figures of a file of losses: bounds, where the losses lie, differences on the same cases."""

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, exact_alpha
from cpp_core.figures.histograms import bin_edges, name_row, stacked
from cpp_core.figures.panels import (
    GREY,
    Axis,
    Panel,
    chart_text,
    draw_set,
    faded,
    framed,
    ink,
    plain,
    rows_layout,
)
from cpp_core.figures.sketch import Sketch
from cpp_core.method.ranks import ends, scores_needed
from cpp_core.verdicts.language import confidence, counted, listed, number

Columns = Mapping[str, NDArray]
COLORS = tuple(dict.fromkeys(algorithm.color for algorithm in ALGORITHMS.values()))


def color_of(columns: Columns, name: str) -> str:
    """The colour of a model, by its place among the columns."""
    return COLORS[list(columns).index(name) % len(COLORS)]


def _missing(k: int, alpha: Level, side: str) -> str:
    more = scores_needed(alpha, side) - k
    return "" if more <= 0 else f"no bound: {counted(more, 'more case')} would give one"


def bound_bars(
    columns: Columns,
    alpha: Level,
    low: float = -math.inf,
    high: float = math.inf,
    at_most: float | None = None,
) -> Panel:
    """A bar per model up to its one-sided bound, the mean loss as a grey tick, the threshold."""
    bounds = {name: float(ends(own, alpha, "upper", low, high)[3]) for name, own in columns.items()}
    means = {name: float(own.mean()) for name, own in columns.items()}
    known = [*bounds.values(), *means.values(), *([] if at_most is None else [at_most])]
    axis = Axis.around([*known, low], zero=low == 0)
    figure = Sketch()
    note = _missing(len(next(iter(columns.values()))), alpha, "upper")
    readings = []
    for row, (name, bound) in enumerate(bounds.items()):
        words = f"at most {number(bound, 'up')}" if math.isfinite(bound) else "has no finite bound"
        readings.append(f"{name} {words}")
        hover = f"{chart_text(name)}: {words}"
        draw_set(figure, axis, row, (low, bound), color_of(columns, name), hover, note)
    figure.scatter(
        x=plain(list(means.values())),
        y=list(range(len(means))),
        mode="markers",
        marker={"symbol": "line-ns", "size": 34, "line": {"color": GREY, "width": 4}},
        name="mean loss in the file",
        hovertemplate="mean loss: %{x:.3g}<extra></extra>",
        showlegend=True,
    )
    if at_most is not None:
        line = {"color": ink(False), "dash": "dash", "width": 1.5}
        figure.vline(at_most, line)
    framed(figure, 100 + (92 if note else 62) * len(columns))
    labels = [chart_text(name) for name in columns]
    figure.set(xaxis=axis.layout("loss"), yaxis=rows_layout(labels))
    each = " each" if len(columns) > 1 else ""
    title = f"With {confidence(alpha)} confidence{each}: {', '.join(readings)}"
    caption = (
        f"Bar: where the next loss lies with {confidence(alpha)} confidence{each}. Grey: mean "
    )
    caption += "loss of the cases in the file."
    if at_most is not None:
        caption += f" Dashed: the threshold {number(at_most, digits=17)}."
    data = pd.DataFrame({"column": list(bounds), "bound": bounds.values(), "mean": means.values()})
    return Panel("bounds", title, figure, caption, f"A bar per model. {title}.", data)


def loss_histograms(
    columns: Columns, alpha: Level, low: float = -math.inf, high: float = math.inf
) -> Panel:
    """Where the losses of each model lie, with its bound: a row per model, the same bins."""
    edges = bin_edges(list(columns.values()), log=False)
    figure, frames, readings, outside = stacked(len(columns)), [], [], 0
    for row, (name, own) in enumerate(columns.items(), start=1):
        counts = np.histogram(own, edges)[0]
        outside += int(own.size - counts.sum())
        color = color_of(columns, name)
        figure.bar(
            row,
            x=plain((edges[:-1] + edges[1:]) / 2),
            y=counts.tolist(),
            width=plain(np.diff(edges)),
            marker={"color": faded(color, 0.6), "line": {"color": color, "width": 1}},
            hovertemplate="%{y} losses around %{x:.3g}<extra></extra>",
            showlegend=False,
        )
        bound = float(ends(own, alpha, "upper", low, high)[3])
        if math.isfinite(bound):
            line = {"color": ink(False), "dash": "dash", "width": 1.5}
            figure.vline(bound, line, [row])
        beyond = int((own > bound).sum())
        readings.append(f"{beyond} of {own.size} losses of {name}")
        name_row(figure, f"<b>{chart_text(name)}</b>", row)
        frame = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "losses": counts})
        frame.insert(0, "column", name)
        frames.append(frame[counts > 0])
    framed(figure, 90 + 130 * len(columns))
    reach = edges[[0, -1]]
    figure.axis("x", {**Axis.around(reach).layout("loss"), "title": {}})
    figure.axis("x", {"title": {"text": "loss"}}, len(columns))
    figure.axis("y", {"title": {"text": "cases"}, "nticks": 4, "automargin": True})
    title = f"{listed(readings)} lie above the bound"
    caption = f"Dashed: the {confidence(alpha)} bound on the next loss. The same bins in every row."
    if outside:
        caption += f" {counted(outside, 'case')} beyond the axis {'is' if outside == 1 else 'are'} "
        caption += "not drawn."
    alt = f"Histograms of losses, a row per model. {title}."
    return Panel("losses", title, figure, caption, alt, pd.concat(frames, ignore_index=True))


def difference_bars(
    columns: Columns, alpha: Level, low: float = -math.inf, high: float = math.inf
) -> Panel:
    """Who is better on the next case: an interval of the difference per pair, jointly."""
    pairs = list(combinations(columns, 2))
    each, span = exact_alpha(alpha) / len(pairs), high - low
    rows = []
    for first, second in pairs:
        d = columns[first] - columns[second]
        lower, upper = ends(d, each, "two-sided", -span, span)[2:]
        rows.append({"first": first, "second": second, "lower": lower, "upper": upper})
    data = pd.DataFrame(rows)
    axis = Axis.around(data[["lower", "upper"]].to_numpy(), log=False, zero=True)
    room = 0.08 * (axis.high - axis.low)
    axis = Axis(min(axis.low, -room), max(axis.high, room))
    figure = Sketch()
    note = _missing(len(next(iter(columns.values()))), each, "two-sided")
    for row, (first, second, lower, upper) in enumerate(data.itertuples(index=False)):
        sides = [(lower, min(upper, 0.0), first), (max(lower, 0.0), upper, second)]
        drawn = [side for side in sides if side[0] < side[1]] or [(lower, upper, first)]
        hover = f"{chart_text(first)} minus {chart_text(second)}: {number(lower, 'down')} to "
        hover += number(upper, "up")
        for i, (a, b, better) in enumerate(drawn):
            color = color_of(columns, better)
            draw_set(figure, axis, row, (a, b), color, hover, note if i == 0 else "")
    figure.vline(0, {"color": ink(False), "width": 1.5})
    framed(figure, 110 + (92 if note else 56) * len(pairs))
    labels = [f"{chart_text(a)} − {chart_text(b)}" for a, b in pairs]
    figure.set(xaxis=axis.layout("difference of the losses on the same case"))
    figure.set(yaxis=rows_layout(labels))
    decided = int(((data["lower"] > 0) | (data["upper"] < 0)).sum())
    title = f"{decided} of {counted(len(pairs), 'difference')} on one side of zero"
    caption = (
        f"Bar: where the difference on the next case lies, with {confidence(alpha)} confidence"
        f"{' for all pairs jointly' if len(pairs) > 1 else ''}; in the colour of the better one. "
        "Left of zero the first is better."
    )
    return Panel("differences", title, figure, caption, f"A bar per pair. {title}.", data)
