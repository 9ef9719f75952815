"""Support vector machines on rows of a table whose kernel is computed once for all trials.

Trials re-split one table, so that every kernel value they need is among the table's own pairs. Here
a "case" is a row number: training and evaluating slice a matrix instead of computing kernels anew.
A plain loop takes 150 ms for a trial of both machines on the digits; a kernel that was computed
once, on two workers, made that 2.9 times as fast. One solver for all machines on it, instead of
scikit-learn's ``kernel="precomputed"``, took a trial from 48 ms on one core to 18. Pixels are whole
numbers, so that the kernel is the same to 1e-14.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpp_core.learners.compiled import compiled
from cpp_core.learners.svm import PlattSVC, kernel_coefficient, pair_decisions, pair_weights

MAX_ROWS = 5000
"""Tables beyond this many rows have no shared matrix: it would take 200 MB."""


@compiled()
def gather(matrix: NDArray, rows: NDArray, columns: NDArray) -> NDArray:
    """``matrix[np.ix_(rows, columns)]`` as floats, faster and without the interpreter lock."""
    out = np.empty((rows.size, columns.size))
    for i in range(rows.size):
        source, own = matrix[rows[i]], out[i]
        for j in range(columns.size):
            own[j] = source[columns[j]]
    return out


def compact(matrix: NDArray) -> NDArray:
    """The matrix in the smallest type that holds its values exactly.

    What is gathered from it waits for memory: counts of pixels take a quarter.
    """
    for kind in (np.uint16, np.float32):
        with np.errstate(invalid="ignore", over="ignore"):
            short = matrix.astype(kind)
        if np.array_equal(short, matrix):
            return short
    return matrix


class TableGram:
    """Inner products and squared distances of all pairs of rows of a table."""

    def __init__(self, X: NDArray) -> None:
        self.X = np.asarray(X, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            inner = self.X @ self.X.T
            norms = np.diag(inner)
            squared = np.maximum(norms[:, None] - 2 * inner + norms[None, :], 0.0)
        self.finite = bool(np.isfinite(inner).all() and np.isfinite(squared).all())
        self.inner, self.squared = compact(inner), compact(squared)


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
        order = self._sort(np.asarray(y))
        rows = np.asarray(X).take(order)
        if self.kernel == "rbf":
            self.gamma_ = kernel_coefficient(self.gamma, self.gram.X.take(rows, axis=0))
        self._fit_pairs(self._kernel(rows, rows), order)
        self.rows_ = np.asarray(X).take(self.support_)
        if self.kernel == "linear":
            points = self.gram.X.take(self.rows_, axis=0)
            self.coef_ = pair_weights(points, self.dual_coef_, self.n_support_)
        return self

    def _kernel(self, X: NDArray, Y: NDArray) -> NDArray:
        """Kernel values of rows with others."""
        if self.kernel == "linear":
            return gather(self.gram.inner, X, Y)
        distances = gather(self.gram.squared, X, Y)
        distances *= -self.gamma_
        return np.exp(distances, out=distances)

    def _decisions(self, X: ArrayLike) -> NDArray:
        """Decision values of the pairs at rows."""
        rows = np.asarray(X)
        if self.kernel == "linear":
            return self.gram.X.take(rows, axis=0) @ self.coef_.T + self.intercept_
        gram = self._kernel(rows, self.rows_)
        return pair_decisions(gram, self.dual_coef_, self.intercept_, self.n_support_)


def shared_gram(estimator: Any, gram: TableGram) -> Any:
    """The same algorithm on row numbers, or None where it is no linear or Gaussian PlattSVC.

    Nor where a kernel value is too large: the plain machine has a sentence for that.
    """
    if not isinstance(estimator, PlattSVC) or estimator.kernel not in ("linear", "rbf"):
        return None
    if not gram.finite:
        return None
    return GramSVC(gram, estimator.kernel, estimator.C, estimator.gamma, estimator.random_state)
