"""Many trials: in parallel, watched while they run, stopped and resumed, never computed twice."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed, parallel_config
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.datasets import Dataset
from cpp_core.checks import check_count
from cpp_core.trials.experiment import MINUS, Experiment
from cpp_core.trials.one_trial import in_kernels, one_thread, run_block
from cpp_core.trials.results import Results
from cpp_core.trials.store import Arrays, Store, default_store

Progress = Callable[[int, int], None]
Block = tuple[Experiment, list[int]]

BLOCK_SECONDS = 0.5
"""Blocks of trials aim at this duration: long enough for little overhead, short to stop soon."""

MAX_BLOCK = 250
SCHEDULER_SECONDS = 5.0
BACKENDS = (None, "threading", "loky", "dask")


class SchedulerError(RuntimeError):
    """The cluster's scheduler does not answer."""


def run(
    experiment: Experiment,
    trials: int = 200,
    seed: int = 0,
    n_jobs: int | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    fresh: bool = False,
) -> Results:
    """Compute the trials that are not stored yet, and give the results of all.

    Parameters
    ----------
    experiment : Experiment
    trials : int
        Trials 0 to ``trials - 1``. Going from 100 to 1000 computes 900.
    seed : int
        The same seed gives the same numbers, whatever the other arguments are.
    n_jobs : int, optional
        Workers; by default one for each core of this machine.
    backend : None, "threading", "loky" or "dask"
        None chooses threads for compiled work, processes otherwise, dask with a scheduler.
    scheduler : str, optional
        Address of a dask scheduler, such as "tcp://host:8786".
    progress : callable, optional
        Called with (trials done, trials asked) as they arrive.
    store : Store, optional
        Where losses are kept; by default the user's store.
    fresh : bool
        Compute everything anew.

    Examples
    --------
    >>> experiment = Experiment(dataset="quadnoise", algorithms=("gd", "sgd"), n=200, test_size=50)
    >>> results = run(experiment, trials=20, n_jobs=1, store=Store(None))
    >>> results.at(alpha=0.1).shape
    (40, 11)
    """
    results = None
    for results in stream(
        experiment, trials, seed, n_jobs, backend, scheduler, store=store, fresh=fresh
    ):
        if progress is not None:
            progress(len(results.trials), results.asked)
    assert results is not None  # stream always ends with the whole
    return results


def stream(
    experiment: Experiment,
    trials: int = 200,
    seed: int = 0,
    n_jobs: int | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
    store: Store | None = None,
    fresh: bool = False,
) -> Iterator[Results]:
    """Yield partial results as blocks of trials arrive, the complete ones last.

    Blocks are stored as they arrive: a run that is stopped (by closing this iterator, Ctrl-C or
    kill) loses at most the blocks in flight. Arguments as in ``run``.
    """
    check_count(trials, "trials")
    check_count(seed, "seed", least=0)
    n_jobs = workers(n_jobs)
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {BACKENDS}, but {backend!r} was given.")
    if backend is None and scheduler is not None:
        backend = "dask"
    if backend == "dask" and scheduler is None:
        raise ValueError("backend='dask' needs a scheduler, such as 'tcp://host:8786'.")
    store = default_store() if store is None else store
    gathered = Gathered(experiment, trials, seed)
    if not fresh:
        for name in experiment.entries:
            gathered.put(name, *store.load(experiment.key(name, seed), range(trials)))
    if gathered.missing():
        if len(gathered.complete_trials()):
            yield gathered.results(store.problem)
        table = experiment.data if experiment.data.own else None
        for part, numbers, arrays in computed(gathered, seed, n_jobs, backend, scheduler, table):
            for name in gathered.lacking(part.entries, numbers):
                key = experiment.key(name, seed)
                store.save(key, numbers, arrays[name], about(part, name, seed))
                gathered.put(name, numbers, arrays[name])
            yield gathered.results(store.problem)
        for name in experiment.entries:
            store.compact(experiment.key(name, seed))
    yield gathered.results(store.problem)


def workers(n_jobs: int | None) -> int:
    """How many workers are meant: None stands for one on each core that this process may use."""
    return cpu_count() if n_jobs is None else check_count(n_jobs, "n_jobs")


def about(experiment: Experiment, algorithm: str, seed: int) -> dict[str, Any]:
    """What a key of the store stands for, in words."""
    return {"algorithm": algorithm, "seed": seed, "experiment": experiment.to_dict()}


