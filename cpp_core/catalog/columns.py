"""What a column of a user's table holds, told without learning anything from it.

A column becomes float64: dates in days, truth values as 0 and 1, categories as codes that are fixed
for the table, infinite values as missing. Scaling, filling in and one-hot are left to the training
runs (``TableEncoder``).
"""

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cpp_core.learners.cells import is_number, numbers_of, texts_of

Kind = Literal["number", "boolean", "date", "category", "constant", "text", "id", "empty"]

USED: tuple[Kind, ...] = ("number", "boolean", "date", "category", "constant")
"""Kinds that can be inputs."""

WHY_LEFT_OUT: dict[Kind, str] = {
    "text": "free text",
    "id": "a name for each row",
    "empty": "no values",
}
"""Why a kind is never an input, in words."""

ID_NAME = re.compile(r"(?i:(^|[\s_.-])(id|ids|uuid|guid|index|key)$|^unnamed: ?\d+$)|[a-z]I[dD]$")
"""Whole numbers of such a name, each once, are names of rows."""
COUNT_NAME = re.compile(
    r"(?i)(^|[\s_.-])(rows?|row[ _.-]?names?|nr|no|num|number|idx|obs|observation|record|case|line)"
    r"\.?$|^#$|^column 1$"
)
"""So are they under such a name where they count 0, 1, 2 ... from row to row; a file's first column
without a name is called column 1. Under any other name a count may be a day, or a dose."""
AT_ONCE = 20_000
FEW, LONG = 20, 40
"""A text with more distinct values than this, and than half the rows, or longer ones, is free."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
    kind : str
        ``number``, ``boolean``, ``date``, ``category``, ``constant`` (the same in every row), or
        what cannot be an input: ``text``, ``id``, ``empty``.
    missing, infinite, distinct : int
        How many values are missing, are infinite (which counts as missing), and differ.
    levels : tuple of str
        Of a category, in the order of their codes.
    whole, words : bool
        Whether all its values are whole numbers, or words.
    odd : str
        Of words that are numbers for the greater part, which are not, and in which row.
    """

    name: str
    kind: Kind
    missing: int
    infinite: int = 0
    distinct: int = 0
    levels: tuple[str, ...] = ()
    whole: bool = False
    words: bool = False
    odd: str = ""

    @property
    def encoded(self) -> bool:
        """Whether a model cannot read its numbers as they are: dates, codes, gaps."""
        return self.kind in ("category", "date") or self.missing > 0

    def shown(self, value: float) -> str:
        """A value of the column as its owner knows it.

        >>> Column("city", "category", 0, levels=("Oslo", "Rome")).shown(1.0)
        'Rome'
        >>> Column("day", "date", 0).shown(1.5)
        '1970-01-02 12:00:00'
        """
        if np.isnan(value):
            return "missing"
        if self.levels:
            return self.levels[int(value)]
        if self.kind == "boolean":
            return str(bool(value))
        if self.kind == "date":
            when = pd.Timestamp(0) + pd.Timedelta(days=value).round("ms")
            return str(when.date() if when == when.normalize() else when)
        return f"{value:g}"


def type_column(name: str, column: pd.Series) -> tuple[Column, NDArray[np.float64]]:
    """What a column holds, and its values as numbers; of free text and names of rows, codes."""
    column = plain(column)
    missing = int(column.isna().sum())
    if missing == len(column):
        return Column(name, "empty", missing), np.full(len(column), np.nan)
    return _numeric(name, column) if is_number(column) else _words(name, column, missing)


def plain(column: pd.Series) -> pd.Series:
    """A column of Python objects as numbers, dates or truth values, where it holds such alone."""
    if column.dtype != object:
        return column
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in ("date", "datetime"):
        return pd.to_datetime(column, errors="coerce", utc=True)
    if kind == "boolean":
        return column.astype("boolean")
    if kind in ("integer", "floating", "mixed-integer-float", "decimal"):
        return pd.to_numeric(column, errors="coerce")
    return column


