"""``python -m benchmarks.cluster``: a cluster on this machine whose parts are killed during a run.

A run whose workers die gives the same numbers; one that loses its scheduler ends with a sentence,
soon, and what it has computed is kept.
"""

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import psutil

from benchmarks.runs import (
    TRIALS,
    command,
    experiment,
    plain_numbers,
    stored,
    stored_numbers,
)
from cpp_core import Store, run
from cpp_core.method.machine import SchedulerError

SECONDS, PATIENCE = 10.0, 400.0
"""How soon a sentence must come, and how long a whole run may take."""


def free_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def process(*words: str) -> Iterator[psutil.Process]:
    """A process of dask, ended with all that it has started."""
    started = psutil.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield started
    finally:
        kill(started)


def kill(top: psutil.Process) -> None:
    """End a process and its children, as ``kill -9`` does."""
    try:
        own = [*top.children(recursive=True), top]
    except psutil.NoSuchProcess:
        own = []
    for one in own:
        try:
            one.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(own, 5)


@contextmanager
def scheduler() -> Iterator[tuple[psutil.Process, str]]:
    """A scheduler that answers."""
    port = free_port()
    words = ["--host=127.0.0.1", f"--port={port}", "--no-dashboard"]
    with process("scheduler", *words) as own:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield own, f"tcp://127.0.0.1:{port}"


def worker(stack: ExitStack, address: str) -> psutil.Process:
    """One more worker."""
    words = [address, "--nthreads=1", "--no-dashboard", "--no-nanny"]
    return stack.enter_context(process("worker", *words))


class Run:
    """A run on the command line, on a cluster, into a store of its own."""

    def __init__(self, address: str, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            command(TRIALS, f"--scheduler={address}"),
            env={**os.environ, "CPP_CORE_STORE": str(folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def begun(self) -> int:
        """Wait until some trials are stored; how many are."""
        deadline = time.monotonic() + PATIENCE
        while not stored(self.folder) and time.monotonic() < deadline:
            time.sleep(0.02)
        return stored(self.folder)

    def ended(self, seconds: float) -> tuple[float, str]:
        """The seconds until it ended, and the last line that it said; it is killed if late."""
        start = time.monotonic()
        try:
            _, said = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return time.monotonic() - start, "no end"
        lines = [line for line in said.splitlines() if line.strip()]
        if "Traceback" in said:
            return time.monotonic() - start, f"a traceback: {lines[-1]}"
        return time.monotonic() - start, lines[-1] if lines else ""


def judged(name: str, right: bool, said: str) -> bool:
    """Print how a fault ended; whether that is as wanted."""
    print(f"{name}: {'as wanted' if right else 'NOT AS WANTED'}: {said}", flush=True)
    return right


def lost_workers(name: str, fault: Callable[[ExitStack, list[psutil.Process], str], None]) -> bool:
    """Two workers, a fault among them during a run: the numbers are those of a plain run."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _, address = stack.enter_context(scheduler())
        workers = [worker(stack, address) for _ in range(2)]
        going = Run(address, folder)
        begun = going.begun()
        fault(stack, workers, address)
        seconds, said = going.ended(PATIENCE)
        same = stored(folder) == TRIALS and stored_numbers(folder) == plain_numbers()
        words = f"killed after {begun} trials; {'identical' if same else 'OTHER'} numbers"
        return judged(
            name, same, f"{words}, {seconds:.1f} s later{', ' + said if not same else ''}"
        )


def one_killed(stack: ExitStack, workers: list[psutil.Process], address: str) -> None:
    kill(workers[0])


def both_killed(stack: ExitStack, workers: list[psutil.Process], address: str) -> None:
    for own in workers:
        kill(own)
    time.sleep(1)
    worker(stack, address)


def lost_scheduler() -> bool:
    """The scheduler is killed during a run: a sentence, and what was computed is kept."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        own, address = stack.enter_context(scheduler())
        for _ in range(2):
            worker(stack, address)
        going = Run(address, folder)
        begun = going.begun()
        kill(own)
        seconds, said = going.ended(PATIENCE)
        kept = stored(folder)
        right = said.startswith("error: ") and seconds < SECONDS and kept >= begun > 0
        told = f"after {begun} trials: {seconds:.1f} s, {kept} trials kept, {said!r}"
        return judged("the scheduler killed", right, told)


class Page(BaseHTTPRequestHandler):
    """A server of something else."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def web_server() -> Iterator[int]:
    """A port with an HTTP server."""
    with HTTPServer(("127.0.0.1", 0), Page) as own:
        threading.Thread(target=own.serve_forever, daemon=True).start()
        yield own.server_port
        own.shutdown()


@contextmanager
def silent() -> Iterator[int]:
    """A port that takes connections and says nothing."""
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        own.listen(16)
        yield int(own.getsockname()[1])


@contextmanager
def nobody() -> Iterator[int]:
    """A port at which nobody listens."""
    yield free_port()


def no_scheduler() -> bool:
    """Something else at the address: a sentence."""
    right = True
    others = {"nobody": nobody, "an HTTP server": web_server, "a silent listener": silent}
    for name, other in others.items():
        with other() as port:
            start, said = time.monotonic(), "no error"
            try:
                run(experiment(), TRIALS, scheduler=f"tcp://127.0.0.1:{port}", store=Store(None))
            except SchedulerError as error:
                said = str(error)
            seconds = time.monotonic() - start
            soon = "does not answer" in said and seconds < SECONDS
            right &= judged(f"{name} at its address", soon, f"{seconds:.1f} s, {said!r}")
    return right


def main() -> int:
    """All faults; the exit code is 1 where one ended otherwise than wanted."""
    print(f"{TRIALS} trials of {experiment().dataset}")
    ends = [
        no_scheduler(),
        lost_workers("a worker killed", one_killed),
        lost_workers("both killed, one restarted", both_killed),
        lost_scheduler(),
    ]
    return int(not all(ends))


if __name__ == "__main__":
    raise SystemExit(main())
