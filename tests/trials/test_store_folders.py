"""The store's folders: shipped ones are only read, and a disk may refuse."""

import errno
import os
import shutil
from pathlib import Path

import pytest

from cpp_core.trials import store as store_module
from cpp_core.trials.store import Store, default_store
from tests.trials.stored import KEY, OTHER, assert_right, blocks_in, fill, tree


def test_read_only_tier_is_read_and_never_written(tmp_path):
    shipped = tmp_path / "shipped"
    fill(Store(shipped), range(0, 10))
    fill(Store(shipped), range(10, 20))
    damaged = blocks_in(shipped)[1]
    damaged.write_bytes(b"damaged")
    for path in (shipped / KEY, shipped):
        os.utime(path, (0, 0))
    before = tree(shipped)

    store = Store(tmp_path / "mine", [shipped], limit=1)
    found, arrays = store.load(KEY, range(30))
    assert found == list(range(10))
    fill(store, range(5, 25))
    found, arrays = store.load(KEY, range(30))
    assert found == list(range(25))
    assert_right(found, arrays)
    store.compact(KEY)
    fill(store, range(5), key=OTHER)

    alone = Store(None, [shipped])
    fill(alone, range(20, 30))
    alone.compact(KEY)
    assert alone.stored(KEY) == list(range(20))
    assert_right(*alone.load(KEY, range(30)))
    assert alone.size() == 0
    assert alone.problem is None
    assert tree(shipped) == before


def test_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        store = Store(folder)
        fill(store, range(3))
        assert store.problem is not None
        assert str(folder) in store.problem
        assert "will not be remembered" in store.problem
        assert store.stored(KEY) == []
        assert store.load(KEY, range(3)) == ([], {})
        assert store.size() == 0
        store.compact(KEY)
    (tmp_path / KEY).write_text("in the way")
    store = Store(tmp_path)
    fill(store, range(3))
    assert store.problem is not None


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_full_disk(tmp_path, monkeypatch, step):
    store = Store(tmp_path)
    fill(store, range(3))
    fill(store, range(3, 6))
    before = tree(tmp_path / KEY).keys()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(store_module.os, step, full)
        store.compact(KEY)
    assert store.problem == (
        f"Writing to {tmp_path} failed (No space left on device): results are kept in memory only "
        "and will not be remembered."
    )
    fill(store, range(6, 9))
    store.compact(KEY)
    assert tree(tmp_path / KEY).keys() == before
    assert_right(*store.load(KEY, range(9)))


def test_key_evicted_while_it_is_written(tmp_path, monkeypatch):
    replace = os.replace
    calls = []

    def evicted_once(source, target):
        calls.append(target)
        if len(calls) == 1:
            shutil.rmtree(tmp_path / KEY)
        replace(source, target)

    monkeypatch.setattr(store_module.os, "replace", evicted_once)
    store = Store(tmp_path)
    fill(store, range(3))
    assert store.problem is None
    assert_right(*store.load(KEY, range(3)))
    assert len(calls) == 2


def test_block_that_cannot_be_read_stays(tmp_path, monkeypatch):
    store = Store(tmp_path)
    fill(store, range(3))

    def fails(_):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", fails)
        assert store.load(KEY, range(3)) == ([], {})
    assert_right(*store.load(KEY, range(3)))


def test_default_store(tmp_path, monkeypatch):
    monkeypatch.setenv("CPP_CORE_STORE", str(tmp_path / "chosen"))
    assert default_store().folder == tmp_path / "chosen"
    monkeypatch.delenv("CPP_CORE_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_store().folder == tmp_path / "cpp_core"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_store().folder == tmp_path / ".cache" / "cpp_core"

    package = tmp_path / "repository" / "cpp_core" / "trials"
    package.mkdir(parents=True)
    monkeypatch.setattr(store_module, "__file__", str(package / "store.py"))
    assert default_store().read_only == []
    (tmp_path / "repository" / "data" / "losses").mkdir(parents=True)
    assert default_store().read_only == [tmp_path / "repository" / "data" / "losses"]

    def homeless(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    assert default_store().folder is None
