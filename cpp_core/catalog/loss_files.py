"""Reading a user's file into clean columns of losses; what cannot be used is told in a sentence.

Text with separators (decimal commas where the comma separates nothing), Parquet and Excel. Nothing
is repaired in silence: what was guessed or left out is in the notes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cpp_core.catalog.columns import ID_NAME
from cpp_core.catalog.costs import check_unit
from cpp_core.catalog.directions import DIRECTIONS, guessed_direction
from cpp_core.catalog.files import FileRead, read_frame
from cpp_core.catalog.raw_tables import looks_raw
from cpp_core.catalog.reading.cells import as_numbers
from cpp_core.catalog.reading.limits import MEMORY_BYTES, short, some
from cpp_core.checks import lookup

LARGEST = 1e150
"""The largest loss of a file: sums and products of such numbers are still finite."""
MOST_GROUPS = 200
"""Each group gets sentences of its own."""

GAPS = ("", "na", "n/a", "nan", "null", "none", "<na>")
INFINITE = ("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
NOT_FINITE = pa.array([*GAPS, *INFINITE])
DECIMAL_COMMA = "^[+-]?(?:[0-9]+,[0-9]*|,[0-9]+)(?:[eE][+-]?[0-9]+)?$"
NEEDED = "a CSV or Parquet file or an Excel sheet with a column of losses for each model"


@dataclass(frozen=True)
class LossTable:
    """Losses of models on the same cases.

    Attributes
    ----------
    columns : dict of str to array (k,) of float64
        The losses of each model, finite, one for each case.
    cases, groups : array (k,) of str, as objects, or None
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
    unit : str
        What the numbers count, such as EUR; nothing where nobody said it.
    """

    columns: dict[str, NDArray[np.float64]]
    cases: NDArray[np.object_] | None
    groups: NDArray[np.object_] | None
    notes: tuple[str, ...]
    name: str = "the file"
    sha256: str = ""
    case: str | None = None
    group: str | None = None
    greater_is_better: bool = False
    because: str = ""
    unit: str = ""

    @property
    def taken(self) -> str:
        """What the numbers were taken for, and why."""
        return f"Taken as {DIRECTIONS[self.greater_is_better]}, {self.because}."

    @property
    def told(self) -> dict[str, Any]:
        """What the file tells of its numbers, as arguments of ``answers_of``."""
        own = {"source": self.name, "groups": self.groups, "unit": self.unit}
        return own | {"greater_is_better": self.greater_is_better}

    @property
    def size(self) -> int:
        """How many cases there are."""
        return len(next(iter(self.columns.values())))


def read_losses(
    source: Any,
    columns: Sequence[str] | None = None,
    case: str | None = None,
    group: str | None = None,
    greater_is_better: bool | None = None,
    unit: str = "",
) -> LossTable:
    """Losses from a CSV, Parquet or Excel file, checked.

    Parameters
    ----------
    source : path, bytes, binary file or what ``open_losses`` gave
    columns : sequence of str or None
        The columns of losses; None takes every column of numbers, and refuses what looks like a
        table of cases.
    case, group : str or None
        The column that names the cases, and the one with their groups.
    greater_is_better : bool or None
        Whether the numbers are scores, such as 1 for right, rather than losses; None guesses from
        names and values. A note says what was taken.
    unit : str
        What the numbers count, a short word such as EUR, which stands behind them.

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
    file = open_losses(source)
    known = {column: column for column in file.table.column_names}
    for wanted in [*(columns or ()), *filter(None, (case, group))]:
        lookup(wanted, known, "column")
    if columns is not None and not len(columns):
        raise ValueError("No column was named; name at least one column of losses.")
    mark, notes = _decimal_mark(file), list(file.notes)
    if mark == ",":
        notes.append("Commas were read as decimal points.")
    names = columns if columns is not None else _taken(file, mark, case, group, notes)
    losses = {column: _losses(file, column, mark) for column in names}
    if file.table.num_rows == 1:
        notes.append("There is one case only.")
    cases, groups = _names(file, case, "case"), _names(file, group, "group")
    greater, because, instead = greater_is_better, "as was said", ""
    if greater is None:
        greater, because = guessed_direction(losses)
        instead = f"; say --{'smaller' if greater else 'greater'}-is-better if not"
    notes.append(f"Taken as {DIRECTIONS[greater]}, {because}{instead}.")
    about = file.name, file.sha256, case, group, greater, because, check_unit(unit) if unit else ""
    return LossTable(losses, cases, groups, tuple(notes), *about)


