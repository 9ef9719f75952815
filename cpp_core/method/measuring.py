"""From a layout to losses: the one place that trains for a construction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.method.constructions import Part, Role
from cpp_core.method.evaluation import Loss, evaluate, evaluate_batch
from cpp_core.method.splits import Indices
from cpp_core.method.symbols import Symbols, symbols_at
from cpp_core.method.training import (
    FailedCandidate,
    Failure,
    difference,
    failure_of,
    retrain,
    sample_rows,
    take,
    train,
)


@dataclass(frozen=True)
class Measured:
    """What happened in each part of a layout, by role.

    Attributes
    ----------
    values : dict of arrays (g, b)
        Losses; of a metric on batches (g, 1), the worst value where it is undefined; or symbols.
    at : dict of arrays (g, b)
        The rows where that happened.
    failures : list of Failure
        Fits that raised, counted with the worst loss.
    n_undefined : int
        Batches on which the metric was undefined.
    """

    values: dict[Role, NDArray]
    at: dict[Role, Indices]
    failures: list[Failure]
    n_undefined: int


def measure(
    estimator: Any,
    loss: Loss | Symbols,
    X: Any,
    y: NDArray | None,
    parts: Sequence[Part],
    rng: np.random.Generator,
    candidate: Any = None,
) -> Measured:
    """Train what the layout says, each candidate with a seed of its own, and judge it there.

    One candidate that serves several parts is trained once, unless it is given, and judged at all
    its rows at once.
    """
    failures: list[Failure] = []
    found: list[NDArray] = []
    if parts[0].training.ndim == 1:
        if candidate is None:
            candidate = train(estimator, *sample_rows(X, y, parts[0].training), rng)
            failures += failure_of(estimator, candidate)
        at = np.concatenate([part.at for part in parts])
        ends = np.cumsum([len(part.at) for part in parts])
        found = np.split(observed(loss, candidate, X, y, at), ends[:-1])
    else:
        for part in parts:
            candidates = retrain(estimator, X, y, part.training, rng, failures)
            pairs = zip(candidates, part.at, strict=True)
            found.append(np.concatenate([observed(loss, c, X, y, at[None]) for c, at in pairs]))
    n_undefined = 0
    if isinstance(loss, Loss) and loss.batch:
        n_undefined = int(sum(np.isnan(values).sum() for values in found))
        found = [np.where(np.isnan(values), loss.worst, values) for values in found]
    at_role = {part.role: part.at for part in parts}
    return Measured(dict(zip(at_role, found, strict=True)), at_role, failures, n_undefined)


def paired(first: Measured, second: Measured) -> Measured:
    """The difference l(first) - l(second) on the same rows of every part, a loss like any other."""
    return Measured(
        {role: difference(own, second.values[role]) for role, own in first.values.items()},
        first.at,
        [*first.failures, *second.failures],
        first.n_undefined + second.n_undefined,
    )


def observed(
    loss: Loss | Symbols, candidate: Any, X: Any, y: NDArray | None, at: Indices
) -> NDArray:
    """What a candidate does at rows (g, b): losses, symbols, or a metric on each row, (g, 1).

    A failed one has the worst loss everywhere; a metric is NaN where it is undefined.
    """
    if isinstance(loss, Symbols):
        assert y is not None  # a symbol compares a prediction with a label
        rows = at.ravel()
        found = symbols_at(candidate, take(X, rows), y[rows], loss.positive_class)
        return found.reshape(at.shape)
    shape = (len(at), 1) if loss.batch else at.shape
    if isinstance(candidate, FailedCandidate):
        return np.full(shape, loss.worst)
    if loss.batch:
        metric = [evaluate_batch(loss, candidate, *sample_rows(X, y, rows)) for rows in at]
        return np.array(metric).reshape(shape)
    return evaluate(loss, candidate, *sample_rows(X, y, at.ravel())).reshape(shape)
