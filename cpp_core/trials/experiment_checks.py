"""What an experiment must be: refused with the reason where it cannot work, else filled in."""

import math
from typing import TYPE_CHECKING, Any

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.losses import USUAL_LOSSES, USUAL_METRICS, suits
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.checks import check_count, lookup, probability
from cpp_core.method.evaluation import check_labels
from cpp_core.method.splits import HALF
from cpp_core.trials.usual_sizes import usual_n, usual_sets

if TYPE_CHECKING:
    from cpp_core.trials.experiment import Experiment

MAX_ALGORITHMS = 6

SHARES = (0.1, 0.9)
"""The smallest and the greatest share of calibration that can be asked for."""


def fill(experiment: "Experiment", name: str, value: Any) -> None:
    """Give a field of an experiment that is being made its value; later it is frozen."""
    object.__setattr__(experiment, name, value)


def check_experiment(experiment: "Experiment") -> None:
    """Refuse what cannot work, and fill in what was left out, which later checks then read."""
    lookup(experiment.variant, VARIANTS, "variant")
    _check_algorithms(experiment)
    _check_loss(experiment)
    _check_variant(experiment)
    _check_sizes(experiment)


def _check_algorithms(experiment: "Experiment") -> None:
    data, chosen = experiment.data, dict(experiment.algorithm_settings)
    if not 1 <= len(experiment.algorithms) <= MAX_ALGORITHMS:
        raise ValueError(
            f"{len(experiment.algorithms)} algorithms were given; pick 1 to {MAX_ALGORITHMS}."
        )
    if len(set(experiment.algorithms)) < len(experiment.algorithms):
        raise ValueError(f"An algorithm is named twice in {experiment.algorithms}; name each once.")
    for name in experiment.algorithms:
        algorithm = lookup(name, ALGORITHMS, "algorithm")
        if data.task not in algorithm.tasks:
            raise ValueError(
                f"{algorithm.label} does {' and '.join(algorithm.tasks)}, but {data.label} is "
                f"a {data.task}; pick another algorithm or dataset."
            )
        if chosen.get(name) or algorithm.responses is None:  # others are known to work
            experiment.make_algorithm(name)
    labels = [ALGORITHMS[name].label for name in experiment.algorithms]
    twice = next((own for own in labels if labels.count(own) > 1), None)
    if twice is not None:
        raise ValueError(f"Two algorithms are called {twice!r}; give each a name of its own.")
    for name in chosen:
        lookup(name, ALGORITHMS, "algorithm")


def _check_loss(experiment: "Experiment") -> None:
    data = experiment.data
    if experiment.kind.symbolic:
        if data.task != "classification":
            raise ValueError(f"Kinds of error need a classification; {data.label} has none.")
        if experiment.loss is not None:
            raise ValueError("The symbolic variant has its own symbols: leave the loss out.")
        if experiment.positive_class is None:
            fill(experiment, "positive_class", data.classes[-1])
        if experiment.positive_class not in data.classes:
            raise ValueError(
                f"{experiment.positive_class!r} is not a class of {data.label}; choose one of "
                f"{', '.join(map(repr, data.classes))}."
            )
        return
    if experiment.loss is None:
        usual = USUAL_METRICS if experiment.kind.batch else USUAL_LOSSES
        fill(experiment, "loss", usual[data.task])
    loss = experiment.criterion
    if not suits(loss, data.task, loss.batch):
        raise ValueError(
            f"The loss {loss.name} is for a {loss.task}, but {data.label} is a {data.task}; "
            "pick another loss."
        )
    if not suits(loss, data.task, experiment.kind.batch):
        needed = "a metric on a batch" if experiment.kind.batch else "a loss per case"
        raise ValueError(
            f"The variant {experiment.variant} needs {needed}, which {loss.name} is not."
        )
    check_labels(loss, data.classes, data.label)
    settings = dict(experiment.algorithm_settings)
    for name in experiment.algorithms:
        algorithm, own = ALGORITHMS[name], dict(settings.get(name, ()))
        if loss.response and not algorithm.answers(loss.response, data.task, **own):
            raise ValueError(
                f"{algorithm.label} has no {loss.response}, which the loss {loss.name} "
                "needs; pick another loss or algorithm."
            )


