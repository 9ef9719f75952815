"""Runs: the same numbers on any workers, resumed, never computed twice."""

import os
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest

import cpp_core.trials.running
from cpp_core import Experiment, Store, add_table, run, stream
from cpp_core.trials.jobs import Jobs
from cpp_core.trials.running import SchedulerError, workers, works_in_threads

PLAIN = Experiment(dataset="iris", algorithms=("naive-bayes", "dummy"))
QUICK = Experiment(dataset="quadnoise", algorithms=("gd", "sgd"), n=300, test_size=60)


def equal(first, second):
    return all(
        (values == second.arrays[name][key]).all()
        for name, arrays in first.arrays.items()
        for key, values in arrays.items()
    )


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.mark.parametrize("experiment", [PLAIN, QUICK], ids=["plain", "compiled"])
def test_any_workers_any_blocks_any_backend(experiment, monkeypatch):
    alone = run(experiment, 30, n_jobs=1, store=Store(None))
    assert alone.trials.tolist() == list(range(30))
    monkeypatch.setattr(cpp_core.trials.running, "_short", lambda pace, todo: False)
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT")  # None means the machine's cores here
    for backend, n_jobs in (("threading", 3), ("threading", None), ("loky", 2), ("loky", None)):
        for seconds in (1e-4, 10.0):
            monkeypatch.setattr(cpp_core.trials.running, "BLOCK_SECONDS", seconds)
            found = run(experiment, 30, n_jobs=n_jobs, backend=backend, store=Store(None))
            assert equal(alone, found)


