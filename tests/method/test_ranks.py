"""Ranks are exact: against brute force in rational arithmetic, and against worked examples."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cpp_core import (
    InfiniteEndWarning,
    batch_errors,
    conformal_ranks,
    coverage_law,
    grouped_ranks,
    interval,
    scores_needed,
    tolerance_rank,
)
from cpp_core.checks import alpha_of, alphas_of
from cpp_core.method.counts import _batch_tail, _binomial_tail, share_interval


def slow_ranks(k, alpha, side):
    """The definition read aloud: the tightest ranks whose exact coverage is at least 1 - alpha."""
    if side == "upper":
        return 0, next(hi for hi in range(k + 2) if Fraction(hi, k + 1) >= 1 - alpha)
    return max(
        (lo, k + 1 - lo)
        for lo in range((k + 1) // 2 + 1)
        if Fraction(k + 1 - 2 * lo, k + 1) >= 1 - alpha
    )


@pytest.mark.parametrize(
    ("k", "alpha", "side", "expected"),
    [
        (9, 0.1, "upper", (0, 9)),
        (99, 0.1, "upper", (0, 90)),
        (999, 0.1, "two-sided", (50, 950)),
        (24, 0.44, "upper", (0, 14)),
        (19, alpha_of(0.9), "two-sided", (1, 19)),
        (5, 0.1, "upper", (0, 6)),
        (8, 0.1, "upper", (0, 9)),
        (18, 0.1, "two-sided", (0, 19)),
        (1, 0.5, "upper", (0, 1)),
    ],
)
def test_worked_examples(k, alpha, side, expected):
    assert conformal_ranks(k, alpha, side) == expected


@pytest.mark.parametrize("side", ["upper", "two-sided"])
@pytest.mark.parametrize("percent", [1, 5, 7, 10, 20, 29, 44, 50, 57, 90, 99])
def test_ranks_against_brute_force(side, percent):
    alpha = Fraction(percent, 100)
    for k in range(1, 220):
        expected = slow_ranks(k, alpha, side)
        assert conformal_ranks(k, percent / 100, side) == expected
        assert conformal_ranks(k, Decimal(percent) / 100, side) == expected
        assert conformal_ranks(k, alpha, side) == expected


@given(
    k=st.integers(1, 100_000),
    thousandths=st.integers(1, 999_999),
    side=st.sampled_from(["upper", "two-sided"]),
)
def test_typed_decimals_are_read_as_decimals(k, thousandths, side):
    alpha = Fraction(thousandths, 10**6)
    lo, hi = conformal_ranks(k, float(alpha), side)
    assert conformal_ranks(k, alpha, side) == (lo, hi)
    assert 0 <= lo < hi <= k + 1
    covered = Fraction(hi - lo, k + 1)
    slack = Fraction(1 if side == "upper" else 2, k + 1)
    assert 1 - alpha <= covered <= 1 - alpha + slack
    finite = hi <= k and (side == "upper" or lo >= 1)
    assert finite == (k >= scores_needed(alpha, side))


def test_confidence_becomes_alpha_without_rounding():
    assert conformal_ranks(19, alpha_of(0.9)) == (1, 19)
    assert [alpha_of(c) for c in (0.9, 0.95, 0.99)] == [
        Fraction(1, 10),
        Fraction(1, 20),
        Fraction(1, 100),
    ]
    assert alphas_of([0.9, 0.8]) == ([Fraction(1, 10), Fraction(1, 5)], True)
    assert alphas_of(np.array([0.9])) == ([Fraction(1, 10)], True)


@pytest.mark.parametrize("K", [9, 19, 20, 40])
@pytest.mark.parametrize("side", ["upper", "two-sided"])
def test_grouped_ranks(K, side):
    assert grouped_ranks(K, 1, 0.1, side) == conformal_ranks(K, 0.1, side)
    lo, hi = grouped_ranks(K, 4, 0.1, side)
    finite = hi <= 4 * K and (side == "upper" or lo >= 1)
    assert finite == (scores_needed(0.1, side) <= K)


def test_grouped_ranks_by_hand():
    # K = 20 groups of b = 2: (K+1) b = 42; upper ceil(37.8); two-sided f = floor(2.1).
    assert grouped_ranks(20, 2, 0.1, "upper") == (0, 38)
    assert grouped_ranks(20, 2, 0.1) == (1, 40)


def test_coverage_law():
    assert coverage_law(99, 0.1, "upper") == (90, 10)
    assert coverage_law(5, 0.1) == (6, 0)


@pytest.mark.parametrize("alpha", [0, 1, 90, 10, -0.1, float("nan"), math.inf, "0.1", None, True])
def test_alpha_that_cannot_be_used(alpha):
    with pytest.raises(ValueError, match=r"alpha must .* given"):
        conformal_ranks(10, alpha)


def test_percentages_are_recognised():
    with pytest.raises(ValueError, match=r"if you mean 90 %, write confidence_level=0.9"):
        alpha_of(90)
    with pytest.raises(ValueError, match=r"use a Fraction"):
        conformal_ranks(10, 1e-15)
    assert conformal_ranks(10, Fraction(1, 10**15), "upper") == (0, 11)


def test_other_arguments_that_cannot_be_used():
    for k in (0, -3, 2.5, True):
        with pytest.raises(ValueError, match=r"k must be a whole number of at least 1"):
            conformal_ranks(k, 0.1)
    with pytest.raises(ValueError, match=r"side must be 'two-sided' or 'upper'"):
        conformal_ranks(10, 0.1, "lower")
    with pytest.raises(ValueError, match=r"errors cannot exceed k"):
        batch_errors(10, 11, 5, 0.1)
    with pytest.raises(ValueError, match=r"empty list"):
        alphas_of([])


@pytest.mark.parametrize("k", [1, 2, 9, 28, 29, 60])
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.5])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.5, 0.95])
def test_tolerance_rank_against_brute_force(k, alpha, delta):
    p, error = 1 - Fraction(str(alpha)), Fraction(str(delta))

    def below(r):  # P[Bin(k, p) <= r - 1]
        return sum(math.comb(k, j) * p**j * (1 - p) ** (k - j) for j in range(r))

    expected = next((r for r in range(1, k + 1) if below(r) >= 1 - error), k + 1)
    assert tolerance_rank(k, alpha, delta) == expected


def test_tolerance_rank_examples():
    assert tolerance_rank(100, 0.1, 0.05) == 96
    assert [tolerance_rank(k, 0.1, 0.05) for k in (28, 29)] == [29, 29]
    # Exactly on the threshold: P[Bin(1, .95) <= 0] = .05 = 1 - delta.
    assert tolerance_rank(1, 0.05, 0.95) == 1
    r = tolerance_rank(100_000, 0.1, 0.05)
    assert stats.binom.cdf(r - 1, 100_000, 0.9) >= 0.95 > stats.binom.cdf(r - 2, 100_000, 0.9)
    assert float(_binomial_tail(50, Fraction(9, 10), 44)) == pytest.approx(
        stats.binom.sf(43, 50, 0.9), rel=1e-12
    )


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.4])
@pytest.mark.parametrize("batch_size", [1, 2, 7, 20])
@pytest.mark.parametrize(("k", "errors"), [(1, 0), (1, 1), (10, 3), (20, 0), (20, 20)])
def test_batch_errors_against_brute_force(k, errors, batch_size, alpha):
    exact = Fraction(str(alpha))
    xs = range(batch_size + 1)

    def tail(x, more):
        return _batch_tail(k, errors, batch_size, x, more)

    both = [x for x in xs if min(tail(x, True), tail(x, False)) > exact / 2]
    assert batch_errors(k, errors, batch_size, alpha) == (both[0], both[-1])
    assert both == list(range(both[0], both[-1] + 1))
    upper = [x for x in xs if tail(x, True) > exact]
    assert batch_errors(k, errors, batch_size, alpha, side="upper") == (0, upper[-1])


def test_batch_tail_is_hypergeometric():
    law = stats.hypergeom(30, 8, 10)  # k = 20, e = 5, b = 10, x = 3
    assert float(_batch_tail(20, 5, 10, 3, True)) == pytest.approx(law.sf(2), rel=1e-10)
    assert float(_batch_tail(20, 5, 10, 3, False)) == pytest.approx(law.cdf(3), rel=1e-10)
    assert batch_errors(200, 10, 100, 0.1) == (1, 10)


def test_batch_errors_keep_their_promise():
    rng = np.random.default_rng(1)
    k, b, n = 50, 20, 4000
    cases = rng.random((n, k + b)) < rng.random((n, 1)) * 0.3
    bounds = [batch_errors(k, int(e), b, 0.1) for e in range(k + 1)]
    upper = [batch_errors(k, int(e), b, 0.1, side="upper")[1] for e in range(k + 1)]
    seen, future = cases[:, :k].sum(axis=1), cases[:, k:].sum(axis=1)
    hits = sum(bounds[e][0] <= x <= bounds[e][1] for e, x in zip(seen, future, strict=True))
    assert stats.binomtest(hits, n, 0.9, alternative="less").pvalue > 1e-3
    hits = sum(x <= upper[e] for e, x in zip(seen, future, strict=True))
    assert stats.binomtest(hits, n, 0.9, alternative="less").pvalue > 1e-3


def test_interval_reads_order_statistics():
    losses = np.arange(1, 20)
    np.random.default_rng(0).shuffle(losses)
    assert interval(losses, 0.1).tolist() == [1, 19]
    assert interval(losses, 0.1, side="upper", low=0).tolist() == [0, 18]
    assert interval(losses.astype(np.float32), 0.1).dtype == np.float32


def test_interval_without_a_finite_end():
    with pytest.warns(InfiniteEndWarning, match=r"9 would: add 4"):
        ends = interval([1.0, 2, 3, 4, 5], 0.1, side="upper", low=0)
    assert ends.tolist() == [0, math.inf]
    with pytest.warns(InfiniteEndWarning, match=r"19 would: add 14"):
        assert interval([0, 1, 1, 0, 0], 0.1, low=0, high=1).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("losses", "says"),
    [
        ([], "non-empty"),
        ([[1.0]], "one-dimensional"),
        (["a"], "numbers"),
        ([1.0, math.nan], "1 of 2 losses are NaN or infinite .* position 1"),
        ([1.0, math.inf], "NaN or infinite"),
        ([1.0, -2.0], r"1 of 2 losses lie outside the declared range \[0, inf\]"),
    ],
)
def test_interval_refuses(losses, says):
    with pytest.raises(ValueError, match=says):
        interval(losses, 0.1, low=0)


def test_share_interval_is_clopper_and_pearson():
    for hits, n in ((0, 10), (3, 10), (10, 10), (400, 1000)):
        exact = stats.binomtest(hits, n).proportion_ci(0.9, "exact")
        assert share_interval(hits, n, 0.1) == pytest.approx((exact.low, exact.high))
        above = stats.binomtest(hits, n, alternative="less").proportion_ci(0.9, "exact")
        assert share_interval(hits, n, 0.1, "upper") == pytest.approx((0, above.high))
