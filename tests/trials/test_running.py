"""Runs: the same numbers on any workers, resumed, never computed twice."""

import math
import os
import signal
import socket
import subprocess
import sys
import time
from threading import Thread

import joblib
import numpy as np
import pytest

import cpp_core.trials.cluster
import cpp_core.trials.helpers
import cpp_core.trials.pace
import cpp_core.trials.running
from cpp_core import Experiment, Store, add_table, run, stream
from cpp_core.method.machine import SchedulerError
from cpp_core.trials.crew import crew_of_all
from cpp_core.trials.gathered import Gathered
from cpp_core.trials.helpers import Processes, Threads, learned, shared
from cpp_core.trials.one_trial import run_block
from cpp_core.trials.own import own_of
from cpp_core.trials.pace import Pace
from cpp_core.trials.running import joined, workers, works_in_threads

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


@pytest.fixture
def given(monkeypatch):
    """The blocks that processes were given: some from the start, however little there is to do."""
    blocks, submit = [], Processes.submit

    def noting(self, experiment, seed, numbers):
        blocks.append(numbers)
        return submit(self, experiment, seed, numbers)

    monkeypatch.setattr(Processes, "ready", lambda self, pace, left: True)
    monkeypatch.setattr(Processes, "submit", noting)
    return blocks


@pytest.mark.parametrize("experiment", [PLAIN, QUICK], ids=["plain", "compiled"])
def test_any_workers_any_blocks_any_backend(experiment, given, monkeypatch):
    alone = run(experiment, 30, n_jobs=1, store=Store(None))
    assert alone.trials.tolist() == list(range(30))
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT")  # None means the machine's cores here
    for backend, n_jobs in (("threading", 3), ("threading", None), ("loky", 2), ("loky", -1)):
        for seconds in (1e-4, 10.0):
            monkeypatch.setattr(cpp_core.trials.pace, "BLOCK_SECONDS", seconds)
            given.clear()
            found = run(experiment, 30, n_jobs=n_jobs, backend=backend, store=Store(None))
            assert equal(alone, found)
            assert bool(given) == (backend == "loky" and workers(n_jobs) > 1)


@pytest.mark.slow
def test_processes_join_where_it_pays(monkeypatch):
    monkeypatch.setattr(cpp_core.trials.helpers, "_idle", [])
    monkeypatch.setattr(cpp_core.trials.helpers, "COLD_SECONDS", math.inf)
    first = Processes(1, PLAIN, None)
    pace = Pace()
    for _ in range(3):
        assert not first.ready(pace, 10**9)  # a start would take longer
        pace.saw(1, 0.01)
    monkeypatch.setattr(cpp_core.trials.helpers, "COLD_SECONDS", 1.0)
    assert not first.ready(pace, 50)
    deadline = time.time() + 60
    while not first.ready(pace, 200) and time.time() < deadline:
        time.sleep(0.01)
    assert first.ready(pace, 200)
    first.close(stopped=False)
    again, other = Processes(1, PLAIN, None), Processes(1, QUICK, None)
    assert again.ready(Pace(), 2)  # warm, and it knows what is needed
    assert not other.ready(Pace(), 2)
    again.close(stopped=True)
    other.close(stopped=False)
    assert not Processes(1, PLAIN, None).ready(Pace(), 2)


def test_workers_are_one_for_each_core_unless_said_otherwise(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "2")
    assert workers(None) == joblib.cpu_count() == crew_of_all.__wrapped__().n_jobs
    for n_jobs in (3, 1, -1, -2, -100):
        assert workers(n_jobs) == joblib.effective_n_jobs(n_jobs)
    asked = []
    monkeypatch.setattr(
        cpp_core.trials.running, "Threads", lambda n, part: asked.append(n) or Threads(n, part)
    )
    run(QUICK, 60, store=Store(None))
    assert asked == [joblib.cpu_count() - 1] or joblib.cpu_count() == 1


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
    monkeypatch.setattr(cpp_core.trials.pace, "BLOCK_SECONDS", 1e-4)
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


def test_blocks_that_wait_together_are_one():
    blocks = [(PLAIN, numbers, run_block(PLAIN, 0, numbers)[0]) for numbers in ([4], [0, 2], [1])]
    part, numbers, arrays = joined(blocks)
    whole = run_block(PLAIN, 0, [0, 1, 2, 4])[0]
    assert part is PLAIN
    assert numbers == [0, 1, 2, 4]
    assert arrays.keys() == whole.keys()
    for name, own in whole.items():
        for key, values in own.items():
            np.testing.assert_array_equal(arrays[name][key], values)
    assert joined(blocks[:1]) == blocks[0]


def test_trials_are_missing_by_who_lacks_them():
    gathered = Gathered(PLAIN, 6, 0)
    first, second = PLAIN.algorithms
    gathered.have[first][[0, 1, 4]] = True
    gathered.have[second][[1, 3]] = True
    assert [(part.algorithms, numbers) for part, numbers in gathered.missing()] == [
        ((second,), [0, 4]),
        (PLAIN.algorithms, [2, 5]),
        ((first,), [3]),
    ]
    assert gathered.missing()[1][0] is PLAIN
    gathered.have[first][:] = gathered.have[second][:] = True
    assert gathered.missing() == []


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_stopped_run_goes_on(store, given, monkeypatch, backend):
    monkeypatch.setattr(cpp_core.trials.pace, "BLOCK_SECONDS", 1e-4)
    partial = stream(PLAIN, 40, n_jobs=2, backend=backend, store=store)
    for results in partial:
        if len(results.trials) >= 6:
            break
    start = time.time()
    partial.close()
    assert time.time() - start < 2
    assert len(store.stored(PLAIN.key("dummy", 0))) >= 6
    assert equal(run(PLAIN, 40, store=store), run(PLAIN, 40, n_jobs=1, store=Store(None)))


