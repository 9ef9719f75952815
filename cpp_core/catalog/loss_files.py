"""Reading a user's file into clean columns of losses; what cannot be used is told in a sentence.

CSV (comma, semicolon or tab; decimal commas where the comma separates nothing) and Parquet. Nothing
is repaired in silence: what was guessed or left out is in the notes.
"""

import csv
import hashlib
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.catalog.directions import DIRECTIONS, guessed_direction
from cpp_core.checks import lookup

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
GAPS = {"", "na", "n/a", "nan", "null", "none", "<na>"}
LARGEST = 1e150
"""The largest loss of a file: sums and products of such numbers are still finite."""

NOT_FINITE = GAPS | {"inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"}
OTHER_FORMATS = {
    b"PK\x03\x04": "an Excel workbook or another zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "a gzip archive",
    b"%PDF": "a PDF",
    b"\x80\x04": "a Python pickle, which is never opened here",
    b"\x80\x05": "a Python pickle, which is never opened here",
}
NEEDED = "a CSV or Parquet file with a column of losses for each model"


@dataclass(frozen=True)
class LossTable:
    """Losses of models on the same cases.

    Attributes
    ----------
    columns : dict of str to array (k,) of float64
        The losses of each model, finite, one for each case.
    cases, groups : array (k,) of str or None
        Names of the cases, all different, and the group of each.
    notes : tuple of str
        What was guessed or left out, in sentences.
    name, sha256 : str
        The file's name and the hash of its content.
    case, group : str or None
        The columns that name the cases and their groups.
    greater_is_better : bool
        Whether the numbers are scores rather than losses.
    because : str
        Why they were taken so, as the end of a sentence.
    """

    columns: dict[str, NDArray[np.float64]]
    cases: NDArray[np.str_] | None
    groups: NDArray[np.str_] | None
    notes: tuple[str, ...]
    name: str = "the file"
    sha256: str = ""
    case: str | None = None
    group: str | None = None
    greater_is_better: bool = False
    because: str = ""

    @property
    def taken(self) -> str:
        """What the numbers were taken for, and why."""
        return f"Taken as {DIRECTIONS[self.greater_is_better]}, {self.because}."

    @property
    def told(self) -> dict[str, Any]:
        """What the file tells of its numbers, as arguments of ``answers_of``."""
        own = {"source": self.name, "groups": self.groups}
        return own | {"greater_is_better": self.greater_is_better}

    @property
    def size(self) -> int:
        """How many cases there are."""
        return len(next(iter(self.columns.values())))


@dataclass(frozen=True)
class _Cells:
    """A file as text by column, with what its rows are called."""

    columns: dict[str, list[str]]
    rows: list[str]
    notes: list[str]
    decimal_comma: bool = False


def read_losses(
    source: Any,
    columns: Sequence[str] | None = None,
    case: str | None = None,
    group: str | None = None,
    greater_is_better: bool | None = None,
) -> LossTable:
    """Losses from a CSV or Parquet file, checked.

    Parameters
    ----------
    source : path, bytes or binary file
    columns : sequence of str or None
        The columns of losses; None takes every column of numbers.
    case, group : str or None
        The column that names the cases, and the one with their groups.
    greater_is_better : bool or None
        Whether the numbers are scores, such as 1 for right, rather than losses; None guesses from
        names and values. A note says what was taken.

    Raises
    ------
    ValueError
        A sentence that says what was given, what is needed and what to do.

    Examples
    --------
    >>> table = read_losses(b"model;name\\n0,5;a\\n0,25;b\\n")
    >>> table.columns, len(table.notes)
    ({'model': array([0.5 , 0.25])}, 3)
    """
    content, name = _content(source)
    cells = _cells(content, name)
    known = {column: column for column in cells.columns}
    for wanted in [*(columns or ()), *filter(None, (case, group))]:
        lookup(wanted, known, "column")
    if columns is not None and not len(columns):
        raise ValueError("No column was named; name at least one column of losses.")
    notes = list(cells.notes)
    names = columns if columns is not None else _loss_columns(cells, {case, group}, notes)
    if not names:
        raise ValueError(
            f"{name} has no column of losses (its columns: {', '.join(map(repr, known))}); needed "
            f"is {NEEDED}. {' '.join(notes)}"
        )
    losses = {column: _numbers(cells, column) for column in names}
    if len(cells.rows) == 1:
        notes.append("There is one case only.")
    cases, groups = _names(cells, case, "case"), _names(cells, group, "group")
    digest = hashlib.sha256(content).hexdigest()
    greater, because, instead = greater_is_better, "as was said", ""
    if greater is None:
        greater, because = guessed_direction(losses)
        instead = f"; say --{'smaller' if greater else 'greater'}-is-better if not"
    notes.append(f"Taken as {DIRECTIONS[greater]}, {because}{instead}.")
    about = name, digest, case, group, greater, because
    return LossTable(losses, cases, groups, tuple(notes), *about)


