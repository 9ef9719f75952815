"""Memory that a process holds and does not use: given back to the system, where the system can.

glibc keeps what was freed, in a place of its own for each thread: after many visitors that was a
GiB which nobody used.
"""

import ctypes
import gc
import sys
from functools import cache
from typing import Any

PLACES, PLACES_AT_MOST = 2, -8
"""How many such places there may be, and how glibc calls that setting."""


@cache
def glibc() -> Any:
    """The C library where it is glibc, else None."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        found = ctypes.CDLL("libc.so.6")
        return found if found.malloc_trim and found.mallopt else None
    except (OSError, AttributeError):  # another C library
        return None


def share_places() -> None:
    """Let threads that start from now on share the places from which they take memory."""
    if glibc() is not None:
        glibc().mallopt(PLACES_AT_MOST, PLACES)


def give_back() -> None:
    """Collect what nobody can reach, and give free memory back."""
    gc.collect()
    if glibc() is not None:
        glibc().malloc_trim(0)
