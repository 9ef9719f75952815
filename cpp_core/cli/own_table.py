"""A table of one's own on the command line: read, understood and checked before anything runs."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cpp_core.catalog.checkups import Finding, checkups, still_open, warnings_of
from cpp_core.catalog.files import FileRead, read_frame
from cpp_core.catalog.roles import Roles, Source
from cpp_core.catalog.tables import Table, type_frame
from cpp_core.checks import Level
from cpp_core.cli.printing import aligned
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.latest import latest_held_out
from cpp_core.trials.results import Results
from cpp_core.verdicts.drift import latest_table, latest_words
from cpp_core.verdicts.spending import enough

ROLES = ("target", "task", "group", "time", "id", "drop", "decimal", "day_first", "sheet")
"""What is said about a file, and of no other data."""

SAID = {
    "decimal": "--decimal",
    "day_first": "--day-first or --month-first",
    "sheet": "--sheet",
}
"""The options that answer what a file does not tell."""


@dataclass(frozen=True, eq=False)
class Brought:
    """A file as it was read, and the table in it."""

    file: FileRead
    table: Table


def brought_table(given: argparse.Namespace) -> Brought | None:
    """The table that the arguments name, through the one reader; None where they name none."""
    if given.data is None:
        said = [name for name in ROLES if getattr(given, name) is not None]
        if said:
            option = said[0].replace("_", "-")
            raise ValueError(f"--{option} is about a file of your own: say --data FILE too.")
        return None
    how = {name: getattr(given, name) for name in ("decimal", "day_first", "sheet")}
    file = read_frame(given.data, own=True, **how)
    roles = {name: getattr(given, name) for name in ("group", "time", "id")}
    table = type_frame(file.frame).table(given.target, given.task, **roles, drop=given.drop or ())
    return Brought(file, table)


def source_of(
    given: argparse.Namespace, brought: Brought, latest: Results | str | None = None
) -> Source:
    """The file as a report names it, with what the latest rows have shown."""
    table, drop = brought.table, tuple(given.drop or ())
    roles = Roles(table.target, table.task, given.group, given.time, given.id, drop)
    how = {name: getattr(given, name) for name in ("decimal", "day_first", "sheet")}
    said = tuple((name, value) for name, value in how.items() if value is not None)
    warnings = warnings_of(checkups(table))
    if isinstance(latest, Results):
        warnings += (latest_words(latest, given.alpha, given.side),)
    return Source(brought.file.name, roles, said, warnings)


def with_files(names: Sequence[str]) -> tuple[str, ...]:
    """Names of algorithms, with those of a Python file in its place."""
    found: list[str] = []
    for name in names:
        if not name.endswith(".py"):
            found.append(name)
            continue
        from cpp_core.catalog.own_algorithms import read_algorithms  # with scikit-learn

        found += [own.name for own in read_algorithms(name)]
    return tuple(found)


def _findings(brought: Brought, experiment: Experiment, side: str) -> list[Finding]:
    return [*checkups(brought.table), enough(experiment, side)]


def before_lines(brought: Brought, experiment: Experiment, side: str) -> list[str]:
    """What was understood, what was taken though it may be meant otherwise, and the checks."""
    file, table = brought.file, brought.table
    lines = [f"note: {note}" for note in (*file.notes, *table.notes)]
    for question in file.questions:
        taken = dict(question.answers)[question.taken]
        lines.append(f"note: {question.text} {taken} was taken; {SAID[question.argument]} says it.")
    held_out = experiment.kind.holds_out  # wherever a time is named
    for own in still_open(_findings(brought, experiment, side), table, held_out):
        heavy = own.about.severity != "note"
        more = f" {own.about.why} {own.todo}" if heavy else ""
        lines.append(f"{own.about.severity} {own.code}: {own.text}{more}")
    return lines


def latest_of(brought: Brought, results: Results) -> Results | str | None:
    """The latest rows held out, where a time column was named; or why they cannot be."""
    times, experiment = brought.table.times, results.experiment
    if times is None:
        return None
    if not experiment.kind.holds_out:
        return "The latest rows are held out for the variant candidate alone."
    try:
        return latest_held_out(experiment, times, results.seed)
    except ValueError as error:  # what random splits have shown is told all the same
        return f"The latest rows cannot be held out. {error}"


def latest_lines(
    latest: Results | str | None, results: Results, alpha: Level, side: str
) -> list[str]:
    """Random splits beside the latest rows held out."""
    if not isinstance(latest, Results):
        return [] if latest is None else ["", latest]
    shown = latest_table(results, latest, alpha, side)
    return ["", *aligned(shown), shown.caption]


def data_json(brought: Brought, experiment: Experiment, side: str) -> dict[str, Any]:
    """The file, its columns and the checks as plain values.

    None of its cells, but for what a note or a check names: a class, or a word among numbers.
    """
    file, table = brought.file, brought.table
    checks = [
        {"code": own.code, "severity": own.about.severity, "text": own.text}
        | {"why": own.about.why, "todo": own.todo}
        for own in _findings(brought, experiment, side)
    ]
    return {
        "file": file.name,
        "sha256": file.sha256,
        "target": table.target,
        "task": table.task,
        "rows": len(table.y),
        "rows_without_target": table.dropped,
        "inputs": {own.name: own.kind for own in table.inputs},
        "notes": [*file.notes, *table.notes],
        "checks": checks,
    }
