"""The losses that can be asked for by name, of a point or of a batch of points.

Classification losses work whatever classes the candidate was trained on: a class that it never saw
has probability 0.
"""

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.costs import asymmetric_cost, check_unit, cost_matrix, pinball
from cpp_core.checks import lookup
from cpp_core.method.evaluation import (
    EPSILON,
    Loss,
    aligned,
    batch_mean,
    check_probabilities,
    check_same_kind,
)

_classification = partial(Loss, task="classification", by_case=True)
_regression = partial(Loss, response="predict", low=0.0, task="regression", by_case=True)
_bounded = partial(_classification, response="predict", low=0.0, high=1.0)
_share = partial(_bounded, greater_is_better=True, batch=True)


def _label_probability(candidate: Any, X: Any, y: NDArray) -> tuple[NDArray, NDArray]:
    probabilities = np.asarray(candidate.predict_proba(X), dtype=np.float64)
    classes = np.asarray(candidate.classes_)
    check_probabilities(probabilities, (len(y), len(classes)))
    check_same_kind(classes, y)
    return probabilities, aligned(probabilities, classes, y, 0.0)


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
    words = "how surprised the model is by the true label"
    return _classification("log_loss", function, "predict_proba", 0.0, top, "nats", words=words)


def mean_log_loss(clip: float = EPSILON) -> Loss:
    """The mean of the log losses of a batch."""
    words = "the mean log loss of the batch"
    return batch_mean(log_loss(clip), "mean_log_loss", words=words)


def _zero_one(candidate: Any, X: Any, y: NDArray) -> NDArray:
    predicted = np.asarray(candidate.predict(X))
    check_same_kind(predicted, y)
    return (predicted != y).astype(np.float64)


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
    with np.errstate(over="ignore"):  # a model that diverged loses infinitely much
        return (y - np.asarray(candidate.predict(X), dtype=np.float64).reshape(len(y))) ** 2


def _absolute(candidate: Any, X: Any, y: NDArray) -> NDArray:
    return np.abs(y - np.asarray(candidate.predict(X), dtype=np.float64).reshape(len(y)))


def _accuracy(candidate: Any, X: Any, y: NDArray) -> float:
    return float(np.mean(np.asarray(candidate.predict(X)) == y))


def _rmse(candidate: Any, X: Any, y: NDArray) -> float:
    return float(np.sqrt(np.mean(_squared(candidate, X, y))))


def f1(positive_class: Any = None) -> Loss:
    """F1 of one class, or the plain average over the classes when none is named."""

    def function(candidate: Any, X: Any, y: NDArray) -> float:
        from sklearn.metrics import f1_score  # loads slowly: only where it is measured

        predicted = np.asarray(candidate.predict(X))
        labels = None if positive_class is None else [positive_class]
        return float(f1_score(y, predicted, labels=labels, average="macro", zero_division=np.nan))

    words = "precision and recall of the batch in one number, averaged over classes"
    return _share("f1", function, label="F1 score", words=words)


def _roc_auc(candidate: Any, X: Any, y: NDArray) -> float:
    """One class against the rest, averaged over the batch's classes; undefined with one class."""
    from sklearn.metrics import roc_auc_score  # loads slowly: only where it is measured

    labels = np.unique(y)
    if len(labels) < 2:
        return math.nan
    probabilities, known = np.asarray(candidate.predict_proba(X)), np.asarray(candidate.classes_)
    areas = [
        roc_auc_score(y == label, aligned(probabilities, known, np.full(len(y), label), 0.0))
        for label in labels
    ]
    return float(np.mean(areas))


_ZERO_ONE = _bounded(
    "zero_one", _zero_one, label="zero-one loss", words="1 for an error, 0 for a hit", errors=True
)


def absolute_error(unit: str = "") -> Loss:
    """How far the prediction is from the target, in its unit."""
    words = "how far the prediction is from the target"
    return _regression("absolute_error", _absolute, words=words, unit=check_unit(unit))


