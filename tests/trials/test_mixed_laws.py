"""Exact laws on mixed tables, and of encoders that learn from labels: inside a run, never outside.

Given a table, its re-splits are independent, and what they cover follows the exact law.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from cpp_core import CandidateCPP, Experiment, Results, coverage_law
from cpp_core.trials.one_trial import run_block
from tests.builders import register_quick, unmeasured

ALPHA, LEAST = 0.2, 1e-4
"""The p-value below which a law counts as broken; seeds are fixed, so that luck is too."""


def mixed(n, seed=0):
    """Numbers with gaps, categories, dates, truth values; a target without ties."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"size": rng.normal(size=n), "city": rng.choice(list("abc"), n)})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    frame["new"] = rng.random(n) < 0.5
    frame["y"] = frame["size"] + (frame["city"] == "a") + rng.standard_t(3, n)
    frame.loc[rng.choice(n, n // 8), ["size", "city"]] = None
    return frame


SETTINGS = [
    *({"n": 2 * round(19 / share / 2), "calibration_share": share} for share in (0.2, 0.5, 0.8)),
    {"variant": "z-free", "n": 27, "n_sets": 9},
    *(
        {"variant": "z-variable", "regressor": "band", "n": n, "n_sets": 4}
        | {"calibration_share": share}
        for share, n in ((0.2, 60), (0.5, 24), (0.8, 15))
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_exact_law_on_a_mixed_table(settings, monkeypatch):
    register_quick(monkeypatch)
    trials, test_size = (250, 3) if "variant" in settings else (1000, 1)
    about = {"algorithms": ("ridge",), "loss": "absolute_error", "test_size": test_size}
    frame = mixed(settings["n"] + test_size)
    experiment = Experiment.from_table(frame, "y", **about, **settings)
    assert experiment.data.encoder is not None
    assert experiment.sizes.n_test == 1
    with unmeasured():
        arrays, _ = run_block(experiment, 0, range(trials))
    results = Results(experiment, 0, np.arange(trials), arrays, trials)
    for side in ("upper",) if experiment.modulation else ("upper", "two-sided"):
        covered = int(results.at(ALPHA, side)["new_loss_covered"].sum())
        a, b = coverage_law(experiment.sizes.k, ALPHA, side)
        assert stats.binomtest(covered, trials, a / (a + b)).pvalue > LEAST, side


class MeanLabel(TransformerMixin, BaseEstimator):
    """A category as the mean label that it had in training."""

    def fit(self, X, y):
        self.means_ = dict(pd.Series(y).groupby(X[:, 0]).mean())
        return self

    def transform(self, X):
        return np.array([[self.means_.get(value, 0.0)] for value in X[:, 0]])


def hits_of(reps, fitted_outside):
    """How often a new loss is covered by a bound, with categories told by their mean label."""
    rng, hits, n = np.random.default_rng(7), 0, 60
    for _ in range(reps):
        X, y = rng.integers(0, 25, (n + 1, 1)).astype(float), rng.normal(size=n + 1)
        if fitted_outside:
            X = MeanLabel().fit(X[:n], y[:n]).transform(X)
        model = Ridge() if fitted_outside else make_pipeline(MeanLabel(), Ridge())
        cpp = CandidateCPP(model, loss="absolute_error", random_state=0)
        cpp.fit(X[:30], y[:30]).conformalize(X[30:n], y[30:n])
        upper = cpp.predict_interval(confidence_level=1 - ALPHA, side="upper")[1]
        hits += abs(float(model.fit(X[:30], y[:30]).predict(X[n:])[0]) - y[n]) <= upper
    return hits


@pytest.mark.slow
def test_an_encoder_that_learns_from_labels_belongs_inside():
    a, b = coverage_law(30, ALPHA, "upper")
    with unmeasured():
        inside, outside = hits_of(600, False), hits_of(600, True)
    assert stats.binomtest(inside, 600, a / (a + b)).pvalue > LEAST
    assert stats.binomtest(outside, 600, a / (a + b), "less").pvalue < 1e-6
