"""What the server keeps for all sessions: bounded in bytes, under small keys.

A key names what something was made from and holds none of it. Whatever is made of a visitor's own
data has all that it shows in its key, names too, so that nobody sees another's.
"""

import math
import os
import pickle
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from cpp_core import Results
from cpp_core.trials.watching import Watched

T = TypeVar("T")

SETTING, USUAL = "CPP_CORE_CACHE_MIB", 384
"""The setting of the server for all that is kept, in MiB, and what it is where nobody sets it."""

OBJECTS = 5
"""Python's objects take about this many times the bytes in which they are pickled."""

IDLE_SECONDS = 60.0
"""What is larger than all that may be kept goes when nobody has looked for anything so long."""

LITTLE = 10**4
"""Bytes of what holds next to nothing."""


def kept_bytes() -> float:
    """What the server may keep; the usual where the setting is no number above 0."""
    try:
        wanted = float(os.environ.get(SETTING) or USUAL)
    except ValueError:
        wanted = USUAL
    return 2**20 * (wanted if math.isfinite(wanted) and wanted > 0 else USUAL)


class Kept(Generic[T]):
    """Values by key, of which the least recently used go once all together exceed a budget.

    The newest stays while it is used: without it, each move of a slider would make it again.

    Parameters
    ----------
    share : float
        Its part of all that the server may keep.
    size : callable
        The bytes of a value, asked anew at each change: results grow while they are read.
    """

    def __init__(self, share: float, size: Callable[[T], int]) -> None:
        self.share, self._size = share, size
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._changing = Lock()
        self.made = self.found = 0
        self._used = 0.0

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made where it is not there."""
        with self._changing:
            self._used = time.monotonic()
            if key in self._values:
                self._values.move_to_end(key)
                self.found += 1
                return self._values[key]
        value = make()  # outside the lock: others find theirs meanwhile
        with self._changing:
            self.made += 1
            self._values[key] = value
            self._values.move_to_end(key)
            sizes = {own: self._size(kept) for own, kept in self._values.items()}
            total, budget = sum(sizes.values()), self.share * kept_bytes()
            for own, size in list(sizes.items())[:-1]:
                if total > budget and size:  # what weighs nothing is still on its way
                    del self._values[own]
                    total -= size
        return value

    def find(self, key: Hashable) -> T | None:
        """The value of a key where it is there."""
        with self._changing:
            return self._values.get(key)

    def tidy(self, now: float) -> None:
        """Let go of a newest that alone is too large, once nobody uses it."""
        if now - self._used > IDLE_SECONDS and self.size > self.share * kept_bytes():
            with self._changing:
                for key in [own for own, kept in self._values.items() if self._size(kept)]:
                    del self._values[key]

    def drop(self, key: Hashable) -> None:
        """Forget one value, so that it is made anew."""
        with self._changing:
            self._values.pop(key, None)

    def let_go(self) -> None:
        """Forget what is there; what is still on its way stays."""
        with self._changing:
            for key in [key for key, value in self._values.items() if self._size(value)]:
                del self._values[key]

    @property
    def size(self) -> int:
        """Bytes of all values at present."""
        with self._changing:
            return sum(map(self._size, self._values.values()))

    def __len__(self) -> int:
        return len(self._values)

    def clear(self) -> None:
        """Forget everything."""
        with self._changing:
            self._values.clear()
            self.made = self.found = 0


class Made(NamedTuple):
    """Something that does not change any more, with its bytes."""

    value: Any
    size: int


def made(function: Callable[..., Any], *args: Any, **settings: Any) -> Made:
    """What a function makes, and how much that is; nothing that it was made from."""
    value = function(*args, **settings)
    return Made(value, OBJECTS * len(pickle.dumps(value)))


def name_of(results: Results) -> Hashable:
    """All that results depend on, and what is shown of their data."""
    data = results.experiment.data
    shown = data.label, data.description, data.unit, tuple(data.feature_names)
    return results.experiment, results.seed, results.asked, shown


def weight(study: Watched[Any]) -> int:
    """What a study takes; nothing while it is on its way, and little where it found nothing."""
    return max(study.size, LITTLE) if study.pending.done() else 0


RESULTS: Kept[Results] = Kept(0.5, lambda results: results.nbytes)
STUDIED: Kept[Watched[Any]] = Kept(0.25, weight)
DRAWN: Kept[Made] = Kept(0.2, lambda made: made.size)
REPORTS: Kept[tuple[str, ...]] = Kept(0.05, lambda parts: sum(map(len, parts)))
"""Stored results, studies of their cases, what was drawn of complete ones, and their reports."""
