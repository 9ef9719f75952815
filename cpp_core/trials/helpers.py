"""Who computes beside this process: threads, or processes that stay warm.

joblib's own pool of processes is not used: calls with other arguments, such as a user's own, end
its workers, and who waits for its results cannot work meanwhile. Its polling was .32 of the 1.0 s
that 1,000 quadnoise trials took.

There are two pools of processes. This one is of ``run``, in a script: one caller, who works too,
and workers that outlive a run because cold ones cost 1.1 s (loky's executor, which joblib brings).
The other is the dashboard's (``crew``, of ``children`` over pipes): many visitors take turns, and
what one of them cancels ends at once, which an executor cannot do to a single task.
"""

import os
import pickle
import time
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import lru_cache
from itertools import count
from mmap import ACCESS_READ, mmap
from runpy import run_path
from threading import Lock
from typing import Any, NamedTuple, Protocol

import cloudpickle
from joblib.externals.loky import ProcessPoolExecutor

from cpp_core.method.parent import watched
from cpp_core.method.threads import one_thread
from cpp_core.trials.block_files import Arrays
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.one_trial import ready_plan, run_block
from cpp_core.trials.own import Own
from cpp_core.trials.pace import Pace

COLD_SECONDS, WARM_SECONDS = 1.5, 0.06
"""Less work than this is done here before a process has started, or before a warm one is asked.

Who runs a second time is taken to go on: processes start for little work, beside it.
"""

IDLE_SECONDS = 300.0
"""After this time processes that nobody needs end."""

ALONE = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}

Done = tuple[dict[str, Arrays], float]


class Helpers(Protocol):
    """Workers that take blocks.

    There are ``n``. ``here`` says whether this process works too, ``limit`` how many blocks they
    may hold at once.
    """

    here: bool
    n: int
    limit: int

    def ready(self, pace: Pace, left: int) -> bool:
        """Whether to give them blocks; so many trials are left at this pace."""

    def submit(self, experiment: Experiment, seed: int, numbers: list[int]) -> Future[Done]:
        """Let one of them compute a block."""

    def close(self, stopped: bool) -> None:
        """Need them no more; what they compute is unwanted if the run was stopped."""


