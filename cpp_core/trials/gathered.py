"""The losses of many trials, filled in as they arrive; and which are missing."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from cpp_core.trials.block_files import Arrays
from cpp_core.trials.experiment import MINUS, Experiment
from cpp_core.trials.one_trial import array_names
from cpp_core.trials.results import Results
from cpp_core.trials.store import Store

Block = tuple[Experiment, list[int]]


class Gathered:
    """The arrays of all trials asked for, filled in as they arrive."""

    def __init__(self, experiment: Experiment, asked: int, seed: int) -> None:
        self.experiment, self.asked, self.seed = experiment, asked, seed
        self.arrays: dict[str, Arrays] = {}
        self.have = {name: np.zeros(asked, dtype=bool) for name in experiment.entries}

    def load(self, store: Store) -> None:
        """Fill in what is stored."""
        names = array_names(self.experiment)
        for name in self.experiment.entries:
            key = self.experiment.key(name, self.seed)
            self.put(name, *store.load(key, range(self.asked), names))

    def put(self, name: str, numbers: list[int], arrays: Arrays) -> None:
        """Fill in trials of one algorithm."""
        if not numbers:
            return
        if name not in self.arrays and len(numbers) == self.asked:
            self.arrays[name] = arrays  # everything at once: no copy
        else:
            own = self.arrays.setdefault(
                name,
                {
                    key: np.empty((self.asked, *values.shape[1:]), dtype=values.dtype)
                    for key, values in arrays.items()
                },
            )
            for key, values in arrays.items():
                if not np.can_cast(values.dtype, own[key].dtype):  # a loss beyond float32
                    own[key] = own[key].astype(values.dtype)
                own[key][numbers] = values
        self.have[name][numbers] = True

    def complete_trials(self) -> NDArray[np.int64]:
        """Trials that all algorithms have."""
        return np.flatnonzero(np.logical_and.reduce(list(self.have.values())))

    def lacking(self, names: Iterable[str], trials: list[int]) -> list[str]:
        """Those of the entries that lack some of the trials."""
        return [name for name in names if not self.have[name][trials].all()]

    def missing(self) -> list[Block]:
        """What to compute: trials by the set of algorithms that lack them, on shared data.

        The difference of a pair needs the losses of both.
        """
        own, lacks = self.experiment, ~np.array(list(self.have.values()))
        trials = np.flatnonzero(lacks.any(axis=0))
        patterns, which = np.unique(lacks[:, trials], axis=1, return_inverse=True)
        lacking: dict[tuple[str, ...], list[int]] = {}
        for those, flags in enumerate(patterns.T):
            entries = compress(self.have, flags)
            needed = {name for entry in entries for name in entry.split(MINUS)}
            names = tuple(name for name in own.algorithms if name in needed)
            lacking.setdefault(names, []).extend(trials[which == those].tolist())
        return [
            (own if names == own.algorithms else replace(own, algorithms=names), sorted(lacked))
            for names, lacked in sorted(lacking.items(), key=lambda item: min(item[1]))
        ]

    def results(self, problem: str | None) -> Results:
        """The results so far."""
        done = self.complete_trials()
        arrays = self.arrays
        if len(done) < self.asked:
            # Trials mostly arrive in order: a prefix needs no copy.
            rows = slice(len(done)) if len(done) and done[-1] == len(done) - 1 else done
            arrays = {
                name: {key: values[rows] for key, values in own.items()}
                for name, own in self.arrays.items()
            }
        return Results(self.experiment, self.seed, done, arrays, self.asked, problem)


def gathered_from(experiment: Experiment, trials: int, seed: int, store: Store) -> Gathered:
    """What is stored of these trials."""
    gathered = Gathered(experiment, trials, seed)
    gathered.load(store)
    return gathered


def fits_left(experiment: Experiment, trials: int, seed: int, store: Store) -> int:
    """Training runs of the trials that are not stored yet, by the names of what is."""
    gathered = Gathered(experiment, trials, seed)
    for name, have in gathered.have.items():
        stored = store.stored(experiment.key(name, seed))
        have[[number for number in stored if number < trials]] = True
    return sum(
        len(numbers) * part.sizes.fits * len(part.algorithms)
        for part, numbers in gathered.missing()
    )
