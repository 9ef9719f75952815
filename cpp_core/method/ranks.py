"""Which order statistics make an interval valid: the only place where alpha meets k.

Sorted scores are ``s_(1) <= ... <= s_(k)`` with ``s_(0) = -inf`` and ``s_(k+1) = +inf``. All
decisions are made in exact rational arithmetic from the decimal that the user typed: in floating
point ``(k + 1) * (1 - alpha)`` lands on the wrong side of an integer for such plain cases as k = 24
and alpha = 0.44.
"""

import math
import warnings
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpp_core.checks import Level, Side, check_count, check_side, exact_alpha


class InfiniteEndWarning(UserWarning):
    """There are too few calibration scores for a finite end at the asked confidence."""


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
    return _ranks(K, b, *exact_alpha(alpha).as_integer_ratio(), check_side(side))


@lru_cache(maxsize=1024)
def _ranks(K: int, b: int, above: int, below: int, side: Side) -> tuple[int, int]:
    """The formula at alpha = above / below, whole numbers, which are looked up at once."""
    exact = Fraction(above, below)
    if side == "upper":
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
    above, below = exact_alpha(alpha).as_integer_ratio()
    return -(-ends * below // above) - 1  # rounded up, in whole numbers


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


@dataclass(frozen=True)
class Ranked:
    """Scores in ascending order, from which the ends at any alpha are read.

    ``by_rank`` (k b + 2, ...) holds ``s_(1), s_(2), ...`` between the ends of the range, which are
    there for the ranks 0 and k b + 1 that no score has: the only place where that is decided.
    """

    by_rank: NDArray
    n_sets: int
    n_evaluations: int

    @classmethod
    def of(
        cls,
        scores: NDArray,
        low: float = -math.inf,
        high: float = math.inf,
        n_evaluations: int = 1,
    ) -> "Ranked":
        """Sort scores (..., k b), those of one group of ``n_evaluations`` beside each other."""
        *shape, size = scores.shape
        by_rank = np.empty((size + 2, *shape), dtype=scores.dtype)
        by_rank[0], by_rank[-1] = low, high
        by_rank[1:-1] = np.moveaxis(np.sort(scores, axis=-1), -1, 0)
        return cls(by_rank, size // n_evaluations, n_evaluations)

    def ranks(self, alpha: Level, side: str) -> tuple[int, int]:
        """The ranks at one alpha."""
        if not self.n_sets:
            return 0, 1
        return grouped_ranks(self.n_sets, self.n_evaluations, alpha, side)

    def ends(self, alpha: Level, side: str) -> tuple[Any, Any]:
        """The two ends at one alpha, (...) each."""
        lo, hi = self.ranks(alpha, side)
        return self.by_rank[lo], self.by_rank[hi]


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
    tell_infinite(len(scores), alpha, side)
    return np.array(Ranked.of(scores, low, high).ends(alpha, side))


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
            f"{bad.sum():,} of {values.size:,} losses are NaN or infinite (the first at position "
            f"{bad.argmax()}); every case needs a number: give a case that could not be evaluated "
            "the worst loss of a finite range."
        )
    # Compared in the losses' own dtype: a float32 loss may round to just above a float64 end.
    bottom, top = values.dtype.type(low), values.dtype.type(high)
    bad = (values < bottom) | (values > top)
    if bad.any():
        raise ValueError(
            f"{bad.sum():,} of {values.size:,} losses lie outside the declared range [{low:g}, "
            f"{high:g}], the first being {values[bad.argmax()]:g}; correct the losses or the range."
        )
    return values


def ends(
    losses: NDArray, alpha: Level, side: str, low: float, high: float
) -> tuple[int, int, float, float]:
    """Ranks and ends among losses (k,) or (k, b) with smaller better; the range where none is."""
    n_evaluations = losses.size // len(losses)
    ranked = Ranked.of(losses.ravel(), low, high, n_evaluations)
    return *ranked.ranks(alpha, side), *ranked.ends(alpha, side)


def as_limit(limit: float, dtype: np.dtype, sign: int = 1) -> Any:
    """A limit on losses as a number of their type: the same decimal, or one on the strict side.

    >>> float(as_limit(0.5, np.dtype("f4"))), float(as_limit(0.99999999, np.dtype("f4"))) < 1
    (0.5, True)
    """
    with np.errstate(over="ignore"):
        near = dtype.type(limit)
    exact = Decimal(str(float(limit)))
    if not np.isinf(near) and Decimal(str(near)) == exact:
        return near
    beyond = sign * Decimal(float(near)) > sign * exact if np.isfinite(near) else sign * near > 0
    return np.nextafter(near, dtype.type(-sign * math.inf)) if beyond else near


def as_stored(lower: float, upper: float, dtype: Any = np.float32) -> tuple[Any, Any]:
    """Ends in float64 as the ends of the losses' own type that hold the same losses.

    >>> as_stored(-0.5, 1e-300)
    (np.float32(-0.5), np.float32(0.0))
    """
    stored = np.dtype(dtype).type
    with np.errstate(over="ignore"):
        low, high = stored(lower), stored(upper)
    if low < lower:
        low = np.nextafter(low, stored(np.inf))
    if high > upper:
        high = np.nextafter(high, stored(-np.inf))
    return low, high
