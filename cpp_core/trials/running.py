"""Many trials: in parallel, watched while they run, stopped and resumed, never computed twice."""

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from functools import partial
from itertools import groupby
from numbers import Integral
from queue import SimpleQueue
from threading import Lock

from joblib import cpu_count

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import check_count
from cpp_core.method.machine import no_machine_failure
from cpp_core.trials.block_files import Arrays, join, without_cells
from cpp_core.trials.budget import check_budget
from cpp_core.trials.cluster import Cluster
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.gathered import Gathered, fits_left, gathered_from
from cpp_core.trials.helpers import Done, Helpers, Processes, Threads
from cpp_core.trials.one_trial import in_kernels, run_block
from cpp_core.trials.own import Own, own_of
from cpp_core.trials.pace import Pace
from cpp_core.trials.results import Results
from cpp_core.trials.store import Store, default_store

Progress = Callable[[int, int], None]
Computed = tuple[Experiment, list[int], dict[str, Arrays]]

MANY_BLOCKS = 64
"""More blocks than this are joined after a run: each costs a fraction of a millisecond to open."""

MOST_WAITING = 8
"""Blocks that may wait to be written; then the computation waits."""

MOST_WORKERS = 1024
BACKENDS = (None, "threading", "loky", "dask")


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
        Workers, this process among them; by default, or with -1, one for each core of this machine,
        with -2 one less.
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
    last = None
    for last in arriving(experiment, trials, seed, n_jobs, backend, scheduler, store, fresh):
        if progress is not None:
            progress(len(last[0].complete_trials()), trials)
    assert last is not None  # the whole always arrives in the end
    gathered, problem = last
    return gathered.results(problem)


def stream(
    experiment: Experiment,
    trials: int = 200,
    seed: int = 0,
    n_jobs: int | None = None,
    backend: str | None = None,
    scheduler: str | None = None,
    store: Store | None = None,
    fresh: bool = False,
) -> Generator[Results]:
    """Yield partial results as blocks of trials arrive, the complete ones last.

    Blocks are stored as they arrive: a run that is stopped (by closing this iterator, Ctrl-C or
    kill) loses at most the blocks in flight. What would take more than the budget is refused
    (``check_budget``). Arguments as in ``run``.
    """
    parts = arriving(experiment, trials, seed, n_jobs, backend, scheduler, store, fresh)
    with closing(parts):
        for gathered, problem in parts:
            yield gathered.results(problem)


def kept(
    experiment: Experiment, trials: int, seed: int, store: Store | None = None
) -> Results | None:
    """What is stored of these trials, with nothing computed; None where there is none of them."""
    store = default_store() if store is None else store
    gathered = gathered_from(experiment, trials, seed, store)
    return gathered.results(store.problem) if len(gathered.complete_trials()) else None


def arriving(
    experiment: Experiment,
    trials: int,
    seed: int,
    n_jobs: int | None,
    backend: str | None,
    scheduler: str | None,
    store: Store | None,
    fresh: bool,
) -> Generator[tuple[Gathered, str | None]]:
    """What has arrived, which grows with each block, and why nothing is written, if so.

    Arguments as in ``run``. Partial results may copy what has arrived: only ``stream`` makes them.
    """
    check_count(seed, "seed", least=0)
    n_jobs = workers(n_jobs)
    store = default_store() if store is None else store
    left = None if fresh else partial(fits_left, experiment, trials, seed, store)
    check_budget(experiment, trials, n_jobs if scheduler is None else 1, left=left)
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {BACKENDS}, but {backend!r} was given.")
    if backend is None and scheduler is not None:
        backend = "dask"
    if backend == "dask" and scheduler is None:
        raise ValueError("backend='dask' needs a scheduler, such as 'tcp://host:8786'.")
    asked = experiment, trials, seed
    gathered = Gathered(*asked) if fresh else gathered_from(*asked, store)
    keys = {name: experiment.key(name, seed) for name in experiment.entries}
    if gathered.missing():
        if len(gathered.complete_trials()):
            yield gathered, store.problem
        with no_machine_failure():
            blocks = computed(gathered, seed, n_jobs, backend, scheduler)
            for part, numbers, arrays in saved(store, gathered, keys, blocks):
                for name in gathered.lacking(part.entries, numbers):
                    gathered.put(name, numbers, arrays[name])
                yield gathered, store.problem
        for key in keys.values():
            store.compact(key, beyond=MANY_BLOCKS)
    yield gathered, store.problem


