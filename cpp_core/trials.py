"""One randomized trial: draw data, split, train, compute losses. Pure and seeded.

Trial t of a seed has the same numbers on any number of workers, in any block and on any backend,
and an algorithm's numbers do not depend on which others it competes with: the data come from
``SeedSequence(seed, spawn_key=(t, 0))``, the training runs of an algorithm from
``(t, 1, crc32(name))``. Cases arrive in exchangeable order, so that consecutive rows are random
parts. Nothing here depends on alpha.
"""

import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from cpp_core.datasets import Dataset, register
from cpp_core.experiment import Experiment
from cpp_core.gram import MAX_ROWS, TableGram, shared_gram
from cpp_core.modulation import REGRESSORS, CaseFeatures, LossModel, fit_loss_model
from cpp_core.quadnoise import quadnoise_trial
from cpp_core.splits import training_groups
from cpp_core.symbolic import (
    fit_symbol_model,
    possible_symbols,
    retrained_symbols,
    score_of,
    symbols_at,
    symbols_for,
)
from cpp_core.training import (
    FailedCandidate,
    Failure,
    algorithm_name,
    batch_losses_of,
    losses_of,
    retrained_losses,
    train,
)

Arrays = dict[str, NDArray]

LEVELS = np.arange(1, 200) / 200
"""The grid of levels at which quantile regressions are stored: 0.005 to 0.995."""

MESSAGE_BYTES = 200


def data_rng(seed: int, trial: int) -> np.random.Generator:
    """The generator of a trial's data."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial, 0)))


def algorithm_rng(seed: int, trial: int, name: str) -> np.random.Generator:
    """The generator of one algorithm's training runs in a trial."""
    spawn_key = (trial, 1, zlib.crc32(name.encode()))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=spawn_key))


@lru_cache(maxsize=2)
def table_gram(dataset: Dataset) -> TableGram:
    """The shared kernel matrices of a table."""
    assert dataset.table is not None
    return TableGram(dataset.table[0])


def trial_sample(
    experiment: Experiment, seed: int, trial: int, whole: bool = False
) -> tuple[NDArray, NDArray, NDArray]:
    """The trial's cases, (X, y, rows): n for training and calibration, then those for testing.

    ``rows`` are their numbers in a table, -1 where they are simulated. ``whole`` adds the cases of
    a table's ``test_size`` that fill no test group.
    """
    rng, data = data_rng(seed, trial), experiment.data
    n, n_test = experiment.n or 0, experiment.sizes.test_cases
    if data.table is None:
        first, second = data.draw(n, rng), data.draw(n_test, rng)
        X, y = (np.concatenate(pair) for pair in zip(first, second, strict=True))
        return X, y, np.full(len(y), -1)
    kept = n + (experiment.test_size or 0) if whole else n + n_test
    rows = rng.permutation(len(data.table[1]))[:kept]
    return data.table[0][rows], data.table[1][rows], rows


def algorithm_and_inputs(
    experiment: Experiment, name: str, X: NDArray, rows: NDArray
) -> tuple[Any, NDArray]:
    """An algorithm, untrained, with what it reads of the cases: X, or the rows of a shared kernel.

    ``rows`` are the numbers of the cases in the experiment's table.
    """
    estimator, data = experiment.make_algorithm(name), experiment.data
    if data.table is not None and len(data.table[1]) <= MAX_ROWS:
        shared = shared_gram(estimator, table_gram(data))
        if shared is not None:
            return shared, rows
    return estimator, X


def in_kernels(experiment: Experiment) -> list[str]:
    """The algorithms whose trials the compiled kernels compute whole."""
    covered = (
        experiment.dataset == "quadnoise"
        and experiment.loss == "squared_error"
        and experiment.variant in ("candidate", "z-free")
    )
    return [name for name in experiment.algorithms if covered and name in ("gd", "sgd")]


