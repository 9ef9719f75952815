"""The paper's two learners of a linear model: batch and stochastic gradient descent.

Both minimise the empirical mean of ``(y - <w, x>)^2`` with its literal gradient, factor 2 included,
and both start at a random point, so that their candidates vary with the seed as well as with the
sample. scikit-learn's ``SGDRegressor`` starts at zero, halves the gradient and has no full batch.
Updates are compiled: 39 ms a trial become 1.1 (``trials.quadnoise`` computes whole trials).
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted, check_X_y

from cpp_core.learners.compiled import compiled


@compiled()
def gd_updates(X: NDArray, y: NDArray, w: NDArray, step: float, updates: int) -> None:
    """Full-batch updates of w, in place."""
    n, d = X.shape
    gradient = np.empty(d)
    for _ in range(updates):
        gradient[:] = 0.0
        for i in range(n):
            residual = -y[i]
            for j in range(d):
                residual += w[j] * X[i, j]
            for j in range(d):
                gradient[j] += 2.0 * residual * X[i, j]
        for j in range(d):
            w[j] -= step * gradient[j] / n


@compiled()
def sgd_updates(X: NDArray, y: NDArray, w: NDArray, step: float, order: NDArray) -> None:
    """One update of w, in place, for each index in ``order``."""
    d = X.shape[1]
    for t in range(order.size):
        i = order[t]
        residual = -y[i]
        for j in range(d):
            residual += w[j] * X[i, j]
        for j in range(d):
            w[j] -= step * 2.0 * residual * X[i, j]


class _LinearDescent(RegressorMixin, BaseEstimator, ABC):
    """A linear model without intercept, trained by descent from Uniform[-start, start]^d."""

    step: float
    start: float
    random_state: Any

    def fit(self, X: Any, y: ArrayLike) -> "_LinearDescent":
        """Descend from a random start; weights that overflow are an error, not a candidate."""
        X, target = check_X_y(X, y, dtype=np.float64, order="C", y_numeric=True)
        rng = np.random.default_rng(self.random_state)
        w = rng.uniform(-self.start, self.start, X.shape[1])
        self._descend(X, target.astype(np.float64), w, rng)
        if not np.isfinite(w).all():
            raise FloatingPointError(
                f"the weights diverged at step {self.step}; scale the inputs or take smaller steps"
            )
        self.n_features_in_ = X.shape[1]
        self.coef_ = w
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """<w, x> for every row."""
        check_is_fitted(self)
        return check_array(X, dtype=np.float64) @ self.coef_

    @abstractmethod
    def _descend(self, X: NDArray, y: NDArray, w: NDArray, rng: np.random.Generator) -> None:
        """Move w, in place, towards smaller squared errors."""


class GradientDescent(_LinearDescent):
    """Batch gradient descent on the squared error (GD_ERM of the paper).

    Parameters
    ----------
    step : float
        Step size.
    updates : int
        Full-batch updates, the budget in passes over the sample.
    start : float
        Each weight starts at Uniform[-start, start].
    random_state : int, Generator or None

    Examples
    --------
    >>> X = np.eye(2)
    >>> GradientDescent(start=0.0, step=0.5, updates=1).fit(X, [1.0, 2.0]).coef_
    array([0.5, 1. ])
    """

    def __init__(
        self, step: float = 0.1, updates: int = 5, start: float = 5.0, random_state: Any = None
    ) -> None:
        self.step = step
        self.updates = updates
        self.start = start
        self.random_state = random_state

    def _descend(self, X: NDArray, y: NDArray, w: NDArray, rng: np.random.Generator) -> None:
        gd_updates(X, y, w, self.step, self.updates)


class StochasticGradientDescent(_LinearDescent):
    """Stochastic gradient descent on the squared error, one point at a time (SGD_ERM).

    Parameters
    ----------
    passes : int
        Passes over the sample, each in a new random order.
    step, start, random_state
        As in ``GradientDescent``.

    Examples
    --------
    >>> X = np.eye(2)
    >>> StochasticGradientDescent(start=0.0, step=0.5, passes=1).fit(X, [1.0, 2.0]).coef_
    array([1., 2.])
    """

    def __init__(
        self, step: float = 0.01, passes: int = 5, start: float = 5.0, random_state: Any = None
    ) -> None:
        self.step = step
        self.passes = passes
        self.start = start
        self.random_state = random_state

    def _descend(self, X: NDArray, y: NDArray, w: NDArray, rng: np.random.Generator) -> None:
        for _ in range(self.passes):
            sgd_updates(X, y, w, self.step, rng.permutation(len(X)))
