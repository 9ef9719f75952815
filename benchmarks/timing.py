"""What a user calls, timed: ``run`` with its store, in turns with a plain way to such losses."""

import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core import Experiment, Results, Store, run

N_JOBS, REPETITIONS = 2, 5
FIRST_CALLS = True
"""Whether first calls are timed beside the warm ones."""

WARM_SECONDS = 3.0
"""Both ways are repeated for so long before they are timed warm: workers start beside the first
call, and load what they need in the second."""

STEADY_SECONDS = 0.4
"""A timing lasts at least so long: shorter calls are repeated inside it, so that it is steady."""

UNSTEADY = 0.25
"""A reference that varied by more than this share of its median gives no ratio."""

FIRST = """
import time
start = time.perf_counter()
{code}
print(time.perf_counter() - start)
"""
OURS = """
from cpp_core import Experiment, Store, run
run(Experiment.from_dict({experiment!r}), {trials}, n_jobs={n_jobs}, store=Store({folder!r}))
"""


@dataclass(frozen=True)
class Plain:
    """A plain way: ``function()`` gives upper ends by algorithm, from a share of the trials.

    ``first`` is code of the same for a process of its own, where first calls are compared.
    """

    words: str
    function: Callable[[], dict[str, NDArray]]
    trials: int
    first: str | None = None


@dataclass(frozen=True)
class Cell:
    """A run, and the plain way to the same."""

    work: str
    experiment: Experiment
    trials: int
    plain: Plain


def stored_run(experiment: Experiment, trials: int) -> tuple[float, Results]:
    """Seconds of ``run`` with an empty store, and what it gives."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        results = run(experiment, trials, n_jobs=N_JOBS, store=Store(folder))
        return time.perf_counter() - start, results


def first_seconds(code: str) -> float:
    """Seconds of some code in a process of its own, from the import on."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST.format(code=code)], capture_output=True, text=True, check=True
    )
    return float(done.stdout.splitlines()[-1])


def first_call(experiment: Experiment, trials: int) -> float:
    """Seconds of the first ``run`` of a process."""
    with tempfile.TemporaryDirectory() as folder:
        described = experiment.to_dict()
        return first_seconds(
            OURS.format(experiment=described, trials=trials, n_jobs=N_JOBS, folder=folder)
        )


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and what it gives."""
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def warmed(function: Callable[[], Any]) -> Any:
    """What a call gives, once it has been repeated for so long that all workers are warm."""
    end = time.perf_counter() + WARM_SECONDS
    while True:
        found = function()
        if time.perf_counter() >= end:
            return found


def mean_seconds(seconds: Callable[[], float], calls: int) -> float:
    """The mean of several calls, each of which tells its seconds."""
    return sum(seconds() for _ in range(calls)) / calls


def in_turns(
    reference: Callable[[], float], ours: Callable[[], float], repetitions: int = REPETITIONS
) -> dict[str, Any]:
    """Both in turns: medians, the ratio with its spread, and whether the reference was steady."""
    both = np.array([(reference(), ours()) for _ in range(repetitions)])
    ratios = both[:, 0] / both[:, 1]
    swing = float(np.ptp(both[:, 0]) / np.median(both[:, 0]))
    return {
        "reference_seconds": float(np.median(both[:, 0])),
        "ours_seconds": float(np.median(both[:, 1])),
        "ratio": float(np.median(ratios)) if swing <= UNSTEADY else None,
        "spread": (float(ratios.min()), float(ratios.max()), repetitions),
        "swing": swing,
    }


def warm_row(cell: Cell) -> dict[str, Any]:
    """A line of the table: warm calls in turns.

    The first calls of both, which compile, load and start workers, are not among them. Short calls
    are repeated inside each timing.
    """
    experiment, trials, plain = cell.experiment, cell.trials, cell.plain
    ends = warmed(plain.function)
    results = warmed(lambda: stored_run(experiment, trials)[1])
    calls = math.ceil(STEADY_SECONDS / timed(plain.function)[0])
    scale = trials / plain.trials
    found = in_turns(
        lambda: scale * mean_seconds(lambda: timed(plain.function)[0], calls),
        lambda: mean_seconds(lambda: stored_run(experiment, trials)[0], calls),
    )
    return found | {
        "work": f"{cell.work}; the reference: {plain.words}",
        "agreement": agreement(ends, results),
        "load": os.getloadavg()[0],
    }


def row(cell: Cell) -> dict[str, Any]:
    """The same, with the seconds of a first call."""
    found = warm_row(cell)
    if FIRST_CALLS:
        found["first_seconds"] = first_call(cell.experiment, cell.trials)
    return found


def first_row(cell: Cell) -> dict[str, Any]:
    """A line of the table: first calls of both, each in a process of its own, in turns."""
    code = cell.plain.first
    assert code is not None  # the plain way of this cell has code for that
    found = in_turns(lambda: first_seconds(code), lambda: first_call(cell.experiment, cell.trials))
    return found | {
        "work": f"first call: {cell.work}; the reference: a first call of {cell.plain.words}",
        "agreement": "",
        "load": os.getloadavg()[0],
    }


def agreement(plain: dict[str, NDArray], results: Results) -> str:
    """How far the mean upper ends at alpha 0.1 are apart, in standard errors."""
    table, said = results.at(0.1), []
    for name, ends in plain.items():
        ours = table.loc[table["algorithm"] == name, "upper"].to_numpy()
        error = np.hypot(ends.std() / len(ends) ** 0.5, ours.std() / len(ours) ** 0.5)
        apart = 0.0 if error == 0 else float((ours.mean() - ends.mean()) / error)
        said.append(f"{name} {apart:+.1f}")
        if abs(apart) > 4:
            said[-1] += " (DISAGREES)"
    return f"mean upper ends differ by {', '.join(said)} standard errors"
