"""What reproduces a report: versions, hashes, lines of Python, the command."""

import hashlib
import math
import platform
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cpp_core.catalog.datasets import array_bytes
from cpp_core.catalog.loss_files import LossTable
from cpp_core.catalog.presets import PRESETS
from cpp_core.checks import Level, exact_alpha
from cpp_core.report import SECTIONS
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.verdicts.language import typed
from cpp_core.version import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "plotly")
COMMAND_FIELDS = (
    *("dataset", "algorithms", "loss", "variant", "regressor", "n"),
    *("n_sets", "n_evaluations", "batch_size", "test_size"),
)
"""What of an experiment the command line can say."""

ASKED_OF_RUNS = {"at_most", "delta", "margin"}
"""What of a question the command line can say."""

NO_COMMAND = "The command line cannot say all of these settings; use Python."


def versions() -> str:
    """The versions that computed the numbers."""
    found = [f"cpp_core {__version__}", f"Python {platform.python_version()}"]
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    return ", ".join(found)


def losses_digest(results: Results) -> str:
    """A hash of all calibration and test losses, by which two runs are told to be the same."""
    content = hashlib.sha256()
    for name in results.algorithms:
        content.update(name.encode())
        for kind in ("calibration", "test"):
            content.update(results.arrays[name][kind].tobytes())
    return content.hexdigest()


def table_digest(experiment: Experiment) -> str:
    """A hash of the cases of a finite table, inputs then labels."""
    content = hashlib.sha256()
    for array in experiment.data.table or ():
        content.update(array_bytes(array))
    return content.hexdigest()


def _script(
    imported: str, made: Sequence[str], function: str, about: str, settings: dict[str, Any]
) -> str:
    """Lines that make what a report is about and write it; settings that are usual are not said."""
    usual = {"title": "", "note": "", "sections": tuple(SECTIONS), "audience": "decision-maker"}
    given = [f"{name}={value!r}" for name, value in settings.items() if usual.get(name) != value]
    lines = ["from pathlib import Path", f"from cpp_core import {imported}"]
    lines += [f"from cpp_core.report import {function}", *made]
    lines += [f"page = {function}({', '.join([about, *given])})"]
    return "\n".join([*lines, 'Path("report.html").write_text(page, encoding="utf-8")'])


def _options(values: Mapping[str, Any]) -> list[str]:
    """Words of a command, such as ``--at-most=0.5``."""
    return [f"--{name.replace('_', '-')}={typed(value)}" for name, value in values.items()]


def python_lines(
    results: Results, alpha: Level, side: str, settings: dict[str, Any] | None = None
) -> str:
    """The lines of Python that give the same numbers and the same report."""
    experiment = results.experiment
    preset = next((name for name in PRESETS if Experiment.preset(name) == experiment), None)
    described = {k: v for k, v in experiment.to_dict().items() if v not in (None, {}, [])}
    made = f"Experiment.preset({preset!r})" if preset else f"Experiment.from_dict({described!r})"
    given = {"alpha": float(exact_alpha(alpha)), "side": side, **(settings or {})}
    own = experiment.data.own
    lines = [
        *(["# First add_table(X, y, task) with the same table: its name is a digest."] * own),
        f"experiment = {made}",
        f"results = run(experiment, trials={len(results.trials)}, seed={results.seed})",
    ]
    imported = "Experiment, add_table, run" if own else "Experiment, run"
    return _script(imported, lines, "report_html", "results", given)


def command_line(
    experiment: Experiment,
    trials: int,
    seed: int,
    alpha: Level,
    side: str,
    question: Mapping[str, float] | None = None,
) -> str | None:
    """The command that gives the same numbers, None where the command line cannot say it."""
    ways = []
    values = {name: getattr(experiment, name) for name in COMMAND_FIELDS}
    known_runs = {name: preset.settings for name, preset in PRESETS.items()}
    for preset, fields in [*known_runs.items(), ("", {})]:
        known = {"n_evaluations": 1, **fields}
        said = {k: v for k, v in values.items() if v is not None and v != known.get(k)}
        try:
            same = Experiment(**{**fields, **said}) == experiment
        except ValueError:  # a change that this preset cannot take
            same = False
        if same:
            ways.append((["--preset", preset] if preset else [], said))
    asked = dict(question or {})
    if not ways or experiment.data.own or not set(asked) <= ASKED_OF_RUNS:
        return None
    start, said = min(ways, key=lambda way: len(way[1]))
    words = ["python", "-m", "cpp_core", "run", *start]
    for name, value in said.items():
        listed = value if isinstance(value, tuple) else (value,)
        words += [f"--{name.replace('_', '-')}", *map(str, listed)]
    words += ["--trials", str(trials), "--seed", str(seed)]
    words += ["--alpha", typed(float(exact_alpha(alpha))), "--side", side]
    return shlex.join([*words, *_options(asked), "--html", "report.html"])


def asked_of(alpha: Level, question: dict[str, Any]) -> dict[str, Any]:
    """What was asked about a file of losses, without what was left open."""
    found = {"alpha": float(exact_alpha(alpha))} | {
        name: value
        for name, value in question.items()
        if value is not None and not (isinstance(value, float) and math.isinf(value))
    }
    if not {"at_most", "at_least"} & set(found):
        found.pop("delta", None)
    return found


def losses_python_lines(
    table: LossTable, asked: dict[str, Any], settings: dict[str, Any] | None = None
) -> str:
    """The lines of Python that give the same report of a file of losses."""
    told = _named(table) | {"greater_is_better": table.greater_is_better}
    named = "".join(f", {name}={value!r}" for name, value in told.items())
    read = f"table = read_losses({table.name!r}, {list(table.columns)!r}{named})"
    return _script("read_losses", [read], "losses_report_html", "table", asked | (settings or {}))


def losses_command_line(table: LossTable, asked: dict[str, Any]) -> str:
    """The command that gives the same numbers from a file of losses."""
    words = ["python", "-m", "cpp_core", "check", table.name]
    words += [f"--column={name}" for name in table.columns]
    words += [f"--{name}={column}" for name, column in _named(table).items()]
    words += [f"--{'greater' if table.greater_is_better else 'smaller'}-is-better"]
    return shlex.join([*words, *_options(asked), "--html", "report.html"])


def _named(table: LossTable) -> dict[str, str]:
    """The columns that name cases and groups, where there are any."""
    columns = {"case": table.case, "group": table.group}
    return {name: column for name, column in columns.items() if column is not None}
