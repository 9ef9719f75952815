"""The store of losses: what is loaded is what was saved, whatever happens to the disk."""

import errno
import inspect
import io
import json
import os
import random
import shutil
import subprocess
import sys
import textwrap
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpp_core import store as store_module
from cpp_core.store import Arrays, Store, default_store, digest, pack

KEY, OTHER = "0123456789abcdef", "fedcba9876543210"


def arrays_of(trials: Iterable[int], width: int = 5) -> Arrays:
    """Arrays that tell from which trials they are."""
    column = np.array(list(trials)).reshape(-1, 1)
    return {
        "calibration": (1000 * column + np.arange(width)).astype(np.float32),
        "test": (column + np.arange(3)).astype(np.int16),
        "failed": (column % 2 == 0)[:, 0],
    }


def assert_right(found: list[int], arrays: Arrays, width: int = 5) -> None:
    """Check that loaded arrays are those of the trials found."""
    if not found:
        assert arrays == {}
        return
    expected = arrays_of(found, width)
    assert found == sorted(set(found))
    assert arrays.keys() == expected.keys()
    for name, array in expected.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def fill(store: Store, trials: Iterable[int], key: str = KEY) -> None:
    """Save trials as one call."""
    trials = list(trials)
    store.save(key, trials, arrays_of(trials))


def blocks_in(folder: Path, key: str = KEY) -> list[Path]:
    return sorted((folder / key).glob("*.npz"))


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything in a folder, with the times."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in [folder, *folder.rglob("*")]
    }


# What is loaded


@settings(max_examples=30, deadline=None)
@given(
    calls=st.lists(
        st.lists(st.integers(0, 20), min_size=1, max_size=9, unique=True), min_size=1, max_size=4
    ),
    asked=st.lists(st.integers(-2, 25), max_size=20),
    shape=st.lists(st.integers(0, 3), max_size=2),
    dtype=st.sampled_from(["<f4", "<f8", ">i2", "u1", "?", "<U3"]),
    compacted=st.booleans(),
)
def test_round_trip(tmp_path_factory, calls, asked, shape, dtype, compacted):
    folder = tmp_path_factory.mktemp("store")
    store = Store(folder)

    def make(trials):
        values = np.array(trials).reshape(-1, *[1] * len(shape)) % 100
        return {"a": np.broadcast_to(values, (len(trials), *shape)).astype(dtype)}

    for trials in calls:
        store.save(KEY, trials, make(trials))
    if compacted:
        store.compact(KEY)
    everything = sorted({trial for trials in calls for trial in trials})
    assert store.stored(KEY) == everything
    found, arrays = store.load(KEY, asked)
    assert found == sorted(set(asked) & set(everything))
    if found:
        assert arrays["a"].dtype == np.dtype(dtype)
        np.testing.assert_array_equal(arrays["a"], make(found)["a"])
        arrays["a"][...] = arrays["a"][::-1]  # writable
    else:
        assert arrays == {}
    assert store.problem is None
    shutil.rmtree(folder)


def test_nothing_stored(tmp_path):
    store = Store(tmp_path / "new")
    assert store.stored(KEY) == []
    assert store.load(KEY, range(5)) == ([], {})
    assert store.size() == 0
    store.compact(KEY)
    store.save(KEY, [], {"a": np.zeros((0, 2))})
    assert not (tmp_path / "new").exists()


def test_only_consecutive_trials_share_a_block(tmp_path):
    store = Store(tmp_path)
    fill(store, [7, 3, 4, 5, 100])
    names = [path.name[:13] for path in blocks_in(tmp_path)]
    assert names == ["000003-000005", "000007-000007", "000100-000100"]
    assert_right(*store.load(KEY, range(1000)))


def test_keys_are_apart(tmp_path):
    store = Store(tmp_path)
    fill(store, range(3))
    fill(store, range(3, 6), key=OTHER)
    assert store.stored(KEY) == [0, 1, 2]
    assert store.stored(OTHER) == [3, 4, 5]


def test_overlapping_blocks(tmp_path):
    store = Store(tmp_path)
    for trials in (range(0, 10), range(5, 15), range(8, 9), range(0, 20, 3)):
        fill(store, trials)
    found, arrays = store.load(KEY, range(30))
    assert found == [*range(15), 15, 18]
    assert_right(found, arrays)


def test_saving_again_adds_nothing(tmp_path):
    fill(Store(tmp_path), range(4))
    before = [path.name for path in blocks_in(tmp_path)]
    fill(Store(tmp_path), range(4))
    assert [path.name for path in blocks_in(tmp_path)] == before


