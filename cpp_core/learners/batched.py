"""Ridge and naive Bayes for all candidates of a layout at once.

scikit-learn's estimators take a millisecond for a fit on fifteen cases, of which the arithmetic is
a hundredth. Here the k training samples of a trial are one array (k, m, p): ridge is one solve of k
small systems (27 ms a trial become .4), naive Bayes k means and variances. The losses are those of
the estimators up to rounding; what is not the usual algorithm, table or loss goes the plain way.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from cpp_core.method.constructions import Part
from cpp_core.method.evaluation import Loss, LossError, evaluate
from cpp_core.method.measuring import Measured, measure, noted
from cpp_core.method.recipes import Recipe, moderate
from cpp_core.method.symbols import Symbols
from cpp_core.method.threads import one_thread
from cpp_core.method.training import BEFORE_FIT, spawned_for

EPSILON = float(np.finfo(np.float64).eps)


class Joint:
    """Candidates of several training samples, each at its own rows: their responses, in order."""

    def __init__(self, predictions: NDArray, probabilities: NDArray | None, classes: Any) -> None:
        self._predictions, self._probabilities = predictions, probabilities
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray:
        """The predictions of each row's own candidate."""
        return self._predictions

    def predict_proba(self, X: Any) -> NDArray:
        """The probabilities that each row's own candidate gives."""
        assert self._probabilities is not None  # only classifiers are asked
        return self._probabilities


Respond = Callable[[NDArray, NDArray, NDArray], Joint | None]
"""From training cases (g, m, p), their labels (g, m) and new cases (g, b, p) to responses there."""


def measure_ridge(
    estimator: Any,
    loss: Loss | Symbols,
    X: Any,
    y: NDArray | None,
    parts: Sequence[Part],
    rng: np.random.Generator,
    candidate: Any = None,
    recipe: Recipe | None = None,
    n_jobs: int | None = 1,
) -> Measured:
    """``measure`` for ridge regression after standardising; ``n_jobs`` is for the plain way."""
    asked = estimator, loss, X, y, parts, rng, candidate, recipe, n_jobs
    penalty = _penalty(estimator)
    if penalty is None or not moderate(y):
        return measure(*asked)

    def respond(X: NDArray, y: NDArray, at: NDArray) -> Joint:
        return Joint(ridge_predictions(X, y, at, penalty).ravel(), None, None)

    return _batched(asked, "predict", respond)


def measure_naive_bayes(
    estimator: Any,
    loss: Loss | Symbols,
    X: Any,
    y: NDArray | None,
    parts: Sequence[Part],
    rng: np.random.Generator,
    candidate: Any = None,
    recipe: Recipe | None = None,
    n_jobs: int | None = 1,
) -> Measured:
    """``measure`` for Gaussian naive Bayes; ``n_jobs`` is for the plain way."""
    asked = estimator, loss, X, y, parts, rng, candidate, recipe, n_jobs
    if not _usual_bayes(estimator) or y is None:
        return measure(*asked)
    classes, codes = np.unique(y, return_inverse=True)

    def respond(X: NDArray, y: NDArray, at: NDArray) -> Joint | None:
        likely = naive_bayes_scores(X, y, at, len(classes), estimator.var_smoothing)
        if likely is None:
            return None
        likely = likely.reshape(-1, len(classes))
        whole = logsumexp(likely, axis=1, keepdims=True)
        return Joint(classes[likely.argmax(axis=1)], np.exp(likely - whole), classes)

    return _batched(asked, "predict_proba", respond, codes)


def measuring_of(estimator: Any) -> Callable[..., Measured]:
    """``measure``, or what does the same at once for an estimator that is known here."""
    if _penalty(estimator) is not None:
        return measure_ridge
    return measure_naive_bayes if _usual_bayes(estimator) else measure


def _batched(asked: Any, offers: str, respond: Respond, codes: NDArray | None = None) -> Measured:
    """What all candidates do, or the plain way where that cannot be told at once.

    ``codes`` stand for the labels, where these are classes.
    """
    _, loss, X, y, parts, rng, candidate, *_ = asked
    usual = isinstance(loss, Loss) and not loss.batch and loss.by_case
    answers = ("predict", offers)
    if candidate is not None or not usual or loss.response not in answers or not moderate(X):
        return measure(*asked)
    labels, once = y if codes is None else codes, parts[0].training.ndim == 1
    at = [np.concatenate([part.at.ravel() for part in parts])[None]] if once else None
    training = [parts[0].training[None]] if once else [part.training for part in parts]
    found = []
    for rows, new in zip(training, at or [part.at for part in parts], strict=True):
        try:
            with one_thread():  # sums must not depend on how many there are
                joint = respond(X[rows], labels[rows], X[new])
            losses = (
                None if joint is None else evaluate(loss, joint, X[new.ravel()], y[new.ravel()])
            )
        except (LossError, np.linalg.LinAlgError):  # the plain way tells what is wrong
            losses = None
        if losses is None:
            return measure(*asked)
        found.append(losses)
    _tell(sum(map(len, training)))
    if once:
        found = np.split(found[0], np.cumsum([part.at.size for part in parts])[:-1])
    elif any(part.role in ("score", "regress") for part in parts):
        spawned_for([], rng, sum(map(len, training)))  # a regression has the next seed
    values = [own.reshape(part.at.shape) for own, part in zip(found, parts, strict=True)]
    return noted(loss, parts, values, [])


