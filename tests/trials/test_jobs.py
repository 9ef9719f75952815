"""Background runs: watched, joined, cancelled, resumed, with real threads and processes."""

import subprocess
import sys
import time
import weakref
from dataclasses import replace

import numpy as np
import psutil
import pytest

from cpp_core import Experiment, Store, add_table, run
from cpp_core.catalog.datasets import forget
from cpp_core.trials.crew import Crew
from cpp_core.trials.jobs import KEPT, Jobs
from cpp_core.trials.watching import Watchers

COMPILED = Experiment(dataset="quadnoise", algorithms=("gd", "sgd"), n=300, test_size=60)
LONG_COMPILED = Experiment.preset("quadnoise-algorithm")  # about 20 ms a trial
FITTED = Experiment(dataset="iris", algorithms=("naive-bayes", "dummy"))
LONG_FITTED = Experiment(  # about 20 ms a trial
    dataset="iris",
    algorithms=("random-forest",),
    algorithm_settings={"random-forest": {"n_estimators": 15}},
)
SLOW_FITS = Experiment(dataset="digits", algorithms=("boosting",))  # seconds a trial


OTHERS: set[int] = set()
"""Processes that other tests have left to be used again."""


class Recording(Store):
    """A store that remembers which trials were saved."""

    def __init__(self, folder):
        super().__init__(folder)
        self.saved = []

    def save(self, key, trials, arrays, about=None):
        self.saved += trials
        super().save(key, trials, arrays, about)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture(scope="module")
def crew():
    """Two processes for runs and one more, shared by the tests: each takes seconds to be ready."""
    OTHERS.update(children())
    crew = Crew(2)
    yield crew
    crew.close()
    assert not children()


@pytest.fixture
def managed(crew):
    """Makes managers that are closed after the test."""
    made = []

    def make(store, **options):
        made.append(Jobs(store, crew, **options))
        return made[-1]

    yield make
    for jobs in made:
        jobs.close()


def equal(first, second):
    assert first.trials.tolist() == second.trials.tolist()
    return all(
        (values == second.arrays[name][key]).all()
        for name, arrays in first.arrays.items()
        for key, values in arrays.items()
    )


def watch(job, until=lambda: False, seconds=100):
    """Renew a job until it ends or something happens; the numbers of trials seen."""
    seen = []
    deadline = time.monotonic() + seconds
    while job.state == "running" and not until():
        assert time.monotonic() < deadline, "nothing happened"
        job.renew()
        seen.append(job.done)
        time.sleep(0.02)
    return [*seen, job.done]


def children(parent=None):
    """The processes that a process has started."""
    found = psutil.Process(parent).children(recursive=True)
    return {p.pid for p in found if p.status() != psutil.STATUS_ZOMBIE} - OTHERS


def computing(pids):
    """Those of the processes that use a processor now."""

    def used():
        seconds = {}
        for pid in pids:
            try:
                times = psutil.Process(pid).cpu_times()
                seconds[pid] = times.user + times.system
            except psutil.Error:
                pass
        return seconds

    before = used()
    time.sleep(0.3)
    return {pid for pid, seconds in used().items() if seconds - before[pid] > 0.02}


def alive(pids):
    """Those of the processes that have not ended."""
    statuses = {p.pid: p.status() for p in psutil.process_iter() if p.pid in pids}
    return {pid for pid, status in statuses.items() if status != psutil.STATUS_ZOMBIE}


def seconds_until(condition, limit):
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < limit
        time.sleep(0.02)
    return time.monotonic() - start


def test_compiled_work(store, managed):
    job = managed(store).start(COMPILED, 600, 3)
    seen = watch(job)
    assert seen == sorted(seen)
    assert (job.state, job.done, job.asked, job.error) == ("done", 600, 600, None)
    assert job.seconds_left == 0
    assert equal(job.results, run(COMPILED, 600, 3, n_jobs=1, store=Store(None)))
    assert job.wait(2)
    again = managed(Store(store.folder)).start(COMPILED, 600, 3)
    assert (again.state, again.done) == ("done", 600)
    assert again.wait(0)
    assert equal(again.results, job.results)


