"""Processes that compute for this one: warm, asked over pipes, ended at any moment, never orphans.

A fit cannot be interrupted in a thread, and what it holds cannot be taken back; a process can be
ended. A child reads requests from its standard input and answers on its standard output, which is
all that Windows, macOS and Linux share. It ends when its input ends, that is, with its parent.
"""

import inspect
import os
import pickle
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, BinaryIO, Literal, NamedTuple

import cloudpickle
import psutil

from cpp_core.method.evaluation import LossError
from cpp_core.method.machine import MachineError, SchedulerError, of_machine, told
from cpp_core.method.parent import command, end_tree
from cpp_core.method.training import BEFORE_FIT
from cpp_core.trials.budget import budget, memory_words
from cpp_core.trials.memory import give_back, share_places
from cpp_core.trials.own import unlearn, unpacked

SERVE = "from cpp_core.trials.children import serve; serve()"
HEAD = struct.Struct("<Q")
TELL_SECONDS = 0.1
"""How often a child tells how many training runs are done."""

WATCH_SECONDS = 0.25
QUIET_SECONDS = 5.0
"""After so long without a request a child that rests gives back memory."""

OVER_BUDGET = 86
"""The exit code of a child that took more memory than the budget."""

FAT = 320 * 2**20
"""Bytes beyond which a child that has nothing more to do for some work is replaced: with all that
computing loads it has about 200 MiB."""


class RunError(RuntimeError):
    """Why some work could not go on, as a sentence."""


class Request(NamedTuple):
    """What a child shall call: a function of some module, its arguments, and what is a user's own.

    ``own`` is packed, and empty where there is nothing.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    own: bytes = b""


class Answer(NamedTuple):
    """What a child says.

    ``fits``: so many training runs are done. ``part``: what a generator yields. ``end``: what the
    function returns. ``refused`` and ``failed``: a sentence, of a ValueError or another error.
    ``size`` is that of the message, in bytes.
    """

    kind: Literal["fits", "part", "end", "refused", "failed"]
    value: Any
    size: int = 0


class Child:
    """A process that waits for requests, one at a time; RunError if none can be started.

    ``share`` are the bytes that it may take, by default the whole budget.
    """

    def __init__(self, share: int | None = None) -> None:
        self._may = budget() if share is None else share
        try:
            self._process = subprocess.Popen(
                command(SERVE, str(self._may)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=child_environment(),
            )
        except OSError as error:
            raise RunError(told(error)) from error
        self._knows = b""  # a digest of what it was told of a user's own
        self._answers: SimpleQueue[Answer | None] = SimpleQueue()
        Thread(target=self._listen, daemon=True).start()

    def ask(self, request: Request) -> None:
        """Send a request; the answers follow."""
        own = sha256(request.own).digest() if request.own else b""
        told_own, self._knows = None if own == self._knows else request.own, own
        self._send(cloudpickle.dumps((request.function, request.args, told_own)))

    def rest(self) -> None:
        """Let it forget what is a user's own, and give back memory, while nobody asks."""
        self._knows = b""
        self._send(b"")

    def listen(self, seconds: float) -> Answer | None:
        """The next answer, or None if it does not come in time; RunError if the child has died."""
        try:
            answer = self._answers.get(timeout=seconds)
        except Empty:
            return None
        if answer is None:
            raise RunError(self._death())
        return answer

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def fat(self) -> bool:
        """Whether it holds more memory than a process that has just started would."""
        with suppress(psutil.Error):
            return psutil.Process(self._process.pid).memory_info().rss > FAT
        return True

    def end(self) -> None:
        """End the process and all that it started, at once."""
        end_tree(self._process.pid)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # a child that has just died says so when it is listened to
            write(self._process.stdin, message)  # type: ignore[arg-type]

    def _listen(self) -> None:
        """Receive answers until the child ends."""
        with suppress(EOFError, OSError, ValueError):
            while True:
                message = read(self._process.stdout)  # type: ignore[arg-type]
                kind, value = pickle.loads(message)
                self._answers.put(Answer(kind, value, len(message)))
                del message, value  # while it waits for the next one
        self._answers.put(None)

    def _death(self) -> str:
        code = self._process.wait()
        self._answers.put(None)  # who listens again hears the same
        if code == OVER_BUDGET:
            return (
                f"It took more than the {memory_words(self._may)} of memory that are allowed: ask "
                "for smaller sizes. Whoever runs the program can allow more with CPP_CORE_MEMORY, "
                "in GiB."
            )
        return (
            f"The process that computes ended unexpectedly (exit code {code}), perhaps for lack of "
            "memory; start again to go on with what is missing."
        )


