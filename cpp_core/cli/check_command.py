"""``python -m cpp_core check``: is the next loss small enough, by a file of losses?

The exit code is for scripts: 0 shown, 1 not shown, 3 too little data, 2 unusable input.
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cpp_core.catalog.loss_files import LossTable, column_names, read_losses
from cpp_core.checks import exact_alpha, probability
from cpp_core.cli.printing import aligned, say, told_line
from cpp_core.method.counts import DELTA
from cpp_core.report.export import exit_code, losses_json
from cpp_core.verdicts.about import about_numbers
from cpp_core.verdicts.answers import Answers, answers_of
from cpp_core.verdicts.decisions import Decision
from cpp_core.verdicts.loss_lines import (
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
EXAMPLE = """\
examples:
  python -m cpp_core check losses.csv --column loss --at-most 0.5 --alpha 0.1
  python -m cpp_core check scores.csv --column accuracy --greater-is-better --at-least 0.8
  python -m cpp_core check errors.csv --column wrong --error-rate-at-most 0.05 --batch-size 100
  python -m cpp_core check losses.csv --all --low 0 --html report.html

exit code: 0 shown (or a bound was found), 1 not shown (or no bound below the top of the range),
3 too little data, 2 unusable input. With several columns each is judged separately, and 0 means
that all are shown.
"""


def add_check(commands: Any) -> None:
    """Add the command to the parser."""
    words = "judge a CSV or Parquet file of losses of models that were trained elsewhere"
    check = commands.add_parser(
        "check",
        help=words,
        description=f"{words.capitalize()}: a column per model, a row per case.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("file", type=Path, help="CSV (comma, semicolon or tab) or Parquet")
    check.add_argument(
        "--column", action="append", metavar="NAME", help="a column of losses; may be repeated"
    )
    check.add_argument("--all", action="store_true", help="every column of numbers")
    check.add_argument("--case", metavar="NAME", help="the column that names the cases")
    check.add_argument("--group", metavar="NAME", help="the column with groups: a bound for each")
    claim = check.add_mutually_exclusive_group()
    claim.add_argument("--at-most", type=float, metavar="T", help="are new losses at most T?")
    claim.add_argument("--at-least", type=float, metavar="T", help="are new scores at least T?")
    claim.add_argument(
        "--error-rate-at-most",
        type=float,
        metavar="R",
        help="is the share of errors (losses 0 or 1) among the next cases at most R?",
    )
    check.add_argument("--batch-size", type=int, metavar="B", help="how many next cases")
    check.add_argument("--alpha", type=float, default=0.1, help="accepted misses, default 0.1")
    words = f"how often a limit may be shown wrongly, default {DELTA}"
    check.add_argument("--delta", type=float, default=DELTA, help=words)
    kind, to = check.add_mutually_exclusive_group(), {"dest": "greater_is_better", "default": None}
    words = "the numbers are scores; guessed from names and values if not said"
    kind.add_argument("--greater-is-better", action="store_true", help=words, **to)
    kind.add_argument("--smaller-is-better", action="store_false", help="they are losses", **to)
    check.add_argument("--low", type=float, default=-math.inf, help="least possible loss")
    check.add_argument("--high", type=float, default=math.inf, help="greatest possible loss")
    check.add_argument(
        "--margin", type=float, help="average losses that differ by less are practically equal"
    )
    words = "print every sentence in full, with its badge and what it assumes"
    check.add_argument("--why", action="store_true", help=words)
    for kind in ("json", "html"):
        check.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"write {kind.upper()}")


def chosen_files(given: argparse.Namespace, kinds: Sequence[str]) -> dict[str, Path]:
    """The files to write, by kind, whose folders are there."""
    files = {kind: path for kind in kinds if (path := getattr(given, kind)) is not None}
    for path in files.values():
        if not path.resolve().parent.is_dir():
            raise ValueError(f"the folder of {path} does not exist; make it first.")
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
        text = json.dumps(content, indent=2, allow_nan=False)
        given.json.write_text(text + "\n", encoding="utf-8")
        print(f"wrote {given.json}")
    if given.html is not None:
        from cpp_core.report.pages import losses_report_html  # charts load slowly: only where drawn

        page = losses_report_html(table, **question)
        given.html.write_text(page, encoding="utf-8")
        print(f"wrote {given.html}")
    return exit_code(answers)


def _table(given: argparse.Namespace) -> LossTable:
    if given.all and given.column:
        raise ValueError("name columns with --column or take --all, not both.")
    taken = given.case, given.group
    names = [name for name in column_names(given.file)[1] if name not in taken]
    if len(names) > 1 and not given.all and not given.column:
        raise ValueError(
            f"{given.file.name} has {len(names)} columns of losses ({', '.join(names)}); name one "
            "with --column, or take --all."
        )
    return read_losses(given.file, given.column, *taken, given.greater_is_better)


def summary_lines(table: LossTable, answers: Answers, alpha: float) -> list[str]:
    """The decision, a table with a row for each model, a line for each pair, what is assumed."""
    several, strip = len(table.columns) > 1, answers.strip
    asked = asked_line(answers.answer, about_numbers(table.greater_is_better))
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
    lines = [told_line(verdict) for verdict in answers.answer]
    several = len(answers.answer) > 1
    lines += [separately_line(answers, alpha)] if several else []
    if isinstance(answers.answer[0], Decision):
        lines += [told_line(verdict) for verdict in answers.bounds if several]
    return lines + [told_line(verdict) for verdict in (*answers.who_wins, *answers.groups)]
