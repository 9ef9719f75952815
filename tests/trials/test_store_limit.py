"""The store's limit: what is removed when it is full, and when."""

import os
import subprocess
import sys
import time
from pathlib import Path

from cpp_core.trials.store import Store, writer
from tests.trials.stored import KEY, OTHER, blocks_in, fill


def use_at(folder: Path, key: str, seconds_ago: float) -> None:
    moment = time.time() - seconds_ago
    os.utime(folder / key, (moment, moment))


def test_least_recently_used_keys_go_first(tmp_path):
    keys = [f"{number:08x}" for number in range(5)]
    one = Store(tmp_path / "one")
    fill(one, range(3), key=keys[0])
    size = one.size()
    assert size == blocks_in(tmp_path / "one", keys[0])[0].stat().st_size

    store = Store(tmp_path, limit=4 * size)
    for age, key in enumerate(keys[:4]):
        fill(store, range(3), key=key)
        use_at(tmp_path, key, 1000 - age)
    assert store.size() == 4 * size
    store.load(keys[0], [0])  # renews
    fill(store, range(3), key=keys[4])
    assert [key for key in keys if store.stored(key)] == [keys[0], *keys[2:]]
    assert not (tmp_path / keys[1]).exists()
    assert store.size() == 4 * size


def test_key_being_written_is_never_evicted(tmp_path):
    store = Store(tmp_path, limit=10)
    fill(store, range(3), key=OTHER)
    for trial in range(3):
        fill(store, [trial])
    use_at(tmp_path, KEY, 10**6)
    fill(store, [3])
    assert store.stored(KEY) == [0, 1, 2, 3]
    assert store.stored(OTHER) == []


def test_limit_holds_over_many_saves(tmp_path):
    store = Store(tmp_path, limit=50_000)
    for number in range(150):
        fill(store, range(3), key=f"{number:08x}")
        assert store.size() <= 50_000
    assert store.size() > 40_000


def test_use_is_recorded_at_most_once_a_minute(tmp_path):
    store = Store(tmp_path)
    fill(store, range(3))
    for age, renewed in ((30, False), (90, True)):
        use_at(tmp_path, KEY, age)
        store.load(KEY, [0])
        assert (time.time() - (tmp_path / KEY).stat().st_mtime < 20) is renewed


def test_abandoned_temporary_files_are_removed(tmp_path):
    fill(Store(tmp_path), range(3), key=OTHER)
    old, young = (tmp_path / OTHER / f"{letter * 32}.tmp" for letter in "ab")
    for path, age in ((old, 4000), (young, 1000)):
        path.write_bytes(b"half a block")
        os.utime(path, (time.time() - age,) * 2)
    fill(Store(tmp_path), range(3))
    assert not old.exists()
    assert young.exists()
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left, mine = (
        tmp_path / OTHER / f"{writer(pid)}{'0' * 16}.tmp" for pid in (dead.pid, os.getpid())
    )
    for path in (left, mine):
        path.write_bytes(b"half a block")
    assert len(Store(tmp_path).load(OTHER, range(3))[0]) == 3
    assert not left.exists()  # whoever wrote it was killed
    assert mine.exists()
    assert young.exists()  # of another machine
