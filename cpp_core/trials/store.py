"""Losses of randomized trials on disk: resumable, safe to kill, shared by processes.

``<key>/<first>-<last>-<digest>.npz`` is a block of consecutive trials, with the digest of its bytes
in its name; ``<key>/about.json`` tells humans what the key stands for. A block is written whole or
not at all, and what is missing or damaged can always be computed again.

By hand, because losses are plain arrays that do not compress: a thousand digits trials are 9 MB of
float32, which are mapped in 1 to 4 ms. joblib's cache has a file for each call, here each trial,
and knows no part of a run; a database would copy what is mapped here.
"""

import glob
import json
import os
import platform
import re
import time
import uuid
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from numpy.typing import NDArray

from cpp_core.trials.block_files import (
    BLOCK,
    Arrays,
    Block,
    Buffer,
    DamagedBlockError,
    check_arrays,
    digest,
    join,
    kinds_of,
    pack,
    read_block,
    rows_of,
    span,
    stretches,
    trials_of,
)

KEY = re.compile(r"[0-9a-f]{8,64}")
OWN_FILE = re.compile(rf"{BLOCK.pattern}|about\.json|[0-9a-f]{{32}}\.tmp")
LOOKS = 50  # at a folder that other processes keep changing
RENEWAL = 60.0  # seconds during which a key that is used again keeps its time
ABANDONED = 3600.0  # seconds after which no living process writes a temporary file any more
CLOCKS = 10.0  # seconds by which the clock of a folder may differ from that of its machine


