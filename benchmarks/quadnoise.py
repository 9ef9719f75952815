"""The paper's quadnoise runs through ``run``, beside a plain NumPy loop on one core.

The loop is timed over a few trials and scaled to as many as ``run`` computes.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.plain import upper_end
from benchmarks.timing import N_JOBS, Cell, Plain, in_turns, row, stored_run, timed, warmed
from cpp_core import Experiment, Store, run
from cpp_core.catalog.datasets import load_dataset

TRIALS = 1000
FEW = {"quadnoise-candidate": 25, "quadnoise-algorithm": 3}
"""The presets, and how many trials of each the loop is timed for."""

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


def trial_by_loop(experiment: Experiment, rng: np.random.Generator) -> Losses:
    """The calibration losses of a trial; the test losses are computed and left."""
    draw = load_dataset("quadnoise", **dict(experiment.dataset_settings)).draw
    n, test_size = experiment.n or 0, experiment.test_size or 0
    X, y = draw(n, rng)
    if experiment.n_sets is not None:
        size = n // experiment.n_sets
        groups_by_loop(*draw(test_size * size, rng), size, rng)
        return groups_by_loop(X, y, size, rng)
    half = n // 2
    X_test, y_test = draw(test_size, rng)
    losses = {}
    for name, descent in DESCENTS.items():
        w = descent(X[:half], y[:half], rng)
        losses[name] = (y[half:] - X[half:] @ w) ** 2
        (y_test - X_test @ w) ** 2
    return losses


def by_loop(experiment: Experiment, trials: int) -> dict[str, NDArray]:
    """Upper ends of some trials."""
    generators = np.random.default_rng(1).spawn(trials)
    found = [trial_by_loop(experiment, rng) for rng in generators]
    return {name: np.array([upper_end(losses[name]) for losses in found]) for name in DESCENTS}


def rows() -> Iterator[dict[str, Any]]:
    """Both of the paper's runs."""
    for preset, few in FEW.items():
        experiment = Experiment.preset(preset)
        words = f"a NumPy loop on one core, scaled from {few} trials"
        plain = Plain(words, partial(by_loop, experiment, few), few)
        yield row(Cell(f"{preset}, {TRIALS} trials", experiment, TRIALS, plain))


def store_rows(trials: int = TRIALS) -> Iterator[dict[str, Any]]:
    """What the store adds: the same run with an empty store, and with none."""
    experiment = Experiment.preset("quadnoise-candidate")
    alone = partial(run, experiment, trials, n_jobs=N_JOBS, store=Store(None))
    warmed(alone)
    warmed(partial(stored_run, experiment, trials))
    found = in_turns(lambda: stored_run(experiment, trials)[0], lambda: timed(alone)[0])
    told = "the share of the store is not told"
    if found["ratio"] is not None:
        told = f"the store takes {1 - 1 / found['ratio']:.0%} of the time (goal: under 10 %)"
    words = f"quadnoise-candidate, {trials} trials, nothing stored; the reference: with the store"
    yield {**found, "work": words, "agreement": told}
