"""What a loss is, and how it is computed: checked for shape, NaN and range.

A loss is a function ``loss(candidate, X, y) -> (n,)`` with a declared range; a batch metric returns
one number for all its points.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpp_core.method.machine import check_machine

Response = Literal["predict", "predict_proba", "decision_function"]
EPSILON = float(np.finfo(np.float64).eps)


class LossError(ValueError):
    """A loss that cannot be evaluated, or whose values are unusable."""


NUMBERS, WORDS = "biuf", "US"
OFF = 1e-3
"""By how much probabilities may miss a sum of 1: those of some libraries are float32."""


def check_same_kind(told: NDArray, y: NDArray) -> None:
    """Refuse predicted labels of another kind than the true ones: none could ever be right."""
    kinds = {own.dtype.kind for own in (told, y)}
    if kinds & set(NUMBERS) and kinds & set(WORDS):
        words = "words, but the true ones are numbers"
        if told.dtype.kind in NUMBERS:
            words = "numbers, but the true ones are words"
        raise LossError(f"The labels that the model predicts are {words}; let both be the same.")


def check_probabilities(told: NDArray, shape: tuple[int, int]) -> None:
    """Refuse what are no probabilities, one for each class of each case."""
    if told.shape != shape:
        raise LossError(
            f"predict_proba gave an array of shape {told.shape}, but {shape[0]} cases and "
            f"{shape[1]} classes need {shape}."
        )
    sums = told.sum(axis=1)
    wrong = ~((told >= -OFF).all(axis=1) & (np.abs(sums - 1) <= OFF))
    if wrong.any() and not np.isnan(told).any():  # those are told of as losses
        row = told[np.flatnonzero(wrong)[0]].tolist()
        raise LossError(
            f"predict_proba gave {row} for a case: probabilities lie between 0 and 1 and sum to 1."
        )


@dataclass(frozen=True)
class Loss:
    """A way of measuring performance, with what a reader needs to understand its numbers.

    Parameters
    ----------
    name : str
        How the loss is asked for and shown.
    function : callable
        ``function(candidate, X, y)`` gives one number per row, or a single number when ``batch``.
    response : "predict", "predict_proba", "decision_function" or None
        The candidate's method that the function calls, None when it is unknown.
    low, high : float
        The range of the values.
    unit : str
        Unit of the values, empty when they have none.
    greater_is_better : bool
        Values are shown as they are; inside, they are negated so that smaller is better.
    batch : bool
        Whether the function evaluates a whole batch; it may return NaN where it is undefined.
    task : "classification", "regression" or None
        What it is for, None when it is for both.
    label, words : str
        What it is called in a sentence (by default its name), and what it measures.
    errors : bool
        Whether 0 stands for a correct answer and 1 for an error.
    squared : bool
        Whether its unit is that of the labels, squared.
    shares : bool
        Whether it is a share of the cases of a batch: with b cases a number of b-ths.
    labels : tuple of str
        The labels that it is told of, none where it takes any.
    by_case : bool
        Whether it looks at nothing but each case's response, so that the cases of several
        candidates can be judged at once.
    """

    name: str
    function: Callable[..., Any]
    response: Response | None = None
    low: float = -math.inf
    high: float = math.inf
    unit: str = ""
    greater_is_better: bool = False
    batch: bool = False
    task: str | None = None
    label: str = ""
    words: str = ""
    errors: bool = False
    squared: bool = False
    shares: bool = False
    labels: tuple[str, ...] = ()
    by_case: bool = False

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.name.replace("_", " "))

    @property
    def sign(self) -> int:
        """Factor that turns shown values into ones where smaller is better."""
        return -1 if self.greater_is_better else 1

    @property
    def best(self) -> float:
        """The value of a perfect candidate."""
        return self.high if self.greater_is_better else self.low

    @property
    def worst(self) -> float:
        """The value of a candidate that could not be trained, or of an undefined metric."""
        return self.low if self.greater_is_better else self.high

    def paired(self) -> "Loss":
        """The same loss as a difference of two candidates: its range is symmetric."""
        span = self.high - self.low
        return replace(self, name=f"difference in {self.name}", low=-span, high=span)


def aligned(values: NDArray, known: NDArray, y: NDArray, absent: float) -> NDArray:
    """The column of ``values`` that belongs to each label, ``absent`` where there is none."""
    position = np.searchsorted(known, y)
    position[position == len(known)] = 0
    found = known[position] == y
    return np.where(found, values[np.arange(len(y)), position], absent)


def batch_mean(loss: Loss, name: str = "", label: str = "", words: str = "") -> Loss:
    """The batch metric that averages a pointwise loss."""

    def function(candidate: Any, X: Any, y: NDArray) -> float:
        return float(np.mean(loss.function(candidate, X, y)))

    called = replace(loss, name=name or f"mean {loss.name}", label=label, words=words)
    called = replace(called, errors=False, squared=False, shares=loss.errors)
    return replace(called, function=function, batch=True)


def check_labels(loss: Loss, labels: Iterable[Any], of: str = "the sample") -> None:
    """Refuse a loss that was told of labels which are not there."""
    if not loss.labels:
        return
    known = list(dict.fromkeys(map(str, labels)))
    if not set(loss.labels) <= set(known):
        raise ValueError(
            f"The costs are about {', '.join(loss.labels)}, but the labels of {of} are "
            f"{', '.join(known)}; name them as they are."
        )


def evaluate(loss: Loss, candidate: Any, X: Any, y: NDArray | None) -> NDArray[np.float64]:
    """Losses of one candidate at every row, checked: shape, NaN and range."""
    n = X.shape[0]
    values = np.asarray(_call(loss, candidate, X, y))
    if values.shape != (n,) or values.dtype.kind not in "fiub":
        raise LossError(
            f"{loss.name} must give one number per case, an array of shape ({n},), but it gave one "
            f"of shape {values.shape} and type {values.dtype}."
        )
    return _in_range(loss, values.astype(np.float64))


def evaluate_batch(loss: Loss, candidate: Any, X: Any, y: NDArray | None) -> float:
    """A batch metric's value, checked; NaN where the metric is undefined on this batch."""
    value = np.asarray(_call(loss, candidate, X, y))
    if value.shape != () or value.dtype.kind not in "fiub":
        raise LossError(
            f"{loss.name} must give a single number for a batch, but it gave an array of shape "
            f"{value.shape} and type {value.dtype}."
        )
    return math.nan if np.isnan(value) else float(_in_range(loss, value.astype(float)))


