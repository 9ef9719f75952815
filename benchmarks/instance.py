"""Sets at every test image of one digits trial: the paper's way, plainly, beside ``case_study``.

The plain way trains scikit-learn's ``SVC(probability=True)`` on one subset after another and asks a
quantile forest about one image after another, for one alpha. It is timed for one of the two
algorithms and for some of the images, and scaled to both and to all. Ours gives both algorithms,
fixed and variable width, all alphas and the losses of the test groups. The time of compiling, once
on a machine, is not counted.
"""

import time
import warnings
from functools import partial

import numpy as np
from numpy.typing import NDArray
from quantile_forest import RandomForestQuantileRegressor
from scipy import stats
from sklearn.svm import SVC

from benchmarks.digits import KERNELS
from benchmarks.timing import Cell, Plain, in_turns, row, timed
from cpp_core import Experiment, conformal_ranks, digits_features
from cpp_core.trials.case_study import case_study
from cpp_core.trials.trial_entry import trial_sample

ALPHA, IMAGES, ALGORITHM, TRIALS = 0.1, 60, "svm-lin", 8
CLIP = np.finfo(float).eps


def losses_by_loop(
    X: NDArray, y: NDArray, first: int, k: int, size: int, kernel: str = "linear"
) -> NDArray:
    """Log losses at the first row of each group of a machine trained on its others."""
    losses = np.empty(k)
    for j in range(k):
        at = first + j * size
        model = SVC(kernel=kernel, probability=True, random_state=j)
        model.fit(X[at + 1 : at + size], y[at + 1 : at + size])
        shares = dict(zip(model.classes_, model.predict_proba(X[[at]])[0], strict=True))
        losses[j] = -np.log(max(shares.get(y[at], 0.0), CLIP))
    return losses


def features(x: NDArray, label: int) -> NDArray:
    """Four numbers of an image, and its label in one-hot form."""
    return np.hstack([digits_features(x[None]), np.eye(10)[[label]]])


def ends_by_loop(forest: RandomForestQuantileRegressor, X: NDArray, y: NDArray) -> NDArray:
    """Quantiles at alpha/2 and 1 - alpha/2, image by image."""
    levels = [ALPHA / 2, 1 - ALPHA / 2]
    asked = [forest.predict(features(x, c), quantiles=levels) for x, c in zip(X, y, strict=True)]
    return np.array(asked).reshape(-1, 2)


def sets_by_loop(experiment: Experiment, images: int) -> tuple[NDArray, NDArray, float]:
    """Calibration losses, sets at some images, and the seconds that all images would take."""
    X, y, _ = trial_sample(experiment, 0, 0, whole=True)
    n, k, size = experiment.n or 0, experiment.sizes.k, experiment.sizes.m + 1
    half = n // 2
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # probability=True goes one day
        fitted, calibration = (losses_by_loop(X, y, first, k, size) for first in (0, half))
    inputs = np.vstack([features(X[j], y[j]) for j in range(0, k * size, size)])
    forest = RandomForestQuantileRegressor(random_state=0).fit(inputs, fitted)
    at = np.arange(half, half + k * size, size)
    q = ends_by_loop(forest, X[at], y[at])
    scores = np.sort(np.maximum(q[:, 0] - calibration, calibration - q[:, 1]))
    score = scores[conformal_ranks(k, ALPHA, "upper")[1] - 1]
    trained = time.perf_counter()
    ends = ends_by_loop(forest, X[n : n + images], y[n : n + images])
    asked = time.perf_counter()
    high = experiment.criterion.high
    sets = np.column_stack(
        [np.maximum(ends[:, 0] - score, 0), np.minimum(ends[:, 1] + score, high)]
    )
    return calibration, sets, trained - start + (asked - trained) * (len(y) - n) / images


def agreement(plain: NDArray, ours: NDArray, plain_sets: NDArray, our_sets: NDArray) -> str:
    """How the calibration losses of the same groups, and the sets at the same images, compare."""
    apart = stats.ks_2samp(plain, ours)
    if apart.pvalue < 1e-3:
        raise AssertionError(f"calibration losses differ in law: p = {apart.pvalue:.2g}")
    typical = [np.median(sets, axis=0) for sets in (plain_sets, our_sets)]
    spread = np.median(np.abs(our_sets - typical[1]), axis=0).max()
    difference = np.abs(typical[0] - typical[1]).max()
    if difference > spread:
        raise AssertionError(f"median ends are {difference:.2g} apart, more than {spread:.2g}")
    correlation = stats.spearmanr(plain, ours).statistic
    return (
        f"losses of the same {len(ours)} groups: rank correlation {correlation:.3f}; median ends "
        f"over the images [{typical[0][0]:.2f}, {typical[0][1]:.2f}] and [{typical[1][0]:.2f}, "
        f"{typical[1][1]:.2f}], {difference:.2f} apart, where images spread by {spread:.2f}"
    )


def rows(images: int = IMAGES) -> list[dict]:
    """Measured seconds of both ways, and how their sets compare."""
    experiment = Experiment.preset("digits-instance")
    case_study(experiment, 0, 1)
    study = case_study(experiment)
    calibration, sets, _ = sets_by_loop(experiment, images)
    both = len(experiment.algorithms)
    found = in_turns(
        lambda: both * sets_by_loop(experiment, images)[2],
        lambda: timed(partial(case_study, experiment))[0],
    )
    ours = study.sets(ALGORITHM, "variable", ALPHA)[:images]
    return [
        {
            **found,
            "work": f"digits, one trial, sets at {len(study.y)} images, two algorithms; the loop "
            f"timed for {ALGORITHM} at {images} images, one alpha, and scaled",
            "agreement": agreement(calibration, study.calibration[ALGORITHM], sets, ours),
        }
    ]


def trial_by_loop(experiment: Experiment) -> dict[str, NDArray]:
    """A whole trial, point by point: the mean upper end over its test groups, by algorithm."""
    X, y, _ = trial_sample(experiment, 0, 0)
    n, k, size = experiment.n or 0, experiment.sizes.k, experiment.sizes.m + 1
    half, n_test = n // 2, experiment.sizes.n_test
    found = {}
    for name, kernel in KERNELS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            fitted, calibration, _ = (
                losses_by_loop(X, y, first, groups, size, kernel)
                for first, groups in ((0, k), (half, k), (n, n_test))
            )
        inputs = np.vstack([features(X[j], y[j]) for j in range(0, k * size, size)])
        forest = RandomForestQuantileRegressor(random_state=0).fit(inputs, fitted)
        at = half + size * np.arange(k)
        q = ends_by_loop(forest, X[at], y[at])
        scores = np.sort(np.maximum(q[:, 0] - calibration, calibration - q[:, 1]))
        at = n + size * np.arange(n_test)
        upper = ends_by_loop(forest, X[at], y[at])[:, 1]
        score = scores[conformal_ranks(k, ALPHA, "upper")[1] - 1]
        found[name] = np.minimum(upper + score, experiment.criterion.high)
    return found


def run_rows() -> list[dict]:
    """Digits-instance through ``run``."""
    experiment = Experiment.preset("digits-instance")
    words = "SVC and a quantile forest on one core, point by point, scaled from one trial"
    plain = Plain(words, partial(trial_by_loop, experiment), 1)
    work = f"digits-instance, both SVMs, {TRIALS} trials"
    return [row(Cell(work, experiment, TRIALS, plain))]
