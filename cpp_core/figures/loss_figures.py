"""Figures of a file of losses: bounds, where the losses lie, differences on the same cases."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.figures.histograms import bin_edges, name_row, stacked
from cpp_core.figures.panels import (
    Axis,
    Panel,
    SetChart,
    SetMark,
    bound_words,
    chart_text,
    faded,
    stroke,
)
from cpp_core.verdicts.about import about_numbers
from cpp_core.verdicts.bounds import bound_of
from cpp_core.verdicts.comparisons import Pair, next_difference_of
from cpp_core.verdicts.language import confidence, counted, listed, number, plural

Columns = Mapping[str, NDArray]
COLORS = tuple(dict.fromkeys(algorithm.color for algorithm in ALGORITHMS.values()))


def color_of(columns: Columns, name: str) -> str:
    """The colour of a model, by its place among the columns."""
    return COLORS[list(columns).index(name) % len(COLORS)]


def _missing(facts: dict[str, Any]) -> str:
    """What a verdict lacks, empty when it lacks nothing."""
    more = facts["k_needed"] - facts["k"]
    return "" if more <= 0 else f"no bound: {counted(more, 'more case')} would give one"


def bound_bars(
    columns: Columns, alpha: Level, at_most: float | None = None, **numbers: Any
) -> Panel:
    """A bar per model up to its one-sided bound, the mean loss as a grey tick, the threshold.

    ``numbers``, here and below: what ``about_numbers`` takes.
    """
    about = about_numbers(**numbers, n_algorithms=len(columns))
    low, high, greater_is_better = about.low, about.high, about.greater_is_better
    found = {name: bound_of(own, alpha, about, name).facts for name, own in columns.items()}
    bounds = {name: float(facts["bound"]) for name, facts in found.items()}
    means = {name: float(own.mean()) for name, own in columns.items()}
    known = [*bounds.values(), *means.values(), *([] if at_most is None else [at_most])]
    axis = Axis.around([*known, high if greater_is_better else low], zero=low == 0)
    figure, readings = SetChart(axis), []
    notes = [_missing(facts) for facts in found.values()]
    for row, (name, bound) in enumerate(bounds.items()):
        ends = (bound, high) if greater_is_better else (low, bound)
        words = bound_words(about, *ends, "upper")
        readings.append(f"{name} {words}")
        hover = f"{chart_text(name)}: {words}"
        figure.set(row, SetMark(*ends, color_of(columns, name), hover, notes[row]))
    labels = [chart_text(name) for name in columns]
    figure.averages(labels, list(means.values()), f"mean {about.loss} in the file")
    if at_most is not None:
        figure.vline(at_most, stroke(False, "dash"))
    figure.frame_sets(about.loss, labels, 100, 92 if any(notes) else 62)
    each = " each" if len(columns) > 1 else ""
    title = f"With {confidence(alpha)} confidence{each}: {', '.join(readings)}"
    caption = (
        f"Bar: where the next {about.loss} lies with {confidence(alpha)} confidence{each}. Grey: "
        f"mean {about.loss} of the cases in the file."
    )
    if at_most is not None:
        caption += f" Dashed: the threshold {number(at_most, digits=17)}."
    data = pd.DataFrame({"column": list(bounds), "bound": bounds.values(), "mean": means.values()})
    return Panel("bounds", title, figure, caption, f"A bar per model. {title}.", data)


def loss_histograms(columns: Columns, alpha: Level, **numbers: Any) -> Panel:
    """Where the losses of each model lie, with its bound: a row per model, the same bins."""
    about = about_numbers(**numbers, n_algorithms=len(columns))
    many = plural(about.loss)
    edges = bin_edges(list(columns.values()), log=False)
    figure, frames, readings, outside = stacked(len(columns)), [], [], 0
    for row, (name, own) in enumerate(columns.items(), start=1):
        counts = np.histogram(own, edges)[0]
        outside += int(own.size - counts.sum())
        color = color_of(columns, name)
        marker = {"color": faded(color, 0.6), "line": {"color": color, "width": 1}}
        hover, middles = f"%{{y}} {many} around %{{x:.3g}}", (edges[:-1] + edges[1:]) / 2
        figure.bar(middles, counts, marker, hover, row, width=np.diff(edges))
        bound = float(bound_of(own, alpha, about, name).facts["bound"])
        if math.isfinite(bound):
            figure.vline(bound, stroke(False, "dash"), [row])
        beyond = (about.sign * own > about.sign * bound).sum()
        readings.append(f"{beyond} of {own.size} {many} of {name}")
        name_row(figure, f"<b>{chart_text(name)}</b>", row)
        own_bins = {"column": name, "from": edges[:-1], "to": edges[1:], "losses": counts}
        frames.append(pd.DataFrame(own_bins)[counts > 0])
    figure.frame(90 + 130 * len(columns))
    figure.axis("x", {**Axis.around(edges[[0, -1]]).layout(about.loss), "title": {}})
    figure.axis("x", {"title": {"text": about.loss}}, len(columns))
    figure.axis("y", {"title": {"text": "cases"}, "nticks": 4, "automargin": True})
    title = f"{listed(readings)} lie {'below' if about.greater_is_better else 'above'} the bound"
    caption = f"Dashed: the {confidence(alpha)} bound on the next {about.loss}. The same bins in "
    caption += "every row."
    if outside:
        caption += f" {counted(outside, 'case')} beyond the axis {'is' if outside == 1 else 'are'} "
        caption += "not drawn."
    alt = f"Histograms of {many}, a row per model. {title}."
    return Panel("losses", title, figure, caption, alt, pd.concat(frames, ignore_index=True))


def difference_bars(columns: Columns, alpha: Level, **numbers: Any) -> Panel:
    """Who is better on the next case: an interval of the difference per pair, jointly."""
    about = about_numbers(**numbers, n_algorithms=len(columns))
    found = [
        next_difference_of(columns[a] - columns[b], alpha, Pair(a, b, about)).facts
        for a, b in combinations(columns, 2)
    ]
    data = pd.DataFrame(found)[["first", "second", "lower", "upper"]]
    figure = SetChart(Axis.around_zero(data[["lower", "upper"]].to_numpy()))
    labels, notes = [], [_missing(facts) for facts in found]
    for row, (first, second, lower, upper) in enumerate(data.itertuples(index=False)):
        labels.append(f"{chart_text(first)} − {chart_text(second)}")
        words = bound_words(about.difference, lower, upper)
        hover = f"{chart_text(first)} minus {chart_text(second)} {words}"
        left, right = (second, first) if about.greater_is_better else (first, second)
        mark = SetMark(lower, upper, color_of(columns, left), hover, notes[row])
        figure.difference(row, mark, color_of(columns, right))
    figure.vline(0, stroke(False))
    words = f"difference of the {plural(about.loss)} on the same case"
    figure.frame_sets(words, labels, 110, 92 if any(notes) else 56)
    decided = sum(facts["outcome"] in ("first better", "second better") for facts in found)
    title = f"{decided} of {counted(len(found), 'difference')} on one side of zero"
    caption = (
        f"Bar: where the difference on the next case lies, with {confidence(alpha)} confidence"
        f"{' for all pairs jointly' if len(found) > 1 else ''}; in the colour of the better one. "
        f"{'Right' if about.greater_is_better else 'Left'} of zero the first is better."
    )
    return Panel("differences", title, figure, caption, f"A bar per pair. {title}.", data)
