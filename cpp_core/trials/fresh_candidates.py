"""What candidates do at one test case after they were trained on samples that are fresh to it."""

import zlib

import numpy as np
from numpy.typing import NDArray

from cpp_core.method.constructions import Part
from cpp_core.method.measuring import measure
from cpp_core.method.threads import one_thread
from cpp_core.trials.case_study import check_case, check_modulated, sample_of
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.one_trial import as_kept
from cpp_core.trials.trial_entry import algorithm_and_inputs, judge_of

N_FRESH = 40
"""Fresh training samples behind the losses at one simulated case."""


def fits_per_case(experiment: Experiment) -> int:
    """Training runs of each algorithm that are fresh to one case (``fresh_samples``)."""
    if experiment.data.size is None:
        return N_FRESH
    return ((experiment.test_size or 0) - 1) // experiment.sizes.m


def fresh_samples(
    experiment: Experiment, seed: int, trial: int, case: int
) -> tuple[NDArray, NDArray, NDArray, int, NDArray]:
    """Cases (X, y, rows), the position of one test case there, and training subsets without it.

    The subsets (N, m) are disjoint. From a table: random parts of the other test cases, as many as
    there are; from a simulator: ``N_FRESH`` new samples. Neither shares a case with what the sets
    were made from.
    """
    X, y, rows, cases, _ = sample_of(experiment, seed, trial)
    at = int(cases[check_case(case, len(cases))])
    n_fits, m = fits_per_case(experiment), experiment.sizes.m
    key = np.random.SeedSequence(seed, spawn_key=(trial, 2, case))
    rng = np.random.default_rng(key)
    if experiment.data.size is not None:
        others = rng.permutation(np.delete(cases, case))
        return X, y, rows, at, others[: n_fits * m].reshape(n_fits, m)
    X_fresh, y_fresh = experiment.data.draw(n_fits * m, rng)
    training = 1 + np.arange(n_fits * m).reshape(n_fits, m)
    X, y = np.concatenate([X[at, None], X_fresh]), np.concatenate([y[at, None], y_fresh])
    return X, y, np.full(len(y), -1), 0, training


def fresh_rng(seed: int, trial: int, case: int, name: str) -> np.random.Generator:
    """The seeds of one algorithm's training runs that are fresh to a case."""
    spawn_key = (trial, 2, case, zlib.crc32(name.encode()))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=spawn_key))


def measured_at(experiment: Experiment, seed: int, trial: int, case: int) -> dict[str, NDArray]:
    """What candidates trained on fresh samples do at one test case, by algorithm."""
    X, y, rows, at, training = fresh_samples(experiment, seed, trial, case)
    parts = [Part("test", training, np.full((len(training), 1), at))]
    found = {}
    for name in experiment.algorithms:
        estimator, inputs = algorithm_and_inputs(experiment, name, X, rows)
        rng = fresh_rng(seed, trial, case, name)
        measured = measure(estimator, judge_of(experiment), inputs, y, parts, rng)
        found[name] = measured.values["test"][:, 0]
    return found


@one_thread()
def case_losses(experiment: Experiment, seed: int, trial: int, case: int) -> dict[str, NDArray]:
    """Losses at one test case of candidates trained on disjoint subsets of m other cases.

    Algorithms share the subsets; each run has its own seed. The share inside the set of the case
    is what happened there, and no promise: the promise is over cases.
    """
    check_modulated(experiment)
    found = measured_at(experiment, seed, trial, case)
    return {name: as_kept(losses) for name, losses in found.items()}
