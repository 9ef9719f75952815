"""``python -m benchmarks.truth``: how often what is said is false, where the truth is known."""

import argparse
import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.truth import comparisons, estimators, sentences, trials
from benchmarks.truth.rows import Job, Row, worst

TABLE = Path(__file__).parents[1] / "TRUTH.md"
PARTS = (estimators, trials, sentences, comparisons)
REPETITIONS = 1000
START = "<!-- table -->"
HEAD = (
    "| what: under which truth | setting | claimed | found | repetitions | evidence | verdict |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)


def all_jobs() -> list[Job]:
    """Everything that is tried."""
    return [job for part in PARTS for job in part.jobs()]


def run_jobs(jobs: Iterable[Job], repetitions: int, n_jobs: int) -> Iterable[list[Row]]:
    """The rows of each job, in order, as they are done."""
    work = (delayed(job.rows)(repetitions) for job in jobs)
    return Parallel(n_jobs=n_jobs, return_as="generator", batch_size=1)(work)


def write(rows: list[Row], repetitions: int, seconds: float) -> None:
    """Put the table in the place of the last one."""
    wrong = [row for row in rows if row.verdict not in ("holds", "not available")]
    told = (
        f"{datetime.now(UTC):%Y-%m-%d}, {repetitions:,} repetitions, {seconds:.0f} s on "
        f"{os.cpu_count()} cores: {len(rows)} lines, {len(wrong)} of them not true."
    )
    before = TABLE.read_text(encoding="utf-8").split(START)[0]
    parts = [before + START, "", told, "", "## Not true", "", HEAD, *(r.line() for r in wrong)]
    parts += ["", "## Everything", "", HEAD, *(row.line() for row in rows), ""]
    TABLE.write_text("\n".join(parts), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Try, print, and write the table when everything was tried; 1 if anything is false."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.truth", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
    parser.add_argument("--only", metavar="NAME", help="only what has this in its name")
    parser.add_argument("--all", action="store_true", help="every setting, not the worst of each")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    given = parser.parse_args(arguments)
    jobs = [job for job in all_jobs() if given.only is None or given.only in job.name]
    if not jobs:
        parser.error(f"nothing has {given.only!r} in its name")
    begun, rows = time.perf_counter(), []
    print(HEAD, flush=True)
    for found in run_jobs(jobs, given.repetitions, given.jobs):
        own = found if given.all else worst(found)
        rows += own
        print("\n".join(row.line() for row in own), flush=True)
    seconds = time.perf_counter() - begun
    if given.only is None:
        write(rows, given.repetitions, seconds)
    print(f"{len(rows)} lines in {seconds:.0f} s")
    return int(any(row.verdict.startswith(("FALSE", "RAISES")) for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