def saved(
    store: Store, gathered: Gathered, keys: Mapping[str, str], blocks: Generator[Computed]
) -> Iterator[Computed]:
    """Save blocks beside the computation; each is passed on when it is stored.

    Those of an experiment that wait together are saved as one. Who stops here waits until all that
    has arrived is stored.
    """
    arrived: deque[Computed] = deque()
    waiting: deque[tuple[Computed, Future[None]]] = deque()

    def save() -> None:
        """Save all that has arrived: nothing, where that was done with an earlier block."""
        newest = [arrived.popleft() for _ in range(len(arrived))]
        for _, together in groupby(newest, lambda block: id(block[0])):
            part, numbers, arrays = joined(list(together))
            for name in gathered.lacking(part.entries, numbers):
                words = about(part, name, gathered.seed)
                store.save(keys[name], numbers, for_disk(part, arrays[name]), words)

    with closing(blocks), ThreadPoolExecutor(1) as writer:
        for block in blocks:
            arrived.append(block)
            waiting.append((block, writer.submit(save)))
            while waiting and (waiting[0][1].done() or len(waiting) > MOST_WAITING):
                done, future = waiting.popleft()
                future.result()
                yield done
        while waiting:
            done, future = waiting.popleft()
            future.result()
            yield done


def joined(blocks: list[Computed]) -> Computed:
    """Blocks of one experiment as one, with its trials in their order."""
    part, numbers, arrays = blocks[0]
    if len(blocks) > 1:
        together = {name: join([(own, each[name]) for _, own, each in blocks]) for name in arrays}
        numbers = sorted(number for _, own, _ in blocks for number in own)
        arrays = {name: stacked for name, (_, stacked) in together.items()}
    return part, numbers, arrays


def workers(n_jobs: int | None) -> int:
    """How many workers are meant: None stands for one on each core that this process may use.

    Negative numbers are joblib's: -1 all cores, -2 all but one, and never less than one.
    """
    if n_jobs is None:
        return cpu_count()
    if isinstance(n_jobs, Integral) and n_jobs < 0:
        return max(cpu_count() + 1 + int(n_jobs), 1)
    return check_count(n_jobs, "n_jobs", most=MOST_WORKERS)


def for_disk(experiment: Experiment, arrays: Arrays) -> Arrays:
    """What of a trial is stored: of a user's own table numbers alone."""
    return without_cells(arrays) if experiment.data.own else arrays


def about(experiment: Experiment, algorithm: str, seed: int) -> dict[str, object]:
    """What a key of the store stands for, in words; labels of a user's own table are left out."""
    return {"algorithm": algorithm, "seed": seed, "experiment": experiment.without_cells()}


def computed(
    gathered: Gathered,
    seed: int,
    n_jobs: int,
    backend: str | None,
    scheduler: str | None,
) -> Generator[Computed]:
    """Compute what is missing, block by block: (experiment, trials, arrays) as they arrive."""
    own, pace = own_of(gathered.experiment), Pace()
    for part, missing in gathered.missing():
        helpers = helpers_for(part, len(missing), n_jobs, backend, scheduler, own)
        yield from shared_out(part, list(missing), seed, pace, helpers)


