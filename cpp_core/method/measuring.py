"""From a layout to losses: the one place that trains for a construction."""

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.method.constructions import Part, Role
from cpp_core.method.evaluation import Loss, difference, evaluate, evaluate_batch
from cpp_core.method.recipes import Recipe
from cpp_core.method.splits import Indices
from cpp_core.method.symbols import Symbols, symbols_at
from cpp_core.method.training import (
    FailedCandidate,
    Failure,
    Sample,
    failure_of,
    sample_rows,
    spawned_for,
    take,
    train,
)

SHARES = 4
"""Shares of the training runs for each worker: the last ones to end leave others idle shortly."""


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
    recipe: Recipe | None = None,
    n_jobs: int | None = 1,
) -> Measured:
    """Train what the layout says, each candidate with a seed of its own, and judge it there.

    One candidate that serves several parts is trained once, unless it is given, and judged at all
    its rows at once. Those that are retrained share out among ``n_jobs`` workers, by joblib's
    convention: the numbers are the same for any number. ``recipe`` is the estimator's, where it is
    known already.
    """
    failures: list[Failure] = []
    found: list[NDArray] = []
    if parts[0].training.ndim == 1:
        with nullcontext() if recipe is None else recipe.trusted(X, y):
            if candidate is None:
                candidate = train(estimator, *sample_rows(X, y, parts[0].training), rng, recipe)
                failures += failure_of(estimator, candidate)
            at = np.concatenate([part.at for part in parts])
            ends = np.cumsum([len(part.at) for part in parts])
            found = np.split(observed(loss, candidate, X, y, at), ends[:-1])
    else:
        known = Recipe(estimator) if recipe is None else recipe
        for part in parts:
            generators = spawned_for(known.names, rng, len(part.training))
            values, raised = retrained(known, loss, (X, y), part, generators, n_jobs)
            found.append(values)
            failures += raised
    return noted(loss, parts, found, failures)


def noted(
    loss: Loss | Symbols, parts: Sequence[Part], found: list[NDArray], failures: list[Failure]
) -> Measured:
    """What was found in each part, with the worst value where a metric is undefined."""
    n_undefined = 0
    if isinstance(loss, Loss) and loss.batch:
        n_undefined = int(sum(np.isnan(values).sum() for values in found))
        found = [np.where(np.isnan(values), loss.worst, values) for values in found]
    at_role = {part.role: part.at for part in parts}
    return Measured(dict(zip(at_role, found, strict=True)), at_role, failures, n_undefined)


Outcome = tuple[NDArray, list[Failure]]
"""What the candidates of some training runs do, and the runs that raised."""


def retrained(
    recipe: Recipe,
    loss: Loss | Symbols,
    sample: Sample,
    part: Part,
    generators: Sequence[np.random.Generator],
    n_jobs: int | None = 1,
) -> Outcome:
    """What a candidate for every row of ``part.training`` does, each with its own seed."""
    k = len(part.training)
    n_workers = 1
    if n_jobs != 1:
        from joblib import Parallel, delayed, effective_n_jobs

        n_workers = min(effective_n_jobs(n_jobs), k)
    if n_workers == 1:
        return _judged(recipe, loss, sample, part, generators)

    def share(runs: NDArray) -> Any:
        """The work of some runs, with the cases that it needs alone."""
        m = part.training.shape[1]
        rows = np.hstack([part.training[runs], part.at[runs]])
        here = np.arange(rows.size).reshape(rows.shape)
        own = Part(part.role, here[:, :m], here[:, m:])
        cases = sample_rows(*sample, rows.ravel())
        return delayed(_judged)(
            recipe, loss, cases, own, [generators[run] for run in runs], int(runs[0])
        )

    shares = np.array_split(np.arange(k), min(k, SHARES * n_workers))
    done = Parallel(n_jobs=n_jobs, batch_size=1)(share(runs) for runs in shares)
    return np.concatenate([values for values, _ in done]), [f for _, own in done for f in own]


def _judged(
    recipe: Recipe,
    loss: Loss | Symbols,
    sample: Sample,
    part: Part,
    generators: Sequence[np.random.Generator],
    first: int = 0,
) -> Outcome:
    """Train and judge one after the other; ``first`` is the number of the first run.

    Numerical libraries use one thread: sums must not depend on how many there are.
    """
    from cpp_core.method.threads import one_thread  # needs the libraries of the estimator

    (X, y), failures, found = sample, [], []
    with ExitStack() as stack:
        stack.enter_context(one_thread())
        trusting = False
        for run, (rows, at, rng) in enumerate(zip(part.training, part.at, generators, strict=True)):
            if recipe.checked and not trusting:
                stack.enter_context(recipe.trusted(X, y))
                trusting = True
            candidate = train(recipe.estimator, *sample_rows(X, y, rows), rng, recipe)
            failures += failure_of(recipe.estimator, candidate, first + run)
            found.append(observed(loss, candidate, X, y, at[None]))
    return np.concatenate(found), failures


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
