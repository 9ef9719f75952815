"""The process that reads one file: it comes in on standard input, the table goes out on the other.

In: a line of JSON, what is asked, then the file. Out: a line of JSON, how it was read or the
sentence why not, then the table as an Arrow stream. The process has bounds on its memory, and who
started it ends it when its time is over.
"""

import json
import sys
from contextlib import suppress
from typing import Any

import pyarrow as pa

from .contents import found_in
from .limits import (
    SECONDS,
    TABLE_BYTES,
    Asked,
    FileError,
    Found,
    bytes_text,
    too_much,
)

LINES = "\n"
"""The column with the numbers of the rows in the file; no file has such a name."""


def main() -> None:
    """Read, and tell; whatever goes wrong inside is for the other side to put into words."""
    bound()
    inside, outside = sys.stdin.buffer, sys.stdout.buffer
    asked = json.loads(inside.readline())
    size = asked.pop("size")
    content = inside.read(size)
    if len(content) < size:  # who asked is gone
        return
    try:
        found = found_in(content, Asked(**asked))
        del content
        about, table = packed(found, asked["name"])
        outside.write(json.dumps(about).encode() + b"\n")
        with pa.ipc.new_stream(outside, table.schema) as stream:
            stream.write_table(table, max_chunksize=1 << 18)
    except FileError as error:
        outside.write(json.dumps({"error": str(error)}).encode() + b"\n")
    outside.flush()


def bound() -> None:
    """Let the process take no more than its share, where the system knows such limits.

    Elsewhere who started it looks at its memory.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        with open("/proc/self/statm", encoding="ascii") as file:
            now = int(file.read().split()[0]) * resource.getpagesize()
        most = now + int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def packed(found: Found, name: str) -> tuple[dict[str, Any], pa.Table]:
    """How a file was read, and its table with the numbers of its rows where they do not count."""
    table = found.table
    if table.nbytes > TABLE_BYTES:
        raise too_much(name, f"{bytes_text(table.nbytes)} of data", bytes_text(TABLE_BYTES))
    if found.lines is not None:
        table = table.append_column(LINES, pa.array(found.lines))
    about: dict[str, Any] = {"notes": found.notes, "questions": found.questions}
    about |= {"separator": found.separator, "place": found.place, "first": found.first}
    return about, table
