"""What the machine lacks is never a result: not of a fit, a loss, a run or a job."""

import errno
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace

import numpy as np
import pytest

from cpp_core import ALGORITHMS, LOSSES, AlgorithmCPP, Experiment, Loss, Store, add_table, run
from cpp_core.catalog.datasets import register, table_dataset
from cpp_core.method.evaluation import LossError, evaluate
from cpp_core.method.machine import MachineError, no_machine_failure, of_machine
from cpp_core.method.training import FailedCandidate, train
from cpp_core.trials.jobs import Jobs
from tests.builders import Mean, Starved, Starving

X, Y = np.zeros((3, 1)), np.array([-1.0, 0, 1])


def caused(error, cause):
    error.__cause__ = cause
    return error


MACHINE = [
    MemoryError(),
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EMFILE, "Too many open files"),
    BrokenProcessPool("a child was killed"),
    RuntimeError("can't start new thread"),
    RuntimeError("CUDA out of memory"),
    caused(ValueError("all folds failed"), MemoryError()),
]
ALGORITHMS_OWN = [
    ValueError("no convergence"),
    RecursionError("maximum recursion depth exceeded"),
    FileNotFoundError(errno.ENOENT, "No such file"),
    RuntimeError("a negative label came first"),
    caused(ValueError("singular"), ZeroDivisionError()),
]


class Raising(Mean):
    def __init__(self, error):
        self.error = error

    def fit(self, X, y):
        raise self.error


@pytest.mark.parametrize("error", MACHINE, ids=repr)
def test_failures_of_the_machine(error):
    with pytest.raises(MachineError, match=r"start again\.$"):
        train(Raising(error), X, Y, np.random.default_rng(0))
    with pytest.raises(MachineError), no_machine_failure():
        raise error

    def function(candidate, X, y):
        raise error

    with pytest.raises(MachineError):
        evaluate(Loss("mine", function), Mean().fit(X, Y), X, Y)


@pytest.mark.parametrize("error", ALGORITHMS_OWN, ids=repr)
def test_failures_of_the_algorithm(error):
    assert of_machine(error) is None
    assert isinstance(train(Raising(error), X, Y, np.random.default_rng(0)), FailedCandidate)
    with pytest.raises(type(error)), no_machine_failure():
        raise error

    def function(candidate, X, y):
        raise error

    with pytest.raises(LossError):
        evaluate(Loss("mine", function), Mean().fit(X, Y), X, Y)


def test_one_sentence_however_often_it_is_told():
    with pytest.raises(MachineError) as told, no_machine_failure(), no_machine_failure():
        raise MemoryError("Unable to allocate 3 TiB")
    assert str(told.value).count("Unable to allocate 3 TiB") == 1


def test_an_estimator_stops():
    rng = np.random.default_rng(0)
    with pytest.raises(MachineError, match="Unable to allocate 3 TiB"):
        AlgorithmCPP(Starved(), loss="squared_error", n_sets=9, random_state=0).conformalize(
            rng.normal(size=(90, 1)), rng.normal(size=90)
        )


@pytest.fixture
def starved(monkeypatch, forgotten):
    """An experiment whose memory is at an end after some trials."""
    monkeypatch.setitem(
        ALGORITHMS,
        "starved",
        replace(ALGORITHMS["ridge"], name="starved", makers={"regression": Starved}, own=True),
    )
    rng = np.random.default_rng(1)
    y = np.abs(rng.normal(size=400))
    y[:3] *= -1
    table = add_table(rng.normal(size=(400, 1)), y, "regression")
    return Experiment(dataset=table.name, algorithms=("starved",), loss="squared_error")


def test_a_run_stops_and_stores_none_of_the_block(starved, tmp_path):
    store = Store(tmp_path)
    with pytest.raises(MachineError, match="ran out of memory"):
        run(starved, 2000, store=store, n_jobs=1)
    key = starved.key("starved", 0)
    found, arrays = store.load(key, range(2000))
    assert 0 <= len(found) < 2000
    assert not found or not arrays["failed"].any()


def test_a_job_stops_with_a_sentence(tmp_path, forgotten):
    table = table_dataset(
        "starving", "Starving", Starving(np.zeros((40, 1))), np.arange(40.0), "regression", own=True
    )
    register(table)
    experiment = Experiment(dataset="starving", algorithms=("dummy",))
    jobs = Jobs(Store(tmp_path), lease=60)
    job = jobs.start(experiment, 20, 0)
    assert job.wait(60)
    assert job.state == "failed"
    assert job.error.startswith("The machine ran out of memory (MemoryError: Unable to allocate 3")
    assert Store(tmp_path).load(experiment.key("dummy", 0), range(20)) == ([], {})


def test_a_loss_that_finds_no_memory(monkeypatch):
    def function(candidate, X, y):
        raise MemoryError

    monkeypatch.setitem(LOSSES, "hungry", Loss("hungry", function, low=0, high=1))
    experiment = Experiment(dataset="iris", algorithms=("dummy",), loss="hungry")
    with pytest.raises(MachineError, match=r"\(MemoryError: no details\)"):
        run(experiment, 3, store=Store(None), n_jobs=1)
