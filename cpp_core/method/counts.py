"""Exact statements about counts: tolerance bounds, errors of the next batch, shares.

Binomial and hypergeometric tails, in rational arithmetic where floating point cannot tell.
"""

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

from scipy import special

from cpp_core.checks import Level, check_count, check_side, exact_alpha, probability

CLOSE_CALL = 1e-7
"""Tail probabilities within this share of their threshold are recomputed exactly."""


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
    p, error = 1 - exact_alpha(alpha), probability(delta, "delta")

    def enough(r: int) -> bool:  # P[Bin >= r] <= delta
        tail = float(special.betainc(r, k - r + 1, float(p)))
        return not _exceeds(tail, lambda: _binomial_tail(k, p, r), error)

    return _first(enough, 1, k + 1)


def cases_needed(alpha: Level, delta: Level) -> int:
    """The least k for which ``tolerance_rank`` is one of the k: ``(1-alpha)^k <= delta``.

    >>> cases_needed(0.1, 0.05), cases_needed(0.5, 0.25)
    (29, 2)
    """
    p, error = 1 - exact_alpha(alpha), probability(delta, "delta")
    with localcontext(prec=60):
        logs = [(Decimal(x.numerator) / Decimal(x.denominator)).ln() for x in (error, p)]
        ratio = logs[0] / logs[1]
        k = round(ratio)
        near = abs(ratio - k) < Decimal("1e-30")  # then only exact powers can tell
    return max(k + (p**k > error if near else ratio > k), 1)


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

    from scipy import stats  # loads slowly: only where errors are counted

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
