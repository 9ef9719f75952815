"""``python -m benchmarks``: measure everything and write the table into benchmarks/README.md.

``--only`` measures some parts, each within four minutes, and renews their lines of the table.
"""

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sklearn

from benchmarks import (
    browser,
    digits,
    estimators,
    instance,
    memory,
    ordinary,
    quadnoise,
    scale,
    startup,
    timing,
)

README = Path(__file__).with_name("README.md")
MEASURED = Path(__file__).with_name("measured.json")
"""The lines of the table by part, as they were last measured."""

START, END = "<!-- table -->", "<!-- end of table -->"
PARTS: dict[str, Callable[[], Iterable[dict[str, Any]]]] = {
    "quadnoise": quadnoise.rows,
    "store": quadnoise.store_rows,
    "digits": digits.rows,
    "instance": instance.run_rows,
    **ordinary.PARTS,
    "estimators": estimators.rows,
    "startup": startup.rows,
    "scale": scale.rows,
    "cluster": scale.cluster_rows,
    "stored": digits.stored_rows,
    "cases": instance.rows,
    "memory": memory.rows,
    "browser": browser.rows,
}
QUICK = ("quadnoise", "digits", "logistic", "ridge", "naive-bayes", "knn")
"""What ``--only quick`` stands for: the calls of a user whose fits are short."""


def seconds(value: float | None) -> str:
    """A time of the table."""
    return "" if value is None else f"{value:.3g} s"


def ratio(row: dict[str, Any]) -> str:
    """A ratio with its spread; none where the reference was not steady."""
    found, spread = row["ratio"], row.get("spread")
    if spread is None:
        return "" if found is None else f"{found:.3g}"
    low, high, times = spread
    if found is None:
        return f"none: the reference varied by {row['swing']:.0%}"
    return f"{found:.3g} ({low:.3g} to {high:.3g}, {times} times)"


def line(row: dict[str, Any]) -> str:
    """One line of the table."""
    times = (row["reference_seconds"], row["ours_seconds"])
    first = seconds(row.get("first_seconds"))
    cells = (row["work"], *map(seconds, times), ratio(row), first, row["agreement"])
    return "| " + " | ".join(cells) + " |"


def write(measured: dict[str, Any]) -> None:
    """Put the table in the place of the last one."""
    dates = sorted({part["date"] for part in measured.values()})
    head = [
        f"Measured on {' to '.join(dict.fromkeys((dates[0], dates[-1])))}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}.",
        "",
        "| work | plain reference | ours | reference / ours | ours, first call | agreement |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    rows = [line(row) for name in PARTS if name in measured for row in measured[name]["rows"]]
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    README.write_text(before + "\n".join([START, *head, *rows, END]) + after, encoding="utf-8")


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = ("quick", *PARTS)
    parser.add_argument(
        "--only", nargs="+", choices=known, metavar="NAME", help=f"only these: {', '.join(known)}"
    )
    parser.add_argument("--warm", action="store_true", help="time no first calls")
    given = parser.parse_args()
    timing.FIRST_CALLS = not given.warm
    names = given.only or list(PARTS)
    if "quick" in names:
        names = [*QUICK, *(name for name in names if name not in ("quick", *QUICK))]
    measured = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    for name in names:
        rows = []
        for row in PARTS[name]():
            rows.append(row)
            print(line(row), flush=True)
        measured[name] = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "rows": rows}
        MEASURED.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
        write(measured)


if __name__ == "__main__":
    main()
