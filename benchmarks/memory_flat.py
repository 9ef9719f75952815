"""``python -m benchmarks.memory_flat``: the memory of one server on which many runs are opened.

Each visitor opens another experiment on Compare, waits until all of its trials are drawn, moves the
confidence and leaves. What each needs, about 10 MB, would be 3 GB if any of it stayed.
"""

import argparse
import asyncio
from typing import Any

import numpy as np

from benchmarks.visiting import Resident, Server, Visitor, server

EXPERIMENTS, EVERY = 300, 25
LIMIT, GROWTH = 1.5 * 2**30, 0.15
SECONDS = 60.0


async def opened(own: Server, seed: int) -> list[str]:
    """One visitor of one experiment; what went wrong."""
    query = f"dataset=quadnoise&n=2000&trials=100&seed={seed}"
    visitor = Visitor(own.address, query=query)
    async with asyncio.timeout(SECONDS), visitor.there():
        await visitor.rerun()
        while visitor.fragment or not visitor.charts:
            await asyncio.sleep(0.2)
            await visitor.rerun()
        await visitor.rerun(80)
    return visitor.errors


async def visits(own: Server, experiments: int, first: int) -> tuple[list[Resident], list[str]]:
    """What is resident after every few experiments, and what went wrong."""
    resident, errors = [own.resident], []
    for done in range(1, experiments + 1):
        errors += await opened(own, first + done)
        if done % EVERY == 0:
            resident.append(own.resident)
            print(f"{done} experiments: {resident[-1]}", flush=True)
    return resident, errors


def rows(experiments: int = EXPERIMENTS, first: int = 0) -> list[dict[str, Any]]:
    """The greatest memory, and by how much it grows once the caches are full."""
    with server() as own:
        resident, errors = asyncio.run(visits(own, experiments, first))
        told = own.log.read_text(encoding="utf-8", errors="replace").count("Traceback")
    total = [own.all for own in resident]
    half = total[1 + len(total) // 2 :] or total
    early = total[1 + len(total) // 4 : 1 + len(total) // 2] or total
    most, growth = max(resident), float(np.median(half) / np.median(early) - 1)
    fits = most.all < LIMIT and growth < GROWTH and not errors and not told
    return [
        {
            "work": f"{experiments} experiments opened on one server, 100 trials each, Compare",
            "reference_seconds": None,
            "ours_seconds": None,
            "ratio": None,
            "agreement": f"{'as wanted' if fits else 'NOT AS WANTED'}: at most "
            f"{most} resident (at most {LIMIT / 2**20:.0f}), the later half "
            f"{growth:+.1%} against the quarter before it (at most {GROWTH:+.0%}); "
            f"{len(errors)} errors, {told} tracebacks in the log",
        }
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory_flat", description=__doc__)
    parser.add_argument("--experiments", type=int, default=EXPERIMENTS, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seeds are above it")
    given = parser.parse_args()
    for row in rows(given.experiments, given.seed):
        print(f"{row['work']}: {row['agreement']}")
