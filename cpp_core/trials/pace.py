"""How fast trials go, how many of them make a block, and how long the rest takes."""

import time

BLOCK_SECONDS = 0.5
"""Blocks of trials last no longer, where a trial does not: soon stored, shown and stopped."""

LEAST_SECONDS = 0.01
"""Shorter blocks would cost more to hand out than they save."""

MAX_BLOCK = 250


ENOUGH_ARRIVALS = 3
"""Blocks that have arrived before a rest is more than a guess."""


class Pace:
    """Seconds per trial as seen so far, and the block size that they suggest.

    Who waits for the trials of all workers also tells when they arrive: ``together`` is then how
    many seconds a trial takes them, None before that is known.
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.trials = 0.0
        self.blocks = 0
        self.together: float | None = None
        self._arrivals = 0
        self._came: list[tuple[float, int]] = []  # when the first and the newest came, done by then

    def saw(self, trials: int, seconds: float) -> None:
        """Learn from a finished block; the first, which may have compiled, is forgotten."""
        kept = 0.0 if self.blocks == 1 else 0.5
        self.seconds, self.trials = kept * self.seconds + seconds, kept * self.trials + trials
        self.blocks += 1

    @property
    def per_trial(self) -> float:
        """Seconds of one trial on one worker."""
        return self.seconds / self.trials if self.trials else BLOCK_SECONDS

    def block(self, left: int, workers: int) -> int:
        """Trials of the next block, of so many that are left for so many workers.

        Blocks shrink towards the end, so that all workers end together.

        >>> pace = Pace()
        >>> pace.block(100, 2)
        1
        >>> pace.saw(1, 0.01)
        >>> pace.block(1000, 2), pace.block(100, 2), pace.block(5, 2)
        (50, 16, 1)
        """
        each = max(self.per_trial, 1e-9)
        seconds = max(each * left / (3 * workers), min(LEAST_SECONDS, BLOCK_SECONDS))
        return max(1, min(int(min(seconds, BLOCK_SECONDS) / each), MAX_BLOCK, left))

    def arrived(self, done: int, workers: int, each: float | None = None) -> bool:
        """A block has come, so that so many trials are done; whether ``together`` is known.

        At first it is told from ``each``, the seconds of a trial in that block. The first block of
        each worker does not count: it may have compiled.
        """
        self._arrivals += 1
        self._came = [*self._came[:1], (time.monotonic(), done)]
        (first, before), (newest, done) = self._came[0], self._came[-1]
        if self._arrivals <= workers or done == before:
            return False
        if self.together is None and each is not None:
            self.together = each / workers
        else:
            self.together = (newest - first) / (done - before)
        return True

    @property
    def settled(self) -> bool:
        """Whether enough blocks have arrived for more than a guess."""
        return self._arrivals >= ENOUGH_ARRIVALS

    def rest(self, asked: int, going: bool = True) -> float | None:
        """Seconds until so many are done, less those since then where it is ``going`` on."""
        if self.together is None:
            return None
        newest, done = self._came[-1]
        since = time.monotonic() - newest if going else 0.0
        return max(self.together * (asked - done) - since, 0.0)
