"""How fast trials go, and how many of them make a block."""

BLOCK_SECONDS = 0.5
"""Blocks of trials last no longer, where a trial does not: soon stored, shown and stopped."""

LEAST_SECONDS = 0.03
"""Shorter blocks would cost more to hand out than they save."""

MAX_BLOCK = 250


class Pace:
    """Seconds per trial as seen so far, and the block size that they suggest."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.trials = 0.0
        self.blocks = 0

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
        (50, 16, 3)
        """
        each = max(self.per_trial, 1e-9)
        seconds = max(each * left / (3 * workers), min(LEAST_SECONDS, BLOCK_SECONDS))
        return max(1, min(int(min(seconds, BLOCK_SECONDS) / each), MAX_BLOCK, left))
