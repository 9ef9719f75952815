"""Both SVMs on re-splits of the digits: the paper's loop beside ours."""

import tempfile
import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from benchmarks.plain import upper_end
from benchmarks.timing import Cell, Plain, in_turns, row, timed
from cpp_core import Experiment, Store, run

REFERENCE_TRIALS, TRIALS = 10, 300
KERNELS = {"svm-lin": "linear", "svm-rbf": "rbf"}


def plain_trial(X: Any, y: Any, kernel: str, rng: np.random.Generator) -> float:
    """One trial as a paper's author writes it: the upper end of the 90 % interval."""
    rows = rng.permutation(len(y))
    train, calibrate, test = rows[:673], rows[673:1346], rows[1347:]
    model = SVC(kernel=kernel, probability=True, random_state=int(rng.integers(2**31)))
    model.fit(X[train], y[train])
    losses = {}
    for name, part in (("calibrate", calibrate), ("test", test)):
        probabilities = model.predict_proba(X[part])[np.arange(len(part)), y[part]]
        losses[name] = -np.log(np.maximum(probabilities, np.finfo(float).eps))
    return upper_end(losses["calibrate"])


def by_loop() -> dict[str, NDArray]:
    """Upper ends of some trials."""
    X, y = load_digits(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # probability=True goes one day
        return {
            name: np.array(
                [
                    plain_trial(X, y, kernel, rng)
                    for rng in np.random.default_rng(0).spawn(REFERENCE_TRIALS)
                ]
            )
            for name, kernel in KERNELS.items()
        }


def rows() -> list[dict[str, Any]]:
    """Digits-candidate."""
    words = f"scikit-learn's SVC on one core, scaled from {REFERENCE_TRIALS} trials"
    plain = Plain(words, by_loop, REFERENCE_TRIALS)
    experiment = Experiment.preset("digits-candidate")
    work = f"digits-candidate, both SVMs, {TRIALS} trials"
    return [row(Cell(work, experiment, TRIALS, plain))]


def stored_rows(trials: int = 1000) -> list[dict[str, Any]]:
    """Stored trials opened and summarised; many alphas read from them."""
    experiment = Experiment.preset("digits-candidate")
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        results = run(experiment, trials)
        for name in experiment.algorithms:
            store.save(experiment.key(name, 0), range(trials), results.arrays[name])

        def summary() -> Any:
            return run(experiment, trials, store=Store(folder)).summary(0.1)

        opened = float(np.median([timed(summary)[0] for _ in range(5)]))
    alphas = [a / 100 for a in range(1, 100)]
    read = partial(results.curve, alphas)
    first, curve = timed(read)

    def plainly() -> dict[str, NDArray]:
        return {
            name: np.array([_plain_curve(arrays, alpha) for alpha in alphas])
            for name, arrays in results.arrays.items()
        }

    equal = all(np.allclose(own, curve[name]["test_coverage"]) for name, own in plainly().items())
    found = in_turns(lambda: timed(plainly)[0], lambda: timed(read)[0])
    return [
        {
            "work": f"{trials} stored digits trials opened and summarised at one alpha",
            "reference_seconds": None,
            "ours_seconds": opened,
            "ratio": None,
            "agreement": f"{opened * 1000:.0f} ms (at most 100)",
        },
        {
            **found,
            "work": f"results.curve, 99 alphas, {trials} digits trials",
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
