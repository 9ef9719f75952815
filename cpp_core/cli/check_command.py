"""``python -m cpp_core check``: is the next loss small enough, by a file of losses?

The exit code is for scripts: 0 shown, 1 not shown, 3 too little data, 2 unusable input.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from cpp_core.catalog.loss_files import LossTable, column_names, open_losses, raw_table, read_losses
from cpp_core.checks import exact_alpha, probability
from cpp_core.cli.printing import aligned, say, told_line
from cpp_core.report.export import check_writable, exit_code, losses_json, save
from cpp_core.verdicts.about import about_numbers
from cpp_core.verdicts.answers import Answers, answers_of
from cpp_core.verdicts.decisions import Decision
from cpp_core.verdicts.file_lines import (
    approximate_line,
    asked_line,
    assumed_line,
    decision_line,
    group_table,
    losses_table,
    pair_lines,
    separately_line,
)

QUESTION = (
    *("alpha", "delta", "at_most", "at_least", "error_rate_at_most", "batch_size"),
    *("low", "high", "margin"),
)


def chosen_files(given: argparse.Namespace, kinds: Sequence[str]) -> dict[str, Path]:
    """The files to write, by kind, which can be written."""
    files = {kind: path for kind in kinds if (path := getattr(given, kind)) is not None}
    for path in files.values():
        check_writable(path)
    return files


def check_command(given: argparse.Namespace) -> int:
    """Read, judge, print the sentences, write files; the exit code says how it ended."""
    exact_alpha(given.alpha)
    probability(given.delta, "delta")
    chosen_files(given, ("json", "html"))
    table = _table(given)
    question = {name: getattr(given, name) for name in QUESTION}
    answers = answers_of(table.columns, **table.told, **question)
    say([f"note: {note}" for note in table.notes], sys.stderr)
    say(summary_lines(table, answers, given.alpha))
    if given.why:
        say(["", *told_lines(answers, given.alpha)])
    if given.json is not None:
        content = losses_json(table, answers, question)
        save(given.json, json.dumps(content, indent=2, allow_nan=False) + "\n")
        say([f"wrote {given.json}"])
    if given.html is not None:
        from cpp_core.report.pages import losses_report_html  # charts load slowly: only where drawn

        save(given.html, losses_report_html(table, **question))
        say([f"wrote {given.html}"])
    return exit_code(answers)


def _table(given: argparse.Namespace) -> LossTable:
    if given.all and given.column:
        raise ValueError("name columns with --column or take --all, not both.")
    taken = given.case, given.group
    file = open_losses(given.file)
    if not given.column and (told := raw_table(file, *taken)):
        raise ValueError(told)
    names = [name for name in column_names(file)[1] if name not in taken]
    if len(names) > 1 and not given.all and not given.column:
        raise ValueError(
            f"{given.file.name} has {len(names)} columns of losses ({', '.join(names)}); name one "
            "with --column, or take --all."
        )
    return read_losses(file, given.column, *taken, given.greater_is_better, given.unit)


def summary_lines(table: LossTable, answers: Answers, alpha: float) -> list[str]:
    """The decision, a table with a row for each model, a line for each pair, what is assumed."""
    several, strip = len(table.columns) > 1, answers.strip
    about = about_numbers(table.greater_is_better, unit=table.unit)
    asked = asked_line(answers.answer, about)
    lines = [asked] if asked and not several else [decision_line(strip, alpha)]
    lines += [asked] if asked and several else []
    rows = losses_table(table, answers, alpha)
    lines += ["", *aligned(rows), rows.caption]
    lines += [separately_line(answers, alpha)] if several else []
    if answers.groups:
        rows = group_table(table, answers, alpha)
        lines += ["", *aligned(rows), rows.caption]
    lines += ["", *pair_lines(strip)] if several else []
    return [*lines, "", *filter(None, (assumed_line(answers), approximate_line(strip)))]


def told_lines(answers: Answers, alpha: float) -> list[str]:
    """The sentences as lines, each with its badge."""
    asked, several = isinstance(answers.answer[0], Decision), len(answers.answer) > 1
    lines = [told_line(verdict) for verdict in answers.answer]
    lines += [separately_line(answers, alpha)] if several else []
    more = several if asked else answers.bounds is not answers.answer
    lines += [told_line(verdict) for verdict in answers.bounds if more]
    return lines + [told_line(verdict) for verdict in (*answers.who_wins, *answers.groups)]
