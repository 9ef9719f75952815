"""How the cases of a trial are spent: the losses of each variant, algorithm by algorithm.

Cases arrive in exchangeable order, so that consecutive rows are random parts: first n for training
and calibration, then those for testing. Nothing here depends on alpha.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.method.modulation import LEVELS, CaseFeatures, LossModel, fit_loss_model
from cpp_core.method.splits import training_groups
from cpp_core.method.symbols import (
    fit_symbol_model,
    possible_symbols,
    retrained_symbols,
    score_of,
    symbols_at,
    symbols_for,
)
from cpp_core.method.training import (
    FailedCandidate,
    Failure,
    RetrainedLosses,
    algorithm_name,
    batch_losses_of,
    losses_of,
    retrained_losses,
    train,
)
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.store import Arrays


@dataclass(frozen=True)
class Run:
    """One algorithm in one trial.

    ``inputs`` is what it reads of the cases: X, or the rows of a shared kernel. ``failures`` fills
    up with the training runs that raise.
    """

    experiment: Experiment
    estimator: Any
    inputs: NDArray
    X: NDArray
    y: NDArray
    rng: np.random.Generator
    failures: list[Failure] = field(default_factory=list)

    @property
    def n(self) -> int:
        """Cases for training and calibration."""
        return self.experiment.n or 0

    @property
    def k(self) -> int:
        """Training subsets of each part."""
        return self.experiment.n_sets or 1


def _float32(**arrays: NDArray) -> Arrays:
    return {name: np.asarray(values, dtype=np.float32) for name, values in arrays.items()}


def _fit_once(run: Run, size: int) -> Any:
    """A candidate of the first cases."""
    candidate = train(run.estimator, run.inputs[:size], run.y[:size], run.rng)
    if isinstance(candidate, FailedCandidate):
        run.failures.append(Failure(0, algorithm_name(run.estimator), candidate.message))
    return candidate


def _candidate(run: Run) -> Arrays:
    """Halves: train, calibrate; then the test cases."""
    n, half = run.n, run.n // 2
    candidate = _fit_once(run, half)
    held_out = np.r_[half : 2 * half, n : len(run.y)]
    losses = losses_of(run.experiment.measure, candidate, run.inputs[held_out], run.y[held_out])
    return _float32(calibration=losses[:half], test=losses[half:])


def _candidate_batch(run: Run) -> Arrays:
    n, half, b, sizes = run.n, run.n // 2, run.experiment.batch_size or 1, run.experiment.sizes
    candidate = _fit_once(run, half)
    batches = np.concatenate(
        [
            np.arange(half, half + sizes.k * b).reshape(-1, b),
            np.arange(n, n + sizes.n_test * b).reshape(-1, b),
        ]
    )
    measure = run.experiment.measure
    metric, undefined = batch_losses_of(measure, candidate, run.inputs, run.y, batches)
    arrays = _float32(calibration=metric[: sizes.k], test=metric[sizes.k :])
    return {**arrays, "undefined": np.array(undefined, dtype=np.int32)}


def _test_groups(experiment: Experiment, held_out: int) -> tuple[NDArray, NDArray]:
    """Training and held-out rows of the disjoint test groups, behind the n cases."""
    n, sizes = experiment.n or 0, experiment.sizes
    groups = n + np.arange(sizes.n_test * (sizes.m + held_out)).reshape(sizes.n_test, -1)
    return groups[:, held_out:], groups[:, :held_out]


def _z_free(run: Run) -> Arrays:
    """k groups of m training and b held-out cases; test groups of m and one (or one batch)."""
    experiment = run.experiment
    held_out = experiment.batch_size or experiment.n_evaluations
    groups = (
        training_groups(np.arange(run.n), run.k, held_out),
        _test_groups(experiment, experiment.batch_size or 1),
    )
    calibration, test = (_retrained(run, *rows) for rows in groups)
    losses = calibration.losses if experiment.n_evaluations > 1 else calibration.losses[:, 0]
    arrays = _float32(calibration=losses, test=test.losses[:, 0])
    if experiment.batch_size is not None:
        undefined = calibration.n_undefined + test.n_undefined
        arrays["undefined"] = np.array(undefined, dtype=np.int32)
    return arrays


def _retrained(run: Run, training: NDArray, evaluation: NDArray) -> RetrainedLosses:
    found = retrained_losses(
        run.estimator, run.experiment.measure, run.inputs, run.y, training, evaluation, run.rng
    )
    run.failures.extend(found.failures)
    return found


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
    regressor = REGRESSORS[experiment.regressor or ""].make()
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


def modulated_runs(run: Run) -> tuple[Measured, Measured, Measured]:
    """Halves TR and CP of k groups each, then the test groups: where, and what was lost there."""
    half = run.n // 2
    groups = (
        training_groups(np.arange(half), run.k),
        training_groups(np.arange(half, 2 * half), run.k),
        _test_groups(run.experiment, 1),
    )
    fitted, calibration, test = (
        (at[:, 0], _retrained(run, training, at).losses[:, 0]) for training, at in groups
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


def _z_modulated(run: Run) -> Arrays:
    """TR's losses are regressed; CP calibrates; sets at the test groups' cases."""
    fitted, calibration, (at, test) = modulated_runs(run)
    rng = run.rng.spawn(1)[0]
    return modulated_arrays(run.experiment, run.X, run.y, fitted, calibration, test, at, rng)


def symbolic_arrays(run: Run, cases: NDArray | None = None) -> Arrays:
    """Three parts TR, EV, CP (after a training part for one candidate), then the test cases.

    ``cases`` are positions at which sets are wanted, instead of the test cases.
    """
    experiment, inputs, X, y, rng = run.experiment, run.inputs, run.X, run.y, run.rng
    n, sizes, positive = run.n, experiment.sizes, experiment.positive_class
    if experiment.algorithmic:
        third = n // 3
        groups = [
            training_groups(np.arange(part * third, (part + 1) * third), run.k) for part in range(3)
        ]
        groups.append(_test_groups(experiment, 1))
        happened = []
        for training, at in groups:
            found, failed = retrained_symbols(run.estimator, positive, inputs, y, training, at, rng)
            happened.append(found)
            run.failures.extend(failed)
        points = [at[:, 0] for _, at in groups]
    else:
        quarter = sizes.m
        candidate = _fit_once(run, quarter)
        points = [np.arange(i * quarter, (i + 1) * quarter) for i in (1, 2, 3)]
        points.append(np.arange(n, n + sizes.n_test))
        happened = [symbols_at(candidate, inputs[p], y[p], positive) for p in points]
    symbols = symbols_for(np.array(experiment.data.classes))
    features = CaseFeatures(experiment.data.feature_map, np.unique(y[points[0]]))
    wanted = points[3] if cases is None else cases
    mapped = [features(X[p], y[p]) for p in (*points[:3], wanted)]
    regressor = REGRESSORS[experiment.regressor or ""].make()
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


CONSTRUCTIONS: dict[tuple[str, bool], Callable[[Run], Arrays]] = {
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
