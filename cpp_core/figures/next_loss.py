"""The picture of the next loss: sorted losses, the rank that alpha cuts, new cases to draw."""

import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.figures.histograms import Columns, columns, quantile
from cpp_core.figures.panels import (
    GREY,
    Axis,
    Panel,
    SetChart,
    SetMark,
    bound_words,
    diamond,
    faded,
    finite,
    ink,
    look,
    loss_label,
    wants_log,
)
from cpp_core.figures.sketch import Settings, plain
from cpp_core.trials.results import Results, median
from cpp_core.verdicts.about import About, End, about_results, check_numeric
from cpp_core.verdicts.coverage import too_few
from cpp_core.verdicts.held import FAILED, Held, held, held_title, numbers_noun, ranks_words
from cpp_core.verdicts.language import counted, listed, number, plural

NEW_CASES, PAUSE = 40, 20
"""How many new cases can be drawn, and after how many the drawing pauses.

Where there are more rows than ``FEW`` it ends at the first pause.
"""
FEW, PLACES = 3, 300
"""A few rows have so many places for ticks each; more rows share what these have."""
STRETCH = 2.5
"""The axis reaches so many times as far as the largest bound: larger losses are counted."""
POWERS = 8
"""A log axis has so many powers of ten at most."""
LABELS, TICKS, BAR, FADE = -0.42, -0.21, 0.06, 0.27
"""Where the lanes of a row are, from its middle down; a row is 1 high."""
THICK, ROW = 0.3, 84
"""The height of a bar, and in pixels that of a row."""


def next_loss(
    results: Results,
    alpha: Level = 0.1,
    side: str = "two-sided",
    dark: bool = False,
    draws: bool = True,
) -> Panel:
    """A row per algorithm: its sorted calibration losses, and the bound that alpha cuts there.

    It is the set of the first trial, which carries the promise; the spread of the ends over the
    trials is a fade, the average test loss a grey tick. Where it ``draws``, buttons drop losses of
    new cases onto the rows: the first test cases of that trial, in their stored random order. Where
    sets move with the case there are no ticks: the bar has the medians of the ends over the trials.
    """
    check_numeric(results, "ends to draw", "use symbol_bars for them")
    found, about = columns(results, alpha, side), about_results(results)
    moves, missing = results.experiment.kind.moves, too_few(results, alpha, side)
    cut = {} if moves else held(results, alpha, side)
    data = _data(found, moves)
    chart = _Chart(data, cut, about, side, dark)
    for row, name in enumerate(found):
        chart.row(row, found[name], missing)
    new = chart.new_cases() if draws else 0
    chart.framed(loss_label(results.experiment), bool(missing))
    if moves:
        title = _typical_title(chart)
    else:
        first = int(results.trials[0])
        title = held_title(list(cut.values()), alpha, side, about, missing, first)
    for column, values in chart.counts(new).items():
        data[column] = values
    caption = _caption(results, chart, missing, new)
    return Panel("next-loss", title, chart, caption, _alt(chart, new), data)


def _data(found: Columns, moves: bool) -> pd.DataFrame:
    """For each algorithm its set, its average loss and quantiles of the ends over the trials."""
    rows = []
    for name, own in found.items():
        row: dict[str, Any] = {"algorithm": name}
        row |= {end: median(own[end]) if moves else own[end][0] for end in ("lower", "upper")}
        row |= {"mean_test_loss": own["mean_test_loss"].mean()}
        row |= {
            f"{end}_{level * 100:g}": quantile(own[end], level)
            for end in ("lower", "upper")
            for level in (0.05, 0.25, 0.75, 0.95)
        }
        rows.append(row)
    return pd.DataFrame(rows)


# The axis