def _taken(
    file: FileRead, mark: str, case: str | None, group: str | None, notes: list[str]
) -> Sequence[str]:
    """The columns that are losses where nobody says; refused where there are none."""
    told = raw_table(file, case, group)
    if told:
        raise ValueError(told)
    names = _loss_columns(file, mark, {case, group}, notes)
    if not names:
        raise ValueError(
            f"{file.name} has no column of losses (its columns: {some(file.table.column_names)}); "
            f"needed is {' '.join([f'{NEEDED}.', *notes])}"
        )
    return names


def open_losses(source: Any, own: bool = True, memory: int = MEMORY_BYTES) -> FileRead:
    """A file with its cells as they are written, read once for several questions.

    ``own`` is whether it is the file of who runs this process, as in ``read_frame``.
    """
    if isinstance(source, FileRead):
        return source
    return read_frame(source, needed=NEEDED, parse=False, rename=False, own=own, memory=memory)


def column_names(source: Any) -> tuple[list[str], list[str]]:
    """The columns of a file, and those among them that look like losses; nothing is checked yet.

    >>> column_names(b"a,b\\n1,x\\n2,y\\n")
    (['a', 'b'], ['a'])
    """
    file = open_losses(source)
    return file.table.column_names, _loss_columns(file, _decimal_mark(file), set(), [])


def raw_table(source: Any, case: str | None = None, group: str | None = None) -> str:
    """Why a file looks like a table of cases instead of losses, and what to do; else nothing.

    >>> raw_table(b"a,b\\n1,x\\n2,y\\n")
    ''
    """
    file = open_losses(source)
    taken, mark = {case, group}, _decimal_mark(file)
    names = _loss_columns(file, mark, taken, [])
    others = [own for own in file.table.column_names if own not in names and own not in taken]
    words = {own: file.table.column(own) for own in others if not _numbers_rows(file, own)}
    numbers = {own: _values(file.table.column(own), mark) for own in names}
    return looks_raw(file.name, words, numbers)


def _decimal_mark(file: FileRead) -> str:
    """A comma where it separates nothing and some cell is a number with it."""
    if file.separator in ("", ","):
        return "."
    texts = filter(_is_text, file.table.columns)
    found = any(pc.any(pc.match_substring_regex(own, DECIMAL_COMMA)).as_py() for own in texts)
    return "," if found else "."


def _is_text(column: pa.ChunkedArray) -> bool:
    return pa.types.is_string(column.type)


def _is_number(column: pa.ChunkedArray) -> bool:
    return pa.types.is_floating(column.type) or pa.types.is_integer(column.type)


def _values(column: pa.ChunkedArray, mark: str) -> NDArray[np.float64]:
    """Numbers, NaN where a cell holds none."""
    values = as_numbers(column, mark) if _is_text(column) else pc.cast(column, pa.float64())
    return pc.fill_null(values, np.nan).to_numpy()


