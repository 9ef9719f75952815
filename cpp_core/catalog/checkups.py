"""What to look at in a user's table before anything runs: findings with stable codes.

Pure functions of a typed table, in linear time (sorting is done on a sample). A finding says what
was seen; ``CODES`` says for each code why it matters and what to do. docs/checks.md has them all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.catalog.tables import Table
from cpp_core.catalog.times import moments

Severity = Literal["stop", "look", "note"]
"""Whether the numbers would mislead, may mislead, or are merely told."""

SAMPLE = 20_000
"""Rows on which a feature is compared with the target, before all are."""
TINY, MOST = 10, 0.9
"""A class with fewer cases is tiny; one with a greater share of the cases outweighs the others."""
FAR = 10.0
"""So many times the middle half's width from the median, a target is far out."""


class Code(NamedTuple):
    """Why a finding matters, and what to do about it."""

    title: str
    severity: Severity
    why: str
    todo: str


CODES: dict[str, Code] = {
    "D1": Code(
        "Duplicate rows",
        "look",
        "A copy of a training row among the calibration rows makes losses look too small.",
        "Leave copies out, unless new cases repeat as often.",
    ),
    "D2": Code(
        "Repeated ids",
        "look",
        "Rows of one id resemble each other, and random splits put them on both sides.",
        "Keep one row of each id, or read the promise as one about the same ids.",
    ),
    "D3": Code(
        "Cases in groups",
        "look",
        "Rows of one group resemble each other: the promise is about new rows of these groups.",
        "Read the bounds within each group; a new case of any other group has no bound here.",
    ),
    "T1": Code(
        "Rows sorted by the target",
        "note",
        "Random splits make the order harmless, unless new rows come in another order.",
        "There is nothing to do if new cases are drawn like all of these.",
    ),
    "T2": Code(
        "A date column",
        "look",
        "Random splits hide drift: they train on the future.",
        "Name it as the time, hold out the latest quarter too, and compare.",
    ),
    "C1": Code(
        "A constant column",
        "note",
        "It holds one value and cannot help.",
        "Leave it out, or ignore it.",
    ),
    "L1": Code(
        "A column that gives the target away",
        "stop",
        "It determines the target; often it is known only after the target is.",
        "Leave it out if it is not known when you predict.",
    ),
    "K1": Code(
        "Tiny classes",
        "look",
        "Small training samples will not see them, and their losses are large.",
        "Join rare classes, or leave them out.",
    ),
    "K2": Code(
        "One class outweighs the others",
        "look",
        "A model that always says the frequent class is seldom wrong.",
        "Choose the log loss or a cost of errors, and look at each class.",
    ),
    "H1": Code(
        "Far-out targets",
        "look",
        "A few values decide averages of squared errors; ranks stay valid.",
        "Prefer the absolute error, and the share of wins.",
    ),
    "M1": Code(
        "Missing values",
        "note",
        "Each training run fills them in from the rows that it is trained on, and from no others.",
        "There is nothing to do if new cases have gaps in the same way.",
    ),
    "M2": Code(
        "Rows without a target",
        "note",
        "They cannot be learned from or judged at, and were left out.",
        "Check that they are not missing for a reason.",
    ),
    "N1": Code(
        "Numbers with words among them",
        "look",
        "The column is read as categories: that its values have an order is not known.",
        "Correct or empty these cells if it is meant as numbers.",
    ),
    "S1": Code(
        "Enough rows for which confidence",
        "note",
        "A bound at a confidence needs a certain number of calibration cases.",
        "Ask for less confidence, or bring more rows.",
    ),
}
"""All codes; they never change their meaning."""

HOLD_OUT = "Hold out the latest quarter too, and compare."
"""What is left to do about dates once a column is named as the time."""

QUOTING = ("K1", "K2", "N1")
"""Codes whose findings quote cells, as classes or words."""


@dataclass(frozen=True)
class Finding:
    """What was seen, under the code that says why it matters; nothing is to be done where fine.

    ``left`` is what is left to do where a part of what the code asks for is done.
    """

    code: str
    text: str
    fine: bool = False
    left: str = ""

    @property
    def about(self) -> Code:
        """Why it matters, and what to do."""
        return CODES[self.code]

    @property
    def todo(self) -> str:
        """What to do about it here."""
        return self.left or self.about.todo


