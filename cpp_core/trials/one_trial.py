"""One randomized trial: draw data, split, train, compute losses. Pure and seeded.

Trial t of a seed has the same numbers on any number of workers, in any block and on any backend,
whoever else competes. Cases arrive in exchangeable order, so that consecutive rows are random
parts. Nothing here depends on alpha.
"""

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.datasets import usual_settings
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.method.machine import no_machine_failure
from cpp_core.method.measuring import Measured, paired
from cpp_core.method.modulation import LEVELS, CaseFeatures, fit_loss_model, label_classes
from cpp_core.method.symbols import fit_symbol_model, possible_symbols, score_of, symbols_for
from cpp_core.method.threads import one_thread
from cpp_core.trials.block_files import Arrays
from cpp_core.trials.experiment import MINUS, Experiment
from cpp_core.trials.own import Own
from cpp_core.trials.trial_entry import (
    Entry,
    Plan,
    entry_of,
    keyed_rng,
    plan_of,
    trial_sample,
)

MESSAGE_BYTES = 200
FAILURE = np.dtype(f"S{MESSAGE_BYTES}")
LOST = ("calibration", "test")
"""Among the arrays of a trial, the losses."""
SMALLEST = np.finfo(np.float32).tiny

# What is kept of a trial


def _stored(**arrays: NDArray) -> Arrays:
    """The arrays as float32, or float64 where that would not hold them.

    Finite numbers may lie beyond its range; or losses, other than 0, may be so small that it rounds
    them to one another or to 0, which would be a bound that they exceed.
    """
    with np.errstate(over="ignore", under="ignore"):
        short = {name: np.asarray(values, dtype=np.float32) for name, values in arrays.items()}
    if any(_vanish(short[name], arrays[name]) for name in LOST if name in arrays):
        return dict(arrays)
    return {
        name: values if _same_infinities(values, arrays[name]) else arrays[name]
        for name, values in short.items()
    }


def as_kept(losses: NDArray) -> NDArray:
    """Losses in the type in which a trial keeps them."""
    return _stored(test=losses)["test"]


def _same_infinities(short: NDArray, long: NDArray) -> bool:
    """Whether no finite number became infinite."""
    if not short.size or (math.isfinite(short.min()) and math.isfinite(short.max())):
        return True
    return bool((np.isinf(short) == np.isinf(long)).all())


def _vanish(short: NDArray, long: NDArray) -> bool:
    """Whether numbers other than 0 lie below those that float32 holds in full."""
    if not short.size or short.min() >= SMALLEST:  # as most losses are
        return False
    small = np.abs(short) < SMALLEST
    return bool(small.any()) and bool(np.asarray(long)[small].any())


def plain_arrays(experiment: Experiment, measured: Measured) -> Arrays:
    """The losses, of batches also how often the metric was undefined."""
    calibration, test = measured.values["calibrate"], measured.values["test"]
    grouped = experiment.n_evaluations > 1
    arrays = _stored(calibration=calibration if grouped else calibration[:, 0], test=test[:, 0])
    if experiment.batch_size is not None:
        arrays["undefined"] = np.array(measured.n_undefined, dtype=np.int32)
    return arrays


def _mapped(experiment: Experiment, X: NDArray) -> Any:
    """What turns cases into inputs of a regression, learned from the cases that it is fitted to."""
    from cpp_core.learners.table_encoder import fitted_map  # with scikit-learn: where it is used

    return fitted_map(experiment.data.feature_map, X)