def column_names(source: Any) -> tuple[list[str], list[str]]:
    """The columns of a file, and those among them that look like losses; nothing is checked yet.

    >>> column_names(b"a,b\\n1,x\\n2,y\\n")
    (['a', 'b'], ['a'])
    """
    cells = _cells(*_content(source))
    return list(cells.columns), _loss_columns(cells, set(), [])


def _content(source: Any) -> tuple[bytes, str]:
    """The bytes of a file and its name."""
    if isinstance(source, bytes):
        return source, "the file"
    if isinstance(source, str | Path):
        path = Path(source)
        try:
            return path.read_bytes(), path.name
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}; check the name.") from error
    content = source.read()
    name = Path(str(getattr(source, "name", "the file"))).name
    return content.encode() if isinstance(content, str) else content, name


def _cells(content: bytes, name: str) -> _Cells:
    if not content.strip():
        raise ValueError(f"{name} is empty; needed is {NEEDED}.")
    if content.startswith(b"PAR1"):
        return _parquet(content, name)
    for start, kind in OTHER_FORMATS.items():
        if content.startswith(start):
            raise ValueError(f"{name} is {kind}; needed is {NEEDED}: export or save it as CSV.")
    return _csv(content, name)


def _parquet(content: bytes, name: str) -> _Cells:
    try:
        frame = pd.read_parquet(io.BytesIO(content))
    except ImportError as error:
        message = "Parquet files need the package pyarrow; install it, or give CSV."
        raise ValueError(message) from error
    except Exception as error:  # pyarrow has no common class for what may be wrong in a file
        raise ValueError(
            f"{name} begins like a Parquet file but cannot be read ({error}); write it anew."
        ) from error
    if not len(frame):
        raise ValueError(f"{name} has columns but no rows; needed is a row for each case.")
    columns = {}
    for column, values in frame.items():
        # The text of a float gives it back exactly.
        texts = zip(values, values.isna(), strict=True)
        columns[str(column)] = ["" if gap else str(value) for value, gap in texts]
    return _Cells(columns, [f"row {i}" for i in range(1, len(frame) + 1)], [])


def _csv(content: bytes, name: str) -> _Cells:
    notes: list[str] = []
    text = _text(content, name, notes)
    separator = _separator(text)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        lines = [(reader.line_num, cells) for cells in reader if any(map(str.strip, cells))]
    except csv.Error as error:
        raise ValueError(
            f"{name} cannot be read as CSV ({error}); check its quotation marks."
        ) from error
    if not lines:
        raise ValueError(f"{name} is empty; needed is {NEEDED}.")
    header = [cell.strip() for cell in lines[0][1]]
    _check_header(header, name, separator != ",")
    if len(lines) == 1:
        raise ValueError(f"{name} has a header but no rows; needed is a row for each case.")
    for line, cells in lines[1:]:
        if len(cells) != len(header):
            raise ValueError(
                f"Line {line} of {name} has {len(cells)} cells, but the header has {len(header)} "
                f"(separated by {SEPARATORS[separator]}); every row needs a cell for each column."
            )
    columns = {
        column: [cells[i].strip() for _, cells in lines[1:]] for i, column in enumerate(header)
    }
    nameless = columns.pop("", None)
    if nameless is not None and any(nameless):
        notes.append("The column without a name was left out.")
    decimal_comma = separator != "," and any(
        "," in cell and _is_number(cell, True) for own in columns.values() for cell in own
    )
    if decimal_comma:
        notes.append("Commas were read as decimal points.")
    rows = [f"line {line}" for line, _ in lines[1:]]
    return _Cells(columns, rows, notes, decimal_comma)


