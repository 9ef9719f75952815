"""Room for visitors' files: what all sessions together hold of them is bounded.

What a session holds stays as long as the session does, and anybody may open many. A weight lies in
the session beside what it stands for, and counts while it is there.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakSet

import streamlit as st
from streamlit.runtime import Runtime
from streamlit.runtime.stats import CACHE_MEMORY_FAMILY

from cpp_core.catalog.reading.limits import MEMORY_BYTES, bytes_text
from cpp_core.trials.budget import budget

FULL = (
    "The server holds as many files as it may at present: try again later, or bring a smaller "
    "file. Whoever runs it can allow more with CPP_CORE_MEMORY, in GiB."
)
ALONE = (
    "This file would take about {takes} of memory, and {may} are allowed: leave out what is not "
    "needed. Whoever runs the server can allow more with CPP_CORE_MEMORY, in GiB."
)
T = TypeVar("T")
COPIES = 5
"""A table takes about this many times its bytes: as read, in pandas, as numbers, as inputs."""


def remembered(place: str, what: str, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What was made of a file last, while nothing that it depends on has changed.

    In this session alone: one visitor's file never reaches another.
    """
    kept = st.session_state.setdefault(place, {})
    if what not in kept or kept[what][0] != key:
        kept[what] = key, make()
    return kept[what][1]


class Weight:
    """So many bytes are held in a session."""

    def __init__(self, size: int) -> None:
        self.size = size


_weights: WeakSet[Weight] = WeakSet()
_weighing = threading.Lock()


def held_bytes() -> int:
    """What all sessions hold."""
    with _weighing:
        return sum(own.size for own in _weights)


def take_room(place: str, size: int) -> None:
    """Hold so many bytes at a place of this session, instead of what was there; or a sentence."""
    leave_room(place)
    if size > budget():
        raise ValueError(ALONE.format(takes=bytes_text(size), may=bytes_text(budget())))
    if held_bytes() + size > budget():
        raise ValueError(FULL)
    own = Weight(size)
    with _weighing:
        _weights.add(own)
    st.session_state[f"_room_{place}"] = own


def reading_bytes() -> int:
    """What the process that reads a file may take."""
    return max(min(MEMORY_BYTES, budget()), MEMORY_BYTES // 4)


def leave_room(place: str) -> None:
    """Hold nothing there any more."""
    own: Weight | None = st.session_state.pop(f"_room_{place}", None)
    if own is not None:
        own.size = 0  # at once, whoever else knows of it


def uploaded_bytes() -> int:
    """What Streamlit itself holds of files that were sent and not taken yet."""
    if not Runtime.exists():
        return 0
    stats: Any = Runtime.instance().uploaded_file_mgr.get_stats()
    return sum(own.byte_length for own in stats.get(CACHE_MEMORY_FAMILY, ()))


class Uploads:
    """Files that are being sent: together with those that wait, no more than the budget."""

    def __init__(self) -> None:
        self._under_way = 0

    @contextmanager
    def sent(self, size: int) -> Iterator[bool]:
        """Whether a file of so many bytes may be sent now; it counts while it is."""
        fits = self._under_way + uploaded_bytes() + held_bytes() + size <= budget()
        self._under_way += size if fits else 0
        try:
            yield fits
        finally:
            self._under_way -= size if fits else 0
