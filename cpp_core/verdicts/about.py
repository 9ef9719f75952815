"""Who and what a promise is about, and what can be said of its losses."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level, check_side, exact_alpha
from cpp_core.method.ranks import ends
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.verdicts.language import (
    Direction,
    confidence,
    counted,
    listed,
    number,
    with_unit,
)

End = Literal["lower", "upper"]

LEAST_TRIALS = 20
"""Fewer trials show neither where one of them lies nor how often a promise is kept."""
SAME_SHARE = 1e-6
"""Closer than this to a number of b-ths a share of b cases is that number, stored as float32."""
NO_BOUND = "no finite bound"
END_DIGITS = 4
"""Significant digits of the end of a loss's range, where a bound is that end."""


@dataclass(frozen=True)
class About:
    """Who and what the losses are about; what somebody with a column of losses can say of it."""

    loss: str = "loss"  # what the numbers are called in a sentence
    unit: str = ""
    low: float = -math.inf  # range of the numbers as shown
    high: float = math.inf
    greater_is_better: bool = False
    errors: bool = False  # whether a loss of 0 stands for a correct answer and 1 for an error
    m: int | None = None  # cases of each retraining; None for a trained model
    n: int | None = None  # cases at hand; None for a trained model
    batch_size: int | None = None  # cases of a batch, where the numbers are metrics on batches
    shares: bool = False  # whether such a metric is a share of the cases of a batch
    n_algorithms: int = 1  # how many are compared
    source: str = "the file"  # where the losses come from

    @property
    def sign(self) -> int:
        """Factor that makes smaller better."""
        return -1 if self.greater_is_better else 1

    def worse(self, shown: float, limit: float) -> bool:
        """Whether a number as shown is worse than another."""
        return bool(self.sign * shown > self.sign * limit)

    def no_error(self, limit: float) -> bool:
        """Whether what keeps a limit is a correct answer, and nothing else."""
        right = float(self.greater_is_better)
        return self.errors and not self.worse(right, limit) and self.worse(1 - right, limit)

    @property
    def worst(self) -> float:
        """The bad end of the range, as shown."""
        return self.low if self.greater_is_better else self.high

    @property
    def best(self) -> float:
        """The good end of the range, as shown."""
        return self.high if self.greater_is_better else self.low

    @property
    def edge(self) -> str:
        """On which side of the worst end of its range a bound says something."""
        return "above the bottom" if self.greater_is_better else "below the top"

    @property
    def range_end(self) -> str:
        """Where the range ends on the bad side."""
        return f"its range ends at {self.end(self.worst)}"

    @property
    def difference(self) -> "About":
        """The same for differences of two losses: their range is that of the loss, mirrored."""
        span = self.high - self.low
        return replace(self, low=-span, high=span)

    @property
    def noun(self) -> str:
        """What one of the numbers is."""
        return "score" if self.greater_is_better else "loss"

    @property
    def new(self) -> str:
        """The noun of what the next number is measured on."""
        return "batch" if self.batch_size else "case"

    @property
    def next(self) -> str:
        """What the next number is measured on."""
        return f"new batch of {counted(self.batch_size, 'case')}" if self.batch_size else "new case"

    @property
    def on_next(self) -> str:
        """For what a bound is, in a few words."""
        after = "" if self.m is None else f" after retraining on {counted(self.m, 'fresh case')}"
        of = f" of {counted(self.batch_size, 'case')}" if self.batch_size else ""
        return f"on the next {self.new}{of}{after}"

    @property
    def each_retrained(self) -> str:
        """That each of several next cases has a training run of its own; empty for a model."""
        fresh = "" if self.m is None else counted(self.m, "fresh case")
        return f", each after retraining on {fresh}" if fresh else ""

    @property
    def held_out(self) -> str:
        """The noun of what gives one independent number."""
        return self.new if self.m is None else "group"

    def of(self, label: str) -> str:
        """The model or algorithm in a sentence."""
        return label if self.m is not None else f"this trained {label}"

    def lead(self, *labels: str) -> str:
        """How a sentence begins: on what the promise depends."""
        if self.m is None:
            same = "the same " if len(labels) > 1 else "a "
            return f"For {same}{self.next} drawn like the calibration data"
        fresh = f"{counted(self.m, 'fresh case')}{f' (not {self.n:,})' if self.n else ''}"
        if len(labels) == 1:
            return f"If {labels[0]} is retrained on {fresh}, then for a {self.next}"
        return (
            f"If {listed(list(labels))} are retrained on the same {fresh}, then for the same "
            f"{self.next}"
        )

    @property
    def together(self) -> str:
        """Over what the probability is."""
        training = "" if self.m is None else ", the fresh training cases"
        return f"over the calibration draw{training} and the new {self.new} together"

    def missing(self, n: int) -> str:
        """n more calibration scores."""
        return counted(n, f"more calibration {self.held_out}")

    def more(self, n: int) -> str:
        """n more calibration scores, and what they cost."""
        own = "" if self.m is None else f" (each with its own {counted(self.m, 'training case')})"
        return self.missing(n) + own

    def set_from(
        self, losses: NDArray, alpha: Level, side: str
    ) -> tuple[tuple[int, int], tuple[float, float]]:
        """The ranks, smaller better, and the ends, as shown, that losses (k,) or (k, b) give."""
        low, high = sorted((self.sign * self.low, self.sign * self.high))
        lo, hi, lower, upper = ends(self.sign * losses, alpha, side, low, high)
        return (lo, hi), self.turned(lower, upper)

    def bound_from(self, losses: NDArray, alpha: Level) -> tuple[int, float]:
        """The one-sided bound, as shown, that losses (k,) or (k, b) give, and its rank."""
        (_, hi), (lower, upper) = self.set_from(losses, alpha, "upper")
        return hi, lower if self.greater_is_better else upper

    @property
    def order(self) -> str:
        """From which end of the losses the rank of a bound counts."""
        return "largest" if self.greater_is_better else "smallest"

    @property
    def at_most(self) -> str:
        """Such as "at most"; "at least" where greater is better."""
        return "at least" if self.greater_is_better else "at most"

    @property
    def bad_end(self) -> End:
        """The end that a one-sided bound is."""
        return "lower" if self.greater_is_better else "upper"

    def ends(self, side: str) -> tuple[End, ...]:
        """The ends that a set has on this side: both, or the bound alone."""
        return ("lower", "upper") if check_side(side) == "two-sided" else (self.bad_end,)

    def turned(self, lower: float, upper: float) -> tuple[float, float]:
        """Shown ends as ends with smaller better, and back; an empty set stays empty."""
        return (-upper, -lower) if self.greater_is_better else (lower, upper)

    def rounded(self, end: End, shown: float, *against: float) -> str:
        """An end of a set: rounded outwards, never beyond the range nor across the numbers given.

        The end of the range itself is shown with four digits.

        >>> [About(high=36.04365).rounded("upper", end) for end in (0.4071, 36.02, 36.04365)]
        ['0.408', '36.02', '36.04']
        """
        limit = self.low if end == "lower" else self.high
        if is_stored(shown, limit):
            return number(limit, digits=END_DIGITS)
        direction: Direction = "down" if end == "lower" else "up"
        if self.shares and self.batch_size and np.isfinite(shown):
            # A share of b cases is a number of b-ths, which a difference of stored ones misses.
            whole = round(shown * self.batch_size) / self.batch_size
            shown = whole if abs(whole - shown) < SAME_SHARE else shown
        # A loss that was stored as float32 is read as the decimal that it stands for.
        short = _short(shown)
        exact = short if float(short) == float(shown) else shown
        return number(exact, direction, (limit, *against))

    def lower_end(self, shown: float, *against: float) -> str:
        """A lower end, rounded down."""
        return self.rounded("lower", shown, *against)

    def upper_end(self, shown: float, *against: float) -> str:
        """An upper end, rounded up."""
        return self.rounded("upper", shown, *against)

    def end(self, shown: float, *against: float) -> str:
        """A one-sided bound with its unit, rounded to the bad side; an infinite one has no unit."""
        if math.isinf(shown):
            return NO_BOUND
        return with_unit(self.rounded(self.bad_end, shown, *against), self.unit)

    def bound(self, shown: float) -> str:
        """Such as "at most 0.41 nats"; "at least" where greater is better."""
        return self.end(shown) if math.isinf(shown) else f"{self.at_most} {self.end(shown)}"

    def unbounded(self, lower: float, upper: float) -> bool:
        """Whether two ends say nothing: one is infinite, the other too or that of the range."""
        endless = math.isinf(lower), math.isinf(upper)
        kept = is_stored(lower, self.low), is_stored(upper, self.high)
        return any(endless) and all(a or b for a, b in zip(endless, kept, strict=True))

    def between(self, lower: float, upper: float) -> str:
        """Such as "between 0.01 and 0.41 nats"; an infinite end is left out.

        Where the other end is that of the range, which every loss keeps, nothing is left.
        """
        low, high = self.lower_end(lower), self.upper_end(upper)
        if self.unbounded(lower, upper):
            return NO_BOUND
        if math.isinf(lower):
            return f"at most {with_unit(high, self.unit)}"
        if math.isinf(upper):
            return f"at least {with_unit(low, self.unit)}"
        return f"between {low} and {with_unit(high, self.unit)}"

    def facts(self, alpha: Level, k: int, **more: Any) -> dict[str, Any]:
        """What every verdict lists."""
        found = {"k": k, "m": self.m, "alpha": float(exact_alpha(alpha))}
        found |= {"n_algorithms": self.n_algorithms} | more
        return {n: v.item() if isinstance(v, np.generic) else v for n, v in found.items()}

    def separately(self, alpha: Level) -> str:
        """That several statements hold one by one only, and what would make them hold jointly."""
        K = self.n_algorithms
        told = (
            f" With {K} algorithms compared, each statement holds separately; for all at once ask "
            f"for alpha / {K} ({confidence(exact_alpha(alpha) / K, 'up')})."
        )
        return told if K > 1 else ""

    @property
    def n_pairs(self) -> int:
        """How many pairs there are."""
        return math.comb(self.n_algorithms, 2)

    def each_pair(self, alpha: Level) -> Fraction:
        """The alpha of one pair, with which the statements on all of them hold jointly."""
        return exact_alpha(alpha) / max(self.n_pairs, 1)

    @property
    def of_pairs(self) -> str:
        """How a statement on one pair of several holds."""
        n = self.n_pairs
        joint = f" Here alpha is divided by the {n} pairs, so that all statements hold jointly."
        return joint if n > 1 else ""


