"""A short run on the command line, and its numbers: what faults must not change."""

import sys
from functools import cache
from pathlib import Path
from typing import Any

from cpp_core import Experiment, Store, run

EXPERIMENT: dict[str, Any] = {
    "dataset": "breast-cancer",
    "algorithms": ("random-forest", "logistic"),
    "variant": "candidate",
}
TRIALS = 60
SEED = 0
Numbers = dict[str, bytes]


def experiment() -> Experiment:
    """What is computed."""
    return Experiment(**EXPERIMENT)


def command(trials: int, *more: str) -> list[str]:
    """The same on the command line."""
    words = [f"--dataset={EXPERIMENT['dataset']}", "--algorithms", *EXPERIMENT["algorithms"]]
    words += [f"--variant={EXPERIMENT['variant']}", f"--trials={trials}", f"--seed={SEED}"]
    return [sys.executable, "-m", "cpp_core", "run", *words, *more]


def numbers(arrays: dict[str, Any]) -> Numbers:
    """Arrays as bytes, to be compared."""
    return {
        f"{name} {array}": values.tobytes()
        for name, own in sorted(arrays.items())
        for array, values in sorted(own.items())
    }


@cache
def plain_numbers(trials: int = TRIALS) -> Numbers:
    """The numbers of a run that nothing disturbs, in this process."""
    return numbers(run(experiment(), trials, SEED, n_jobs=1, store=Store(None)).arrays)


def stored(folder: Path) -> int:
    """How many trials a store promises for all algorithms."""
    own, store = experiment(), Store(folder)
    return min(len(store.stored(own.key(name, SEED))) for name in own.entries)


def stored_numbers(folder: Path, trials: int = TRIALS) -> Numbers:
    """The numbers in a store, whose damaged blocks do not count."""
    own, store = experiment(), Store(folder)
    loaded = {name: store.load(own.key(name, SEED), range(trials)) for name in own.entries}
    return numbers({name: arrays for name, (_, arrays) in loaded.items()})
