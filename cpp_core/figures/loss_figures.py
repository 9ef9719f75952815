"""Figures of a file of losses: bounds, where the losses lie, differences on the same cases."""

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.directions import as_errors
from cpp_core.checks import Level
from cpp_core.figures.histograms import bin_edges, name_row, stacked
from cpp_core.figures.loss_rows import Look, LossRows
from cpp_core.figures.panels import (
    Axis,
    Panel,
    SetChart,
    SetMark,
    chart_text,
    faded,
    stroke,
)
from cpp_core.verdicts.about import About, about_numbers
from cpp_core.verdicts.beyond import beyond_bound, beyond_title
from cpp_core.verdicts.bounds import bound_of
from cpp_core.verdicts.comparisons import Pair, next_difference_of
from cpp_core.verdicts.inside import Held, held_title, missing_words
from cpp_core.verdicts.language import (
    confidence,
    counted,
    next_of,
    number,
    percent,
    plural,
)
from cpp_core.verdicts.next_errors import NEXT_CASES, errors_ahead_of, errors_reading, errors_title
from cpp_core.verdicts.pairs import decided_title
from cpp_core.verdicts.set_words import has_words

Columns = Mapping[str, NDArray]
LONGEST = 28
"""The longest name that a chart shows in full."""
COLORS = tuple(dict.fromkeys(algorithm.color for algorithm in ALGORITHMS.values()))


def color_of(columns: Columns, name: str) -> str:
    """The colour of a model, by its place among the columns."""
    return COLORS[list(columns).index(name) % len(COLORS)]


def _held(name: str, losses: NDArray, alpha: Level, about: About, start: float) -> Held:
    """The losses of a model beside the set up to its bound, drawn from the start on."""
    facts = bound_of(losses, alpha, about, name).facts
    ranks, _ = about.set_from(losses, alpha, "upper")
    lower, upper = sorted((start, facts["bound"]))
    return Held(name, np.sort(losses), lower, upper, ranks, facts["outcome"], np.empty(0))


