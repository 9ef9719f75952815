"""How many calibration losses a set holds, and what that says about the next: facts and words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, check_side
from cpp_core.trials.readings import NumericLosses
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About, about_results, is_stored
from cpp_core.verdicts.language import confidence, counted, listed, ordinal, plural, possessive

Outcome = Literal["bound", "top", "failed", "too little data"]

FAILED = "no finite bound: failed training runs count as infinite losses"
"""Where there are enough losses for a bound, and too many of them are infinite."""


@dataclass(frozen=True)
class Held:
    """The calibration losses of one trial, beside the set that they give; all as shown.

    ``outcome`` says whether the bound on the bad side is one ("bound"), or only the end of the
    range ("top"), or infinite since training "failed", or missing with "too little data".
    """

    label: str
    losses: NDArray  # ascending
    lower: float
    upper: float
    ranks: tuple[int, int]  # of the ends, counted from the good side
    outcome: Outcome
    new: NDArray  # test losses in their stored order, which is random

    def holds(self, losses: NDArray) -> NDArray[np.bool_]:
        """Whether each loss lies in the set, its ends included."""
        return (self.lower <= losses) & (losses <= self.upper)

    @cached_property
    def inside(self) -> int:
        """How many of the calibration losses the set holds: with ties more than its ranks say."""
        return int(self.holds(self.losses).sum())


def held(results: Results, alpha: Level, side: str) -> dict[str, Held]:
    """By algorithm, the first trial that is there; only of sets that do not move with the case."""
    about, found = about_results(results), {}
    short = results.k_needed(alpha, check_side(side)) > results.experiment.sizes.k
    for name in results.algorithms:
        reader = results.reader(name)
        assert isinstance(reader, NumericLosses)
        read = reader.read(alpha, side)
        ends = {"lower": float(read.lower[0]), "upper": float(read.upper[0])}
        bad = ends[about.bad_end]
        outcome: Outcome = "top" if is_stored(bad, about.worst) else "bound"
        outcome = "too little data" if short else "failed" if np.isinf(bad) else outcome
        found[name] = Held(
            label=ALGORITHMS[name].label,
            losses=np.sort(reader.arrays["calibration"][0], axis=None),
            **ends,
            ranks=reader.ranks(alpha, side),
            outcome=outcome,
            new=reader.shown_test[0],
        )
    return found


def numbers_noun(about: About) -> str:
    """What one of the calibration numbers is: a loss, or a batch that has one."""
    return "batch" if about.batch_size else "score" if about.greater_is_better else "loss"


def within(own: Held, about: About) -> str:
    """How many calibration losses a set holds."""
    many = plural(numbers_noun(about))
    return f"{own.inside:,} of {own.losses.size:,} calibration {many} within"


def held_title(
    found: Sequence[Held], alpha: Level, side: str, about: About, missing: str, trial: int
) -> str:
    """How many calibration losses the sets hold: so will the next, with confidence.

    ``missing`` is what the verdicts say where there are too few scores for any bound. Only trial 0
    carries the promise.
    """
    level, refused = confidence(alpha), confidence(alpha, "up")
    if missing:
        return f"With {refused} confidence there is {missing}"
    bounded = [own for own in found if own.outcome == "bound"]
    if not bounded:
        return f"With {refused} confidence, {_lacking(found, about)}"
    counts, total = [own.inside for own in bounded], bounded[0].losses.size
    least = "" if len(set(counts)) == 1 else "At least "
    told = f"{least}{min(counts):,} of {total:,} calibration {plural(numbers_noun(about))}"
    lie, bounds = "lies" if min(counts) == 1 else "lie", f"bound{'s' * (side != 'upper')}"
    told += f" {lie} within {_whose(bounded, len(found), about)} {bounds}"
    if trial:
        told += f" in trial {trial}; trial 0, which carries the promise, is still to come"
    else:
        again = ", after retraining," if about.m is not None else ","
        told += f": the next will too{again} with {level} confidence"
        told += " each" if len(bounded) > 1 else ""
    lacking = _lacking(found, about, beside=True)
    return told + (f"; {lacking}" if lacking else "")


def _whose(bounded: Sequence[Held], compared: int, about: About) -> str:
    """Whose bounds there are."""
    if compared > 1 and len(bounded) == compared:
        return "each model's" if about.m is None else "each algorithm's"
    return listed(possessive(own.label) for own in bounded)


def _lacking(found: Sequence[Held], about: About, beside: bool = False) -> str:
    """Who has no bound, and why; shorter ``beside`` others that have one. Empty where all have."""
    reasons = {
        "failed": FAILED,
        "top": f"no bound {about.edge} of the range, {about.end(about.worst)}",
    }
    if beside:
        reasons = {"failed": "none: training failed", "top": f"none {about.edge} of the range"}
    parts = []
    for outcome, reason in reasons.items():
        labels = [own.label for own in found if own.outcome == outcome]
        if labels:
            parts.append(f"{listed(labels)} {'has' if len(labels) == 1 else 'have'} {reason}")
    return "; ".join(parts)


def missing_words(facts: Mapping[str, Any]) -> str:
    """What a verdict on losses at hand lacks, empty where it lacks nothing."""
    more = facts["k_needed"] - facts["k"]
    return "" if more <= 0 else f"no bound: {counted(more, 'more case')} would give one"


def ranks_words(own: Held, side: str, about: About) -> str:
    """Which of the sorted calibration losses the ends are; empty where none is.

    One at the top of the range, or an infinite one, is no bound.
    """
    lo, hi = own.ranks
    if own.outcome == "too little data":
        return ""
    if side == "upper" and own.outcome != "bound":
        where = "infinite" if own.outcome == "failed" else "the end of the range"
        return f"the {ordinal(hi)} {about.order} is {where}: no bound"
    if side == "upper":
        return f"the {ordinal(hi)} {about.order} is the bound"
    return f"the {ordinal(lo)} and the {ordinal(hi)} {about.order} are the ends"
