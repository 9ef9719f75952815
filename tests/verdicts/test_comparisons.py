"""Comparisons at their edges: margins, failures on both sides, heavy tails."""

import math
import re

import numpy as np
import pytest
from scipy import stats

from cpp_core.verdicts.comparisons import (
    HEAVY_SHARE,
    Pair,
    largest_share,
    mean_of,
    next_difference_of,
    wins_of,
)
from tests.builders import PLAIN

AB = Pair("A", "B", PLAIN)


def test_a_margin_is_not_crossed_by_rounding():
    d = np.tile([-1.0, 1.0], 500)
    half = stats.ttest_1samp(d, 0).confidence_interval(0.9).high
    inside = mean_of(d, 0.1, Pair("A", "B", PLAIN, half * (1 + 1e-6)))
    outside = mean_of(d, 0.1, Pair("A", "B", PLAIN, half * (1 - 1e-6)))
    assert inside.facts["outcome"] == "practically equal"
    assert outside.facts["outcome"] == "not decided"
    shown = float(re.search(r" and (-?[\d.]+) \(", inside.text)[1])
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
    needed = int(re.search(r"about (\d+) cases would do", text)[1])
    again = round(wins / n * needed)
    found = wins_of(np.r_[-np.ones(again), np.ones(needed - again)], 0.1, AB)
    assert found.facts["outcome"] in ("most", "fewer than half")


def test_tail_rule():
    rng = np.random.default_rng(3)
    heavy = [largest_share(rng.standard_t(2.1, 1000) ** 2) for _ in range(200)]
    light = [largest_share(rng.exponential(size=1000)) for _ in range(200)]
    assert np.mean(np.array(heavy) > HEAVY_SHARE) > 0.98
    assert np.mean(np.array(light) > HEAVY_SHARE) < 0.05
    assert largest_share(np.array([1.0, math.inf])) == 1