def test_fits_in_a_child(store, managed):
    jobs = managed(store)
    assert jobs.find(FITTED, 40, 0) is None
    job = jobs.start(FITTED, 40, 0)
    assert (job.state, job.results, job.seconds_left) == ("running", None, None)
    same = Experiment(dataset="iris", algorithms=("naive-bayes", "dummy"))
    assert jobs.start(same, 40, 0) is job
    assert jobs.find(same, 40, 0) is job
    seconds_until(children, 5)
    watch(job)
    assert (job.state, job.done) == ("done", 40)
    assert job.wait(3)
    processes = children()
    assert equal(job.results, run(FITTED, 40, n_jobs=1, store=Store(None)))
    assert store.stored(FITTED.key("dummy", 0)) == list(range(40))
    assert jobs.start(FITTED, 40, 0) is job
    fewer = jobs.start(FITTED, 30, 0)
    assert (fewer.state, fewer.done) == ("done", 30)
    assert children() == processes  # they wait for more
    assert len(processes) == 3  # for two blocks at once, and for studies


@pytest.mark.slow
def test_cancel_and_resume(tmp_path, managed):
    store = Recording(tmp_path)
    jobs = managed(store)
    job = jobs.start(LONG_FITTED, 1000, 0)
    watch(job, lambda: job.seconds_left is not None)
    processes = children()
    watch(job, lambda: len(computing(processes)) == 2)
    assert 2 <= job.done < 1000
    assert job.seconds_left > 0
    start = time.monotonic()
    job.cancel()
    assert time.monotonic() - start < 0.1
    assert (job.state, job.abandoned) == ("cancelled", False)
    assert job.seconds_left > 0  # what going on would take
    assert job.wait(2)
    assert not computing(processes)
    assert jobs.find(LONG_FITTED, 1000, 0) is job
    assert job.done == len(store.saved)
    resumed = jobs.start(LONG_FITTED, 1000, 0)
    assert resumed is not job
    assert (resumed.state, resumed.done) == ("running", job.done)
    resumed.cancel()
    assert resumed.wait(2)
    more = jobs.start(LONG_FITTED, max(store.saved) + 11, 0)  # blocks may end out of order
    assert more.done == job.done
    watch(more)
    assert sorted(store.saved) == list(range(more.asked))  # each once
    assert equal(more.results, run(LONG_FITTED, more.asked, n_jobs=1, store=Store(None)))


@pytest.mark.parametrize(
    "experiment", [LONG_COMPILED, pytest.param(LONG_FITTED, marks=pytest.mark.slow)]
)
def test_a_run_that_would_take_long_pauses_after_its_first_trials(store, managed, experiment):
    jobs = managed(store)
    job = jobs.start(experiment, 1000, 0, limit=1e-9)
    watch(job)
    assert job.wait(5)
    assert job.state == "paused"
    assert not job.short
    assert not job.abandoned
    assert 2 <= job.done < 1000
    assert job.seconds_left > 1e-9
    paced, job.pace.together = job.pace.together, 0.0  # the blocks that were under way were quick
    assert job.short
    job.pace.together = paced
    assert jobs.find(experiment, 1000, 0) is job
    assert len(store.stored(experiment.key(experiment.algorithms[0], 0))) == job.done
    again = jobs.start(experiment, 20, 0, limit=1e9)
    watch(again)
    assert again.state == "done"
    assert again.seconds_left == 0
    assert equal(again.results, run(experiment, 20, store=Store(None)))


def test_who_cancels_leaves_the_run_to_the_others(store, managed):
    job = managed(store).start(LONG_FITTED, 1000, 0)
    for name in ("first", "second"):
        job.renew(name)
    assert not job.cancel("first")
    assert job.state == "running"
    assert job.cancel("second")
    assert job.state == "cancelled"


@pytest.mark.slow
def test_cancel_in_a_long_fit(managed):
    job = managed(Store(None)).start(SLOW_FITS, 100, 0)
    watch(job, lambda: job.done == 1)
    watch(job, lambda: len(computing(children())) == 2)
    processes = computing(children())
    job.cancel()
    assert job.state == "cancelled"
    assert job.wait(3)
    assert not computing(alive(processes))  # ended, unless the fit was just over


