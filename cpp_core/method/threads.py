"""One thread for numerical libraries: what runs in parallel are training runs and trials."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

_LIBRARIES = ThreadpoolController()
"""Once for the process: looking for libraries while another thread imports one may deadlock."""

_changing = Lock()
_limits: list[Any] = []


@contextmanager
def one_thread() -> Iterator[None]:
    """Numerical libraries use one thread until the last of all blocks under way is done."""
    with _changing:
        _limits.append(_limits[0] if _limits else _LIBRARIES.limit(limits=1))
    try:
        yield
    finally:
        with _changing:
            limit = _limits.pop()
            if not _limits:
                limit.restore_original_limits()
