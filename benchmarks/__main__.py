"""``python -m benchmarks``: measure everything and write the table into benchmarks/README.md."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sklearn

from benchmarks import browser, digits, instance, memory, quadnoise

README = Path(__file__).with_name("README.md")
START, END = "<!-- table -->", "<!-- end of table -->"


def line(row: dict[str, Any]) -> str:
    """One line of the table."""

    def seconds(value: float | None) -> str:
        return "" if value is None else f"{value:.3g} s"

    ratio = "" if row["ratio"] is None else f"{row['ratio']:.1f}"
    cells = (row["work"], seconds(row["reference_seconds"]), seconds(row["ours_seconds"]), ratio)
    return "| " + " | ".join((*cells, row["agreement"])) + " |"


def main() -> None:
    """Measure, print, write."""
    parts = (
        digits.rows,
        digits.stored_rows,
        quadnoise.rows,
        instance.rows,
        memory.rows,
        browser.rows,
    )
    rows = []
    for part in parts:
        for row in part():
            rows.append(line(row))
            print(rows[-1], flush=True)
    head = [
        f"Measured on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, scikit-learn {sklearn.__version__}.",
        "",
        "| work | plain reference | ours | times faster | agreement |",
        "| --- | --- | --- | --- | --- |",
    ]
    text = README.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    table = "\n".join([START, *head, *rows, END])
    README.write_text(before + table + after, encoding="utf-8")


if __name__ == "__main__":
    main()
