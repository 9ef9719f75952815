"""Ties and ranges at the edges of floating point, where rounding must not cost coverage."""

import numpy as np
import pytest
from scipy import stats

from cpp_core import AlgorithmCPP, CandidateCPP, Experiment, Loss, Store, compare, run
from cpp_core.method.modulation import modulated_scores, modulated_sets
from cpp_core.method.sets import moved_sets
from cpp_core.method.symbols import symbol_sets
from cpp_core.trials.one_trial import as_kept, run_block, run_trial
from cpp_core.trials.results import Results
from tests.builders import Line, Mean, normal_sample

PREDICTIONS = (1.0, 1e6, 1e-6, 1e16, -1e6)


@pytest.mark.parametrize("prediction", PREDICTIONS)
@pytest.mark.parametrize("size", [1.0, 1e-6, 1e-12, 1e6])
@pytest.mark.parametrize("side", ["upper", "two-sided"])
def test_a_loss_whose_score_is_small_enough_is_in_the_set(prediction, size, side):
    rng = np.random.default_rng(0)
    losses = np.append(size * rng.random(400), size * np.round(rng.random(400), 1))
    ends = np.full(len(losses), prediction)
    scores = modulated_scores(losses, ends, ends, side)
    for score in np.quantile(scores, [0.1, 0.5, 0.9, 1.0], method="inverted_cdf"):
        sets = modulated_sets(ends, ends, score, side, -np.inf, np.inf)
        inside = (sets[:, 0] <= losses) & (losses <= sets[:, 1])
        assert inside[scores <= score].all()
        # and hardly more than that: what is far outside stays outside
        far = scores > score + 1e-9 * max(abs(prediction), size)
        assert not inside[far].any()


@pytest.mark.parametrize("side", ["upper", "two-sided"])
def test_losses_far_smaller_than_the_prediction_are_covered(side):
    """Was .048 for .70: a prediction of 1e6 beside losses of 1e-6 lost all ties to rounding."""
    rng, hits, k = np.random.default_rng(1), 0, 19
    for _ in range(2000):
        losses = 1e-6 * rng.integers(1, 4, k + 1)
        at = np.full(k, 1e6), np.full(k, 1e6)
        new = np.full(1, 1e6), np.full(1, 1e6)
        sets = moved_sets(losses[:k], at, new, 0.3, side, 0.0, np.inf)
        hits += int(sets.lower[0] <= losses[k] <= sets.upper[0])
    assert stats.binomtest(hits, 2000, 0.7, alternative="less").pvalue > 1e-3


def test_equal_scores_of_symbols_stay_equal():
    """Was .700 for .90: a symbol that scores exactly the limit was lost to rounding."""
    rng, k = np.random.default_rng(2), 19
    for dtype in (np.float32, np.float64):
        for _ in range(500):
            t, q = (rng.uniform(-9, 0, 2)).astype(dtype)
            likely = np.array([[t, -30.0, -np.inf]], dtype=dtype)
            (held,) = symbol_sets(np.full(k, t), np.full(k, q), likely, np.array([q]), 0.1)
            assert held.tolist() == [True, False, False]


def far(candidate, X, y):
    """A loss that lies beyond float32: 1e39 to 1e41."""
    return 10.0 ** (39 + 2 * (0.618 * np.abs(y) % 1))


def test_losses_beyond_float32_stay_finite_and_ordered(monkeypatch):
    from cpp_core.catalog.losses import LOSSES

    monkeypatch.setitem(LOSSES, "far", Loss("far", far, low=0.0))
    experiment = Experiment(dataset="diabetes", algorithms=("dummy",), loss="far", n=200)
    store = Store(None)
    results = run(experiment, 3, n_jobs=1, store=store)
    losses = results.arrays["dummy"]["calibration"]
    assert losses.dtype == np.float64
    assert np.isfinite(losses).all()
    assert (results.arrays["dummy"]["failed"] == 0).all()
    upper = results.at(0.1, "upper")["upper"]
    assert ((upper >= 1e39) & (upper <= 1e41)).all()
    assert len(np.unique(losses)) > 50
    cpp = CandidateCPP(Mean(), Loss("far", far, low=0.0))
    X, y = normal_sample(120, np.random.default_rng(0))
    end = cpp.fit(X[:20], y[:20]).conformalize(X[20:], y[20:]).predict_interval(side="upper")[1]
    assert end == np.sort(far(None, X[20:], y[20:]))[90]


def test_losses_below_float32_are_no_zeros():
    """Were 0, a bound that every one of them exceeds, and equal to each other."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), 1e-24 * rng.normal(size=200)
    found = compare({"a": Mean(), "b": Line()}, X, y, loss="squared_error", trials=2, n_jobs=1)
    upper = found.results.at(0.1, "upper")["upper"]
    assert ((upper > 1e-49) & (upper < 1e-46)).all()
    ones = np.array([0.0, 1.0, 1e-30], dtype=np.float64)
    assert as_kept(ones).dtype == np.float32  # what float32 holds stays short, 0 too
    assert as_kept(1e-10 * ones).dtype == np.float64


def test_blocks_of_both_types_are_joined(tmp_path):
    store = Store(tmp_path)
    store.save("0123456789abcdef", [0, 1], {"test": np.ones((2, 3), dtype=np.float32)})
    store.save("0123456789abcdef", [2], {"test": np.full((1, 3), 1e39)})
    found, arrays = store.load("0123456789abcdef", range(3))
    assert found == [0, 1, 2]
    assert arrays["test"].dtype == np.float64
    assert arrays["test"][2, 0] == 1e39


def test_divergence_is_infinitely_bad_in_every_face():
    """Steps far too large: the weights overflow, or the squares of what they predict do."""
    wild = {"gd": {"step": 1e70, "updates": 5}}
    settings = {"dataset": "quadnoise", "algorithms": ("gd",), "algorithm_settings": wild}
    experiment = Experiment(**settings, variant="z-free", n=200, n_sets=20, test_size=3)
    arrays = run_trial(experiment, 0, 0)["gd"]
    assert np.isinf(arrays["calibration"]).all()
    assert arrays["failed"] == 23
    assert b"diverged" in arrays["failure"].item()
    block, _ = run_block(experiment, 0, [0])
    assert np.isinf(Results(experiment, 0, np.arange(1), block, 1).at(0.1, "upper")["upper"][0])
    huge = Loss("squared_error", lambda c, X, y: np.full(len(y), np.inf), low=0.0)
    X, y = normal_sample(60, np.random.default_rng(0))
    cpp = AlgorithmCPP(Mean(), huge, n_sets=20).conformalize(X, y)
    assert cpp.predict_interval(side="upper")[1] == np.inf
    assert not cpp.failures_
