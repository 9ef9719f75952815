"""Settings of all tests."""

import os

# Before NumPy loads: the tests run in parallel already, threads below them only get in the way.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    """Make our own warnings errors where a test does not expect them.

    In pytest's ini these lines would import the package before its coverage is measured.
    """
    config.addinivalue_line("filterwarnings", "error::cpp_core.ranks.InfiniteEndWarning")
    config.addinivalue_line("filterwarnings", "error::cpp_core.training.FailedFitWarning")


@pytest.fixture(autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's own store out of the tests."""
    monkeypatch.setenv("CPP_CORE_STORE", str(tmp_path_factory.getbasetemp() / "store"))
