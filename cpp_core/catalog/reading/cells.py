"""Columns of text as numbers, booleans and dates, by the conventions of the file.

Every pass is linear in the text: pyarrow's casts, and patterns of RE2, which never tracks back.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from .dates import dates
from .limits import Asked, Found, some

GAPS = pa.array(["", "na", "n/a", "nan", "null", "none", "<na>", "#n/a"])
WORDS = pa.array(["na", "none"])
"""Gaps among numbers and dates; among words they are words: a class may be called none."""

MARKS = r"^(?:\?|-|--|\.|\*|(?i:k\. ?a\.|n\. ?a\.|n\.v\.|missing|unknown|unbekannt|keine angabe))$"
"""What stands for a missing number where all else are numbers."""

OTHER = {".": ",", ",": "."}
SPACES = r"'’ \x{a0}\x{202f}"
NUMBER = {
    mark: rf"^[+-]?(?:[0-9]+[{mark}]?[0-9]*|[{mark}][0-9]+)(?:[eE][+-]?[0-9]+)?$" for mark in OTHER
}
INFINITE = r"^[+-]?(?i:inf|infinity)$"
GROUPED = {
    mark: rf"^[+-]?[1-9][0-9]{{0,2}}(?:[{other}{SPACES}][0-9]{{3}})+(?:[{mark}][0-9]+)?$"
    for mark, other in OTHER.items()
}
WHOLE = r"^[+-]?[0-9]+$"
PADDED = r"^[+-]?0[0-9]+$"
EXACT = 2.0**53
"""Whole numbers above this are not all floats."""
HEAD = 1000
Column: TypeAlias = pa.ChunkedArray


@dataclass(frozen=True)
class Reading:
    """A column as numbers with one decimal mark, and whether thousands were marked."""

    values: Column
    grouped: bool


def typed(found: Found, separator: str, asked: Asked) -> None:
    """Turn every column of trimmed text into what it holds; notes and questions say how."""
    columns: dict[str, Column] = {}
    unsure: dict[str, dict[str, Reading]] = {}
    certain: dict[str, bool] = dict.fromkeys(OTHER, False)
    for name in found.table.column_names:
        whole = found.table.column(name)
        texts = without_gaps(whole)
        found.table = found.table.drop_columns([name])  # one column is held twice, not the table
        columns[name] = texts
        own = _plain(texts, name, found)
        if own is not None:
            columns[name] = own
            continue
        readings = {mark: reading for mark in OTHER if (reading := _reading(texts, mark))}
        if len(readings) > 1 and _any(texts, r"[.,]"):
            unsure[name] = readings
        elif readings:
            mark, reading = next(iter(readings.items()))
            columns[name] = _taken(reading, texts, name, found)
            certain[mark] |= len(readings) == 1
        else:
            day = dates(texts, name, asked.day_first, separator != ",", found)
            columns[name] = _words(whole, texts, name, found) if day is None else day
    commas = False
    for name, readings in unsure.items():
        texts = columns[name]
        mark = asked.decimal or _decimal(texts, name, readings, certain, separator, found)
        columns[name] = _taken(readings[mark], texts, name, found)
        commas |= mark == "," and _any(texts, ",")
    if certain[","] or commas:
        found.notes.append("Commas were read as decimal points.")
    found.notes += [f"{what}: {some(names)}." for what, names in found.told.items()]
    found.table = pa.table(columns)


def without_gaps(texts: Column) -> Column:
    """The column with nothing where a cell says that nothing is there."""
    gaps = pc.is_in(pc.utf8_lower(texts), value_set=GAPS)
    return pc.if_else(gaps, pa.scalar(None, texts.type), texts) if pc.any(gaps).as_py() else texts


def _words(whole: Column, texts: Column, name: str, found: Found) -> Column:
    """A column of words, in which those that may mean a gap are words too; that is told."""
    words = pc.fill_null(pc.is_in(pc.utf8_lower(whole), value_set=WORDS), False)
    if not pc.any(words).as_py():
        return texts
    found.tell("NA or none taken as a word, not as missing", name)
    return pc.if_else(words, whole, texts)


def as_numbers(texts: Column, mark: str = ".") -> Column:
    """Plain numbers with a decimal mark, infinities among them; nothing where a cell is none."""
    plain = texts
    if mark == ",":
        points = pc.match_substring(texts, ".")
        plain = pc.if_else(points, pa.scalar(None, texts.type), texts)
        plain = pc.replace_substring(plain, ",", ".")
    try:
        return pc.cast(plain, pa.float64())
    except pa.ArrowInvalid:
        fits = pc.or_(_matches(plain, NUMBER["."]), _matches(plain, INFINITE))
        return pc.cast(pc.if_else(fits, plain, pa.scalar(None, texts.type)), pa.float64())


def _matches(texts: Column, pattern: str) -> Column:
    return pc.match_substring_regex(texts, pattern)


def _any(texts: Column, pattern: str) -> bool:
    return bool(pc.any(_matches(texts, pattern)).as_py())


def _all(texts: Column, pattern: str) -> bool:
    """Whether every cell that is there matches; the first ones are asked before the others."""
    head = pc.all(_matches(texts.slice(0, HEAD), pattern)).as_py()
    return bool(head) and bool(pc.all(_matches(texts, pattern)).as_py())


def _plain(texts: Column, name: str, found: Found) -> Column | None:
    """A column that can be read in one way: nothing, booleans, codes, whole numbers."""
    if texts.null_count == len(texts):
        return pc.cast(texts, pa.float64())
    if _all(texts, "^(?i:true|false)$"):
        return pc.equal(pc.utf8_lower(texts), "true")
    if _any(texts, PADDED):
        found.tell("Kept as text, because of leading zeros", name)
        return texts
    if not _all(texts, WHOLE):
        return None
    values = pc.cast(texts, pa.float64())
    ends = pc.min_max(values).as_py()
    largest = max(abs(ends["min"]), abs(ends["max"]))
    if largest < (EXACT if texts.null_count else 2.0**63):
        if texts.null_count:
            return values
        return pc.cast(pc.replace_substring_regex(texts, r"^\+", ""), pa.int64())
    found.tell("Kept as text, because of more digits than numbers hold", name)
    return texts


def _reading(texts: Column, mark: str) -> Reading | None:
    """The column as numbers, thousands marked or not; None where a cell is none."""
    if mark == ".":
        with suppress(pa.ArrowInvalid):
            return Reading(pc.cast(texts, pa.float64()), False)
    allowed = rf"{NUMBER[mark]}|{INFINITE}|{GROUPED[mark]}|{MARKS}"
    if not _all(texts, allowed):
        return None
    groups = _matches(texts, GROUPED[mark])
    grouped = bool(pc.any(groups).as_py())
    if grouped:
        joined = pc.replace_substring_regex(texts, f"[{OTHER[mark]}{SPACES}]", "")
        texts = pc.if_else(groups, joined, texts)
    values = as_numbers(texts, mark)
    return None if values.null_count == len(values) else Reading(values, grouped)


def _taken(reading: Reading, texts: Column, name: str, found: Found) -> Column:
    """The numbers of a column; what was left out of its cells is told."""
    if reading.grouped:
        found.tell("Read without the marks between thousands", name)
    if reading.values.null_count > texts.null_count:
        found.tell("Marks such as ? taken as missing", name)
    return reading.values


def _decimal(
    texts: Column,
    name: str,
    readings: dict[str, Reading],
    certain: dict[str, bool],
    separator: str,
    found: Found,
) -> str:
    """The decimal mark of a column that can be read with both: that of the others, or asked."""
    known = [mark for mark, is_so in certain.items() if is_so]
    if len(known) == 1:
        return known[0]
    points = _any(texts, r"[.]")
    if points and separator == ",":
        return "."
    mark = "." if points or separator == "," else ","
    marked = _matches(texts, r"[.,]")
    i = pc.index(marked, True).as_py()
    shown = {own: f"{readings[own].values[i].as_py():.12g}" for own in OTHER}
    text = f"Is {texts[i].as_py()!r} in column {name!r} {shown['.']} or {shown[',']}?"
    found.ask("decimal", text, list(shown.items()), mark)
    return mark
