"""Which order statistics make an interval valid: the only place where alpha meets k.

Sorted scores are ``s_(1) <= ... <= s_(k)`` with ``s_(0) = -inf`` and ``s_(k+1) = +inf``. All
decisions are made in exact rational arithmetic from the decimal that the user typed: in floating
point ``(k + 1) * (1 - alpha)`` lands on the wrong side of an integer for such plain cases as k = 9
and alpha = 0.1.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational, Real
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

Side = Literal["two-sided", "upper"]
Level = float | Decimal | Fraction

DECIMALS = 12
"""A float is read as the decimal with this many places that it was typed as."""

CLOSE_CALL = 1e-7
"""Tail probabilities within this share of their threshold are recomputed exactly."""


class InfiniteEndWarning(UserWarning):
    """There are too few calibration scores for a finite end at the asked confidence."""


def to_fraction(value: Level, name: str) -> Fraction:
    """Read a number as the decimal fraction that its author meant.

    >>> to_fraction(0.1, "alpha")
    Fraction(1, 10)
    """
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, Decimal) and value.is_finite():
        return Fraction(value)
    if isinstance(value, Real) and math.isfinite(value):
        return Fraction(f"{float(value):.{DECIMALS}f}")
    raise ValueError(f"{name} must be a number strictly between 0 and 1, but {value!r} was given.")


def _probability(value: Level, name: str) -> Fraction:
    if isinstance(value, bool):
        raise ValueError(f"{name} must be a number, but {value!r} was given.")
    fraction = to_fraction(value, name)
    if 0 < fraction < 1:
        return fraction
    hint = f"write {name}=0.1 for one in ten"
    if 1 < fraction < 100:
        hint = f"if you mean {float(value):g} %, write {name}={float(fraction / 100):.12g}"
    elif 0 < value < 1:
        hint = f"it is nearer to 0 or 1 than the {DECIMALS} decimals that are read; use a Fraction"
    raise ValueError(f"{name} must lie strictly between 0 and 1, but {value!r} was given; {hint}.")


@lru_cache(maxsize=1024)
def exact_alpha(alpha: Level) -> Fraction:
    """Alpha as an exact fraction strictly between 0 and 1."""
    return _probability(alpha, "alpha")


def alpha_of(confidence_level: Level) -> Fraction:
    """The alpha that belongs to a confidence level, without the rounding of ``1 - 0.9``.

    >>> alpha_of(0.9)
    Fraction(1, 10)
    """
    return 1 - _probability(confidence_level, "confidence_level")


def alphas_of(confidence_level: Level | Sequence[Level]) -> tuple[list[Fraction], bool]:
    """The alphas of one confidence level or of several, and whether several were given."""
    if isinstance(confidence_level, Sequence | np.ndarray) and not isinstance(
        confidence_level, str
    ):
        if not len(confidence_level):
            raise ValueError("confidence_level is an empty list; give at least one level.")
        return [alpha_of(level) for level in confidence_level], True
    return [alpha_of(confidence_level)], False


def check_side(side: str) -> Side:
    """Refuse a side that does not exist."""
    if side not in ("two-sided", "upper"):
        raise ValueError(f"side must be 'two-sided' or 'upper', but {side!r} was given.")
    return cast(Side, side)


def check_count(value: int, name: str, least: int = 1) -> int:
    """A whole number that is at least ``least``, as a Python int."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return int(value)


def grouped_ranks(
    n_sets: int, n_evaluations: int, alpha: Level, side: str = "two-sided"
) -> tuple[int, int]:
    """Ranks ``(lo, hi)`` among the losses of groups that were each evaluated several times.

    With ``K = n_sets`` groups of ``b = n_evaluations`` losses the ranks refer to all ``K b`` sorted
    losses (Lee, Barber and Willett, arXiv 2306.06342)::

        upper      hi = ceil((K+1) b (1-alpha))
        two-sided  f = floor((K+1) b alpha/2),  lo = f - (b-1),  hi = (K+1) b - f

    A ``lo`` of 0 is the infinite lower end, a ``hi`` of ``K b + 1`` the infinite upper end. For
    ``b = 1`` this is split conformal prediction with k = K scores.
    """
    K, b = check_count(n_sets, "n_sets"), check_count(n_evaluations, "n_evaluations")
    exact = exact_alpha(alpha)
    if check_side(side) == "upper":
        lo, hi = 0, math.ceil((K + 1) * b * (1 - exact))
    else:
        f = math.floor((K + 1) * b * exact / 2)
        lo, hi = f - (b - 1), (K + 1) * b - f
    return max(lo, 0), min(hi, K * b + 1)