def test_workers_are_one_for_each_core_unless_said_otherwise(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    assert workers(None) == joblib.cpu_count() == Jobs(Store(None)).n_jobs
    assert workers(3) == 3
    asked = []
    pool = cpp_core.trials.running._pool

    def noting(backend, scheduler, n_jobs):
        asked.append(n_jobs)
        return pool(backend, scheduler, n_jobs)

    monkeypatch.setattr(cpp_core.trials.running, "_pool", noting)
    monkeypatch.setattr(cpp_core.trials.running, "_short", lambda pace, todo: False)
    run(QUICK, 600, backend="threading", store=Store(None))
    assert asked == [joblib.cpu_count()] or joblib.cpu_count() == 1


def test_the_workers_that_suit():
    assert works_in_threads(Experiment.preset("digits-candidate"))
    assert works_in_threads(Experiment.preset("quadnoise-algorithm"))
    assert not works_in_threads(Experiment.preset("digits-instance"))
    assert not works_in_threads(PLAIN)


def test_nothing_is_computed_twice(store, monkeypatch):
    computed = []
    original = cpp_core.trials.running.run_block

    def counting(experiment, seed, trials, table=None):
        computed.extend((name, trial) for name in experiment.algorithms for trial in trials)
        return original(experiment, seed, trials, table)

    monkeypatch.setattr(cpp_core.trials.running, "run_block", counting)
    first = run(PLAIN, 10, n_jobs=1, store=store)
    assert len(computed) == 20
    again = run(PLAIN, 10, n_jobs=1, store=Store(store.folder))
    assert len(computed) == 20
    assert equal(first, again)
    more = run(PLAIN, 25, n_jobs=1, store=store)
    assert len(computed) == 50
    assert (more.arrays["dummy"]["test"][:10] == first.arrays["dummy"]["test"]).all()
    rival = Experiment(dataset="iris", algorithms=("naive-bayes", "knn"))
    run(rival, 25, n_jobs=1, store=store)
    assert len(computed) == 75
    assert {name for name, _ in computed[50:]} == {"knn"}
    fewer = run(PLAIN, 5, n_jobs=1, store=store)
    assert len(computed) == 75
    assert len(fewer.trials) == 5
    run(PLAIN, 5, n_jobs=1, store=store, fresh=True)
    assert len(computed) == 85
    run(PLAIN, 5, seed=1, n_jobs=1, store=store)
    assert len(computed) == 95


def test_partial_results_grow(store, monkeypatch):
    monkeypatch.setattr(cpp_core.trials.running, "BLOCK_SECONDS", 1e-4)
    seen = []
    for results in stream(PLAIN, 8, n_jobs=1, store=store):
        seen.append(len(results.trials))
        assert results.asked == 8
        assert len(results.at(0.2)) == 2 * len(results.trials)
    assert seen == sorted(seen)
    assert seen[0] < 8
    assert seen[-1] == 8
    calls = []
    run(PLAIN, 8, store=store, progress=lambda done, asked: calls.append((done, asked)))
    assert calls == [(8, 8)]


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_stopped_run_goes_on(store, monkeypatch, backend):
    monkeypatch.setattr(cpp_core.trials.running, "BLOCK_SECONDS", 1e-4)
    monkeypatch.setattr(cpp_core.trials.running, "_short", lambda pace, todo: False)
    partial = stream(PLAIN, 40, n_jobs=2, backend=backend, store=store)
    for results in partial:
        if len(results.trials) >= 6:
            break
    start = time.time()
    partial.close()
    assert time.time() - start < 2
    assert len(store.stored(PLAIN.key("dummy", 0))) >= 6
    assert equal(run(PLAIN, 40, store=store), run(PLAIN, 40, n_jobs=1, store=Store(None)))


def test_killed_runs_keep_their_blocks(tmp_path):
    code = (
        "import cpp_core.trials.running as r; r.BLOCK_SECONDS = 1e-3\n"
        "from cpp_core import *\n"
        "e = Experiment(dataset='iris', algorithms=('naive-bayes', 'dummy'))\n"
        f"run(e, 100000, n_jobs=1, store=Store({str(tmp_path)!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    key = PLAIN.key("naive-bayes", 0)
    deadline = time.time() + 60
    while time.time() < deadline and len(Store(tmp_path).stored(key)) < 12:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    store = Store(tmp_path)
    assert len(store.stored(key)) >= 12
    resumed = run(PLAIN, 20, n_jobs=1, store=store)
    assert equal(resumed, run(PLAIN, 20, n_jobs=1, store=Store(None)))


def test_a_damaged_block_is_computed_again(store):
    first = run(PLAIN, 10, n_jobs=1, store=store)
    for path in store.folder.glob("*/*.npz"):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    assert equal(first, run(PLAIN, 10, n_jobs=1, store=store))


def test_a_store_that_cannot_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    results = run(PLAIN, 5, n_jobs=1, store=Store(blocked / "store"))
    assert len(results.trials) == 5
    assert "will not be remembered" in results.problem


def test_own_tables(store):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.where(rng.random(200) < 0.5, "yes", "no")
    table = add_table(X, y, "classification")
    assert add_table(X, y, "classification").name == table.name
    assert add_table(X, y[::-1].copy(), "classification").name != table.name
    experiment = Experiment(dataset=table.name, algorithms=("naive-bayes",))
    results = run(experiment, 20, n_jobs=2, store=store)
    assert equal(results, run(experiment, 20, n_jobs=2, backend="loky", store=Store(None)))


@pytest.mark.slow
def test_a_cluster_gives_the_same(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cpp_core.trials.running, "SCHEDULER_SECONDS", 30.0)
    monkeypatch.setattr(cpp_core.trials.running, "BLOCK_SECONDS", 1e-3)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster:
        results = run(PLAIN, 12, scheduler=cluster.scheduler_address, store=Store(None))
    assert equal(results, run(PLAIN, 12, n_jobs=1, store=Store(None)))


def test_an_unreachable_scheduler():
    start = time.time()
    with pytest.raises(SchedulerError, match=r"at tcp://127.0.0.1:1 does not answer.*leave the"):
        run(PLAIN, 5, scheduler="tcp://127.0.0.1:1", store=Store(None))
    assert time.time() - start < 10


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"trials": 0}, "trials must be a whole number of at least 1"),
        ({"trials": -3}, "trials must be"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"backend": "threads"}, "backend must be one of"),
        ({"backend": "dask"}, "needs a scheduler"),
    ],
)
def test_bad_arguments(options, says):
    with pytest.raises(ValueError, match=says):
        run(PLAIN, store=Store(None), **options)
