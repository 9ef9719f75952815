"""Damaged and strange files in the store: never believed, and only its own removed."""

import io
import os
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from cpp_core.trials.block_files import digest, pack
from cpp_core.trials.store import Store
from tests.trials.stored import KEY, OTHER, arrays_of, assert_right, blocks_in, fill


def object_block(key: str, trials: range) -> bytes:
    """Make a block with a pickled array, otherwise correct."""
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{"x": 1}] * len(trials), dtype=object))
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = f"{key} {trials[0]:06d}-{trials[-1]:06d}".encode()
    return buffer.getvalue()


DAMAGES = {
    "empty": lambda data: b"",
    "truncated": lambda data: data[:-1],
    "half": lambda data: data[: len(data) // 2],
    "longer": lambda data: data + b"\0",
    "text": lambda data: b"these are no numbers\n",
    "npy": lambda data: data[data.index(b"\x93NUMPY") :],
    "zeros": lambda data: bytes(len(data)),
    "other values": lambda data: b"".join(pack(KEY, range(10, 20), arrays_of(range(20, 30)))),
    "pickle": lambda data: object_block(KEY, range(10, 20)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_block_is_missing_and_removed(tmp_path, damage):
    store = Store(tmp_path)
    for first in (0, 10, 20):
        fill(store, range(first, first + 10))
    victim = blocks_in(tmp_path)[1]
    victim.write_bytes(DAMAGES[damage](victim.read_bytes()))
    found, arrays = store.load(KEY, range(30))
    assert found == [*range(10), *range(20, 30)] == store.stored(KEY)
    assert_right(found, arrays)
    assert not victim.exists()
    fill(store, range(10, 20))
    assert store.load(KEY, range(30))[0] == list(range(30))


def test_every_flipped_byte_is_noticed(tmp_path):
    store = Store(tmp_path)
    fill(store, range(2))
    block = blocks_in(tmp_path)[0]
    data = block.read_bytes()
    assert len(data) > 500
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << position % 8
        block.write_bytes(flipped)
        assert store.load(KEY, range(2)) == ([], {})
        assert not block.exists()


def with_right_digest(folder: Path, key: str, first: int, last: int, data: bytes) -> Path:
    path = folder / key / f"{first:06d}-{last:06d}-{digest([data])}.npz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        object_block(KEY, range(2)),
        b"".join(pack(KEY, range(2), arrays_of(range(3)))),
        b"".join(pack(OTHER, range(2), arrays_of(range(2)))),
        b"".join(pack(KEY, range(1, 3), arrays_of(range(1, 3)))),
        b"no zip file",
        b"",
    ],
    ids=["pickle", "wrong length", "other key", "other trials", "text", "empty"],
)
def test_content_is_checked_even_if_the_digest_is_right(tmp_path, data):
    path = with_right_digest(tmp_path, KEY, 0, 1, data)
    assert Store(tmp_path).load(KEY, range(2)) == ([], {})
    assert not path.exists()


def test_block_copied_or_renamed(tmp_path):
    store = Store(tmp_path)
    fill(store, range(5))
    block = blocks_in(tmp_path)[0]
    (tmp_path / OTHER).mkdir()
    shutil.copy(block, tmp_path / OTHER)
    assert store.load(OTHER, range(5)) == ([], {})
    block.rename(block.with_name(block.name.replace("000000-000004", "000001-000005")))
    assert store.load(KEY, range(10)) == ([], {})
    assert blocks_in(tmp_path) == blocks_in(tmp_path, OTHER) == []


def test_newest_block_decides_which_arrays_a_key_has(tmp_path):
    store = Store(tmp_path)
    store.save(KEY, range(5), {"calibration": np.zeros((5, 2))})
    os.utime(blocks_in(tmp_path)[0], (0, 0))
    fill(store, range(5, 10))
    found, arrays = store.load(KEY, range(10))
    assert found == list(range(5, 10)) == store.stored(KEY)
    assert_right(found, arrays)


def test_strange_files_are_left_alone(tmp_path):
    store = Store(tmp_path, limit=0)
    fill(store, range(2))
    for name in ("notes.txt", "000000-000009.npz"):
        (tmp_path / KEY / name).write_text("mine")
    (tmp_path / "holiday").mkdir()
    (tmp_path / "holiday" / "photo.jpg").write_text("mine")
    assert_right(*store.load(KEY, range(10)))
    fill(store, range(2), key=OTHER)
    assert sorted(path.name for path in (tmp_path / KEY).iterdir()) == [
        "000000-000009.npz",
        "notes.txt",
    ]
    assert (tmp_path / "holiday" / "photo.jpg").exists()