def _check_variant(experiment: "Experiment") -> None:
    kind = experiment.kind
    if kind.retrains is False and experiment.n_sets is not None:
        raise ValueError(f"The {experiment.variant} variant trains once: leave n_sets out.")
    if experiment.n_sets is not None:
        check_count(experiment.n_sets, "n_sets")
    if check_count(experiment.n_evaluations, "n_evaluations") > 1 and not kind.grouped:
        raise ValueError("n_evaluations above 1 is for the z-free variant.")
    if kind.batch:
        if experiment.batch_size is None:
            fill(experiment, "batch_size", 10)
        check_count(experiment.batch_size or 0, "batch_size")
    elif experiment.batch_size is not None:
        raise ValueError("batch_size is for the batch variant; leave it out.")
    if not kind.symbolic and experiment.positive_class is not None:
        raise ValueError("positive_class is for the symbolic variant; leave it out.")
    if kind.regresses is None:
        if experiment.regressor is not None:
            raise ValueError(f"The variant {experiment.variant} regresses nothing: no regressor.")
        return
    suited = {r.name: r for r in REGRESSORS.values() if r.modulation == kind.regresses}
    if experiment.regressor is None:
        fill(experiment, "regressor", next(iter(suited)))
    lookup(experiment.regressor or "", suited, f"{kind.regresses} regressor")


def _check_sizes(experiment: "Experiment") -> None:
    data, size, kind = experiment.data, experiment.data.size, experiment.kind
    if experiment.n is None:
        fill(experiment, "n", usual_n(data))
    n = check_count(experiment.n, "n", 2)  # type: ignore[arg-type]
    _check_share(experiment)
    if kind.retrains and experiment.n_sets is None:
        held_out, share = experiment.n_evaluations, experiment.calibration_share
        fill(experiment, "n_sets", usual_sets(experiment.variant, n, held_out, share))
    if experiment.test_size is None:
        simulated = 250 if experiment.algorithmic else 2500
        fill(experiment, "test_size", simulated if size is None else max(size - n, 1))
    test_size = check_count(experiment.test_size, "test_size")  # type: ignore[arg-type]
    if size is not None and n + test_size > size:
        raise ValueError(
            f"n = {n} cases and {test_size} to test with make {n + test_size}, but "
            f"{data.label} has {size}; ask for fewer."
        )
    sizes, batch_size = experiment.sizes, experiment.batch_size or 1
    if sizes.k < 1 or sizes.m < 1:
        exact = probability(experiment.calibration_share, "calibration_share")
        least = (kind.n_parts + 1) * math.ceil(batch_size / (2 * exact))
        raise ValueError(
            f"n = {n} cases leave nothing to calibrate with in the {experiment.variant} variant; "
            f"at least {least} are needed."
        )
    if sizes.n_test < 1:
        needed = sizes.m + batch_size if experiment.algorithmic else experiment.batch_size
        raise ValueError(
            f"{test_size} to test with leave no test loss; at least {needed} are needed (or a "
            "greater n_sets, which makes training subsets smaller)."
        )


def _check_share(experiment: "Experiment") -> None:
    (low, high), kind = SHARES, experiment.kind
    share = float(probability(experiment.calibration_share, "calibration_share"))
    if not low <= share <= high:
        raise ValueError(f"calibration_share must be from {low} to {high}, not {share:g}.")
    if share != HALF and not kind.divides(bool(kind.retrains) or experiment.algorithmic):
        raise ValueError(
            f"The variant {experiment.variant} trains anew for every loss: n_sets says how the "
            "cases are spent; leave calibration_share out."
        )
    fill(experiment, "calibration_share", share)
