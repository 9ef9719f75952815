"""Background runs: watched, joined, cancelled, resumed, with real threads and processes."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from cpp_core import LOSSES, Experiment, Loss, Store, add_table, run
from cpp_core.trials.jobs import KEPT, Jobs

COMPILED = Experiment(dataset="quadnoise", algorithms=("gd", "sgd"), n=300, test_size=60)
LONG_COMPILED = Experiment.preset("quadnoise-algorithm")  # about 20 ms a trial
FITTED = Experiment(dataset="iris", algorithms=("naive-bayes", "dummy"))
LONG_FITTED = Experiment(  # about 20 ms a trial
    dataset="iris",
    algorithms=("random-forest",),
    algorithm_settings={"random-forest": {"n_estimators": 15}},
)
SLOW_FITS = Experiment(dataset="digits", algorithms=("boosting",))  # seconds a trial


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


@pytest.fixture
def managed():
    """Makes managers that are closed after the test."""
    made = []

    def make(store, **options):
        made.append(Jobs(store, **{"n_jobs": 2, **options}))
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


def leaders(parent=None):
    """Children of a process that lead a group of their own."""
    children = psutil.Process(parent).children()
    return [
        p.pid for p in children if p.status() != psutil.STATUS_ZOMBIE and os.getpgid(p.pid) == p.pid
    ]


def alive(group):
    """The processes of a group that can still use a processor."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            pass
    return found


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
    seconds_until(leaders, 5)
    (group,) = leaders()
    watch(job)
    assert (job.state, job.done) == ("done", 40)
    assert job.wait(3)
    assert not alive(group)
    assert equal(job.results, run(FITTED, 40, n_jobs=1, store=Store(None)))
    assert store.stored(FITTED.key("dummy", 0)) == list(range(40))
    assert jobs.start(FITTED, 40, 0) is job
    fewer = jobs.start(FITTED, 30, 0)
    assert (fewer.state, fewer.done) == ("done", 30)
    assert not leaders()


@pytest.mark.slow
def test_cancel_and_resume(tmp_path, managed):
    store = Recording(tmp_path)
    jobs = managed(store)
    job = jobs.start(LONG_FITTED, 1000, 0)
    watch(job, lambda: job.seconds_left is not None)
    (group,) = leaders()
    watch(job, lambda: len(alive(group)) > 3)  # with workers of its own
    assert 2 <= job.done < 1000
    assert job.seconds_left > 0
    start = time.monotonic()
    job.cancel()
    assert time.monotonic() - start < 0.1
    assert (job.state, job.abandoned) == ("cancelled", False)
    assert job.seconds_left > 0  # what going on would take
    seconds_until(lambda: not alive(group), 2 - (time.monotonic() - start))
    assert job.wait(2)
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
    "experiment", [COMPILED, pytest.param(LONG_FITTED, marks=pytest.mark.slow)]
)
def test_a_run_that_would_take_long_pauses_after_its_first_trials(store, managed, experiment):
    jobs = managed(store)
    job = jobs.start(experiment, 1000, 0, limit=1e-9)
    watch(job)
    assert job.wait(5)
    assert job.state == "paused"
    assert not job.abandoned
    assert 2 <= job.done < 1000
    assert job.seconds_left > 1e-9
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
    (group,) = leaders()
    job.cancel()
    seconds_until(lambda: not alive(group), 2)
    assert job.state == "cancelled"


def test_cancel_compiled_work(managed):
    job = managed(Store(None)).start(LONG_COMPILED, 5000, 0)
    watch(job, lambda: job.seconds_left is not None)

    def busy():
        used = time.process_time()
        time.sleep(0.3)
        return time.process_time() - used > 0.1

    seconds_until(busy, 10)
    job.cancel()
    seconds_until(lambda: not busy(), 2)
    assert job.wait(2)


@pytest.mark.slow
def test_nobody_watches(managed):
    jobs = managed(Store(None), lease=1.0)
    fitted, compiled = jobs.start(LONG_FITTED, 1000, 0), jobs.start(LONG_COMPILED, 5000, 0)
    for _ in range(15):  # watched for longer than the lease
        fitted.renew()
        compiled.renew()
        time.sleep(0.1)
    assert fitted.state == compiled.state == "running"
    (group,) = leaders()
    assert fitted.wait(4)
    assert compiled.wait(4)
    assert not alive(group)
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
        f"job = Jobs(Store({str(tmp_path)!r}), n_jobs=2, lease=60).start(experiment, 1000, 0)\n"
        "while job.seconds_left is None: time.sleep(0.02)\n"
        "print('computing', flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"computing\n"
        (group,) = leaders(parent.pid)
        seconds_until(lambda: len(alive(group)) > 3, 20)  # with workers of its own
        parent.kill()
    seconds_until(lambda: not alive(group), 3)


def test_a_child_that_dies(managed):
    jobs = managed(Store(None))
    job = jobs.start(FITTED, 10**5, 0)
    seconds_until(leaders, 5)
    os.kill(leaders()[0], signal.SIGKILL)
    watch(job)
    assert job.state == "failed"
    assert "ended unexpectedly (exit code -9)" in job.error
    assert jobs.start(FITTED, 10**5, 0) is not job


def test_a_cluster_that_does_not_answer(managed):
    job = managed(Store(None), scheduler="nowhere://127.0.0.1:1").start(COMPILED, 10, 0)
    watch(job)
    assert job.state == "failed"
    assert job.error.startswith("The dask scheduler at nowhere://127.0.0.1:1 does not")


def test_errors_become_sentences(store, managed, monkeypatch):
    def sometimes_nan(candidate, X, y):
        return np.where(X[:, 0] > 2, np.nan, 0.0)

    monkeypatch.setitem(LOSSES, "broken", Loss("broken", sometimes_nan, low=0, high=1))
    rng = np.random.default_rng(0)
    table = add_table(rng.normal(size=(400, 2)), rng.normal(size=400), "regression")
    jobs = managed(store)
    job = jobs.start(Experiment(dataset=table.name, algorithms=("ridge",), loss="broken"), 10, 0)
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


def test_two_at_once_others_wait(managed):
    jobs = managed(Store(None), lease=60)
    first, second, third, fourth = (jobs.start(LONG_COMPILED, 5000, seed) for seed in range(4))
    watch(first, lambda: first.done > 20 and second.done > 20)
    assert third.state == fourth.state == "running"
    assert third.done == fourth.done == 0
    fourth.cancel()
    assert fourth.wait(1)
    first.cancel()
    watch(third, lambda: third.done > 0)
    assert second.state == "running"
    jobs.close()
    assert second.state == third.state == "cancelled"


def test_the_last_jobs_are_kept(managed):
    jobs = managed(Store(None))
    for seed in range(KEPT + 2):
        watch(jobs.start(COMPILED, 1, seed))
    watch(jobs.start(COMPILED, 2, 0))
    kept = [seed for seed in range(KEPT + 2) if jobs.find(COMPILED, 1, seed)]
    assert kept == list(range(2, KEPT + 2))


@pytest.mark.parametrize(
    ("trials", "seed", "says"), [(0, 0, "trials must be"), (5, -1, "seed must be")]
)
def test_bad_arguments(managed, trials, seed, says):
    with pytest.raises(ValueError, match=says):
        managed(Store(None)).start(COMPILED, trials, seed)
