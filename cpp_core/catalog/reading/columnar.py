"""Parquet files: what they declare is checked before anything is decoded."""

import re

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .limits import (
    TABLE_BYTES,
    Asked,
    FileError,
    Found,
    bytes_text,
    check_shape,
    short,
    some,
    too_much,
)
from .names import named


def columnar(content: bytes, asked: Asked) -> Found:
    """The table in a Parquet file, in types that pandas has."""
    found = Found(pa.table({}))
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        about = file.metadata
        check_shape(asked.name, about.num_rows, about.num_columns)
        declared = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        if declared > TABLE_BYTES:
            raise too_much(asked.name, f"{bytes_text(declared)} of data", bytes_text(TABLE_BYTES))
        table = file.read()
    except (FileError, MemoryError):
        raise
    except Exception as error:  # pyarrow has no common class for what may be wrong in a file
        said = short(str(error).partition("\n")[0], 200)
        raise FileError(
            f"{asked.name} begins like a Parquet file but cannot be read ({said}); write it anew."
        ) from error
    if not table.num_rows:
        raise FileError(f"{asked.name} has columns but no rows; needed is a row for each case.")
    kept, left = [], []
    for i, name in enumerate(table.column_names):
        if re.fullmatch(r"__index_level_\d+__", name):  # an index of pandas without a name
            continue
        column = _simple(table.column(i))
        if column is None:
            left.append(name)
        else:
            kept.append((name, column))
    if left:
        found.notes.append(f"Left out, because a cell holds more than one value: {some(left)}.")
    header = [name for name, _ in kept]
    if not header:
        raise FileError(f"{asked.name} has no column that can be used; needed is {asked.needed}.")
    places = list(map(str, range(len(header))))
    found.table = named(pa.table([own for _, own in kept], places), header, asked, found.notes)
    return found


def _simple(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Numbers, booleans, dates or text; None for what is neither."""
    kind, types = column.type, pa.types
    if types.is_dictionary(kind):
        column = pc.cast(column, kind.value_type)
        kind = column.type
    if types.is_boolean(kind) or kind in (pa.int64(), pa.float64(), pa.string()):
        return column
    if types.is_null(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return pc.cast(column, pa.float64())
    if types.is_integer(kind):
        return pc.cast(column, pa.float64() if kind == pa.uint64() else pa.int64(), safe=False)
    if types.is_date(kind) or types.is_timestamp(kind):
        return pc.cast(column, pa.timestamp("us"), safe=False)
    if types.is_duration(kind):
        return pc.divide(pc.cast(pc.cast(column, pa.duration("us"), safe=False), pa.int64()), 1e6)
    if types.is_large_string(kind) or types.is_string_view(kind) or types.is_time(kind):
        return pc.cast(column, pa.string())
    return None
