"""The claims of the lesson on candidate and algorithm."""

import numpy as np
import pytest
from scipy import stats

from cpp_core import GradientDescent, StochasticGradientDescent
from cpp_core.lessons import LESSONS
from cpp_core.lessons.candidate_or_algorithm import (
    MULTIPLE,
    after_retraining,
    covered,
    of_algorithm,
    share,
    spreads,
    train,
)

LESSON = LESSONS["candidate-or-algorithm"]


@pytest.mark.parametrize("algorithm", ["gd", "sgd"])
def test_models_are_those_of_our_learners(algorithm):
    """The kernels with the same draws give the weights of the estimators."""
    w = train(algorithm, 5, np.random.default_rng(3), 0.5)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((74, 2))
    y = X.sum(axis=1) + 0.5 * rng.standard_normal(74)
    made = {"gd": GradientDescent, "sgd": StochasticGradientDescent}[algorithm]
    assert made(random_state=rng).fit(X, y).coef_ == pytest.approx(w)


def test_a_bound_covers_the_losses_of_another_model_as_computed():
    rng = np.random.default_rng(1)
    own, other = 1.4, 3.1
    losses = other * rng.standard_normal(100_000) ** 2
    hits = int((losses <= MULTIPLE * own).sum())
    assert stats.binomtest(hits, 100_000, float(share(own, other))).pvalue > 0.001
    assert share(2.0, 2.0) == pytest.approx(0.9)


def test_figures_of_gradient_descent():
    found = after_retraining("gd", 5)
    assert found["average"] == pytest.approx(0.834, abs=0.012)
    assert found["low"] == pytest.approx(0.56, abs=0.03)
    assert found["high"] == pytest.approx(0.98, abs=0.01)
    assert after_retraining("gd", 20)["average"] == pytest.approx(0.898, abs=0.004)
    wide = np.quantile(MULTIPLE * spreads("gd", 5, 4000, 9), [0.05, 0.95])
    assert wide == pytest.approx([1.1, 17], rel=0.08)


def test_figures_of_stochastic_gradient_descent():
    found = after_retraining("sgd", 5)
    assert found["average"] == pytest.approx(0.9, abs=0.002)
    assert (found["low"], found["high"]) == pytest.approx((0.895, 0.91), abs=0.002)


def test_the_algorithms_bound_keeps_its_promise():
    """The 90th of 99 losses, each of another model, over fresh models: 90 of 100 places."""
    known = spreads("gd", 5, 8000, 10).reshape(80, 100)
    losses = known * np.random.default_rng(2).standard_normal(known.shape) ** 2
    bounds = np.sort(losses[:, :99], axis=1)[:, 89]
    others = spreads("gd", 5)
    covers = (2 * stats.norm.cdf(np.sqrt(bounds[:, None] / others)) - 1).mean(axis=1)
    error = covers.std(ddof=1) / np.sqrt(len(covers))
    assert covers.mean() == pytest.approx(0.9, abs=4 * error)
    for algorithm, updates in (("gd", 5), ("gd", 20), ("sgd", 5)):
        assert of_algorithm(algorithm, updates)["algorithm_covers"] == pytest.approx(0.9, abs=0.006)
    assert 6.2 < of_algorithm("gd", 5)["algorithm_bound"] < 7.2


def test_little_is_left_of_the_gap_at_the_papers_noise():
    known = spreads("gd", 5, 3000, 8, 2.2)
    found = float(covered(known[:1500], known[1500:]).mean())
    assert found == pytest.approx(0.892, abs=0.005)
    assert "2.2" in LESSON.caveat
    assert "89 % on average" in LESSON.caveat


def test_it_says_what_holds_here_and_on_average():
    shown = LESSON.play(updates=30)
    assert shown.numbers["here"] == pytest.approx(0.9, abs=0.01)
    assert "once gradient descent is retrained" in shown.said
    assert "stochastic" in LESSON.play(algorithm="sgd").said
    assert len(shown.layouts) == 2


@pytest.mark.parametrize("algorithm", ["gd", "sgd"])
def test_the_name_of_the_bound_has_room_inside_the_chart(algorithm):
    (panel,) = LESSON.play(algorithm=algorithm).panels
    layout = panel.sketch.layout
    (name,) = (own for own in layout["annotations"] if own["text"] == "the algorithm's bound")
    right = name["x"] > layout["xaxis"]["range"][1] / 2
    assert name["xanchor"] == ("right" if right else "left")
    assert right == (algorithm == "sgd")