def _text(content: bytes, name: str, notes: list[str]) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    if b"\x00" in content:
        raise ValueError(f"{name} is neither text nor Parquet; needed is {NEEDED}.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        notes.append("The file is not UTF-8; it was read as Latin-1, so check accented letters.")
        return content.decode("latin-1")


def _separator(text: str) -> str:
    """The separator that cuts the header into most cells; a semicolon where there is none.

    With a single column any will do, and a comma in its cells is then a decimal comma.
    """
    cells = dict.fromkeys(SEPARATORS, 0)
    for separator in SEPARATORS:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        with suppress(csv.Error):
            cells[separator] = len(next((r for r in rows if len(r) > 1 or "".join(r).strip()), []))
    best = max(cells, key=lambda s: cells[s])
    return best if cells[best] > 1 else ";"


def _check_header(header: list[str], name: str, comma: bool) -> None:
    if all(_is_number(cell, comma) for cell in header):
        raise ValueError(
            f"{name} begins with numbers ({', '.join(header[:3])}); the first line must name the "
            "columns: put the name of each model above its losses."
        )
    twice = [cell for cell in header if header.count(cell) > 1]
    if twice:
        named = next(filter(None, twice), None)
        which = f"Two columns named {named!r}" if named else "Several columns without a name"
        raise ValueError(f"{which} are in {name}; give each column its own name.")


def _is_number(cell: str, comma: bool) -> bool:
    return NUMBER.fullmatch(cell.replace(",", ".", 1) if comma else cell) is not None


def _loss_columns(cells: _Cells, taken: set[str | None], notes: list[str]) -> list[str]:
    """The columns that hold numbers, most of their cells at least; notes on the others."""
    names, other = [], []
    counts = [str(i) for i in range(len(cells.rows) + 1)]
    for name, own in cells.columns.items():
        if name in taken:
            continue
        filled = [cell for cell in own if cell.lower() not in NOT_FINITE]
        numbers = sum(_is_number(cell, cells.decimal_comma) for cell in filled)
        if len(own) > 2 and own in (counts[:-1], counts[1:]):
            notes.append(
                f"Column {name!r} counts the rows and was left out; name it if it holds losses."
            )
        elif 2 * numbers > len(filled) or (not filled and any(own)):
            names.append(name)
        else:
            other.append(name)
    if other:
        notes.append(f"Left out, because not numbers: {', '.join(map(repr, other))}.")
    return names


def _numbers(cells: _Cells, name: str) -> NDArray[np.float64]:
    """A column as finite numbers."""
    own, comma = cells.columns[name], cells.decimal_comma
    values = np.full(len(own), np.nan)
    for i, cell in enumerate(own):
        if _is_number(cell, comma):
            values[i] = float(cell.replace(",", "."))
        elif cell.lower() not in NOT_FINITE:
            raise ValueError(
                f"Column {name!r} has {cell!r} in {cells.rows[i]}; losses must be plain numbers "
                "such as 0.25: correct the cell, or leave the column out."
            )
    huge = np.flatnonzero(np.isfinite(values) & (np.abs(values) > LARGEST))
    if huge.size:
        raise ValueError(
            f"Column {name!r} has {own[huge[0]]!r} in {cells.rows[huge[0]]}; losses beyond "
            f"{LARGEST:g} cannot be added and compared: give them in another unit."
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        first = own[bad[0]] or "an empty cell"
        raise ValueError(
            f"Column {name!r} has {bad.size} of {len(own)} losses missing or infinite, the first "
            f"in {cells.rows[bad[0]]} ({first}); every case needs a number: give a case that could "
            "not be evaluated the worst loss of a finite range, never drop it."
        )
    return values


def _names(cells: _Cells, name: str | None, what: str) -> NDArray[np.str_] | None:
    """A column of names, without gaps; those of cases are all different."""
    if name is None:
        return None
    own = cells.columns[name]
    seen: dict[str, int] = {}
    for i, cell in enumerate(own):
        if not cell:
            raise ValueError(
                f"Column {name!r} names no {what} in {cells.rows[i]}; fill the cell, or read the "
                f"file without a {what} column."
            )
        if what == "case" and seen.setdefault(cell, i) != i:
            raise ValueError(
                f"Column {name!r} has the case {cell!r} twice, in {cells.rows[seen[cell]]} and "
                f"{cells.rows[i]}; every case may be there once: remove the repetition, or give "
                "each case its own name."
            )
    return np.array(own, dtype=np.str_)
