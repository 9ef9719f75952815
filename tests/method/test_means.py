"""Intervals for a mean: their laws, a plain twin, and their edges."""

import math

import numpy as np
import pytest
from scipy import stats

from cpp_core.method.means import (
    LARGEST_BET,
    ORDER_SEED,
    betting_interval,
    break_even,
    t_interval,
    unseen_share,
)


def refutes(values, m, alpha):
    """Whether bets on the numbers in [0, 1] refute the mean m, one by one: (below, above)."""
    order = np.random.default_rng(ORDER_SEED).permutation(len(values))
    up = down = best_up = best_down = 1.0
    seen, total, squares = 0, 0.5, 0.25
    for x in np.asarray(values)[order]:
        bet = math.sqrt(2 * math.log(2 / alpha) / (len(values) * squares / (seen + 1)))
        up *= 1 + min(bet, LARGEST_BET / m) * (x - m)
        down *= 1 - min(bet, LARGEST_BET / (1 - m)) * (x - m)
        best_up, best_down = max(best_up, up), max(best_down, down)
        seen, total = seen + 1, total + x
        squares += (x - total / (seen + 1)) ** 2
    return best_up >= 2 / alpha, best_down >= 2 / alpha


@pytest.mark.parametrize("alpha", [0.1, 0.01])
def test_ends_are_the_last_means_that_bets_refute(alpha):
    rng = np.random.default_rng(0)
    for values in (rng.beta(2, 5, 300), (rng.random(60) < 0.2) * 1.0, rng.random(20)):
        lower, upper = betting_interval(values, alpha, 0.0, 1.0)
        assert 0 <= lower < values.mean() < upper <= 1
        for m in np.linspace(0.005, 0.995, 100):
            assert refutes(values, m, alpha) == (m <= lower, m >= upper)


def test_an_interval_moves_with_its_range_and_mirrors():
    values = np.random.default_rng(1).beta(2, 5, 200)
    found = np.array(betting_interval(values, 0.1, 0.0, 1.0))
    assert betting_interval(72 * values - 36, 0.1, -36.0, 36.0) == pytest.approx(72 * found - 36)
    assert betting_interval(-values, 0.1, -1.0, 0.0) == pytest.approx(-found[::-1])
    wide = betting_interval(values, 0.01, 0.0, 1.0)
    assert wide[0] < found[0] < found[1] < wide[1]


def test_edges():
    assert betting_interval(np.array([0.5]), 0.1, 0.0, 1.0) == (0, 1)
    lower, upper = betting_interval(np.zeros(1000), 0.1, 0.0, 1.0)
    assert lower == 0 < upper < 0.01
    stored = np.full(1000, np.float32(0.1))  # above its range by the rounding of float32
    assert betting_interval(stored, 0.1, 0.0, 0.1)[1] == 0.1
    # First 500 ones, then 500 zeros in the order of the bets: no draws of one law.
    drifting = np.empty(1000)
    drifting[np.random.default_rng(ORDER_SEED).permutation(1000)] = np.repeat([1.0, 0.0], 500)
    assert betting_interval(drifting, 0.1, 0.0, 1.0) == (0, 1)


LAWS = {  # how to draw, and the mean, in [-1, 1]
    "two points": (lambda rng, size: rng.choice([-1.0, 1.0], size), 0.0),
    "rare large": (lambda rng, size: np.where(rng.random(size) < 0.001, 1.0, -0.001), 0.000001),
    "rare, noisy": (
        lambda rng, size: np.where(rng.random(size) < 0.01, 1.0, rng.uniform(-0.04, 0.02, size)),
        0.01 - 0.99 * 0.01,
    ),
    "ties": (lambda rng, size: rng.choice([-1.0, 0.0, 1.0], size, p=[0.02, 0.95, 0.03]), 0.01),
    "uniform": (lambda rng, size: rng.uniform(-1, 1, size), 0.0),
    "skew": (lambda rng, size: 2 * rng.beta(0.1, 2, size) - 1, 2 * 0.1 / 2.1 - 1),
    "narrow": (lambda rng, size: rng.normal(0.05, 0.01, size).clip(-1, 1), 0.05),
}


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [20, 100, 500, 2000])
def test_rate_of_false_betting_intervals(law, n):
    draw, mean = LAWS[law]
    rng, N, alpha = np.random.default_rng(2), 400, 0.1
    ends = np.array([betting_interval(row, alpha, -1.0, 1.0) for row in draw(rng, (N, n))])
    for false in (ends[:, 0] > mean, ends[:, 1] < mean):  # each side at half of alpha
        assert stats.binomtest(int(false.sum()), N, alpha / 2, alternative="greater").pvalue > 1e-3


def test_student():
    values = np.random.default_rng(3).exponential(size=50)
    found = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert t_interval(values, 0.1) == pytest.approx((found.low, found.high))


def test_break_even_and_what_was_not_seen():
    p = break_even(-0.02, 0.01, 36.0)
    assert (1 - p) * -0.02 + p * 36.0 == pytest.approx(0.01)
    for n in (1, 30, 1000):
        assert (1 - unseen_share(n, 0.05)) ** n == pytest.approx(0.05)
