"""One thread for numerical libraries: what runs in parallel are training runs and trials."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

LATE = "sklearn.utils._openmp_helpers"
"""What loads the libraries of scikit-learn's estimators, on fits of milliseconds 5 times as slow
with two threads: SciPy's linear algebra and OpenMP."""

_changing = Lock()
_libraries: dict[bool, ThreadpoolController] = {}
_limits: dict[bool, Any] = {}
_blocks = 0


def libraries() -> bool:
    """Look for the libraries, and again once scikit-learn is there; which of the two was last.

    Not at each call: to look for them while another thread imports one may deadlock.
    """
    late = "sklearn" in sys.modules
    if late not in _libraries:
        if late:
            __import__(LATE)
        _libraries[late] = ThreadpoolController()
    return late


@contextmanager
def one_thread() -> Iterator[None]:
    """Numerical libraries use one thread until the last of all blocks under way is done.

    Those of scikit-learn only where it is loaded: make the estimator first.
    """
    global _blocks
    with _changing:
        late = libraries()
        if late not in _limits:
            _limits[late] = _libraries[late].limit(limits=1)
        _blocks += 1
    try:
        yield
    finally:
        with _changing:
            _blocks -= 1
            while _limits and not _blocks:
                _limits.popitem()[1].restore_original_limits()