def test_a_block_is_an_ordinary_npz(tmp_path):
    fill(Store(tmp_path), range(4))
    with np.load(blocks_in(tmp_path)[0], allow_pickle=False) as block:
        assert_right(list(range(4)), dict(block))


def test_about_is_written_once(tmp_path):
    store = Store(tmp_path)
    store.save(KEY, [0], arrays_of([0]), about={"dataset": "digits", "folder": Path("x")})
    store.save(KEY, [1], arrays_of([1]), about={"dataset": "other"})
    about = json.loads((tmp_path / KEY / "about.json").read_text())
    assert about == {"dataset": "digits", "folder": "x"}


def test_compact(tmp_path):
    store = Store(tmp_path)
    for first in (*range(0, 100, 10), *range(200, 220, 10), 205):
        fill(store, range(first, first + 10))
    store.compact(KEY)
    names = [path.name[:13] for path in blocks_in(tmp_path)]
    assert names == ["000000-000099", "000200-000219"]
    found, arrays = store.load(KEY, range(1000))
    assert found == [*range(100), *range(200, 220)]
    assert_right(found, arrays)
    before = tree(tmp_path)
    store.compact(KEY)
    assert tree(tmp_path) == before


# What is refused


@pytest.mark.parametrize(
    "key", ["", "abc", "../../../etc/passwd", "0123456/", "ABCDEF0123", "a" * 65, "01234567\n"]
)
def test_key_must_be_hexadecimal(tmp_path, key):
    for store in (Store(tmp_path), Store(None)):
        for use in (
            store.stored,
            store.compact,
            lambda key, store=store: store.load(key, [0]),
            lambda key, store=store: store.save(key, [0], arrays_of([0])),
        ):
            with pytest.raises(ValueError, match="hexadecimal"):
                use(key)


@pytest.mark.parametrize(
    ("trials", "arrays"),
    [
        ([0, 0], {"a": np.zeros(2)}),
        ([-1], {"a": np.zeros(1)}),
        ([10**6], {"a": np.zeros(1)}),
        ([0, 1], {"a": np.zeros(3)}),
        ([0], {"a": np.float64(1)}),
        ([0], {"../a": np.zeros(1)}),
        ([0], {}),
        ([0], {"a": np.array([{}])}),
    ],
)
def test_arrays_that_cannot_be_saved(tmp_path, trials, arrays):
    with pytest.raises(ValueError, match="must"):
        Store(tmp_path).save(KEY, trials, arrays)
    assert list(tmp_path.iterdir()) == []