def helpers_for(
    part: Experiment,
    trials: int,
    n_jobs: int,
    backend: str | None,
    scheduler: str | None,
    own: Own | None,
) -> Helpers | None:
    """Who computes beside this process, if anybody does."""
    if scheduler is not None:
        return Cluster(scheduler, own)
    others = min(n_jobs, trials) - 1
    if others < 1:
        return None
    if backend == "threading" or (backend is None and works_in_threads(part)):
        return Threads(others, part)
    return Processes(others, part, own)


class Shares:
    """The trials that are left, dealt out in blocks to this process and to its helpers."""

    def __init__(
        self, part: Experiment, todo: list[int], seed: int, pace: Pace, helpers: Helpers | None
    ) -> None:
        self.part, self.todo, self.seed, self.pace, self.helpers = part, todo, seed, pace, helpers
        self.arrived = SimpleQueue[tuple[list[int], Future[Done]]]()
        self._changing, self._under_way, self._open = Lock(), 0, True

    def take(self) -> list[int]:
        """The next block for this process, none where it only hands out."""
        with self._changing:
            return self._next() if self.helpers is None or self.helpers.here else []

    def send(self) -> None:
        """Give helpers as much as they may hold; whenever one is done too."""
        assert self.helpers is not None
        while True:
            with self._changing:
                if not self._open or not self.todo or self._under_way >= self._room():
                    return
                numbers = self._next()
                self._under_way += 1
                try:
                    future = self.helpers.submit(self.part, self.seed, numbers)
                except Exception as error:  # told by who waits for the block
                    future = Future()
                    future.set_exception(error)
            future.add_done_callback(partial(self._landed, numbers))

    def close(self, stopped: bool) -> None:
        """Deal out nothing more."""
        with self._changing:
            self._open = False
        if self.helpers is not None:
            self.helpers.close(stopped)

    @property
    def _workers(self) -> int:
        return 1 if self.helpers is None else self.helpers.n + self.helpers.here

    def _room(self) -> int:
        """How many blocks helpers may hold: none waits for them where this process ends first."""
        assert self.helpers is not None
        each = self.pace.block(len(self.todo), self._workers)
        last = self.helpers.here and len(self.todo) <= 2 * self._workers * each
        return self.helpers.n if last else self.helpers.limit

    def _next(self) -> list[int]:
        size = self.pace.block(len(self.todo), self._workers) if self.todo else 0
        numbers, self.todo[:] = self.todo[:size], self.todo[size:]
        return numbers

    def _landed(self, numbers: list[int], future: Future[Done]) -> None:
        with self._changing:
            self._under_way -= 1
        self.arrived.put((numbers, future))
        if not future.cancelled() and future.exception() is None:
            self.send()


def shared_out(
    part: Experiment, todo: list[int], seed: int, pace: Pace, helpers: Helpers | None
) -> Generator[Computed]:
    """Compute trials here and with helpers; who is done takes the next block.

    This process begins at once, which tells the pace; helpers join when they are ready.
    """
    shares, complete, left = Shares(part, todo, seed, pace, helpers), False, len(todo)
    try:
        while left:
            if helpers is not None and helpers.ready(pace, len(todo)):
                shares.send()
            numbers = shares.take() if shares.arrived.empty() else []
            if numbers:
                arrays, seconds = run_block(part, seed, numbers)
            else:
                numbers, future = shares.arrived.get()
                arrays, seconds = future.result()
            pace.saw(len(numbers), seconds)
            left -= len(numbers)
            yield part, numbers, arrays
        complete = True
    finally:
        shares.close(stopped=not complete)


def works_in_threads(experiment: Experiment) -> bool:
    """Whether the work is compiled, so that threads of this process share it without a copy."""
    compiled = set(in_kernels(experiment))
    if not experiment.algorithmic and not experiment.kind.moves:  # one large fit and little else
        compiled |= {name for name in experiment.algorithms if ALGORITHMS[name].lock_free}
    return set(experiment.algorithms) <= compiled


def scheduler_from_environment() -> str | None:
    """The cluster that CPP_CORE_SCHEDULER names, if any."""
    return os.environ.get("CPP_CORE_SCHEDULER") or None
