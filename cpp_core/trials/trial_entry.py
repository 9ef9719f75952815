"""One algorithm in one trial: the trial's cases, the seeds, and how it is trained on them.

The data come from ``SeedSequence(seed, spawn_key=(t, 0))``, the training runs of an algorithm from
``(t, 1, crc32(name))``, the regression of a pair's difference from ``(t, 4, crc32(name))``: an
algorithm's numbers do not depend on which others it competes with.
"""

import zlib
from dataclasses import dataclass
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.datasets import Dataset
from cpp_core.catalog.losses import LOSSES
from cpp_core.method.evaluation import Loss
from cpp_core.method.measuring import Measured, measure
from cpp_core.method.recipes import Recipe
from cpp_core.method.symbols import Symbols
from cpp_core.method.training import take
from cpp_core.trials.experiment import Experiment

if TYPE_CHECKING:
    from cpp_core.trials.gram import TableGram

Reads = Literal["X", "rows", "frame"]


def data_rng(seed: int, trial: int) -> np.random.Generator:
    """The generator of a trial's data."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(trial, 0)))


def keyed_rng(seed: int, trial: int, purpose: int, name: str) -> np.random.Generator:
    """The generator of one purpose of a trial, for an algorithm or a pair."""
    spawn_key = (trial, purpose, zlib.crc32(name.encode()))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=spawn_key))


def algorithm_rng(seed: int, trial: int, name: str) -> np.random.Generator:
    """The generator of one algorithm's training runs in a trial."""
    return keyed_rng(seed, trial, 1, name)


@lru_cache(maxsize=2)
def table_gram(dataset: Dataset) -> "TableGram":
    """The shared kernel matrices of a table."""
    from cpp_core.trials.gram import TableGram

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
    rows = _shuffled(data, rng)[:kept]
    return data.table[0][rows], data.table[1][rows], rows


def _shuffled(data: Dataset, rng: np.random.Generator) -> NDArray[np.int64]:
    """The rows of a table in the order in which a trial takes them."""
    assert data.table is not None
    return rng.permutation(len(data.table[1]))


def calibration_rows(experiment: Experiment, seed: int, trial: int = 0) -> NDArray[np.int64]:
    """The rows of a table that calibrate in a trial, in the order of its losses; trains nothing."""
    at = next(part.at[:, 0] for part in experiment.layout() if part.role == "calibrate")
    return _shuffled(experiment.data, data_rng(seed, trial))[at]


def algorithm_of(experiment: Experiment, name: str) -> tuple[Any, Reads]:
    """An algorithm, untrained, and what it reads of the cases.

    One that prepares its columns itself reads the frame as it was given; one whose kernel is
    computed once for a table reads rows of that.
    """
    estimator, data = experiment.make_algorithm(name), experiment.data
    if data.frame is not None and ALGORITHMS[name].prepares:
        return estimator, "frame"
    if data.table is not None and getattr(estimator, "by_kernel", False):
        from cpp_core.trials.gram import MAX_ROWS, shared_gram  # compiled: loaded where it is used

        small = len(data.table[1]) <= MAX_ROWS
        shared = shared_gram(estimator, table_gram(data)) if small else None
        if shared is not None:
            return shared, "rows"
    return estimator, "X"


def inputs_of(experiment: Experiment, reads: Reads, X: NDArray, rows: NDArray) -> Any:
    """What an algorithm reads of the cases; ``rows`` are their numbers in a table."""
    if reads == "frame":
        return take(experiment.data.frame, rows)
    return rows if reads == "rows" else X


def algorithm_and_inputs(
    experiment: Experiment, name: str, X: NDArray, rows: NDArray
) -> tuple[Any, NDArray]:
    """An algorithm, untrained, with what it reads of the cases."""
    estimator, reads = algorithm_of(experiment, name)
    return estimator, inputs_of(experiment, reads, X, rows)


class Plan:
    """What all trials of an experiment share, looked up once."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.judge, self.parts = judge_of(experiment), experiment.layout()
        self.recipes: dict[str, tuple[Recipe, Reads]] = {}

    def recipe(self, name: str) -> tuple[Recipe, Reads]:
        """How an algorithm is trained, and what it reads."""
        if name not in self.recipes:
            estimator, reads = algorithm_of(self.experiment, name)
            self.recipes[name] = Recipe(estimator), reads
        return self.recipes[name]


_plans: WeakKeyDictionary[Dataset, tuple[tuple[Any, ...], Plan]] = WeakKeyDictionary()
"""The latest plan of each dataset, for as long as that is known."""


def plan_of(experiment: Experiment) -> Plan:
    """The plan of an experiment; the one that its last block had, unless anything is new.

    Equal settings may mean other things, as one feature and a share of 1.0 of them: their words are
    compared too.
    """
    data = experiment.data
    registered = LOSSES.get(experiment.loss or ""), *map(ALGORITHMS.get, experiment.algorithms)
    known = repr(experiment), *registered
    before, plan = _plans.get(data, ((), None))
    same = before[:1] == known[:1] and len(before) == len(known)
    if plan is None or not same or not all(map(is_, before[1:], known[1:])):
        plan = Plan(experiment)
        _plans[data] = known, plan
    return plan


@dataclass(frozen=True)
class Entry:
    """One algorithm in one trial.

    ``inputs`` is what it reads of the cases (X, y): X, or the rows of a shared kernel.
    """

    name: str
    experiment: Experiment
    plan: Plan
    inputs: NDArray
    X: NDArray
    y: NDArray
    rng: np.random.Generator

    @property
    def estimator(self) -> Any:
        """The algorithm, untrained."""
        return self.plan.recipe(self.name)[0].estimator

    def measured(self) -> Measured:
        """What the candidates of the trial's layout do, all at once where that is known."""
        recipe, _ = self.plan.recipe(self.name)
        return (ALGORITHMS[self.name].measuring() or measure)(
            recipe.estimator, self.plan.judge, self.inputs, self.y, self.plan.parts, self.rng,
            recipe=recipe,
        )  # fmt: skip


def entry_of(
    experiment: Experiment,
    name: str,
    seed: int,
    trial: int,
    sample: tuple[NDArray, ...],
    plan: Plan | None = None,
) -> Entry:
    """One algorithm in a trial, with the trial's cases ``(X, y, rows)``."""
    (X, y, rows), plan = sample, Plan(experiment) if plan is None else plan
    inputs = inputs_of(experiment, plan.recipe(name)[1], X, rows)
    return Entry(name, experiment, plan, inputs, X, y, algorithm_rng(seed, trial, name))


def judge_of(experiment: Experiment) -> Loss | Symbols:
    """What judges a candidate: a loss, or the kind of error."""
    kind = experiment.kind
    return Symbols(experiment.positive_class) if kind.symbolic else experiment.criterion
