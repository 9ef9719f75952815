"""Runs in the background: start, watch, cancel. One manager serves all visitors.

Each job has a thread that gathers blocks of trials, stores them and shows them. Compiled work, in
short blocks, is done by threads of this process. Everything else is done by a child process with
its own workers, because a fit cannot be interrupted in a thread, but a process group can be ended.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from threading import Event, Lock, Semaphore, Thread
from typing import Literal

from cpp_core.checks import check_count
from cpp_core.method.evaluation import LossError
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.trials.running import (
    Gathered,
    SchedulerError,
    about,
    computed,
    workers,
    works_in_threads,
)
from cpp_core.trials.store import Arrays, Store, default_store
from cpp_core.trials.watching import Watchers

State = Literal["running", "done", "paused", "cancelled", "failed"]
Blocks = Generator[tuple[Experiment, list[int], dict[str, Arrays]], None, None]
"""As they arrive: the algorithms that lacked trials, which trials, and arrays by algorithm."""

AT_ONCE = 2
"""Jobs that compute at the same time, on any machine: each has workers for all of its cores, and
one job more lets a short run pass a long one. Others wait for their turn."""

KEPT = 8
"""Ended jobs that are remembered, so that visitors find their results."""

ENOUGH_BLOCKS = 3
"""Blocks of trials after which a running job says how long the rest takes."""

LOOK_SECONDS = 0.1
PATIENCE_SECONDS = 1.0
SERVE = "from cpp_core.trials.jobs import serve; serve({})"


class RunError(RuntimeError):
    """Why a run could not go on, as a sentence."""


class Job:
    """A run in the background, one object for everybody who watches it.

    Attributes
    ----------
    experiment, asked, seed : Experiment, int, int
        What is computed, with how many trials.
    results : Results or None
        The newest ones, replaced as a whole when trials arrive; None before the first trial.
    state : "running", "done", "paused", "cancelled" or "failed"
        Paused: the first trials have shown that the rest takes longer than the ``limit``.
    limit : float or None
        Seconds that the run may take unasked; the first trials tell, and are kept.
    error : str or None
        Why a job failed, as a sentence.
    abandoned : bool
        Whether it was cancelled because nobody watched it.
    """

    def __init__(
        self, experiment: Experiment, trials: int, seed: int, lease: float, limit: float | None
    ) -> None:
        self.experiment, self.asked, self.seed, self.limit = experiment, trials, seed, limit
        self.results: Results | None = None
        self.state: State = "running"
        self.error: str | None = None
        self.abandoned = False
        self.watchers = Watchers(lease)
        self._seen: list[tuple[float, int]] = []  # when the first and the newest block came, done
        self._pace: float | None = None
        self._blocks = 0
        self._changing = Lock()
        self._idle = Event()

    @property
    def done(self) -> int:
        """Trials that are there, loaded or computed."""
        return 0 if self.results is None else len(self.results.trials)

    @property
    def seconds_left(self) -> float | None:
        """About how long the rest takes; None while too few blocks of trials have told the pace.

        The time before the first block (starting a process, compiling) does not count. A run that
        goes on says nothing before its third block: two are a guess, which only a pause needs.
        """
        if self.state == "done":
            return 0.0
        if self._pace is None or (self.state == "running" and self._blocks < ENOUGH_BLOCKS):
            return None
        return self._rest()

    def _rest(self) -> float:
        """The rest at the pace that is known."""
        assert self._pace is not None
        newest, done = self._seen[-1]
        since = time.monotonic() - newest if self.state == "running" else 0.0
        return max(self._pace * (self.asked - done) - since, 0.0)

    def renew(self, who: str = "") -> None:
        """Say that somebody watches; a job that nobody renews for the lease cancels itself."""
        self.watchers.renew(who)

    def cancel(self, who: str = "") -> bool:
        """Stop, at once, unless others than ``who`` watch; whether it stops.

        The trials that were computed are kept, the processors soon idle.
        """
        if self.watchers.leave(who):
            self._end("cancelled")
            return True
        return False

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job is over, its process group gone; False if the time was too short.

        Threads of a job that was cancelled may still finish a last short block.
        """
        return self._idle.wait(timeout)

    def _end(self, state: State, error: str | None = None) -> None:
        with self._changing:  # the first end counts
            if self.state == "running":
                self.error, self.state = error, state

    def _wanted(self) -> bool:
        """Whether to go on; ends a job that nobody watches."""
        if self.state == "running" and self.watchers.gone:
            self.abandoned = True
            self._end("cancelled")
        return self.state == "running"

    def _show(self, results: Results) -> None:
        if len(results.trials):
            self.results = results
        if self.done == self.asked:
            self._end("done")

    def _saw_block(self, n_jobs: int) -> None:
        """Learn the pace, at first from blocks that one of the workers computed."""
        self._blocks += 1
        self._seen = [*self._seen[:1], (time.monotonic(), self.done)]
        (first, before), (newest, done) = self._seen[0], self._seen[-1]
        if done == before:
            return
        pace = (newest - first) / (done - before)
        if self._pace is not None:
            self._pace = pace
            return
        self._pace = pace / n_jobs
        if self.limit is not None and self._rest() > self.limit:
            self._end("paused")


