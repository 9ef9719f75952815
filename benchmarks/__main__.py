"""``python -m benchmarks``: measure everything and write the table into benchmarks/README.md."""

import argparse
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sklearn

from benchmarks import browser, digits, instance, memory, ordinary, quadnoise

README = Path(__file__).with_name("README.md")
START, END = "<!-- table -->", "<!-- end of table -->"
PARTS = {
    "quadnoise": quadnoise.rows,
    "digits": digits.rows,
    "instance": instance.run_rows,
    "ordinary": ordinary.quick_rows,
    "long": ordinary.long_rows,
    "stored": digits.stored_rows,
    "cases": instance.rows,
    "memory": memory.rows,
    "browser": browser.rows,
}
QUICK = ("quadnoise", "digits", "instance", "ordinary")
"""What ``--only quick`` stands for: the calls of a user whose fits are short."""


def line(row: dict[str, Any]) -> str:
    """One line of the table."""

    def seconds(value: float | None) -> str:
        return "" if value is None else f"{value:.3g} s"

    ratio = "" if row["ratio"] is None else f"{row['ratio']:.3g}"
    if "spread" in row:
        low, high, repetitions = row["spread"]
        ratio += f" ({low:.3g} to {high:.3g}, {repetitions} times)"
    times = (row["reference_seconds"], row["ours_seconds"])
    cells = (row["work"], *map(seconds, times), ratio, seconds(row.get("first_seconds")))
    return "| " + " | ".join((*cells, row["agreement"])) + " |"


def write(rows: list[str]) -> None:
    """Put the table in the place of the last one."""
    head = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, scikit-learn {sklearn.__version__}.",
        "",
        "| work | plain reference | ours, warm | reference / ours | ours, first call | agreement |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    README.write_text(before + "\n".join([START, *head, *rows, END]) + after, encoding="utf-8")


def main() -> None:
    """Measure and print; write the table when everything was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = ("quick", *PARTS)
    parser.add_argument(
        "--only", nargs="+", choices=known, metavar="NAME", help=f"only these: {', '.join(known)}"
    )
    only = parser.parse_args().only
    names = list(PARTS) if only is None else only
    if "quick" in names:
        names = [*QUICK, *(name for name in names if name not in ("quick", *QUICK))]
    rows = []
    for name in names:
        for row in PARTS[name]():
            rows.append(line(row))
            print(rows[-1], flush=True)
    if only is None:
        write(rows)


if __name__ == "__main__":
    main()
