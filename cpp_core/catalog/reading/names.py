"""Names of columns: all different, or a sentence."""

import pyarrow as pa
import pyarrow.compute as pc

from .limits import NAME_LETTERS, Asked, FileError, check_shape, short, some


def looks_like_numbers(header: list[str]) -> bool:
    """Whether every name is a number, so that the names are missing.

    >>> looks_like_numbers(["0.5", "1e-3"]), looks_like_numbers(["a", "1"])
    (True, False)
    """
    return all(len(name) <= NAME_LETTERS and _is_number(name) for name in header)


def _is_number(name: str) -> bool:
    try:
        float(name.replace(",", ".", 1))
    except ValueError:
        return False
    return "_" not in name and name[-1:].isdigit()


def named(table: pa.Table, header: list[str], asked: Asked, notes: list[str]) -> pa.Table:
    """The table with the names of its header; columns without a name and content are left out."""
    check_shape(asked.name, 0, len(header))
    empty = [not name and _is_empty(table.column(i)) for i, name in enumerate(header)]
    kept = [i for i, own in enumerate(empty) if not own]
    table, header = table.select(kept), [header[i] for i in kept]
    long = next((name for name in header if len(name) > NAME_LETTERS), None)
    if long is not None:
        raise FileError(
            f"A column of {asked.name} has a name of {len(long):,} letters ({short(long, 30)}); at "
            f"most {NAME_LETTERS} can be read: shorten it, or check the separators."
        )
    if asked.rename:
        return table.rename_columns(_renamed(header, kept, notes))
    if len(set(header)) < len(header):
        twice = next((name for name in header if name and header.count(name) > 1), None)
        which = f"Two columns named {twice!r}" if twice else "Several columns without a name"
        raise FileError(f"{which} are in {asked.name}; give each column its own name.")
    if "" in header:
        notes.append("The column without a name was left out.")
        table = table.drop_columns([table.column_names[header.index("")]])
        header = [name for name in header if name]
    return table.rename_columns(header)


def _is_empty(column: pa.ChunkedArray) -> bool:
    if column.null_count == len(column):
        return True
    return pa.types.is_string(column.type) and not pc.max(pc.binary_length(column)).as_py()


def _renamed(header: list[str], places: list[int], notes: list[str]) -> list[str]:
    """Names that differ; what was changed is in the notes."""
    taken, names = set(header), []
    seen: set[str] = set()
    for name, place in zip(header, places, strict=True):
        new, count = name or f"column {place + 1}", 2
        while new in seen or (new != name and new in taken):
            new, count = f"{name or f'column {place + 1}'} ({count})", count + 1
        seen.add(new)
        names.append(new)
    nameless = [new for name, new in zip(header, names, strict=True) if not name]
    again = [new for name, new in zip(header, names, strict=True) if name and name != new]
    if nameless:
        notes.append(f"Columns without a name were called {some(nameless)}.")
    if again:
        notes.append(f"Columns with a name that was taken were called {some(again)}.")
    return names
