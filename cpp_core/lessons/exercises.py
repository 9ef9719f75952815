"""An exercise sheet with solutions, whose figures come from the functions that it is about."""

from dataclasses import dataclass
from functools import lru_cache

from scipy import stats

from cpp_core.lessons.breaks import lowest_of
from cpp_core.method.counts import batch_errors, cases_needed, tolerance_rank
from cpp_core.method.ranks import conformal_ranks, coverage_law, scores_needed
from cpp_core.verdicts.language import ordinal, percent


@dataclass(frozen=True)
class Exercise:
    """A task with its solution; texts without markup."""

    title: str
    task: str
    solution: str


def _ranks() -> Exercise:
    k = 24
    _, hi = conformal_ranks(k, 0.1, "upper")
    return Exercise(
        "Which loss is the bound?",
        f"You have {k} losses of a model on cases that it was not trained on. Which of the sorted "
        "losses is the 90 % bound, and how often does a new loss stay below it?",
        f"The {ordinal(hi)}: {k + 1} × 0.9 = {(k + 1) * 0.9:g}, rounded up. A new loss stays below "
        f"it with chance {hi}/{k + 1} = {percent(hi / (k + 1))}.",
    )


def _enough() -> Exercise:
    upper, both = scores_needed(0.05, "upper"), scores_needed(0.05)
    return Exercise(
        "How many for 95 %?",
        "How many losses does a finite 95 % bound need? And a range with a lower and an upper end?",
        f"{upper} and {both}. The largest of k losses has k of k + 1 places below it, and "
        f"{upper}/{upper + 1} = 95 %. With two ends each side may miss 2.5 %.",
    )


def _spread() -> Exercise:
    k = 59
    law = stats.beta(*coverage_law(k, 0.1, "upper"))
    low, high = law.ppf([0.05, 0.95])
    return Exercise(
        "How far may one calibration be off?",
        f"A 90 % bound is read off {k} losses. Between which shares of new cases do nine of ten "
        "such bounds lie? Use the Beta law, or simulate 2,000 calibrations with uniform losses.",
        f"Between {percent(low)} and {percent(high)}: the 5 % and 95 % points of "
        f"Beta({law.args[0]}, {law.args[1]}).",
    )


def _tolerance() -> Exercise:
    needed, rank = cases_needed(0.05, 0.05), tolerance_rank(100, 0.1, 0.05)
    _, hi = conformal_ranks(100, 0.1, "upper")
    return Exercise(
        "Nearly every calibration",
        "At most 5 % of calibrations may cover less than promised. From how many losses on is that "
        "possible for 95 %? Which of 100 losses is that bound for 90 %, and which the usual one?",
        f"From {needed} on: 0.95^{needed} is the first power that is at most 5 %. For 90 %: the "
        f"{ordinal(rank)} of 100 instead of the {ordinal(hi)}.",
    )


def _floor() -> Exercise:
    return Exercise(
        "A group of one in five",
        "A bound covers 90 % of all cases. One case in five is of a certain group. What is the "
        "least share of that group that it can cover? And of a group of one in twenty?",
        f"{percent(1 - 0.1 / 0.2)}: if all misses are in the group, they are 10 of its 20 points. "
        "Of a group of one in twenty possibly nothing.",
    )


def _picking() -> Exercise:
    needed = scores_needed(0.1 / 5, "upper")
    return Exercise(
        "Five models, one bound",
        "Five equally good models have a 90 % bound each, from 19 cases of their own. What does "
        "the lowest cover? How many cases does each need so that the lowest may be quoted?",
        f"About {percent(lowest_of(5))}. With alpha divided by five, 2 %, each bound needs "
        f"{needed} cases to be finite, and the lowest keeps 90 %.",
    )


def _pairs() -> Exercise:
    chance = 2 * 0.5**12
    return Exercise(
        "Twelve of twelve",
        "Two models are judged on the same 12 cases. Their ranges of losses overlap, but model A "
        "loses less on all 12. How surprising is that if neither is better on the next case?",
        f"It happens in 2 × 0.5^12, {percent(chance)}, of such comparisons. The overlap of the "
        "ranges says nothing against it.",
    )


def _batch() -> Exercise:
    fewest, most = batch_errors(200, 10, 100, 0.1)
    return Exercise(
        "Errors to come",
        "A classifier made 10 errors in 200 new cases. How many will it make in the next 100, with "
        "90 % confidence? Use batch_errors.",
        f"Between {fewest} and {most}: batch_errors(200, 10, 100, 0.1). Five would be expected, "
        "but both the 200 and the 100 are subject to chance.",
    )


def _broken() -> Exercise:
    return Exercise(
        "Find the mistake",
        "A colleague standardises the inputs, selects the ten best of 500 columns with all rows, "
        "then splits into halves, trains on one and calibrates on the other. What is wrong?",
        "The columns were selected with the targets of the calibration rows: their losses are "
        "smaller than those of new cases. Select inside the training half. (Scaling with all rows "
        "uses their inputs too, and belongs there as well.)",
    )


def _simulate() -> Exercise:
    return Exercise(
        "See it yourself",
        "Deal ten losses 10,000 times, and a new one each time. How often does the new one stay "
        "below the second largest? Why does the distribution of the losses not matter?",
        f"In 9/11 of the deals, about {percent(9 / 11)}. Only the place of the new one among the "
        "eleven counts, and all eleven places are equally likely.",
    )


@lru_cache(maxsize=1)
def exercises() -> tuple[Exercise, ...]:
    """The sheet, from easy to hard."""
    makers = (_simulate, _ranks, _enough, _spread, _floor, _pairs, _batch, _tolerance, _picking)
    return tuple(maker() for maker in (*makers, _broken))
