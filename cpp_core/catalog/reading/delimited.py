"""Text with separators, CSV and its kin: the separator is voted on, the rest is pyarrow's."""

import csv
import io
import re
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from .cells import typed
from .limits import (
    LINE_BYTES,
    ROWS,
    Asked,
    FileError,
    Found,
    bytes_text,
    check_shape,
    short,
    too_much,
)
from .names import looks_like_numbers, named
from .places import filled_lines, row_lines

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
SAMPLE_BYTES, SAMPLE_ROWS = 1 << 16, 50


def delimited(text: bytes, asked: Asked, notes: list[str]) -> Found:
    """The table in UTF-8 text."""
    told = re.match(rb'"?sep=([,;\t|])"?\r?\n', text)  # Excel's own way to tell it
    text = text[told.end() :] if told else text
    separator, width = _vote(text, told[1].decode() if told else None, asked)
    check_shape(asked.name, 0, width)
    breaks = text.count(b"\n")
    if b'"' not in text and breaks > ROWS + 1:
        raise too_much(asked.name, f"{breaks:,} lines", f"{ROWS:,} rows")
    cells = _cells(text, separator, width, asked)
    lines = row_lines(text, cells.num_rows)
    del text
    cells = pa.table([pc.utf8_trim_whitespace(own) for own in cells.columns], cells.column_names)
    filled = _filled(cells)
    if filled is not None:
        cells = cells.take(pa.array(filled))
        lines = None if lines is None else lines[filled]
    header = _header(cells, asked)
    cells = named(cells.slice(1), header, asked, notes)
    check_shape(asked.name, cells.num_rows, 0)
    found = Found(cells, notes, separator=separator)
    if lines is not None:
        lines = lines[1:] + bool(told)
        found.place, found.first = "line", int(lines[0])
        found.lines = None if lines[-1] - lines[0] == len(lines) - 1 else lines
    if asked.parse:
        if separator != "," and width > 1:
            notes.insert(0, f"The columns are separated by {SEPARATORS[separator]}.")
        typed(found, separator, asked)
    return found


def _vote(text: bytes, told: str | None, asked: Asked) -> tuple[str, int]:
    """The separator that cuts most rows into as many cells as the header, and how many.

    With a single column any will do, and a comma in its cells is then a decimal comma.
    """
    end = text.rfind(b"\n", 0, SAMPLE_BYTES) + 1 if len(text) > SAMPLE_BYTES else len(text)
    if not end:  # the first line is longer than the sample
        end = text.find(b"\n", 0, LINE_BYTES) + 1 or LINE_BYTES
    # A letter that the end of the sample cuts is replaced; it separates nothing.
    sample = text[:end].decode(errors="replace")
    votes = {}
    for separator in [told] if told else SEPARATORS:
        counts = _counts(sample, separator)
        if counts:
            alike = sum(count == counts[0] for count in counts) / len(counts)
            votes[separator] = counts[0] > 1, alike, counts[0]
    nothing = not sample.strip(f'"\r\n {"".join(SEPARATORS)}')
    if not votes or (nothing and end >= len(text)):
        raise FileError(f"{asked.name} is empty; needed is {asked.needed}.")
    best = max(votes, key=lambda own: votes[own])
    return best if told or votes[best][2] > 1 else ";", votes[best][2]


def _counts(sample: str, separator: str) -> list[int]:
    """How many cells the first rows have that hold anything."""
    counts: list[int] = []
    csv.field_size_limit(LINE_BYTES)
    with suppress(csv.Error):
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=separator):
            if any(cell.strip() for cell in row):
                counts.append(len(row))
            if len(counts) >= SAMPLE_ROWS:
                break
    return counts


def _cells(text: bytes, separator: str, width: int, asked: Asked) -> pa.Table:
    """Every cell as text, the header's among them."""
    names = [str(i) for i in range(width)]
    bad: list[pa.csv.InvalidRow] = []

    def invalid(row: pa.csv.InvalidRow) -> str:
        if not row.text.strip(f'{separator}" \t\r\n'):
            return "skip"
        bad.append(row)
        return "error"

    def read(threads: bool) -> pa.Table:
        return pa.csv.read_csv(
            pa.BufferReader(text),
            pa.csv.ReadOptions(use_threads=threads, block_size=LINE_BYTES, column_names=names),
            pa.csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=b'"' in text,
                invalid_row_handler=invalid,
            ),
            pa.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )

    try:
        cells = read(True)
    except pa.ArrowInvalid as error:
        if not bad:
            raise _broken(error, asked) from error
        bad.clear()
        with suppress(pa.ArrowInvalid):
            read(False)  # the number of a row is known only where they are read one by one
        raise _ragged(bad[0], text, separator, width, asked) from error
    if text.count(b'"') % 2 and _ends_open(text, separator, cells):
        raise _broken("a quotation mark is never closed", asked)
    return cells


def _broken(error: object, asked: Asked) -> FileError:
    said = short(str(error).partition("\n")[0], 200)
    if "straddling" in said:
        most = bytes_text(LINE_BYTES)
        return too_much(asked.name, f"a line of more than {most}", f"{most} a line")
    return FileError(f"{asked.name} cannot be read as CSV ({said}); check its quotation marks.")


def _ends_open(text: bytes, separator: str, cells: pa.Table) -> bool:
    """Whether the last cell begins with a quotation mark that nothing closes."""
    last = cells.column(cells.num_columns - 1)
    if "\n" in last[len(last) - 1].as_py():
        return True
    start = max(text.rfind(separator.encode()), text.rstrip().rfind(b"\n"))
    return text[start + 1 :].lstrip().startswith(b'"')


def _ragged(
    row: pa.csv.InvalidRow, text: bytes, separator: str, width: int, asked: Asked
) -> FileError:
    """The sentence for a row that is longer or shorter than the header."""
    lines = filled_lines(text)
    known = row.number is not None and row.number <= len(lines)
    where = f"Line {lines[row.number - 1]:,}" if known else f"A row ({short(row.text, 40)!r})"
    return FileError(
        f"{where} of {asked.name} has {row.actual_columns:,} cells, but the header has {width:,} "
        f"(separated by {SEPARATORS[separator]}); every row needs a cell for each column."
    )


def _filled(cells: pa.Table) -> NDArray[np.int64] | None:
    """The rows that hold anything; None where all do."""
    blank = np.ones(cells.num_rows, bool)
    for own in cells.columns:
        blank &= pc.equal(pc.binary_length(own), 0).to_numpy()
        if not blank.any():
            return None
    return np.flatnonzero(~blank)


def _header(cells: pa.Table, asked: Asked) -> list[str]:
    """The first row, as names for the others."""
    if not cells.num_rows:
        raise FileError(f"{asked.name} is empty; needed is {asked.needed}.")
    header = [own[0].as_py() for own in cells.columns]
    if looks_like_numbers(header):
        raise FileError(
            f"{asked.name} begins with numbers ({', '.join(map(short, header[:3]))}); the first "
            "line must name the columns: put a name above each."
        )
    if cells.num_rows == 1 and len("".join(str(cell or "") for cell in header)) < 2:
        raise FileError(f"{asked.name} holds next to nothing; needed is {asked.needed}.")
    if cells.num_rows == 1:
        raise FileError(f"{asked.name} has a header but no rows; needed is a row for each case.")
    return header
