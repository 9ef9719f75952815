"""Ordinary algorithms through ``run``, beside a plain joblib loop that does the same fits."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.plain import N_JOBS, K, loop
from benchmarks.timing import Cell, Plain, first_row, warm_row
from cpp_core import Experiment

CELLS: dict[str, dict[str, tuple[int, ...]]] = {
    "logistic": {"candidate": (20, 100, 1000), "z-free": (20, 100)},
    "ridge": {"candidate": (20, 100, 1000), "z-free": (20, 100, 1000)},
    "naive-bayes": {"candidate": (20, 100, 1000), "z-free": (20, 100, 1000)},
    "knn": {"candidate": (20, 100, 1000), "z-free": (20, 100)},
    "random-forest": {"candidate": (20, 100, 1000), "z-free": (20, 100)},
    "boosting": {"candidate": (20, 100, 1000), "z-free": (20, 100)},
}
"""Trials of each: as many as five repetitions of both can afford in four minutes."""

SMALL: dict[str, dict[str, Any]] = {
    "random-forest": {"n_estimators": 10},
    "boosting": {"max_iter": 10},
}
"""Settings of long fits: a training run takes a tenth of what it usually does."""

MOST = 100
"""Z-free trials that the loop is timed for, at most; more are scaled from these."""

WORDS = f"a joblib loop with {N_JOBS} workers"
LOOP = "from benchmarks.plain import loop\nloop({name!r}, {variant!r}, {trials}, **{settings!r})"


def cells(name: str) -> Iterator[Cell]:
    """One algorithm, candidate and Z-free, few trials and many."""
    data, settings = "diabetes" if name == "ridge" else "breast-cancer", SMALL.get(name, {})
    for variant, counts in CELLS[name].items():
        options = {"n_sets": K} if variant == "z-free" else {}
        experiment = Experiment(
            dataset=data,
            algorithms=(name,),
            variant=variant,
            algorithm_settings={name: settings} if settings else {},
            **options,
        )
        small = "".join(f", {key} {value}" for key, value in settings.items())
        for trials in counts:
            few = min(trials, MOST) if variant == "z-free" else trials
            words = WORDS + ("" if few == trials else f", scaled from {few} trials")
            code = LOOP.format(name=name, variant=variant, trials=trials, settings=settings)
            plain = partial(loop, name, variant, few, **settings)
            work = f"{name}{small} on {data}, {variant}, {trials} trials"
            first = code if few == trials else None
            yield Cell(work, experiment, trials, Plain(words, plain, few, first))


def rows(name: str) -> Iterator[dict[str, Any]]:
    """Warm calls."""
    return map(warm_row, cells(name))


def first_rows(name: str) -> Iterator[dict[str, Any]]:
    """First calls, where the reference is timed for all trials."""
    return (first_row(cell) for cell in cells(name) if cell.plain.first is not None)


PARTS: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
    **{name: partial(rows, name) for name in CELLS},
    **{f"{name}-first": partial(first_rows, name) for name in CELLS},
}