def _axis(data: pd.DataFrame, cut: Sequence[Held], about: About) -> Axis:
    """The losses among which the bounds can be read: from the best on, the largest left out."""
    sign, bad = about.sign, about.bad_end
    bounds = finite(sign * data[bad].to_numpy())
    losses = sign * np.concatenate([finite(own.losses) for own in cut] or [np.empty(0)])
    rest = finite(sign * data.drop(columns="algorithm").to_numpy(dtype=float))
    every = np.concatenate([losses, rest])
    if not every.size:
        return Axis(0.0, 1.0)
    most, best, worst = (
        float(every.max()),
        sign * (about.high if sign < 0 else about.low),
        sign * about.worst,
    )
    good = best if math.isfinite(best) else float(every.min())
    reach = float(bounds.max()) if bounds.size else quantile(every, 0.9)
    middles = [float(np.median(own.losses)) for own in cut]
    if good >= 0 and wants_log([x for x in (*bounds, *middles) if x > 0], None):
        low = max(float(every[every > 0].min()), reach / 10.0**POWERS)
        return Axis(low, min(reach * (reach / low) ** 0.25, most), log=True)
    far = min(good + STRETCH * (reach - good), most)
    if far <= good:  # the bounds are the best that there is
        far = most if most > good else worst if math.isfinite(worst) else good + 1.0
    return Axis(*sorted((sign * good, sign * far)))


# The drawing


