"""What the commands take, apart from what they do: help waits for nothing that computes."""

import argparse
import math
from pathlib import Path
from typing import Any

from cpp_core.catalog.settings import LOSS_SETTINGS
from cpp_core.checks import DELTA

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
    words = "judge a CSV, Parquet or Excel file of losses of models that were trained elsewhere"
    check = commands.add_parser(
        "check",
        help=words,
        description=f"{words.capitalize()}: a column per model, a row per case.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check.add_argument("file", type=Path, help="CSV, Parquet or .xlsx, also as .gz")
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
    check.add_argument("--unit", default="", help="what the numbers count, such as EUR")
    check.add_argument(
        "--margin", type=float, help="average losses that differ by less are practically equal"
    )
    words = "print every sentence in full, with its badge and what it assumes"
    check.add_argument("--why", action="store_true", help=words)
    for kind in ("json", "html"):
        check.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"write {kind.upper()}")


def add_table_options(run: argparse.ArgumentParser) -> None:
    """What can be said about a table of one's own."""
    own = run.add_argument_group("a table of your own")
    words = "CSV, Parquet or .xlsx, also as .gz: a row for each case, names above the columns"
    own.add_argument("--data", type=Path, metavar="FILE", help=words)
    for name, words in (
        ("target", "the column to predict; guessed if not said"),
        ("group", "the column with groups: a bound for each"),
        ("time", "when a row was taken, no input; the latest rows are also held out"),
        ("id", "whose row it is, no input"),
    ):
        own.add_argument(f"--{name}", metavar="COLUMN", help=words)
    own.add_argument("--drop", nargs="+", metavar="COLUMN", help="columns that are no inputs")
    tasks = ("classification", "regression")
    own.add_argument("--task", choices=tasks, help="guessed if not said")
    own.add_argument("--decimal", choices=(".", ","), help="the mark before decimals")
    day: dict[str, Any] = {"dest": "day_first", "default": None}
    own.add_argument("--day-first", action="store_true", help="03/04/2024 is in April", **day)
    own.add_argument("--month-first", action="store_false", help="it is in March", **day)
    own.add_argument("--sheet", metavar="NAME", help="the sheet of a workbook")


def add_settings(run: argparse.ArgumentParser) -> None:
    """What a loss costs, in which unit, and how algorithms are set."""
    own = run.add_argument_group("settings")
    told = ("TRUE", "PREDICTED", "COST")
    other: dict[str, dict[str, Any]] = {
        "costs": {"nargs": 3, "action": "append", "metavar": told},
        "unit": {},
    }
    for setting in LOSS_SETTINGS.values():
        if setting.help:
            how = other.get(setting.name, {"type": float})
            own.add_argument(f"--{setting.option}", help=setting.help, **how)
    words = "a setting of an algorithm, such as random-forest.n_estimators=300; may be repeated"
    own.add_argument("--set", action="append", metavar="ALGORITHM.SETTING=VALUE", help=words)
