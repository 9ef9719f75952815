"""Lines and tables for a terminal; no name from a file can steer it."""

import argparse
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from cpp_core.verdicts.summary import Table
    from cpp_core.verdicts.verdict import Verdict

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


class Parser(argparse.ArgumentParser):
    """Arguments whose help and errors are printed like all else: errors repeat what was typed."""

    def _print_message(self, message: str, file: Any = None) -> None:
        for line in message.splitlines(keepends=True):
            text = line.rstrip("\n")
            print(printable(text), end=line[len(text) :], file=file or sys.stderr)

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """The value of ``--column=--`` is a name like any other; argparse would take it away."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            return self._get_value(action, "--")
        return super()._get_values(action, arg_strings)


def aligned(table: "Table") -> list[str]:
    """A table as lines: figures to the right, words to the left.

    >>> from cpp_core.verdicts.summary import Table
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


def told_line(verdict: "Verdict") -> str:
    """A sentence with what it is worth: the strength of a claim, else the outcome."""
    claimed = f"{verdict.badge}: {verdict.assumptions}"
    return f"[{claimed if verdict.claim == 'yes' else verdict.mark[2:]}] {verdict.text}"
