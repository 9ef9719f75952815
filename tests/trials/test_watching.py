"""Work that is watched: counted, cancelled, given up, refused; its process is of use again."""

import time
from contextlib import suppress

import numpy as np
import psutil
import pytest
from sklearn.dummy import DummyRegressor

from cpp_core import Experiment
from cpp_core.method.training import train
from cpp_core.trials.case_study import case_study
from cpp_core.trials.children import RunError
from cpp_core.trials.crew import Crew
from cpp_core.trials.watching import StoppedError, Watched
from pages.parts.live import awaited

pytestmark = pytest.mark.slow
X, Y = np.zeros((3, 1)), np.arange(3.0)


@pytest.fixture(scope="module")
def crew():
    crew = Crew(1)
    yield crew
    crew.close()


def fits(n, seconds=0.0):
    for _ in range(n):
        train(DummyRegressor(), X, Y, np.random.default_rng(0))
        time.sleep(seconds)
    return n


def holds(bytes_, seconds):
    kept = np.ones(bytes_ // 8)
    train(DummyRegressor(), X, Y, np.random.default_rng(0))
    time.sleep(seconds)
    return kept.size


def begun(study, fits=1):
    deadline = time.monotonic() + 60
    while study.done < fits:
        assert time.monotonic() < deadline, "it has not begun"
        study.watchers.renew()
        time.sleep(0.02)


def memory():
    """Bytes that the children hold."""
    return sum(p.memory_info().rss for p in psutil.Process().children(recursive=True))


def test_training_runs_are_counted(crew):
    first, second = (Watched(crew, fits, n, lease=60) for n in (5, 3))
    assert (first.pending.result(60), second.pending.result(60)) == (5, 3)
    assert (first.done, second.done) == (5, 3)
    assert not first.stopped


def test_a_cancelled_study_ends_within_a_fit_and_leaves_nothing(crew):
    Watched(crew, fits, 1, lease=60).pending.result(60)
    before = memory()
    study = Watched(crew, holds, 2**29, 60.0, lease=60)
    deadline = time.monotonic() + 20
    while memory() < before + 2**29 and time.monotonic() < deadline:
        time.sleep(0.05)
    start = time.monotonic()
    assert study.cancel()
    with pytest.raises(StoppedError):
        study.pending.result(10)
    assert time.monotonic() - start < 3
    assert (study.stopped, study.cancelled) == (True, True)
    while memory() >= before + 2**28:  # the system takes it back when it gets round to it
        assert time.monotonic() - start < 10
        time.sleep(0.05)
    assert Watched(crew, fits, 2, lease=60).pending.result(60) == 2


def test_nobody_waits(crew):
    study = Watched(crew, fits, 1000, 0.1, lease=1.0)
    begun(study)
    assert isinstance(study.pending.exception(10), StoppedError)
    assert (study.stopped, study.cancelled) == (True, False)
    assert 0 < study.done < 100


def test_who_renews_keeps_it_going(crew):
    study = Watched(crew, fits, 20, 0.1, lease=1.0)
    while not study.pending.done():
        study.watchers.renew("somebody")
        time.sleep(0.05)
    assert study.pending.result() == 20
    assert study.seconds_left(40) > 0


def test_what_nobody_asked_for_ends_when_its_time_is_over(crew):
    busy = Watched(crew, fits, 60, 0.05, lease=60)
    begun(busy)
    study = Watched(crew, fits, 1000, 0.05, lease=60, limit=1.0)
    time.sleep(1.5)  # who waits for a turn takes no time
    assert not study.pending.done()
    assert busy.pending.result(60) == 60  # its process, which has loaded all, is free
    begun(study)
    start = time.monotonic()
    assert isinstance(study.pending.exception(10), StoppedError)
    assert time.monotonic() - start < 5
    assert (study.stopped, study.late, study.cancelled) == (True, True, False)
    assert 2 < study.done < 100
    left = study.seconds_left(1000)
    assert left == pytest.approx(1000 / study.done - 1)
    asked = Watched(crew, fits, 40, 0.05, lease=60, limit=None)
    assert asked.pending.result(60) == 40


def test_others_go_on_waiting(crew):
    study = Watched(crew, fits, 1000, 0.1, lease=60)
    begun(study)
    for name in ("first", "second"):
        study.watchers.renew(name)
    assert not study.cancel("first")
    assert not study.cancelled
    assert study.cancel("second")
    assert isinstance(study.pending.exception(10), StoppedError)


def test_one_that_has_not_begun_is_cancelled_at_once(crew):
    busy = Watched(crew, fits, 1000, 0.1, lease=60)
    begun(busy)
    waiting = Watched(crew, fits, 1, lease=60)
    assert waiting.behind == 0  # not yet worth a word
    time.sleep(1.2)
    assert (waiting.behind, busy.behind) == (1, 0)
    waiting.cancel()
    busy.cancel()
    assert isinstance(waiting.pending.exception(10), StoppedError)
    assert waiting.done == 0


def test_other_errors_are_no_stop(crew):
    study = Watched(crew, int, "many", lease=60)
    assert isinstance(study.pending.exception(60), ValueError)
    assert not study.stopped
    broken = Watched(crew, divmod, 1, 0, lease=60)
    assert isinstance(broken.pending.exception(60), RunError)


def test_one_that_takes_too_much_memory(monkeypatch):
    monkeypatch.setenv("CPP_CORE_MEMORY", "0.2")
    crew = Crew(1)
    study = Watched(crew, holds, 2**29, 60.0, lease=60)
    with pytest.raises(RunError, match=r"took more than the 0\.2 GiB of memory that are allowed"):
        study.pending.result(60)
    crew.close()
    assert not study.stopped


def test_a_child_that_has_nothing_to_do_gives_memory_back_and_ends_unless_it_is_the_last(
    monkeypatch,
):
    monkeypatch.setattr("cpp_core.trials.crew.IDLE_SECONDS", 0.5)
    others = set(psutil.Process().children())
    crew = Crew(1)
    assert Watched(crew, holds, 2**29, 0.0, lease=60).pending.result(60) == 2**26
    deadline = time.monotonic() + 60
    while True:
        own = set(psutil.Process().children()) - others
        with suppress(psutil.NoSuchProcess):
            if len(own) == 1 and sum(p.memory_info().rss for p in own) < 2**29:
                break
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert Watched(crew, fits, 2, lease=60).pending.result(60) == 2
    crew.close()


def test_what_an_error_was_told_to_is_not_remembered(crew):
    study = Watched(crew, int, "many", lease=60)
    error = study.pending.exception(60)
    for _ in range(2):
        with pytest.raises(ValueError, match="many") as raised:
            awaited(study, lambda limit: None, "Words", 1, "place")
        assert raised.value is not error
        assert raised.value.__context__ is None
    assert error.__traceback__ is None


def test_a_study_of_cases_counts_all_its_runs(crew):
    experiment = Experiment(
        dataset="iris", algorithms=("naive-bayes", "dummy"), variant="z-variable", n_sets=5
    )
    study = Watched(crew, case_study, experiment, 0, lease=60)
    found = study.pending.result(60)
    assert study.done == 2 * experiment.sizes.fits
    assert (found.sets("dummy") == case_study(experiment, 0).sets("dummy")).all()
