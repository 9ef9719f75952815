"""Results, or a file of losses, as strict JSON and as tidy files, for other programs."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cpp_core.catalog.loss_files import LossTable
from cpp_core.catalog.roles import Source
from cpp_core.checks import Level, exact_alpha
from cpp_core.trials.results import Results
from cpp_core.verdicts.answers import Answers, answers_from
from cpp_core.verdicts.language import confidence
from cpp_core.verdicts.verdict import Verdict
from cpp_core.version import __version__

MAX_NAME = 100
"""Letters of a file's name, at most."""

SHOWN, NOT_SHOWN, TOO_LITTLE = 0, 1, 3
"""Exit codes of ``check``, for scripts."""


PAIR_MEANS = {
    "lower_mean": "lower",
    "upper_mean": "upper",
    "mean_difference": "mean_difference",
    "wins": "wins",
    "ties": "ties",
    "new_difference_cover_rate": "new_difference_covered",
}
"""What is told about a pair, with the column whose mean over the trials it is."""


def strict(value: Any) -> Any:
    """The same with None for what JSON has no number for: an infinite end is null."""
    if isinstance(value, dict):
        return {name: strict(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [strict(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def file_name(*about: str, alpha: Level) -> str:
    """What a file is about, as the beginning of its name: letters, digits and hyphens.

    >>> file_name("Digits", "svm-lin", "svm-rbf", "log_loss", alpha=0.1)
    'digits-svm-lin-svm-rbf-log-loss-90'
    """
    words = [*about, confidence(alpha)]
    found = "-".join(re.findall(r"\w+", " ".join(words).replace("_", " ").lower()))
    return found[:MAX_NAME].rstrip("-")


def results_name(results: Results, alpha: Level) -> str:
    """The beginning of a file's name: data, algorithms, loss, question and confidence."""
    experiment = results.experiment
    loss = [] if experiment.kind.symbolic else [experiment.criterion.name]
    about = [experiment.data.label, *experiment.algorithms, *loss, experiment.variant]
    return file_name(*about, alpha=alpha)


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\n", "＝", "＋", "－", "＠")
"""How a text begins that a spreadsheet would execute; also in wide letters, which some read so."""


def harmless(value: Any) -> Any:
    """The same, but for a text that a spreadsheet would execute: that gets an apostrophe.

    >>> [harmless(value) for value in ("=1+1", "@x", "-1.5", -1.5, "a=b")]
    ["'=1+1", "'@x", '-1.5', -1.5, 'a=b']
    """
    if not isinstance(value, str):
        return value
    text = re.sub("\r\n?", "\n", value)  # a lone one is not quoted, and would begin a row
    if not text.startswith(FORMULA_STARTS) or _is_number(text):
        return text
    return f"'{text}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def harmless_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with no cell and no name that a spreadsheet would execute."""
    safe = frame.rename(columns=harmless)
    for i, kind in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            safe.isetitem(i, frame.iloc[:, i].astype(object).map(harmless).to_numpy())
    return safe


def csv_text(frame: pd.DataFrame) -> str:
    """A table as CSV, with no cell and no name that a spreadsheet would execute."""
    return harmless_frame(frame).to_csv(index=False)


def harmless_names(names: Sequence[Any]) -> list[str]:
    """Names of columns, none twice, that a spreadsheet would not execute.

    >>> harmless_names(["=1", "'=1", 2])
    ["'=1 (1)", "'=1 (2)", '2 (3)']
    >>> harmless_names(["=1", "yes"])
    ["'=1", 'yes']
    """
    found = [harmless(str(name)) for name in names]
    if len(set(found)) == len(found):
        return found
    return [f"{name} ({i})" for i, name in enumerate(found, 1)]


def told(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Verdicts as plain values: text, badge, what it assumes, facts and why."""
    names = ("text", "badge", "assumptions", "facts", "why")
    return [{name: getattr(verdict, name) for name in names} for verdict in verdicts]


def decision(answers: Answers | None) -> dict[str, Any] | None:
    """Which to use, as plain values; None where no algorithms compete."""
    choice = answers.choice if answers else None
    names = ("outcome", "use", "strength")
    return {name: getattr(choice, name) for name in names} if choice else None


def to_json(
    results: Results,
    alpha: Level,
    side: str = "two-sided",
    data: dict[str, Any] | None = None,
    **question: Any,
) -> dict[str, Any]:
    """What a run found at one alpha, as plain values; means are over the trials.

    Verdicts quote trial 0; while that is not there, their list is empty. ``data`` tells of a user's
    file, ``question`` is as in ``answers_from``.
    """
    symbolic = results.experiment.kind.symbolic
    paired = [
        {"first": first, "second": second}
        | {name: float(frame[column].mean()) for name, column in PAIR_MEANS.items()}
        for first, second in ([] if symbolic else combinations(results.algorithms, 2))
        for frame in [results.paired(first, second, alpha, side)]
    ]
    answers = answers_from(results, alpha, side, **question) if 0 in results.trials else None
    content = {
        "experiment": results.experiment.to_dict(),
        "alpha": float(exact_alpha(alpha)),
        "side": side,
        "trials": len(results.trials),
        "seed": results.seed,
        "version": __version__,
        "algorithms": results.summary(alpha, side),
        "paired": paired,
        "question": question,
        "decision": decision(answers),
        "verdicts": told(answers.all if answers else []),
    }
    return strict(content if data is None else content | {"data": data})


@contextmanager
def written(path: Path) -> Iterator[None]:
    """Tell in a sentence that a file cannot be written."""
    try:
        yield
    except OSError as error:
        said = error.strerror or " ".join(str(error).split())
        raise ValueError(f"{path} cannot be written ({said}); name another file.") from error


def save(path: Path, text: str) -> None:
    """Write a text file; ValueError where that cannot be done."""
    with written(path):
        path.write_text(text, encoding="utf-8")


def check_writable(path: Path) -> None:
    """ValueError where a file cannot be written; nothing of it is changed, and none is left."""
    with written(path):
        if path.is_dir():
            raise ValueError(f"{path} is a folder; name a file in it.")
        if not path.parent.is_dir():
            raise ValueError(f"The folder of {path} does not exist; make it first.")
        new = not path.exists()
        if new or path.is_file():  # a pipe would be opened twice
            path.open("ab").close()
        if new:
            path.unlink()


def write(
    results: Results,
    path: Path,
    alpha: Level,
    side: str,
    kind: str,
    data: dict[str, Any] | None = None,
    source: Source | None = None,
    **question: Any,
) -> None:
    """Write a json, csv, parquet or html file; csv and parquet have a row per trial and algorithm.

    The html file is the report; it and the json answer the question, as in ``answers_from``. The
    json also tells of a user's file, and the report of its ``source``.
    """
    if kind == "json":
        content = to_json(results, alpha, side, data, **question)
        save(path, json.dumps(content, indent=2, allow_nan=False, default=str) + "\n")
    elif kind == "html":
        from cpp_core.report.pages import report_html  # charts load slowly: only where drawn

        save(path, report_html(results, alpha, side, source=source, **question))
    elif kind == "csv":
        save(path, csv_text(results.at(alpha, side)))
    else:
        frame = results.at(alpha, side)
        with written(path):
            frame.to_parquet(path, index=False)


def exit_code(answers: Answers) -> int:
    """Not shown, or no bound below the top of the range, before too little data before shown."""
    outcomes = {verdict.facts["outcome"] for verdict in answers.answer}
    if outcomes & {"not shown", "top", "failed"}:
        return NOT_SHOWN
    return TOO_LITTLE if "too little data" in outcomes else SHOWN


def losses_json(table: LossTable, answers: Answers, question: dict[str, Any]) -> dict[str, Any]:
    """What was asked of which data and what was found, as plain values."""
    content = {
        "file": table.name,
        "sha256": table.sha256,
        "columns": list(table.columns),
        "cases": table.size,
        "notes": list(table.notes),
        "greater_is_better": table.greater_is_better,
        "unit": table.unit,
        **question,
        "version": __version__,
        "exit_code": exit_code(answers),
        "decision": decision(answers),
        "verdicts": told(answers.all),
    }
    return strict(content)
