"""What a user calls, timed: ``run`` with its store, in turns with a plain way to such losses."""

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

N_JOBS, REPETITIONS, BUDGET = 2, 5, 25.0
FIRST = """
import time
start = time.perf_counter()
from cpp_core import Experiment, Store, run
run(Experiment.from_dict({experiment!r}), {trials}, n_jobs={n_jobs}, store=Store({folder!r}))
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Plain:
    """A plain way: ``function()`` gives upper ends by algorithm, from a share of the trials."""

    words: str
    function: Callable[[], dict[str, NDArray]]
    trials: int


def stored_run(experiment: Experiment, trials: int) -> tuple[float, Results]:
    """Seconds of ``run`` with an empty store, and what it gives."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        results = run(experiment, trials, n_jobs=N_JOBS, store=Store(folder))
        return time.perf_counter() - start, results


def first_call(experiment: Experiment, trials: int) -> float:
    """Seconds of the same in a process of its own, from the import on."""
    with tempfile.TemporaryDirectory() as folder:
        code = FIRST.format(
            experiment=experiment.to_dict(), trials=trials, n_jobs=N_JOBS, folder=folder
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
    return float(done.stdout.splitlines()[-1])


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, and what it gives."""
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def row(work: str, experiment: Experiment, trials: int, plain: Plain) -> dict[str, Any]:
    """A line of the table: warm calls in turns, five of each or as many as 25 seconds allow.

    The first call of both, which compiles, loads and starts workers, is not counted; the first call
    in a fresh process is told apart.
    """
    plain.function()
    results = stored_run(experiment, trials)[1]
    seconds: list[tuple[float, float]] = []
    begun = time.perf_counter()
    spent = 0.0
    while len(seconds) < REPETITIONS and spent * (len(seconds) + 1) <= BUDGET * len(seconds):
        reference, ends = timed(plain.function)
        ours, results = stored_run(experiment, trials)
        seconds.append((reference * trials / plain.trials, ours))
        spent = time.perf_counter() - begun
    both = np.array(seconds)
    ratios = both[:, 0] / both[:, 1]
    return {
        "work": f"{work}; the reference: {plain.words}",
        "reference_seconds": float(np.median(both[:, 0])),
        "ours_seconds": float(np.median(both[:, 1])),
        "ratio": float(np.median(ratios)),
        "spread": (float(ratios.min()), float(ratios.max()), len(ratios)),
        "first_seconds": first_call(experiment, trials),
        "agreement": agreement(ends, results),
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


def upper_end(losses: NDArray) -> float:
    """The upper end of the two-sided 90 % interval: an order statistic of the losses."""
    rank = losses.size + 1 - int(np.floor(round((losses.size + 1) * 0.05, 9)))
    return float(np.sort(losses, axis=None)[rank - 1])
