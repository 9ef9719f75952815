"""Fair turns: all that visitors ask for shares a few child processes, block by block.

The work that has been served least goes next, so that a short run passes long ones. Studies, for
which somebody waits in front of a page, go first; one child is left to them, and one to the runs.
"""

import time
from contextlib import suppress
from functools import cache
from threading import Condition, Thread
from typing import Any, Protocol

from cpp_core.trials.budget import share_of
from cpp_core.trials.children import Answer, Child, Request, RunError, sentence
from cpp_core.trials.running import workers

LOOK_SECONDS = 0.1
WAIT_SECONDS = 1.0
"""Work that was not computed for longer than this waits for its turn, and says so."""

IDLE_SECONDS = 300.0
"""After this time without work all children end but one."""

PATIENCE_SECONDS = 1.0
"""How long a child may go on with what nobody wants any more: most blocks end by themselves."""


class Work(Protocol):
    """Something to compute, in one request or in many.

    ``urgent`` work goes first; ``served`` are the seconds that it was computed for, ``idle_since``
    says when it last was.
    """

    urgent: bool
    served: float
    idle_since: float

    def wanted(self) -> bool:
        """Whether to go on with it."""

    def take(self) -> Request | None:
        """The next request; None while, or since, there is nothing to ask for."""

    def give(self, request: Request, answer: Answer) -> None:
        """An answer to a request."""

    def leave(self, request: Request, error: str | None) -> None:
        """A request is over; with a sentence if its child has died."""


class Crew:
    """Children and the work that they share.

    Parameters
    ----------
    n_jobs : int
        How many of them may compute runs, and how many studies; there is one more than that.
    """

    def __init__(self, n_jobs: int) -> None:
        self.n_jobs = n_jobs
        self._works: list[Work] = []
        self._under_way: list[Work] = []
        self._changed = Condition()
        self._closed = False
        self._seats: list[Thread] = []

    def start(self) -> None:
        """Start the children, if they are not there yet: they need seconds to be ready."""
        with self._changed:
            if not self._seats and not self._closed:
                self._seats = [
                    Thread(target=self._sit, args=(not i,), daemon=True)
                    for i in range(self.n_jobs + 1)
                ]
                for seat in self._seats:
                    seat.start()

    def add(self, work: Work) -> None:
        """Let work take its turns, as if it had been served like the others."""
        self.start()
        with self._changed:
            work.served = min((other.served for other in self._works), default=0.0)
            work.idle_since = time.monotonic()
            self._works.append(work)
            self._changed.notify_all()

    def remove(self, work: Work) -> None:
        """Give work no turn any more."""
        with self._changed, suppress(ValueError):
            self._works.remove(work)

    def waits_behind(self, work: Work) -> int:
        """How many others are computed while this one has not been for some time; 0 if it was."""
        with self._changed:
            busy = {id(other) for other in self._under_way}
        waited = time.monotonic() - work.idle_since > WAIT_SECONDS
        return len(busy) if waited and id(work) not in busy else 0

    def close(self) -> None:
        """End all children."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for seat in self._seats:
            seat.join(2 * PATIENCE_SECONDS)

    def _next(self) -> tuple[Work, Request] | None:
        """Whose turn it is; called by who holds the lock."""
        urgent = sum(work.urgent for work in self._under_way)
        free = {True: urgent < self.n_jobs, False: len(self._under_way) - urgent < self.n_jobs}
        for work in sorted(self._works, key=lambda work: (not work.urgent, work.served)):
            if free[work.urgent]:
                request = work.take() if work.wanted() else None
                if request is not None:
                    return work, request
        return None

    def _sit(self, stays: bool) -> None:
        """Be a seat: one child, and one request after the other.

        Unless it ``stays``, its child ends after a time without work.
        """
        child: Child | None = None
        last: Work | None = None
        worked = time.monotonic()
        while not self._closed:
            awake = stays or time.monotonic() - worked < IDLE_SECONDS
            if child is None and awake:
                with suppress(RunError):  # told to whom it keeps from working
                    child = self._child()
            with self._changed:
                turn = self._next()
                if turn is None:
                    self._changed.wait(LOOK_SECONDS)
                else:
                    self._under_way.append(turn[0])
            work = None if turn is None else turn[0]
            if child is not None and last is not None and work is not last:
                child = rested(child, work is None)
            last = work
            if turn is not None:
                child = self._carry_out(child, *turn)
                worked = time.monotonic()
            elif child is not None and not awake:
                child.end()
                child = None
        if child is not None:
            child.end()

    def _child(self) -> Child:
        return Child(share_of(self.n_jobs))

    def _carry_out(self, child: Child | None, work: Work, request: Request) -> Child | None:
        """See a request through; its child if that lives on, else it ended before this is told."""
        start, error, lives = time.monotonic(), None, False
        try:
            if child is None or not child.alive:  # one may have died while it had nothing to do
                child = self._child()
            lives = carry_out(child, work, request, lambda: self._closed)
        except Exception as stopped:  # whatever it is, the seat goes on
            error = sentence(stopped)
        finally:
            if child is not None and not lives:
                child.end()
            with self._changed:
                self._under_way.remove(work)
                work.idle_since = time.monotonic()
                work.served += work.idle_since - start
                self._changed.notify_all()
            work.leave(request, error)
        return child if lives else None


@cache
def crew_of_all() -> Crew:
    """The crew that all share who have none of their own: one child more than there are cores."""
    return Crew(workers(None))


def rested(child: Child, idle: bool) -> Child | None:
    """The child, which forgets whom it worked for; None if it has grown so much that it ended.

    One that works on for somebody else is told of that with the next request.
    """
    if child.fat:
        child.end()
        return None
    if idle:
        child.rest()
    return child


def carry_out(child: Child, work: Work, request: Request, closed: Any = lambda: False) -> bool:
    """Ask a child and pass its answers on until the last; False if nobody wants them any more."""
    child.ask(request)
    unwanted_since = None
    while True:
        answer = child.listen(LOOK_SECONDS)
        if answer is not None:
            work.give(request, answer)
            if answer.kind in ("end", "refused", "failed"):
                return True
        elif closed():
            return False
        elif work.wanted():
            unwanted_since = None
        else:
            unwanted_since = unwanted_since or time.monotonic()
            if time.monotonic() - unwanted_since > PATIENCE_SECONDS:
                return False
