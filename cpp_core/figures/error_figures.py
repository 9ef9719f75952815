"""Errors among the next cases: where a loss is an error or none, its bound says little."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.figures.loss_rows import DIAMOND, NEW_CASES, PAUSE
from cpp_core.figures.panels import Axis, Panel, SetChart, SetMark, diamond, look
from cpp_core.figures.sketch import Settings
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import about_results, first_trial
from cpp_core.verdicts.held_out import average_of, held_out_losses, this_one
from cpp_core.verdicts.language import counted, listed
from cpp_core.verdicts.next_errors import NEXT_CASES, errors_ahead, errors_reading, errors_title
from cpp_core.verdicts.promise import shares_words
from cpp_core.verdicts.verdict import Verdict

WRONG = 4
"""Plotly's number of a cross."""


def errors_bars(
    results: Results,
    alpha: Level = 0.1,
    side: str = "two-sided",
    dark: bool = False,
    draws: bool = True,
) -> Panel:
    """A bar per algorithm: the errors among the next cases that trial 0 leaves possible.

    Where it ``draws``, buttons go through the first test cases of that trial, in their stored
    random order, and a diamond counts the errors of each algorithm.
    """
    if not about_results(results).errors:
        raise ValueError("Errors are counted where the loss is 1 for an error: use next_loss.")
    found = [errors_ahead(results, name, alpha, side) for name in results.algorithms]
    rows = []
    for name, verdict in zip(results.algorithms, found, strict=True):
        rate = average_of(held_out_losses(results, name))
        rows.append((name, verdict.facts["fewest"], verdict.facts["most"], NEXT_CASES * rate))
    data = pd.DataFrame(rows, columns=["algorithm", "fewest", "most", "at_this_rate"])
    wrong = _new_errors(results)
    seen = [data[["fewest", "most", "at_this_rate"]].to_numpy().ravel(), wrong[-1:].ravel() * draws]
    chart = SetChart(Axis.around(np.concatenate(seen), log=False, zero=True))
    for row, (name, fewest, most, _) in enumerate(data.itertuples(index=False)):
        chart.set(row, SetMark(fewest, most, look(name).color, errors_reading(found[row])))
        chart.note(str(most), x=most, y=row, xanchor="left", xshift=6, font={"size": 13})
    labels = [look(name).label for name in results.algorithms]
    chart.averages(labels, data["at_this_rate"].tolist(), "at the error rate seen")
    chart.frame_sets(f"errors among the next {NEXT_CASES} cases", labels, 90, 58)
    if draws:
        _draw_cases(chart, wrong, labels, dark)
        data["new_cases"], data["new_errors"] = len(wrong), wrong[-1]
    return _told(chart, data, found, len(wrong) * draws, this_one(results.experiment))


def _new_errors(results: Results) -> NDArray[np.int_]:
    """How many of the first new cases each algorithm got wrong, after each of them."""
    row = first_trial(results)
    tests = [results.reader(name).arrays["test"][row, :NEW_CASES] for name in results.algorithms]
    return (np.stack(tests, axis=1) > 0).cumsum(axis=0)


def _draw_cases(chart: SetChart, wrong: NDArray, labels: list[str], dark: bool) -> None:
    """Buttons that go through the new cases: a diamond at the errors so far, and their count."""
    count, rows = wrong.shape
    chart.counters(labels)
    mark = len(chart.data)
    chart.marks([], range(rows), diamond(dark, 11), "%{x} errors so far", cliponaxis=False)
    steps: list[Settings] = [{"data": [{"x": []}], "traces": [mark]}]
    newest = np.diff(wrong, axis=0, prepend=0)
    for so_far, last in zip(wrong, newest, strict=True):
        symbols = np.where(last, WRONG, DIAMOND).tolist()
        data = [{"x": so_far.tolist(), "marker": {"symbol": symbols}}]
        steps.append({"data": data, "traces": [mark]})
    for i, step in enumerate(steps):
        told = [f"{n:,} of {i:,} wrong" for n in wrong[i - 1].tolist()] if i else [" "] * rows
        step["layout"] = {"annotations": [{"text": text} for text in told]}
    last_words = f"All {count} stored cases drawn: start again"
    words = ("Draw the next case", "Draw up to {}", last_words)
    chart.film(steps, {*range(PAUSE, count, PAUSE), count}, words)
    chart.layout["margin"] = {**chart.layout["margin"], "l": 100, "t": 52}
    chart.layout["height"] += 24


def _told(chart: SetChart, data: pd.DataFrame, found: list[Verdict], new: int, this: str) -> Panel:
    """The words around the chart; ``new`` is how many new cases can be drawn, of ``this`` trial."""
    labels = [verdict.facts["algorithm"] for verdict in found]
    seen = dict(zip(labels, (data["at_this_rate"] / NEXT_CASES).tolist(), strict=True))
    caption = (
        f"Bar: how many of the next {NEXT_CASES} cases may be wrong, exactly, from the errors of "
        f"{this}'s calibration cases. Grey: what the error rate of its held-out cases gives "
        f"({shares_words(seen)})."
    )
    readings = listed(map(errors_reading, found))
    alt = f"One bar per algorithm: {readings} among the next {NEXT_CASES} cases."
    if new:
        caption += (
            f" Diamond: errors so far among test cases of {this}, in random order; a cross where "
            "the newest is wrong."
        )
        wrong = [f"{n:,} for {label}" for label, n in zip(labels, data["new_errors"], strict=True)]
        alt += f" Buttons draw {counted(new, 'new case')} one by one; wrong are {listed(wrong)}."
    return Panel("errors-ahead", errors_title(found), chart, caption, alt, data)
