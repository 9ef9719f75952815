"""Where the rows of a text stand in it, for sentences that point at one."""

import numpy as np
from numpy.typing import NDArray

PART = 1 << 22
BREAK, RETURN, QUOTE = b'\n\r"'


def row_lines(text: bytes, rows: int) -> NDArray[np.int64] | None:
    """The line in which each of the rows ends, or None where that cannot be told.

    >>> row_lines(b'a,b\\n\\n1,"x\\ny"\\n3,4', 3)
    array([1, 4, 5])
    """
    breaks = text.count(b"\n") + (not text.endswith(b"\n"))
    if breaks == rows:
        return np.arange(1, rows + 1)
    lines = filled_lines(text)
    return lines if len(lines) == rows else None


def filled_lines(text: bytes) -> NDArray[np.int64]:
    """The line in which each row with content ends; line breaks within quotation marks end none."""
    data = np.frombuffer(text, np.uint8)
    ends, lines = [], []
    quotes = count = 0
    for start in range(0, len(data), PART):
        part = data[start : start + PART]
        breaks, marks = np.flatnonzero(part == BREAK), np.flatnonzero(part == QUOTE)
        outside = (np.searchsorted(marks, breaks) + quotes) % 2 == 0
        ends.append(breaks[outside] + start)
        lines.append(np.flatnonzero(outside) + count + 1)
        quotes, count = quotes + len(marks), count + len(breaks)
    if not text.endswith(b"\n"):
        ends.append(np.array([len(text)]))
        lines.append(np.array([count + 1]))
    end = np.concatenate(ends)
    length = np.diff(end, prepend=-1) - 1
    returns = (length == 1) & (data[np.maximum(end - 1, 0)] == RETURN)
    return np.concatenate(lines)[(length > 0) & ~returns]
