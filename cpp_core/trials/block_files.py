"""The file of a block: consecutive trials as bytes, and read again only if they are intact.

A block is named ``<first>-<last>-<digest>.npz``, with the digest of its bytes; its key and its
trials are in the file as well.
"""

import hashlib
import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Buffer = bytes | memoryview
Arrays = dict[str, NDArray[Any]]
"""The numbers of trials, by what they are."""

BLOCK = re.compile(r"([0-9]{6})-([0-9]{6})-([0-9a-f]{32})\.npz")
TRIALS = range(10**6)
"""The trials that the name of a block can tell."""


def without_cells(arrays: Arrays) -> Arrays:
    """The same, but of what failures said their kind alone: a message may quote a user's cells."""
    kinds = [b": ".join(said.split(b": ")[:2]) for said in arrays["failure"].tolist()]
    return {**arrays, "failure": np.array(kinds, dtype=arrays["failure"].dtype)}


class DamagedBlockError(ValueError):
    """A block that is not what was saved under its name."""


class Block(NamedTuple):
    """What the name of a block tells."""

    tier: int
    path: Path
    trials: range
    digest: str


def check_arrays(trials: Sequence[int], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Refuse what could not be loaded again."""
    if len(set(trials)) < len(trials) or any(trial not in TRIALS for trial in trials):
        raise ValueError(f"Trials must be distinct numbers from 0 to {TRIALS[-1]}.")
    if not arrays:
        raise ValueError("There must be an array.")
    for name, array in arrays.items():
        if not name.isidentifier() or np.asarray(array).dtype.hasobject:
            raise ValueError(f"{name!r} must be the name of an array of plain numbers.")
        if np.shape(array)[:1] != (len(trials),):
            raise ValueError(f"{name!r} must have the {len(trials)} trials along its first axis.")


def stretches(numbers: Sequence[int]) -> list[range]:
    """Divide ascending numbers into stretches of consecutive ones.

    >>> stretches([0, 1, 2, 5, 7, 8])
    [range(0, 3), range(5, 6), range(7, 9)]
    """
    chosen = set(numbers)
    starts = [n for n in numbers if n - 1 not in chosen]
    stops = [n + 1 for n in numbers if n + 1 not in chosen]
    return [range(start, stop) for start, stop in zip(starts, stops, strict=True)]


def trials_of(blocks: Iterable[Block]) -> list[int]:
    """Trials of blocks that may overlap, ascending."""
    return sorted(set[int]().union(*(block.trials for block in blocks)))


def span(trials: range) -> str:
    """First and last trial, as in the name of a block."""
    return f"{trials[0]:06d}-{trials[-1]:06d}"


def digest(data: Iterable[Buffer]) -> str:
    """Digest of the whole file: a zip file checks the data of its members only."""
    told = hashlib.sha256()
    for piece in data:
        told.update(piece)
    return told.hexdigest()[:32]


class Pieces:
    """What is written to a file, in pieces that are not copied; one may be written anew."""

    def __init__(self) -> None:
        self.all: list[Buffer] = []
        self._starts: dict[int, int] = {}
        self._end = self._at = 0

    def write(self, data: Buffer) -> int:
        """Add a piece, or put it in the place of the one of its length that begins here."""
        if self._at == self._end:
            self._starts[self._at] = len(self.all)
            self.all.append(data)
        else:
            self.all[self._starts[self._at]] = data
        self._at += memoryview(data).nbytes
        self._end = max(self._end, self._at)
        return memoryview(data).nbytes

    def tell(self) -> int:
        """Where the next piece begins."""
        return self._at

    def seek(self, place: int) -> int:
        """Begin the next piece there."""
        self._at = place
        return place

    def flush(self) -> None:
        """Nothing waits to be written."""


def pack(key: str, trials: range, arrays: Arrays) -> list[Buffer]:
    """Make an .npz file, in pieces, that says in its comment what it holds."""
    pieces = Pieces()
    with zipfile.ZipFile(pieces, "w") as archive:  # type: ignore[call-overload]  # it reads nothing
        archive.comment = f"{key} {span(trials)}".encode()
        for name, array in sorted(arrays.items()):
            with archive.open(f"{name}.npy", "w") as member:
                whole = np.ascontiguousarray(array).reshape(array.shape)
                np.lib.format.write_array_header_1_0(
                    member, np.lib.format.header_data_from_array_1_0(whole)
                )
                member.write(whole.reshape(-1).view(np.uint8).data)
    return pieces.all


def read_block(block: Block, key: str) -> Arrays:
    """Read a block; DamagedBlockError if it is not what was saved for these trials of this key."""
    data = block.path.read_bytes()
    if digest([data]) != block.digest:
        raise DamagedBlockError(f"{block.path} is damaged.")
    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if archive.comment != f"{key} {span(block.trials)}".encode():
                raise ValueError("it holds other trials")
            for name in archive.namelist():
                with archive.open(name) as member:
                    array = np.lib.format.read_array(member, allow_pickle=False)
                arrays[name.removesuffix(".npy")] = array
        check_arrays(block.trials, arrays)
    except MemoryError:
        raise
    except Exception as error:
        raise DamagedBlockError(f"{block.path} is no block of this key: {error}.") from error
    return arrays


def rows_of(
    arrays: Mapping[str, NDArray[Any]], trials: Sequence[int], wanted: Sequence[int]
) -> Arrays:
    """Rows of the wanted trials, without a copy if these are all."""
    if list(wanted) == list(trials):
        return {name: np.asarray(array) for name, array in arrays.items()}
    row = {int(trial): i for i, trial in enumerate(trials)}
    rows = [row[trial] for trial in wanted]
    return {name: np.asarray(array)[rows] for name, array in arrays.items()}


def join(parts: Sequence[tuple[list[int], Arrays]]) -> tuple[list[int], Arrays]:
    """Stack parts with distinct trials, in the order of the trials."""
    if len(parts) < 2:
        return parts[0] if parts else ([], {})
    found = [trial for trials, _ in parts for trial in trials]
    arrays = {
        name: np.concatenate([part[name] for _, part in parts], dtype=_widest(name, parts))
        for name in parts[0][1]
    }
    ascending = sorted(found)
    return ascending, rows_of(arrays, found, ascending)


def _widest(name: str, parts: Sequence[tuple[list[int], Arrays]]) -> np.dtype:
    """The type that holds an array of all parts: float64 where some losses needed it."""
    first, *others = dict.fromkeys(part[name].dtype for _, part in parts)
    return np.result_type(first, *others) if others else first


def kinds_of(arrays: Arrays) -> dict[str, tuple[Any, ...]]:
    """Kinds of the arrays and their shapes for one trial; a float may be wider in some trials."""
    return {
        name: (array.dtype.kind if array.dtype.kind == "f" else array.dtype, array.shape[1:])
        for name, array in arrays.items()
    }
