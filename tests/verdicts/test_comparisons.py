"""Comparisons at their edges: margins, failures on both sides, heavy tails."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from cpp_core.method.means import betting_interval
from cpp_core.verdicts.about import About
from cpp_core.verdicts.averages import HEAVY_SHARE, largest_share, mean_of
from cpp_core.verdicts.comparisons import Pair, enough, next_difference_of, wins_of
from tests.builders import PLAIN

AB = Pair("A", "B", PLAIN)


def test_a_margin_is_not_crossed_by_rounding():
    d = np.tile([-1.0, 1.0], 500)
    half = stats.ttest_1samp(d, 0).confidence_interval(0.9).high
    inside = mean_of(d, 0.1, Pair("A", "B", PLAIN, half * (1 + 1e-6)))
    outside = mean_of(d, 0.1, Pair("A", "B", PLAIN, half * (1 - 1e-6)))
    assert inside.facts["outcome"] == "practically equal"
    assert outside.facts["outcome"] == "not decided"
    shown = float(re.search(r" and (-?[\d.]+) \(", inside.why)[1])
    assert half <= shown < half * (1 + 1e-6)
    one = mean_of([0.3], 0.1, AB)
    assert "there is one difference only" in one.text


def test_failures_on_both_sides_leave_everything_open():
    d = np.r_[np.full(5, -np.inf), np.zeros(20), np.full(5, np.inf)]
    found = next_difference_of(d, 0.1, AB)
    assert "minus that of this trained B may be anything with probability" in found.text
    upper = next_difference_of(np.minimum(d, 1), 0.1, AB).text
    assert "minus that of this trained B is at most 1 with" in upper


@pytest.mark.parametrize(("wins", "n"), [(1, 1), (3, 4), (8, 14), (0, 3)])
def test_so_many_cases_would_do(wins, n):
    text = wins_of(np.r_[-np.ones(wins), np.ones(n - wins)], 0.1, AB).text
    needed = int(re.search(r"about (\d+) such cases would do", text)[1])
    again = round(wins / n * needed)
    found = wins_of(np.r_[-np.ones(again), np.ones(needed - again)], 0.1, AB)
    assert found.facts["outcome"] in ("first wins", "second wins")


def test_what_would_do_is_told_in_two_digits_and_never_too_few():
    for n in [*range(1, 1200), 5521, 98_765, 10**9 + 1]:
        told = int(enough(n, "case").split()[0].replace(",", ""))
        assert n <= told < 1.1 * n
        assert len(str(told).rstrip("0")) <= 2


def test_scores_may_be_less_or_more():
    d = np.random.default_rng(0).normal(0.01, 1, 100)
    for greater, verb in ((False, "lose"), (True, "score")):
        pair = replace(AB, about=replace(AB.about, greater_is_better=greater, unit="EUR"))
        found = mean_of(d, 0.1, pair)
        assert found.facts["outcome"] == "not decided"
        assert re.match(
            rf": A may {verb} 0\.\d+ EUR less or 0\.\d+ more than B on average", found.brief.rest
        )


def test_differences_inside_the_margin_are_no_real_difference():
    a = np.random.default_rng(1).exponential(size=100).round(2)
    margin = replace(AB, margin=5.0)
    for d in (a - (a + 0.2), np.full(100, -2.0), np.r_[4.0, np.zeros(99)], -2 * np.ones(10)):
        found = mean_of(d, 0.1, margin)
        assert found.facts["outcome"] == "practically equal"
        assert (found.badge, found.brief.lead) == ("approximate", "no real difference")
        assert "which this data cannot rule out" in found.text
    bounded = replace(margin, about=replace(AB.about, low=0.0, high=10.0), margin=1.5)
    assert mean_of(-np.ones(100), 0.1, bounded).facts["outcome"] == "practically equal"
    assert mean_of(-np.ones(9), 0.1, margin).facts["outcome"] == "not decided"  # too few to say it
    noise = mean_of(a - (a + 0.2), 0.1, AB)
    assert "all 100 differences are -0.2, which shows no spread" in noise.text
    stored = a.astype(np.float32)
    assert "differences are -0.2" in mean_of(stored - (stored + np.float32(0.2)), 0.1, AB).text


def test_tail_rule():
    rng = np.random.default_rng(3)
    heavy = [largest_share(rng.standard_t(2.1, 1000) ** 2) for _ in range(200)]
    light = [largest_share(rng.exponential(size=1000)) for _ in range(200)]
    assert np.mean(np.array(heavy) > HEAVY_SHARE) > 0.98
    assert np.mean(np.array(light) > HEAVY_SHARE) < 0.05
    assert largest_share(np.array([1.0, math.inf])) == 1


BOUNDED = Pair("A", "B", About(low=0.0, high=36.0, unit="nats", n_algorithms=2))


def near_normal(mean, n=400, spread=1.0):
    """n numbers with this mean and about this spread."""
    d = stats.norm.isf((np.arange(n) + 0.5) / n)
    return mean + spread * (d - d.mean())


def test_a_t_interval_carries_its_condition():
    found = mean_of(near_normal(-0.2), 0.1, BOUNDED)
    facts, upper = found.facts, found.facts["upper"]
    assert (facts["outcome"], found.badge) == ("first better on average", "approximate")
    assert facts["strength"] == "approximate"
    p = facts["break_even"]
    assert (1 - p) * upper + p * 36 == pytest.approx(0)
    one_in = int(re.search(r"more than 1 in ([\d,]+) new cases", found.text)[1].replace(",", ""))
    assert 1 / p <= one_in <= 1.01 / p + 1  # never more often than computed
    assert "bring a loss near the top of its range that these 400 have not shown" in found.text
    assert facts["ruled_out"] is (p >= 1 - 0.1 ** (1 / 400)) is False
    assert found.text.endswith(", which this data cannot rule out.")
    turned = mean_of(-near_normal(-0.2), 0.1, BOUNDED).facts
    assert turned["outcome"] == "second better on average"
    assert turned["break_even"] == pytest.approx(p)
    score = Pair("A", "B", About(low=0.0, high=36.0, greater_is_better=True, n_algorithms=2))
    larger = mean_of(-near_normal(-0.2), 0.1, score)
    assert larger.facts["outcome"] == "first better on average"
    assert larger.facts["break_even"] == pytest.approx(p)
    assert "near the bottom of its range" in larger.text


def test_of_unbounded_losses_the_size_is_told():
    pair = Pair("A", "B", About(low=0.0, unit="nats", n_algorithms=2))
    found = mean_of(near_normal(-0.2), 0.1, pair)
    size = found.facts["break_even_loss"]
    assert (399 * found.facts["upper"] + size) / 400 == pytest.approx(0)
    shown = re.search(r"unless one new case in 400 costs it ([\d.]+) nats more, which", found.text)
    assert 0.98 * size < float(shown[1]) <= size
    assert (found.facts["break_even"], found.facts["ruled_out"]) == (1 / 400, False)
    equal = mean_of(near_normal(0.05, spread=0.1), 0.1, replace(pair, margin=0.2))
    assert equal.facts["outcome"] == "practically equal"
    upper, size = equal.facts["upper"], equal.facts["break_even_loss"]
    assert (399 * upper + size) / 400 == pytest.approx(0.2)
    assert "costs one of them " in equal.text


def test_bets_decide_where_they_can():
    narrow = Pair("A", "B", About(low=0.0, high=1.0, n_algorithms=2))
    d = near_normal(-0.05, spread=0.1)
    found = mean_of(d, 0.1, narrow)
    ends = betting_interval(d, 0.1, -1.0, 1.0)
    assert (found.badge, found.facts["strength"]) == ("guaranteed", "exact")
    assert (found.facts["lower"], found.facts["upper"]) == ends
    assert (found.facts["break_even"], found.facts["ruled_out"]) == (None, None)
    low, high = re.search(r"by ([\d.]+) to ([\d.]+) \(exact, 90 % confidence", found.text).groups()
    assert 0 < float(low) <= -ends[1] < -ends[0] <= float(high)
    assert "unless" not in found.text
    equal = mean_of(d, 0.1, replace(narrow, margin=0.2))
    assert (equal.facts["outcome"], equal.badge) == ("practically equal", "guaranteed")
    # One difference holds nearly all squares, which silences t, not the bets.
    heavy = np.r_[np.full(399, -0.1), 0.9]
    assert largest_share(heavy) > HEAVY_SHARE
    assert mean_of(heavy, 0.1, narrow).facts["strength"] == "exact"
    assert mean_of(heavy, 0.1, AB).facts["outcome"] == "not decided"


def test_a_share_of_squares_is_never_rounded_onto_what_it_is_compared_with():
    def largest(share):
        """60 differences of 1 and -1, and one that holds this share of the squares."""
        d, (low, high) = np.r_[np.tile([1.0, -1.0], 30), 0.0], (1.0, 10.0)
        for _ in range(80):
            d[-1] = (low + high) / 2
            low, high = (d[-1], high) if largest_share(d) < share else (low, d[-1])
        return d

    silent = mean_of(largest(0.1004), 0.1, AB).text
    assert "one of 61 differences holds 10.04 % of the sum of squares, more than 10 %" in silent
    told = mean_of(largest(0.0996), 0.1, AB).why
    assert "The largest holds 9.96 % of the sum of squares, not more than 10 %" in told


def test_wins_settle_the_average_of_errors():
    errors = Pair("A", "B", About(low=0.0, high=1.0, errors=True, n_algorithms=2))
    for wins, losses in ((60, 25), (25, 60), (45, 40), (9, 1), (5, 2), (0, 0)):
        d = np.r_[-np.ones(wins), np.ones(losses), np.zeros(1123 - wins - losses)]
        found, counted = mean_of(d, 0.1, errors), wins_of(d, 0.1, errors)
        p = stats.binomtest(wins, wins + losses).pvalue if wins else 1.0  # McNemar's exact test
        outcome = found.facts["outcome"]
        if p > 0.1:
            assert (outcome, found.facts["strength"]) == ("not decided", "approximate")
            assert counted.text in found.text
            continue
        assert outcome == f"{'first' if wins > losses else 'second'} better on average"
        assert counted.facts["outcome"] == outcome.replace("better on average", "wins")
        assert (found.badge, found.facts["strength"]) == ("guaranteed", "exact")
        most = f"it wins {max(wins, losses)} of the {wins + losses} cases on which they differ"
        assert most in found.text
        assert "McNemar's exact test" in found.why
    margin = replace(errors, margin=0.1)
    assert mean_of(d, 0.1, margin).facts["outcome"] == "practically equal"
    few = np.r_[-np.ones(20), np.ones(19), np.zeros(161)]
    assert mean_of(few, 0.1, margin).text.startswith("This trained A and this trained B are pract")