class Store:
    """Arrays of numbered trials, by key.

    Parameters
    ----------
    folder : path or None
        Where blocks are read and written; None writes nothing.
    read_only : sequence of paths
        Further folders of the same layout, read after ``folder`` and never changed.
    limit : int
        Bytes that ``folder`` may hold; beyond it, ``save`` removes the least recently used keys.

    Attributes
    ----------
    problem : str or None
        A sentence that says why nothing is written any more; None while all is well.
    """

    def __init__(
        self,
        folder: Path | str | None,
        read_only: Sequence[Path | str] = (),
        limit: int = 2 * 2**30,
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        self.read_only = [Path(tier) for tier in read_only]
        self.limit = limit
        self.problem: str | None = None
        self._unmeasured = 0  # bytes that may be written before the folder is measured again

    def stored(self, key: str) -> list[int]:
        """Trials that the names of the blocks promise, ascending."""
        return trials_of(self._blocks(key))

    def load(
        self, key: str, trials: Iterable[int], names: Collection[str] | None = None
    ) -> tuple[list[int], Arrays]:
        """Load those of the trials that are stored intact; damaged blocks are removed.

        With ``names``, a block that has other arrays than these is damaged too.

        Returns
        -------
        tuple
            The numbers of the trials found, ascending, and the arrays with these trials along the
            first axis; no arrays if none is found.
        """
        found = self._gather(key, trials, names)
        self._sweep(key)
        if self.folder is not None:
            with suppress(OSError):
                if time.time() - modified(self.folder / key) > RENEWAL:
                    os.utime(self.folder / key)
        return found

    def save(
        self,
        key: str,
        trials: Sequence[int],
        arrays: Mapping[str, NDArray[Any]],
        about: Mapping[str, Any] | None = None,
    ) -> None:
        """Save trials; a write that fails sets ``problem`` and is the last one.

        Parameters
        ----------
        key : str
            8 to 64 lower-case hexadecimal digits.
        trials : sequence of int
            Distinct numbers; each stretch of consecutive ones becomes a block.
        arrays : mapping of str to array
            Each with the trials along its first axis, in the order of ``trials``.
        about : mapping, optional
            What the key stands for, written unless it is there already.
        """
        check_key(key)
        check_arrays(trials, arrays)
        self._write_blocks(key, trials, arrays)
        if about is not None and not os.path.exists(Path(self.folder or "", key, "about.json")):
            words = json.dumps(about, indent=2, default=str)
            self._write(key, "about.json", [words.encode()])
        if self._unmeasured < 0 and self.problem is None:
            self._evict(key)

    def compact(self, key: str, beyond: int = 0) -> None:
        """Join the blocks of a key, if there are more than ``beyond``.

        Other processes may load, save and compact it meanwhile.
        """
        blocks = [block for block in self._blocks(key) if block.tier == 0]
        if len(blocks) <= beyond:
            return
        promised = trials_of(blocks)
        if len(blocks) == len(stretches(promised)):
            return
        found, arrays = self._gather(key, promised)
        written = self._write_blocks(key, found, arrays)
        held = set(found if self.problem is None else [])
        for block in blocks:
            if block.path not in written and held.issuperset(block.trials):
                remove(block.path)

    def size(self) -> int:
        """Bytes in the writable folder."""
        return sum(size for _, size in own_files(self.folder))

    def _blocks(self, key: str) -> list[Block]:
        """Blocks of a key by name: those of the writable folder, then the read-only ones."""
        check_key(key)
        blocks = []
        for tier, folder in enumerate([self.folder, *self.read_only]):
            names: list[str] = []
            with suppress(OSError):
                names = [] if folder is None else os.listdir(folder / key)
            for match in filter(None, map(BLOCK.fullmatch, sorted(names))):
                path = Path(folder or "", key, match[0])
                blocks.append(Block(tier, path, range(int(match[1]), int(match[2]) + 1), match[3]))
        return blocks

    def _gather(
        self, key: str, trials: Iterable[int], names: Collection[str] | None = None
    ) -> tuple[list[int], Arrays]:
        """Read trials, newest blocks first; look again while other processes change the folder."""
        missing = {int(trial) for trial in trials}
        parts: list[tuple[list[int], Arrays]] = []
        seen: list[Block] | None = None
        for _ in range(LOOKS):
            blocks = self._blocks(key)
            if not missing or blocks == seen:
                break
            seen = blocks
            for block in sorted(blocks, key=newest_first):
                wanted = [trial for trial in block.trials if trial in missing]
                if not wanted:
                    continue
                try:
                    arrays = read_block(block, key)
                    if names is not None and set(arrays) != set(names):
                        raise DamagedBlockError(f"{block.path} has other arrays.")
                    if parts and kinds_of(arrays) != kinds_of(parts[0][1]):
                        raise DamagedBlockError(f"{block.path} differs from newer blocks.")
                except DamagedBlockError:
                    if block.tier == 0:
                        remove(block.path)
                except OSError:  # just compacted or evicted by another process, or not readable
                    pass
                else:
                    parts.append((wanted, rows_of(arrays, block.trials, wanted)))
                    missing.difference_update(wanted)
        return join(sorted(parts, key=lambda part: part[0]))

    def _write_blocks(
        self, key: str, trials: Sequence[int], arrays: Mapping[str, NDArray[Any]]
    ) -> set[Path]:
        """Write each stretch of consecutive trials as a block."""
        written = set[Path]()
        if self.folder is None or self.problem is not None:
            return written
        for stretch in stretches(sorted(map(int, trials))):
            data = pack(key, stretch, rows_of(arrays, trials, stretch))
            written.add(self._write(key, f"{span(stretch)}-{digest(data)}.npz", data))
        return written

    def _write(self, key: str, name: str, data: Sequence[Buffer]) -> Path:
        """Write a file whole or not at all, again if another process evicts the key meanwhile."""
        target = Path(self.folder or "", key, name)
        temporary = target.with_name(f"{writer(os.getpid())}{uuid.uuid4().hex[:16]}.tmp")
        for look in range(LOOKS):
            if self.folder is None or self.problem is not None:
                break
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with open(temporary, "wb") as file:
                    file.writelines(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(temporary, target)
                self._unmeasured -= sum(map(len, data))
                break
            except OSError as error:
                remove(temporary)
                if look + 1 == LOOKS or not isinstance(error, FileNotFoundError | FileExistsError):
                    self.problem = (
                        f"Writing to {self.folder} failed ({error.strerror or error}): results are "
                        "kept in memory only and will not be remembered."
                    )
        return target

    def _sweep(self, key: str) -> None:
        """Remove what processes of this machine have left that were killed while they wrote."""
        with suppress(OSError):
            for path in () if self.folder is None else sorted((self.folder / key).glob("*.tmp")):
                if OWN_FILE.fullmatch(path.name) and writer_is_gone(path):
                    remove(path)

    def _evict(self, kept: str) -> None:
        """Remove abandoned temporary files, then the least recently used keys above the limit."""
        sizes: dict[Path, int] = {}
        for path, size in own_files(self.folder):
            if path.suffix == ".tmp" and time.time() - modified(path) > ABANDONED:
                remove(path)
            else:
                sizes[path.parent] = sizes.get(path.parent, 0) + size
        total = sum(sizes.values())
        for folder in sorted(sizes, key=modified):
            if total > self.limit and folder.name != kept:
                for path, _ in own_files(folder.parent, folder.name):
                    remove(path)
                with suppress(OSError):
                    folder.rmdir()
                total -= sizes[folder]
        self._unmeasured = (self.limit - total) // 8  # other processes write too


def default_store() -> Store:
    """Store of this user: ``CPP_CORE_STORE``, or else ``cpp_core`` in the user's cache folder.

    The losses that come with the repository, in ``data/losses``, are read too.
    """
    shipped = Path(__file__).resolve().parents[2] / "data" / "losses"
    read_only = [shipped] if os.path.isdir(shipped) else []
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "cpp_core")
        return Store(Path(os.environ.get("CPP_CORE_STORE") or cache).expanduser(), read_only)
    except RuntimeError:  # a user without a home
        return Store(None, read_only)


def check_key(key: str) -> None:
    """Refuse a key that is not hexadecimal, hence any path."""
    if not KEY.fullmatch(key):
        raise ValueError(f"A key has 8 to 64 lower-case hexadecimal digits; got {key!r}.")


def writer(pid: int) -> str:
    """Who writes a temporary file, as the start of its name: a machine and a process, in 16 digits.

    >>> len(writer(1)), writer(1) == writer(1)
    (16, True)
    """
    return f"{zlib.crc32(platform.node().encode()):08x}{pid:08x}"


def writer_is_gone(path: Path) -> bool:
    """Whether a temporary file was written by a process of this machine that has ended.

    A process that began after the file's last change has only its number. Should the writer live
    elsewhere under the same name, it finds its file gone and writes it again.
    """
    pid = int(path.name[8:16], 16)
    if not path.name.startswith(writer(pid)):
        return False
    try:
        return psutil.Process(pid).create_time() > modified(path) + CLOCKS
    except psutil.Error:
        return not psutil.pid_exists(pid)


def newest_first(block: Block) -> tuple[int, float, int]:
    """Order of reading: what was saved or compacted last decides."""
    return block.tier, -modified(block.path), -len(block.trials)


def modified(path: Path) -> float:
    """Time of the last change, 0 if the file has vanished."""
    with suppress(OSError):
        return os.path.getmtime(path)
    return 0.0


def own_files(folder: Path | None, key: str = "*") -> list[tuple[Path, int]]:
    """Files that stores have written in a folder, with their sizes."""
    files = []
    if folder is not None:
        for path in map(Path, glob.glob(os.path.join(glob.escape(str(folder)), key, "*"))):
            if KEY.fullmatch(path.parent.name) and OWN_FILE.fullmatch(path.name):
                with suppress(OSError):
                    files.append((path, path.stat().st_size))
    return files


def remove(path: Path) -> None:
    """Remove a file if that is possible."""
    with suppress(OSError):
        path.unlink()
