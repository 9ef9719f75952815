"""The end of a report: what makes its numbers again, and how to see that they are the same."""

from typing import Any

from cpp_core.catalog.loss_files import LossTable
from cpp_core.catalog.roles import Source
from cpp_core.checks import Level, exact_alpha
from cpp_core.report import SECTIONS
from cpp_core.report.document import Section
from cpp_core.report.reproduce import (
    NO_COMMAND,
    asked_of,
    command_line,
    losses_command_line,
    losses_digest,
    losses_python_lines,
    python_lines,
    table_digest,
    versions,
)
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.verdicts.language import number
from cpp_core.verdicts.summary import Table


def results_appendix(
    results: Results,
    alpha: Level,
    side: str,
    settings: dict[str, Any],
    question: dict[str, Any],
    source: Source | None,
) -> Section:
    """Of results: all that was chosen, hashes of what came out, and the lines that give it."""
    experiment, sizes = results.experiment, results.experiment.sizes
    named = "columns" in settings["sections"]
    described = experiment.to_dict() if named else experiment.without_cells()
    rows: list[tuple[str, object]] = [
        (name, value)
        for name, value in described.items()
        if value not in (None, {}, []) and (name, value) != ("n_evaluations", 1)
    ]
    rows += [
        ("alpha", number(float(exact_alpha(alpha)), digits=12)),
        ("side", side),
        ("seed", results.seed),
        ("trials", f"{len(results.trials):,} of {results.asked:,}"),
        ("calibration scores (k), training cases (m)", f"{sizes.k:,}, {sizes.m:,}"),
        ("test losses in a trial", sizes.n_test),
        ("versions", versions()),
        ("SHA-256 of the losses", losses_digest(results)),
    ]
    if experiment.data.size is not None:
        rows.append(("SHA-256 of the table", table_digest(experiment)))
    rows += _own_table(experiment, named)
    rows += question.items()
    python = python_lines(results, alpha, side, settings | question, source)
    trials, seed = len(results.trials), results.seed
    command = command_line(experiment, trials, seed, alpha, side, question, source)
    return _reproduced(rows, python, command)


def _own_table(experiment: Experiment, named: bool) -> list[tuple[str, object]]:
    """The shape of a user's own table, and the names of its columns unless they are left out."""
    data = experiment.data
    if not data.own:
        return []
    shape: tuple[str, object] = (
        "rows and inputs of the table",
        f"{data.size:,}, {data.n_inputs:,}",
    )
    names = ", ".join(data.feature_names)
    return [shape, ("columns", names)] if named and names else [shape]


def losses_appendix(
    table: LossTable, alpha: Level, settings: dict[str, Any], question: dict[str, Any]
) -> Section:
    """Of a file of losses: what was asked, the file's hash, and the lines that give it."""
    asked = asked_of(alpha, question)
    rows: list[tuple[str, object]] = [
        *asked.items(),
        ("columns", ", ".join(table.columns)),
        ("cases", table.size),
        ("versions", versions()),
        ("SHA-256 of the file", table.sha256),
    ]
    python = losses_python_lines(table, asked, settings)
    return _reproduced(rows, python, losses_command_line(table, asked))


def _reproduced(rows: list[tuple[str, object]], python: str, command: str | None) -> Section:
    settings = Table((), [(name.replace("_", " "), value) for name, value in rows], figures=False)
    typed = Section("On the command line", code=command or "", text="" if command else NO_COMMAND)
    parts = [Section("In Python", code=python), typed]
    return Section(SECTIONS["appendix"], table=settings, parts=parts)
