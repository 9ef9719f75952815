"""Both SVMs on re-splits of the digits: the paper's loop beside ours."""

import tempfile
import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from cpp_core import Experiment, Store, run

REFERENCE_TRIALS = 40
TRIALS = 400


def plain_trial(X: Any, y: Any, kernel: str, rng: np.random.Generator) -> tuple[float, float]:
    """One trial as a paper's author writes it: the ends of the 90 % interval."""
    rows = rng.permutation(len(y))
    train, calibrate, test = rows[:673], rows[673:1346], rows[1347:]
    model = SVC(kernel=kernel, probability=True, random_state=int(rng.integers(2**31)))
    model.fit(X[train], y[train])
    losses = {}
    for name, part in (("calibrate", calibrate), ("test", test)):
        probabilities = model.predict_proba(X[part])[np.arange(len(part)), y[part]]
        losses[name] = -np.log(np.maximum(probabilities, np.finfo(float).eps))
    scores = np.sort(losses["calibrate"])
    return scores[32], scores[640]


def rows() -> list[dict[str, Any]]:
    """Digits-candidate: seconds for a thousand trials."""
    X, y = load_digits(return_X_y=True)
    run(Experiment.preset("digits-candidate"), 8, seed=1, store=Store(None))  # compiles
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        start = time.perf_counter()
        ends = {
            kernel: [
                plain_trial(X, y, kernel, rng)
                for rng in np.random.default_rng(0).spawn(REFERENCE_TRIALS)
            ]
            for kernel in ("linear", "rbf")
        }
        reference = (time.perf_counter() - start) / REFERENCE_TRIALS * 1000
    start = time.perf_counter()
    results = run(Experiment.preset("digits-candidate"), TRIALS, seed=1, store=Store(None))
    ours = (time.perf_counter() - start) / TRIALS * 1000
    frame = results.at(0.1)
    agreement = []
    for kernel, name in (("linear", "svm-lin"), ("rbf", "svm-rbf")):
        plain, own = np.array(ends[kernel])[:, 1], frame.upper[frame.algorithm == name].to_numpy()
        error = np.hypot(plain.std(ddof=1) / len(plain) ** 0.5, own.std(ddof=1) / len(own) ** 0.5)
        agreement.append(f"{name} upper end {own.mean():.3f}, reference {plain.mean():.3f}")
        if abs(plain.mean() - own.mean()) > 4 * error:
            agreement[-1] += " (DISAGREES)"
    return [
        {
            "work": "digits-candidate, both SVMs, 1000 trials",
            "reference_seconds": reference,
            "ours_seconds": ours,
            "ratio": reference / ours,
            "agreement": "; ".join(agreement),
        }
    ]


def stored_rows() -> list[dict[str, Any]]:
    """A thousand stored trials opened and summarised; many alphas read from them."""
    experiment = Experiment.preset("digits-candidate")
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        results = run(experiment, 1000)
        for name in experiment.algorithms:
            store.save(experiment.key(name, 0), range(1000), results.arrays[name])
        seconds = []
        for _ in range(5):
            start = time.perf_counter()
            run(experiment, 1000, store=Store(folder)).summary(0.1)
            seconds.append(time.perf_counter() - start)
    opened = float(np.median(seconds))
    alphas = [a / 100 for a in range(1, 100)]
    start = time.perf_counter()
    plain = {
        name: np.array([_plain_curve(arrays, alpha) for alpha in alphas])
        for name, arrays in results.arrays.items()
    }
    reference = time.perf_counter() - start
    start = time.perf_counter()
    results.curve(alphas)
    first = time.perf_counter() - start
    again = []
    for _ in range(20):
        start = time.perf_counter()
        curve = results.curve(alphas)
        again.append(time.perf_counter() - start)
    ours = float(np.median(again))
    equal = all(np.allclose(plain[name], curve[name]["test_coverage"]) for name in plain)
    return [
        {
            "work": "1000 stored digits trials opened and summarised at one alpha",
            "reference_seconds": None,
            "ours_seconds": opened,
            "ratio": None,
            "agreement": f"{opened * 1000:.0f} ms (at most 100)",
        },
        {
            "work": "results.curve, 99 alphas, 1000 digits trials",
            "reference_seconds": reference,
            "ours_seconds": ours,
            "ratio": reference / ours,
            "agreement": ("equal" if equal else "DISAGREES")
            + f"; the first call, which sorts, takes {first * 1000:.0f} ms",
        },
    ]


def _plain_curve(arrays: Any, alpha: float) -> list[float]:
    """Coverage of every trial at one alpha, sorting anew, as one writes it first."""
    k = arrays["calibration"].shape[1]
    lo = int(np.floor(round((k + 1) * alpha / 2, 9)))
    covered = []
    for calibration, test in zip(arrays["calibration"], arrays["test"], strict=True):
        scores = np.concatenate([[0.0], np.sort(calibration), [np.inf]])
        covered.append(float(np.mean((scores[lo] <= test) & (test <= scores[k + 1 - lo]))))
    return covered