def moved_arrays(
    entry: Entry,
    measured: Measured,
    rng: np.random.Generator,
    cases: NDArray | None = None,
    with_label: bool = True,
) -> Arrays:
    """The losses, and what a regression of the loss predicts at the cases of each.

    f (n,), or the quantiles at all grid levels (n, 199), of losses with smaller better. ``cases``
    are positions at which sets are wanted, instead of the test cases.
    """
    experiment, X, y = entry.experiment, entry.X, entry.y
    modulation, sign = experiment.modulation, experiment.criterion.sign
    assert modulation is not None
    fitted, calibration = measured.at["regress"][:, 0], measured.at["calibrate"][:, 0]
    wanted = measured.at["test"][:, 0] if cases is None else cases
    classes = label_classes([entry.estimator], y[fitted])
    mapped = _mapped(experiment, X[fitted])
    features = CaseFeatures(mapped, classes, with_label)
    regressor = REGRESSORS[experiment.regressor or ""].make()
    targets = sign * measured.values["regress"][:, 0]
    inputs = features(X[fitted], y[fitted])
    model = fit_loss_model(modulation, regressor, inputs, targets, rng)
    points = np.concatenate([calibration, wanted])
    at, k = features(X[points], y[points]), len(calibration)
    if modulation == "regression":
        ends = model.ends(at, 0.5, "two-sided")[0]
    else:
        ends = model.quantiles(at, LEVELS.tolist())
    return _stored(
        calibration=measured.values["calibrate"][:, 0],
        test=measured.values["test"][:, 0],
        calibration_ends=ends[:k],
        test_ends=ends[k:],
    )


def symbol_arrays(
    entry: Entry, measured: Measured, rng: np.random.Generator, cases: NDArray | None = None
) -> Arrays:
    """The scores s of what happened and of all symbols, and the regressed quantiles of s."""
    experiment, X, y = entry.experiment, entry.X, entry.y
    symbols = symbols_for(np.array(experiment.data.classes))
    points = {role: at[:, 0] for role, at in measured.at.items()}
    happened = {role: values[:, 0] for role, values in measured.values.items()}
    wanted = points["test"] if cases is None else cases
    mapped = _mapped(experiment, X[points["score"]])
    features = CaseFeatures(mapped, np.unique(y[points["score"]]))
    mapped = {role: features(X[at], y[at]) for role, at in (points | {"test": wanted}).items()}
    regressor = REGRESSORS[experiment.regressor or ""].make()
    model = fit_symbol_model(symbols, mapped, happened, None, regressor, rng)
    likely = {role: model.log_probabilities(mapped[role]) for role in ("calibrate", "test")}
    likely["test"][~possible_symbols(y[wanted], experiment.positive_class, symbols)] = -np.inf
    levels = LEVELS.tolist()
    arrays = _stored(
        calibration=score_of(likely["calibrate"], symbols, happened["calibrate"]),
        calibration_ends=model.quantiles.quantiles(mapped["calibrate"], levels),
        test=likely["test"],
        test_ends=model.quantiles.quantiles(mapped["test"], levels),
    )
    which = [symbols.index(symbol) for symbol in happened["test"]]
    return {**arrays, "test_symbol": np.array(which, dtype=np.int8)}


def arrays_of(entry: Entry, measured: Measured) -> Arrays:
    """What is kept of one algorithm in a trial; a regression has the next seed after the fits."""
    kind = entry.experiment.kind
    if not kind.moves:
        return plain_arrays(entry.experiment, measured)
    arrays = symbol_arrays if kind.symbolic else moved_arrays
    return arrays(entry, measured, entry.rng.spawn(1)[0])


def with_failures(arrays: Arrays, failed: int = 0, message: str = "") -> Arrays:
    """The arrays, with how many training runs raised, and the first message."""
    failure = np.array(_cut(message), dtype=FAILURE)
    return {**arrays, "failed": np.array(failed, dtype=np.int32), "failure": failure}


def _cut(message: str) -> bytes:
    return message.encode()[:MESSAGE_BYTES]


def array_names(experiment: Experiment) -> set[str]:
    """The names of what is kept of an algorithm in a trial."""
    kind, names = experiment.kind, {"calibration", "test", "failed", "failure"}
    if kind.moves:
        names |= {"calibration_ends", "test_ends"}
    elif experiment.batch_size is not None:
        names |= {"undefined"}
    return names | {"test_symbol"} if kind.symbolic else names


# A trial


def in_kernels(experiment: Experiment) -> list[str]:
    """The algorithms whose trials the compiled kernels compute whole."""
    kernel, kind = experiment.data.kernel, experiment.kind
    if kernel is None or kind.moves or kind.batch or not experiment.criterion.squared:
        return []
    return [name for name in experiment.algorithms if ALGORITHMS[name].kernel == kernel]


