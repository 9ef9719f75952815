"""The claims of the lessons on re-splits and on how many cases are enough."""

import numpy as np
import pytest
from scipy import stats

from cpp_core.lessons import LESSONS
from cpp_core.lessons.enough_cases import SIZES, facts_at
from cpp_core.lessons.stored import measures, stored
from cpp_core.lessons.two_numbers import TRUTH, N, found, orders, splits, table
from cpp_core.method.ranks import interval


@pytest.mark.parametrize("name", list(measures()))
def test_stored_averages_agree_with_other_seeds(name):
    own, kept = measures()[name], stored(name)
    again = own.measure(own.again, 7)
    assert again.keys() == kept.keys()
    for key, other in again.items():
        error = np.hypot(other.error, kept[key].error)
        assert abs(other.mean - kept[key].mean) <= 4.5 * error + 1e-12, key


def test_texts_name_the_repetitions_that_are_kept():
    for name, measure in (
        ("why-two-numbers", "two-numbers"),
        ("fixed-or-variable-width", "fixed-or-variable"),
        ("marginal-is-not-conditional", "marginal"),
    ):
        lesson = LESSONS[name]
        told = f"{lesson.caveat} {lesson.play().panels[0].caption}"
        assert f" {measures()[measure].size:,} " in told


def test_a_split_is_the_plain_computation():
    """Least squares on one half, the 19th of 20 absolute errors on the other."""
    X, y = table(3)
    order = orders(3)[5]
    bounds, covers = splits(X, y, orders(3))
    train, judge = order[:20], order[20:40]
    w = np.linalg.lstsq(X[train], y[train], rcond=None)[0]
    losses = np.abs(y[judge] - X[judge] @ w)
    assert bounds[5] == pytest.approx(np.sort(losses)[18])
    assert bounds[5] == pytest.approx(interval(losses, 0.1, side="upper")[1])
    new = np.random.default_rng(0).standard_normal((200_000, 3))
    inside = np.abs(new[:, :2] @ TRUTH + new[:, 2] - new[:, :2] @ w) <= bounds[5]
    assert stats.binomtest(int(inside.sum()), len(new), covers[5]).pvalue > 0.001
    assert len(X) == N


def test_two_numbers_figures():
    kept = stored("two-numbers")
    assert kept["1"].mean == pytest.approx(19 / 21, abs=4 * kept["1"].error)  # its exact law
    for looks, figure in ((20, 0.799), (200, 0.732)):
        assert kept[str(looks)].mean == pytest.approx(figure, abs=0.006)
    assert kept["ratio"].mean == pytest.approx(2.3, abs=0.03)
    shown = LESSONS["why-two-numbers"].play(looks=200)
    bounds, _ = found(LESSONS["why-two-numbers"].controls[1].default)
    assert shown.numbers["ratio"] == pytest.approx(bounds.max() / bounds.min())


def test_the_lowest_bound_is_hardly_of_a_better_model():
    """Its calibration is easy; its model is not far from the middle of those of its table."""
    places = []
    for seed in range(100):
        bounds, covers = splits(*table(seed), orders(seed))
        spread = bounds / stats.norm.ppf((1 + covers) / 2)
        places.append((spread < spread[bounds.argmin()]).mean())
    assert 0.3 < np.mean(places) < 0.5
    assert "mostly because its calibration half happened to be easy" in (
        LESSONS["why-two-numbers"].words
    )


def test_an_average_of_bounds_may_fail():
    """The example of the check: losses of 1 with chance .12, else Uniform(0, .2), k = 20."""
    rng = np.random.default_rng(1)
    losses = np.where(rng.random((20_000, 20)) < 0.12, 1.0, rng.uniform(0, 0.2, (20_000, 20)))
    bounds = np.sort(losses, axis=1)[:, 18]
    covers = np.where(bounds < 1, 0.88 * bounds / 0.2, 1.0)
    error = covers.std() / np.sqrt(len(covers))
    answer = LESSONS["why-two-numbers"].check.answer
    assert "94.9 %" in answer
    assert covers.mean() == pytest.approx(0.949, abs=4 * error)
    assert 0.2 < bounds.mean() < 1  # so that the average bound catches the small losses alone
    assert "only 88 %" in answer


@pytest.mark.parametrize("k", [9, 28, 100])
def test_how_often_a_calibration_falls_short(k):
    facts = facts_at(k, 0.1, 0.05)
    covers = np.sort(np.random.default_rng(k).random((20_000, k)), axis=1)
    short = int((covers[:, int(facts["rank"]) - 1] < 0.9).sum())
    assert stats.binomtest(short, len(covers), facts["short"]).pvalue > 0.001
    if facts["tolerance_rank"] <= k:
        short = int((covers[:, int(facts["tolerance_rank"]) - 1] < 0.9).sum())
        assert stats.binomtest(short, len(covers), facts["tolerance_short"]).pvalue > 0.001


def test_enough_cases_figures():
    rounded = {k: round(facts_at(k, 0.1, 0.05)["short"], 3) for k in (9, 28, 100, 1000, 10_000)}
    assert rounded == {9: 0.387, 28: 0.215, 100: 0.451, 1000: 0.485, 10_000: 0.495}
    low = {k: round(facts_at(k, 0.1, 0.05)["low"], 3) for k in (9, 100, 1000, 10_000)}
    assert low == {9: 0.717, 100: 0.848, 1000: 0.884, 10_000: 0.895}
    assert facts_at(100, 0.1, 0.05)["tolerance_rank"] == 96
    assert facts_at(1000, 0.1, 0.05)["tolerance_rank"] == 916
    lesson = LESSONS["how-many-are-enough"]
    assert "A tolerance bound needs 29 losses" in lesson.play(k=28).said
    assert "rank 29," in lesson.play(k=29).said
    assert pytest.approx(0.052, abs=5e-4) == 0.9**28
    assert "5.2 %" in lesson.check.answer
    assert "21.5 %" in lesson.caveat


def test_the_tolerance_bound_keeps_its_promise_everywhere():
    for k in SIZES:
        for alpha in (0.2, 0.1, 0.05):
            for delta in (0.1, 0.05, 0.01):
                facts = facts_at(k, alpha, delta)
                assert facts.get("tolerance_short", 0) <= delta
                assert (facts["tolerance_rank"] <= k) == (k >= facts["needed"])
                assert ("short" in facts) == (k >= 1 / alpha - 1)
