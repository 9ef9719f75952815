"""What a candidate loses at a point (pointwise) or on a batch of points (sample-based).

A loss is a function ``loss(candidate, X, y) -> (n,)`` with a declared range; a batch metric returns
one number for all its points. Classification losses work whatever classes the candidate was trained
on: a class that it never saw has probability 0.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import f1_score, roc_auc_score

Response = Literal["predict", "predict_proba", "decision_function"]
EPSILON = float(np.finfo(np.float64).eps)


class LossError(ValueError):
    """A loss that cannot be evaluated, or whose values are unusable."""


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

    @property
    def sign(self) -> int:
        """Factor that turns shown values into ones where smaller is better."""
        return -1 if self.greater_is_better else 1

    @property
    def worst(self) -> float:
        """The value of a candidate that could not be trained, or of an undefined metric."""
        return self.low if self.greater_is_better else self.high

    def paired(self) -> "Loss":
        """The same loss as a difference of two candidates: its range is symmetric."""
        span = self.high - self.low
        return replace(self, name=f"difference in {self.name}", low=-span, high=span)


_classification = partial(Loss, task="classification")
_regression = partial(Loss, task="regression")
_share = partial(_classification, low=0.0, high=1.0, greater_is_better=True, batch=True)


def aligned(values: NDArray, known: NDArray, y: NDArray, absent: float) -> NDArray:
    """The column of ``values`` that belongs to each label, ``absent`` where there is none."""
    position = np.searchsorted(known, y)
    position[position == len(known)] = 0
    found = known[position] == y
    return np.where(found, values[np.arange(len(y)), position], absent)


def _label_probability(candidate: Any, X: Any, y: NDArray) -> tuple[NDArray, NDArray]:
    probabilities = np.asarray(candidate.predict_proba(X), dtype=np.float64)
    return probabilities, aligned(probabilities, np.asarray(candidate.classes_), y, 0.0)


def log_loss(clip: float = EPSILON) -> Loss:
    """Minus the log of the probability of the true label, which is clipped from below.

    A class that is absent from the training sample has probability 0, so with small samples the
    clip decides the largest losses: 36.04 at float64's machine epsilon.
    """
    if not 0 < clip < 1:
        raise ValueError(f"clip must lie strictly between 0 and 1, but {clip!r} was given.")

    def function(candidate: Any, X: Any, y: NDArray) -> NDArray:
        # The inner maximum turns a probability of 1 + rounding into a loss of 0, not below.
        return -np.log(np.clip(_label_probability(candidate, X, y)[1], clip, 1.0))

    top = -math.log(clip)
    return _classification("log_loss", function, "predict_proba", 0.0, top, "nats")


def _zero_one(candidate: Any, X: Any, y: NDArray) -> NDArray:
    return (np.asarray(candidate.predict(X)) != y).astype(np.float64)


def _brier(candidate: Any, X: Any, y: NDArray) -> NDArray:
    """Half the squared distance to the one-hot label: (1 - p)^2 for two classes."""
    probabilities, truth = _label_probability(candidate, X, y)
    return np.clip(((probabilities**2).sum(axis=1) - 2 * truth + 1) / 2, 0.0, 1.0)


def _hinge(candidate: Any, X: Any, y: NDArray) -> NDArray:
    """Crammer and Singer's margin; a class never seen scores like the least likely one seen."""
    decision = np.asarray(candidate.decision_function(X), dtype=np.float64)
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision]) / 2
    known = np.asarray(candidate.classes_)
    own = aligned(decision, known, y, np.nan)
    others = np.where(known[None, :] == y[:, None], -np.inf, decision).max(axis=1)
    return np.maximum(0.0, 1.0 + others - np.where(np.isnan(own), decision.min(axis=1), own))


def _squared(candidate: Any, X: Any, y: NDArray) -> NDArray:
    return (y - np.asarray(candidate.predict(X), dtype=np.float64).reshape(len(y))) ** 2


def _absolute(candidate: Any, X: Any, y: NDArray) -> NDArray:
    return np.abs(y - np.asarray(candidate.predict(X), dtype=np.float64).reshape(len(y)))


def batch_mean(loss: Loss, name: str | None = None) -> Loss:
    """The batch metric that averages a pointwise loss."""

    def function(candidate: Any, X: Any, y: NDArray) -> float:
        return float(np.mean(loss.function(candidate, X, y)))

    return replace(loss, name=name or f"mean {loss.name}", function=function, batch=True)


def _accuracy(candidate: Any, X: Any, y: NDArray) -> float:
    return float(np.mean(np.asarray(candidate.predict(X)) == y))


def _rmse(candidate: Any, X: Any, y: NDArray) -> float:
    return float(np.sqrt(np.mean(_squared(candidate, X, y))))


