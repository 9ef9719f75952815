"""Support vector machines on rows of a table whose kernel is computed once for all trials.

Trials re-split one table, so that every kernel value they need is among the table's own pairs. Here
a "case" is a row number: training and evaluating slice a matrix instead of computing kernels anew.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from cpp_core.learners.svm import PlattSVC, kernel_coefficient

MAX_ROWS = 5000
"""Tables beyond this many rows have no shared matrix: it would take 200 MB."""


@njit(cache=True, nogil=True)
def gather(matrix: NDArray, rows: NDArray, columns: NDArray) -> NDArray:
    """``matrix[np.ix_(rows, columns)]``, three times as fast and without the interpreter lock."""
    out = np.empty((rows.size, columns.size))
    for i in range(rows.size):
        source = matrix[rows[i]]
        for j in range(columns.size):
            out[i, j] = source[columns[j]]
    return out


class TableGram:
    """Inner products and squared distances of all pairs of rows of a table."""

    def __init__(self, X: NDArray) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        self.inner = self.X @ self.X.T
        norms = np.diag(self.inner)
        self.squared = np.maximum(norms[:, None] - 2 * self.inner + norms[None, :], 0.0)


class GramSVC(ClassifierMixin, BaseEstimator):
    """PlattSVC whose cases are row numbers of the table behind ``gram``."""

    def __init__(
        self,
        gram: TableGram,
        kernel: str = "rbf",
        C: float = 1.0,
        gamma: str | float = "scale",
        random_state: Any = None,
    ) -> None:
        self.gram = gram
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.random_state = random_state

    def __sklearn_clone__(self) -> "GramSVC":
        # The default clone would copy the matrices.
        return GramSVC(self.gram, self.kernel, self.C, self.gamma, self.random_state)

    def fit(self, X: NDArray, y: NDArray) -> "GramSVC":
        """Train on the rows with these numbers."""
        self.rows_ = X
        if self.kernel == "rbf":
            self.gamma_ = kernel_coefficient(self.gamma, self.gram.X[X])
        model = PlattSVC(kernel="precomputed", C=self.C, random_state=self.random_state)
        self.model_ = model.fit_gram(self._slice(X), y)
        self.classes_ = model.classes_
        return self

    def _slice(self, rows: NDArray) -> NDArray:
        if self.kernel == "linear":
            return gather(self.gram.inner, rows, self.rows_)
        distances = gather(self.gram.squared, rows, self.rows_)
        distances *= -self.gamma_
        return np.exp(distances, out=distances)

    def predict(self, X: NDArray) -> NDArray:
        """Labels of the rows."""
        return self.model_.predict(self._slice(X))

    def predict_proba(self, X: NDArray) -> NDArray:
        """Class probabilities of the rows."""
        return self.model_.gram_proba(self._slice(X))

    def decision_function(self, X: NDArray) -> NDArray:
        """Decision values of the rows."""
        return self.model_.decision_function(self._slice(X))


def shared_gram(estimator: Any, gram: TableGram) -> Any:
    """The same algorithm on row numbers, or None where it is no linear or Gaussian PlattSVC."""
    if not isinstance(estimator, PlattSVC) or estimator.kernel not in ("linear", "rbf"):
        return None
    return GramSVC(gram, estimator.kernel, estimator.C, estimator.gamma, estimator.random_state)
