"""Sheets of Excel workbooks, through calamine."""

import datetime
import io
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from .cells import typed
from .limits import Asked, FileError, Found, check_shape, short, some
from .names import looks_like_numbers, named

DATE, TIME = datetime.date, datetime.datetime


def workbook(content: bytes, asked: Asked) -> Found:
    """The table in a sheet: the one that was asked for, or the first with anything in it."""
    import python_calamine as calamine

    try:
        book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = [
            own.name
            for own in book.sheets_metadata
            if own.typ == calamine.SheetTypeEnum.WorkSheet
            and own.visible == calamine.SheetVisibleEnum.Visible
        ] or book.sheet_names
        if asked.sheet is not None and asked.sheet not in book.sheet_names:
            raise FileError(
                f"{asked.name} has no sheet called {asked.sheet!r}; its sheets: {some(sheets)}."
            )
        for name in sheets if asked.sheet is None else [asked.sheet]:
            sheet = book.get_sheet_by_name(name)
            check_shape(asked.name, sheet.height - 1, sheet.width)
            if sheet.height:
                break
        else:
            raise FileError(f"{asked.name} is empty; needed is {asked.needed}.")
        rows = sheet.to_python()
    except calamine.PasswordError as error:
        raise FileError(f"{asked.name} is locked by a password; save it without one.") from error
    except (calamine.CalamineError, OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            f"{asked.name} is an Excel workbook or another zip archive; no sheet can be read from "
            f"it ({short(str(error), 100)}): export or save it as CSV."
        ) from error
    found = _table(rows, (sheet.start or (0, 0))[0], asked)
    if len(sheets) > 1 and asked.sheet is None:
        answers = [(own, own) for own in sheets]
        found.ask("sheet", f"Which sheet of {asked.name} holds the table?", answers, name)
        found.notes.insert(0, f"The sheet {name!r} was read; there are {len(sheets)}.")
    return found


def _table(rows: list[list[Any]], before: int, asked: Asked) -> Found:
    """The rows of a sheet below the first that holds anything, which names the columns."""
    filled = [i for i, row in enumerate(rows) if any(cell not in ("", None) for cell in row)]
    if not filled:
        raise FileError(f"{asked.name} is empty; needed is {asked.needed}.")
    header = [_text(cell).strip() for cell in rows[filled[0]]]
    if looks_like_numbers(header):
        raise FileError(
            f"{asked.name} begins with numbers ({', '.join(map(short, header[:3]))}); the first "
            "line must name the columns: put a name above each."
        )
    if len(filled) == 1:
        raise FileError(f"{asked.name} has a header but no rows; needed is a row for each case.")
    columns = [_column([rows[i][j] for i in filled[1:]]) for j in range(len(header))]
    notes: list[str] = []
    table = pa.table(columns, list(map(str, range(len(header)))))
    lines = np.array(filled[1:]) + before + 1
    found = Found(named(table, header, asked, notes), notes, first=int(lines[0]))
    found.lines = None if lines[-1] - lines[0] == len(lines) - 1 else lines
    if asked.parse:
        _parse_texts(found, asked)
    return found


def _parse_texts(found: Found, asked: Asked) -> None:
    """Cells that are text may hold numbers or dates, as in a text file."""
    whole = found.table
    texts = [name for name in whole.column_names if whole.column(name).type == pa.string()]
    found.table = whole.select(texts)
    typed(found, ",", asked)
    for name in texts:
        i = whole.column_names.index(name)
        whole = whole.set_column(i, name, found.table.column(name))
    found.table = whole


def _column(cells: list[Any]) -> pa.ChunkedArray:
    """Cells of one kind as such; mixed ones as text."""
    kinds = {type(cell) for cell in cells if cell not in ("", None)}
    values = [None if cell == "" else cell for cell in cells]
    if not kinds:
        return pa.chunked_array([pa.nulls(len(cells), pa.float64())])
    if kinds <= {int, float}:
        own = pa.array(values, pa.float64())
        if not own.null_count:
            with suppress(pa.ArrowInvalid):  # whole numbers only
                own = own.cast(pa.int64())
        return pa.chunked_array([own])
    if kinds == {bool}:
        return pa.chunked_array([pa.array(values, pa.bool_())])
    if kinds <= {DATE, TIME}:
        return pa.chunked_array([pa.array(values, pa.timestamp("us"))])
    return pa.chunked_array([pa.array([_text(cell) for cell in cells], pa.string())])


def _text(cell: Any) -> str:
    """A cell as it is typed."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return "" if cell is None else str(cell).strip()
