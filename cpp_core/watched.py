"""Work in a thread that can be watched: how many training runs are done, and a way to stop it."""

import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class StoppedError(Exception):
    """Raised before a training run whose result nobody wants any more."""


class Watched(Generic[T]):
    """A computation in the background, one object for everybody who waits for it.

    It stops before its next training run once it is cancelled, or when nobody has renewed it for
    ``lease`` seconds.

    Attributes
    ----------
    pending : Future
        What it finds.
    done : int
        Training runs so far.
    cancelled : bool
        Whether somebody cancelled it.
    """

    def __init__(
        self, executor: Executor, function: Callable[..., T], *args: Any, lease: float = 10.0
    ) -> None:
        self.done, self.cancelled = 0, False
        self._lease, self._renewed, self._started = lease, time.monotonic(), time.monotonic()
        self.pending = executor.submit(self._run, function, *args)

    def renew(self) -> None:
        """Say that somebody waits."""
        self._renewed = time.monotonic()

    def cancel(self) -> None:
        """Stop before the next training run."""
        self.cancelled = True

    @property
    def stopped(self) -> bool:
        """Whether it ended without a result because nobody wanted one."""
        return self.pending.done() and isinstance(self.pending.exception(), StoppedError)

    def seconds_left(self, runs: int) -> float | None:
        """About how long the rest of so many training runs takes; None before the first two."""
        if self.done < 2:
            return None
        pace = (time.monotonic() - self._started) / self.done
        return pace * max(runs - self.done, 0)

    def _run(self, function: Callable[..., T], *args: Any) -> T:
        self._started = time.monotonic()
        token = _current.set(self)
        try:
            return function(*args)
        finally:
            _current.reset(token)

    def _trains(self) -> None:
        if self.cancelled or time.monotonic() - self._renewed > self._lease:
            raise StoppedError(f"after {self.done} training runs")
        self.done += 1


_current: ContextVar[Watched[Any] | None] = ContextVar("watched", default=None)


def about_to_train() -> None:
    """Every training run says so first; in work that is watched it counts, or stops."""
    watched = _current.get()
    if watched is not None:
        watched._trains()
