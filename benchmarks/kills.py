"""``python -m benchmarks.kills``: ``kill -9`` at random moments of a run, and of a server.

Each goes on from the store of the one before. After some the numbers are those of a run that
nothing disturbs, and neither a process nor a temporary file is left. In parts, each with a seed of
its own: ``--runs 25 --servers 0 --seed 1``.
"""

import argparse
import asyncio
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np
import psutil

from benchmarks.runs import EXPERIMENT, SEED, command, plain_numbers, stored, stored_numbers
from benchmarks.visiting import Server, Visitor, server

TRIALS, RUNS, SERVERS, MINUTES = 100, 100, 100, 15.0
MOST, GROUP = 1000, 25
"""What the page offers at most; so many kills do not compute all of it, and share a store."""
MOMENTS, AT_START = (0.0, 1.0), 0.2
"""Seconds after the first new trial at which one is killed; some are killed so soon after they
were asked."""
SOON = 10.0
"""Seconds within which all that a process has started must have ended with it."""
PATIENCE = 400.0
TEMPORARY = re.compile("(?:sem\\.)?(?:loky|joblib_memmapping_folder)[-_]([0-9]+)[-_]")
PLACES = [Path(tempfile.gettempdir()), Path("/dev/shm")]


def temporary(pids: Collection[int]) -> list[Path]:
    """What these processes have left for their workers, which have names with their numbers."""
    marks = {str(pid) for pid in pids}
    found = [(path, TEMPORARY.match(path.name)) for place in PLACES for path in place.iterdir()]
    return [path for path, own in found if own and own[1] in marks]


def killed(top: psutil.Process) -> int:
    """End one process as ``kill -9`` does; how many that it has started did not end soon."""
    started = top.children(recursive=True)
    top.kill()
    top.wait()
    left = psutil.wait_procs(started, SOON)[1]
    for own in left:
        own.kill()
    return len(left)


def waits(folder: Path, before: int, top: psutil.Process) -> None:
    """Until a run has stored something, or has ended."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and top.is_running() and stored(folder) <= before:
        time.sleep(0.02)


class Killed(NamedTuple):
    """Who was killed, how many of them while they went on, and how many processes they left.

    A run goes on until it ends; a server, where new trials have been stored."""

    pids: tuple[int, ...] = ()
    during: int = 0
    orphans: int = 0


def kill_runs(count: int, until: float, folder: Path, rng: np.random.Generator) -> Killed:
    """Kill runs on the command line."""
    made = Killed()
    environment = {**os.environ, "CPP_CORE_STORE": str(folder), "LOKY_MAX_CPU_COUNT": "2"}
    for turn in range(count):
        if time.monotonic() > until:
            break
        trials = TRIALS * (turn + 1)  # there is always something left to compute
        top = psutil.Popen(
            command(trials, "--jobs=2"), env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        if rng.random() > AT_START:
            waits(folder, stored(folder), top)
        time.sleep(rng.uniform(*MOMENTS))
        going = top.poll() is None
        made = Killed((*made.pids, top.pid), made.during + going, made.orphans + killed(top))
    return made


async def watched(own: Server, folder: Path, seconds: float, at_start: bool) -> int:
    """Start a run as a visitor does, and watch it for some seconds from its first new trial on, or
    from its start; how many new trials were stored then."""
    said = [("dataset", EXPERIMENT["dataset"]), ("variant", EXPERIMENT["variant"])]
    said += [("algorithms", name) for name in EXPERIMENT["algorithms"]]
    visitor = Visitor(own.address, query=urlencode([*said, ("seed", SEED), ("trials", MOST)]))
    before = stored(folder)
    async with visitor.there():
        await visitor.rerun()
        begun = time.monotonic() if at_start else 0.0
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < (begun + seconds if begun else deadline):
            if not begun and stored(folder) > before:
                begun = time.monotonic()
            going = next((name for name in ("Go on", "Run") if name in visitor.buttons), "")
            await visitor.rerun(press=going, fragment="" if going else visitor.fragment)
            await asyncio.sleep(0.05)
    return stored(folder) - before


def kill_servers(count: int, until: float, folder: Path, rng: np.random.Generator) -> Killed:
    """Kill servers during a live run."""
    made = Killed()
    for _ in range(count):
        if time.monotonic() > until:
            break
        with server(store=folder) as own:
            moment = rng.uniform(*MOMENTS), rng.random() < AT_START
            going = asyncio.run(watched(own, folder, *moment)) > 0
            pids = (*made.pids, own.process.pid)
            made = Killed(pids, made.during + going, made.orphans + killed(own.process))
    return made


def judged(what: str, folder: Path, made: Killed) -> bool:
    """Print how all ended; whether that is as wanted."""
    trials = stored(folder)
    subprocess.run(  # what goes on finds nothing half written
        command(max(trials, 1)), env={**os.environ, "CPP_CORE_STORE": str(folder)}, check=True,
        capture_output=True,
    )  # fmt: skip
    same = stored_numbers(folder, max(trials, 1)) == plain_numbers(max(trials, 1))
    files = [*temporary(made.pids), *folder.glob("*/*.tmp")]
    right = same and bool(trials) and not made.orphans and not files
    print(
        f"kill -9 of {len(made.pids)} {what}, {made.during} while they went on: "
        f"{'as wanted' if right else 'NOT AS WANTED'}: {'identical' if same else 'OTHER'} numbers "
        f"in {trials} trials, {made.orphans} orphans, {len(files)} temporary files",
        *files,
        flush=True,
    )
    return right


def main() -> int:
    """The exit code is 1 where anything is left, or a number differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS, metavar="N")
    parser.add_argument("--servers", type=int, default=SERVERS, metavar="N")
    words = "how long each kind may take"
    parser.add_argument("--minutes", type=float, default=MINUTES, metavar="M", help=words)
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the moments")
    given, right = parser.parse_args(), True
    rng = np.random.default_rng(given.seed)
    for what, kill, count in (
        ("runs", kill_runs, given.runs),
        ("servers", kill_servers, given.servers),
    ):
        until = time.monotonic() + 60 * given.minutes
        for first in range(0, count, GROUP):
            if time.monotonic() > until:
                break
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place, "store")
                made = kill(min(GROUP, count - first), until, folder, rng)
                right &= judged(what, folder, made)
    return int(not right)


if __name__ == "__main__":
    raise SystemExit(main())