class Threads:
    """Threads, for work that is compiled and leaves the interpreter to others."""

    here = True

    def __init__(self, n: int, experiment: Experiment) -> None:
        self.n = self.limit = n
        self._pool, self._stack = ThreadPoolExecutor(n), ExitStack()
        ready_plan(experiment)  # before there are threads that might load libraries meanwhile
        self._stack.enter_context(one_thread())

    def ready(self, pace: Pace, left: int) -> bool:
        """At once."""
        return True

    def submit(self, experiment: Experiment, seed: int, numbers: list[int]) -> Future[Done]:
        """Let one of them compute a block."""
        return self._pool.submit(run_block, experiment, seed, numbers)

    def close(self, stopped: bool) -> None:
        """Wait for what is under way."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._stack.close()


class Pool:
    """Processes that stay warm between runs, with what they have loaded already."""

    def __init__(self, n: int) -> None:
        self.n, self.owner, self.used = n, os.getpid(), time.monotonic()
        self.warm, self.used_before, self.knows = False, False, set[Any]()
        self.executor = ProcessPoolExecutor(
            n, timeout=IDLE_SECONDS, initializer=run_path, initargs=watched(), env=ALONE
        )

    def end(self, at_once: bool) -> None:
        """End the processes."""
        self.executor.shutdown(wait=at_once, kill_workers=at_once)


_idle: list[Pool] = []
_changing = Lock()


def taken_pool(n: int) -> Pool:
    """A pool of at least n processes, for one run at a time."""
    with _changing:
        fitting = [pool for pool in _idle if pool.n >= n and pool.owner == os.getpid()]
        for pool in fitting:
            _idle.remove(pool)
    for pool in fitting:
        if time.monotonic() - pool.used > IDLE_SECONDS - 10:
            pool.warm, pool.knows = False, set()  # its processes have ended, or soon will
        with suppress(BrokenExecutor):  # one of them was killed meanwhile
            pool.executor.submit(os.getpid)
            return pool
    return Pool(n)


def kept_pool(pool: Pool) -> None:
    """Keep a pool for the next run, and no other."""
    pool.used, pool.used_before = time.monotonic(), True
    with _changing:
        others, _idle[:] = list(_idle), [pool]
    for other in others:
        if other.owner == os.getpid():
            other.end(at_once=False)


class Processes:
    """Processes, for all other work.

    They get blocks once one of them has loaded what the experiment needs; until then, and for less
    work than a start takes, this process goes on alone.
    """

    here = True

    def __init__(self, n: int, experiment: Experiment, own: Own | None) -> None:
        self.n, self.limit = n, 2 * n  # one under way and one that waits, for each
        self._pool, self._experiment, self._own = taken_pool(n), experiment, own
        self._told: Shared | Own | None = None
        self._loading: Future | None = None
        self._needs = experiment.dataset, experiment.dataset_settings, experiment.algorithms

    def ready(self, pace: Pace, left: int) -> bool:
        """Whether one of them has loaded what is needed; where it pays, it begins to."""
        pool = self._pool
        if self._needs in pool.knows and self._own is None:
            return True
        least = WARM_SECONDS if pool.warm or pool.used_before else COLD_SECONDS
        if self._loading is None and pace.blocks > 1 and pace.per_trial * left > least:
            self._begin()
        if self._loading is None or not self._loading.done():
            return False
        try:
            self._loading.result()
        except OSError:
            if not isinstance(self._told, Shared):
                raise
            os.close(self._told.file)  # memory of this process is hidden from others
            self._told, self._loading = self._own, None
            return False
        return True

    def submit(self, experiment: Experiment, seed: int, numbers: list[int]) -> Future[Done]:
        """Let one of them compute a block."""
        return self._pool.executor.submit(run_there, experiment, seed, numbers, self._tell())

    def close(self, stopped: bool) -> None:
        """Keep them for the next run, unless they have died or compute what nobody wants."""
        if isinstance(self._told, Shared):
            os.close(self._told.file)
        if stopped:
            self._pool.end(at_once=True)
        else:
            if self._pool.used_before and self._loading is None and self._own is None:
                self._begin()  # for the next run, if it is of the same
            kept_pool(self._pool)

    def _begin(self) -> None:
        """Let one of them load what is needed."""
        pool, needs = self._pool, self._needs
        if needs in pool.knows:
            return
        self._loading = pool.executor.submit(load, self._experiment, self._tell())

        def loaded(future: Future) -> None:
            if not future.cancelled() and future.exception() is None:
                pool.warm = True
                pool.knows.add(needs)

        self._loading.add_done_callback(loaded)

    def _tell(self) -> "Shared | Own | None":
        if self._told is None and self._own is not None:
            self._told = shared(self._own)
        return self._told


# In a process beside this one


def load(experiment: Experiment, told: "Shared | Own | None") -> None:
    """Load the table and what trains, so that the first block takes no longer than others."""
    own = learned(told)
    if own is not None:
        own.learn()
    for name in experiment.algorithms:
        experiment.make_algorithm(name)


def run_there(
    experiment: Experiment, seed: int, numbers: list[int], told: "Shared | Own | None"
) -> Done:
    """``run_block`` in another process."""
    return run_block(experiment, seed, numbers, learned(told))


# What is a user's own


class Shared(NamedTuple):
    """A user's own in memory that other processes map: whose, its file, and where what lies."""

    owner: int
    file: int
    number: int
    spans: tuple[tuple[int, int], ...]


_numbers = count()


def shared(own: Own) -> Shared | Own:
    """Put a user's own, with a table of any size, into memory that all workers map, not copy.

    It is no file: it goes with the last process that uses it. Where a system cannot, each worker
    gets it with each block.
    """
    if not hasattr(os, "memfd_create"):
        return own
    buffers: list[pickle.PickleBuffer] = []
    head = cloudpickle.dumps(own, protocol=5, buffer_callback=buffers.append)
    file, spans, end = os.memfd_create("cpp_core"), [], 0
    with open(file, "wb", closefd=False) as out:
        for piece in (head, *(buffer.raw() for buffer in buffers)):
            start = -(-end // 64) * 64  # arrays begin where the processor likes it
            out.write(b"\0" * (start - end))
            out.write(piece)
            end = start + len(piece)
            spans.append((start, end))
    return Shared(os.getpid(), file, next(_numbers), tuple(spans))


def learned(told: Shared | Own | None) -> Own | None:
    """What this process was told of a user's own."""
    return _mapped(told) if isinstance(told, Shared) else told


@lru_cache(maxsize=1)
def _mapped(told: Shared) -> Own:
    with open(f"/proc/{told.owner}/fd/{told.file}", "rb") as file:
        whole = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
    head, *buffers = (whole[start:end] for start, end in told.spans)
    return pickle.loads(head, buffers=buffers)
