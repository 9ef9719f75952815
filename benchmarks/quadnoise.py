"""Trials of the quadnoise experiments: a plain NumPy loop beside the compiled ones.

The loop is timed over a few trials and extrapolated to as many as the compiled ones compute. The
time of compiling, once on a machine, is not counted.
"""

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.datasets import load_dataset
from cpp_core.method.ranks import conformal_ranks
from cpp_core.trials.quadnoise import quadnoise_trial

TRIALS, THREADS, ALPHA = 1000, 2, 0.1
DATA: dict[str, Any] = {"d": 2, "scale": 2.2, "df": 2.1}
CANDIDATE = {"algorithmic": False, "n": 7500, "n_sets": None, "test_size": 2500, "noise": "normal"}
ALGORITHM = {"algorithmic": True, "n": 75000, "n_sets": 1000, "test_size": 250, "noise": "student"}
WORK: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("candidate", CANDIDATE, 25),
    ("Z-free", ALGORITHM, 3),
)
"""What is computed, and how many trials of it the loop is timed for."""

Losses = dict[str, NDArray]


def gd(X: NDArray, y: NDArray, rng: np.random.Generator) -> NDArray:
    """Five full-batch updates."""
    w: Any = rng.uniform(-5, 5, X.shape[1])
    for _ in range(5):
        w -= 0.1 * 2 * X.T @ (X @ w - y) / len(y)
    return w


def sgd(X: NDArray, y: NDArray, rng: np.random.Generator) -> NDArray:
    """Five passes, an update for each point."""
    w: Any = rng.uniform(-5, 5, X.shape[1])
    for _ in range(5):
        for i in rng.permutation(len(y)):
            w -= 0.01 * 2 * (X[i] @ w - y[i]) * X[i]
    return w


DESCENTS: dict[str, Callable[..., NDArray]] = {"gd": gd, "sgd": sgd}


def groups_by_loop(X: NDArray, y: NDArray, size: int, rng: np.random.Generator) -> Losses:
    """Losses at the first row of each group of candidates trained on its others."""
    losses: dict[str, list[float]] = {name: [] for name in DESCENTS}
    for first in range(0, len(y), size):
        rows = slice(first + 1, first + size)
        for name, descent in DESCENTS.items():
            w = descent(X[rows], y[rows], rng)
            losses[name].append((y[first] - X[first] @ w) ** 2)
    return {name: np.array(values) for name, values in losses.items()}


def trial_by_loop(trial: int, work: dict[str, Any]) -> Losses:
    """The calibration losses of a trial; the test losses are computed and left."""
    rng = np.random.default_rng([1, trial])
    draw = load_dataset("quadnoise", noise=work["noise"], **DATA).draw
    X, y = draw(work["n"], rng)
    if work["algorithmic"]:
        size = work["n"] // work["n_sets"]
        groups_by_loop(*draw(work["test_size"] * size, rng), size, rng)
        return groups_by_loop(X, y, size, rng)
    half = work["n"] // 2
    X_test, y_test = draw(work["test_size"], rng)
    losses = {}
    for name, descent in DESCENTS.items():
        w = descent(X[:half], y[:half], rng)
        losses[name] = (y[half:] - X[half:] @ w) ** 2
        (y_test - X_test @ w) ** 2
    return losses


def upper_ends(trials: list[Losses]) -> dict[str, NDArray]:
    """The upper end of each trial's two-sided interval."""
    k = trials[0]["gd"].size
    rank = conformal_ranks(k, ALPHA)[1]
    return {
        name: np.array([np.sort(losses[name], axis=None)[rank - 1] for losses in trials])
        for name in DESCENTS
    }


def agreement(plain: dict[str, NDArray], ours: dict[str, NDArray]) -> str:
    """How far the mean upper ends are apart, in standard errors."""
    said = []
    for name in DESCENTS:
        error = ours[name].std() * math.sqrt(1 / len(plain[name]) + 1 / len(ours[name]))
        apart = (ours[name].mean() - plain[name].mean()) / error
        said.append(f"{name} {apart:+.1f}")
        if abs(apart) > 4:
            raise AssertionError(f"{name}: mean upper ends are {apart:.1f} standard errors apart")
    return f"mean upper ends differ by {', '.join(said)} standard errors"


def compiled_trial(work: dict[str, Any], trial: int) -> Losses:
    """The calibration losses of a trial, as above."""
    algorithms: Any = [(name, {}) for name in DESCENTS]
    found = quadnoise_trial(0, trial, n_evaluations=1, algorithms=algorithms, **DATA, **work)
    return {name: losses.calibration for name, losses in found.items()}


def compiled_trials(run: Callable[[int], Losses], trials: int, threads: int) -> list[Losses]:
    """Calibration losses of all trials, dealt to threads in blocks."""
    blocks = [range(first, min(first + 10, trials)) for first in range(0, trials, 10)]
    with ThreadPoolExecutor(threads) as pool:
        done = pool.map(lambda block: [run(trial) for trial in block], blocks)
        return [losses for block in done for losses in block]


def rows(trials: int = TRIALS, threads: int = THREADS) -> list[dict]:
    """Measured seconds of both ways, for each kind of trial."""
    measured = []
    for name, work, few in WORK:
        start = time.perf_counter()
        plain = [trial_by_loop(trial, work) for trial in range(few)]
        reference = (time.perf_counter() - start) / few * trials
        run = partial(compiled_trial, work)
        run(0)
        start = time.perf_counter()
        ours = compiled_trials(run, trials, threads)
        seconds = time.perf_counter() - start
        measured.append(
            {
                "work": f"quadnoise, {name}: {trials} trials of gd and sgd, {threads} threads; "
                f"the loop extrapolated from {few}",
                "reference_seconds": reference,
                "ours_seconds": seconds,
                "ratio": reference / seconds,
                "agreement": agreement(upper_ends(plain), upper_ends(ours)),
            }
        )
    return measured


if __name__ == "__main__":
    for row in rows():
        print("; ".join(f"{k}: {v:.4g}" if isinstance(v, float) else v for k, v in row.items()))
