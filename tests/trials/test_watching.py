"""Work that is watched: counted, cancelled, given up; other threads are not touched."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from cpp_core import Experiment
from cpp_core.method.training import train
from cpp_core.trials.case_study import case_study
from cpp_core.trials.watching import StoppedError, Watched

X, Y = np.zeros((3, 1)), np.arange(3.0)


@pytest.fixture
def executor():
    with ThreadPoolExecutor(2) as executor:
        yield executor


def fits(n, begun=None, go_on=None):
    for i in range(n):
        train(DummyRegressor(), X, Y, np.random.default_rng(0))
        if i == 0 and begun is not None:
            begun.set()
            go_on.wait(10)
    return n


def test_training_runs_are_counted(executor):
    first, second = Watched(executor, fits, 5), Watched(executor, fits, 3)
    assert (first.pending.result(10), second.pending.result(10)) == (5, 3)
    assert (first.done, second.done) == (5, 3)
    assert not first.stopped
    assert fits(2) == 2  # nobody watches this one
    assert (first.done, second.done) == (5, 3)


def test_cancel_stops_before_the_next_run(executor):
    begun, go_on = Event(), Event()
    study = Watched(executor, fits, 5, begun, go_on)
    assert begun.wait(10)
    study.cancel()
    assert not study.stopped
    go_on.set()
    with pytest.raises(StoppedError, match="after 1 training runs"):
        study.pending.result(10)
    assert study.stopped
    assert study.cancelled


@pytest.mark.parametrize("renewed", [False, True])
def test_nobody_waits(executor, monkeypatch, renewed):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    begun, go_on = Event(), Event()
    study = Watched(executor, fits, 5, begun, go_on, lease=10)
    assert begun.wait(10)
    now = 11.0
    assert study.seconds_left(5) is None  # one run tells no pace
    if renewed:
        study.watchers.renew("somebody")
    go_on.set()
    if renewed:
        assert study.pending.result(10) == 5
        assert study.seconds_left(15) == 22.0
    else:
        assert isinstance(study.pending.exception(10), StoppedError)
    assert study.stopped is not renewed
    assert not study.cancelled


def test_others_go_on_waiting(executor):
    begun, go_on = Event(), Event()
    study = Watched(executor, fits, 5, begun, go_on)
    assert begun.wait(10)
    for name in ("first", "second"):
        study.watchers.renew(name)
    assert not study.cancel("first")
    assert not study.cancelled
    assert study.cancel("second")
    go_on.set()
    assert isinstance(study.pending.exception(10), StoppedError)


def test_other_errors_are_no_stop(executor):
    study = Watched(executor, int, "many")
    assert isinstance(study.pending.exception(10), ValueError)
    assert not study.stopped


def test_a_study_of_cases_counts_all_its_runs(executor):
    experiment = Experiment(
        dataset="iris", algorithms=("naive-bayes", "dummy"), variant="z-variable", n_sets=5
    )
    study = Watched(executor, case_study, experiment, 0)
    study.pending.result(60)
    assert study.done == 2 * experiment.sizes.fits
