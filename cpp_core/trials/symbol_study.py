"""Kinds of error at the cases of a trial: sets of symbols, and what fresh candidates did."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.method.threads import one_thread
from cpp_core.method.training import Failure
from cpp_core.trials.case_study import Study, check_case, sample_of
from cpp_core.trials.experiment import Experiment, check_algorithm
from cpp_core.trials.fresh_candidates import measured_at
from cpp_core.trials.one_trial import symbol_arrays
from cpp_core.trials.readings import SymbolicLosses
from cpp_core.trials.trial_entry import entry_of


@dataclass(frozen=True, eq=False)
class SymbolStudy(Study):
    """The sets of symbols.

    ``symbols`` are their columns; ``tested`` the cases at which the trial knows what ``happened``
    (positions in ``symbols``).
    """

    symbols: tuple[str, ...]
    tested: NDArray
    happened: Mapping[str, NDArray]
    failures: Mapping[str, list[Failure]]
    readers: Mapping[str, SymbolicLosses]

    def sets(self, algorithm: str, alpha: Level = 0.1) -> NDArray[np.bool_]:
        """Which symbols are in the set of each test case, (n_cases, S)."""
        return self.readers[check_algorithm(self.experiment, algorithm)].sets(alpha)[0]

    def happened_at(self, algorithm: str, case: int) -> NDArray:
        """The symbols that the trial saw at one test case: none, or one."""
        found = self.happened[algorithm][self.tested == check_case(case, len(self.y))]
        return np.array(self.symbols)[found.astype(int)]


def _check_symbolic(experiment: Experiment) -> None:
    if not experiment.kind.symbolic:
        raise ValueError(
            "Sets of symbols need the variant symbolic, but this experiment is of the variant "
            f"{experiment.variant}."
        )


@one_thread()
def symbol_study(experiment: Experiment, seed: int = 0, trial: int = 0) -> SymbolStudy:
    """Sets of symbols at every test case; those of ``run_trial`` at the tested ones."""
    _check_symbolic(experiment)
    X, y, rows, cases, tested = sample_of(experiment, seed, trial)
    readers, happened, failures = {}, {}, {}
    for name in experiment.algorithms:
        entry = entry_of(experiment, name, seed, trial, (X, y, rows))
        measured = entry.measured()
        arrays = symbol_arrays(entry, measured, entry.rng.spawn(1)[0], cases)
        one_trial = {array: values[None] for array, values in arrays.items()}
        readers[name] = SymbolicLosses(one_trial, experiment)
        happened[name], failures[name] = arrays["test_symbol"], measured.failures
    return SymbolStudy(
        *(experiment, seed, trial, X[cases], y[cases], rows[cases]),
        k=experiment.sizes.k,
        m=experiment.sizes.m,
        symbols=readers[experiment.algorithms[0]].symbols,
        tested=tested,
        happened=happened,
        failures=failures,
        readers=readers,
    )


@one_thread()
def case_symbols(experiment: Experiment, seed: int, trial: int, case: int) -> dict[str, NDArray]:
    """Symbols that freshly trained candidates got at one test case, as in ``case_losses``."""
    _check_symbolic(experiment)
    if not experiment.algorithmic:
        raise ValueError(
            "This experiment is about one trained candidate, whose symbol at every case is in "
            "symbol_study; give n_sets to ask about retraining."
        )
    return measured_at(experiment, seed, trial, case)
