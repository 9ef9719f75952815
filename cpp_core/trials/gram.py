"""Support vector machines on rows of a table whose kernel is computed once for all trials.

Trials re-split one table, so that every kernel value they need is among the table's own pairs. Here
a "case" is a row number: training and evaluating slice a matrix instead of computing kernels anew.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

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


class GramSVC(PlattSVC):
    """PlattSVC whose cases are row numbers of the table behind ``gram``."""

    def __init__(
        self,
        gram: TableGram,
        kernel: str = "rbf",
        C: float = 1.0,
        gamma: str | float = "scale",
        random_state: Any = None,
    ) -> None:
        super().__init__(kernel, C, gamma, random_state)
        self.gram = gram

    def __sklearn_clone__(self) -> "GramSVC":
        # The default clone would copy the matrices.
        return GramSVC(self.gram, self.kernel, self.C, self.gamma, self.random_state)

    def fit(self, X: ArrayLike, y: ArrayLike) -> PlattSVC:
        """Train on the rows with these numbers."""
        self.rows_ = np.asarray(X)
        if self.kernel == "rbf":
            self.gamma_ = kernel_coefficient(self.gamma, self.gram.X[self.rows_])
        return self.fit_gram(self._gram(X), np.asarray(y))

    def _gram(self, X: ArrayLike) -> NDArray:
        """Kernel values of the rows with those that it was trained on."""
        if self.kernel == "linear":
            return gather(self.gram.inner, np.asarray(X), self.rows_)
        distances = gather(self.gram.squared, np.asarray(X), self.rows_)
        distances *= -self.gamma_
        return np.exp(distances, out=distances)


def shared_gram(estimator: Any, gram: TableGram) -> Any:
    """The same algorithm on row numbers, or None where it is no linear or Gaussian PlattSVC."""
    if not isinstance(estimator, PlattSVC) or estimator.kernel not in ("linear", "rbf"):
        return None
    return GramSVC(gram, estimator.kernel, estimator.C, estimator.gamma, estimator.random_state)
