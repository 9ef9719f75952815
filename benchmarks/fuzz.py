"""``python -m benchmarks.fuzz``: hostile files through the reader of uploads, counted by ending."""

import argparse
import threading
import time
import traceback
from collections import Counter

import psutil

from benchmarks.hostile import files
from cpp_core.catalog.files import read_frame
from cpp_core.catalog.loss_files import column_names, open_losses, read_losses

SLOW = 10.0


class Peak:
    """The greatest memory of this process and of those that it starts, beyond what it has now."""

    def __init__(self) -> None:
        self.me = psutil.Process()
        self.idle = self.me.memory_info().rss
        self.own = self.children = 0
        self.over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self.over.wait(0.02):
            self.own = max(self.own, self.me.memory_info().rss - self.idle)
            for child in self.me.children():
                try:
                    self.children = max(self.children, child.memory_info().rss)
                except psutil.Error:
                    continue


def judged(content: bytes) -> str:
    """How a file ends, as a table and as losses: a result, a sentence or a traceback."""
    ends = []
    for read in (_as_table, _as_losses):
        try:
            read(content)
            ends.append("result")
        except ValueError as error:
            plain = str(error)[-1:] in ".?)" and len(str(error)) < 2000
            ends.append("sentence" if plain else "traceback")
            if not plain:
                print(error)
        except Exception:
            traceback.print_exc()
            ends.append("traceback")
    return (
        "result"
        if ends == ["result"] * 2
        else max(ends, key=["result", "sentence", "traceback"].index)
    )


def _as_table(content: bytes) -> None:
    assert len(read_frame(content).frame.columns)


def _as_losses(content: bytes) -> None:
    file = open_losses(content, own=False)
    names, likely = column_names(file)
    read_losses(file, likely[:6] or None, group=names[0] if names[0] not in likely else None)


def main() -> None:
    """Read all files, print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    peak, ends, slowest = Peak(), Counter(), Counter()
    for kind, content in files(given.files, given.seed):
        start = time.perf_counter()
        ends[kind, judged(content)] += 1
        # Each file is read twice.
        slowest[kind] = max(slowest[kind], (time.perf_counter() - start) / 2)
    peak.over.set()
    print("| kind | files | results | sentences | tracebacks | slowest |")
    print("| --- | --- | --- | --- | --- | --- |")
    for kind in dict.fromkeys(kind for kind, _ in ends):
        counts = [ends[kind, end] for end in ("result", "sentence", "traceback")]
        cells = [kind, sum(counts), *counts, f"{slowest[kind]:.1f} s"]
        print("| " + " | ".join(map(str, cells)) + " |")
    late = sum(seconds > SLOW for seconds in slowest.values())
    bad = sum(count for (_, end), count in ends.items() if end == "traceback")
    print(
        f"{given.files} files, seed {given.seed}: {bad} tracebacks, {late} kinds over {SLOW:g} s; "
        f"at most {peak.own / 2**20:.0f} MiB above idle in this process, "
        f"{peak.children / 2**20:.0f} MiB in one that reads."
    )


if __name__ == "__main__":
    main()