class _Chart(SetChart):
    """Rows of sorted losses and bounds, onto which new cases can be dropped."""

    def __init__(
        self, data: pd.DataFrame, cut: Mapping[str, Held], about: About, side: str, dark: bool
    ) -> None:
        super().__init__(_axis(data, list(cut.values()), about))
        self.sets, self.cut = data.to_dict("list"), cut
        self.about, self.side, self.dark = about, side, dark
        self.names: list[str] = self.sets["algorithm"]
        self.readings: list[str] = []

    @property
    def labels(self) -> list[str]:
        """The algorithms, in lines that leave room on a phone."""
        return [f"<b>{'<br>'.join(wrap(look(name).label, 11))}</b>" for name in self.names]

    def row(self, row: int, own: Mapping[str, NDArray], missing: str) -> None:
        """Everything of one algorithm but the new cases."""
        name, about = self.names[row], self.about
        shown, low, high = look(name), self.sets["lower"][row], self.sets["upper"][row]
        self.readings.append(f"{shown.label} {bound_words(about, low, high, self.side)}")
        for end in ("lower", "upper"):
            self.fade(row + FADE, own[end], shown.color, about, 0.1)
        hover = self.readings[-1]
        if name in self.cut:
            hover += f"<br>{within(self.cut[name], about)}"
            self.ticks(row, self.cut[name])
        note = missing or (FAILED if math.isinf(self.sets[about.bad_end][row]) else "")
        self.set(row + BAR, SetMark(low, high, shown.color, hover, note, THICK))
        self.average(row)
        for end in about.ends(self.side):
            self.value(row, end, shown.color)

    def beyond(self, losses: NDArray) -> NDArray[np.bool_]:
        """Which losses are worse than all that is drawn."""
        edge = self.along.high if self.about.sign > 0 else self.along.low
        return self.about.sign * losses > self.about.sign * edge

    def places(self, losses: NDArray) -> NDArray:
        """Where losses are along the axis: 0 to 1."""
        axis = self.along
        at = np.clip(losses, axis.low, axis.high).astype(float)
        ends = np.array([axis.low, axis.high])
        at, (low, high) = (np.log(at), np.log(ends)) if axis.log else (at, ends)
        return (at - low) / (high - low)

    def drawn(self, losses: NDArray) -> list[float]:
        """Losses where they are drawn, in no more digits than can be seen."""
        axis, at = self.along, np.clip(losses, self.along.low, self.along.high).astype(float)
        if axis.log:
            return [float(f"{x:.4g}") for x in at]
        return plain(np.round(at, 4 - math.floor(math.log10(axis.high - axis.low))))

    def ticks(self, row: int, own: Held) -> None:
        """The calibration losses, each place once; the longer ones are outside the set."""
        count = min(PLACES, FEW * PLACES // len(self.names))
        seen, inside = ~self.beyond(own.losses), own.holds(own.losses)
        weak, strong = (faded(ink(self.dark), opacity) for opacity in (0.22, 0.7))
        dense: Settings = {"colorscale": [[0, weak], [1, strong]], "cmin": 1, "cmax": 6, "width": 1}
        for part, size, line in (
            (inside, 12, dense),
            (~inside, 20, {"color": ink(self.dark), "width": 2}),
        ):
            losses = own.losses[part & seen]
            at = np.rint(count * self.places(losses))
            _, first, many = np.unique(at, return_index=True, return_counts=True)
            if part is inside:
                line = {**line, "color": many.tolist()}
            marker = {"symbol": "line-ns", "size": size, "line": line}
            y = np.full(len(first), row + TICKS)
            self.marks(self.drawn(losses[first]), y, marker, "", hoverinfo="skip", cliponaxis=False)
        beyond = int((~seen).sum())
        if beyond:
            self.edge(row + LABELS, f"{beyond:,} of {own.losses.size:,} beyond")

    def edge(self, y: float, text: str) -> None:
        """Words on what lies beyond the bad end of the axis."""
        right = self.about.sign > 0
        place: Settings = {"xref": "x domain", "x": int(right), "y": y}
        place |= {"xanchor": "right" if right else "left", "font": {"size": 11}}
        self.note(f"{text} →" if right else f"← {text}", **place)

    def average(self, row: int) -> None:
        """A grey tick for the average test loss; words where it is beyond the axis."""
        value = self.sets["mean_test_loss"][row]
        if not math.isfinite(value) or self.beyond(np.array(value)):
            size = number(value) if math.isfinite(value) else "infinite"
            self.edge(row + FADE, f"average {size}")
            return
        words, line = (
            f"average test {self.about.loss}: {number(value)}",
            {"color": GREY, "width": 4},
        )
        tick = {"symbol": "line-ns", "size": round(THICK * ROW), "line": line}
        self.marks(self.drawn(np.array([value])), [row + BAR], tick, words, cliponaxis=False)

    def value(self, row: int, end: End, color: str) -> None:
        """A line at an end of a set, and its number beside it where nothing is drawn over it."""
        low, high = self.sets["lower"][row], self.sets["upper"][row]
        shown = low if end == "lower" else high
        if not math.isfinite(shown) or low > high:
            return
        line = {"color": color, "width": 3}
        x, y = [self.along.clip(shown)] * 2, [row + LABELS - 0.06, row + FADE + 0.07]
        self.line(x, y, line, "", hoverinfo="skip", cliponaxis=False)
        a, b = self.places(np.array([low, high]))
        right = (
            b < 0.8 if end == self.about.bad_end or self.side == "upper" else a < 0.15 < b - 0.15
        )
        place: Settings = {"x": math.log10(x[0]) if self.along.log else x[0], "y": row + LABELS}
        place |= {"xanchor": "left" if right else "right", "xshift": 4 if right else -4}
        self.note(f"<b>{self.about.rounded(end, shown)}</b>", **place)

    def new_cases(self) -> int:
        """Buttons that drop the losses of new cases onto the rows; how many cases there are."""
        cut, rows = list(self.cut.values()), len(self.names)
        if not any(own.outcome == "bound" for own in cut):
            return 0
        count = min(NEW_CASES if rows <= FEW else PAUSE, len(cut[0].new))
        losses = np.stack([own.new[:count] for own in cut], axis=1)
        kept = np.stack([own.holds(own.new[:count]) for own in cut], axis=1).cumsum(axis=0)
        # One case is at the same height in each row, the next one at another.
        height = np.arange(count)[:, None] * 2 % 5 * 0.05 - 0.1
        x, y = self.drawn(losses.ravel()), plain((np.arange(rows) + BAR + height).ravel())
        newest = len(self.data)
        self.dropped(losses.ravel(), y)
        steps: list[Settings] = []
        for i in range(count + 1):
            last = slice(max(i - 1, 0) * rows, i * rows)
            marks = [{"x": x[last], "y": y[last]}, {"x": x[: i * rows]}]
            told = [f"<br>{n} of {i} kept" for n in kept[i - 1].tolist()] if i else [""] * rows
            texts = [label + text for label, text in zip(self.labels, told, strict=True)]
            layout = {"yaxis": {"ticktext": texts}}
            steps.append({"data": marks, "traces": [newest, newest + 1], "layout": layout})
        new = self.about.new
        last_words = f"All {count} stored {plural(new)} drawn: start again"
        words = (f"Draw the next {new}", "Draw up to {}", last_words)
        self.film(steps, {*range(PAUSE, count, PAUSE), count}, words)
        return count

    def dropped(self, losses: NDArray, y: Sequence[float]) -> None:
        """The marks of new cases, none of them seen yet: a ring for the newest, and a diamond each.

        They have everything but the places along the axis, as many of which are drawn as there are.
        """
        ring = {"symbol": "circle-open", "size": 20, "color": ink(self.dark), "line": {"width": 2}}
        self.marks([], [], ring, "", hoverinfo="skip", cliponaxis=False)
        far = "triangle-right" if self.about.sign > 0 else "triangle-left"
        symbols = np.where(self.beyond(losses), far, "diamond").tolist()
        marker = {**diamond(self.dark, 9), "symbol": symbols if far in symbols else "diamond"}
        said = [number(v) if math.isfinite(v) else "infinite" for v in losses.tolist()]
        hover = f"new {self.about.new}: %{{customdata}}"
        self.marks([], y, marker, hover, customdata=said, cliponaxis=False)

    def framed(self, title: str, noted: bool) -> None:
        """The frame around all rows, with room for buttons and for notes below the bars."""
        log = ", log axis" if self.along.log else ""
        top = 44 if self.frames else 8
        self.frame_sets(title + log, self.labels, top + 52, ROW + 30 if noted else ROW)
        self.layout["margin"] = {**self.layout["margin"], "t": top, "l": 84}

    def counts(self, new: int) -> dict[str, list[int]]:
        """What is counted in each row: calibration losses, and new cases."""
        cut = list(self.cut.values())
        told = {
            "calibration_losses": [own.losses.size for own in cut],
            "calibration_inside": [own.inside for own in cut],
            "beyond_axis": [int(self.beyond(own.losses).sum()) for own in cut],
        }
        if new:
            told["new_cases"] = [new] * len(cut)
            told["new_kept"] = [int(own.holds(own.new[:new]).sum()) for own in cut]
        return told if cut else {}


# The words


def within(own: Held, about: About) -> str:
    """How many calibration losses a set holds."""
    many = plural(numbers_noun(about))
    return f"{own.inside:,} of {own.losses.size:,} calibration {many} within"


def _typical_title(chart: _Chart) -> str:
    """The typical ends of sets that move with the case."""
    count, about = len(chart.names), chart.about
    if count <= 3:
        return f"Typically: {', '.join(chart.readings)}"
    bounds = np.array(chart.sets[about.bad_end])
    infinite = int(np.isinf(bounds).sum())
    if infinite:
        return f"Typically: no finite bound for {infinite} of {count}"
    least, most = (about.rounded(about.bad_end, end) for end in (bounds.min(), bounds.max()))
    return f"Typically: {count} bounds from {least} to {most}"


def _caption(results: Results, chart: _Chart, missing: str, new: int) -> str:
    """How to read it, in short sentences."""
    about, trials = chart.about, counted(len(results.trials), "trial")
    told = []
    for own in list(chart.cut.values())[:1]:
        ranks = ranks_words(own, chart.side, about)
        many = counted(own.losses.size, f"calibration {numbers_noun(about)}")
        told.append(f"Ticks: {many}, sorted{'; ' if ranks else ''}{ranks}")
    told.append(f"Bar: {_bar(results)}")
    if len(results.trials) > 1:
        told.append(f"Fade: where the ends lie in 90 % and in 50 % of {trials}")
    told.append(f"Grey: average {about.loss} of the test {plural(about.new)}")
    if new:
        fresh = "" if about.m is None else ", each with a freshly trained model"
        told.append(f"Diamonds: test {plural(about.new)} of this trial, in random order{fresh}")
    if missing:
        told.append(f"There is {missing}")
    return f"{'. '.join(told)}."


def _bar(results: Results) -> str:
    """What a bar is."""
    if results.experiment.kind.moves:
        trials = counted(len(results.trials), "trial")
        return f"the median ends over {trials}, at one random case each"
    first = results.trials[0]
    carries = "until trial 0 is there" if first else "which carries the promise"
    return f"the set of trial {first}, {carries}"


def _alt(chart: _Chart, new: int) -> str:
    """The picture in words, with the counts that its buttons lead to."""
    about, cut = chart.about, chart.cut
    rows = [
        f"{reading} ({within(cut[name], about)})" if name in cut else reading
        for name, reading in zip(chart.names, chart.readings, strict=True)
    ]
    alt = f"One row per algorithm, with a bar up to its bound: {', '.join(rows)}."
    if new:
        kept = [f"{int(own.holds(own.new[:new]).sum())} for {own.label}" for own in cut.values()]
        alt += f" Buttons draw {counted(new, f'new {about.new}')} one by one; within the bound are "
        alt += f"{listed(kept)}."
    return alt
