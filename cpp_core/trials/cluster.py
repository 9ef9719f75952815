"""Blocks of trials on a dask cluster: its faults are sentences, and soon.

Dask's client waits for ever where a scheduler dies, or where something else listens at its address;
this looks whether the scheduler is still there.
"""

import logging
import socket
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from cpp_core.method.machine import SchedulerError
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.helpers import Done
from cpp_core.trials.one_trial import run_block
from cpp_core.trials.own import Own
from cpp_core.trials.pace import Pace

ANSWER_SECONDS = 5.0
"""How long a scheduler may take to answer, and to tell of a worker."""

LOOK_SECONDS, COUNT_SECONDS = 0.5, 1.0
"""How often to look whether the scheduler is there, and how many threads its workers have."""

_LOGGERS = [
    logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")
]
"""Who would print tracebacks of what is told in sentences."""


class Cluster:
    """The workers of a dask scheduler (``Helpers``); this process only hands out and receives.

    SchedulerError where there is no scheduler, or no worker; so ends each block once it is lost.
    """

    here = False

    def __init__(self, scheduler: str, own: Own | None) -> None:
        self._scheduler, self._levels = scheduler, [own.level for own in _LOGGERS]
        self._client = _client(scheduler)
        self._open: dict[Future[Done], Any] = {}
        self._changing, self._closed, self._looked = Lock(), Event(), 0.0
        try:
            self.n = _threads(self._client, scheduler)
            # A task, unlike scattered data, can be made again when its worker dies.
            self._own = None if own is None else self._client.submit(_same, own, pure=False)
        except BaseException:
            self.close(stopped=True)
            raise
        self.limit = 2 * self.n
        Thread(target=self._watch, daemon=True).start()

    def ready(self, pace: Pace, left: int) -> bool:
        """At once; workers may come and go."""
        if time.monotonic() - self._looked > COUNT_SECONDS and self._client.status == "running":
            self._looked = time.monotonic()
            with suppress(OSError, TimeoutError):
                self.n = max(sum(self._client.nthreads().values()), 1)
                self.limit = 2 * self.n
        return True

    def submit(self, experiment: Experiment, seed: int, numbers: list[int]) -> Future[Done]:
        """Let one of them compute a block."""
        if self._client.status != "running":
            raise _lost(self._scheduler)
        landed: Future[Done] = Future()
        asked = self._client.submit(run_block, experiment, seed, numbers, self._own, pure=False)
        with self._changing:
            self._open[landed] = asked
        asked.add_done_callback(partial(self._land, landed))
        return landed

    def close(self, stopped: bool) -> None:
        """Leave the cluster; what it computes is wanted no more."""
        self._closed.set()
        with suppress(Exception):
            self._client.close(timeout=1)
        _quiet(self._levels)

    def _land(self, landed: Future[Done], asked: Any) -> None:
        try:
            found, error = _result(self._client, asked, self._scheduler), None
        except Exception as stopped:
            found, error = None, stopped
        self._give(landed, found, error)

    def _give(self, landed: Future[Done], found: Any, error: Exception | None) -> None:
        """Tell how a block ended, once."""
        with self._changing:
            if self._open.pop(landed, None) is None:
                return
        if error is None:
            landed.set_result(found)
        else:
            landed.set_exception(error)

    def _watch(self) -> None:
        """End all blocks when the scheduler is gone: dask would wait for it."""
        while not self._closed.wait(LOOK_SECONDS):
            if self._client.status != "running":
                for landed in list(self._open):
                    self._give(landed, None, _lost(self._scheduler))


def _same(value: Any) -> Any:
    """What all calls share, as a task: unlike scattered data it can be made again."""
    return value


def _result(client: Any, future: Any, scheduler: str) -> Any:
    """What a call gave; waits while it is computed again because its worker died."""
    from distributed import KilledWorker

    while True:
        try:
            return future.result(timeout=LOOK_SECONDS)
        except TimeoutError:
            if client.status != "running":
                raise _lost(scheduler) from None
        except KilledWorker as error:
            raise SchedulerError(
                "Workers of the cluster died again and again at the same trials, perhaps for lack "
                "of memory: nothing of these is kept. Use smaller sizes, then start again."
            ) from error
        except Exception as error:
            if client.status != "running" or future.cancelled():
                raise _lost(scheduler) from error
            raise


