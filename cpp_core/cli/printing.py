"""Lines and tables for a terminal; no name from a file can steer it."""

import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TextIO

from cpp_core.verdicts.about import Verdict
from cpp_core.verdicts.summary import Table

GAP = "  "
FIGURE_STARTS = set("0123456789-+.")


def printable(text: str) -> str:
    """The text in one line, with an escape for what would move a cursor or turn the writing.

    >>> printable("red\\x1b[31m"), printable("two\\nlines"), printable("ü 90 %")
    ('red\\\\x1b[31m', 'two\\\\nlines', 'ü 90 %')
    """
    return "".join(
        char.encode("unicode_escape").decode()
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
        else char
        for char in text
    )


def say(lines: Iterable[str], to: TextIO | None = None) -> None:
    """Print lines."""
    for line in lines:
        print(printable(line), file=to or sys.stdout)


def aligned(table: Table) -> list[str]:
    """A table as lines: figures to the right, words to the left.

    >>> aligned(Table(("model", "cases"), [("a", "1,000"), ("longer", "9")]))
    ['model   cases', 'a       1,000', 'longer      9']
    """
    rows = [[printable(str(cell)) for cell in row] for row in (table.head, *table.rows)]
    columns = list(zip(*rows, strict=True))
    widths = [max(map(_width, column)) for column in columns]
    right = [all(cell[:1] in FIGURE_STARTS for cell in column[1:]) for column in columns]
    return [_line(row, widths, right) for row in rows]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = []
    for cell, width, figures in zip(row, widths, right, strict=True):
        room = " " * (width - _width(cell))
        cells.append(room + cell if figures else cell + room)
    return GAP.join(cells).rstrip()


def _width(text: str) -> int:
    """How many places a text takes: wide letters take two, accents of their own none."""
    return sum(
        0 if unicodedata.combining(char) else 1 + (unicodedata.east_asian_width(char) in "WF")
        for char in text
    )


def told_line(verdict: Verdict) -> str:
    """A sentence with its badge."""
    return f"[{verdict.badge}: {verdict.assumptions}] {verdict.text}"