def f1(positive_class: Any = None) -> Loss:
    """F1 of one class, or the plain average over the classes when none is named."""

    def function(candidate: Any, X: Any, y: NDArray) -> float:
        predicted = np.asarray(candidate.predict(X))
        labels = None if positive_class is None else [positive_class]
        return float(f1_score(y, predicted, labels=labels, average="macro", zero_division=np.nan))

    return _share("f1", function, "predict")


def _roc_auc(candidate: Any, X: Any, y: NDArray) -> float:
    """One class against the rest, averaged over the batch's classes; undefined with one class."""
    labels = np.unique(y)
    if len(labels) < 2:
        return math.nan
    probabilities, known = np.asarray(candidate.predict_proba(X)), np.asarray(candidate.classes_)
    areas = [
        roc_auc_score(y == label, aligned(probabilities, known, np.full(len(y), label), 0.0))
        for label in labels
    ]
    return float(np.mean(areas))


ZERO_ONE = _classification("zero_one", _zero_one, "predict", 0.0, 1.0)
ABSOLUTE = _regression("absolute_error", _absolute, "predict", 0.0)
LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        log_loss(),
        ZERO_ONE,
        _classification("brier", _brier, "predict_proba", 0.0, 1.0),
        _classification("hinge", _hinge, "decision_function", 0.0),
        _regression("squared_error", _squared, "predict", 0.0),
        ABSOLUTE,
        batch_mean(ZERO_ONE, "error_rate"),
        _share("accuracy", _accuracy, "predict"),
        f1(),
        _share("roc_auc", _roc_auc, "predict_proba"),
        batch_mean(log_loss(), "mean_log_loss"),
        _regression("rmse", _rmse, "predict", 0.0, batch=True),
        batch_mean(ABSOLUTE, "mae"),
    )
}
"""The losses that can be asked for by name."""


T = TypeVar("T")


def lookup(name: str, registry: Mapping[str, T], kind: str) -> T:
    """An entry by name; an unknown name is answered with the nearest known one."""
    if name in registry:
        return registry[name]
    near = get_close_matches(str(name), registry, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(registry)}."
    raise ValueError(f"There is no {kind} called {name!r}; {hint}")


def make_loss(name: str, **settings: Any) -> Loss:
    """A registered loss, with its settings: the clip of log losses, the positive class of f1.

    >>> make_loss("log_loss", clip=1e-3).high.__round__(2)
    6.91
    """
    found = lookup(name, LOSSES, "loss")
    if not settings:
        return found
    makers: dict[str, Callable[..., Loss]] = {
        "log_loss": log_loss,
        "mean_log_loss": lambda clip: batch_mean(log_loss(clip), "mean_log_loss"),
        "f1": f1,
    }
    try:
        return makers[name](**settings)
    except (KeyError, TypeError) as error:
        raise ValueError(f"The loss {name!r} does not take the settings {settings}.") from error


def resolve_loss(loss: "str | Loss | Callable[..., Any]", batch_size: int | None = None) -> Loss:
    """A Loss from a name, a callable or a Loss, as a batch metric when batch_size is given."""
    if isinstance(loss, str):
        found = lookup(loss, LOSSES, "loss")
    elif isinstance(loss, Loss):
        found = loss
    elif callable(loss):
        name = getattr(loss, "__name__", type(loss).__name__)
        found = Loss(name, loss, batch=batch_size is not None)
    else:
        raise ValueError(f"loss must be a name, a Loss or a callable, but {loss!r} was given.")
    if found.batch and batch_size is None:
        raise ValueError(
            f"{found.name} is measured on a batch of cases; say how many with batch_size, or "
            f"choose a loss per case: {', '.join(k for k, v in LOSSES.items() if not v.batch)}."
        )
    return batch_mean(found) if batch_size is not None and not found.batch else found


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
        who = type(candidate).__name__
        raise LossError(
            f"{loss.name} could not be computed for a trained {who}: {error} (check that the "
            "model offers what the loss needs and that X holds what the model accepts)."
        ) from error


def _in_range(loss: Loss, values: NDArray) -> NDArray:
    bad = ~np.isfinite(values)
    if bad.any():
        raise LossError(
            f"{loss.name} gave {values[bad].flat[0]} for {bad.sum()} of {values.size} cases; a "
            "loss must be a finite number: bound it, or give the worst value of its range."
        )
    bad = (values < loss.low) | (values > loss.high)
    if bad.any():
        raise LossError(
            f"{loss.name} gave {values[bad].flat[0]:g} for {bad.sum()} of {values.size} cases, "
            f"outside its declared range [{loss.low:g}, {loss.high:g}]; correct the loss or the "
            "range."
        )
    return values
