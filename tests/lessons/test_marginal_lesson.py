"""The claims of the lesson on groups."""

import numpy as np
import pytest
from scipy import stats

from cpp_core import CandidateCPP
from cpp_core.lessons import LESSONS
from cpp_core.lessons.marginal import DIGITS, HARD, simulated
from cpp_core.lessons.stored import stored

LESSON = LESSONS["marginal-is-not-conditional"]


def test_digits_figures():
    kept = stored("marginal")
    low = kept["all-8"]
    assert low.mean == pytest.approx(0.711, abs=0.012)
    assert min(DIGITS, key=lambda digit: kept[f"all-{digit}"].mean) == 8
    assert kept["all-0"].mean == pytest.approx(0.989, abs=0.003)
    overall = kept["all-overall"]
    assert overall.mean == pytest.approx(607 / 674, abs=4 * overall.error)  # its exact law
    for digit in DIGITS:  # ranks of about 67 losses: between .9 and .9 + 1/(k + 1)
        own = kept[f"each-{digit}"]
        assert 0.9 - 4 * own.error < own.mean < 0.9 + 1 / 50 + 4 * own.error
    assert "of images of an 8" in LESSON.play().said
    assert "every digit" in LESSON.play(kind="each").said


@pytest.mark.parametrize(("spread", "hard"), [(1.0, 0.9), (2.0, 0.634), (3.0, 0.48), (10.0, 0.183)])
def test_the_hard_tenth(spread, hard):
    facts = simulated(spread)
    assert facts["hard"] == pytest.approx(hard, abs=5e-4)
    rng = np.random.default_rng(1)
    is_hard = rng.random(200_000) < HARD
    losses = np.abs(rng.standard_normal(200_000)) * np.where(is_hard, spread, 1.0)
    inside = losses <= facts["bound"]
    assert stats.binomtest(int(inside.sum()), len(inside), 0.9).pvalue > 0.001
    own = inside[is_hard]
    assert stats.binomtest(int(own.sum()), len(own), facts["hard"]).pvalue > 0.001


def test_the_floor_of_a_small_group():
    """Coverage of a group of 5 % under a 90 % bound can be 0: its losses are the largest."""
    losses = np.r_[np.linspace(0, 1, 95), np.full(5, 9.0)]
    bound = np.sort(losses)[89]
    assert (losses <= bound).mean() >= 0.9
    assert not (losses[95:] <= bound).any()


def test_the_lines_in_the_code_run():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X, groups = rng.random((80, 2)), np.arange(80) % 2
    y = (X[:, 0] > 0.5).astype(int)
    cpp = CandidateCPP(LogisticRegression()).fit(X[:40], y[:40])
    cpp.conformalize(X[40:], y[40:], groups=groups[40:])
    found = cpp.predict_interval(groups=[0, 1], confidence_level=0.9, side="upper")
    assert found.shape == (2, 2)
