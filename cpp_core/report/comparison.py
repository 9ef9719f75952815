"""``compare``: any estimators on one's own cases, one call, the decision first."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier, is_regressor

from cpp_core.catalog.algorithms import ALGORITHMS, Task
from cpp_core.catalog.checkups import checkups, warnings_of
from cpp_core.catalog.tables import Table, type_frame
from cpp_core.checks import Level, check_side, exact_alpha
from cpp_core.learners.cells import as_frame, has_columns
from cpp_core.method.training import FailedFitWarning, check_sample
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import Results
from cpp_core.trials.running import run
from cpp_core.trials.store import Store
from cpp_core.verdicts.about import about_results
from cpp_core.verdicts.decisions import decisions_from
from cpp_core.verdicts.failing import failed_lines
from cpp_core.verdicts.file_lines import asked_line, decision_line, pair_lines
from cpp_core.verdicts.strip import Strip, asked_strip
from cpp_core.verdicts.summary import figures_table

HEIGHT = 900
"""Pixels of a comparison in a notebook; the rest is scrolled to."""


@dataclass(frozen=True)
class Comparison:
    """Which algorithm to use, with what that rests on; it prints, and a notebook draws it.

    Attributes
    ----------
    results : Results
        All losses, at any alpha.
    decision : str
        ``use``, ``no difference``, ``depends`` or ``undecided``; empty where nothing competes.
    use : tuple of str
        Whom the decision names.
    strip : Strip
        The decision in words, with the figures behind it.
    notes : tuple of str
        Columns of X that no algorithm was given, and why.
    """

    results: Results
    alpha: Level = 0.1
    side: str = "upper"
    question: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def strip(self) -> Strip:
        """The headline, a sentence and cards, as the pages show them."""
        return asked_strip(self.results, self.alpha, self.side, **self.question)

    @property
    def decision(self) -> str:
        """The outcome in a word."""
        return "" if self.strip.choice is None else self.strip.choice.outcome

    @property
    def use(self) -> tuple[str, ...]:
        """Whom the decision names, as they were named."""
        chosen = () if self.strip.choice is None else self.strip.choice.use
        return tuple(ALGORITHMS[name].label for name in chosen)

    @property
    def table(self) -> pd.DataFrame:
        """The figures of each algorithm."""
        found = figures_table(self.results, self.alpha, self.side)
        return pd.DataFrame(found.rows, columns=list(found.head))

    def __str__(self) -> str:
        lines = [decision_line(self.strip, self.alpha)]
        decisions = decisions_from(self.results, self.alpha, self.question.get("at_most"))
        asked = asked_line(decisions, about_results(self.results))
        lines += [asked] if asked else []
        lines += ["", self.table.to_string(index=False)]
        lines += ["", *self.strip.failed] if self.strip.failed else []
        lines += ["", *pair_lines(self.strip)] if self.strip.choice else []
        lines += ["", *self.notes] if self.notes else []
        return "\n".join(lines)

    __repr__ = __str__

    def html(self) -> str:
        """One page with the decision and the picture, which needs no network."""
        from cpp_core.report.pages import report_html  # charts load slowly: only where drawn

        asked = {"sections": ("picture",), "note": " ".join(self.notes), **self.question}
        return report_html(self.results, self.alpha, self.side, **asked)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that it and the notebook keep their looks."""
        style = f"width:100%;height:{HEIGHT}px;border:0;background:#fff"
        return (
            f'<iframe title="Comparison" style="{style}" srcdoc="{escape(self.html())}"></iframe>'
        )


ROLES = ("group", "time", "id", "drop")
"""What may be said of the columns of X, as in ``Experiment.from_table``."""


def _table(X: Any, y: Any, task: Task | None, roles: Mapping[str, Any]) -> Table:
    """The cases understood, with their labels in a column that has no other's name."""
    rows, labels = check_sample(X, y)
    if labels is None or len(rows.shape) != 2:
        raise ValueError("compare needs X with a row, and y with a label, for each case.")
    frame = as_frame(rows) if has_columns(rows) else pd.DataFrame(np.asarray(rows))
    names = set(map(str, frame))
    target = next(n for n in ("y", *(f"y {i}" for i in range(len(names) + 1))) if n not in names)
    frame = frame.reset_index(drop=True).assign(**{target: labels})
    return type_frame(frame).table(target, task, **roles)


def compare(
    algorithms: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    loss: str | None = None,
    alpha: Level = 0.1,
    side: str = "upper",
    task: Task | None = None,
    trials: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    store: Store | None = None,
    at_most: float | None = None,
    margin: float | None = None,
    **settings: Any,
) -> Comparison:
    """Which of these estimators to use on cases like these, decided as everywhere here.

    Parameters
    ----------
    algorithms : mapping
        Untrained estimators by name, one to six. Mixed columns and missing values are encoded for
        them inside each training run (``TableEncoder``); a ``Pipeline`` that prepares its columns
        itself gets the same columns as they are.
    X, y : frame or array, array
        A row and a label for each case. Free text, names of the rows and empty columns are left
        out for all, which is printed; pandas columns of the type ``category`` never are.
    loss : str, optional
        A name in ``cpp_core.LOSSES``; by default log loss, or squared error.
    alpha, side, at_most, margin
        As in ``report_html``.
    task : "classification" or "regression", optional
        By default what the estimators do, else what y looks like.
    trials, seed, n_jobs, store
        As in ``run``. Of a class that may change unseen, as at a prompt, nothing is stored.
    settings
        As in ``Experiment.from_table``: ``drop=["x"]``, ``variant="z-free"``, ...

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> rivals = {"bayes": GaussianNB(), "guess": DummyClassifier()}
    >>> found = compare(rivals, *load_iris(return_X_y=True), loss="brier", trials=2, n_jobs=1)
    >>> found.decision, found.use
    ('use', ('bayes',))
    """
    exact_alpha(alpha)
    check_side(side)
    roles = {name: settings.pop(name) for name in ROLES if name in settings}
    table = _table(X, y, task or _task(algorithms), roles)
    experiment = Experiment.on(table, "Your data", algorithms=algorithms, loss=loss, **settings)
    kept = all(ALGORITHMS[name].kept for name in experiment.algorithms)
    results = run(experiment, trials, seed, n_jobs, store=store if kept else Store(None))
    _tell_failed(results)
    notes = (*table.left_out, *warnings_of(checkups(table)))
    return Comparison(results, alpha, side, _said(at_most=at_most, margin=margin), notes)


def _said(**question: float | None) -> dict[str, float]:
    """What was asked, without what was not."""
    return {name: own for name, own in question.items() if own is not None}


def _task(algorithms: Mapping[str, Any]) -> Task | None:
    """What all estimators do, where they agree."""
    if not algorithms:
        raise ValueError("No algorithms were given; give estimators by name, one to six.")
    if all(map(is_classifier, algorithms.values())):
        return "classification"
    return "regression" if all(map(is_regressor, algorithms.values())) else None


def _tell_failed(results: Results) -> None:
    """Warn the caller of ``compare`` of training runs that failed."""
    if failed := failed_lines(results):
        warnings.warn("\n".join(failed), FailedFitWarning, stacklevel=3)