def _numeric(name: str, column: pd.Series) -> tuple[Column, NDArray[np.float64]]:
    values = numbers_of(column)
    known = values[~np.isnan(values)]
    missing = len(values) - len(known)
    infinite = missing - int(column.isna().sum())
    distinct = column.nunique() if column.dtype.kind in "iu" else len(np.unique(known))
    whole = bool((known == np.floor(known)).all())
    kind: Kind = "number"
    if column.dtype.kind == "b":
        kind = "boolean"
    elif column.dtype.kind == "M" or isinstance(column.dtype, pd.DatetimeTZDtype):
        kind = "date"
    if not len(known):
        kind = "empty"
    elif distinct == 1 and not missing:
        kind = "constant"
    elif kind == "number" and whole and _names_rows(name, known, missing, distinct):
        kind = "id"
    return Column(name, kind, missing, infinite, distinct, whole=whole), values


def _names_rows(name: str, known: NDArray, missing: int, distinct: int) -> bool:
    """Whether whole numbers only tell rows apart, as their name says; their order alone never."""
    if missing or distinct < len(known) or distinct < FEW:
        return False
    if ID_NAME.search(name):
        return True
    counts = known[0] in (0, 1) and bool((np.diff(known) == 1).all())
    return counts and COUNT_NAME.search(name) is not None


def _words(name: str, column: pd.Series, missing: int) -> tuple[Column, NDArray[np.float64]]:
    """Categories, free text, or names of rows."""
    codes, levels = coded(column)
    values = np.where(codes < 0, np.nan, codes)
    n, distinct = len(column) - missing, len(levels)
    kind: Kind = "category"
    declared = isinstance(column.dtype, pd.CategoricalDtype)
    length = float(np.mean([len(text) for text in levels]))
    if distinct == 1 and not missing:
        kind = "constant"
    elif declared:
        kind = "category"
    elif distinct == n and n >= FEW and not any(" " in text for text in levels[:FEW]):
        kind = "id"
    elif (distinct > FEW and distinct > n / 2) or length > LONG:
        kind = "text"
    kept = tuple(levels) if kind in USED else ()
    odd = _odd(codes, levels)
    return Column(name, kind, missing, 0, distinct, kept, words=True, odd=odd), values


def coded(column: pd.Series) -> tuple[NDArray[np.int64], list[str]]:
    """The levels of a column of words in order, and for each row the place of its own; -1 for none.

    Text as the reader of files gives it is sorted by Arrow, beside other threads: sorting a million
    of Python's own words stops them all for seconds.
    """
    if not isinstance(column.dtype, pd.StringDtype):
        codes, found = pd.factorize(texts_of(column), sort=True)
        return codes, list(found)
    texts = pa.chunked_array([pa.array(column, from_pandas=True)]).combine_chunks()
    words = texts.dictionary_encode()
    order = pc.sort_indices(words.dictionary).to_numpy()
    places = np.empty(len(order) + 1, dtype=np.int64)
    places[order], places[-1] = np.arange(len(order)), -1
    codes = places[words.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
    return codes, words.dictionary.take(pa.array(order)).to_pylist()


def _odd(codes: NDArray, levels: list[str], most: int = 3) -> str:
    """The words among numbers with their rows, the first is 1; empty where words are usual.

    >>> _odd(np.array([0, 1, 2]), ["1.5", "oops", "7"])
    "'oops' in row 2"
    """
    found = [np.empty(0, dtype=np.int64)]
    for start in range(0, len(levels), AT_ONCE):  # other threads go on between them
        some = pd.Series(levels[start : start + AT_ONCE], dtype=object)
        found.append(start + np.flatnonzero(pd.to_numeric(some, errors="coerce").isna()))
        if sum(map(len, found)) > len(levels) / 2:
            return ""
    no_number = np.concatenate(found)
    rows = np.flatnonzero(np.isin(codes, no_number))
    shown = [f"{levels[codes[row]][:LONG]!r} in row {row + 1:,}" for row in rows[:most]]
    more = f" and {len(rows) - most:,} more" if len(rows) > most else ""
    return ", ".join(shown) + more


def unique_names(names: Any) -> list[str]:
    """The names as text, each once.

    >>> unique_names(["a", 1, "a"])
    ['a', '1', 'a (2)']
    """
    found: list[str] = []
    for name in map(str, names):
        number, candidate = 1, name
        while candidate in found:
            number += 1
            candidate = f"{name} ({number})"
        found.append(candidate)
    return found