class Jobs:
    """The runs of all visitors: who asks for a run that goes on already joins it.

    Parameters
    ----------
    store : Store, optional
        Where losses are kept; by default the user's store.
    n_jobs : int, optional
        Workers of a job; by default one for each core of this machine.
    lease : float
        Seconds after which a job that nobody renews cancels itself.
    scheduler : str, optional
        Address of a dask scheduler.
    """

    def __init__(
        self,
        store: Store | None = None,
        n_jobs: int | None = None,
        lease: float = 10.0,
        scheduler: str | None = None,
    ) -> None:
        self.store = default_store() if store is None else store
        self.n_jobs, self.lease, self.scheduler = workers(n_jobs), lease, scheduler
        self._jobs: dict[tuple[Experiment, int, int], Job] = {}
        self._changing = Lock()
        self._turns = Semaphore(AT_ONCE)

    def start(
        self, experiment: Experiment, trials: int, seed: int, limit: float | None = None
    ) -> Job:
        """The job of this run: the one that goes on or is done, else a new one.

        A new one begins with what is stored, and is done at once if that is all. With a ``limit``
        it pauses after its first trials if the rest takes more seconds than that.
        """
        key = experiment, check_count(trials, "trials"), check_count(seed, "seed", least=0)
        with self._changing:
            job = self._jobs.pop(key, None)
            joined = job is not None and job.state in ("running", "done")
            if job is None or not joined:
                job = Job(*key, self.lease, limit)
            job.renew()
            self._jobs[key] = job  # last, as the one that was asked for last
            ended = [k for k, kept in self._jobs.items() if kept.state != "running"]
            for old in ended[:-KEPT]:
                del self._jobs[old]
        if not joined:
            self._begin(job)
        return job

    def find(self, experiment: Experiment, trials: int, seed: int) -> Job | None:
        """The newest job of this run, whatever its state; None if there was none lately."""
        with self._changing:
            return self._jobs.get((experiment, trials, seed))

    def close(self) -> None:
        """Cancel everything, and wait until the processors are idle."""
        with self._changing:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.wait(2 * PATIENCE_SECONDS)

    def _begin(self, job: Job) -> None:
        """Show what is stored, and compute the rest in the background."""
        gathered = Gathered(job.experiment, job.asked, job.seed)
        try:
            for name in job.experiment.entries:
                stored = self.store.load(job.experiment.key(name, job.seed), range(job.asked))
                gathered.put(name, *stored)
            job._show(gathered.results(self.store.problem))
            if job.state == "running":
                Thread(target=self._drive, args=(job, gathered), daemon=True).start()
                return
        except Exception as error:
            job._end("failed", sentence(error))
        job._idle.set()

    def _drive(self, job: Job, gathered: Gathered) -> None:
        """Compute when it is this job's turn."""
        try:
            while job._wanted():
                if self._turns.acquire(timeout=LOOK_SECONDS):
                    try:
                        self._compute(job, gathered)
                    finally:
                        self._turns.release()
                    break
        except Exception as error:
            job._end("failed", sentence(error))
        finally:
            job._idle.set()

    def _compute(self, job: Job, gathered: Gathered) -> None:
        experiment, seed = job.experiment, job.seed
        n_jobs = self.n_jobs if self.scheduler is None else 1
        with closing(self._blocks(job, gathered)) as blocks:
            for part, numbers, arrays in blocks:
                for name in gathered.lacking(part.entries, numbers):
                    words = about(part, name, seed)
                    self.store.save(experiment.key(name, seed), numbers, arrays[name], words)
                    gathered.put(name, numbers, arrays[name])
                job._show(gathered.results(self.store.problem))
                job._saw_block(n_jobs)
                if not job._wanted():
                    break
        if job.state == "done":
            for name in experiment.entries:
                self.store.compact(experiment.key(name, seed))

    def _blocks(self, job: Job, gathered: Gathered) -> Blocks:
        """Blocks of trials as they arrive, from threads or from a child process.

        A cluster's client lives in a child too, since waiting for it cannot be interrupted either.
        A user's own table is known to this process only.
        """
        own = job.experiment.data.own
        if own or (self.scheduler is None and works_in_threads(job.experiment)):
            return blocks_here(gathered, self.n_jobs, self.scheduler)
        return blocks_of_child(gathered, self.n_jobs, self.scheduler, job._wanted)