def conformal_ranks(k: int, alpha: Level, side: str = "two-sided") -> tuple[int, int]:
    """Ranks ``(lo, hi)`` of the k sorted scores between which a new one falls.

    The new score lies in ``[s_(lo), s_(hi)]`` with probability at least ``1 - alpha``, and exactly
    ``(hi - lo) / (k + 1)`` when scores do not tie. ``lo = 0`` is -inf and ``hi = k + 1`` is +inf.
    For ``side="upper"`` the result is ``(0, ceil((k+1)(1-alpha)))``, for two sides
    ``lo = floor((k+1) alpha/2)`` and ``hi = k + 1 - lo``.

    >>> conformal_ranks(9, 0.1, "upper"), conformal_ranks(19, 0.1), conformal_ranks(5, 0.1)
    ((0, 9), (1, 19), (0, 6))
    """
    return grouped_ranks(check_count(k, "k"), 1, alpha, side)


def scores_needed(alpha: Level, side: str = "two-sided") -> int:
    """The least k with finite ends: ``1/alpha - 1`` for an upper bound, ``2/alpha - 1`` for two.

    >>> scores_needed(0.1, "upper"), scores_needed(0.1)
    (9, 19)
    """
    ends = 1 if check_side(side) == "upper" else 2
    return math.ceil(ends / exact_alpha(alpha)) - 1


def coverage_law(k: int, alpha: Level, side: str = "two-sided") -> tuple[int, int]:
    """Parameters (a, b) of the Beta law of the coverage, given the calibration scores.

    Without ties the share of new losses that the set covers is Beta(hi - lo, k + 1 - (hi - lo))
    over calibration draws, with mean ``a / (a + b)``, the exact probability of covering. ``b = 0``
    stands for certain coverage: the set has no finite end.

    >>> coverage_law(19, 0.1)
    (18, 2)
    """
    lo, hi = conformal_ranks(k, alpha, side)
    return hi - lo, k + 1 - (hi - lo)


def order_statistic(ascending: NDArray, rank: int) -> float:
    """``s_(rank)`` along the last axis of sorted scores, infinite outside ``1..k``."""
    if rank < 1:
        return -math.inf
    return math.inf if rank > len(ascending) else ascending[rank - 1]


def tell_infinite(n_sets: int, alpha: Level, side: str, what: str = "calibration scores") -> None:
    """Warn, with the number that would do, when n_sets scores give no finite end."""
    needed = scores_needed(alpha, side)
    if n_sets < needed:
        warnings.warn(
            f"{n_sets} {what} give no finite {'upper' if side == 'upper' else 'lower or upper'} "
            f"end at {float(1 - exact_alpha(alpha)):.12g} confidence, only the end of the loss's "
            f"range; {needed} would: add {needed - n_sets}, or ask for less confidence.",
            InfiniteEndWarning,
            stacklevel=3,
        )


def interval(
    losses: ArrayLike,
    alpha: Level,
    side: str = "two-sided",
    low: float = -math.inf,
    high: float = math.inf,
) -> NDArray:
    """The interval that covers the next loss with probability at least 1 - alpha.

    This is all that somebody with a column of losses of one trained model needs. The guarantee is
    over the draw of these losses and of the new one together, and asks that they are exchangeable.

    Parameters
    ----------
    losses : array of shape (k,)
        Losses on cases that the model was not trained on.
    alpha : float, Decimal or Fraction
        Accepted probability of missing the new loss.
    side : "two-sided" or "upper"
        Whether to bound the loss from both sides or from above only.
    low, high : float
        Range of the loss; stands in for an end that k scores cannot give.

    Returns
    -------
    array of shape (2,), of the losses' dtype

    Examples
    --------
    >>> interval([0.3, 0.1, 0.7, 0.2, 0.5, 0.9, 0.4, 0.8, 0.6], 0.1, side="upper", low=0)
    array([0. , 0.9])
    """
    scores = check_losses(losses, low, high)
    check_side(side)
    lo, hi = conformal_ranks(len(scores), alpha, side)
    tell_infinite(len(scores), alpha, side)
    scores = np.sort(scores)
    ends = max(order_statistic(scores, lo), low), min(order_statistic(scores, hi), high)
    return np.array(ends, dtype=scores.dtype)


def check_losses(losses: ArrayLike, low: float, high: float) -> NDArray:
    """Losses as a float array of one dimension, finite and inside their range."""
    values = np.asarray(losses)
    if values.ndim != 1 or values.dtype.kind not in "fiub" or not values.size:
        raise ValueError(
            "losses must be a non-empty one-dimensional array of numbers, but an array of shape "
            f"{values.shape} and type {values.dtype} was given."
        )
    if values.dtype.kind != "f":
        values = values.astype(float)
    bad = ~np.isfinite(values)
    if bad.any():
        raise ValueError(
            f"{bad.sum()} of {values.size} losses are NaN or infinite (the first at position "
            f"{bad.argmax()}); every case needs a number: give a case that could not be evaluated "
            "the worst loss of a finite range."
        )
    # Compared in the losses' own dtype: a float32 loss may round to just above a float64 end.
    bottom, top = values.dtype.type(low), values.dtype.type(high)
    bad = (values < bottom) | (values > top)
    if bad.any():
        raise ValueError(
            f"{bad.sum()} of {values.size} losses lie outside the declared range [{low:g}, "
            f"{high:g}], the first being {values[bad.argmax()]:g}; correct the losses or the range."
        )
    return values