def _tell(fits: int) -> None:
    """Count the training runs where somebody does, or stop."""
    before = BEFORE_FIT.get()
    for _ in range(fits if before is not None else 0):
        before()  # type: ignore[misc]


def _usual_bayes(estimator: Any) -> bool:
    """Whether it is Gaussian naive Bayes whose classes have the sample's shares."""
    from sklearn.naive_bayes import GaussianNB

    return type(estimator) is GaussianNB and estimator.priors is None


def _penalty(estimator: Any) -> float | None:
    """The penalty of a usual ridge regression after a usual standardisation, None of others."""
    from sklearn.pipeline import Pipeline

    if type(estimator) is not Pipeline or len(estimator.steps) != 2:
        return None
    from sklearn.linear_model import Ridge
    from sklearn.preprocessing import StandardScaler

    scaler, ridge = (step for _, step in estimator.steps)
    if type(scaler) is not StandardScaler or type(ridge) is not Ridge:
        return None
    usual = scaler.with_mean and scaler.with_std and ridge.fit_intercept and not ridge.positive
    alpha = ridge.alpha
    known = usual and ridge.solver == "auto" and isinstance(alpha, int | float) and alpha > 0
    return float(alpha) if known else None


def ridge_predictions(X: NDArray, y: NDArray, at: NDArray, penalty: float) -> NDArray:
    """Predictions (g, b) of ridge regressions on standardised inputs.

    Each is trained on X (g, m, p) and y (g, m), for ``at`` (g, b, p). A column without spread in
    the training sample is centred only, as scikit-learn has it.
    """
    m, p = X.shape[1:]
    mean = X.mean(axis=1, keepdims=True)
    centred = X - mean
    variance = np.mean(centred**2, axis=1, keepdims=True)
    flat = variance <= m * EPSILON * variance + (m * mean * EPSILON) ** 2
    scale = np.where(flat, 1.0, np.sqrt(variance))
    centred /= scale
    level = y.mean(axis=1, keepdims=True)
    transposed, response = centred.transpose(0, 2, 1), (y - level)[:, :, None]
    if p <= m:
        weights = np.linalg.solve(transposed @ centred + penalty * np.eye(p), transposed @ response)
    else:
        weights = transposed @ np.linalg.solve(centred @ transposed + penalty * np.eye(m), response)
    return (((at - mean) / scale) @ weights)[:, :, 0] + level


def naive_bayes_scores(
    X: NDArray, codes: NDArray, at: NDArray, n_classes: int, smoothing: float
) -> NDArray | None:
    """Log likelihoods (g, b, C) with the classes' shares; None where a variance is zero.

    A class that a training sample lacks has minus infinity, the only class of a sample zero. Sums
    are taken in scikit-learn's order: the numbers are the same, bit for bit.
    """
    counts = (codes[:, :, None] == np.arange(n_classes)).sum(axis=1)  # (g, C)
    known = np.maximum(counts, 1)[:, :, None]
    means = class_sums(X, codes, n_classes) / known
    own = np.take_along_axis(means, codes[:, :, None], axis=1)
    variances = class_sums((X - own) ** 2, codes, n_classes) / known
    variances += smoothing * X.var(axis=1).max(axis=1)[:, None, None]
    alone = (counts > 0).sum(axis=1) == 1
    variances[(counts == 0) | alone[:, None]] = 1.0
    if not (variances > 0).all():
        return None
    with np.errstate(divide="ignore"):
        shares = np.log(counts / X.shape[1])
    spreads = -0.5 * np.log(2.0 * np.pi * variances).sum(axis=2)
    found = np.empty((*at.shape[:2], n_classes))
    for c in range(n_classes):
        distances = ((at - means[:, None, c]) ** 2 / variances[:, None, c]).sum(axis=2)
        found[:, :, c] = shares[:, c, None] + (spreads[:, c, None] - 0.5 * distances)
    found[alone] = np.where(counts[alone] > 0, 0.0, -np.inf)[:, None]
    return found


def class_sums(values: NDArray, codes: NDArray, n_classes: int) -> NDArray:
    """Sums (g, C, p) of values (g, m, p) over the rows of each class, one row after the other."""
    groups, m, p = values.shape
    sums = np.zeros((groups, n_classes, p))
    if groups * n_classes > m:
        every = np.arange(groups)
        for i in range(m):
            sums[every, codes[:, i]] += values[:, i]
        return sums
    for g in range(groups):
        for c in range(n_classes):
            np.sum(values[g, codes[g] == c], axis=0, out=sums[g, c])
    return sums
