"""``python -m benchmarks.disk``: faults of the disk during runs, each with one sentence.

A full disk, a store that cannot be written, damaged and forged blocks, and two processes that share
a store so small that each removes what the other has written: the numbers stay the same.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.runs import SEED, TRIALS, experiment, plain_numbers
from cpp_core.trials.block_files import digest, pack, span
from cpp_core.trials.store import Store

CODE = """
import sys, json, hashlib
from benchmarks.runs import experiment, numbers, TRIALS, SEED
from cpp_core import Store, run
store = Store(sys.argv[1], limit=int(sys.argv[2]))
results = run(experiment(), TRIALS, SEED, n_jobs=1, store=store)
own = {name: hashlib.sha256(data).hexdigest() for name, data in numbers(results.arrays).items()}
print(json.dumps([own, results.problem]))
"""
LIMIT = 2 * 2**30
NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
MOUNTS = {
    "a full disk": 'mount -t tmpfs -o size=64k tmpfs "$0" && exec "$@"',
    "a store on a disk that is read only": 'mount -t tmpfs -o ro tmpfs "$0" && exec "$@"',
}
PATIENCE = 600.0


def runs(folder: Path, limit: int = LIMIT, before: Sequence[str] = ()) -> subprocess.Popen[str]:
    """A run in a process of its own, which tells digests of its numbers and what was wrong."""
    return subprocess.Popen(
        [*before, sys.executable, "-c", CODE, str(folder), str(limit)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def judged(what: str, processes: Sequence[subprocess.Popen[str]], problem: bool) -> bool:
    """Print how runs ended; whether all have the plain numbers, and a sentence where one is due."""

    plain = {name: hashlib.sha256(data).hexdigest() for name, data in plain_numbers().items()}
    right, said = True, ""
    for own in processes:
        out, errors = own.communicate(timeout=PATIENCE)
        if own.returncode:
            right, said = False, errors.strip().splitlines()[-1]
            continue
        found, told = json.loads(out.splitlines()[-1])
        right &= found == plain and (told is not None) == problem
        said = told or "nothing to tell"
    print(f"{what}: {'as wanted' if right else 'NOT AS WANTED'}: {said!r}", flush=True)
    return right


def damage(folder: Path) -> None:
    """Flip a byte of one block, cut one, empty one, and forge one without its arrays."""
    own = experiment()
    paths = sorted(path for path in folder.glob("*/*.npz"))
    for path, change in zip(
        paths, (lambda b: b[:50] + b"x" + b[51:], lambda b: b[:99], lambda b: b""), strict=False
    ):
        path.write_bytes(change(path.read_bytes()))
    key = own.key(own.algorithms[0], SEED)
    forged = b"".join(pack(key, range(TRIALS), {"other": np.zeros((TRIALS, 1))}))
    (folder / key / f"{span(range(TRIALS))}-{digest([forged])}.npz").write_bytes(forged)


def scattered(folder: Path) -> None:
    """A store with the trials in several blocks."""
    own, whole = experiment(), folder.with_name("whole")
    process = runs(whole)
    process.communicate(timeout=PATIENCE)
    for name in own.entries:
        key = own.key(name, SEED)
        for start in range(0, TRIALS, 20):
            Store(folder).save(key, *Store(whole).load(key, range(start, start + 20)))


def mounted(what: str, folder: Path) -> list[str] | None:
    """The words before a command that give it a disk of its own; None where that cannot be."""
    before = [*NAMESPACE, MOUNTS[what], str(folder)]
    if shutil.which("unshare") is None or os.name != "posix":
        return None
    done = subprocess.run([*before, "true"], capture_output=True, check=False)
    return None if done.returncode else before


def main() -> int:
    """The exit code is 1 where a number differs, or a sentence is missing."""
    ends = []
    with tempfile.TemporaryDirectory() as place:
        for number, what in enumerate(MOUNTS):
            folder = Path(place, str(number))
            folder.mkdir()
            before = mounted(what, folder)
            if before is None:
                print(f"{what}: no mount namespaces here")
                continue
            ends.append(judged(what, [runs(folder, before=before)], True))
        Path(place, "file").write_text("no folder")
        ends.append(judged("no folder", [runs(Path(place, "file", "store"))], True))
        scattered(Path(place, "damaged"))
        damage(Path(place, "damaged"))
        ends.append(judged("damaged and forged blocks", [runs(Path(place, "damaged"))], False))
        ends.append(judged("the same again", [runs(Path(place, "damaged"))], False))
        both = [runs(Path(place, "tiny"), limit=20_000) for _ in range(2)]
        ends.append(judged("two processes in a store of 20 kB", both, False))
    return int(not all(ends))


if __name__ == "__main__":
    raise SystemExit(main())
