"""The store among other processes: killed, at once, and on a disk that is really full."""

import inspect
import json
import os
import random
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import psutil
import pytest

from cpp_core.trials.store import Store, writer, writer_is_gone
from tests.trials.stored import KEY, OTHER, arrays_of, assert_right, blocks_in, fill

START = f"""
from __future__ import annotations
import random, sys
import numpy as np
from cpp_core.trials import store as module
folder, key, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(seed)
{inspect.getsource(arrays_of)}
"""


def script(body: str) -> str:
    return START + textwrap.dedent(body)


def start(body: str, folder: Path, seed: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script(body), str(folder), KEY, str(seed)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
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


def test_what_is_left_half_written_goes_though_another_process_has_the_number(tmp_path):
    begun = psutil.Process().create_time()
    mine, gone = tmp_path / f"{writer(os.getpid())}{0:016x}.tmp", tmp_path / f"{writer(2**30)}0.tmp"
    elsewhere = tmp_path / f"{'0' * 8}{os.getpid():08x}{0:016x}.tmp"
    for path in (mine, gone, elsewhere):
        path.touch()
    assert [writer_is_gone(path) for path in (mine, gone, elsewhere)] == [False, True, False]
    for path in (mine, elsewhere):  # changed last before this process began
        os.utime(path, (begun - 60, begun - 60))
    assert writer_is_gone(mine)
    assert not writer_is_gone(elsewhere)


@pytest.mark.slow
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