# Damage


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
    "other values": lambda data: pack(KEY, range(10, 20), arrays_of(range(20, 30))),
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
    path = folder / key / f"{first:06d}-{last:06d}-{digest(data)}.npz"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    "data",
    [
        object_block(KEY, range(2)),
        pack(KEY, range(2), arrays_of(range(3))),
        pack(OTHER, range(2), arrays_of(range(2))),
        pack(KEY, range(1, 3), arrays_of(range(1, 3))),
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


# The limit


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


# Other folders


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

    package = tmp_path / "repository" / "cpp_core"
    package.mkdir(parents=True)
    monkeypatch.setattr(store_module, "__file__", str(package / "store.py"))
    assert default_store().read_only == []
    (tmp_path / "repository" / "data" / "losses").mkdir(parents=True)
    assert default_store().read_only == [tmp_path / "repository" / "data" / "losses"]

    def homeless(_):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", homeless)
    assert default_store().folder is None


# Other processes. They load the module by its path, since the whole package starts slowly.

START = f"""
from __future__ import annotations
import importlib.util, random, sys
import numpy as np
spec = importlib.util.spec_from_file_location("store", {store_module.__file__!r})
module = importlib.util.module_from_spec(spec)
sys.modules["store"] = module
spec.loader.exec_module(module)
folder, key, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(seed)
{inspect.getsource(arrays_of)}
"""


def script(body: str) -> str:
    return START + textwrap.dedent(body)


def start(body: str, folder: Path, seed: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script(body), str(folder), KEY, str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_killed_at_any_moment(tmp_path):
    width = 20_000
    body = f"""
    store = module.Store(folder)
    print("ready", flush=True)
    while True:
        first = random.randrange(60)
        trials = range(first, first + random.randint(1, 5))
        store.save(key, trials, arrays_of(trials, {width}), about={{"seed": seed}})
        if random.random() < 0.2:
            store.compact(key)
    """
    rng = random.Random(0)
    store = Store(tmp_path)
    for seed in range(6):
        process = start(body, tmp_path, seed)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.02 + 0.15 * rng.random())
        process.kill()
        process.communicate()
        promised = store.stored(KEY)
        names = [path.name for path in blocks_in(tmp_path)]
        found, arrays = store.load(KEY, range(100))
        assert found == promised
        assert_right(found, arrays, width)
        assert [path.name for path in blocks_in(tmp_path)] == names  # none was damaged
    assert len(store.stored(KEY)) > 5
    json.loads((tmp_path / KEY / "about.json").read_text())
    for path in (tmp_path / KEY).glob("*.tmp"):
        os.utime(path, (0, 0))
    Store(tmp_path).save(OTHER, [0], arrays_of([0]))
    assert list((tmp_path / KEY).glob("*.tmp")) == []


def test_processes_save_load_and_compact_at_once(tmp_path):
    kept = list(range(0, 40, 2))
    fill(Store(tmp_path), kept)  # must stay loadable all the time
    body = f"""
    kept = {kept}
    store = module.Store(folder)
    for turn in range(60):
        first = random.randrange(100)
        trials = range(first, first + random.randint(1, 8))
        store.save(key, trials, arrays_of(trials, 5))
        assert set(kept) <= set(store.stored(key)), "a listing missed a trial"
        found, arrays = store.load(key, range(200))
        assert set(kept) <= set(found), "a trial vanished"
        for name, array in arrays_of(found, 5).items():
            assert (arrays[name] == array).all(), "wrong numbers"
        if turn % (2 + seed) == 0:
            store.compact(key)
    assert store.problem is None, store.problem
    """
    processes = [start(body, tmp_path, seed) for seed in range(3)]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    store = Store(tmp_path)
    promised = store.stored(KEY)
    found, arrays = store.load(KEY, range(200))
    assert found == promised
    assert_right(found, arrays)
    store.compact(KEY)
    assert store.stored(KEY) == promised
    assert_right(*store.load(KEY, range(200)))


def test_processes_evict_each_other(tmp_path):
    body = """
    store = module.Store(folder, limit=6000)
    keys = [f"{number:08x}" for number in range(8)]
    for turn in range(60):
        first = random.randrange(10)
        trials = range(first, first + 4)
        store.save(random.choice(keys), trials, arrays_of(trials, 5))
        found, arrays = store.load(random.choice(keys), range(20))
        for name, array in arrays_of(found, 5).items() if found else ():
            assert (arrays[name] == array).all(), "wrong numbers"
    assert store.problem is None, store.problem
    """
    processes = [start(body, tmp_path, seed) for seed in range(3)]
    for process in processes:
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
    store = Store(tmp_path, limit=6000)
    fill(store, [0])
    assert store.size() <= 6000


def test_really_full_disk(tmp_path):
    body = """
    store = module.Store(folder)
    for trial in range(50):
        store.save(key, [trial], arrays_of([trial], 2000))
    found, arrays = store.load(key, range(100))
    for name, array in arrays_of(found, 2000).items():
        assert (arrays[name] == array).all(), "wrong numbers"
    assert found == list(range(len(found))) and 0 < len(found) < 50
    print(store.problem)
    """
    mount = 'mount -t tmpfs -o size=128k tmpfs "$0" && exec "$@"'
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount]
    if (
        shutil.which("unshare") is None
        or subprocess.run(
            [*namespace, tmp_path, "true"], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("no mount namespaces here")
    run = subprocess.run(
        [*namespace, tmp_path, sys.executable, "-c", script(body), tmp_path, KEY, "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "No space left on device" in run.stdout


def test_speed(tmp_path):
    store = Store(tmp_path)
    rng = np.random.default_rng(0)
    shapes = {"calibration": (1000, 673), "test": (1000, 450)}
    arrays = {name: rng.random(shape, dtype=np.float32) for name, shape in shapes.items()}
    store.save(KEY, range(1000), arrays)
    for first in range(0, 1000, 20):
        part = {name: array[first : first + 20] for name, array in arrays.items()}
        store.save(OTHER, range(first, first + 20), part)
    for key in (KEY, OTHER):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            found, loaded = store.load(key, range(1000))
            times.append(time.perf_counter() - begin)
        assert len(found) == 1000
        assert all((loaded[name] == array).all() for name, array in arrays.items())
        assert min(times) < 0.5  # about 10 and 20 ms on an idle machine
