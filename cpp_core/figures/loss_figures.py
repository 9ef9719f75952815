"""Figures of a file of losses: bounds, where the losses lie, differences on the same cases."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.loss_files import zero_one
from cpp_core.checks import Level
from cpp_core.figures.histograms import bin_edges, name_row, stacked
from cpp_core.figures.panels import (
    GREY,
    Axis,
    Panel,
    SetChart,
    SetMark,
    bound_words,
    chart_text,
    faded,
    ink,
    stroke,
)
from cpp_core.method.counts import batch_errors
from cpp_core.verdicts.about import About, about_numbers
from cpp_core.verdicts.bounds import NEXT_CASES, bound_of
from cpp_core.verdicts.comparisons import Pair, next_difference_of
from cpp_core.verdicts.language import (
    confidence,
    counted,
    listed,
    number,
    percent,
    plural,
)

Columns = Mapping[str, NDArray]
PLACES = 300
"""So many places along the axis have a tick."""
STRETCH = 2.5
"""The axis reaches so many times as far as the largest bound: larger losses are counted."""
LABELS, TICKS, BAR = -0.42, -0.24, 0.1
"""Where the lanes of a row are, from its middle down; a row is 1 high."""
COLORS = tuple(dict.fromkeys(algorithm.color for algorithm in ALGORITHMS.values()))


def color_of(columns: Columns, name: str) -> str:
    """The colour of a model, by its place among the columns."""
    return COLORS[list(columns).index(name) % len(COLORS)]


def _missing(facts: dict[str, Any]) -> str:
    """What a verdict lacks, empty when it lacks nothing."""
    more = facts["k_needed"] - facts["k"]
    return "" if more <= 0 else f"no bound: {counted(more, 'more case')} would give one"


class _BoundChart(SetChart):
    """Rows of losses and bounds: the losses of a model as ticks, its bound as a bar below them."""

    def ticks(self, row: int, losses: NDArray, about: About, dark: bool) -> None:
        """The losses, each place once; what lies beyond the axis is counted."""
        axis, right = self.along, about.sign > 0
        edge = axis.high if right else axis.low
        seen = losses[about.sign * losses <= about.sign * edge]
        at = np.rint(PLACES * (seen - axis.low) / (axis.high - axis.low))
        _, first, many = np.unique(at, return_index=True, return_counts=True)
        weak, strong = (faded(ink(dark), opacity) for opacity in (0.25, 0.75))
        line = {"color": many.tolist(), "colorscale": [[0, weak], [1, strong]], "width": 1}
        marker = {"symbol": "line-ns", "size": 9, "line": {**line, "cmin": 1, "cmax": 6}}
        y = [row + TICKS] * len(first)
        self.marks(seen[first], y, marker, "", hoverinfo="skip", cliponaxis=False)
        beyond = len(losses) - len(seen)
        if beyond:
            text = f"{beyond:,} of {len(losses):,} beyond"
            place: dict[str, Any] = {"xref": "x domain", "x": int(right), "y": row + LABELS}
            place |= {"xanchor": "right" if right else "left", "font": {"size": 11}}
            self.note(f"{text} →" if right else f"← {text}", **place)

    def value(self, row: int, text: str, x: float, color: str) -> None:
        """A line at the bound with its number beside it."""
        y = [row + TICKS - 0.1, row + BAR + 0.25]
        self.line([x, x], y, {"color": color, "width": 3}, "", hoverinfo="skip", cliponaxis=False)
        right = (x - self.along.low) / (self.along.high - self.along.low) < 0.75
        anchor, shift = ("left", 4) if right else ("right", -4)
        self.note(f"<b>{text}</b>", x=x, y=row + LABELS, xanchor=anchor, xshift=shift)

    def average(self, values: Sequence[float], name: str) -> None:
        """A grey tick on the bar of each row."""
        tick = {"symbol": "line-ns", "size": 24, "line": {"color": GREY, "width": 4}}
        more = {"customdata": [number(value) for value in values], "showlegend": True}
        y = [row + BAR for row in range(len(values))]
        self.marks(values, y, tick, f"{name}: %{{customdata}}", name=name, **more)


def _loss_axis(columns: Columns, bounds: list[float], about: About) -> Axis:
    """Where the bounds can be read: from the best on; losses far beyond are left out."""
    sign, known = about.sign, [bound for bound in bounds if math.isfinite(bound)]
    every = sign * np.concatenate(list(columns.values()))
    best = sign * (about.high if sign < 0 else about.low)
    good, most = (best if math.isfinite(best) else float(every.min())), float(every.max())
    good = 0.0 if not math.isfinite(best) and sign > 0 and good >= 0 else good
    reach = max([sign * bound for bound in known], default=most)
    far = max(min(good + STRETCH * (reach - good), most), reach)
    far = far if far > good else good + (abs(good) or 1.0)
    low, high = sorted((sign * good, sign * far))
    return Axis(low, high)


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
    found = {name: bound_of(own, alpha, about, name).facts for name, own in columns.items()}
    bounds = {name: float(facts["bound"]) for name, facts in found.items()}
    means = {name: float(own.mean()) for name, own in columns.items()}
    known = [*bounds.values(), *means.values(), *([] if at_most is None else [at_most])]
    figure, readings = _BoundChart(_loss_axis(columns, known, about)), []
    notes = [_missing(facts) for facts in found.values()]
    best = figure.along.low if about.sign > 0 else figure.along.high
    for row, (name, bound) in enumerate(bounds.items()):
        ends = (bound, best) if about.greater_is_better else (best, bound)
        words, color = bound_words(about, *ends, "upper"), color_of(columns, name)
        readings.append(f"{name} {words} (average {number(means[name])})")
        figure.ticks(row, columns[name], about, dark)
        figure.set(row + BAR, SetMark(*ends, color, chart_text(readings[-1]), notes[row]))
        if math.isfinite(bound):
            figure.value(row, about.end(bound), bound, color)
    labels = [f"<b>{chart_text(name)}</b>" for name in columns]
    figure.average(list(means.values()), f"average {about.loss}")
    if at_most is not None:
        figure.vline(at_most, stroke(dark, "dash"))
    figure.frame_sets(about.loss, labels, 96, 98 if any(notes) else 78)
    caption = (
        f"Ticks: the {plural(about.loss)} in the file. Bar: where the next one lies, with "
        f"{confidence(alpha)} confidence. Grey: the average."
    )
    if at_most is not None:
        caption += f" Dashed: the limit {number(at_most, digits=17)}."
    data = pd.DataFrame({"column": list(bounds), "bound": bounds.values(), "mean": means.values()})
    title = _bounds_title(columns, found, alpha, about)
    alt = f"A bar per model. {title}: {', '.join(readings)}."
    return Panel("bounds", title, figure, caption, alt, data)


def _bounds_title(
    columns: Columns, found: Mapping[str, dict[str, Any]], alpha: Level, about: About
) -> str:
    """How many losses lie within the bounds: so will the next."""
    level, noun = f"with {confidence(alpha)} confidence", about.loss
    held = [
        int((about.sign * columns[name] <= about.sign * facts["bound"]).sum())
        for name, facts in found.items()
        if facts["outcome"] == "bound"
    ]
    if not held:
        facts = next(iter(found.values()))
        return (
            f"{_missing(facts) or f'No bound inside the range of the {noun}'}, {level}".capitalize()
        )
    each = " each" if len(held) > 1 else ""
    whose = "the bound" if len(found) == 1 else "each model's bound"
    if len(held) < len(found):
        whose = f"the bound of {listed(n for n, f in found.items() if f['outcome'] == 'bound')}"
    least = "At least " if len(set(held)) > 1 else ""
    size = len(next(iter(columns.values())))
    told = f"{least}{min(held):,} of {size:,} {plural(noun)} lie within {whose}"
    return f"{told}: the next will too, {level}{each}"


def error_bars(
    columns: Columns,
    alpha: Level,
    rate_at_most: float | None = None,
    batch_size: int = NEXT_CASES,
    greater_is_better: bool = False,
    dark: bool = False,
) -> Panel:
    """A bar per model up to the most errors on the next cases; the share so far as a grey tick."""
    most, usual = {}, {}
    for name, own in columns.items():
        errors = int((own != greater_is_better).sum())
        most[name] = batch_errors(len(own), errors, batch_size, alpha, "upper")[1]
        usual[name] = batch_size * errors / len(own)
    asked = [] if rate_at_most is None else [rate_at_most * batch_size]
    figure = SetChart(Axis.around([0, *most.values(), *usual.values(), *asked], False, zero=True))
    for row, (name, errors) in enumerate(most.items()):
        hover = f"{chart_text(name)}: at most {counted(errors, 'error')}"
        figure.set(row, SetMark(0, errors, color_of(columns, name), hover))
    labels = [f"<b>{chart_text(name)}</b>" for name in columns]
    cases = counted(batch_size, "case")
    figure.averages(labels, list(usual.values()), "at the error rate in the file")
    if asked:
        figure.vline(asked[0], stroke(dark, "dash"))
    figure.frame_sets(f"errors on the next {cases}", labels, 100, 62)
    each = " each" if len(columns) > 1 else ""
    readings = [f"{name} at most {counted(errors, 'error')}" for name, errors in most.items()]
    title = f"On the next {cases}, with {confidence(alpha)} confidence{each}: {', '.join(readings)}"
    caption = "Bar: up to the most errors, by an exact rule. Grey: as many as at the error rate in "
    caption += "the file."
    if asked:
        caption += f" Dashed: the limit of {percent(asked[0] / batch_size)}."
    data = pd.DataFrame({"column": list(most), "most": most.values(), "usual": usual.values()})
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
    if zero_one(columns):
        greater, size = numbers.get("greater_is_better", False), batch_size or NEXT_CASES
        return error_bars(columns, alpha, rate_at_most, size, greater, dark)
    return bound_bars(columns, alpha, limit, dark, **numbers)


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