def test_cancel_compiled_work(managed):
    job = managed(Store(None)).start(LONG_COMPILED, 5000, 0)
    watch(job, lambda: job.seconds_left is not None)

    processes = children()
    watch(job, lambda: computing(processes))
    job.cancel()
    assert job.wait(2)
    assert not computing(processes)


@pytest.mark.slow
def test_nobody_watches(managed):
    jobs = managed(Store(None), lease=1.0)
    fitted, compiled = jobs.start(LONG_FITTED, 1000, 0), jobs.start(LONG_COMPILED, 5000, 0)
    for _ in range(15):  # watched for longer than the lease
        fitted.renew()
        compiled.renew()
        time.sleep(0.1)
    assert fitted.state == compiled.state == "running"
    processes = children()
    assert fitted.wait(4)
    assert compiled.wait(4)
    seconds_until(lambda: not computing(processes), 5)  # one may still be starting
    assert fitted.state == compiled.state == "cancelled"
    assert fitted.abandoned
    assert compiled.abandoned


@pytest.mark.slow
def test_a_killed_parent_takes_its_child_along(tmp_path):
    code = (
        "import time\n"
        "from cpp_core import Experiment, Store\n"
        "from cpp_core.trials.jobs import Jobs\n"
        "experiment = Experiment(dataset='iris', algorithms=('random-forest',))\n"
        f"job = Jobs(Store({str(tmp_path)!r}), lease=60).start(experiment, 1000, 0)\n"
        "while job.seconds_left is None: time.sleep(0.02)\n"
        "print('computing', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"computing\n"
        processes = children(parent.pid)
        assert processes
        parent.kill()
    seconds_until(lambda: not alive(processes), 3)


@pytest.mark.slow
def test_a_child_that_dies(managed):
    jobs = managed(Store(None))
    job = jobs.start(FITTED, 10**5, 0)
    watch(job, lambda: job.done > 10)
    for pid in children():
        psutil.Process(pid).kill()
    watch(job)
    assert job.state == "failed"
    assert "ended unexpectedly (exit code -9)" in job.error
    assert jobs.start(FITTED, 10**5, 0) is not job


def test_a_cluster_that_does_not_answer(managed):
    job = managed(Store(None), scheduler="tcp://127.0.0.1:1").start(COMPILED, 10, 0)
    watch(job)
    assert job.state == "failed"
    assert job.error.startswith("The dask scheduler at tcp://127.0.0.1:1 does not")


@pytest.mark.slow
def test_errors_become_sentences(store, managed):
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    y[0] = np.nan  # a loss that is NaN, unless it is trained on
    table = add_table(rng.normal(size=(400, 2)), y, "regression")
    jobs = managed(store, lease=60)
    job = jobs.start(Experiment(dataset=table.name, algorithms=("ridge",)), 10, 0)
    good = jobs.start(COMPILED, 10, 0)
    watch(job)
    watch(good)
    assert job.state == "failed"
    assert "a loss must be a finite number" in job.error
    assert good.state == "done"

    class Failing(Store):
        def save(self, key, trials, arrays, about=None):
            raise RuntimeError("two\nlines")

    job = managed(Failing(None)).start(COMPILED, 10, 0)
    watch(job)
    assert job.state == "failed"
    assert job.error.startswith("The run stopped at an error (RuntimeError: two lines); start")


def test_a_store_that_cannot_be_written(tmp_path, managed):
    (tmp_path / "file").write_text("not a folder")
    job = managed(Store(tmp_path / "file" / "store")).start(FITTED, 20, 0)
    watch(job)
    assert (job.state, job.done) == ("done", 20)
    assert "will not be remembered" in job.results.problem
    assert equal(job.results, run(FITTED, 20, n_jobs=1, store=Store(None)))


def test_jobs_take_turns(managed):
    jobs = managed(Store(None), lease=60)
    long = [jobs.start(LONG_COMPILED, 5000, seed) for seed in range(3)]
    watch(long[0], lambda: all(job.done > 5 for job in long))
    short = jobs.start(COMPILED, 30, 0)
    waited = []
    watch(short, lambda: waited.append(short.behind))
    assert (short.state, short.behind) == ("done", 0)
    assert all(job.state == "running" for job in long)
    assert max(waited) <= 2  # as many as compute at once
    shares = [job.done for job in long]
    watch(long[0], lambda: all(job.done > done for job, done in zip(long, shares, strict=True)))
    long[0].cancel()
    assert long[0].wait(3)
    jobs.close()
    assert all(job.state == "cancelled" for job in long)


@pytest.mark.slow
def test_a_short_run_passes_long_ones(managed, monkeypatch):
    monkeypatch.setenv("CPP_CORE_FITS", str(10**9))
    jobs = managed(Store(None), lease=100)
    alone = jobs.start(LONG_FITTED, 100, 7)
    start = time.monotonic()
    watch(alone)
    own = time.monotonic() - start
    long = [jobs.start(SLOW_FITS, 100, 0), jobs.start(LONG_COMPILED, 100_000, 0)]
    watch(long[0], lambda: all(job.done > 2 for job in long))
    start = time.monotonic()
    short = jobs.start(LONG_FITTED, 100, 8)
    watch(short)
    assert (
        time.monotonic() - start < 5 * own + 5
    )  # about a third of the processors, and a fit's wait
    assert all(job.state == "running" for job in long)


def test_the_last_jobs_are_kept(managed):
    jobs = managed(Store(None))
    for seed in range(KEPT + 2):
        watch(jobs.start(COMPILED, 1, seed))
    watch(jobs.start(COMPILED, 2, 0))
    kept = [seed for seed in range(KEPT + 2) if jobs.find(COMPILED, 1, seed)]
    assert kept == list(range(2, KEPT + 2))


def test_a_job_that_is_over_holds_no_table(store, managed):
    rng = np.random.default_rng(1)
    table = add_table(rng.normal(size=(60, 2)), rng.normal(size=60), "regression", "Mine")
    job = managed(store).start(Experiment(dataset=table.name, algorithms=("ridge",)), 2000, 0)
    run_, told = weakref.ref(job._run), job._run._own
    assert len(told) > table.table[0].nbytes
    watch(job)
    assert (job.wait(5), job.state, job.behind) == (True, "done", 0)
    del told
    seconds_until(lambda: run_() is None, 5)  # a seat looks again ten times a second
    forget(table.name)


@pytest.mark.slow
def test_a_first_trial_that_takes_long_is_asked_for(managed, monkeypatch):
    monkeypatch.setattr("cpp_core.trials.jobs.FIRST_SECONDS", 1.0)
    jobs = managed(Store(None), lease=60)
    slow = replace(SLOW_FITS, n=1200, variant="z-free", n_sets=100)
    job = jobs.start(slow, 1, 0, limit=0.5)
    watch(job)
    assert (job.state, job.done, job.seconds_left, job.short) == ("paused", 0, None, False)
    assert job.wait(5)
    asked = jobs.start(slow, 1, 0)
    start = time.monotonic()
    watch(asked, lambda: time.monotonic() - start > 3)
    assert asked.state == "running"


def test_stored_results_are_let_go_once_nobody_looks(tmp_path, managed):
    jobs, unstored = managed(Store(tmp_path), lease=600), managed(Store(None), lease=600)
    for own in (jobs, unstored):
        job = own.start(COMPILED, 3, 0)
        watch(job)
        job.watchers = Watchers(0.0)
        time.sleep(0.02)
        own.tidy()
    assert jobs.find(COMPILED, 3, 0) is None
    assert unstored.find(COMPILED, 3, 0).done == 3
    assert jobs.start(COMPILED, 3, 0).state == "done"
    jobs.tidy()  # somebody looks
    assert jobs.find(COMPILED, 3, 0) is not None


@pytest.mark.parametrize(
    ("trials", "seed", "says"), [(0, 0, "trials must be"), (5, -1, "seed must be")]
)
def test_bad_arguments(managed, trials, seed, says):
    with pytest.raises(ValueError, match=says):
        managed(Store(None)).start(COMPILED, trials, seed)
