"""Work in a thread that can be watched: how many training runs are done, and a way to stop it."""

import time
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any, Generic, TypeVar

from cpp_core.method.training import BEFORE_FIT

T = TypeVar("T")

PRESENT_SECONDS = 3.0
"""Who has said so within this time waits at this moment."""


class StoppedError(Exception):
    """Raised before a training run whose result nobody wants any more."""


class Watchers:
    """Who waits for some work: each says so again and again, and is gone after the lease."""

    def __init__(self, lease: float) -> None:
        self._lease = lease
        self._seen = {"": time.monotonic()}

    def renew(self, who: str = "") -> None:
        """Say that somebody waits."""
        self._seen[who] = time.monotonic()

    def leave(self, who: str) -> bool:
        """Take out one who waits no longer; whether nobody else who has a name waits now.

        Without a name it is whoever owns the work, and speaks for all.
        """
        if not who:
            return True
        self._seen.pop(who, None)
        seen = list(self._seen.items())
        return not any(name and time.monotonic() - at < PRESENT_SECONDS for name, at in seen)

    @property
    def gone(self) -> bool:
        """Whether nobody has waited for the lease."""
        return time.monotonic() - max(self._seen.values(), default=0.0) > self._lease


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
    watchers : Watchers
    """

    def __init__(
        self, executor: Executor, function: Callable[..., T], *args: Any, lease: float = 10.0
    ) -> None:
        self.done, self.cancelled, self.watchers = 0, False, Watchers(lease)
        self._started = time.monotonic()
        self.pending = executor.submit(self._work, function, *args)

    def cancel(self, who: str = "") -> bool:
        """Stop before the next training run, unless others than ``who`` wait; whether it stops."""
        if self.watchers.leave(who):
            self.cancelled = True
        return self.cancelled

    @property
    def stopped(self) -> bool:
        """Whether it ended without a result because nobody wanted one."""
        return self.pending.done() and isinstance(self.pending.exception(), StoppedError)

    def seconds_left(self, fits: int) -> float | None:
        """About how long the rest of so many training runs takes; None before the first two."""
        if self.done < 2:
            return None
        pace = (time.monotonic() - self._started) / self.done
        return pace * max(fits - self.done, 0)

    def _work(self, function: Callable[..., T], *args: Any) -> T:
        self._started = time.monotonic()
        token = BEFORE_FIT.set(self._trains)
        try:
            return function(*args)
        finally:
            BEFORE_FIT.reset(token)

    def _trains(self) -> None:
        if self.cancelled or self.watchers.gone:
            raise StoppedError(f"after {self.done} training runs")
        self.done += 1
