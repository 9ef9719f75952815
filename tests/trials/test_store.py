"""The store of losses: what is loaded is what was saved, and what is refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cpp_core.trials.store import Store
from tests.trials.stored import KEY, OTHER, arrays_of, assert_right, blocks_in, fill, tree

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


def test_many_trials_load_alike_from_one_block_and_from_fifty(tmp_path):
    """How fast, the benchmarks say: the row of stored digits trials."""
    store = Store(tmp_path)
    rng = np.random.default_rng(0)
    shapes = {"calibration": (1000, 673), "test": (1000, 450)}
    arrays = {name: rng.random(shape, dtype=np.float32) for name, shape in shapes.items()}
    store.save(KEY, range(1000), arrays)
    for first in range(0, 1000, 20):
        part = {name: array[first : first + 20] for name, array in arrays.items()}
        store.save(OTHER, range(first, first + 20), part)
    for key in (KEY, OTHER):
        found, loaded = store.load(key, range(1000))
        assert found == list(range(1000))
        assert all((loaded[name] == array).all() for name, array in arrays.items())


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
