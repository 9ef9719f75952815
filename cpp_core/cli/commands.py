"""The command line: ``python -m cpp_core run | check | list``.

Arguments are read before anything else is loaded: help, and a wrong word, are answered at once.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.checks import DELTA
from cpp_core.cli.arguments import add_check, add_settings, add_table_options
from cpp_core.cli.printing import Parser, say
from cpp_core.method.machine import MachineError, SchedulerError

UNUSABLE, INTERRUPTED = 2, 130
KINDS = ("json", "csv", "parquet", "html")
EXAMPLE = """\
examples:
  python -m cpp_core run --preset digits-candidate --trials 200 --alpha 0.1 --json out.json
  python -m cpp_core run --data my.csv --target y --algorithms ridge my_models.py --json out.json
  python -m cpp_core run --data my.csv --target ill --cost yes no 5000 --cost no yes 300 --unit EUR
"""


def parser() -> argparse.ArgumentParser:
    """The arguments that the commands take."""
    as_typed: Any = {"epilog": EXAMPLE, "formatter_class": argparse.RawDescriptionHelpFormatter}
    about = "Conformal performance prediction over randomized trials."
    top = Parser("python -m cpp_core", description=about, **as_typed)
    commands = top.add_subparsers(dest="command", required=True)
    words = "compute trials that are not stored yet, and summarise all of them"
    run = commands.add_parser("run", help=words, description=f"{words.capitalize()}.", **as_typed)
    run.add_argument("--preset", help=f"one of the paper's runs: {', '.join(PRESETS)}")
    run.add_argument("--dataset", help="see `list`")
    words = "1 to 6, see `list`; or a Python file with ALGORITHMS, estimators by name, which is run"
    run.add_argument("--algorithms", nargs="+", metavar="NAME", help=words)
    run.add_argument("--loss", help="see `list`")
    run.add_argument("--variant", help=", ".join(VARIANTS))
    run.add_argument("--regressor", help="what regresses the loss in z-fixed and z-variable")
    for name, words in (
        ("n", "cases for training and calibration"),
        ("n-sets", "k, the number of training subsets"),
        ("n-evaluations", "evaluation points of each subset (z-free)"),
        ("batch-size", "cases of a batch (batch)"),
        ("test-size", "cases, or losses of simulated data, for testing"),
    ):
        run.add_argument(f"--{name}", type=int, help=words)
    words = "of the cases, from 0.1 to 0.9, which calibrates; default 0.5"
    run.add_argument("--calibration-share", type=float, metavar="SHARE", help=words)
    run.add_argument("--trials", type=int, default=200, help="default 200")
    run.add_argument("--seed", type=int, default=0, help="default 0")
    run.add_argument("--alpha", type=float, default=0.1, help="accepted misses, default 0.1")
    run.add_argument("--side", default="upper", help="upper (default) or two-sided")
    run.add_argument("--at-most", type=float, metavar="T", help="are new losses at most T?")
    run.add_argument("--delta", type=float, default=DELTA, help=f"as in check, default {DELTA}")
    run.add_argument(
        "--margin", type=float, help="average losses that differ by less are practically equal"
    )
    run.add_argument(
        "--jobs", type=int, help="workers, default: one for each core; -1 is all, -2 all but one"
    )
    run.add_argument("--scheduler", help="a dask scheduler, such as tcp://host:8786")
    run.add_argument("--fresh", action="store_true", help="do not use stored trials")
    run.add_argument("--why", action="store_true", help="print the sentences in full, with badges")
    add_table_options(run)
    add_settings(run)
    for kind in KINDS:
        run.add_argument(f"--{kind}", type=Path, metavar="FILE", help=f"write {kind.upper()}")
    add_check(commands)
    commands.add_parser("list", help="presets, datasets, algorithms, losses")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 2 for input that cannot be used, 130 after Ctrl-C.

    ``check`` also ends with 1, not shown, and 3, too little data.
    """
    given = parser().parse_args(arguments)
    name = f"{given.command}_command"
    try:
        return getattr(import_module(f"cpp_core.cli.{name}"), name)(given)
    except (ValueError, SchedulerError, MachineError, OSError) as error:
        say([f"error: {error}"], sys.stderr)
        return UNUSABLE


if __name__ == "__main__":
    sys.exit(main())