def about_numbers(greater_is_better: bool = False, **more: Any) -> About:
    """About the numbers of a file, with their range: losses, or scores where greater is better."""
    loss = "score" if greater_is_better else "loss"
    return About(loss, greater_is_better=greater_is_better, **more)


def _short(value: float) -> Any:
    with np.errstate(over="ignore"):
        return np.float32(value)


def is_stored(value: float, limit: float) -> bool:
    """Whether a value is a limit, in full or as losses are stored."""
    return float(value) in (limit, float(_short(limit)))


def about_results(results: Results) -> About:
    """Who and what the results are about."""
    return about_experiment(results.experiment)


def about_experiment(experiment: Experiment) -> About:
    """Who and what an experiment is about."""
    loss = experiment.criterion
    return About(
        loss=loss.label,
        unit=loss.unit,
        low=loss.low,
        high=loss.high,
        greater_is_better=loss.greater_is_better,
        errors=loss.errors,
        m=experiment.sizes.m if experiment.algorithmic else None,
        n=experiment.n if experiment.algorithmic else None,
        batch_size=experiment.batch_size,
        shares=loss.shares,
        n_algorithms=len(experiment.algorithms),
        source="trial 0",
    )


def first_trial(results: Results) -> int:
    """Where trial 0 is: the one, fixed beforehand, that carries every guarantee."""
    found = np.flatnonzero(results.trials == 0)
    if not len(found):
        raise ValueError(
            "Guaranteed sentences quote trial 0 of the seed, which is not among the trials that "
            "are there; wait for it, or run it."
        )
    return int(found[0])


def check_numeric(
    results: Results, what: str, instead: str = "choose a numeric loss for that"
) -> None:
    """Refuse a question that symbols cannot answer."""
    if results.experiment.kind.symbolic:
        raise ValueError(f"Kinds of error have no {what}; {instead}.")


def check_scores(losses: Any) -> NDArray:
    """Losses (k,) or (k, b), with at least one and without NaN; a failed run may be infinite."""
    scores = np.asarray(losses)
    scores = scores if scores.dtype.kind == "f" else scores.astype(float)
    if scores.ndim not in (1, 2) or not scores.size or np.isnan(scores).any():
        raise ValueError(
            f"Losses must be numbers, one per case and at least one, without gaps; an array of "
            f"shape {scores.shape} with {int(np.isnan(scores).sum())} gaps was given."
        )
    return scores
