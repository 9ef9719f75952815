"""How often a guaranteed sentence is false, over data and new case together."""

import math
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from cpp_core.verdicts.about import About
from cpp_core.verdicts.averages import mean_of
from cpp_core.verdicts.bounds import bound_of
from cpp_core.verdicts.comparisons import Pair, next_difference_of, wins_of
from cpp_core.verdicts.decisions import error_rate_at_most
from cpp_core.verdicts.pairs import summary_of
from cpp_core.verdicts.selection import winner_of
from cpp_core.verdicts.thresholds import exceedance_of
from tests.builders import PLAIN

pytestmark = pytest.mark.slow

DATA_SETS = 2500
ALPHA = 0.1
AB = Pair("A", "B", PLAIN)


def check_rate_is_kept(false, alpha=ALPHA):
    """A binomial test that false statements are made at most at their rate."""
    assert (
        stats.binomtest(int(np.sum(false)), len(false), alpha, alternative="greater").pvalue > 1e-3
    )


def printed(text, words="at most"):
    """The number that stands in the sentence, which is what a reader takes away."""
    return float(re.search(rf"{words} (-?[\d.]+(e-?\d+)?\d?)", text)[1].rstrip("."))


@pytest.mark.parametrize("law", ["exponential", "zero-one", "rounded"])
def test_rate_of_false_bounds(law):
    rng = np.random.default_rng(1)
    draws = rng.exponential(size=(DATA_SETS, 20))
    if law == "zero-one":
        draws = (draws > stats.expon.isf(0.08)).astype(float)
    elif law == "rounded":
        draws = draws.round(1)
    about = About(low=0.0, high=1.0 if law == "zero-one" else math.inf)
    truth = 0.08 if law == "zero-one" else np.exp(-2.25)
    false, beyond = [], []
    for row in draws:
        bound = bound_of(row[:19], ALPHA, about, "A")
        if bound.facts["outcome"] == "bound":
            assert printed(bound.text) >= bound.facts["bound"]
            false.append(row[19] > printed(bound.text))
        else:
            false.append(False)
        t = 0.5 if law == "zero-one" else 2.25
        share = exceedance_of(row[:19], t, ALPHA, about, "A")
        beyond.append(truth > printed(share.text) / 100)
    check_rate_is_kept(false)
    check_rate_is_kept(beyond)
    if law == "exponential":  # and the bound is no wider than it must be: (k + 1) 0.9 = 18
        assert stats.binomtest(sum(false), DATA_SETS, 0.1).pvalue > 1e-4


@pytest.mark.parametrize("shift", [-1.5, 0.0, 0.4])
def test_rate_of_false_comparisons(shift):
    rng = np.random.default_rng(2)
    d = (rng.normal(size=(DATA_SETS, 31)) + shift).round(1)
    p = stats.norm.cdf(-0.05 - shift)  # rounded differences below zero
    p /= p + stats.norm.sf(0.05 - shift)  # among those that are not zero
    interval, conclusion, wins, most = [], [], [], []
    for row in d:
        found = next_difference_of(row[:30], ALPHA, AB)
        low, high = printed(found.text, "between"), printed(found.text, r"between \S+ and")
        interval.append(not low <= row[30] <= high)
        outcome = found.facts["outcome"]
        conclusion.append(
            (outcome == "first better" and row[30] >= 0)
            or (outcome == "second better" and row[30] <= 0)
            or (outcome == "first not worse" and row[30] > 0)
            or (outcome == "second not worse" and row[30] < 0)
        )
        share = wins_of(row[:30], ALPHA, AB)
        low, high = printed(share.text, "between"), printed(share.text, r"between \S+ % and")
        wins.append(not low <= 100 * p <= high)
        summary = summary_of([share], ALPHA, PLAIN, "wins").facts["better"]
        most.append(("A" in summary and p <= 0.5) or ("B" in summary and p >= 0.5))
    for false in (interval, conclusion, wins, most):
        check_rate_is_kept(false)


