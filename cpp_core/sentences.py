"""What sentences are made of: numbers that stay true when rounded, nouns, who a promise is about.

A bound is rounded away from what it claims (an upper bound up, a lower bound down), and never
across a number that it is compared with: the printed sentence is true whenever the computed one is.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpp_core.experiment import Experiment
from cpp_core.losses import Loss
from cpp_core.ranks import Level, exact_alpha, grouped_ranks, order_statistic
from cpp_core.results import Results

Badge = Literal["guaranteed", "approximate"]
Direction = Literal["up", "down", "nearest"]

DIGITS = 3
DECIMALS = 12
"""Significant digits of a number in a sentence."""

EXCHANGEABLE = "exchangeable cases"
INDEPENDENT = "independent cases"

LOSS_NAMES = {
    "zero_one": "zero-one loss",
    "brier": "Brier loss",
    "hinge": "hinge loss",
    "f1": "F1 score",
    "roc_auc": "area under the ROC curve",
    "rmse": "root mean squared error",
    "mae": "mean absolute error",
}
"""Losses whose name is no word; the others are read with spaces."""

ROUNDING = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "nearest": ROUND_HALF_EVEN}


@dataclass(frozen=True)
class Verdict:
    """A sentence with what stands behind it.

    Attributes
    ----------
    text : str
        The sentence in plain words.
    badge : "guaranteed" or "approximate"
    assumptions : str
        What it leans on.
    facts : dict
        k, m, alpha, n_algorithms and the numbers of the sentence, unrounded.
    why : str
        The computation behind it.
    """

    text: str
    badge: Badge
    assumptions: str
    facts: dict[str, Any]
    why: str


def number(
    value: float,
    direction: Direction = "nearest",
    against: float | None = None,
    digits: int = DIGITS,
) -> str:
    """A number with three significant digits, rounded in the stated direction.

    More digits are used where fewer would put it on another side of ``against``, or onto it. A
    float32 is read as the shortest decimal that it stands for, like the losses that it bounds.

    >>> number(0.4071, "up"), number(0.49996, "up", against=0.5), number(12345.6)
    ('0.408', '0.49996', '12300')
    """
    exact = _decimal(value)
    if not exact or not exact.is_finite():
        return "0" if not exact else f"{'-' if exact < 0 else ''}infinity"
    limit = None if against is None else _decimal(against)
    rounded = exact
    for places in range(digits, 20):
        unit = Decimal((0, (1,), exact.adjusted() - places + 1))
        rounded = exact.quantize(unit, rounding=ROUNDING[direction])
        if limit is None or rounded.compare(limit) == exact.compare(limit):
            break
    plain = rounded.normalize()
    return f"{plain:f}" if -6 < plain.adjusted() < 7 else str(plain).replace("E", "e")


def _decimal(value: float) -> Decimal:
    return Decimal(str(value))


def percent(share: Level, direction: Direction = "nearest", against: Level | None = None) -> str:
    """A share of 0 to 1 in percent, with one decimal at most.

    More decimals are used where fewer would put it on another side of ``against``, or onto it.

    >>> percent(0.9), percent(Fraction(29, 30), "down"), percent(0.0001), percent(math.nan)
    ('90 %', '96.6 %', 'under 0.1 %', 'undefined')
    >>> percent(0.50004, "down", against=0.5)
    '50.004 %'
    """
    if share != share:
        return "undefined"
    exact, limit = Fraction(share), None if against is None else Fraction(against)
    if exact == limit:
        limit = None
    rounds: dict[str, Callable[[Fraction], int]] = {
        "nearest": round,
        "up": math.ceil,
        "down": math.floor,
    }
    for decimals in range(1, DECIMALS):
        scale = 100 * 10**decimals
        shown = Fraction(rounds[direction](exact * scale), scale)
        if limit is None or (shown != limit and (shown > limit) == (exact > limit)):
            break
    if direction == "nearest" and (shown == 0 < exact or shown == 1 > exact):
        return "under 0.1 %" if shown == 0 else "over 99.9 %"
    text = f"{float(100 * shown):.{decimals}f}".rstrip("0").rstrip(".")
    return f"{text} %"


def unbroken(text: str) -> str:
    """The text with every percentage on one line, in Markdown that is escaped or not."""
    return re.sub(r" (\\?%)", "\u00a0\\1", text)


def confidence(alpha: Level) -> str:
    """1 - alpha in percent, never more than it is."""
    return percent(1 - exact_alpha(alpha), "down")


def counted(n: int, noun: str) -> str:
    """A number with its noun in the singular or plural.

    >>> counted(1, "case"), counted(3000, "batch")
    ('1 case', '3,000 batches')
    """
    return f"1 {noun}" if n == 1 else f"{n:,} {plural(noun)}"


def plural(noun: str) -> str:
    """Several of a noun."""
    return f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"


def possessive(label: str) -> str:
    """A label as the owner of something.

    >>> possessive("SVM-rbf"), possessive("Naive Bayes")
    ("SVM-rbf's", "Naive Bayes'")
    """
    return f"{label}'" if label.endswith("s") else f"{label}'s"


def ordinal(n: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st."""
    last = n % 10 if n % 100 not in (11, 12, 13) else 0
    return f"{n}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(last, 'th') }"


