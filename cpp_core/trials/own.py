"""What an experiment uses that this process alone knows, to be told to its workers."""

import pickle
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import cloudpickle

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.datasets import OWN, Dataset, forget, register
from cpp_core.catalog.losses import LOSSES, OFFERED
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.trial_entry import table_gram

_tables: list[str] = []
_losses: set[str] = set()
"""The table and the losses that this process was told of; what it is told later takes their place.
"""


@dataclass(frozen=True)
class Own:
    """A user's table, and what else was registered here: algorithms and a loss, as bytes.

    The bytes hold classes of a prompt, or of a file of one's own, whole; only a parent's are read.
    """

    table: Dataset | None = None
    rest: bytes = b""

    def learn(self) -> None:
        """Make them known in this process; what it knows already stays, with what belongs to it."""
        if self.table is not None and self.table.name not in OWN:
            unlearn()  # a worker serves one run at a time, and keeps no older table
            register(self.table)
            _tables.append(self.table.name)
        if not self.rest:
            return
        algorithms, loss = _loaded(self.rest)
        for algorithm in algorithms:
            known = ALGORITHMS.get(algorithm.name)
            if known is None or known.digest != algorithm.digest:
                ALGORITHMS[algorithm.name] = algorithm
        if loss is not None and (loss.name not in LOSSES or loss.name in _losses):
            LOSSES[loss.name] = loss
            _losses.add(loss.name)


@lru_cache(maxsize=2)
def _loaded(content: bytes) -> Any:
    return pickle.loads(content)


def unlearn() -> None:
    """Forget the table that this process was told of, and the kernel matrices of its rows."""
    if _tables:
        table_gram.cache_clear()
    while _tables:
        forget(_tables.pop())


def own_of(experiment: Experiment) -> Own | None:
    """What of an experiment another process does not know; groups change no loss, and stay."""
    table = replace(experiment.data, groups=None) if experiment.data.own else None
    chosen = (ALGORITHMS[name] for name in experiment.algorithms)
    algorithms = tuple(algorithm for algorithm in chosen if algorithm.own)
    loss = None if experiment.criterion.name in OFFERED else experiment.criterion
    rest = packed((algorithms, loss)) if algorithms or loss is not None else b""
    return Own(table, rest) if table is not None or rest else None


def packed(content: Any) -> bytes:
    """The same as bytes, classes that were typed at a prompt too; empty where there is nothing."""
    return b"" if content is None else cloudpickle.dumps(content)


def unpacked(content: bytes) -> None:
    """Know what was packed, and no other table."""
    unlearn()
    if content:
        pickle.loads(content).learn()