def run_trial(experiment: Experiment, seed: int, trial: int) -> dict[str, Arrays]:
    """The arrays of one trial, by algorithm.

    All have ``failed`` (how many training runs raised) and ``failure`` (the first message); the
    numeric variants ``calibration`` and ``test`` losses, modulated ones also the predicted ends at
    both, and symbolic sets the scores of what happened and of all symbols.
    """
    compiled = in_kernels(experiment)
    results = _quadnoise(experiment, compiled, seed, trial) if compiled else {}
    if len(compiled) == len(experiment.algorithms):
        return results
    X, y, rows = trial_sample(experiment, seed, trial)
    construct = CONSTRUCTIONS[experiment.variant, experiment.algorithmic]
    for name in experiment.algorithms:
        if name in results:
            continue
        estimator, inputs = algorithm_and_inputs(experiment, name, X, rows)
        failures: list[Failure] = []
        rng = algorithm_rng(seed, trial, name)
        arrays = construct(experiment, estimator, inputs, X, y, rng, failures)
        message = f"{failures[0].algorithm}: {failures[0].message}" if failures else ""
        results[name] = {
            **arrays,
            "failed": np.array(len(failures), dtype=np.int32),
            "failure": np.array(message.encode()[:MESSAGE_BYTES], dtype=f"S{MESSAGE_BYTES}"),
        }
    return results


_LIBRARIES = ThreadpoolController()
"""Once for the process: looking for libraries while another thread imports one may deadlock."""

_changing = Lock()
_limits: list[Any] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """Numerical libraries use one thread until the last of all blocks under way is done."""
    with _changing:
        _limits.append(_limits[0] if _limits else _LIBRARIES.limit(limits=1))
    try:
        yield
    finally:
        with _changing:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()


def run_block(
    experiment: Experiment, seed: int, trials: Sequence[int], table: Dataset | None = None
) -> tuple[dict[str, Arrays], float]:
    """The arrays of several trials, stacked along the first axis, by algorithm; and the seconds.

    ``table`` is a user's own, which another process may not know yet.
    """
    if table is not None:
        register(table)
    start = time.perf_counter()
    with one_thread():  # trials are what runs in parallel; sums must not depend on threads
        done = [run_trial(experiment, seed, trial) for trial in trials]
    stacked = {
        name: {array: np.stack([one[name][array] for one in done]) for array in done[0][name]}
        for name in experiment.algorithms
    }
    return stacked, time.perf_counter() - start


def _quadnoise(
    experiment: Experiment, names: list[str], seed: int, trial: int
) -> dict[str, Arrays]:
    settings = {"d": 2, "noise": "normal", "scale": 2.2, "df": 2.1}
    settings.update(experiment.dataset_settings)
    chosen = dict(experiment.algorithm_settings)
    found = quadnoise_trial(
        seed,
        trial,
        algorithmic=experiment.algorithmic,
        n=experiment.n or 0,
        n_sets=experiment.n_sets,
        n_evaluations=experiment.n_evaluations,
        test_size=experiment.test_size or 0,
        algorithms=[(name, dict(chosen.get(name, ()))) for name in names],
        **settings,  # type: ignore[arg-type]
    )
    results = {}
    for name, losses in found.items():
        message = f"{losses.diverged} runs: the weights diverged" if losses.diverged else ""
        results[name] = {
            "calibration": losses.calibration.reshape(experiment.sizes.k, -1)
            if experiment.n_evaluations > 1
            else losses.calibration.reshape(-1),
            "test": losses.test,
            "failed": np.array(losses.diverged, dtype=np.int32),
            "failure": np.array(message.encode(), dtype=f"S{MESSAGE_BYTES}"),
        }
    return results


def _float32(**arrays: NDArray) -> Arrays:
    return {name: np.asarray(values, dtype=np.float32) for name, values in arrays.items()}


def _fit_once(
    estimator: Any, inputs: NDArray, y: NDArray, rng: np.random.Generator, failures: list[Failure]
) -> Any:
    candidate = train(estimator, inputs, y, rng)
    if isinstance(candidate, FailedCandidate):
        failures.append(Failure(0, algorithm_name(estimator), candidate.message))
    return candidate


def _candidate(
    experiment: Experiment,
    estimator: Any,
    inputs: NDArray,
    X: NDArray,
    y: NDArray,
    rng: np.random.Generator,
    failures: list[Failure],
) -> Arrays:
    """Halves: train, calibrate; then the test cases."""
    n, half = experiment.n or 0, (experiment.n or 0) // 2
    candidate = _fit_once(estimator, inputs[:half], y[:half], rng, failures)
    held_out = np.r_[half : 2 * half, n : len(y)]
    losses = losses_of(experiment.measure, candidate, inputs[held_out], y[held_out])
    return _float32(calibration=losses[:half], test=losses[half:])


