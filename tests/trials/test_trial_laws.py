"""The exact laws of batches and of kinds of error, through trials as a run computes them.

Trials draw fresh simulated data each, so that the first test loss is one Bernoulli draw per trial
and the number of covered test losses is one count. Without ties both laws are exact; with ties the
exact probability is a lower bound. The last tests show that a rank which is off by one is noticed.
"""

import numpy as np
import pytest
from scipy import special, stats

import cpp_core.method.symbols
from cpp_core import Experiment, Results, coverage_law
from cpp_core.trials.one_trial import run_block
from tests.builders import (
    FrequencyByLabel,
    Quick,
    law_pvalues,
    register_quick,
    shifted_ranks,
)

pytestmark = pytest.mark.slow
TRIALS, NEW, K, B, M = 1000, 40, 19, 3, 5
ALPHAS = (0.1, 0.2)
LEAST = 1e-4
"""The p-value below which a law counts as broken; seeds are fixed, so that luck is too."""


class Indifferent(Quick):
    """Symbols whose probabilities are a smooth function of the case, whatever it was shown."""

    def fit(self, X, y):
        self.classes_ = np.array(["Correct", "FN", "FP"])
        return self

    def predict_proba(self, X):
        correct, positive = special.ndtr(X[:, 1]), X[:, -1]
        wrong = 1 - correct
        return np.column_stack([correct, wrong * positive, wrong * (1 - positive)])


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    register_quick(monkeypatch)


def trials_of(**settings):
    """Results of all trials, with these settings."""
    experiment = Experiment(dataset="two-classes", **settings)
    assert experiment.sizes.k == K
    assert experiment.sizes.n_test == NEW
    arrays, _ = run_block(experiment, 0, range(TRIALS))
    assert not any(own["failed"].any() for own in arrays.values())
    return Results(experiment, 0, np.arange(TRIALS), arrays, TRIALS)


def batches(loss, retrained, algorithm="slope"):
    """Trials of a metric on batches, of one candidate or after retraining."""
    sizes = {"n": 2 * K * B, "test_size": NEW * B}
    if retrained:
        sizes = {"n": K * (M + B), "n_sets": K, "test_size": NEW}
    return trials_of(algorithms=(algorithm,), variant="batch", loss=loss, batch_size=B, **sizes)


def symbols(retrained, algorithm="majority"):
    """Trials of kinds of error, of one candidate or after retraining."""
    sizes = {"n": 4 * K, "test_size": NEW}
    if retrained:
        sizes = {"n": 3 * K * (M + 1), "n_sets": K, "test_size": NEW}
    return trials_of(algorithms=(algorithm,), variant="symbolic", regressor="band", **sizes)


def covered(results, alpha, side):
    """Whether each trial's first test loss is covered, and how many of all are."""
    table = results.at(alpha, side)
    counts = (table["test_coverage"].to_numpy() * NEW).round().astype(int)
    return table["new_loss_covered"].to_numpy(dtype=bool), counts


def check_exact(results, sides):
    rng = np.random.default_rng(1)
    for alpha in ALPHAS:
        for side, ranked in sides.items():
            law = coverage_law(K, alpha, ranked)
            pvalues = law_pvalues(*covered(results, alpha, side), NEW, law, rng)
            assert min(pvalues) > LEAST, (alpha, side, pvalues)


def check_exact_and_sharp(results, sides, shifts):
    """The laws hold, and a rank that is off by one breaks them."""
    check_exact(results, sides)
    for shift_lo, shift_hi in shifts:
        again = Results(results.experiment, 0, results.trials, results.arrays, TRIALS)
        with pytest.MonkeyPatch.context() as patch:
            shifted_ranks(patch, shift_lo, shift_hi)
            with pytest.raises(AssertionError):
                check_exact(again, sides)


def check_at_least(results, sides):
    for alpha in ALPHAS:
        for side, ranked in sides.items():
            a, b = coverage_law(K, alpha, ranked)
            assert a / (a + b) >= 1 - alpha
            hits = int(covered(results, alpha, side)[0].sum())
            found = stats.binomtest(hits, TRIALS, a / (a + b), alternative="less")
            assert found.pvalue > LEAST, (alpha, side, hits)


INTERVALS = {"two-sided": "two-sided", "upper": "upper"}
SYMBOLS = {"two-sided": "upper"}  # sets of symbols have the upper rank alone
both = pytest.mark.parametrize("retrained", [False, True], ids=["candidate", "algorithm"])


@both
def test_a_continuous_metric_on_batches(retrained):
    found = batches("mean_log_loss", retrained)
    check_exact_and_sharp(found, INTERVALS, [(0, 1), (0, -1), (1, 0), (-1, 0)])


@pytest.mark.parametrize(
    ("loss", "retrained"), [("accuracy", False), ("accuracy", True), ("error_rate", False)]
)
def test_metrics_that_tie_on_batches(loss, retrained):
    check_at_least(batches(loss, retrained), INTERVALS)


@both
def test_kinds_of_error_with_continuous_scores(retrained, monkeypatch):
    """The likeliest possible symbol has a probability of at least a half, hence no set is empty."""
    monkeypatch.setattr(cpp_core.method.symbols, "default_classifier", Indifferent)
    check_exact_and_sharp(symbols(retrained), SYMBOLS, [(0, 1), (0, -1)])


@pytest.mark.parametrize(
    ("algorithm", "retrained"),
    [("majority", False), ("majority", True), ("naive-bayes", False), ("dummy", False)],
)
def test_kinds_of_error_that_tie(algorithm, retrained, monkeypatch):
    monkeypatch.setattr(cpp_core.method.symbols, "default_classifier", FrequencyByLabel)
    check_at_least(symbols(retrained, algorithm), SYMBOLS)