def run_trial(
    experiment: Experiment, seed: int, trial: int, plan: Plan | None = None
) -> dict[str, Arrays]:
    """The arrays of one trial, by algorithm, and by pair where sets move with the case.

    All have ``failed`` (how many training runs raised) and ``failure`` (the first message); the
    numeric variants ``calibration`` and ``test`` losses, modulated ones also the predicted ends at
    both, and symbolic sets the scores of what happened and of all symbols.
    """
    compiled = in_kernels(experiment)
    results: dict[str, Arrays] = {}
    if compiled:
        alone = _quadnoise(experiment, compiled, seed, [trial])
        results = {name: {own: a[0] for own, a in arrays.items()} for name, arrays in alone.items()}
    if len(compiled) == len(experiment.algorithms):
        return results
    plan = Plan(experiment) if plan is None else plan
    sample = trial_sample(experiment, seed, trial)
    measured: dict[str, Measured] = {}
    for name in experiment.algorithms:
        if name not in results:
            entry = entry_of(experiment, name, seed, trial, sample, plan)
            own = measured[name] = entry.measured()
            first = next((f"{f.algorithm}: {f.message}" for f in own.failures), "")
            results[name] = with_failures(arrays_of(entry, own), len(own.failures), first)
    for pair in experiment.entries[len(experiment.algorithms) :]:
        both = paired(*(measured[name] for name in pair.split(MINUS)))
        results[pair] = with_failures(moved_arrays(entry, both, keyed_rng(seed, trial, 4, pair)))
    return results


def ready_plan(experiment: Experiment) -> Plan:
    """What trials share, with all that trains: the libraries of the estimators are then loaded."""
    plan, compiled = plan_of(experiment), in_kernels(experiment)
    for name in experiment.algorithms:
        if name not in compiled:
            plan.recipe(name)
    return plan


def run_block(
    experiment: Experiment, seed: int, trials: Sequence[int], own: Own | None = None
) -> tuple[dict[str, Arrays], float]:
    """The arrays of several trials, stacked along the first axis, by algorithm; and the seconds.

    ``own`` is what another process may not know yet.
    """
    if own is not None:
        own.learn()
    start = time.perf_counter()
    with no_machine_failure():
        compiled = in_kernels(experiment)
        if len(compiled) == len(experiment.algorithms):
            with one_thread():
                found = _quadnoise(experiment, compiled, seed, trials)
            return found, time.perf_counter() - start
        plan = ready_plan(experiment)
        with one_thread():  # trials run in parallel; sums must not depend on threads
            done = [run_trial(experiment, seed, trial, plan) for trial in trials]
    stacked = {
        name: {array: np.stack([one[name][array] for one in done]) for array in done[0][name]}
        for name in experiment.entries
    }
    return stacked, time.perf_counter() - start


def _quadnoise(
    experiment: Experiment, names: list[str], seed: int, trials: Sequence[int]
) -> dict[str, Arrays]:
    """Trials of algorithms that are compiled whole, stacked along the first axis."""
    from cpp_core.trials.quadnoise import quadnoise_trials  # compiled: loaded where it is used

    settings = usual_settings(experiment.dataset) | dict(experiment.dataset_settings)
    chosen = dict(experiment.algorithm_settings)
    found = quadnoise_trials(
        seed,
        trials,
        algorithmic=experiment.algorithmic,
        n=experiment.n or 0,
        n_sets=experiment.n_sets,
        n_evaluations=experiment.n_evaluations,
        calibration_share=experiment.calibration_share,
        test_size=experiment.test_size or 0,
        algorithms=[(name, dict(chosen.get(name, ()))) for name in names],
        **settings,
    )
    results = {}
    for name, losses in found.items():
        failed = losses.diverged.tolist()
        messages = [f"{count} runs: the weights diverged" if count else "" for count in failed]
        shape = (experiment.sizes.k, -1) if experiment.n_evaluations > 1 else (-1,)
        calibration = losses.calibration.reshape(len(trials), *shape)
        arrays = _stored(calibration=calibration, test=losses.test)
        results[name] = {
            **arrays,
            "failed": np.array(failed, dtype=np.int32),
            "failure": np.array([_cut(message) for message in messages], dtype=FAILURE),
        }
    return results