def _lost(scheduler: str) -> SchedulerError:
    return SchedulerError(
        f"The dask scheduler at {scheduler} is gone; what was computed is kept. Start it and its "
        "workers again, then the same run, which goes on; or leave the scheduler out."
    )


def _silence(scheduler: str, error: object) -> SchedulerError:
    said = " ".join(str(error).split()) or "no connection"
    return SchedulerError(
        f"The dask scheduler at {scheduler} does not answer ({said}); start one with `dask "
        "scheduler` and workers with `dask worker tcp://host:8786`, or leave the scheduler out to "
        "compute here."
    )


def greets(scheduler: str) -> None:
    """Look whether what listens at an address is a scheduler: it speaks first, in few frames.

    Dask's client waits for ever where something else takes the connection and says nothing, and
    one that could not be made prints what went wrong again when it is forgotten. Where the
    connection is encrypted, who listens speaks second.
    """
    if scheduler.startswith("inproc://"):
        return  # in this process
    host, port, encrypted = place_of(scheduler)
    with socket.create_connection((host, port), ANSWER_SECONDS) as own:
        own.settimeout(ANSWER_SECONDS)
        head = b""
        while len(head) < 8 and not encrypted:
            part = own.recv(8 - len(head))
            if not part:
                raise OSError("it closed the connection")
            head += part
    if int.from_bytes(head, "little") > 2**20:
        raise OSError("something else listens there")


def place_of(scheduler: str) -> tuple[str, int, bool]:
    """Host and port of an address, and whether it is encrypted; ValueError where it has none.

    >>> place_of("tcp://127.0.0.1:8786"), place_of("host:8786")
    (('127.0.0.1', 8786, False), ('host', 8786, False))
    """
    address = urlsplit(scheduler if "://" in scheduler else f"tcp://{scheduler}")
    if address.scheme not in ("tcp", "tls"):
        raise ValueError(f"{address.scheme!r} is neither tcp nor tls")
    if not address.hostname or not address.port or address.path:
        raise ValueError("it has to name a host and a port, and no more")
    if address.scheme == "tls":
        from distributed.security import Security

        if Security().get_connection_args("client")["ssl_context"] is None:
            raise ValueError("dask has no certificates for tls in its configuration")
    return address.hostname, address.port, address.scheme == "tls"


def _quiet(levels: list[int]) -> None:
    for logger, level in zip(_LOGGERS, levels, strict=True):
        logger.setLevel(level)


def _client(scheduler: str) -> Any:
    """A client, quiet about what is told in sentences; SchedulerError if nobody answers."""
    try:
        from distributed import Client  # only where a cluster is used
    except ImportError as error:
        raise SchedulerError(
            f"A cluster needs dask ({error}): pip install 'cpp-core[cluster]', or leave the "
            "scheduler out to compute here."
        ) from error
    levels = [own.level for own in _LOGGERS]
    _quiet([logging.CRITICAL] * len(_LOGGERS))
    try:
        greets(scheduler)
        return Client(scheduler, timeout=ANSWER_SECONDS, set_as_default=False)
    except ValueError as error:
        _quiet(levels)
        raise SchedulerError(
            f"A dask scheduler has an address such as tcp://host:8786, but {scheduler[:100]!r} was "
            f"given ({' '.join(str(error).split())}); correct it, or leave it out to compute here."
        ) from error
    except Exception as error:  # what dask and the system say of addresses has many names
        _quiet(levels)
        raise _silence(scheduler, error) from error


def _threads(client: Any, scheduler: str) -> int:
    """The threads of all workers; SchedulerError where there is none."""
    try:
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        return sum(client.nthreads().values())
    except (OSError, TimeoutError) as error:
        raise SchedulerError(
            f"The dask scheduler at {scheduler} has no worker; start some with `dask worker "
            f"{scheduler}`, or leave the scheduler out to compute here."
        ) from error
