"""From an estimator and a sample to a candidate, always: learning algorithms made total.

An algorithm returns a candidate for every non-empty sample. A sample with one class gives a
constant predictor; a fit that raises gives a failed candidate, which has the worst loss everywhere.
Failed fits are never redrawn or dropped: the sample of the future is not chosen by its success.
Only a failure of the machine is no candidate: it raises a MachineError.
"""

import copy
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.method.machine import check_machine
from cpp_core.method.recipes import Recipe

Sample = tuple[Any, NDArray | None]

BEFORE_FIT: ContextVar[Callable[[], None] | None] = ContextVar("before_fit", default=None)
"""Called before each fit, where it is set: to count fits, or to raise and stop the work."""


class FailedFitWarning(UserWarning):
    """Some training runs raised an error and were counted with the worst loss."""


@dataclass(frozen=True)
class Failure:
    """One training run that raised: which run of which algorithm, and what it said."""

    run: int
    algorithm: str
    message: str


@dataclass(frozen=True)
class FailedCandidate:
    """What a fit that raised leaves behind: a candidate with the worst loss everywhere."""

    message: str


def take(X: Any, rows: NDArray) -> Any:
    """Rows of an array, a sparse matrix or a data frame, by position."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def check_sample(X: Any, y: Any, what: str = "the sample") -> Sample:
    """Rows that can be indexed, and labels of the same number without NaN or infinity.

    What X may hold is the estimator's affair.
    """
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) < 1 or X.shape[0] == 0:
        raise ValueError(f"X of {what} has no rows; at least one case is needed.")
    if y is None:
        return X, None
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1 or len(y) != X.shape[0]:
        raise ValueError(
            f"y of {what} has shape {y.shape}, but one label for each of the {X.shape[0]} rows of "
            "X is needed."
        )
    if y.dtype.kind == "f":
        missing = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        missing = np.array([v is None or v != v for v in y], dtype=bool)
        kinds = {isinstance(v, str) for v in y[~missing]}
        if len(kinds) == 2:
            raise ValueError(f"y of {what} mixes text and numbers; make all labels text.")
    else:
        missing = np.zeros(len(y), dtype=bool)
    if missing.any():
        raise ValueError(
            f"y of {what} is NaN, missing or infinite in {missing.sum()} of {len(y)} rows (the "
            f"first is row {missing.argmax()}); remove these rows or fill in their labels."
        )
    return X, y


def algorithm_name(estimator: Any) -> str:
    """The class of an estimator; of a pipeline, that of its last step."""
    from sklearn.pipeline import Pipeline

    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return type(last).__name__


def reseeded(estimator: Any, rng: np.random.Generator, recipe: Recipe | None = None) -> Any:
    """An untrained copy whose every ``random_state``, nested ones too, has its own new seed.

    ``clone`` alone would copy one seed into all training runs; their losses would then not be
    exchangeable with those of a future run. ``recipe`` is the estimator's, where it is known.
    """
    if not hasattr(estimator, "get_params"):
        return copy.deepcopy(estimator)
    known = Recipe(estimator) if recipe is None else recipe
    seeds = {name: int(rng.integers(2**31)) for name in known.names}
    return known.seed(known.copy(), seeds)


def train(
    estimator: Any,
    X: Any,
    y: NDArray | None,
    rng: np.random.Generator,
    recipe: Recipe | None = None,
) -> Any:
    """A candidate from a non-empty sample, whatever the fit does (see the module's text).

    ``recipe`` as in ``reseeded``.
    """
    from sklearn.base import is_classifier

    before = BEFORE_FIT.get()
    if before is not None:
        before()
    if y is not None and y[0] == y[-1] and (y == y[0]).all() and is_classifier(estimator):
        from cpp_core.method.constant import ConstantClassifier

        return ConstantClassifier().fit(X, y)
    try:
        fresh = reseeded(estimator, rng, recipe)
        fitted = fresh.fit(X) if y is None else fresh.fit(X, y)
        if recipe is not None:
            recipe.checked = True
        return fresh if fitted is None else fitted
    except Exception as error:  # any error of any estimator is a failed candidate
        check_machine(error)
        return FailedCandidate(f"{type(error).__name__}: {error}")


def failure_of(estimator: Any, candidate: Any, run: int = 0) -> list[Failure]:
    """The failure that left this candidate behind, if it is one."""
    if not isinstance(candidate, FailedCandidate):
        return []
    return [Failure(run, algorithm_name(estimator), candidate.message)]


def sample_rows(X: Any, y: NDArray | None, rows: NDArray) -> Sample:
    """The cases at these rows."""
    return take(X, rows), None if y is None else y[rows]


def spawned_for(names: list[str], rng: np.random.Generator, n: int) -> list[np.random.Generator]:
    """``rng.spawn(n)``, one for each training run; n times ``rng`` where no run draws from it.

    Runs draw where the algorithm has ``names`` of random parameters. To make a generator takes as
    long as a small fit. The count of what was spawned goes on all the same, so that what is spawned
    next does not depend on the algorithm.
    """
    if names:
        return rng.spawn(n)
    return [rng] * len(rng.bit_generator.seed_seq.spawn(n))  # type: ignore[attr-defined]


def tell_failures(failures: list[Failure], n_runs: int) -> None:
    """Warn that runs failed: how many, and the first complaint."""
    if failures:
        first = failures[0]
        warnings.warn(
            f"{len(failures)} of {n_runs} training runs raised an error and count with the worst "
            f"loss; the first: run {first.run} of {first.algorithm}: {first.message}",
            FailedFitWarning,
            stacklevel=3,
        )