def _exceeds(estimate: float, exact: Callable[[], Fraction], threshold: Fraction) -> bool:
    """``exact() > threshold``, computing ``exact`` only where floating point cannot tell."""
    gap = estimate - float(threshold)
    return exact() > threshold if abs(gap) < CLOSE_CALL * threshold else gap > 0


def _first(holds: Callable[[int], bool], start: int, stop: int) -> int:
    """The least integer in [start, stop) from which on ``holds`` is true, or stop."""
    while start < stop:
        middle = (start + stop) // 2
        if holds(middle):
            stop = middle
        else:
            start = middle + 1
    return start


def _binomial_tail(k: int, p: Fraction, least: int) -> Fraction:
    """``P[Bin(k, p) >= least]`` exactly, in integers over a common denominator."""
    hit, miss, whole = p.numerator, p.denominator - p.numerator, p.denominator
    term = total = hit**k  # of j = k successes; each step back swaps one hit for a miss
    for j in range(k, least, -1):
        term = term * j * miss // ((k - j + 1) * hit)
        total += term
    return Fraction(total, whole**k)


def tolerance_rank(k: int, alpha: Level, delta: Level) -> int:
    """The upper rank that covers 1 - alpha of new losses with probability 1 - delta.

    The smallest r with ``P[Bin(k, 1-alpha) <= r-1] >= 1-delta``: with probability at least
    ``1 - delta`` over the calibration draw (iid losses), ``s_(r)`` is above at least ``1 - alpha``
    of all new losses. ``k + 1`` where no rank is enough.

    >>> tolerance_rank(100, 0.1, 0.05), tolerance_rank(28, 0.1, 0.05)
    (96, 29)
    """
    check_count(k, "k")
    p, error = 1 - exact_alpha(alpha), _probability(delta, "delta")

    def enough(r: int) -> bool:  # P[Bin >= r] <= delta
        tail = float(stats.binom.sf(r - 1, k, float(p)))
        return not _exceeds(tail, lambda: _binomial_tail(k, p, r), error)

    return _first(enough, 1, k + 1)


def _batch_tail(k: int, errors: int, batch_size: int, x: int, more: bool) -> Fraction:
    """``P(H >= x)`` (or <=) for H ~ Hypergeom(k + b, errors + x, b), exactly."""
    bad, good = errors + x, k - errors + batch_size - x
    counts = range(x, min(bad, batch_size) + 1) if more else range(max(0, batch_size - good), x + 1)
    ways = sum(math.comb(bad, h) * math.comb(good, batch_size - h) for h in counts)
    return Fraction(ways, math.comb(k + batch_size, batch_size))


def batch_errors(
    k: int, errors: int, batch_size: int, alpha: Level, side: str = "two-sided"
) -> tuple[int, int]:
    """Bounds (fewest, most) on the errors among the next ``batch_size`` cases.

    Given exchangeable cases, the errors of the batch are a hypergeometric share of all errors. A
    number x is kept while neither tail of Hypergeom(k + b, errors + x, b) at x is alpha/2 or less;
    ``side="upper"`` keeps every x with ``P(H >= x) > alpha``. The batch size is fixed beforehand.

    >>> batch_errors(200, 10, 100, 0.1)
    (1, 10)
    """
    check_count(k, "k")
    check_count(errors, "errors", least=0)
    b = check_count(batch_size, "batch_size")
    if errors > k:
        raise ValueError(f"{errors} errors among k = {k} cases: errors cannot exceed k.")
    two_sided = check_side(side) == "two-sided"
    threshold = exact_alpha(alpha) / (2 if two_sided else 1)

    def keeps(x: int, more: bool) -> bool:
        law = stats.hypergeom(k + b, errors + x, b)
        estimate = float(law.sf(x - 1) if more else law.cdf(x))
        return _exceeds(estimate, lambda: _batch_tail(k, errors, b, x, more), threshold)

    fewest = _first(lambda x: keeps(x, more=False), 0, b) if two_sided else 0
    most = _first(lambda x: not keeps(x, more=True), 0, b + 1) - 1
    return fewest, most


def share_interval(hits: int, n: int, alpha: Level, side: str = "two-sided") -> tuple[float, float]:
    """Clopper and Pearson's exact interval for a share, from n independent cases.

    ``side="upper"`` puts all of alpha above. Written with the inverse incomplete beta function.
    """
    tail = float(exact_alpha(alpha)) / (1 if side == "upper" else 2)
    low = 0.0
    if side != "upper" and hits > 0:
        low = float(special.betaincinv(hits, n - hits + 1, tail))
    high = 1.0 if hits == n else float(special.betainccinv(hits + 1, n - hits, tail))
    return low, high