@pytest.mark.slow
def test_killed_runs_keep_their_blocks(tmp_path):
    code = (
        "import cpp_core.trials.pace as r; r.BLOCK_SECONDS = 1e-3\n"
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


def test_a_forged_block_is_computed_again(store):
    """One that is whole and newest, but has not the arrays of a trial; the others stay."""
    first = run(PLAIN, 10, n_jobs=1, store=store)
    key = PLAIN.key("dummy", 0)
    kept = set(store.folder.glob(f"{key}/*.npz"))
    for arrays in ({"other": np.zeros((10, 1))}, {"test": np.zeros((10, 1))}):
        Store(store.folder).save(key, range(10), arrays)
    assert equal(first, run(PLAIN, 10, n_jobs=1, store=store))
    assert set(store.folder.glob(f"{key}/*.npz")) == kept


def test_a_store_that_cannot_be_written(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    results = run(PLAIN, 5, n_jobs=1, store=Store(blocked / "store"))
    assert len(results.trials) == 5
    assert "will not be remembered" in results.problem


def test_own_tables(store, given):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.where(rng.random(200) < 0.5, "yes", "no")
    table = add_table(X, y, "classification")
    assert add_table(X, y, "classification").name == table.name
    assert add_table(X, y[::-1].copy(), "classification").name != table.name
    experiment = Experiment(dataset=table.name, algorithms=("naive-bayes",))
    results = run(experiment, 20, n_jobs=2, store=store)
    assert given
    assert equal(results, run(experiment, 20, n_jobs=1, store=Store(None)))
    told = shared(own_of(experiment))
    table = learned(told).table.table
    assert (table[0] == X).all()
    assert not table[0].flags.writeable  # memory that all workers map
    os.close(told.file)


@pytest.mark.slow
def test_a_cluster_gives_the_same(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cpp_core.trials.cluster, "ANSWER_SECONDS", 30.0)
    monkeypatch.setattr(cpp_core.trials.pace, "BLOCK_SECONDS", 1e-3)
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster:
        results = run(PLAIN, 12, scheduler=cluster.scheduler_address, store=Store(None))
    assert equal(results, run(PLAIN, 12, n_jobs=1, store=Store(None)))


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_a_sentence_and_nothing_is_lost(store, monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cpp_core.trials.cluster, "ANSWER_SECONDS", 30.0)
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    )
    with cluster:
        partial = stream(PLAIN, 10**4, scheduler=cluster.scheduler_address, store=store)
        seen = next(partial)
        cluster.sync(cluster.scheduler.close)
        start = time.monotonic()
        with pytest.raises(SchedulerError, match="is gone; what was computed is kept"):
            list(partial)
        assert time.monotonic() - start < 10
    assert set(seen.trials.tolist()) <= set(store.stored(PLAIN.key("dummy", 0)))


@pytest.mark.parametrize("other", [None, b"", b"HTTP/1.0 400 Bad Request\r\n\r\n"])
def test_no_scheduler_at_its_address(other):
    """Nobody, somebody who takes the connection and says nothing, and a server of pages."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1] if other is not None else 1
        if other:
            Thread(target=lambda: listener.accept()[0].sendall(other), daemon=True).start()
        start = time.monotonic()
        says = rf"at tcp://127.0.0.1:{port} does not answer.*leave the"
        with pytest.raises(SchedulerError, match=says):
            run(PLAIN, 5, scheduler=f"tcp://127.0.0.1:{port}", store=Store(None))
        assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    "address",
    [
        *("", " ", "tcp://", "tcp://host", "127.0.0.1", "127.0.0.1:-1", "tcp://127.0.0.1:99999"),
        *(
            "tcp://127.0.0.1:abc",
            "tcp://127.0.0.1:0",
            "://",
            "[",
            "tcp://[::1",
            "http://127.0.0.1:9",
        ),
        *("ws://127.0.0.1:9", "tls://127.0.0.1:9", "tcp://127.0.0.1:8786/x", "tcp://..:80"),
        *("localhost:1e3", f"tcp://{'a' * 300}:1", "\x1b[31m"),
    ],
)
def test_a_malformed_address_of_a_scheduler_is_a_sentence(address):
    start = time.monotonic()
    says = r"has an address such as tcp://host:8786, but .* was given \(.*leave it out to compute"
    with pytest.raises(SchedulerError, match=says) as told:
        run(PLAIN, 5, backend="dask", scheduler=address, store=Store(None))
    assert "\x1b" not in str(told.value)
    assert time.monotonic() - start < 5


def test_a_cluster_without_dask_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SchedulerError, match=r"needs dask .*: pip install 'cpp-core\[cluster\]'"):
        run(PLAIN, 5, scheduler="tcp://127.0.0.1:8786", store=Store(None))


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
