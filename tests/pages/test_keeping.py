"""What the server keeps: bounded in bytes, without what it was made from, and nobody else's."""

import gc
import time
import weakref
from dataclasses import replace
from threading import Event, Thread
from types import SimpleNamespace

import numpy as np
import pytest
from plotly.offline import get_plotlyjs

from cpp_core import Experiment, Results, add_table
from cpp_core.catalog.datasets import forget
from cpp_core.figures.compare import first_picture
from cpp_core.trials.one_trial import run_block
from pages.parts.choices import Choice
from pages.parts.keeping import DRAWN, IDLE_SECONDS, SETTING, USUAL, Kept, kept_bytes
from pages.parts.show import LARGE, kept


@pytest.fixture(autouse=True)
def _nothing_is_kept():
    DRAWN.clear()
    yield
    DRAWN.clear()


def of_seed(seed, dataset="iris"):
    experiment = Experiment(dataset=dataset, algorithms=("naive-bayes", "dummy"))
    block, _ = run_block(experiment, seed, range(5))
    return Results(experiment, seed, np.arange(5), block, 5)


def test_the_least_recently_used_go_once_the_budget_is_exceeded(monkeypatch):
    monkeypatch.setenv(SETTING, str(100 / 2**20))
    cache = Kept(0.5, len)  # 50 bytes
    for name in "abcde":
        assert cache.get(name, lambda: 10 * b"x") == 10 * b"x"
    assert len(cache) == 5
    cache.get("a", lambda: pytest.fail("it is there"))
    cache.get("f", lambda: 20 * b"x")
    assert cache.size == 50
    for name in "adef":
        cache.get(name, lambda: pytest.fail("it is there"))
    made = cache.made
    cache.get("b", lambda: 10 * b"x")
    assert cache.made == made + 1


def test_the_newest_stays_even_if_it_is_too_large(monkeypatch):
    monkeypatch.setenv(SETTING, str(100 / 2**20))
    cache = Kept(1.0, len)
    cache.get("small", lambda: b"x")
    cache.get("large", lambda: 1000 * b"x")
    assert len(cache) == 1
    cache.get("large", lambda: pytest.fail("it is there"))


def test_one_that_is_too_large_goes_once_nobody_looks(monkeypatch):
    monkeypatch.setenv(SETTING, str(100 / 2**20))
    cache = Kept(1.0, len)
    cache.get("large", lambda: 1000 * b"x")
    cache.tidy(time.monotonic())
    assert len(cache) == 1
    later = time.monotonic() + 2 * IDLE_SECONDS
    cache.tidy(later)
    assert len(cache) == 0
    cache.get("small", lambda: b"x")
    cache.tidy(later)
    assert len(cache) == 1


def test_a_large_drawing_delays_no_small_one():
    begun, ended = Event(), Event()
    large = of_seed(0)
    object.__setattr__(large, "_readers", {"big": SimpleNamespace(own=np.zeros(LARGE // 8 + 1))})

    def slow(results):
        begun.set()
        assert ended.wait(20)
        return "slow"

    drawings = [Thread(target=kept, args=(slow, large)) for _ in range(2)]
    for drawing in drawings:
        drawing.start()
    assert begun.wait(20)
    assert kept(lambda results: "quick", of_seed(1)) == "quick"
    made = DRAWN.made
    assert made == 1
    ended.set()
    for drawing in drawings:
        drawing.join(20)
    assert kept(slow, large) == "slow"


def test_what_grows_is_measured_again(monkeypatch):
    monkeypatch.setenv(SETTING, str(100 / 2**20))
    cache, first = Kept(1.0, len), [0]
    cache.get("first", lambda: first)
    first += [0] * 99
    cache.get("second", lambda: [0])
    assert len(cache) == 1


@pytest.mark.parametrize("text", ["", "many", "0", "-5", "nan", "inf", "1e999"])
def test_a_setting_that_is_no_size_is_the_usual_one(monkeypatch, text):
    monkeypatch.setenv(SETTING, text)
    assert kept_bytes() == USUAL * 2**20


def test_a_drawing_does_not_hold_the_results_that_it_was_drawn_from():
    results = of_seed(0)
    drawn = kept(first_picture, results, 0.1, "upper", dark=False)
    assert kept(first_picture, of_seed(0), 0.1, "upper", dark=False) is drawn
    assert kept(first_picture, of_seed(1), 0.1, "upper", dark=False) is not drawn
    assert kept(first_picture, results, 0.2, "upper", dark=False) is not drawn
    assert kept(first_picture, results, 0.1, "upper", dark=True) is not drawn
    arrays = weakref.ref(results.arrays["dummy"]["calibration"])
    del results
    gc.collect()
    assert arrays() is None
    assert DRAWN.size > 0


def test_incomplete_results_are_drawn_anew():
    results = replace(of_seed(0), asked=6)
    drawn = kept(first_picture, results, 0.1, "upper", dark=False)
    assert kept(first_picture, results, 0.1, "upper", dark=False) is not drawn
    assert len(DRAWN) == 0


def test_results_grow_while_they_are_read_and_count_that():
    results = of_seed(0)
    before = results.nbytes
    assert before == sum(a.nbytes for own in results.arrays.values() for a in own.values())
    results.curve([0.1, 0.2])
    one = results.nbytes
    results.paired("naive-bayes", "dummy")
    assert before < one < results.nbytes


def test_tables_of_equal_content_keep_their_own_names():
    from pages.report import REPORTS, Look, results_page

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    shown = []
    for owner in ("alice-salaries", "bob-study"):
        results = of_seed(0, add_table(X, y, "classification", owner).name)
        choice = Choice(results.experiment, 0.1, "upper", 5, 0)
        look = Look("", "", (), "decision-maker")
        shown.append(
            (kept(first_picture, results, 0.1, "upper"), results_page(choice, look, results))
        )
    (first, page), (second, other) = shown
    assert first is not second
    assert "alice-salaries" in "".join(page)
    assert "alice-salaries" not in "".join(other)
    REPORTS.clear()
    forget(results.experiment.dataset)


def test_what_a_session_may_download_holds_neither_results_nor_a_library():
    from pages.parts.live import found_again
    from pages.report import REPORTS, Look, complete, results_page

    results = of_seed(3)
    choice = Choice(results.experiment, 0.1, "upper", results.asked, 3)
    slim = results_page(choice, Look("", "", (), "decision-maker"), results)
    whole = complete(slim)
    assert len(slim) == 2
    assert sum(map(len, slim)) < 0.1 * len(whole)
    assert whole.lstrip().startswith("<!doctype html>")
    assert whole.count(get_plotlyjs()) == 1
    found, gone = found_again(results), weakref.ref(results)
    assert found() is results
    REPORTS.clear()
    del results
    gc.collect()
    assert gone() is None
    with pytest.raises(ValueError, match="open the page again"):
        found()
