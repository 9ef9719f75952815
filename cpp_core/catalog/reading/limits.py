"""What a file may hold, and how it is said that it holds more; what was found in one."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MEGABYTE, GIBIBYTE = 10**6, 2**30
FILE_BYTES = 200 * MEGABYTE
TEXT_BYTES = 400 * MEGABYTE
"""Text after unpacking and decoding."""
TABLE_BYTES = 600 * MEGABYTE
"""A table, as its file declares it or as it is sent back."""
ROWS, COLUMNS = 2_000_000, 2_000
LINE_BYTES = 8 * 2**20
NAME_LETTERS = 500
MEMORY_BYTES = 3 * GIBIBYTE // 2
"""What the reading process may take beyond what it has when it starts."""
SECONDS, WAIT = 10, 20.0
"""Seconds of the processor, where the system counts them, and by the clock on a busy machine."""

LESS = "leave out what is not needed, or give a part of it"


class FileError(ValueError):
    """Why a file cannot be used, in a sentence."""


@dataclass(frozen=True)
class Asked:
    """What was asked about a file; the arguments of ``read_frame``."""

    name: str
    needed: str
    decimal: str | None = None
    day_first: bool | None = None
    sheet: str | None = None
    parse: bool = True
    rename: bool = True


@dataclass
class Found:
    """A table with names that differ, and how it was read.

    ``lines`` are the numbers of the rows in the file, None where they count from ``first`` on, and
    ``place`` is what such a number counts. ``separator`` is what cut a text into cells.
    """

    table: pa.Table
    notes: list[str] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    separator: str = ""
    place: str = "row"
    first: int = 1
    lines: NDArray[np.int64] | None = None
    told: dict[str, list[str]] = field(default_factory=dict)

    def tell(self, what: str, name: str) -> None:
        """Keep for a note what was done with a column."""
        self.told.setdefault(what, []).append(name)

    def ask(self, argument: str, text: str, answers: list[tuple[Any, str]], taken: Any) -> None:
        """Leave to the user what the file does not tell; each thing is asked once."""
        if all(own["argument"] != argument for own in self.questions):
            own = {"argument": argument, "text": text, "answers": answers, "taken": taken}
            self.questions.append(own)


def too_much(name: str, has: str, most: str, instead: str = LESS) -> FileError:
    """The sentence for a file above a limit."""
    return FileError(f"{name} has {has}; at most {most} can be read: {instead}.")


def bytes_text(size: float) -> str:
    """A number of bytes as people say it.

    >>> bytes_text(312_400_000), bytes_text(1610612736), bytes_text(20)
    ('312 MB', '1.6 GB', '20 bytes')
    """
    if size >= 1000 * MEGABYTE:
        return f"{size / 1e9:.1f} GB"
    return f"{size / MEGABYTE:.0f} MB" if size >= MEGABYTE else f"{size:,.0f} bytes"


def check_shape(name: str, rows: int, columns: int) -> None:
    """Refuse a table that is too long or too wide."""
    if columns > COLUMNS:
        raise too_much(name, f"{columns:,} columns", f"{COLUMNS:,}")
    if rows > ROWS:
        raise too_much(name, f"{rows:,} rows", f"{ROWS:,}")


def some(names: list[str], most: int = 8) -> str:
    """Names in quotation marks, the first of them where there are many.

    >>> some(["a", "b"]), some(list("abcdefghij"), 2)
    ("'a', 'b'", "'a', 'b' and 8 more")
    """
    shown = ", ".join(repr(short(name)) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def short(text: str, most: int = 80) -> str:
    """A text that fits into a sentence."""
    return text if len(text) <= most else f"{text[:most]}..."