def _call(loss: Loss, candidate: Any, X: Any, y: NDArray | None) -> Any:
    try:
        return loss.function(candidate, X, y)
    except Exception as error:
        check_machine(error)
        who = type(candidate).__name__
        raise LossError(
            f"{loss.name} could not be computed for a trained {who}: {error} (check that the "
            "model offers what the loss needs and that X holds what the model accepts)."
        ) from error


def _usual(loss: Loss, value: float) -> bool:
    return math.isfinite(value) and loss.low <= value <= loss.high


def _in_range(loss: Loss, values: NDArray) -> NDArray:
    if values.size == 1 and _usual(loss, values.item()):
        return values  # the one loss of a training run: four arrays would cost more than its fit
    bad = ~np.isfinite(values) & (values != loss.worst)  # the worst may be infinite: divergence
    if bad.any():
        raise LossError(
            f"{loss.name} gave {values[bad].flat[0]} for {bad.sum():,} of {values.size:,} cases; a "
            "loss must be a finite number: bound it, or give the worst value of its range."
        )
    bad = (values < loss.low) | (values > loss.high)
    if bad.any():
        raise LossError(
            f"{loss.name} gave {values[bad].flat[0]:g} for {bad.sum():,} of {values.size:,} cases, "
            f"outside its declared range [{loss.low:g}, {loss.high:g}]; correct the loss or the "
            "range."
        )
    return values


def difference(first: NDArray, second: NDArray) -> NDArray:
    """l(A) - l(B); where both failed with an infinite loss they are equal."""
    both = np.isinf(first) & (first == second)
    kept = np.zeros(first.shape, dtype=np.result_type(first, second))
    return np.subtract(first, second, where=~both, out=kept)
