"""``python -m cpp_core run``: compute trials, and summarise them."""

import argparse
import signal
import sys
from typing import Any

from tqdm import tqdm

from cpp_core.catalog.presets import PRESETS
from cpp_core.checks import check_side, exact_alpha, probability
from cpp_core.cli.check_command import chosen_files
from cpp_core.cli.commands import INTERRUPTED, KINDS
from cpp_core.cli.own_table import (
    Brought,
    before_lines,
    brought_table,
    data_json,
    latest_lines,
    latest_of,
    source_of,
    with_files,
)
from cpp_core.cli.printing import aligned, say, told_line
from cpp_core.cli.settings import algorithm_settings, check_settings, loss_chosen
from cpp_core.report.export import write
from cpp_core.report.reproduce import COMMAND_FIELDS
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.trials.running import kept, scheduler_from_environment, stream
from cpp_core.verdicts.about import about_results
from cpp_core.verdicts.decisions import decisions_from
from cpp_core.verdicts.failing import failed_lines
from cpp_core.verdicts.file_lines import asked_line, decision_line, own_group_table, pair_lines
from cpp_core.verdicts.groups import group_bounds, no_group_bounds
from cpp_core.verdicts.language import confidence
from cpp_core.verdicts.strip import strip_from
from cpp_core.verdicts.summary import figures_table
from cpp_core.verdicts.verdict import Verdict


def experiment_of(given: argparse.Namespace, brought: Brought | None = None) -> Experiment:
    """The experiment that the arguments describe."""
    experiment = _described(given, brought)
    check_settings(algorithm_settings(given.set), experiment.algorithms)
    return experiment


def _described(given: argparse.Namespace, brought: Brought | None) -> Experiment:
    named = {name: getattr(given, name) for name in COMMAND_FIELDS}
    chosen: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    if "algorithms" in chosen:
        chosen["algorithms"] = with_files(chosen["algorithms"])
    chosen |= loss_chosen(given)
    if given.set:
        chosen["algorithm_settings"] = algorithm_settings(given.set)
    if brought is not None:
        if given.preset or given.dataset:
            raise ValueError("say --data, --dataset or --preset, one of them.")
        return Experiment.on(brought.table, brought.file.name, **chosen)
    if given.preset is None and "dataset" not in chosen:
        presets = " | ".join(PRESETS)
        raise ValueError(
            f"say what to run: --preset {presets}, --dataset NAME, or --data FILE --target COLUMN."
        )
    return Experiment.preset(given.preset, **chosen) if given.preset else Experiment(**chosen)


def run_command(given: argparse.Namespace) -> int:
    """Compute, show a progress bar, print a table, write files."""
    brought = brought_table(given)
    experiment = experiment_of(given, brought)
    exact_alpha(given.alpha)
    probability(given.delta, "delta")
    check_side(given.side)
    files = chosen_files(given, KINDS)
    if brought is not None:
        say(before_lines(brought, experiment, given.side), sys.stderr)
    results, interrupted = computed(experiment, given)
    if results is None:
        return INTERRUPTED
    if results.problem:
        say([f"note: {results.problem}"], sys.stderr)
    say(summary_lines(results, given))
    latest = None if brought is None else latest_of(brought, results)
    say(latest_lines(latest, results, given.alpha, given.side))
    question = {name: getattr(given, name) for name in ("at_most", "margin")}
    asked = {name: value for name, value in question.items() if value is not None}
    asked |= {"delta": given.delta} if "at_most" in asked else {}
    data = None if brought is None else data_json(brought, experiment, given.side)
    source = None if brought is None else source_of(given, brought, latest)
    for kind, path in files.items():
        write(results, path, given.alpha, given.side, kind, data, source, **asked)
        say([f"wrote {path}"])
    return INTERRUPTED if interrupted else 0


def computed(experiment: Experiment, given: argparse.Namespace) -> tuple[Results | None, bool]:
    """All results, with a progress bar; or what is kept when Ctrl-C stopped them, and that it did.

    There are none where no trial is complete.
    """
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
    if interrupted:
        partial.close()  # what has arrived is stored, also what was not told of yet
        results = kept(experiment, given.trials, given.seed) or results
        done = 0 if results is None else len(results.trials)
        say(
            [f"stopped: {done} of {given.trials} trials are kept; the same command goes on."],
            sys.stderr,
        )
    return (results if results is not None and len(results.trials) else None), interrupted


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
    head = f"{experiment.variant} on {experiment.data.label}, {confidence(alpha)} confidence"
    head += "" if experiment.kind.symbolic else f", {side}"  # a set of symbols has no side
    head += f" (k = {experiment.sizes.k:,}, m = {experiment.sizes.m:,})"
    lines += [""] if lines else []
    lines += [head, *aligned(found), found.caption, *failed_lines(results)]
    within = group_bounds(results, alpha) if 0 in results.trials else ()
    if within:
        table = own_group_table(results, alpha)
        lines += ["", *aligned(table), table.caption]
    lines += [note] if (note := no_group_bounds(results)) else []
    told += within
    return lines + pairs + (["", *map(told_line, told)] if given.why and told else [])
