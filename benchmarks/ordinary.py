"""Ordinary algorithms through ``run``, beside a plain joblib loop that does the same fits."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from benchmarks.timing import N_JOBS, Plain, row, upper_end
from cpp_core import Experiment, load_dataset, make_algorithm

K, TRIALS = 20, (20, 100)
DATA = {
    "naive-bayes": "breast-cancer",
    "logistic": "breast-cancer",
    "ridge": "diabetes",
    "random-forest": "breast-cancer",
    "boosting": "breast-cancer",
}
LONG = ("random-forest", "boosting")
"""Each fit takes a tenth of a second or more."""

WORDS = f"a joblib loop with {N_JOBS} workers"


def losses_of(model: Any, X: NDArray, y: NDArray) -> NDArray:
    """Log losses, or squared errors of a regression."""
    if not hasattr(model, "predict_proba"):
        return (y - model.predict(X)) ** 2
    column = np.searchsorted(model.classes_, y)
    return -np.log(np.maximum(model.predict_proba(X)[np.arange(len(y)), column], 2.0**-52))


def candidate_trial(estimator: Any, X: NDArray, y: NDArray, n: int, seed: int) -> float:
    """One split: train on a half, calibrate on the other, test on the rest."""
    rows, half = np.random.default_rng(seed).permutation(len(y)), n // 2
    model = clone(estimator).fit(X[rows[:half]], y[rows[:half]])
    calibration = losses_of(model, X[rows[half : 2 * half]], y[rows[half : 2 * half]])
    losses_of(model, X[rows[n:]], y[rows[n:]])
    return upper_end(calibration)


def z_free_trial(estimator: Any, X: NDArray, y: NDArray, n: int, seed: int) -> float:
    """K groups of the first n cases, then as many as the rest allows; each judges its first."""
    rows, size = np.random.default_rng(seed).permutation(len(y)), n // K
    groups = [rows[g * size : (g + 1) * size] for g in range(K)]
    groups += [rows[g : g + size] for g in range(n, len(y) - size + 1, size)]
    losses = []
    for group in groups:
        at, training = group[:1], group[1:]
        if len(np.unique(y[training])) == 1:  # nothing to learn
            losses.append(0.0 if y[at[0]] == y[training[0]] else -np.log(2.0**-52))
        else:
            model = clone(estimator).fit(X[training], y[training])
            losses.append(losses_of(model, X[at], y[at])[0])
    return upper_end(np.array(losses[:K]))


PLAIN = {"candidate": candidate_trial, "z-free": z_free_trial}


def plain_loop(name: str, variant: str, n: int, trials: int) -> dict[str, NDArray]:
    """Upper ends of all trials."""
    data = load_dataset(DATA[name])
    assert data.table is not None
    estimator = make_algorithm(name, data.task)
    trial = delayed(PLAIN[variant])
    ends = Parallel(n_jobs=N_JOBS)(trial(estimator, *data.table, n, t) for t in range(trials))
    return {name: np.array(ends)}


def rows(names: tuple[str, ...] = tuple(DATA)) -> Iterator[dict[str, Any]]:
    """Each algorithm, candidate and Z-free, few trials and many."""
    for name in names:
        for variant, options in (("candidate", {}), ("z-free", {"n_sets": K})):
            experiment = Experiment(
                dataset=DATA[name], algorithms=(name,), variant=variant, **options
            )
            for trials in TRIALS:
                plain = partial(plain_loop, name, variant, experiment.n or 0, trials)
                work = f"{name} on {DATA[name]}, {variant}, {trials} trials"
                yield row(work, experiment, trials, Plain(WORDS, plain, trials))


def quick_rows() -> Iterator[dict[str, Any]]:
    """Those whose fits are short."""
    return rows(tuple(name for name in DATA if name not in LONG))


def long_rows() -> Iterator[dict[str, Any]]:
    """Those whose fits are long."""
    return rows(LONG)
