"""``python -m benchmarks.crowd``: many sessions on one server, first alone, then beside runs.

Forty sessions move the confidence on Compare every two seconds, each from one of its own and never
back, so that what they see is computed; then five more start different runs and watch them.
"""

import asyncio
from typing import Any

import numpy as np

from benchmarks.visiting import Visitor, server

SESSIONS, THINK, STEPS = 40, 2.0, 10
LIMIT_CALM, LIMIT_BUSY = 1.0, 2.0
RUNS = (
    "dataset=breast-cancer&algorithms=random-forest&algorithms=logistic&trials=100&seed=7",
    "dataset=iris&algorithms=boosting&algorithms=knn&variant=z-free&trials=20&seed=7",
    "dataset=quadnoise&variant=z-free&trials=300&seed=7&n=2000",
    "dataset=wine&algorithms=random-forest&algorithms=naive-bayes&trials=100&seed=7",
    "dataset=diabetes&algorithms=ridge&algorithms=random-forest&variant=z-variable&trials=20",
)


class Mover(Visitor):
    """A session that moves the confidence; every move must change the charts."""

    def __init__(self, address: str, number: int) -> None:
        super().__init__(address)
        self.rng = np.random.default_rng(number)
        self.at = int(self.rng.integers(40))

    async def moves(self) -> list[float]:
        """The seconds of some moves, from the message to the last answer."""
        seconds = []
        await asyncio.sleep(self.rng.uniform(0, THINK))
        for _ in range(STEPS):
            start, before = asyncio.get_running_loop().time(), set(self.charts)
            self.at += 1
            seconds.append(await self.rerun(89 - self.at % 40))
            if set(self.charts) == before:
                self.errors.append("a move changed no chart")
            spent = asyncio.get_running_loop().time() - start
            await asyncio.sleep(max(0.0, THINK - spent))
        return seconds


async def watches(runner: Visitor) -> None:
    """Start a run and watch it as the browser does, every second, until somebody says stop."""
    async with runner.there():
        await runner.rerun()
        while True:
            await asyncio.sleep(1.0)
            going = next((name for name in ("Go on", "Run") if name in runner.buttons), "")
            await runner.rerun(press=going, fragment="" if going else runner.fragment)


async def visits(address: str) -> tuple[list[float], list[float], list[str]]:
    """The seconds of moves alone and beside the runs, and what went wrong."""
    movers = [Mover(address, number) for number in range(SESSIONS)]
    runners = [Visitor(address, query=query) for query in RUNS]
    ready = asyncio.Barrier(SESSIONS)
    busy = asyncio.Event()

    async def visit(mover: Mover) -> tuple[list[float], list[float]]:
        async with mover.there():
            await mover.rerun()
            await ready.wait()
            calm = await mover.moves()
            await ready.wait()
            busy.set()
            return calm, await mover.moves()

    async def begin() -> None:
        await busy.wait()
        await asyncio.gather(*map(watches, runners))

    runs = asyncio.create_task(begin())
    found = await asyncio.gather(*map(visit, movers))
    if runs.done():
        runs.result()  # a runner ended only by an error
    runs.cancel()
    calm, beside = ([seconds for one in found for seconds in one[i]] for i in (0, 1))
    return calm, beside, [error for one in (*movers, *runners) for error in one.errors]


def rows() -> list[dict[str, Any]]:
    """How long 95 % of the moves take at most, alone and beside runs."""
    with server() as own:
        calm, beside, errors = asyncio.run(visits(own.address))
        told = own.log.read_text(encoding="utf-8", errors="replace").count("Traceback")
    words = f"{SESSIONS} sessions that move alpha every {THINK:g} s, Compare"
    found = []
    for work, seconds, limit in (
        (words, calm, LIMIT_CALM),
        (f"{words}, while {len(RUNS)} visitors start runs", beside, LIMIT_BUSY),
    ):
        late = float(np.quantile(seconds, 0.95))
        found.append(
            {
                "work": f"{work}: 95 % of the moves, from the message to the last answer",
                "reference_seconds": None,
                "ours_seconds": late,
                "ratio": None,
                "agreement": f"{len(seconds)} moves of sessions over websockets, without drawing: "
                f"median {np.median(seconds):.2f} s, 95 % {late:.2f} s (at most {limit:g}), "
                f"{len(errors)} errors, {told} tracebacks in the log",
            }
        )
    for error in dict.fromkeys(errors):
        print(f"error: {error}")
    return found


if __name__ == "__main__":
    for row in rows():
        print(f"{row['work']}: {row['agreement']}")