_ABSOLUTE = absolute_error()
_OFFERED = (
    log_loss(),
    _ZERO_ONE,
    _bounded(
        *("brier", _brier),
        response="predict_proba",
        label="Brier loss",
        words="half the squared distance of the probabilities from the true label",
    ),
    _classification(
        *("hinge", _hinge, "decision_function", 0.0),
        label="hinge loss",
        words="how far the case lies on the wrong side of the margin between classes",
    ),
    _regression(
        *("squared_error", _squared),
        words="the squared distance of the prediction from the target",
        squared=True,
    ),
    _ABSOLUTE,
    cost_matrix(),
    asymmetric_cost(),
    pinball(),
    batch_mean(_ZERO_ONE, "error_rate", words="the share of errors in the batch"),
    _share("accuracy", _accuracy, words="the share of hits in the batch", shares=True),
    f1(),
    _share(
        *("roc_auc", _roc_auc),
        response="predict_proba",
        label="area under the ROC curve",
        words="how well the batch is ranked by probability, averaged over classes",
    ),
    mean_log_loss(),
    _regression(
        *("rmse", _rmse),
        batch=True,
        label="root mean squared error",
        words="the root of the mean squared error of the batch",
    ),
    batch_mean(
        *(_ABSOLUTE, "mae", "mean absolute error"),
        words="the mean absolute error of the batch",
    ),
)
LOSSES: dict[str, Loss] = {loss.name: loss for loss in _OFFERED}
"""The losses that can be asked for by name."""

USUAL_LOSSES = {"classification": "log_loss", "regression": "squared_error"}
USUAL_METRICS = {"classification": "error_rate", "regression": "rmse"}
USUAL_OF_TABLES = USUAL_LOSSES | {"regression": "absolute_error"}
"""What is judged by where nobody says it, by task: cases, batches, and on the page of a user's own
table, whose numbers stay in their own unit.
"""

OFFERED = frozenset(LOSSES)
"""Those that every process knows; others were registered in this one alone."""

WITH_SETTINGS: dict[str, Callable[..., Loss]] = {
    "log_loss": log_loss,
    "mean_log_loss": mean_log_loss,
    "f1": f1,
    "absolute_error": absolute_error,
    "cost_matrix": cost_matrix,
    "asymmetric_cost": asymmetric_cost,
    "pinball": pinball,
}
"""What makes a loss that has settings: the clip of log losses, the positive class of f1, costs."""


def make_loss(name: str, **settings: Any) -> Loss:
    """A registered loss, with its settings.

    >>> make_loss("log_loss", clip=1e-3).high.__round__(2)
    6.91
    """
    found = lookup(name, LOSSES, "loss")
    if not settings:
        return found
    try:
        return WITH_SETTINGS[name](**settings)
    except (KeyError, TypeError) as error:
        raise ValueError(f"The loss {name!r} does not take the settings {settings}.") from error


CLIPS: dict[str, float] = {"machine": EPSILON, "1e-6": 1e-6, "0.001": 1e-3}
"""The smallest probabilities that a page offers for log losses, by their names in a link."""


def settings_of(name: str) -> dict[str, Any]:
    """The settings that a loss takes, with their usual values.

    >>> settings_of("pinball"), settings_of("hinge")
    ({'quantile': 0.9, 'unit': ''}, {})
    """
    made = WITH_SETTINGS.get(name)
    return {n: p.default for n, p in inspect.signature(made).parameters.items()} if made else {}


def is_clipped(name: str) -> bool:
    """Whether a loss takes a clip, the smallest probability that it counts with."""
    return "clip" in settings_of(name)


def suits(loss: Loss, task: str, batch: bool = False) -> bool:
    """Whether a loss is for a task, or for both, and for a batch or a case as it is asked.

    >>> suits(LOSSES["hinge"], "regression"), suits(Loss("mine", lambda *_: 0), "regression")
    (False, True)
    """
    return loss.task in (None, task) and loss.batch == batch


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