def test_rate_of_false_statements_over_all_pairs_jointly():
    rng = np.random.default_rng(3)
    about = About(n_algorithms=3)
    pairs = list(combinations(range(3), 2))
    false = []
    for _ in range(1500):
        losses = rng.normal(size=(3, 80)) * 0.5 + np.array([[0.0], [0.0], [1.2]])
        found = [
            next_difference_of(losses[i, :79] - losses[j, :79], ALPHA, Pair(str(i), str(j), about))
            for i, j in pairs
        ]
        better = summary_of(found, ALPHA, about, "next case").facts["better"]
        wrong = [losses[int(a), 79] >= losses[int(b), 79] for a, bs in better.items() for b in bs]
        outside = [
            not v.facts["lower"] <= losses[i, 79] - losses[j, 79] <= v.facts["upper"]
            for v, (i, j) in zip(found, pairs, strict=True)
        ]
        assert not any(wrong) or any(outside)
        false.append(any(outside))
    check_rate_is_kept(false)


def test_rate_of_false_bounds_of_the_winner():
    """The lowest of 20 bounds misses too often; the selection-safe one keeps its rate."""
    rng = np.random.default_rng(4)
    about, false, naive = About(n_algorithms=20), [], []
    for _ in range(1500):
        losses = rng.exponential(size=(20, 51))
        columns = {str(i): own[:50] for i, own in enumerate(losses)}
        found = winner_of(columns, ALPHA, about)
        false.append(losses[int(found.facts["chosen"]), 50] > printed(found.text))
        bounds = np.sort(losses[:, :50], axis=1)[:, 45]
        naive.append(losses[bounds.argmin(), 50] > bounds.min())
    check_rate_is_kept(false)
    assert np.mean(naive) > 0.15


def test_rate_of_false_batch_decisions():
    rng = np.random.default_rng(5)
    k, b = 60, 20
    for rate in (0.1, 0.2):
        # More errors among the 60 never help: where 15 do not show it, more do not.
        shown = [error_rate_at_most(k, e, b, rate, ALPHA).outcome == "shown" for e in range(16)]
        assert not shown[-1]
        for error in (0.05, 0.12):
            errors = rng.random((DATA_SETS, k + b)) < error
            seen, next_ = errors[:, :k].sum(axis=1), errors[:, k:].mean(axis=1)
            check_rate_is_kept(np.array(shown)[np.minimum(seen, 15)] & (next_ > rate))


@pytest.mark.parametrize("law", ["normal", "skew", "rare errors", "infinite variance"])
def test_rate_of_false_statements_about_the_mean(law):
    """Approximate ones: at most at their rate here, because the tail rule is silent in time."""
    rng, n, N = np.random.default_rng(6), 150, 1500
    d = {
        "normal": rng.normal(size=(N, n)),
        "skew": np.exp(rng.normal(size=(N, n))) - np.exp(0.5),
        "rare errors": rng.choice([-1.0, 0.0, 1.0], size=(N, n), p=[0.04, 0.92, 0.04]),
        "infinite variance": rng.pareto(1.5, size=(N, n)) - 2,
    }[law]
    found = [mean_of(row, ALPHA, AB).facts for row in d]
    assert all(one["strength"] == "approximate" for one in found)  # no range, no bets
    check_rate_is_kept([one["outcome"] != "not decided" for one in found])
    said = np.mean([one["lower"] is not None for one in found])
    assert said > 0.95 if law == "normal" else said < 0.9


def still_false(facts, seen, beyond, worst=math.inf):
    """Whether a verdict on differences of mean zero is false, its condition taken into account.

    ``beyond(t)`` is what differences above t add to the mean; the condition speaks of those that
    were not seen, and of what they add at their break-even.
    """
    if facts["outcome"] == "not decided":
        return False
    if facts["strength"] == "exact" or facts["outcome"] == "second better on average":
        return True  # there is no loss on the other side that was not seen
    p = facts["break_even"]
    return beyond(seen.max()) <= p * facts.get("break_even_loss", worst)


RARE = 36.0, 0.001


