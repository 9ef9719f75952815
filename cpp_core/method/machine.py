"""Failures of the machine: no memory, no disk, no process. They are never results.

A fit that raises is the algorithm's own doing and counts with the worst loss. One that found no
memory says nothing about the algorithm: elsewhere, or tomorrow, the same seed gives a number.
"""

import errno
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager

ERRNOS = {
    getattr(errno, name)
    for name in ("ENOMEM", "ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "EAGAIN", "EIO", "EROFS")
    if hasattr(errno, name)
}
"""What the system says when it lacks memory, disk, files or processes."""

SAID = ("can't start new thread", "bad_alloc", "bad allocation", "out of memory")
"""What libraries say that raise another error for the same; in lower case."""


class MachineError(RuntimeError):
    """The machine failed, so that nothing is known: why, as a sentence."""


class SchedulerError(RuntimeError):
    """The cluster's scheduler does not answer."""


def of_machine(error: BaseException) -> BaseException | None:
    """The failure of the machine behind an error, if there is one.

    A RecursionError is none: an algorithm that calls itself without end does so on any machine.

    >>> of_machine(ValueError("no convergence")) is None
    True
    """
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, MachineError | MemoryError | BrokenExecutor):
            return cause
        if isinstance(cause, OSError) and cause.errno in ERRNOS:
            return cause
        if isinstance(cause, RuntimeError) and any(words in str(cause).lower() for words in SAID):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None


def check_machine(error: BaseException) -> None:
    """Raise a MachineError where an error is the machine's; else let the caller go on."""
    cause = of_machine(error)
    if isinstance(cause, MachineError):
        raise cause
    if cause is not None:
        raise MachineError(told(cause)) from error


def told(cause: BaseException) -> str:
    """What a user reads about a failure of the machine."""
    said = " ".join(str(cause).split()) or "no details"
    if isinstance(cause, BrokenExecutor):
        return (
            "A worker process died, perhaps for lack of memory: nothing of its trials is kept. Use "
            "fewer workers or smaller sizes, then start again."
        )
    what = "memory" if isinstance(cause, MemoryError) else "what the system has"
    return (
        f"The machine ran out of {what} ({type(cause).__name__}: {said}), which says nothing "
        "about an algorithm: nothing is kept. Free some or ask for smaller sizes, then start again."
    )


@contextmanager
def no_machine_failure() -> Iterator[None]:
    """Tell failures of the machine inside as MachineError, others as they are."""
    try:
        yield
    except Exception as error:
        check_machine(error)
        raise
