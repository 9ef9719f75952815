"""A user's table, understood: which column is the target, which are inputs, what was left out.

Typed once (``type_frame``), then read as often as the choice of a target or of columns changes
(``Typed.table``). Nothing here learns from the values: a row's numbers do not depend on the others,
but for the order of a category's codes.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import Task
from cpp_core.catalog.columns import USED, WHY_LEFT_OUT, Column, Kind, type_column, unique_names
from cpp_core.catalog.datasets import Dataset, add_table
from cpp_core.catalog.times import moments
from cpp_core.checks import lookup
from cpp_core.learners.cells import as_frame, has_columns

TARGET_NAMES = (
    *("target", "label", "y", "class", "outcome", "response", "diagnosis", "species", "price"),
    *("survived", "default", "churn", "quality", "medv", "income"),
)
"""Names that a target often has, the likeliest first."""

MOST_CLASSES = 10
"""Whole numbers with at most this many distinct values are taken for classes."""

KIND_WORDS: dict[Kind, str] = {
    "number": "number",
    "boolean": "truth value",
    "date": "date",
    "category": "category",
    "constant": "constant",
}
PLURALS = {"category": "categories"}


@dataclass(frozen=True, eq=False)
class Table:
    """Cases to learn from: inputs and target, with what was understood.

    Attributes
    ----------
    X, y : arrays
        The inputs (n, p) as float64, categories as codes, missing values as NaN; the target.
    inputs : tuple of Column
        What the columns of X hold.
    task : "classification" or "regression"
    target : str
    groups, times, ids : Series or None
        The values of the columns that were named so, of the rows that are kept.
    rows : DataFrame
        All rows and columns as they were given; ``kept`` says which rows have a target.
    dropped : int
        Rows without a target, which are left out.
    notes : tuple of str
        What was understood, in sentences.
    left_out : tuple of str
        Of these, what was left out though nobody said so.
    """

    X: NDArray[np.float64]
    y: NDArray
    inputs: tuple[Column, ...]
    task: Task
    target: str
    groups: pd.Series | None
    times: pd.Series | None
    ids: pd.Series | None
    rows: pd.DataFrame
    kept: NDArray[np.bool_]
    dropped: int
    notes: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """The same rows and inputs as they were given: a copy, made when it is asked for."""
        names = [own.name for own in self.inputs]
        return self.rows[names][self.kept].reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class Typed:
    """The columns of a frame, each typed once; ``values`` has them as numbers."""

    frame: pd.DataFrame
    columns: dict[str, Column]
    values: dict[str, NDArray[np.float64]]

    def guess_target(self) -> str:
        """The column that is most likely to be predicted: by its name, else the last that can."""
        possible = [own.name for own in self.columns.values() if own.kind in USED]
        possible = [name for name in possible if self.columns[name].distinct > 1]
        if not possible:
            raise ValueError(
                "No column can be a target: one with numbers or categories that differ is needed."
            )
        by_name = {name.strip().lower(): name for name in reversed(possible)}
        found = next((by_name[name] for name in TARGET_NAMES if name in by_name), None)
        no_date = [name for name in possible if self.columns[name].kind != "date"]
        return found or (no_date or possible)[-1]

    def guess_task(self, target: str) -> Task:
        """Classification for words, truth values, two values, or few whole numbers."""
        own = lookup(target, self.columns, "column")
        if own.words or own.kind == "boolean" or own.distinct == 2:
            return "classification"
        n = len(self.frame) - own.missing
        few = own.whole and own.distinct <= min(MOST_CLASSES, n // 3) and own.kind == "number"
        return "classification" if few else "regression"

    def table(
        self,
        target: str | None = None,
        task: Task | None = None,
        *,
        group: str | None = None,
        time: str | None = None,
        id: str | None = None,
        drop: Iterable[str] = (),
    ) -> Table:
        """The cases with a target, and all inputs but those left out.

        ``time`` and ``id`` are no inputs: they say when a row was taken, and of whom. ``group`` is
        one unless it is dropped.
        """
        target = self.guess_target() if target is None else target
        named = {"target": target, "group": group, "time": time, "id": id}
        dropped = list(drop)
        for name in [*filter(None, named.values()), *dropped]:
            lookup(name, self.columns, "column")
        if target in dropped or target in (group, time, id):
            raise ValueError(f"{target!r} is the target and cannot be {_other(target, named)}.")
        if time is not None:
            moments(self.frame[time])  # refuses words whose order is not known
        task = self.guess_task(target) if task is None else task
        y = self._labels(target, task)
        kept = ~pd.isna(y)
        without = {target, time, id, *dropped}
        inputs = [own for own in self.columns.values() if own.name not in without]
        inputs = [own for own in inputs if own.kind in USED]
        if not inputs:
            raise ValueError(self._nothing_left(target, without))
        X = np.column_stack([self.values[own.name][kept] for own in inputs])
        y = _checked(y[kept], target, task)

        def of(name: str | None) -> pd.Series | None:
            return None if name is None else self.frame[name][kept].reset_index(drop=True)

        left_out = self.left_out(without)
        return Table(
            *(X, y, tuple(inputs), task, target),
            *(of(group), of(time), of(id)),
            rows=self.frame,
            kept=np.asarray(kept),
            dropped=int((~kept).sum()),
            notes=tuple(self._notes(X, y, inputs, task, target, left_out, int((~kept).sum()))),
            left_out=left_out,
        )

    def left_out(self, without: Collection[str | None] = ()) -> tuple[str, ...]:
        """Which columns cannot be inputs, and why, but for those that somebody spoke of."""
        others = [own for own in self.columns.values() if own.name not in without]
        by_kind = {
            why: ", ".join(_with_odd(own) for own in others if own.kind == kind)
            for kind, why in WHY_LEFT_OUT.items()
        }
        return tuple(f"Left out, {why}: {names}." for why, names in by_kind.items() if names)

    def _labels(self, target: str, task: Task) -> NDArray:
        """The target of every row, missing ones as NaN or None."""
        own, values = self.columns[target], self.values[target]
        too_many = own.distinct > (len(values) - own.missing) / 2
        if own.odd and (task == "regression" or too_many):
            raise ValueError(
                f"The target {target!r} holds numbers, but for {own.odd}; correct or empty these "
                "cells, or choose another column."
            )
        if task == "regression":
            if own.words:
                raise ValueError(
                    f"The target {target!r} holds words, which a regression cannot predict; "
                    "choose a classification, or a column of numbers."
                )
            return values
        if own.kind == "date":
            raise ValueError(
                f"The target {target!r} holds dates, which are no classes; choose a regression, "
                "or another column."
            )
        known = ~np.isnan(values)
        labels = np.full(len(values), None, dtype=object)
        if own.words:
            texts = self.frame[target][known].map(str)
            labels[known] = texts.to_numpy(dtype=object)
        elif self.frame[target].dtype.kind in "iu":  # a float cannot tell the greatest apart
            labels[known] = self.frame[target][known].to_numpy(dtype=object)
        else:
            cast: Any = bool if own.kind == "boolean" else int if own.whole else float
            labels[known] = values[known].astype(cast)
        return labels

    def _nothing_left(self, target: str, without: set[str | None]) -> str:
        """Why there is no input, and what to do."""
        others = [own for own in self.columns.values() if own.name not in without]
        if not others:
            return f"No column is left to predict {target!r} from; leave out fewer columns."
        whys = [f"numbers, but for {o.odd}" if o.odd else WHY_LEFT_OUT[o.kind] for o in others]
        pairs = zip(others[:3], whys, strict=False)
        why = ", ".join(f"{own.name!r} ({reason})" for own, reason in pairs)
        more = f" and {len(others) - 3:,} more" if len(others) > 3 else ""
        return (
            f"No column is left to predict {target!r} from, because {why}{more} cannot be an "
            "input; numbers, dates or categories are needed."
        )

    def _notes(
        self,
        X: NDArray,
        y: NDArray,
        inputs: Sequence[Column],
        task: Task,
        target: str,
        left_out: Sequence[str],
        n_dropped: int,
    ) -> list[str]:
        """What was understood, the most important first."""
        kinds = Counter(own.kind for own in inputs)
        listed = ", ".join(
            _counted(kinds[kind], word) for kind, word in KIND_WORDS.items() if kinds[kind]
        )
        notes = [f"{len(y):,} rows, {_counted(len(inputs), 'input')}: {listed}."]
        of = f"{len(np.unique(y))} classes" if task == "classification" else "a number"
        notes.append(f"The target is {target!r}: {of} ({task}).")
        if n_dropped:
            notes.append(f"{_counted(n_dropped, 'row')} without a target left out.")
        notes += left_out
        missing = int(np.isnan(X).sum())
        if missing:
            gaps = int(np.isnan(X).any(axis=0).sum())
            notes.append(f"{_counted(missing, 'value')} missing, in {_counted(gaps, 'input')}.")
        infinite = sum(own.infinite for own in inputs)
        notes += [f"{_counted(infinite, 'infinite value')} taken for missing."] if infinite else []
        return notes


def type_frame(frame: Any) -> Typed:
    """Type every column of a pandas or polars frame, or of an array."""
    if isinstance(frame, str | bytes | PurePath):
        raise ValueError(
            "A frame is needed, but text or a path was given; read the file first, for example "
            "with cpp_core.catalog.files.read_frame(path).frame."
        )
    frame = as_frame(frame) if has_columns(frame) else pd.DataFrame(np.asarray(frame))
    if not len(frame) or not frame.shape[1]:
        raise ValueError(
            f"The table has {len(frame)} rows and {frame.shape[1]} columns; a row for each case, "
            "a target and at least one input are needed."
        )
    named = frame.set_axis(unique_names(frame.columns), axis=1).reset_index(drop=True)
    found = {name: type_column(name, named[name]) for name in named}
    columns = {str(name): column for name, (column, _) in found.items()}
    return Typed(named, columns, {str(name): values for name, (_, values) in found.items()})


def dataset_of(table: Table, label: str = "Your table", prepared: bool = False) -> Dataset:
    """The table as data to draw from; as it was given too, where an algorithm prepares columns."""
    about: dict[str, Any] = {"frame": table.frame} if prepared else {}
    given = table.X, table.y, table.task, label, table.inputs
    return add_table(*given, groups=table.groups, **about)


def _checked(labels: NDArray, target: str, task: Task) -> NDArray:
    """The target of the rows that have one, in its own type; refused where it cannot be learned."""
    if not len(labels):
        raise ValueError(f"The target {target!r} has no values; choose another column.")
    y = np.array(labels.tolist())  # text, whole numbers, numbers or truth values
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"The target {target!r} is {_shown(classes[0])} in every row: there is nothing to "
            "predict; choose another column."
        )
    if task == "classification" and len(classes) > len(y) / 2:
        raise ValueError(
            f"The target {target!r} has {len(classes)} distinct values in {len(y)} rows, too many "
            "for classes; choose a regression, or another column."
        )
    return y


def _with_odd(own: Column) -> str:
    return repr(own.name) + (f" (numbers, but for {own.odd})" if own.odd else "")


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _other(target: str, named: dict[str, str | None]) -> str:
    roles = [role for role, name in named.items() if name == target and role != "target"]
    return f"the {roles[0]} column too" if roles else "left out too"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun if n == 1 else PLURALS.get(noun, noun + 's')}"
