"""Runs in the background: start, watch, cancel. One manager serves all visitors.

The blocks of all jobs take turns on the processes of a crew; what arrives is stored and shown.
"""

import math
import time
from collections.abc import Iterator
from functools import partial
from threading import Event, Lock, Thread
from typing import Literal

from numpy.typing import NDArray

from cpp_core.checks import check_count
from cpp_core.trials.block_files import Arrays
from cpp_core.trials.budget import (
    BudgetError,
    Cost,
    budget,
    check_budget,
    memory_words,
    share_of,
)
from cpp_core.trials.children import Answer, Child, Request, sentence
from cpp_core.trials.crew import PATIENCE_SECONDS, Crew, carry_out, crew_of_all
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.gathered import Gathered, fits_left, gathered_from
from cpp_core.trials.one_trial import run_block
from cpp_core.trials.own import own_of, packed
from cpp_core.trials.pace import Pace
from cpp_core.trials.results import Results
from cpp_core.trials.running import MANY_BLOCKS, about, computed, for_disk
from cpp_core.trials.store import Store, default_store
from cpp_core.trials.watching import Watchers

State = Literal["running", "done", "paused", "cancelled", "failed"]
KEPT = 8
"""Ended jobs that are remembered, so that visitors find their results."""


FIRST_SECONDS = 120.0
"""What runs unasked has shown its first trials by then, or pauses: one alone may take hours."""


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
        Seconds that the run may take unasked; the first trials tell, and are kept. One that takes
        longer than ``FIRST_SECONDS`` is not.
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
        self.takes = 0  # bytes that its results may take
        self.watchers = Watchers(lease)
        self.pace = Pace()
        self._judged = False
        self._begun = math.inf  # when its first block began
        self._run: Run | None = None
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
        if self.state == "running" and not self.pace.settled:
            return None
        return self._rest()

    def _rest(self) -> float | None:
        """The rest at the pace that is known."""
        return self.pace.rest(self.asked, self.state == "running")

    @property
    def short(self) -> bool:
        """Whether it pauses although the rest, by what is known now, is within its limit."""
        if self.state != "paused" or self.limit is None:
            return False
        rest = self._rest()
        return rest is not None and rest <= self.limit

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

    @property
    def behind(self) -> int:
        """How many others are computed while this one waits for its turn; 0 if it does not."""
        run = self._run  # another thread may let go of it
        return run.behind if self.state == "running" and run is not None else 0

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job is over and computes nothing; False if the time was too short."""
        return self._idle.wait(timeout)

    def _end(self, state: State, error: str | None = None) -> None:
        with self._changing:  # the first end counts
            if self.state == "running":
                self.error, self.state = error, state
        run = self._run
        if run is not None:
            run.settle()

    def _wanted(self) -> bool:
        """Whether to go on; ends a job that nobody watches."""
        if self.state == "running" and self.watchers.gone:
            self.abandoned = True
            self._end("cancelled")
        first = time.monotonic() - self._begun
        if (
            self.limit is not None
            and self.results is None
            and first > max(FIRST_SECONDS, self.limit)
        ):
            self._end("paused")
        return self.state == "running"

    def _show(self, results: Results) -> None:
        if len(results.trials):
            self.results = results
        if self.done == self.asked:
            self._end("done")

    def _saw_block(self, workers: int, each: float | None = None) -> None:
        """Learn the pace, and pause where the rest takes too long; ``each`` trial took so many
        seconds where that is known.
        """
        known = self.pace.arrived(self.done, workers, each)
        promised = self.results is not None and 0 in self.results.trials
        if self._judged or not (known and promised):  # nothing pauses before trial 0, the promise
            return
        self._judged, rest = True, self._rest()
        if self.limit is not None and each is not None and rest is not None and rest > self.limit:
            self._end("paused")


class Jobs:
    """The runs of all visitors: who asks for a run that goes on already joins it.

    Parameters
    ----------
    store : Store, optional
        Where losses are kept; by default the user's store.
    crew : Crew, optional
        The processes that compute, for studies of cases too; by default those that all share.
    lease : float
        Seconds after which a job that nobody renews cancels itself.
    scheduler : str, optional
        Address of a dask scheduler.
    """

    def __init__(
        self,
        store: Store | None = None,
        crew: Crew | None = None,
        lease: float = 10.0,
        scheduler: str | None = None,
    ) -> None:
        self.store = default_store() if store is None else store
        self.crew = crew_of_all() if crew is None else crew
        self.lease, self.scheduler = lease, scheduler
        self._jobs: dict[tuple[Experiment, int, int], Job] = {}
        self._changing = Lock()

    @property
    def n_jobs(self) -> int:
        """How many blocks are computed at once."""
        return self.crew.n_jobs

    def start(
        self, experiment: Experiment, trials: int, seed: int, limit: float | None = None
    ) -> Job:
        """The job of this run: the one that goes on or is done, else a new one.

        A new one begins with what is stored, and is done at once if that is all. With a ``limit``
        it pauses after its first trials if the rest takes more seconds than that. BudgetError where
        it would take more than it may.
        """
        cost = self.cost(experiment, trials, seed)
        key = experiment, trials, check_count(seed, "seed", least=0)
        with self._changing:
            job = self._jobs.get(key)
            joined = job is not None and job.state in ("running", "done")
            if job is None or not joined:
                self._check_room(cost.results)
                job = Job(*key, self.lease, limit)
                job.takes = cost.results
            elif job.limit is not None:  # who lets it take longer is heard
                job.limit = None if limit is None else max(job.limit, limit)
            job.renew()
            self._jobs.pop(key, None)
            self._jobs[key] = job  # last, as the one that was asked for last
            self._forget_ended()
        if not joined:
            self._begin(job)
        return job

    def cost(self, experiment: Experiment, trials: int, seed: int) -> Cost:
        """What a run takes where it would be computed; BudgetError where that is too much."""
        left = partial(fits_left, experiment, trials, seed, self.store)
        if self.scheduler is not None:
            return check_budget(experiment, trials, left=left)
        return check_budget(experiment, trials, self.n_jobs, each=share_of(self.n_jobs), left=left)

    def _check_room(self, takes: int) -> None:
        """BudgetError where the runs of all visitors would take more than one may."""
        going = sum(job.takes for job in self._jobs.values() if job.state == "running")
        if going and going + takes > budget():
            raise BudgetError(
                f"The runs of others take {memory_words(going)} of memory at present, and with "
                "this one it would be more than is allowed: try again when they have ended."
            )

    def _forget_ended(self) -> None:
        """Remember the last few that have ended, and no more than the budget of their results."""
        ended = [key for key, job in self._jobs.items() if job.state != "running"]
        total = 0
        for place, key in enumerate(reversed(ended)):
            results = self._jobs[key].results
            total += 0 if results is None else results.nbytes
            if place >= KEPT or (place and total > budget() / KEPT):
                del self._jobs[key]

    def tidy(self) -> None:
        """Let go of what is done, nobody looks at, and the store has: it is found there again."""
        with self._changing:
            jobs = [job for job in self._jobs.values() if job.state == "done" and job.watchers.gone]
        for job in jobs:
            keys = [job.experiment.key(name, job.seed) for name in job.experiment.entries]
            whole = set(range(job.asked))
            if all(whole <= set(self.store.stored(key)) for key in keys):
                with self._changing:
                    key = job.experiment, job.asked, job.seed
                    if self._jobs.get(key) is job:
                        del self._jobs[key]

    def find(self, experiment: Experiment, trials: int, seed: int) -> Job | None:
        """The newest job of this run, whatever its state; None if there was none lately."""
        with self._changing:
            return self._jobs.get((experiment, trials, seed))

    def close(self) -> None:
        """Cancel everything, and wait until nothing of it is computed."""
        with self._changing:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.wait(2 * PATIENCE_SECONDS)

    def _begin(self, job: Job) -> None:
        """Show what is stored, and let the rest take its turns."""
        try:
            gathered = gathered_from(job.experiment, job.asked, job.seed, self.store)
            job._show(gathered.results(self.store.problem))
            if job.state == "running":
                self._compute(job, gathered)
                return
        except Exception as error:
            job._end("failed", sentence(error))
        job._idle.set()

    def _compute(self, job: Job, gathered: Gathered) -> None:
        """Compute what is missing: in turns with other jobs, or on the cluster."""
        run = job._run = Run(self.crew, self.store, job, gathered)
        if self.scheduler is None:
            self.crew.add(run)
        else:
            Thread(target=run.on_cluster, args=(self.scheduler,), daemon=True).start()


class Run:
    """The blocks of a job: asked for one by one, stored and shown as they arrive (``Work``)."""

    urgent = False

    def __init__(self, crew: Crew, store: Store, job: Job, gathered: Gathered) -> None:
        self.served = self.idle_since = 0.0
        self._crew, self._store, self._job, self._gathered = crew, store, job, gathered
        self._own = packed(own_of(job.experiment))
        self._todo = [(part, list(trials)) for part, trials in gathered.missing()]
        self._under_way = 0
        self._counting, self._showing = Lock(), Lock()

    @property
    def behind(self) -> int:
        """How many others are computed while this one waits for its turn."""
        return self._crew.waits_behind(self)

    def wanted(self) -> bool:
        """Whether somebody watches, and all went well; else it takes no more turns."""
        if self._job._wanted():
            return True
        self.settle()
        return False

    def take(self) -> Request | None:
        """The next block of trials."""
        with self._counting:
            while self._todo and not self._todo[0][1]:
                self._todo.pop(0)
            if not self._todo:
                return None
            part, trials = self._todo[0]
            size = self._job.pace.block(len(trials), self._crew.n_jobs)
            numbers, trials[:] = trials[:size], trials[size:]
            self._under_way += 1
            self._job._begun = min(self._job._begun, time.monotonic())
            return Request(run_block, (part, self._job.seed, numbers), self._own)

    def give(self, request: Request, answer: Answer) -> None:
        """Store and show what has arrived, or end with what went wrong."""
        with self._showing:
            if answer.kind == "part":
                self._keep(*answer.value)
                self._job._saw_block(1)
            elif answer.kind == "end" and answer.value is not None:
                part, _, numbers = request.args
                arrays, seconds = answer.value
                self._job.pace.saw(len(numbers), seconds)
                self._keep(part, numbers, arrays)
                self._job._saw_block(self._crew.n_jobs, seconds / len(numbers))
            elif answer.kind == "refused":
                self._job._end("failed", sentence(ValueError(answer.value)))
            elif answer.kind == "failed":
                self._job._end("failed", answer.value)

    def leave(self, request: Request, error: str | None) -> None:
        """One block less is under way."""
        with self._counting:
            self._under_way -= 1
        if error is not None:
            self._job._end("failed", error)
        self.settle()

    def settle(self) -> None:
        """Once the job has ended, and its last block too, take no more turns.

        The job, which is remembered, lets go of the run: that one holds a visitor's table.
        """
        with self._counting:
            over = self._job.state != "running" and not self._under_way
        if over:
            self._crew.remove(self)
            self._job._run = None
            self._job._idle.set()

    def on_cluster(self, scheduler: str) -> None:
        """Compute on a cluster instead; its client, which cannot be interrupted, is a child."""
        job, error = self._job, None
        described = job.experiment, job.asked, job.seed, self._gathered.have
        request = Request(cluster_blocks, (*described, scheduler), self._own)
        self._under_way, child = 1, None
        try:
            child = Child()
            carry_out(child, self, request)
        except Exception as stopped:
            error = sentence(stopped)
        finally:
            if child is not None:
                child.end()
            self.leave(request, error)

    def _keep(self, part: Experiment, numbers: list[int], arrays: dict[str, Arrays]) -> None:
        job, gathered = self._job, self._gathered
        try:
            for name in gathered.lacking(part.entries, numbers):
                key, words = job.experiment.key(name, job.seed), about(part, name, job.seed)
                self._store.save(key, numbers, for_disk(part, arrays[name]), words)
                gathered.put(name, numbers, arrays[name])
            if len(gathered.complete_trials()) == job.asked:
                for name in job.experiment.entries:
                    self._store.compact(job.experiment.key(name, job.seed), beyond=MANY_BLOCKS)
            job._show(gathered.results(self._store.problem))
        except Exception as error:
            job._end("failed", sentence(error))


def cluster_blocks(
    experiment: Experiment, asked: int, seed: int, have: dict[str, NDArray], scheduler: str
) -> Iterator[tuple[Experiment, list[int], dict[str, Arrays]]]:
    """Compute what is missing on a cluster; for a child."""
    gathered = Gathered(experiment, asked, seed)
    gathered.have = have
    yield from computed(gathered, seed, 1, "dask", scheduler)