@pytest.mark.parametrize("range_", ["bounded", "unbounded"])
@pytest.mark.parametrize("n", [100, 450, 1123])
def test_rate_of_false_averages_with_a_rare_large_loss(n, range_):
    """A loss of 36 with probability .001, and a mean of zero: t alone is false in up to a half."""
    rng, N, (size, p) = np.random.default_rng(7), 600, RARE
    rare, usual = rng.random((N, n)) < p, rng.normal(-p / (1 - p) * size, 0.1, size=(N, n))
    about = About(low=0.0, high=size, n_algorithms=2) if range_ == "bounded" else PLAIN
    false, naive = [], []
    for row in np.where(rare, size, usual):
        facts = mean_of(row, ALPHA, Pair("A", "B", about)).facts
        assert facts["strength"] == "approximate"  # 36 is too wide a range for so small a mean
        naive.append(facts["outcome"] != "not decided")
        false.append(still_false(facts, row, lambda t: p * size if t < size else 0.0, size))
        if facts["outcome"] != "not decided":
            assert not facts["ruled_out"]
    check_rate_is_kept(false, 1.2 * ALPHA)
    assert np.mean(naive) > 0.2


@pytest.mark.parametrize("n", [150, 1123])
def test_rate_of_false_averages_with_heavy_tails(n):
    rng, a = np.random.default_rng(8), 2.1
    mean, said, false = 1 / (a - 1), [], []
    for row in rng.pareto(a, size=(600, n)) - mean:
        facts = mean_of(row, ALPHA, AB).facts

        def beyond(t):
            x = 1 + t + mean  # of a Pareto variable above x
            return a / (a - 1) * x ** (1 - a) - (1 + mean) * x**-a

        said.append(facts["lower"] is not None)
        false.append(still_false(facts, row, beyond))
    check_rate_is_kept(false, 1.2 * ALPHA)
    assert np.mean(said) < 0.2  # heavy tails that are seen: wins only


@pytest.mark.parametrize("law", ["narrow", "errors", "ties", "rare"])
def test_rate_of_false_averages_in_a_range(law):
    """All that is said where losses lie in [0, 1], bets and t together; with and without margin."""
    rng, n, N = np.random.default_rng(9), 300, 500
    d = {
        "narrow": rng.normal(0, 0.02, size=(N, n)),
        "errors": rng.choice([-1.0, 0.0, 1.0], size=(N, n), p=[0.05, 0.9, 0.05]),
        "ties": rng.choice([-0.1, 0.0, 0.1], size=(N, n), p=[0.2, 0.6, 0.2]),
        "rare": np.where(rng.random((N, n)) < 0.01, 1.0, rng.normal(-1 / 99, 0.01, size=(N, n))),
    }[law]
    about = About(low=0.0, high=1.0, errors=law == "errors", n_algorithms=2)
    false, exact, equal = [], [], []
    for row in d.clip(-1, 1):
        facts = mean_of(row, ALPHA, Pair("A", "B", about)).facts
        decided = facts["outcome"] != "not decided"
        exact.append(decided and facts["strength"] == "exact")
        false.append(still_false(facts, row, lambda t: 0.01 * (law == "rare" and t < 1), 1.0))
        # A true difference just beyond the margin is called practically equal.
        margin = Pair("A", "B", replace(about, errors=False), 0.01)
        shifted = mean_of((row + 0.0101).clip(-1, 1), ALPHA, margin).facts
        equal.append(
            shifted["outcome"] == "practically equal"
            and (shifted["strength"] == "exact" or law != "rare")
        )
    check_rate_is_kept(exact)
    check_rate_is_kept(false, 1.2 * ALPHA)
    check_rate_is_kept(equal, 1.2 * ALPHA)


@pytest.mark.parametrize("differ", [1.0, 0.1])
def test_rate_of_false_wins(differ):
    """Equal chances where the two differ: nobody wins, however many ties there are."""
    rng = np.random.default_rng(10)
    d = rng.choice([-1.0, 0.0, 1.0], size=(DATA_SETS, 200), p=[differ / 2, 1 - differ, differ / 2])
    found = [wins_of(row, ALPHA, AB).facts for row in d]
    check_rate_is_kept([one["outcome"] in ("first wins", "second wins") for one in found])
    check_rate_is_kept([not one["lower"] <= 0.5 <= one["upper"] for one in found])
