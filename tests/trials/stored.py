"""Arrays in a store that tell from which trials they are, and what a folder holds."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from cpp_core.trials.block_files import Arrays
from cpp_core.trials.store import Store

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