def _short(name: str) -> str:
    """A name that leaves room for the chart beside it."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}…{name[-LONGEST // 2 :]}"


def _start(columns: Columns, about: About) -> float:
    """Where bars begin: the best that can be; if that is not known, 0 or the best there is."""
    every = about.sign * np.concatenate(list(columns.values()))
    best = float(every.min())
    if math.isfinite(about.best):
        return about.best
    return 0.0 if about.sign > 0 and best > 0 else about.sign * best


def bound_bars(
    columns: Columns,
    alpha: Level,
    at_most: float | None = None,
    dark: bool = False,
    **numbers: Any,
) -> Panel:
    """For each model its losses as ticks, a bar up to its one-sided bound, the average as a tick.

    ``numbers``, here and below: what ``about_numbers`` takes.
    """
    about = about_numbers(**numbers, n_algorithms=len(columns))
    start = _start(columns, about)
    cut = {name: _held(name, own, alpha, about, start) for name, own in columns.items()}
    data = pd.DataFrame(
        {"algorithm": name, "lower": own.lower, "upper": own.upper}
        | {"average": float(columns[name].mean())}
        | {f"{end}_{level}": getattr(own, end) for end in ("lower", "upper") for level in (5, 95)}
        for name, own in cut.items()
    )
    looks = {name: Look(_short(name), color_of(columns, name)) for name in columns}
    sets = {str(name): own.tolist() for name, own in data.items()}
    chart = LossRows(sets, cut, about, "upper", dark, looks)
    for row, own in enumerate(cut.values()):
        chart.row(row, {"lower": np.array([own.lower]), "upper": np.array([own.upper])})
    chart.framed(about.loss)
    caption = (
        f"Ticks: the {plural(about.loss)} in the file, sorted. Bar: where the next one lies, with "
        f"{confidence(alpha)} confidence. Grey: the average."
    )
    if at_most is not None:
        caption += f" {_limit(chart, at_most)}"
    facts = bound_of(next(iter(columns.values())), alpha, about, "").facts
    title = held_title(list(cut.values()), alpha, "upper", about, missing_words(facts), 0)
    bounds, means = data[about.bad_end].tolist(), data["average"].tolist()
    said = [
        f"{name} {has_words(about, own.lower, own.upper, 'upper')} (average {number(mean)})"
        for (name, own), mean in zip(cut.items(), means, strict=True)
    ]
    alt = f"A bar per model. {title}: {', '.join(said)}."
    shown = pd.DataFrame({"column": list(columns), "bound": bounds, "mean": means})
    return Panel("bounds", title, chart, caption, alt, shown)


def _limit(chart: LossRows, limit: float) -> str:
    """Draw a limit as a dashed line, and say which it is; beyond the axis it is only said."""
    size = number(limit, digits=17)
    if not chart.along.low <= limit <= chart.along.high:
        return f"The limit {size} is beyond the axis."
    chart.vline(limit, stroke(chart.dark, "dash"))
    return f"Dashed: the limit {size}."


def error_bars(
    columns: Columns,
    alpha: Level,
    rate_at_most: float | None = None,
    batch_size: int = NEXT_CASES,
    greater_is_better: bool = False,
    dark: bool = False,
) -> Panel:
    """A bar per model up to the most errors on the next cases; the share so far as a grey tick."""
    about = about_numbers(greater_is_better, errors=True, n_algorithms=len(columns))
    found = [
        errors_ahead_of(own, alpha, about, name, size=batch_size) for name, own in columns.items()
    ]
    most = [verdict.facts["most"] for verdict in found]
    usual = [batch_size * own.facts["errors"] / own.facts["k"] for own in found]
    asked = [] if rate_at_most is None else [rate_at_most * batch_size]
    figure = SetChart(Axis.around([0, *most, *usual, *asked], False, zero=True))
    for row, (name, verdict) in enumerate(zip(columns, found, strict=True)):
        hover = chart_text(errors_reading(verdict))
        figure.set(row, SetMark(0, most[row], color_of(columns, name), hover))
    labels = [f"<b>{chart_text(name)}</b>" for name in columns]
    figure.averages(labels, usual, "at the error rate in the file")
    if asked:
        figure.vline(asked[0], stroke(dark, "dash"))
    figure.frame_sets(f"errors on {next_of(batch_size, 'case')}", labels, 100, 62)
    title = errors_title(found)
    caption = "Bar: up to the most errors, by an exact rule. Grey: as many as at the error rate in "
    caption += "the file."
    if asked:
        caption += f" Dashed: the limit of {percent(asked[0] / batch_size)}."
    data = pd.DataFrame({"column": list(columns), "most": most, "usual": usual})
    return Panel("errors", title, figure, caption, f"A bar per model. {title}.", data)


def loss_picture(
    columns: Columns,
    alpha: Level,
    limit: float | None = None,
    rate_at_most: float | None = None,
    batch_size: int | None = None,
    dark: bool = False,
    **numbers: Any,
) -> Panel:
    """What to expect of each model: errors where they are counted, else a bound on the loss."""
    if as_errors(columns, **{end: numbers[end] for end in ("low", "high") if end in numbers}):
        greater, size = numbers.get("greater_is_better", False), batch_size or NEXT_CASES
        return error_bars(columns, alpha, rate_at_most, size, greater, dark)
    return bound_bars(columns, alpha, limit, dark, **numbers)


def loss_histograms(columns: Columns, alpha: Level, **numbers: Any) -> Panel:
    """Where the losses of each model lie, with its bound: a row per model, the same bins."""
    about = about_numbers(**numbers, n_algorithms=len(columns))
    many = plural(about.loss)
    edges = bin_edges(list(columns.values()), log=False)
    figure, frames, outside = stacked(len(columns)), [], 0
    found = [beyond_bound(own, alpha, about, name) for name, own in columns.items()]
    for row, (name, own) in enumerate(columns.items(), start=1):
        counts = np.histogram(own, edges)[0]
        outside += int(own.size - counts.sum())
        color = color_of(columns, name)
        marker = {"color": faded(color, 0.6), "line": {"color": color, "width": 1}}
        hover, middles = f"%{{y}} {many} around %{{x:.3g}}", (edges[:-1] + edges[1:]) / 2
        figure.bar(middles, counts, marker, hover, row, width=np.diff(edges))
        if found[row - 1].bounded:
            figure.vline(found[row - 1].bound, stroke(False, "dash"), [row])
        name_row(figure, f"<b>{chart_text(name)}</b>", row)
        own_bins = {"column": name, "from": edges[:-1], "to": edges[1:], "losses": counts}
        frames.append(pd.DataFrame(own_bins)[counts > 0])
    figure.frame(90 + 130 * len(columns))
    figure.axis("x", {**Axis.around(edges[[0, -1]]).layout(about.loss), "title": {}})
    figure.axis("x", {"title": {"text": about.loss}}, len(columns))
    figure.axis("y", {"title": {"text": "cases"}, "nticks": 4, "automargin": True})
    title = beyond_title(found, about)
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
    labels, notes = [], [missing_words(facts) for facts in found]
    for row, (first, second, lower, upper) in enumerate(data.itertuples(index=False)):
        labels.append(f"{chart_text(first)} − {chart_text(second)}")
        words = has_words(about.difference, lower, upper)
        hover = f"{chart_text(first)} minus {chart_text(second)} {words}"
        left, right = (second, first) if about.greater_is_better else (first, second)
        mark = SetMark(lower, upper, color_of(columns, left), hover, notes[row])
        figure.difference(row, mark, color_of(columns, right))
    figure.vline(0, stroke(False))
    words = f"difference of the {plural(about.loss)} on the same case"
    figure.frame_sets(words, labels, 110, 92 if any(notes) else 56)
    title = decided_title(found)
    caption = (
        f"Bar: where the difference on the next case lies, with {confidence(alpha)} confidence"
        f"{' for all pairs jointly' if len(found) > 1 else ''}; in the colour of the better one. "
        f"{'Right' if about.greater_is_better else 'Left'} of zero the first is better."
    )
    return Panel("differences", title, figure, caption, f"A bar per pair. {title}.", data)
