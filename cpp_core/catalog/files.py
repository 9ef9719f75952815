"""The one reader of users' files: CSV and its kin, Parquet, Excel, each also in gzip.

A file is read in a process of its own, with bounds on its memory and its time: nothing in a file
can stop the process that asks, or take its memory. What is wrong is a sentence, and so is whatever
ends the reading process.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
from numpy.typing import NDArray

from cpp_core.catalog.reading.child import LINES, packed
from cpp_core.catalog.reading.contents import GZIP, PARQUET, ZIP, found_in
from cpp_core.catalog.reading.limits import (
    FILE_BYTES,
    LESS,
    MEMORY_BYTES,
    SECONDS,
    WAIT,
    Asked,
    FileError,
    bytes_text,
    too_much,
)

NEEDED = "a CSV, Parquet or Excel file with a row for each case and a name above each column"
SMALL = 10**6
"""Plain text up to this size is read in milliseconds, whatever it holds."""
TURNS, PATIENCE = 2, 60.0
"""How many files are read at once, and how long the next one waits."""
LOOK_SECONDS, START_BYTES = 0.05, 2**28
"""How often a process that reads is looked at, and what it has when it starts, at most."""
READING = Path(__file__).with_name("reading")
BOOT = """
import importlib.util, sys
path = sys.argv[1]
spec = importlib.util.spec_from_file_location(
    "reading", path + "/__init__.py", submodule_search_locations=[path]
)
sys.modules["reading"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from reading.child import main
main()
"""
LEAN = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # others reserve more than they use
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
}
SPENT = getattr(signal, "SIGXCPU", 999)
"""What ends a process that has used its time; not on every system."""
_turns = threading.BoundedSemaphore(TURNS)


@dataclass(frozen=True)
class Question:
    """What a file does not tell and its owner must.

    Attributes
    ----------
    argument : str
        The argument of ``read_frame`` that takes the answer.
    text : str
    answers : tuple of (value, str)
        What may be answered, and how to show it.
    taken : Any
        The value that was taken as long as nothing is answered.
    """

    argument: str
    text: str
    answers: tuple[tuple[Any, str], ...]
    taken: Any


@dataclass(frozen=True, eq=False)
class FileRead:
    """A table as its file holds it.

    Attributes
    ----------
    name, sha256 : str
        The file's name and the hash of its content.
    table : pyarrow.Table
        Columns of int64, float64, bool, timestamp or string, with names that differ.
    notes : tuple of str
        What was guessed or left out, in sentences.
    questions : tuple of Question
        What only the user can decide; something was taken.
    separator : str
        What cut a text into cells; nothing for other files.
    """

    name: str
    sha256: str
    table: pa.Table
    notes: tuple[str, ...]
    questions: tuple[Question, ...]
    separator: str
    counted: str
    first: int
    lines: NDArray[np.int64] | None

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table in pandas: int64, float64, bool, datetime64 and text, gaps as NaN or NaT.

        Booleans with gaps are of pandas' own type for them.
        """
        frame = self.table.to_pandas()
        for name in self.table.column_names:
            own = self.table.column(name)
            if own.null_count and pa.types.is_boolean(own.type):
                frame[name] = frame[name].astype("boolean")
        return frame

    def place(self, row: int) -> str:
        """Where a row stands in the file, such as "line 7"."""
        return f"{self.counted} {self.first + row if self.lines is None else self.lines[row]}"


def read_frame(
    source: Any,
    *,
    name: str | None = None,
    decimal: str | None = None,
    day_first: bool | None = None,
    sheet: str | None = None,
    needed: str = NEEDED,
    parse: bool = True,
    rename: bool = True,
    own: bool = False,
    seconds: float = WAIT,
    memory: int = MEMORY_BYTES,
) -> FileRead:
    """The table in a file.

    Parameters
    ----------
    source : path, bytes or binary file
    name : str or None
        What sentences call it; None takes the name of the file.
    decimal : {".", ","} or None
        The mark before the decimals; the other one then marks thousands. None finds out, or asks.
    day_first : bool or None
        Whether 03/04/2024 is in April. None finds out, or asks.
    sheet : str or None
        The sheet of a workbook; None takes the first with anything in it.
    needed : str
        What is needed, as a part of sentences.
    parse : bool
        False leaves the cells of text files as they are written.
    rename : bool
        Whether columns without a name of their own get one; else they are refused.
    own : bool
        Whether it is the file of who runs this process: small text is then read here, by the same
        code. Never for what a visitor of a server brings.
    seconds : float
        How long reading may take by the clock; the processor's time has a limit of its own.
    memory : int
        Bytes that reading may take in a process of its own.

    Raises
    ------
    ValueError
        A sentence that says what was given, what is needed and what to do.

    Examples
    --------
    >>> read = read_frame(b"a;b\\n0,5;x\\n1,25;\\n", own=True)
    >>> read.frame["a"].tolist(), read.notes[-1]
    ([0.5, 1.25], 'Commas were read as decimal points.')
    """
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ',', but {decimal!r} was given.")
    content, found_name = content_of(source)
    asked = Asked(name or found_name, needed, decimal, day_first, sheet, parse, rename)
    plain = len(content) <= SMALL and not content.startswith((PARQUET, GZIP, ZIP))
    found = _here(content, asked) if own and plain else _apart(content, asked, seconds, memory)
    return _told(asked.name, hashlib.sha256(content).hexdigest(), *found)


def _told(name: str, digest: str, about: dict[str, Any], table: Any) -> FileRead:
    """What was found in a file, with what is known about it."""
    lines = None
    if LINES in table.column_names:
        lines = table.column(LINES).to_numpy()
        table = table.drop_columns([LINES])
    questions = tuple(
        Question(q["argument"], q["text"], tuple(map(tuple, q["answers"])), q["taken"])
        for q in about["questions"]
    )
    notes, where = tuple(about["notes"]), (about["place"], about["first"], lines)
    return FileRead(name, digest, table, notes, questions, about["separator"], *where)


def content_of(source: Any) -> tuple[bytes, str]:
    """The bytes of a file and its name; no more is read than may be used."""
    content: Any = source
    name = "the file"
    if isinstance(source, str | Path):
        path = Path(source)
        name = path.name
        try:
            with path.open("rb") as file:
                content = file.read(FILE_BYTES + 1)
        except OSError as error:
            raise ValueError(f"{path} cannot be read: {error.strerror}; check the name.") from error
    elif not isinstance(source, bytes):
        content = source.read(FILE_BYTES + 1)
        content = content.encode() if isinstance(content, str) else content
        name = Path(str(getattr(source, "name", name))).name
    if len(content) > FILE_BYTES:
        raise too_much(name, f"more than {bytes_text(FILE_BYTES)}", bytes_text(FILE_BYTES))
    return content, name


def _here(content: bytes, asked: Asked) -> tuple[dict[str, Any], pa.Table]:
    """Read in this process."""
    try:
        return packed(found_in(content, asked), asked.name)
    except (pa.ArrowException, MemoryError) as error:
        raise _ended(asked.name, MEMORY_BYTES) from error


def _apart(
    content: bytes, asked: Asked, seconds: float, memory: int
) -> tuple[dict[str, Any], pa.Table]:
    """Read in a process that ends within the given time."""
    if not _turns.acquire(timeout=PATIENCE):
        raise FileError(f"{asked.name} must wait, because others are read; try again in a minute.")
    try:
        with _reading(content, asked, seconds, memory) as (process, late):
            assert process.stdout is not None
            try:
                about = json.loads(process.stdout.readline())
                table = None
                if "error" not in about:
                    table = pa.ipc.open_stream(process.stdout).read_all()
            except (ValueError, OSError) as error:  # pyarrow's are among them
                code = process.wait()
                spent = SECONDS if code == -SPENT else seconds if late.is_set() else None
                raise _ended(asked.name, memory, spent) from error
    finally:
        _turns.release()
    if table is None:
        raise FileError(about["error"])
    return about, table


@contextmanager
def _reading(
    content: bytes, asked: Asked, seconds: float, memory: int
) -> Iterator[tuple[subprocess.Popen[bytes], threading.Event]]:
    """A process that is given the file, and an event that says that its time is over."""
    late, over = threading.Event(), threading.Event()
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", BOOT, str(READING), str(memory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | LEAN,
    )

    def watch() -> None:
        until, most = time.monotonic() + seconds, memory + START_BYTES
        while not over.wait(LOOK_SECONDS):
            if time.monotonic() > until:
                late.set()
            with suppress(psutil.Error):  # it has just ended
                if late.is_set() or psutil.Process(process.pid).memory_info().rss > most:
                    process.kill()
                    return

    def feed() -> None:
        assert process.stdin is not None
        with suppress(OSError), process.stdin as inside:
            inside.write(json.dumps(asdict(asked) | {"size": len(content)}).encode() + b"\n")
            inside.write(content)

    watcher, feeder = (threading.Thread(target=own, daemon=True) for own in (watch, feed))
    try:
        watcher.start()
        feeder.start()
        yield process, late
    finally:
        over.set()
        watcher.join()
        process.kill()
        process.wait()
        feeder.join()
        assert process.stdout is not None
        process.stdout.close()


def _ended(name: str, memory: int, seconds: float | None = None) -> FileError:
    """The sentence for reading that did not come to its end, or not in the given time."""
    if seconds is not None:
        return FileError(f"{name} takes longer than {seconds:g} seconds to read; {LESS}.")
    most = bytes_text(memory)
    return FileError(
        f"{name} could not be read (it is damaged, or needs more than {most} of memory); {LESS}, "
        "or save it as CSV."
    )