def checkups(table: Table) -> tuple[Finding, ...]:
    """All findings about a table, those that mislead first."""
    found = [finding for check in CHECKS for finding in check(table)]
    order = {"stop": 0, "look": 1, "note": 2}
    return tuple(sorted(found, key=lambda finding: order[finding.about.severity]))


def still_open(found: Iterable[Finding], table: Table, held_out: bool) -> list[Finding]:
    """Findings without the one about dates, where the latest rows are held out and all have one."""
    when = np.array([np.nan]) if table.times is None else moments(table.times)
    timed = not np.isnan(when).any() and bool((when != when[0]).any())
    return [own for own in found if not (held_out and timed and own.code == "T2")]


def warnings_of(found: Iterable[Finding]) -> tuple[str, ...]:
    """What may mislead, each with the reason, for whoever sees the result alone.

    No cell of the table is among it: where a finding quotes one, the title of its check stands.
    """
    heavy = [own for own in found if own.about.severity != "note"]
    return tuple(
        f"{f'{own.about.title}.' if own.code in QUOTING else own.text} {own.about.why}"
        for own in heavy
    )


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _named(names: list[str], most: int = 3) -> str:
    shown = [f"“{name}”" for name in names[:most]]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown) + more


def _codes(y: NDArray) -> NDArray:
    """The labels as numbers; whole ones by their places, as the greatest are no floats."""
    return y if y.dtype.kind == "f" else pd.factorize(y, sort=True)[0].astype(np.float64)


def _hashes(table: Table) -> NDArray[np.uint64]:
    """One number for each row, the same for the same inputs and target."""
    total = np.zeros(len(table.y), dtype=np.uint64)
    for column in (*table.X.T, _codes(table.y)):
        values = np.where(np.isnan(column), np.nan, column + 0.0)  # one NaN, one zero
        total = (total ^ pd.util.hash_array(values)) * np.uint64(0x9E3779B97F4A7C15)
    return total


def _duplicates(table: Table) -> Iterator[Finding]:
    hashes = pd.Series(_hashes(table))
    n = int(hashes.duplicated().sum())
    if not n:
        return
    repeat = f"{_counted(n, 'row')} repeat{'s' if n == 1 else ''} an earlier one"
    text = f"{repeat} in every input and the target."
    others = [own for own in (table.ids, table.times) if own is not None]
    whole = pd.concat([hashes, *others], axis=1) if others else hashes
    apart = n - int(whole.duplicated().sum())
    if apart:
        names = _named([str(own.name) for own in others])
        verb, other = ("differs", "another case") if apart == 1 else ("differ", "other cases")
        text += f" {apart:,} of them {verb} in {names}: perhaps {other}, and no copy."
    yield Finding("D1", text)


def _repeated(table: Table) -> Iterator[Finding]:
    for code, values in (("D2", table.ids), ("D3", table.groups)):
        if values is None:
            continue
        known = values.dropna()
        repeated = int(known.duplicated().sum())
        if repeated:
            what = f"{_counted(int(known.nunique()), 'value')} of “{values.name}”"
            yield Finding(code, f"{what} stand in {len(known):,} rows.")


def _order(table: Table) -> Iterator[Finding]:
    codes = _codes(table.y)
    changes = np.diff(codes)
    if table.task == "classification":
        in_order = np.count_nonzero(changes) == len(np.unique(codes)) - 1
    else:
        in_order = bool((changes >= 0).all() or (changes <= 0).all())
    if in_order and len(codes) > 3:
        yield Finding("T1", f"The rows are sorted by “{table.target}”.")
    dates = [own.name for own in table.inputs if own.kind == "date"]
    dates += [str(table.times.name)] if table.times is not None else []
    if dates:
        text = f"{_named(dates)} {'says' if len(dates) == 1 else 'say'} when a row was taken."
        unknown = 0 if table.times is None else int(np.isnan(moments(table.times)).sum())
        if unknown:
            text += f" {_counted(unknown, 'row')} without a time: no part of a hold-out in time."
        yield Finding("T2", text, left=HOLD_OUT if table.times is not None else "")


def _constants(table: Table) -> Iterator[Finding]:
    names = [own.name for own in table.inputs if own.kind == "constant"]
    if names:
        yield Finding("C1", f"{_named(names)} {'holds' if len(names) == 1 else 'hold'} one value.")


