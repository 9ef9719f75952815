"""Losses in the unit that a decision is about: what errors cost, and what being off costs.

Costs are fixed by the user, before looking; a bound on them is a bound like any other.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.method.evaluation import Loss, check_same_kind

UNIT = re.compile(r"[\w€$£¥%°²³/. -]{0,12}")
"""What a unit may be: a short word or sign, such as EUR, kg/m² or %."""

NO_WORD = re.compile(r"[\d²³/. -]*[\d²³/.-][\d²³/. -]*")
"""Digits behind a number would be read as another one."""

MOST_LABELS = 12
"""A page offers a grid of costs up to so many classes."""

GRID = re.compile(r"-?\d{1,9}(\.\d{1,6})?([,;]-?\d{1,9}(\.\d{1,6})?){0,143}")

Costs = Mapping[str, Mapping[str, float]] | Iterable[tuple[str, Iterable[tuple[str, float]]]]


def check_unit(unit: str) -> str:
    """A unit that can stand behind a number."""
    if not isinstance(unit, str) or not UNIT.fullmatch(unit) or NO_WORD.fullmatch(unit):
        raise ValueError(f"The unit {unit!r} is not a short word such as EUR; write it so.")
    return unit.strip()


def _amount(value: Any, what: str, least: float = -math.inf) -> float:
    amount = float(value)
    if not math.isfinite(amount) or amount < least:
        least_words = f", {least:g} or more" if math.isfinite(least) else ""
        raise ValueError(f"{what} is {value!r}; a finite number is needed{least_words}.")
    return amount


# Of errors


def cost_matrix(costs: Costs = (), unit: str = "") -> Loss:
    """What a prediction costs, by the true label and the predicted one: ``costs[true][predicted]``.

    What is not said costs 0 where the prediction is right, and 1 where it is wrong.

    >>> loss = cost_matrix({"ill": {"well": 500}, "well": {"ill": 20}}, unit="EUR")
    >>> loss.low, loss.high, loss.unit
    (0.0, 500.0, 'EUR')
    """
    said = {
        (str(true), str(predicted)): _amount(cost, f"The cost of {predicted!r} for {true!r}")
        for true, row in dict(costs).items()
        for predicted, cost in dict(row).items()
    }
    labels = sorted({label for pair in said for label in pair})
    if len(labels) > 1 and all((a, b) in said for a in labels for b in labels if a != b):
        _ends(said, labels)
    low, high = _ends(
        said, [*labels, object(), object()]
    )  # others may occur, of which none is said
    return Loss(
        *("cost_matrix", partial(_cost, said), "predict", low, high),
        unit=check_unit(unit),
        task="classification",
        label="cost of errors",
        words="what a prediction costs, by the true label and the predicted one",
        labels=tuple(labels),
    )


def among(loss: Loss, classes: Iterable[Any]) -> Loss:
    """The same where no other labels occur: the range is that of what can happen among them.

    >>> few = cost_matrix({"a": {"b": 0.5}, "b": {"a": 0.2}})
    >>> few.high, among(few, ["a", "b"]).high, among(few, ["a", "b", "c"]).high
    (1.0, 0.5, 1.0)
    """
    labels = [str(label) for label in classes]
    if not labels or not isinstance(loss.function, partial) or loss.function.func is not _cost:
        return loss
    low, high = _ends(loss.function.args[0], labels)
    return replace(loss, low=low, high=high)


def _ends(said: Mapping[tuple[str, str], float], labels: Sequence[Any]) -> tuple[float, float]:
    """The least and the greatest cost among labels."""
    amounts = {said.get((a, b), float(a != b)) for a in labels for b in labels}
    if len(amounts) < 2:
        raise ValueError("All costs are equal: nothing can be lost or gained; give other costs.")
    return min(amounts), max(amounts)


def _cost(
    known: Mapping[tuple[str, str], float], candidate: Any, X: Any, y: NDArray
) -> NDArray[np.float64]:
    predicted, found = np.asarray(candidate.predict(X)), np.empty(len(y))
    check_same_kind(predicted, y)
    if predicted.dtype != y.dtype:  # 1.0 is the label 1
        same = predicted.astype(y.dtype)
        predicted = same if (same == predicted).all() else predicted
    for true in np.unique(y):
        for guess in np.unique(predicted):
            cost = known.get((str(true), str(guess)), float(true != guess))
            found[(y == true) & (predicted == guess)] = cost
    return found


def grid_text(rows: Sequence[Sequence[float]]) -> str:
    """A square of costs as a link says it, by position alone: labels are the user's own.

    >>> grid_text([[0, 5], [0.5, 0]])
    '0,5;0.5,0'
    """
    return ";".join(",".join(f"{float(cost):.12g}" for cost in row) for row in rows)


def read_grid(text: str | None, size: int) -> list[list[float]]:
    """The square of costs that a link says; 1 for every error where it says none of this size.

    >>> read_grid("0,5;0.5,0", 2), read_grid("0,5", 2)
    ([[0.0, 5.0], [0.5, 0.0]], [[0.0, 1.0], [1.0, 0.0]])
    """
    usual = [[float(i != j) for j in range(size)] for i in range(size)]
    if not text or not GRID.fullmatch(text):
        return usual
    rows = [[float(cost) for cost in row.split(",")] for row in text.split(";")]
    return rows if len(rows) == size and all(len(row) == size for row in rows) else usual


def costs_of(
    classes: Sequence[Any], rows: Sequence[Sequence[float]]
) -> dict[str, dict[str, float]]:
    """A square of costs by labels, as ``cost_matrix`` takes it."""
    names = [str(label) for label in classes]
    return {
        true: dict(zip(names, map(float, row), strict=True))
        for true, row in zip(names, rows, strict=True)
    }


# Of being off


def asymmetric_cost(under: float = 1.0, over: float = 1.0, unit: str = "") -> Loss:
    """What being off costs: ``under`` for each unit too low, ``over`` for each unit too high.

    >>> asymmetric_cost(under=3, over=1, unit="EUR").label
    'cost of being off'
    """
    up, down = _amount(under, "under", 0.0), _amount(over, "over", 0.0)
    if up == down == 0:
        raise ValueError("under and over are both 0: nothing can be lost; give other costs.")
    return Loss(
        *("asymmetric_cost", partial(_off, up, down), "predict", 0.0),
        unit=check_unit(unit),
        task="regression",
        label="cost of being off",
        words=f"{up:g} for each unit predicted too low, {down:g} for each too high",
    )


def pinball(quantile: float = 0.9, unit: str = "") -> Loss:
    """The loss whose least average a predicted quantile has: too low costs as much as it is high.

    >>> pinball(0.9).words
    '0.9 for each unit predicted too low, 0.1 for each too high'
    """
    if not 0 < quantile < 1:
        raise ValueError(f"quantile must lie strictly between 0 and 1, but {quantile!r} was given.")
    up, down = float(quantile), round(1 - float(quantile), 12)
    return Loss(
        *("pinball", partial(_off, up, down), "predict", 0.0),
        unit=check_unit(unit),
        task="regression",
        label="pinball loss",
        words=f"{up:g} for each unit predicted too low, {down:g} for each too high",
    )


def _off(under: float, over: float, candidate: Any, X: Any, y: NDArray) -> NDArray:
    off = y - np.asarray(candidate.predict(X), dtype=np.float64).reshape(len(y))
    return np.where(off > 0, under * off, -over * off) + 0.0
