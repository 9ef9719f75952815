"""What n independent numbers say of their mean: an interval that is exact, and one that is near.

See docs/method.md, section 6.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import special

from cpp_core.checks import Level, exact_alpha

ORDER_SEED = 0
"""Seeds the order in which bets are made, fixed beforehand."""

LARGEST_BET = 0.75
"""The share of the capital that may be lost at once; the authors' own choice."""

HALVINGS = 30


def t_interval(values: NDArray, alpha: Level) -> tuple[float, float]:
    """Student's interval for the mean: near its level where no single value matters."""
    n, mean = len(values), float(values.mean())
    scale = float(np.abs(values).max()) or 1.0  # squares of tiny numbers would vanish
    error = scale * float((values / scale).std(ddof=1)) / math.sqrt(n)
    half = -float(special.stdtrit(n - 1, float(exact_alpha(alpha)) / 2)) * error
    return mean - half, mean + half


def betting_interval(values: NDArray, alpha: Level, low: float, high: float) -> tuple[float, float]:
    """An interval for the mean of independent numbers in [low, high] that holds for every law.

    Hedged capital with predictable bets (Waudby-Smith and Ramdas, JRSS B 2024): half of the capital
    bets that the mean is greater than m, half that it is smaller. Were m the mean, either would
    ever multiply by 2 / alpha with probability at most alpha / 2; what such luck refutes is left
    out. Capital falls as m rises (or rises with it), so that the ends are found by halving, on the
    side that is refuted: the interval is never too short. Where both sides refute everything, the
    numbers are no independent draws of one law, and the whole range is kept.

    >>> lower, upper = betting_interval(np.tile([0.2, 0.4], 500), 0.1, 0.0, 1.0)
    >>> bool(0.28 < lower < 0.3 < upper < 0.32)
    True
    """
    level = float(exact_alpha(alpha))
    order = np.random.default_rng(ORDER_SEED).permutation(len(values))
    x = (np.asarray(values, dtype=np.float64)[order] - low) / (high - low)
    x = x.clip(0, 1)  # a loss at the end of its range may have been stored just beyond it
    bets, enough = _bets(x, level), math.log(2 / level)

    def refuted_from_below(m: float) -> bool:
        return _best(np.minimum(bets, LARGEST_BET / m) * (x - m)) >= enough

    def refuted_from_above(m: float) -> bool:
        return _best(np.minimum(bets, LARGEST_BET / (1 - m)) * (m - x)) >= enough

    below, above = _last(refuted_from_below, 0.0, 1.0), _last(refuted_from_above, 1.0, 0.0)
    if below > above:
        return low, high
    return low + (high - low) * below, low + (high - low) * above


def _bets(x: NDArray, level: float) -> NDArray:
    """What is bet on each number, from the spread of those before it."""
    seen = np.arange(2, len(x) + 2)
    means = (0.5 + np.cumsum(x)) / seen
    spread = (0.25 + np.cumsum((x - means) ** 2)) / seen
    before = np.concatenate([[0.25], spread[:-1]])
    return np.sqrt(2 * math.log(2 / level) / (len(x) * before))


def _best(gains: NDArray) -> float:
    """The log of the greatest capital on the way."""
    return float(np.cumsum(np.log1p(gains)).max())


def _last(refuted: Callable[[float], bool], start: float, stop: float) -> float:
    """The last number from ``start`` towards ``stop`` that is seen to be refuted, or the start."""
    for _ in range(HALVINGS):
        middle = (start + stop) / 2
        if refuted(middle):
            start = middle
        else:
            stop = middle
    return start


def break_even(end: float, line: float, worst: float) -> float:
    """How frequent numbers at ``worst`` must be to bring a mean of ``end`` up to ``line``.

    >>> break_even(-0.1, 0.0, 0.9)
    0.1
    """
    return (line - end) / (worst - end)


def unseen_share(n: int, alpha: Level) -> float:
    """How frequent may be what n independent cases have not shown: 1 - alpha^(1/n), exactly.

    >>> round(unseen_share(100, 0.05), 4)
    0.0295
    """
    return -math.expm1(math.log(exact_alpha(alpha)) / n)
