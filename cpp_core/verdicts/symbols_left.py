"""Which kinds of outcome sets leave: over the test cases of all trials, and at one case."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.method.symbols import CORRECT
from cpp_core.trials.readings import SymbolicLosses
from cpp_core.trials.results import Results
from cpp_core.verdicts.language import counted, listed, percent, possessive


@dataclass(frozen=True)
class SymbolsSeen:
    """Shares of the test cases of all trials, for one algorithm."""

    label: str
    symbols: tuple[str, ...]
    held: NDArray  # by symbol: its set holds it
    happened: NDArray  # by symbol: it happened
    size: float  # symbols in a set, on average
    covered: float  # what happened is in the set
    alone: float  # nothing but Correct is left


def symbols_seen(results: Results, alpha: Level) -> dict[str, SymbolsSeen]:
    """What sets of symbols hold and what happened, by algorithm."""
    found = {}
    for name in results.algorithms:
        reader = results.reader(name)
        assert isinstance(reader, SymbolicLosses)
        sets, happened = reader.sets(alpha), reader.arrays["test_symbol"].astype(int)
        counts = np.bincount(happened.ravel(), minlength=len(reader.symbols))
        covered = np.take_along_axis(sets, happened[..., None], axis=2)
        alone = sets[..., reader.symbols.index(CORRECT)] & (sets.sum(axis=2) == 1)
        found[name] = SymbolsSeen(
            label=ALGORITHMS[name].label,
            symbols=tuple(reader.symbols),
            held=sets.mean(axis=(0, 1)),
            happened=counts / happened.size,
            size=float(sets.sum(axis=2).mean()),
            covered=float(covered.mean()),
            alone=float(alone.mean()),
        )
    return found


def symbols_title(found: Sequence[SymbolsSeen], trials: int) -> str:
    """How often an error is ruled out."""
    alone = listed(f"{own.label} in {percent(own.alone)}" for own in found)
    return f"Over {counted(trials, 'trial')}, nothing but {CORRECT} is left: {alone} of the sets"


def covered_words(found: Sequence[SymbolsSeen]) -> str:
    """How often what happened was in the set."""
    return listed(f"{percent(own.covered)} of {possessive(own.label)} sets" for own in found)


# At one case


@dataclass(frozen=True)
class SymbolsAt:
    """One algorithm at one case: which symbols are left, and how often each of them happened."""

    label: str
    left: tuple[str, ...]
    seen: dict[str, int]

    @property
    def covered(self) -> int:
        """How often what happened was left."""
        return sum(self.seen[symbol] for symbol in self.left)


def symbols_at(
    symbols: Sequence[str], sets: Mapping[str, NDArray], happened: Mapping[str, NDArray]
) -> dict[str, SymbolsAt]:
    """By algorithm, from which symbols its set holds, and those that candidates really gave."""
    return {
        name: SymbolsAt(
            ALGORITHMS[name].label,
            tuple(symbol for symbol, kept in zip(symbols, held, strict=True) if kept),
            {symbol: int((happened[name] == symbol).sum()) for symbol in symbols},
        )
        for name, held in sets.items()
    }


def left_title(found: Sequence[SymbolsAt]) -> str:
    """What is left at the case."""
    told = [f"{own.label} {' or '.join(own.left)}" for own in found]
    return f"Left at this case: {', '.join(told)}"


def happened_words(found: Sequence[SymbolsAt]) -> str:
    """How often what happened at the case was left."""
    return listed(f"{own.label} {own.covered} of {sum(own.seen.values())}" for own in found)