def blocks_here(gathered: Gathered, n_jobs: int, scheduler: str | None) -> Blocks:
    """Compute what is missing in this process (and its workers, if any)."""
    experiment, backend = gathered.experiment, None if scheduler is None else "dask"
    table = experiment.data if experiment.data.own else None
    yield from computed(gathered, gathered.seed, n_jobs, backend, scheduler, table)


def blocks_of_child(
    gathered: Gathered, n_jobs: int, scheduler: str | None, wanted: Callable[[], bool]
) -> Blocks:
    """Compute what is missing in a child process; when this ends, the child has ended.

    The child gets a request and answers with blocks, then None, or the sentence of an error.
    """
    ours, theirs = Pipe()
    with ours:
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", SERVE.format(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                env=child_environment(),
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # a process group of its own
            )
        try:
            description = gathered.experiment, gathered.asked, gathered.seed
            with suppress(ConnectionError):
                ours.send((description, gathered.have, n_jobs, scheduler))
            while wanted():
                if not ours.poll(LOOK_SECONDS):
                    continue
                try:
                    answer = ours.recv()
                except (EOFError, ConnectionError) as error:
                    raise RunError(
                        f"The process that computes ended unexpectedly (exit code "
                        f"{process.wait()}), perhaps for lack of memory; start again to go on "
                        "with the trials that are missing."
                    ) from error
                if answer is None:
                    return
                if isinstance(answer, str):
                    raise RunError(answer)
                yield answer
        finally:
            end_group(process)


def child_environment() -> dict[str, str]:
    """Where the child finds this package, and how it shares the processors.

    One thread a worker: two jobs whose fits use OpenMP or BLAS on all cores slow each other down
    many times. No warnings about what joblib removes after workers that were ended.
    """
    given = os.environ
    path = [str(Path(__file__).resolve().parents[2]), given.get("PYTHONPATH", "")]
    silent = [given.get("PYTHONWARNINGS", ""), "ignore:resource_tracker:UserWarning"]
    return {
        **given,
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
        "PYTHONWARNINGS": ",".join(filter(None, silent)),
        "OMP_NUM_THREADS": "1",
    }


def end_group(process: subprocess.Popen) -> None:
    """End a process and all that it started: politely, after a second by force.

    Politely first, because joblib then removes what its workers shared.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            process.poll()
            os.killpg(process.pid, 0)  # raises when nobody is left
            time.sleep(LOOK_SECONDS / 10)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def serve(fd: int) -> None:
    """Be the child: compute what the parent asks for, and end with it."""
    os.set_inheritable(fd, False)  # workers must not keep the pipe open
    channel = Connection(fd)
    (experiment, asked, seed), have, n_jobs, scheduler = channel.recv()
    Thread(target=end_with_parent, args=(channel,), daemon=True).start()
    gathered = Gathered(experiment, asked, seed)
    gathered.have = have
    try:
        for block in blocks_here(gathered, n_jobs, scheduler):
            channel.send(block)
        channel.send(None)
    except Exception as error:
        channel.send(sentence(error))


def end_with_parent(channel: Connection) -> None:
    """Wait until the parent closes the pipe or dies; then end this process and its workers."""
    with suppress(EOFError, OSError):
        channel.recv_bytes()
    os.killpg(os.getpgrp(), signal.SIGTERM)


def sentence(error: Exception) -> str:
    """What a visitor reads about an error."""
    said = " ".join(str(error).split())
    if isinstance(error, RunError | SchedulerError | LossError):
        return said
    return (
        f"The run stopped at an error ({type(error).__name__}: {said or 'no details'}); start "
        "again to go on with the trials that are missing, or change the experiment."
    )