def _centred(values: NDArray) -> NDArray:
    """The values around 0 and of size 1, so that their squares are neither 0 nor infinite."""
    values = values / np.abs(values).max()
    values = values - values.mean()
    return values / np.abs(values).max()


def gives_away(x: NDArray, y: NDArray, classes: bool, category: bool) -> bool:
    """Whether a column alone determines the target.

    For classes: along the sorted column each class is one block (a category: each level has one
    class, and levels repeat). For a number: a straight line through all points.
    """
    known = ~np.isnan(x)
    x, y = x[known], y[known]
    if len(x) < 20 or (x == x[0]).all() or (y == y[0]).all():
        return False
    if not classes:
        with np.errstate(all="ignore"):
            return abs(float(np.corrcoef(_centred(x), _centred(y))[0, 1])) > 1 - 1e-9
    order = np.lexsort((y, x))
    x, y = x[order], y[order]
    mixed = ((np.diff(x) == 0) & (np.diff(y) != 0)).any()
    n_classes = len(np.unique(y))
    if category:
        return bool(not mixed and len(np.unique(x)) <= max(len(x) // 5, n_classes))
    return bool(not mixed and np.count_nonzero(np.diff(y)) == n_classes - 1)


def _leaks(table: Table) -> Iterator[Finding]:
    codes, classes = _codes(table.y), table.task == "classification"
    rows = np.arange(0, len(codes), max(1, len(codes) // SAMPLE))
    names = []
    for own, column in zip(table.inputs, table.X.T, strict=True):
        category = own.kind in ("category", "boolean")
        if gives_away(column[rows], codes[rows], classes, category) and gives_away(
            column, codes, classes, category
        ):
            names.append(own.name)
    if names:
        verb = "gives" if len(names) == 1 else "give"
        yield Finding("L1", f"{_named(names)} {verb} “{table.target}” away.")


def _classes(table: Table) -> Iterator[Finding]:
    if table.task != "classification":
        return
    labels, counts = np.unique(table.y, return_counts=True)
    tiny = [str(label) for label, count in zip(labels, counts, strict=True) if count < TINY]
    if tiny:
        verb = "has" if len(tiny) == 1 else "have"
        yield Finding("K1", f"{_named(tiny)} {verb} fewer than {TINY} cases.")
    share = counts.max() / counts.sum()
    if share > MOST:
        often = labels[counts.argmax()]
        yield Finding("K2", f"“{often}” holds in {int(100 * share)} % of the rows.")


def _tails(table: Table) -> Iterator[Finding]:
    if table.task != "regression":
        return
    low, middle, high = np.percentile(table.y, [25, 50, 75])
    far = int((np.abs(table.y - middle) > FAR * (high - low)).sum()) if high > low else 0
    if far:
        lie = "lies" if far == 1 else "lie"
        text = f"{_counted(far, 'value')} of “{table.target}” {lie} far outside the middle half."
        yield Finding("H1", text)


def _missing(table: Table) -> Iterator[Finding]:
    missing = np.isnan(table.X).sum(axis=0).tolist()
    gaps = [(own.name, n) for own, n in zip(table.inputs, missing, strict=True) if n]
    if len(gaps) == 1:
        yield Finding("M1", f"“{gaps[0][0]}” is missing in {_counted(gaps[0][1], 'row')}.")
    elif gaps:
        worst = max(gaps, key=lambda gap: gap[1])
        text = f"{len(gaps)} columns have gaps, “{worst[0]}” in {_counted(worst[1], 'row')}."
        yield Finding("M1", text)
    if table.dropped:
        yield Finding("M2", f"{_counted(table.dropped, 'row')} had no “{table.target}”.")


def _words(table: Table) -> Iterator[Finding]:
    odd = [own for own in table.inputs if own.odd]
    if len(odd) == 1:
        yield Finding("N1", f"“{odd[0].name}” holds numbers, but for {odd[0].odd}.")
    elif odd:
        first = f"“{odd[0].name}” for {odd[0].odd}"
        yield Finding("N1", f"{len(odd)} columns hold numbers but for some words, {first}.")


CHECKS: tuple[Callable[[Table], Iterator[Finding]], ...] = (
    _leaks, _duplicates, _repeated, _classes, _tails, _order, _constants, _missing, _words,
)  # fmt: skip
"""In the order in which they are told."""