class Gathered:
    """The arrays of all trials asked for, filled in as they arrive."""

    def __init__(self, experiment: Experiment, asked: int, seed: int) -> None:
        self.experiment, self.asked, self.seed = experiment, asked, seed
        self.arrays: dict[str, Arrays] = {}
        self.have = {name: np.zeros(asked, dtype=bool) for name in experiment.entries}

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
        lacking: dict[tuple[str, ...], list[int]] = {}
        for trial in range(self.asked):
            entries = self.lacking(self.have, [trial])
            needed = {name for entry in entries for name in entry.split(MINUS)}
            names = tuple(n for n in self.experiment.algorithms if n in needed)
            if names:
                lacking.setdefault(names, []).append(trial)
        return [
            (replace(self.experiment, algorithms=names), trials)
            for names, trials in lacking.items()
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


class Pace:
    """Seconds per trial as seen so far, and the block size that they suggest."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.trials = 0.0
        self.blocks = 0

    def saw(self, trials: int, seconds: float) -> None:
        """Learn from a finished block; a first one that compiled counts little later."""
        self.seconds, self.trials = self.seconds / 2 + seconds, self.trials / 2 + trials
        self.blocks += 1

    @property
    def per_trial(self) -> float:
        """Seconds of one trial on one worker."""
        return self.seconds / self.trials if self.trials else BLOCK_SECONDS

    def block(self) -> int:
        """Trials of the next block."""
        return int(np.clip(BLOCK_SECONDS / max(self.per_trial, 1e-9), 1, MAX_BLOCK))


def computed(
    gathered: Gathered,
    seed: int,
    n_jobs: int,
    backend: str | None,
    scheduler: str | None,
    table: Dataset | None,
) -> Iterator[tuple[Experiment, list[int], dict[str, Arrays]]]:
    """Compute what is missing, block by block: (experiment, trials, arrays) as they arrive."""
    pace = Pace()
    for part, missing in gathered.missing():
        todo = list(missing)
        if scheduler is None:
            # The first trials here and now: small runs need no workers, and the pace is known.
            while todo and (pace.blocks < 2 or n_jobs == 1 or _short(pace, len(todo))):
                numbers = [todo.pop(0) for _ in range(min(pace.block(), len(todo)))]
                arrays, seconds = run_block(part, seed, numbers, table)
                pace.saw(len(numbers), seconds)
                yield part, numbers, arrays
        if not todo:
            continue
        chosen = backend or ("threading" if works_in_threads(part) else "loky")

        def blocks(part: Experiment = part, todo: list[int] = todo) -> Iterator[Any]:
            while todo:
                numbers = [todo.pop(0) for _ in range(min(pace.block(), len(todo)))]
                yield delayed(_numbered_block)(part, seed, numbers, table)

        with _pool(chosen, scheduler, n_jobs) as parallel:
            finished = parallel(blocks())
            try:
                for numbers, (arrays, seconds) in finished:
                    pace.saw(len(numbers), seconds)
                    yield part, numbers, arrays
            finally:
                finished.close()  # a run that is stopped leaves no worker behind


def _numbered_block(
    experiment: Experiment, seed: int, numbers: list[int], table: Dataset | None
) -> tuple[list[int], tuple[dict[str, Arrays], float]]:
    return numbers, run_block(experiment, seed, numbers, table)


def _short(pace: Pace, todo: int) -> bool:
    """Whether starting worker processes would cost more than it saves."""
    return pace.per_trial * todo < BLOCK_SECONDS


def works_in_threads(experiment: Experiment) -> bool:
    """Whether the work is compiled, so that threads of this process share it without a copy."""
    compiled = set(in_kernels(experiment))
    if not experiment.algorithmic and not experiment.kind.moves:  # one large fit and little else
        compiled |= {name for name in experiment.algorithms if ALGORITHMS[name].lock_free}
    return set(experiment.algorithms) <= compiled or experiment.data.own


@contextmanager
def _pool(backend: str, scheduler: str | None, n_jobs: int) -> Iterator[Parallel]:
    """Joblib's workers, giving results as they come; own tables are not copied to disk."""
    with ExitStack() as stack:
        if backend == "dask":
            stack.enter_context(_dask_client(scheduler or ""))
            stack.enter_context(parallel_config(backend="dask"))
            yield Parallel(return_as="generator_unordered", pre_dispatch="all", batch_size=1)
            return
        if backend == "threading":
            stack.enter_context(one_thread())
        yield Parallel(
            n_jobs=n_jobs,
            backend=backend,
            return_as="generator_unordered",
            pre_dispatch="2*n_jobs",
            batch_size=1,
            max_nbytes=None,
        )


def _dask_client(scheduler: str) -> Any:
    from distributed import Client  # only where a cluster is used

    try:
        return Client(scheduler, timeout=SCHEDULER_SECONDS)
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerError(
            f"The dask scheduler at {scheduler} does not answer ({error or 'no connection'}); "
            "start one with `dask scheduler` and workers with `dask worker tcp://host:8786`, or "
            "leave the scheduler out to compute here."
        ) from error


def scheduler_from_environment() -> str | None:
    """The cluster that CPP_CORE_SCHEDULER names, if any."""
    return os.environ.get("CPP_CORE_SCHEDULER") or None