def _candidate_batch(
    experiment: Experiment,
    estimator: Any,
    inputs: NDArray,
    X: NDArray,
    y: NDArray,
    rng: np.random.Generator,
    failures: list[Failure],
) -> Arrays:
    n, half, b = experiment.n or 0, (experiment.n or 0) // 2, experiment.batch_size or 1
    sizes = experiment.sizes
    candidate = _fit_once(estimator, inputs[:half], y[:half], rng, failures)
    batches = np.concatenate(
        [
            np.arange(half, half + sizes.k * b).reshape(-1, b),
            np.arange(n, n + sizes.n_test * b).reshape(-1, b),
        ]
    )
    metric, undefined = batch_losses_of(experiment.measure, candidate, inputs, y, batches)
    arrays = _float32(calibration=metric[: sizes.k], test=metric[sizes.k :])
    return {**arrays, "undefined": np.array(undefined, dtype=np.int32)}


def _test_groups(experiment: Experiment, held_out: int) -> tuple[NDArray, NDArray]:
    """Training and held-out rows of the disjoint test groups, behind the n cases."""
    n, sizes = experiment.n or 0, experiment.sizes
    groups = n + np.arange(sizes.n_test * (sizes.m + held_out)).reshape(sizes.n_test, -1)
    return groups[:, held_out:], groups[:, :held_out]


def _z_free(
    experiment: Experiment,
    estimator: Any,
    inputs: NDArray,
    X: NDArray,
    y: NDArray,
    rng: np.random.Generator,
    failures: list[Failure],
) -> Arrays:
    """k groups of m training and b held-out cases; test groups of m and one (or one batch)."""
    held_out = experiment.batch_size or experiment.n_evaluations
    groups = (
        training_groups(np.arange(experiment.n or 0), experiment.n_sets or 1, held_out),
        _test_groups(experiment, experiment.batch_size or 1),
    )
    calibration, test = (
        retrained_losses(estimator, experiment.measure, inputs, y, training, evaluation, rng)
        for training, evaluation in groups
    )
    failures += calibration.failures + test.failures
    losses = calibration.losses if experiment.n_evaluations > 1 else calibration.losses[:, 0]
    arrays = _float32(calibration=losses, test=test.losses[:, 0])
    if experiment.batch_size is not None:
        undefined = calibration.n_undefined + test.n_undefined
        arrays["undefined"] = np.array(undefined, dtype=np.int32)
    return arrays


def loss_model(
    experiment: Experiment,
    X: NDArray,
    y: NDArray,
    losses: NDArray,
    rng: np.random.Generator,
    with_label: bool = True,
) -> tuple[CaseFeatures, LossModel]:
    """The regression of the loss on cases (X, y), with what it sees of a case."""
    assert experiment.modulation is not None
    data = experiment.data
    classes = np.unique(y) if data.task == "classification" else None
    features = CaseFeatures(data.feature_map, classes, with_label)
    regressor = REGRESSORS[experiment.regressor or ""][2]()
    targets = experiment.measure.sign * losses
    model = fit_loss_model(experiment.modulation, regressor, features(X, y), targets, rng)
    return features, model


def predicted(experiment: Experiment, model: LossModel, features: NDArray) -> NDArray:
    """f (n,), or the quantiles at all grid levels (n, 199), of losses with smaller better."""
    if experiment.modulation == "regression":
        return model.ends(features, 0.5, "two-sided")[0]
    return model.quantiles(features, LEVELS.tolist())


Measured = tuple[NDArray, NDArray]
"""Positions of cases in the sample, and the losses that candidates had there."""


def modulated_runs(
    experiment: Experiment,
    estimator: Any,
    inputs: NDArray,
    y: NDArray,
    rng: np.random.Generator,
    failures: list[Failure],
) -> tuple[Measured, Measured, Measured]:
    """Halves TR and CP of k groups each, then the test groups: where, and what was lost there."""
    half, k = (experiment.n or 0) // 2, experiment.n_sets or 1
    groups = (
        training_groups(np.arange(half), k),
        training_groups(np.arange(half, 2 * half), k),
        _test_groups(experiment, 1),
    )
    runs = [
        retrained_losses(estimator, experiment.measure, inputs, y, training, at, rng)
        for training, at in groups
    ]
    failures += [failure for run in runs for failure in run.failures]
    fitted, calibration, test = (
        (at[:, 0], run.losses[:, 0]) for (_, at), run in zip(groups, runs, strict=True)
    )
    return fitted, calibration, test