def write(pipe: BinaryIO, data: bytes) -> None:
    """Send a message."""
    pipe.write(HEAD.pack(len(data)) + data)
    pipe.flush()


def read(pipe: BinaryIO) -> bytes:
    """Receive a message; EOFError at the end."""
    head = pipe.read(HEAD.size)
    data = pipe.read(HEAD.unpack(head)[0]) if len(head) == HEAD.size else b""
    if len(head) < HEAD.size or len(data) < HEAD.unpack(head)[0]:
        raise EOFError
    return data


def child_environment() -> dict[str, str]:
    """Where the child finds this package, and how it shares the processors.

    One thread each: two children whose fits use OpenMP or BLAS on all cores slow each other down
    many times.
    """
    path = [str(Path(__file__).resolve().parents[2]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path)), "OMP_NUM_THREADS": "1"}


# Inside the child


def serve() -> None:
    """Be the child: do what the parent asks for, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, who ends this one
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)  # what libraries print must not get among the answers
    share_places()
    inbox: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_receive, args=(requests, inbox), daemon=True).start()
    Thread(target=_watch_memory, args=(int(sys.argv[1]),), daemon=True).start()

    def tell(answer: tuple[str, Any]) -> None:
        write(answers, cloudpickle.dumps(answer))

    rests = False
    while True:
        try:
            request = inbox.get(timeout=QUIET_SECONDS if rests else None)
        except Empty:  # what comes soon is not kept waiting for that
            rests = False
            give_back()
            continue
        rests = not request
        if request:
            _carry_out(request, tell)
        else:
            unlearn()


def _carry_out(data: bytes, tell: Callable[[tuple[str, Any]], None]) -> None:
    """Do what a request asks for, and tell. Nothing of it is kept afterwards."""
    done, told_at = 0, time.monotonic()

    def count() -> None:
        nonlocal done, told_at
        if time.monotonic() - told_at > TELL_SECONDS:
            told_at = time.monotonic()
            tell(("fits", done))
        done += 1

    token = BEFORE_FIT.set(count)
    try:
        function, args, own = pickle.loads(data)
        if own is not None:  # else it is what this process knows already
            unpacked(own)
        found = function(*args)
        if inspect.isgenerator(found):
            for part in found:
                tell(("part", part))
            found = None
        tell(("fits", done))
        tell(("end", found))
    except Exception as error:
        refused = isinstance(error, ValueError) and not isinstance(error, LossError)
        tell(("refused", str(error)) if refused else ("failed", sentence(error)))
    finally:
        BEFORE_FIT.reset(token)


def _receive(requests: BinaryIO, inbox: SimpleQueue) -> None:
    """Take in requests; when the parent is gone, end this process and all that it started."""
    with suppress(EOFError, OSError):
        while True:
            inbox.put(read(requests))
    end_tree(os.getpid(), itself=False)
    os._exit(0)


def _watch_memory(limit: int) -> None:
    """End this process once it has taken more than it may, whatever was thought before."""
    own = psutil.Process()
    limit += own.memory_info().rss
    while own.memory_info().rss <= limit:
        time.sleep(WATCH_SECONDS)
    end_tree(os.getpid(), itself=False)
    os._exit(OVER_BUDGET)


def sentence(error: BaseException) -> str:
    """What a visitor reads about an error."""
    said = " ".join(str(error).split())
    if isinstance(error, RunError):  # a sentence already, which may quote the machine's failure
        return said
    machine = of_machine(error)
    if machine is not None and not isinstance(machine, MachineError):
        return told(machine)
    if isinstance(error, SchedulerError | LossError | MachineError):
        return said
    return (
        f"The run stopped at an error ({type(error).__name__}: {said or 'no details'}); start "
        "again to go on with the trials that are missing, or change the experiment."
    )
