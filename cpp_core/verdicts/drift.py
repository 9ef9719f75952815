"""Random splits beside the latest cases held out, in words: what was seen, never a promise."""

import math

import numpy as np

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import NO_BOUND, about_results
from cpp_core.verdicts.language import confidence, counted, listed, number, percent
from cpp_core.verdicts.summary import Table

NO_PROMISE = (
    "One hold-out in time is a look, not a guarantee: where new cases differ from old ones, no "
    "bound is promised."
)


def _within(latest: Results, name: str, alpha: Level, side: str) -> tuple[int, int] | None:
    """How many of how many latest cases are within the bound; None where there is no finite one."""
    found, n = latest.at(alpha, side), latest.experiment.sizes.n_test
    (row,) = found[found["algorithm"] == name].to_dict("records")
    if math.isinf(row[about_results(latest).bad_end]):
        return None
    return round(float(row["test_coverage"]) * n), n


def _share(within: tuple[int, int] | None) -> str:
    return NO_BOUND if within is None else f"{within[0]:,} of {within[1]:,}"


def latest_table(random: Results, latest: Results, alpha: Level, side: str = "upper") -> Table:
    """By algorithm, the share of test cases within the bound: of random splits, and of the latest.

    The first is the mean over all trials, with how many of them have no finite bound, within which
    every case is; the second counts one hold-out.
    """
    seen, end, rows = random.at(alpha, side), about_results(random).bad_end, []
    for name in latest.algorithms:
        trials = seen[seen["algorithm"] == name]
        n, infinite = len(trials), int(np.isinf(trials[end]).sum())
        more = f" ({infinite:,} of {n:,} not finite)" if infinite else ""
        splits = NO_BOUND if infinite == n else percent(trials["test_coverage"].mean()) + more
        own = _share(_within(latest, name, alpha, side))
        rows.append((ALGORITHMS[name].label, splits, own))
    head = ("Within the bound", "Random splits", "Latest cases")
    return Table(
        head, rows, f"{confidence(alpha)} was asked. {NO_PROMISE}", names=latest.algorithms
    )


def latest_words(latest: Results, alpha: Level, side: str = "upper") -> str:
    """The hold-out in time in two sentences, for whoever sees the result alone."""
    n, told, missing = latest.experiment.sizes.n_test, [], []
    for name in latest.algorithms:
        within, label = _within(latest, name, alpha, side), ALGORITHMS[name].label
        if within is None:
            missing.append(label)
        else:
            verb = "is" if within[0] == 1 else "are"
            told.append(f"{within[0]:,} {verb} within the bound of {label}")
    held = f"Of the latest {counted(n, 'case')}, which {'was' if n == 1 else 'were'} held out, "
    asked = f"({confidence(alpha)} was asked)"
    words = [f"{held}{listed(told)} {asked}."] if told else []
    if missing:
        verb = "has" if len(missing) == 1 else "have"
        words.append(f"{listed(missing)} {verb} no finite bound {asked}.")
    return " ".join([*words, NO_PROMISE])


def latest_only(latest: Results, alpha: Level, side: str = "upper") -> Table:
    """By algorithm, how many of the latest cases were within the bound, and their average loss."""
    rows = []
    for name in latest.algorithms:
        average = number(float(latest.arrays[name]["test"].mean()))
        rows.append((ALGORITHMS[name].label, _share(_within(latest, name, alpha, side)), average))
    head = ("Latest cases", "Within the bound", "Average loss")
    told = f"{confidence(alpha)} was asked. {NO_PROMISE}"
    return Table(head, rows, told, names=latest.algorithms)