def _is_filled(column: pa.ChunkedArray, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which cells say more than that a number is missing or infinite."""
    if not _is_text(column):
        return np.isfinite(values)
    lower = pc.utf8_lower(pc.fill_null(column, ""))
    return ~pc.is_in(lower, value_set=NOT_FINITE).to_numpy()


def _loss_columns(file: FileRead, mark: str, taken: set[str | None], notes: list[str]) -> list[str]:
    """The columns that hold numbers, most of their cells at least; notes on the others."""
    names: list[str] = []
    other: list[str] = []
    counting = []
    for name, column in zip(file.table.column_names, file.table.columns, strict=True):
        if name in taken:
            continue
        if _numbers_rows(file, name):
            counting.append(name)
            continue
        losses = False
        if _is_text(column) or _is_number(column):
            values = _values(column, mark)
            filled = _is_filled(column, values)
            numbers = np.count_nonzero(filled & ~np.isnan(values))
            losses = 2 * int(numbers) > int(np.count_nonzero(filled)) or (
                not filled.any() and bool(pc.any(_says_something(column)).as_py())
            )
        (names if losses else other).append(name)
    notes += [
        f"Column {short(name)!r} numbers the rows and was left out; name it if it holds losses."
        for name in counting
    ]
    if other:
        notes.append(f"Left out, because not numbers: {some(other)}.")
    return names


def _says_something(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Which cells are not empty."""
    if _is_text(column):
        return pc.greater(pc.binary_length(column), 0)
    return pc.invert(pc.is_null(column, nan_is_null=True))


def _numbers_rows(file: FileRead, name: str) -> bool:
    """Whether a column only tells rows apart: it counts them, or has whole numbers and says so."""
    column = file.table.column(name)
    if _counts_rows(column):
        return True
    if len(column) < 3 or not ID_NAME.search(name):
        return False
    whole = pa.types.is_integer(column.type)
    digits = _is_text(column) and pc.all(pc.match_substring_regex(column, "^[0-9]+$")).as_py()
    return whole or bool(digits)


def _counts_rows(column: pa.ChunkedArray) -> bool:
    """Whether a column says 0, 1, 2 or 1, 2, 3 and so on."""
    whole = pa.types.is_integer(column.type)
    if len(column) < 3 or not (whole or _is_text(column)) or str(column[0]) not in ("0", "1"):
        return False
    count = pa.array(np.arange(len(column)) + int(str(column[0])))
    return bool(pc.all(pc.equal(column, count if whole else pc.cast(count, pa.string()))).as_py())


def _losses(file: FileRead, name: str, mark: str) -> NDArray[np.float64]:
    """A column as finite numbers."""
    column = file.table.column(name)
    if not (_is_text(column) or _is_number(column)):
        raise _no_number(file, name, 0)
    values = _values(column, mark)
    words = np.flatnonzero(np.isnan(values) & _is_filled(column, values))
    if words.size:
        raise _no_number(file, name, words[0])
    huge = np.flatnonzero(np.isfinite(values) & (np.abs(values) > LARGEST))
    if huge.size:
        raise ValueError(
            f"Column {short(name)!r} has {_cell(column, huge[0])!r} in {file.place(huge[0])}; "
            f"losses beyond {LARGEST:g} cannot be added and compared: give them in another unit."
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        first = _cell(column, bad[0]) or "an empty cell"
        raise ValueError(
            f"Column {short(name)!r} has {bad.size:,} of {len(values):,} losses missing or "
            f"infinite, the first in {file.place(bad[0])} ({first}); every case needs a number: "
            "give a case that could not be evaluated the worst loss of a finite range, never drop "
            "it."
        )
    return values


def _cell(column: pa.ChunkedArray, row: int) -> str:
    """A cell as text that fits into a sentence."""
    cell = column[int(row)].as_py()
    return "" if cell is None else short(str(cell))


def _no_number(file: FileRead, name: str, row: int) -> ValueError:
    cell = _cell(file.table.column(name), row)
    return ValueError(
        f"Column {short(name)!r} has {cell!r} in {file.place(row)}; losses must be plain numbers "
        "such as 0.25: correct the cell, or leave the column out."
    )


def _names(file: FileRead, name: str | None, what: str) -> NDArray[np.object_] | None:
    """A column of names, without gaps; those of cases are all different."""
    if name is None:
        return None
    column = file.table.column(name)
    cells = ["" if cell is None else str(cell) for cell in column.to_pylist()]
    own = pd.Series(cells, dtype=object)
    empty = np.flatnonzero(own == "")
    if empty.size:
        raise ValueError(
            f"Column {short(name)!r} names no {what} in {file.place(empty[0])}; fill the cell, or "
            f"read the file without a {what} column."
        )
    again = np.flatnonzero(own.duplicated())
    if what == "case" and again.size:
        before = cells.index(cells[again[0]])
        raise ValueError(
            f"Column {short(name)!r} has the case {short(cells[again[0]])!r} twice, in "
            f"{file.place(before)} and {file.place(again[0])}; every case may be there once: "
            "remove the repetition, or give each case its own name."
        )
    if what == "group" and len(own) - again.size > MOST_GROUPS:
        raise ValueError(
            f"Column {short(name)!r} has {len(own) - again.size:,} groups; at most {MOST_GROUPS} "
            "can be judged: join small groups, or read the file without a group column."
        )
    return own.to_numpy(dtype=object)
