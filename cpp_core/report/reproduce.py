"""What reproduces a report: versions, hashes, lines of Python, the command."""

import hashlib
import math
import platform
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.datasets import array_bytes
from cpp_core.catalog.loss_files import LossTable
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.roles import Source
from cpp_core.catalog.settings import LOSS_SETTINGS
from cpp_core.checks import Level, exact_alpha
from cpp_core.method.splits import HALF
from cpp_core.report import SECTIONS
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.verdicts.language import typed
from cpp_core.version import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "plotly")
COMMAND_FIELDS = (
    *("dataset", "algorithms", "loss", "variant", "regressor", "n"),
    *("n_sets", "n_evaluations", "batch_size", "test_size", "calibration_share"),
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


def _source_options(source: Source) -> list[str]:
    """Words of a command that read a user's table as it was read."""
    roles, how = source.roles, dict(source.how)
    said = {"target": roles.target, "task": roles.task, "group": roles.group, "time": roles.time}
    said |= {"id": roles.id, "decimal": how.get("decimal"), "sheet": how.get("sheet")}
    words = ["--data", source.file]
    for name, value in said.items():
        words += [] if value is None else [f"--{name}={value}"]
    words += ["--drop", *roles.drop] if roles.drop else []
    days = {True: ["--day-first"], False: ["--month-first"], None: []}
    return words + days[how.get("day_first")]


def _source_lines(experiment: Experiment, source: Source) -> list[str]:
    """Lines of Python that read a user's table, and make the experiment on it."""
    roles = {name: value for name, value in source.roles._asdict().items() if value}
    described = {k: v for k, v in experiment.to_dict().items() if v not in (None, {}, [])}
    described.pop("dataset")
    how = "".join(f", {name}={value!r}" for name, value in source.how)
    told = ", ".join(f"{name}={value!r}" for name, value in (roles | described).items())
    return [
        f"frame = read_frame({source.file!r}{how}).frame",
        f"experiment = Experiment.from_table(frame, {told})",
    ]


def python_lines(
    results: Results,
    alpha: Level,
    side: str,
    settings: dict[str, Any] | None = None,
    source: Source | None = None,
) -> str:
    """The lines of Python that give the same numbers and the same report; ``source`` is the file
    of a user's table."""
    experiment = results.experiment
    preset = next((name for name in PRESETS if Experiment.preset(name) == experiment), None)
    hidden = "columns" not in (settings or {}).get("sections", SECTIONS)
    content = experiment.without_cells() if hidden else experiment.to_dict()
    described = {k: v for k, v in content.items() if v not in (None, {}, [])}
    made = f"Experiment.preset({preset!r})" if preset else f"Experiment.from_dict({described!r})"
    given = {"alpha": float(exact_alpha(alpha)), "side": side, **(settings or {})}
    own, imported = experiment.data.own, "Experiment, run"
    lines = [f"experiment = {made}"]
    if own and source is not None:
        lines = ["from cpp_core.catalog.files import read_frame"]
        lines += ["from cpp_core.catalog.roles import Roles, Source"]
        lines += _source_lines(experiment, source)
        given["source"] = source
    elif own:
        lines.insert(0, "# First add_table(X, y, task) with the same table: its name is a digest.")
        if content != experiment.to_dict():
            lines.insert(1, "# Then say costs and the positive class, which quote its labels.")
        imported = "Experiment, add_table, run"
    lines.append(f"results = run(experiment, trials={len(results.trials)}, seed={results.seed})")
    return _script(imported, lines, "report_html", "results", given)


def setting_words(experiment: Experiment) -> list[str] | None:
    """Settings of the loss and of algorithms as options; None where there are no such options."""
    words = []
    for name, value in experiment.loss_settings:
        if name == "costs":
            for true, row in value:
                for predicted, cost in row:
                    words += ["--cost", true, predicted, typed(cost)]
        elif name in LOSS_SETTINGS and LOSS_SETTINGS[name].help:
            words += [f"--{name}", value if isinstance(value, str) else typed(value)]
        else:
            return None
    for algorithm, settings in experiment.algorithm_settings:
        words += [
            word for name, value in settings for word in ("--set", f"{algorithm}.{name}={value}")
        ]
    return words


def command_line(
    experiment: Experiment,
    trials: int,
    seed: int,
    alpha: Level,
    side: str,
    question: Mapping[str, float] | None = None,
    source: Source | None = None,
) -> str | None:
    """The command that gives the same numbers, None where the command line cannot say it.

    ``source`` is the file of a user's table, without which there is none.
    """
    ways = []
    settings = {"loss_settings": experiment.loss_settings}
    settings |= {"algorithm_settings": experiment.algorithm_settings}
    values = {name: getattr(experiment, name) for name in COMMAND_FIELDS}
    known_runs = {name: preset.settings for name, preset in PRESETS.items()}
    for preset, fields in [*known_runs.items(), ("", {})]:
        known = {"n_evaluations": 1, "calibration_share": HALF, **fields}
        if experiment.loss_settings:  # which are said of a loss that is named
            known.pop("loss", None)
        said = {k: v for k, v in values.items() if v is not None and v != known.get(k)}
        try:
            same = Experiment(**{**fields, **said, **settings}) == experiment
        except ValueError:  # a change that this preset cannot take
            same = False
        if same:
            ways.append((["--preset", preset] if preset else [], said))
    asked = dict(question or {})
    told, brought = setting_words(experiment), experiment.data.own
    unsaid = brought and (source is None or any(ALGORITHMS[n].own for n in experiment.algorithms))
    if told is None or not ways or unsaid or not set(asked) <= ASKED_OF_RUNS:
        return None
    start, said = min(ways[-1:] if brought else ways, key=lambda way: len(way[1]))
    if brought and source is not None:
        start = _source_options(source)
        said.pop("dataset")
    words = ["python", "-m", "cpp_core", "run", *start]
    for name, value in said.items():
        listed = value if isinstance(value, tuple) else (value,)
        words += [f"--{name.replace('_', '-')}", *map(str, listed)]
    words += told
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
    told: dict[str, Any] = _named(table) | {"greater_is_better": table.greater_is_better}
    told |= {"unit": table.unit} if table.unit else {}
    named = "".join(f", {name}={value!r}" for name, value in told.items())
    read = f"table = read_losses({table.name!r}, {list(table.columns)!r}{named})"
    return _script("read_losses", [read], "losses_report_html", "table", asked | (settings or {}))


def losses_command_line(table: LossTable, asked: dict[str, Any]) -> str:
    """The command that gives the same numbers from a file of losses."""
    words = ["python", "-m", "cpp_core", "check", table.name]
    words += [f"--column={name}" for name in table.columns]
    words += [f"--{name}={column}" for name, column in _named(table).items()]
    words += [f"--{'greater' if table.greater_is_better else 'smaller'}-is-better"]
    words += [f"--unit={table.unit}"] if table.unit else []
    return shlex.join([*words, *_options(asked), "--html", "report.html"])


def _named(table: LossTable) -> dict[str, str]:
    """The columns that name cases and groups, where there are any."""
    columns = {"case": table.case, "group": table.group}
    return {name: column for name, column in columns.items() if column is not None}