def listed(words: Iterable[str]) -> str:
    """Words with commas and an 'and'.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def loss_name(name: str) -> str:
    """What a loss is called in a sentence."""
    return LOSS_NAMES.get(name, name.replace("_", " "))


def sentence(text: str) -> str:
    """The same with a capital at the start."""
    return text[0].upper() + text[1:]


@dataclass(frozen=True)
class About:
    """Who and what the losses are about; what somebody with a column of losses can say of it.

    Parameters
    ----------
    loss : str
        What the numbers are called in a sentence.
    unit : str
    low, high : float
        Range of the numbers as shown.
    greater_is_better : bool
    errors : bool
        Whether a loss of 0 stands for a correct answer and 1 for an error.
    m, n : int or None
        Cases of each retraining, and cases at hand; None for a trained model.
    batch_size : int or None
        Cases of a batch, where the numbers are metrics on batches.
    n_algorithms : int
        How many algorithms are compared.
    source : str
        Where the losses come from.
    """

    loss: str = "loss"
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    greater_is_better: bool = False
    errors: bool = False
    m: int | None = None
    n: int | None = None
    batch_size: int | None = None
    n_algorithms: int = 1
    source: str = "the file"

    @property
    def sign(self) -> int:
        """Factor that makes smaller better."""
        return -1 if self.greater_is_better else 1

    @property
    def worst(self) -> float:
        """The bad end of the range, as shown."""
        return self.low if self.greater_is_better else self.high

    @property
    def range_end(self) -> str:
        """Where the range ends on the bad side."""
        return f"its range ends at {with_unit(number(self.worst, digits=4), self.unit)}"

    @property
    def new(self) -> str:
        """The noun of what the next number is measured on."""
        return "batch" if self.batch_size else "case"

    @property
    def next(self) -> str:
        """What the next number is measured on."""
        return f"new batch of {counted(self.batch_size, 'case')}" if self.batch_size else "new case"

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
        fresh = f"{counted(self.m, 'fresh case')}{f' (not {self.n})' if self.n else ''}"
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

    def more(self, n: int) -> str:
        """n more calibration scores, and what they cost."""
        own = "" if self.m is None else f" (each with its own {counted(self.m, 'training case')})"
        return counted(n, f"more calibration {self.held_out}") + own

    def value(
        self, shown: float, direction: Direction = "nearest", against: float | None = None
    ) -> str:
        """A number of this loss with its unit."""
        return with_unit(number(shown, direction, against), self.unit)

    def end(self, shown: float, against: float | None = None) -> str:
        """A bound with its unit, rounded to the bad side."""
        return self.value(shown, "down" if self.greater_is_better else "up", against)

    def bound(self, shown: float) -> str:
        """Such as "at most 0.41 nats"; "at least" where greater is better."""
        return f"{'at least' if self.greater_is_better else 'at most'} {self.end(shown)}"

    def facts(self, alpha: Level, k: int, **more: Any) -> dict[str, Any]:
        """What every verdict lists."""
        common = {
            "k": k,
            "m": self.m,
            "alpha": float(exact_alpha(alpha)),
            "n_algorithms": self.n_algorithms,
        }
        return common | {name: _plain(value) for name, value in more.items()}

    def separately(self, alpha: Level) -> str:
        """That several statements hold one by one only, and what would make them hold jointly."""
        K = self.n_algorithms
        if K == 1:
            return ""
        joint = confidence(exact_alpha(alpha) / K)
        return (
            f" With {K} algorithms compared, each statement holds separately; for all at once ask "
            f"for alpha / {K} ({joint})."
        )

    @property
    def of_pairs(self) -> str:
        """That a statement on one pair of several stands by itself."""
        n = math.comb(self.n_algorithms, 2)
        if n < 2:
            return ""
        return f" This is one of {n} pairs: it holds by itself, unless alpha was divided by {n}."


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def with_unit(text: str, unit: str) -> str:
    """A number with its unit, in the singular for one."""
    if not unit:
        return text
    return f"{text} {unit.removesuffix('s') if text in ('1', '-1') else unit}"


def about_results(results: Results) -> About:
    """Who and what the results are about."""
    return about_experiment(results.experiment)


def about_experiment(experiment: Experiment) -> About:
    """Who and what an experiment is about."""
    measure = experiment.measure
    return About(
        loss=loss_name(measure.name),
        unit=measure.unit,
        low=measure.low,
        high=measure.high,
        greater_is_better=measure.greater_is_better,
        errors=is_error(measure),
        m=experiment.sizes.m if experiment.algorithmic else None,
        n=experiment.n if experiment.algorithmic else None,
        batch_size=experiment.batch_size,
        n_algorithms=len(experiment.algorithms),
        source="trial 0",
    )


def is_error(measure: Loss) -> bool:
    """Whether the loss is 0 for a correct answer and 1 for an error."""
    return measure.name == "zero_one"


def first_trial(results: Results) -> int:
    """Where trial 0 is: the one, fixed beforehand, that carries every guarantee."""
    found = np.flatnonzero(results.trials == 0)
    if not len(found):
        raise ValueError(
            "Guaranteed sentences quote trial 0 of the seed, which is not among the trials that "
            "are there; wait for it, or run it."
        )
    return int(found[0])


def numeric(results: Results, what: str) -> None:
    """Refuse a question that symbols cannot answer."""
    if results.experiment.variant == "symbolic":
        raise ValueError(f"Kinds of error have no {what}; choose a numeric loss for that.")


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


def ends(
    losses: NDArray, alpha: Level, side: str, low: float, high: float
) -> tuple[int, int, float, float]:
    """Ranks and ends among losses (k,) or (k, b) with smaller better; the range where none is."""
    ascending = np.sort(losses, axis=None)
    lo, hi = grouped_ranks(len(losses), losses.size // len(losses), alpha, side)
    bottom, top = losses.dtype.type(low), losses.dtype.type(high)
    lower, upper = order_statistic(ascending, lo), order_statistic(ascending, hi)
    return lo, hi, max(lower, bottom), min(upper, top)


def as_limit(limit: float, dtype: np.dtype, sign: int = 1) -> Any:
    """A limit on losses as a number of their type: the same decimal, or one on the strict side.

    >>> float(as_limit(0.5, np.dtype("f4"))), float(as_limit(0.99999999, np.dtype("f4"))) < 1
    (0.5, True)
    """
    with np.errstate(over="ignore"):
        near = dtype.type(limit)
    exact = Decimal(str(float(limit)))
    if not np.isinf(near) and _decimal(near) == exact:
        return near
    beyond = sign * Decimal(float(near)) > sign * exact if np.isfinite(near) else sign * near > 0
    return np.nextafter(near, dtype.type(-sign * math.inf)) if beyond else near


def as_stored(lower: float, upper: float) -> tuple[float, float]:
    """Ends in float64 as the float32 ends that hold the same stored losses.

    >>> as_stored(-0.5, 1e-300)
    (np.float32(-0.5), np.float32(0.0))
    """
    low: Any = np.float32(lower)
    high: Any = np.float32(upper)
    if low < lower:
        low = np.nextafter(low, np.float32(np.inf))
    if high > upper:
        high = np.nextafter(high, np.float32(-np.inf))
    return low, high
