"""The plain way: a joblib loop over splits as one writes it first, with scikit-learn alone."""

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

K, N_JOBS = 20, 2
SHARE = 0.75
"""Of the table trains and calibrates; the rest tests."""


def upper_end(losses: NDArray) -> float:
    """The upper end of the two-sided 90 % interval: an order statistic of the losses."""
    rank = losses.size + 1 - int(np.floor(round((losses.size + 1) * 0.05, 9)))
    return float(np.sort(losses, axis=None)[rank - 1])


def algorithm(name: str, **settings: Any) -> Any:
    """The algorithm of that name; what it needs is imported where it is used."""
    if name == "naive-bayes":
        from sklearn.naive_bayes import GaussianNB

        return GaussianNB()
    if name == "random-forest":
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(**settings)
    if name == "boosting":
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(**settings)
    if name == "knn":
        from sklearn.neighbors import KNeighborsClassifier

        return make_pipeline(StandardScaler(), KNeighborsClassifier())
    from sklearn.linear_model import LogisticRegression, Ridge

    linear = Ridge() if name == "ridge" else LogisticRegression(max_iter=1000)
    return make_pipeline(StandardScaler(), linear)


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


TRIALS = {"candidate": candidate_trial, "z-free": z_free_trial}


def loop(
    name: str, variant: str, trials: int, n_jobs: int = N_JOBS, **settings: Any
) -> dict[str, NDArray]:
    """Upper ends of all trials."""
    X, y = (load_diabetes if name == "ridge" else load_breast_cancer)(return_X_y=True)
    estimator, n = algorithm(name, **settings), int(SHARE * len(y))
    trial = delayed(TRIALS[variant])
    ends = Parallel(n_jobs=n_jobs)(trial(estimator, X, y, n, t) for t in range(trials))
    return {name: np.array(ends)}
