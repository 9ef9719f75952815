"""Work in a child process that is watched: how many training runs are done, and who waits."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from cpp_core.trials.children import Answer, Request, RunError
from cpp_core.trials.crew import Crew

T = TypeVar("T")

PRESENT_SECONDS = 3.0
"""Who has said so within this time waits at this moment."""


class StoppedError(Exception):
    """What nobody wants any more has ended without a result."""


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
    """A computation in a child process, one object for everybody who waits for it.

    It ends once it is cancelled, when nobody has renewed it for ``lease`` seconds, or when it has
    taken longer than its ``limit``, and its memory with it.

    Attributes
    ----------
    pending : Future
        What it finds.
    done : int
        Training runs so far.
    size : int
        Bytes of what it found; 0 as long as there is nothing.
    cancelled, late : bool
        Whether somebody cancelled it, and whether its time was over.
    limit : float or None
        Seconds that it may take from its turn on, where nobody asked for it; None for no limit.
    watchers : Watchers
    """

    urgent = True

    def __init__(
        self,
        crew: Crew,
        function: Callable[..., T],
        *args: Any,
        own: bytes = b"",
        lease: float = 10.0,
        limit: float | None = None,
    ) -> None:
        self.done, self.size, self.limit, self.watchers = 0, 0, limit, Watchers(lease)
        self.cancelled = self.late = False
        self.served = self.idle_since = 0.0
        self.pending: Future[T] = Future()
        self._started = time.monotonic()
        self._request: Request | None = Request(function, args, own)
        self._crew = crew
        crew.add(self)

    def cancel(self, who: str = "") -> bool:
        """Stop, unless others than ``who`` wait; whether it stops."""
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
        taken = self.limit if self.late and self.limit else time.monotonic() - self._started
        pace = taken / self.done
        return pace * max(fits - self.done, 0)

    @property
    def behind(self) -> int:
        """How many others are computed while this one waits for its turn; 0 if it does not."""
        return 0 if self.pending.done() else self._crew.waits_behind(self)

    # What its turns are made of (``Work``)

    def wanted(self) -> bool:
        """Whether somebody waits for it; ends one that nobody has begun with."""
        taken = time.monotonic() - self._started
        if self._request is None and self.limit is not None and taken > self.limit:
            self.late = True
        if not self.cancelled and not self.late and not self.watchers.gone:
            return True
        if self._request is not None:
            self._request = None
            self._end(StoppedError("before its first training run"))
        return False

    def take(self) -> Request | None:
        """Its only request, once."""
        request, self._request = self._request, None
        if request is not None:
            self._started = time.monotonic()
        return request

    def give(self, request: Request, answer: Answer) -> None:
        """What the child says."""
        if answer.kind == "fits":
            self.done = answer.value
        elif answer.kind == "end":
            self.size = answer.size
            self.pending.set_result(answer.value)
        elif answer.kind == "refused":
            self._end(ValueError(answer.value))
        elif answer.kind == "failed":
            self._end(RunError(answer.value))

    def leave(self, request: Request, error: str | None) -> None:
        """Its request is over, with an answer, without one, or with its child."""
        if not self.pending.done():
            stopped = StoppedError(f"after {self.done} training runs")
            self._end(stopped if error is None else RunError(error))
        self._crew.remove(self)

    def _end(self, error: Exception) -> None:
        self.pending.set_exception(error)
        self._crew.remove(self)
