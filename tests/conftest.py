"""Settings of all tests, and the results that several files of them draw."""

import os
import sys
import warnings
from pathlib import Path

# Before NumPy loads: the tests run in parallel already, threads below them only get in the way.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")  # what joblib counts: runs without n_jobs

import pytest  # noqa: E402

pytest.register_assert_rewrite("tests.builders")
PAGES = Path(__file__).parent / "pages"


def pytest_configure(config: pytest.Config) -> None:
    """Make our own warnings errors where a test does not expect them.

    In pytest's ini these lines would import the package before its coverage is measured.
    """
    config.addinivalue_line("filterwarnings", "error::cpp_core.method.ranks.InfiniteEndWarning")
    config.addinivalue_line("filterwarnings", "error::cpp_core.method.training.FailedFitWarning")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: one that comes last would keep a single worker busy at the end.

    Coverage is that of the quick tests of the package's own rooms. Measuring it nearly doubles the
    time of Python code, and laws and pages only go through the same lines again and again.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    for item in items:
        if item.get_closest_marker("slow") or PAGES in item.path.parents:
            item.add_marker("no_cover")


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's own store out of the tests."""
    monkeypatch.setenv("CPP_CORE_STORE", str(tmp_path_factory.getbasetemp() / "store"))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait one second, not five, for a scheduler that does not answer."""
    running = sys.modules.get("cpp_core.trials.running")
    if running is not None:
        monkeypatch.setattr(running, "SCHEDULER_SECONDS", 1.0)


# The fixtures below import late, for the same reason as above: coverage would miss the package.


@pytest.fixture
def no_warnings():
    """Make every warning of a test an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


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