def modulated_arrays(
    experiment: Experiment,
    X: NDArray,
    y: NDArray,
    fitted: Measured,
    calibration: Measured,
    test_losses: NDArray,
    cases: NDArray,
    rng: np.random.Generator,
    with_label: bool = True,
) -> Arrays:
    """Regress the losses of ``fitted`` on the case; predict at calibration and at ``cases``."""
    at, losses = fitted
    features, model = loss_model(experiment, X[at], y[at], losses, rng, with_label)
    k = len(calibration[0])
    points = np.concatenate([calibration[0], cases])
    ends = predicted(experiment, model, features(X[points], y[points]))
    return _float32(
        calibration=calibration[1],
        test=test_losses,
        calibration_ends=ends[:k],
        test_ends=ends[k:],
    )


def _z_modulated(
    experiment: Experiment,
    estimator: Any,
    inputs: NDArray,
    X: NDArray,
    y: NDArray,
    rng: np.random.Generator,
    failures: list[Failure],
) -> Arrays:
    """TR's losses are regressed; CP calibrates; sets at the test groups' cases."""
    fitted, calibration, (at, test) = modulated_runs(
        experiment, estimator, inputs, y, rng, failures
    )
    model_rng = rng.spawn(1)[0]
    return modulated_arrays(experiment, X, y, fitted, calibration, test, at, model_rng)


def symbolic_arrays(
    experiment: Experiment,
    estimator: Any,
    inputs: NDArray,
    X: NDArray,
    y: NDArray,
    rng: np.random.Generator,
    failures: list[Failure],
    cases: NDArray | None = None,
) -> Arrays:
    """Three parts TR, EV, CP (after a training part for one candidate), then the test cases.

    ``cases`` are positions at which sets are wanted, instead of the test cases.
    """
    n, sizes, positive = experiment.n or 0, experiment.sizes, experiment.positive_class
    if experiment.algorithmic:
        third = n // 3
        groups = [
            training_groups(np.arange(part * third, (part + 1) * third), experiment.n_sets or 1)
            for part in range(3)
        ]
        groups.append(_test_groups(experiment, 1))
        happened = []
        for training, at in groups:
            found, failed = retrained_symbols(estimator, positive, inputs, y, training, at, rng)
            happened.append(found)
            failures += failed
        points = [at[:, 0] for _, at in groups]
    else:
        quarter = sizes.m
        candidate = _fit_once(estimator, inputs[:quarter], y[:quarter], rng, failures)
        points = [np.arange(i * quarter, (i + 1) * quarter) for i in (1, 2, 3)]
        points.append(np.arange(n, n + sizes.n_test))
        happened = [symbols_at(candidate, inputs[p], y[p], positive) for p in points]
    symbols = symbols_for(np.array(experiment.data.classes))
    features = CaseFeatures(experiment.data.feature_map, np.unique(y[points[0]]))
    wanted = points[3] if cases is None else cases
    mapped = [features(X[p], y[p]) for p in (*points[:3], wanted)]
    regressor = REGRESSORS[experiment.regressor or ""][2]()
    model = fit_symbol_model(symbols, mapped[:2], happened[:2], None, regressor, rng.spawn(1)[0])
    calibration, test = (model.log_probabilities(z) for z in mapped[2:])
    test[~possible_symbols(y[wanted], positive, symbols)] = -np.inf
    quantiles = [model.quantiles.quantiles(z, LEVELS.tolist()) for z in mapped[2:]]
    arrays = _float32(
        calibration=score_of(calibration, symbols, happened[2]),
        calibration_ends=quantiles[0],
        test=test,
        test_ends=quantiles[1],
    )
    which = [symbols.index(symbol) for symbol in happened[3]]
    return {**arrays, "test_symbol": np.array(which, dtype=np.int8)}


Construction = Callable[
    [Experiment, Any, NDArray, NDArray, NDArray, np.random.Generator, list[Failure]], Arrays
]
CONSTRUCTIONS: dict[tuple[str, bool], Construction] = {
    ("candidate", False): _candidate,
    ("batch", False): _candidate_batch,
    ("batch", True): _z_free,
    ("z-free", True): _z_free,
    ("z-fixed", True): _z_modulated,
    ("z-variable", True): _z_modulated,
    ("symbolic", False): symbolic_arrays,
    ("symbolic", True): symbolic_arrays,
}
"""What computes the losses of each variant, for one candidate (False) or retrained (True)."""
