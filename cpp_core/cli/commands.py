"""The command line: ``python -m cpp_core run | check | list``."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.datasets import DATASETS, load_dataset
from cpp_core.catalog.losses import LOSSES
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.checks import check_side, exact_alpha, probability
from cpp_core.cli.check_command import add_check, check_command, chosen_files
from cpp_core.cli.printing import aligned, say, told_line
from cpp_core.method.counts import DELTA
from cpp_core.report.export import write
from cpp_core.report.reproduce import COMMAND_FIELDS
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.trials.running import SchedulerError, scheduler_from_environment, stream
from cpp_core.verdicts.about import Verdict, about_results
from cpp_core.verdicts.decisions import decisions_from
from cpp_core.verdicts.language import confidence, counted
from cpp_core.verdicts.loss_lines import asked_line, decision_line, pair_lines
from cpp_core.verdicts.strip import strip_from
from cpp_core.verdicts.summary import figures_table

UNUSABLE, INTERRUPTED = 2, 130
KINDS = ("json", "csv", "parquet", "html")
EXAMPLE = """\
example:
  python -m cpp_core run --preset digits-candidate --trials 200 --alpha 0.1 --json out.json
"""


def parser() -> argparse.ArgumentParser:
    """The arguments that the commands take."""
    as_typed: Any = {"epilog": EXAMPLE, "formatter_class": argparse.RawDescriptionHelpFormatter}
    about = "Conformal performance prediction over randomized trials."
    top = argparse.ArgumentParser("python -m cpp_core", description=about, **as_typed)
    commands = top.add_subparsers(dest="command", required=True)
    words = "compute trials that are not stored yet, and summarise all of them"
    run = commands.add_parser("run", help=words, description=f"{words.capitalize()}.", **as_typed)
    run.add_argument("--preset", help=f"one of the paper's runs: {', '.join(PRESETS)}")
    run.add_argument("--dataset", help="see `list`")
    run.add_argument("--algorithms", nargs="+", metavar="NAME", help="1 to 6, see `list`")
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
    run.add_argument("--trials", type=int, default=200, help="default 200")
    run.add_argument("--seed", type=int, default=0, help="default 0")
    run.add_argument("--alpha", type=float, default=0.1, help="accepted misses, default 0.1")
    run.add_argument("--side", default="two-sided", help="two-sided (default) or upper")
    run.add_argument("--at-most", type=float, metavar="T", help="are new losses at most T?")
    run.add_argument("--delta", type=float, default=DELTA, help=f"as in check, default {DELTA}")
    run.add_argument(
        "--margin", type=float, help="average losses that differ by less are practically equal"
    )
    run.add_argument("--jobs", type=int, help="workers, default: one for each core")
    run.add_argument("--scheduler", help="a dask scheduler, such as tcp://host:8786")
    run.add_argument("--fresh", action="store_true", help="do not use stored trials")
    run.add_argument("--why", action="store_true", help="print the sentences in full, with badges")
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
    if given.command == "list":
        print(listing())
        return 0
    try:
        return check_command(given) if given.command == "check" else run_command(given)
    except (ValueError, SchedulerError, OSError) as error:
        say([f"error: {error}"], sys.stderr)
        return UNUSABLE


def experiment_of(given: argparse.Namespace) -> Experiment:
    """The experiment that the arguments describe."""
    named = {name: getattr(given, name) for name in COMMAND_FIELDS}
    chosen: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if given.preset is None and "dataset" not in chosen:
        raise ValueError(f"say what to run: --preset {' | '.join(PRESETS)}, or --dataset NAME.")
    return Experiment.preset(given.preset, **chosen) if given.preset else Experiment(**chosen)


def run_command(given: argparse.Namespace) -> int:
    """Compute, show a progress bar, print a table, write files."""
    experiment = experiment_of(given)
    exact_alpha(given.alpha)
    probability(given.delta, "delta")
    check_side(given.side)
    files = chosen_files(given, KINDS)
    partial = stream(
        experiment,
        given.trials,
        given.seed,
        given.jobs,
        scheduler=given.scheduler or scheduler_from_environment(),
        fresh=given.fresh,
    )
    results: Results | None = None
    interrupted = False

    def interrupt(*_: Any) -> None:
        # An exception inside a C library's callback is dropped, so that it must be noted as well.
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    with tqdm(total=given.trials, unit="trial", disable=None, file=sys.stderr) as bar:
        try:
            for results in partial:
                bar.update(len(results.trials) - bar.n)
                if interrupted:
                    break
        except KeyboardInterrupt:
            interrupted = True
        finally:
            signal.signal(signal.SIGINT, before)
    done = 0 if results is None else len(results.trials)
    if interrupted:
        print(
            f"stopped: {done} of {given.trials} trials are kept; the same command goes on.",
            file=sys.stderr,
        )
    if results is None or not done:
        return INTERRUPTED
    if results.problem:
        print(f"note: {results.problem}", file=sys.stderr)
    say(summary_lines(results, given))
    question = {name: getattr(given, name) for name in ("at_most", "margin")}
    asked = {name: value for name, value in question.items() if value is not None}
    asked |= {"delta": given.delta} if "at_most" in asked else {}
    for kind, path in files.items():
        write(results, path, given.alpha, given.side, kind, **asked)
        print(f"wrote {path}")
    return INTERRUPTED if interrupted else 0


def summary_lines(results: Results, given: argparse.Namespace) -> list[str]:
    """The decision, whether what was asked is shown, the figures; with ``--why`` all sentences."""
    alpha, side, lines = given.alpha, given.side, []
    told, pairs = list[Verdict](), list[str]()
    if 0 in results.trials:
        decisions = decisions_from(results, alpha, given.at_most, delta=given.delta)
        strip = strip_from(results, alpha, side, given.margin, decisions)
        lines += [decision_line(strip, alpha)]
        lines += [asked] if (asked := asked_line(decisions, about_results(results))) else []
        told = [*decisions, *([strip.choice] if strip.choice else [])]
        pairs = ["", *pair_lines(strip)] if strip.choice else []
    found, experiment = figures_table(results, alpha, side), results.experiment
    head = f"{experiment.variant} on {experiment.data.label}, {confidence(alpha)} confidence, "
    head += f"{side} (k = {experiment.sizes.k}, m = {experiment.sizes.m})"
    failed = [
        f"{ALGORITHMS[name].label}: {counted(own['failed'], 'training run')} raised an error and "
        "count with the worst loss."
        for name, own in results.summary(alpha, side).items()
        if own["failed"]
    ]
    lines += [""] if lines else []
    lines += [head, *aligned(found), found.caption, *failed, *pairs]
    return lines + (["", *map(told_line, told)] if given.why and told else [])


def listing() -> str:
    """What can be asked for."""
    lines = ["presets:", *(f"  {name}" for name in PRESETS)]
    lines += ["variants:", *(f"  {name}" for name in VARIANTS), "datasets:"]
    lines += [f"  {name:15} {load_dataset(name).description}" for name in DATASETS]
    lines.append("algorithms:")
    lines += [f"  {a.name:15} {a.description} ({', '.join(a.tasks)})" for a in ALGORITHMS.values()]
    lines.append("losses:")
    for name, loss in LOSSES.items():
        kind = "on a batch" if loss.batch else "per case"
        lines.append(f"  {name:15} [{loss.low:g}, {loss.high:.4g}] {kind}, {loss.task}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
