"""Settings of all tests, and the results that several files of them draw."""

import os
import sys
import threading
import warnings
from pathlib import Path

# Before NumPy loads: the tests run in parallel already, threads below them only get in the way.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")  # what joblib counts: runs without n_jobs

import pytest  # noqa: E402

pytest.register_assert_rewrite("tests.builders")
PAGES = Path(__file__).parent / "pages"
BROWSER = Path(__file__).parent / "browser"


def pytest_configure(config: pytest.Config) -> None:
    """Make our own warnings errors where a test does not expect them.

    In pytest's ini these lines would import the package before its coverage is measured.
    """
    config.addinivalue_line("filterwarnings", "error::cpp_core.method.ranks.InfiniteEndWarning")
    config.addinivalue_line("filterwarnings", "error::cpp_core.method.training.FailedFitWarning")


def pytest_xdist_auto_num_workers() -> int:
    """Two workers more than there are cores: browsers, servers and runs are waited for a lot."""
    return (os.cpu_count() or 1) + 2


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests in an order in which two workers end together.

    Each begins with one half of the list and helps the other when it is done. The first half opens
    with the tests in a browser, so that one worker needs a server and a browser, the second with
    the other slow ones; quick ones, which are easily shared out, end both.

    Coverage is that of the quick tests of the package's own rooms. Measuring it nearly doubles the
    time of Python code, and laws and pages only go through the same lines again and again.
    """
    for item in items:
        if item.get_closest_marker("slow") or PAGES in item.path.parents:
            item.add_marker("no_cover")
    half = len(items) // 2
    browser = [item for item in items if BROWSER in item.path.parents]
    others = [item for item in items if BROWSER not in item.path.parents]
    slow = [item for item in others if item.get_closest_marker("slow")]
    quick = [item for item in others if not item.get_closest_marker("slow")]
    first = max(half - len(browser), 0)
    items[:] = browser + quick[:first] + slow + quick[first:]


@pytest.hookimpl(wrapper=True, trylast=True)  # inside pytest-cov's own
def pytest_runtest_call(item: pytest.Item):
    """Measure nothing in a test that is not to be covered.

    pytest-cov pauses one measurement, but a worker of pytest-xdist has started two: the other goes
    on, and laws take three times as long.
    """
    if not item.get_closest_marker("no_cover"):
        return (yield)
    here, elsewhere = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)  # type: ignore[arg-type]
    try:
        return (yield)
    finally:
        sys.settrace(here)
        threading.settrace(elsewhere)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's own store out of the tests."""
    monkeypatch.setenv("CPP_CORE_STORE", str(tmp_path_factory.getbasetemp() / "store"))


@pytest.fixture(autouse=True)
def usual_algorithms() -> None:
    """Forget the algorithms that an example in a docstring, or another test, has added."""
    catalog = sys.modules.get("cpp_core.catalog.algorithms")
    if catalog is not None:
        for name in [name for name, known in catalog.ALGORITHMS.items() if known.own]:
            del catalog.ALGORITHMS[name]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait one second, not five, for a scheduler that does not answer."""
    cluster = sys.modules.get("cpp_core.trials.cluster")
    if cluster is not None:
        monkeypatch.setattr(cluster, "ANSWER_SECONDS", 1.0)


# The fixtures below import late, for the same reason as above: coverage would miss the package.


@pytest.fixture
def no_warnings():
    """Make every warning of a test an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture
def forgotten():
    """What one test registers, algorithms and tables, is unknown to the next."""
    from cpp_core import ALGORITHMS
    from cpp_core.catalog.datasets import OWN

    before = dict(ALGORITHMS)
    yield
    ALGORITHMS.clear()
    ALGORITHMS.update(before)
    OWN.clear()


@pytest.fixture(scope="session")
def two():
    """Two algorithms, one with losses twice as large."""
    from tests.builders import drawn

    return drawn()


@pytest.fixture(scope="session")
def trials_of_every_variant(tmp_path_factory: pytest.TempPathFactory):
    """Gives trials of every variant; those that one worker has computed, the others read."""
    from cpp_core import Store, run
    from tests.builders import VARIANTS, experiment_of, unmeasured

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # that of this run, with a folder for each worker
    store = Store(folder / "trials")

    def found(trials, **options):
        with unmeasured():
            return {
                name: run(experiment_of(name, **options), trials, n_jobs=1, store=store)
                for name in VARIANTS
            }

    return found


@pytest.fixture(scope="session")
def every_variant(trials_of_every_variant):
    """Two trials of every variant."""
    return trials_of_every_variant(2, algorithms=("dummy", "naive-bayes"))
