"""The picture of the next loss: sorted losses, the rank that alpha cuts, new cases to draw."""

from typing import Any

import numpy as np
import pandas as pd

from cpp_core.checks import Level
from cpp_core.figures.loss_rows import LossRows
from cpp_core.figures.panels import Panel
from cpp_core.trials.results import Results, median
from cpp_core.verdicts.about import LEAST_TRIALS, about_results, check_numeric
from cpp_core.verdicts.coverage import too_few
from cpp_core.verdicts.held_out import average_of, held_out_losses
from cpp_core.verdicts.inside import FAILED, held, held_title, numbers_noun, ranks_words, within
from cpp_core.verdicts.language import counted, listed, plural
from cpp_core.verdicts.loss_words import loss_label
from cpp_core.verdicts.over_trials import Columns, columns, typical_sets, typical_title

LEVELS = (0.05, 0.25, 0.75, 0.95)
"""Levels of the quantiles of the ends that are listed: those of the fades."""


def next_loss(
    results: Results,
    alpha: Level = 0.1,
    side: str = "two-sided",
    dark: bool = False,
    draws: bool = True,
) -> Panel:
    """A row per algorithm: its sorted calibration losses, and the bound that alpha cuts there.

    It is the set of the first trial, which carries the promise; the spread of the ends over the
    trials is a fade, the average of its held-out losses a grey tick. Where it ``draws``, buttons
    drop losses of new cases onto the rows: the first test cases of that trial, in their stored
    random order. Where sets move with the case there are no ticks: the bar has the medians of the
    ends over the trials.
    """
    check_numeric(results, "ends to draw", "use symbol_bars for them")
    found, about = columns(results, alpha, side), about_results(results)
    moves, missing = results.experiment.kind.moves, too_few(results, alpha, side)
    cut = {} if moves else held(results, alpha, side)
    averages = {name: average_of(held_out_losses(results, name, row=0)) for name in found}
    data = _data(found, averages, moves)
    chart = LossRows(data, cut, about, side, dark)
    for row, name in enumerate(found):
        chart.row(row, found[name])
    new = chart.new_cases() if draws else 0
    chart.framed(loss_label(results.experiment))
    if moves:
        title = typical_title(typical_sets(results, alpha, side))
    else:
        first = int(results.trials[0])
        title = held_title(list(cut.values()), alpha, side, about, missing, first)
    told = pd.DataFrame(data | chart.counts(new))
    caption = _caption(results, chart, missing, new)
    return Panel("next-loss", title, chart, caption, _alt(chart, new), told)


def _data(found: Columns, averages: dict[str, float], moves: bool) -> dict[str, list[Any]]:
    """For each algorithm its set, its average loss and quantiles of the ends over the trials."""
    data: dict[str, list[Any]] = {"algorithm": list(found)}
    for end in ("lower", "upper"):
        data[end] = [median(own[end]) if moves else float(own[end][0]) for own in found.values()]
    data["average"] = [averages[name] for name in found]
    for end in ("lower", "upper"):
        # Order statistics, so that infinite ends do no harm.
        ends = [np.quantile(own[end], LEVELS, method="nearest") for own in found.values()]
        for level, values in zip(LEVELS, np.transpose(ends).tolist(), strict=True):
            data[f"{end}_{level * 100:g}"] = values
    return data


# The words


def _caption(results: Results, chart: LossRows, missing: str, new: int) -> str:
    """How to read it, in short sentences."""
    about, trials = chart.about, counted(len(results.trials), "trial")
    told = []
    bounded = [own for own in chart.cut.values() if own.outcome == "bound"]
    for own in (bounded or list(chart.cut.values()))[:1]:
        ranks = ranks_words(own, chart.side, about)
        many = counted(own.losses.size, f"calibration {numbers_noun(about)}")
        told.append(f"Ticks: {many}, sorted{'; ' if ranks else ''}{ranks}")
    told.append(f"Bar: {_bar(results)}")
    if len(results.trials) >= LEAST_TRIALS:
        told.append(f"Fade: where the ends lie in 90 % and in 50 % of {trials}")
    told.append(f"Grey: average {about.loss} of its held-out {plural(about.held_out)}")
    if chart.along.log and any(own.losses[0] < chart.along.low for own in chart.cut.values()):
        told.append("Smaller losses are drawn at the left end of the axis")
    if new:
        fresh = "" if about.m is None else ", each with a freshly trained model"
        cases = f"test {plural(about.new)} of this trial, in random order{fresh}"
        told.append(f"Diamonds: new {plural(about.new)}, which are {cases}; kept: within the bound")
    elif not chart.cut:  # else the title says so
        failed = FAILED if np.isinf(chart.sets[about.bad_end]).any() else ""
        told += [f"There is {reason}" for reason in [missing or failed] if reason]
    return f"{'. '.join(told)}."


def _bar(results: Results) -> str:
    """What a bar is."""
    if results.experiment.kind.moves:
        trials = counted(len(results.trials), "trial")
        return f"the median ends over {trials}, at one random case each"
    first = results.trials[0]
    carries = "until trial 0 is there" if first else "which carries the promise"
    return f"the set of trial {first}, {carries}"


def _alt(chart: LossRows, new: int) -> str:
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
