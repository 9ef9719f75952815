"""Results as strict JSON and as tidy files, for other programs."""

import json
import math
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import cpp_core
from cpp_core.answers import answers_from
from cpp_core.ranks import Level, exact_alpha
from cpp_core.results import Results
from cpp_core.sentences import Verdict


def strict(value: Any) -> Any:
    """The same with None for what JSON has no number for: an infinite end is null."""
    if isinstance(value, dict):
        return {name: strict(v) for name, v in value.items()}
    if isinstance(value, list | tuple):
        return [strict(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def told(verdicts: Iterable[Verdict]) -> list[dict[str, Any]]:
    """Verdicts as plain values: text, badge, what it assumes, facts and why."""
    names = ("text", "badge", "assumptions", "facts", "why")
    return [{name: getattr(verdict, name) for name in names} for verdict in verdicts]


def to_json(results: Results, alpha: Level, side: str = "two-sided") -> dict[str, Any]:
    """What a run found at one alpha, as plain values; means are over the trials.

    Verdicts quote trial 0; while that is not there, their list is empty.
    """
    symbolic = results.experiment.variant == "symbolic"
    pairs = [] if symbolic else list(combinations(results.algorithms, 2))
    paired = []
    for first, second in pairs:
        frame = results.paired(first, second, alpha, side)
        paired.append(
            {
                "first": first,
                "second": second,
                "lower_mean": float(frame["lower"].mean()),
                "upper_mean": float(frame["upper"].mean()),
                "mean_difference": float(frame["mean_difference"].mean()),
                "wins": float(frame["wins"].mean()),
                "ties": float(frame["ties"].mean()),
                "new_difference_cover_rate": float(frame["new_difference_covered"].mean()),
            }
        )
    content = {
        "experiment": results.experiment.to_dict(),
        "alpha": float(exact_alpha(alpha)),
        "side": side,
        "trials": len(results.trials),
        "seed": results.seed,
        "version": cpp_core.__version__,
        "algorithms": results.summary(alpha, side),
        "paired": paired,
        "verdicts": told(answers_from(results, alpha, side).all if 0 in results.trials else ()),
    }
    return strict(content)


def write(results: Results, path: Path, alpha: Level, side: str, kind: str) -> None:
    """Write a json, csv, parquet or html file; csv and parquet have a row per trial and algorithm.

    The html file is the report.
    """
    if kind == "json":
        text = json.dumps(to_json(results, alpha, side), indent=2, allow_nan=False, default=str)
        path.write_text(text + "\n", encoding="utf-8")
    elif kind == "html":
        from cpp_core.report import report_html  # charts load slowly: only where they are drawn

        path.write_text(report_html(results, alpha, side), encoding="utf-8")
    elif kind == "csv":
        results.at(alpha, side).to_csv(path, index=False)
    else:
        results.at(alpha, side).to_parquet(path, index=False)
