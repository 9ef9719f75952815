"""Support vector classification with Platt probabilities, without ``SVC(probability=True)``.

The classifier is the one-vs-one machine of :class:`sklearn.svm.SVC`.  Its probabilities are made
the way libsvm makes them: for every pair of classes, five-fold cross-validation over that pair's
points gives each a decision value that it did not help to train; Platt's sigmoid [1]_ turns those
into the probability of the one class against the other; the second pairwise coupling of [2]_ makes
one distribution over all classes of them.

It is ours because scikit-learn gives up ``probability=True`` (and calibrating a plain ``SVC`` is
another model, which cannot fit twelve points), because libsvm's global generator makes its losses
wrong in threads, and for speed: a fit and 1,123 probabilities of the digits take 11 ms (linear
kernel) and 16 (Gaussian), with libsvm 36 and 74.  All machines of a fit, those of the folds too,
are solved on one Gram matrix by ``cpp_core/learners/machines.py``.

References
----------
.. [1] J. Platt. "Probabilistic outputs for support vector machines and comparisons to
   regularized likelihood methods". Advances in Large Margin Classifiers, 1999 (MIT Press 2000).
.. [2] T.-F. Wu, C.-J. Lin, R. C. Weng. "Probability estimates for multi-class classification by
   pairwise coupling". Journal of Machine Learning Research 5, 2004.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from cpp_core.learners.compiled import compiled
from cpp_core.learners.machines import Floats, Ints, fit_pairs

__all__ = ["PlattSVC"]

# libsvm's constants: others would give other probabilities, not better ones.
COUPLING_TOL = 0.005
MIN_PROB = 1e-7


@compiled(error_model="numpy")
def _couple(r: Floats, tol: float, q: Floats, qp: Floats, p: Floats) -> None:
    """Class probabilities ``p`` from ``r[i, j]``, the probability of i when it is i or j.

    They minimise the sum over pairs of ``(r_ji p_i - r_ij p_j) ** 2`` on the simplex, by the
    coordinate sweeps of Wu, Lin and Weng's algorithm 2.  ``q`` and ``qp`` are room to work in.
    """
    k = len(r)
    for i in range(k):
        p[i], q[i, i] = 1.0 / k, 0.0
        for j in range(k):
            if j != i:
                q[i, i] += r[j, i] * r[j, i]
                q[i, j] = -r[j, i] * r[i, j]
    for _ in range(max(100, k)):
        pqp = worst = 0.0
        for i in range(k):
            qp[i] = 0.0
            for j in range(k):
                qp[i] += q[i, j] * p[j]
            pqp += p[i] * qp[i]
        for i in range(k):
            worst = max(worst, abs(qp[i] - pqp))
        if worst < tol:
            break
        for i in range(k):
            diff = (pqp - qp[i]) / q[i, i]
            scale = 1.0 / (1.0 + diff)
            pqp = (pqp + diff * (diff * q[i, i] + 2.0 * qp[i])) * scale * scale
            p[i] += diff
            for j in range(k):
                qp[j] = (qp[j] + diff * q[i, j]) * scale
                p[j] *= scale


@compiled(error_model="numpy")
def _probabilities(decisions: Floats, sigmoids: Floats, n_classes: int) -> Floats:
    """Class probabilities of each row of pairwise decision values."""
    out = np.ones((len(decisions), n_classes))
    r, q = np.zeros((n_classes, n_classes)), np.empty((n_classes, n_classes))
    qp = np.empty(n_classes)
    for row in range(len(decisions)):
        pair = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                z = sigmoids[pair, 0] * decisions[row, pair] + sigmoids[pair, 1]
                r[i, j] = min(max(1.0 / (1.0 + math.exp(z)), MIN_PROB), 1.0 - MIN_PROB)
                r[j, i] = 1.0 - r[i, j]
                pair += 1
        if n_classes == 2:  # one pair: nothing to couple
            out[row, 0], out[row, 1] = r[0, 1], r[1, 0]
        elif n_classes > 2:
            _couple(r, COUPLING_TOL / n_classes, q, qp, out[row])
    return out


def pair_decisions(gram: Floats, coef: Floats, offsets: Floats, counts: Ints) -> Floats:
    """Decision values of the pairs (0, 1), (0, 2), ..., positive for a pair's first class.

    ``gram`` holds kernel values with the points of the columns of ``coef``, sorted by class.
    """
    ends = np.cumsum(counts)
    shares = [
        gram[:, end - size : end] @ coef[:, end - size : end].T
        for size, end in zip(counts, ends, strict=True)
    ]
    out = np.empty((len(gram), len(offsets)))
    for column, (i, j) in enumerate(combinations(range(len(counts)), 2)):
        np.add(shares[i][:, j - 1], shares[j][:, i], out=out[:, column])
    return np.add(out, offsets, out=out)


def pair_weights(X: Floats, coef: Floats, counts: Ints) -> Floats:
    """Weights of the linear machines of the pairs, from points sorted by class: (pairs, d)."""
    return pair_decisions(X.T, coef, np.zeros(len(counts) * (len(counts) - 1) // 2), counts).T


def kernel_coefficient(gamma: str | float, X: Floats) -> float:
    """The kernel coefficient for training points: ``gamma``, or what its name stands for."""
    if gamma == "scale":
        variance, n_features = X.var(), X.shape[1]
        return float(1.0 / (n_features * variance)) if variance > 0.0 else 1.0
    return 1.0 / X.shape[1] if gamma == "auto" else float(gamma)


class PlattSVC(ClassifierMixin, BaseEstimator):
    """Support vector classifier with Platt's probabilities by libsvm's method.

    Gives the kind of probabilities that ``SVC(probability=True)`` gave.  Holds the Gram matrix
    of the training points in memory while it fits.

    Parameters
    ----------
    kernel : str, default="rbf"
        A kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels` (of degree 3 and constant
        0 where it has those), or "precomputed": then `X` is the Gram matrix, of shape
        (n_train, n_train) to fit and (n_test, n_train) to predict.
    C : float, default=1.0
        Penalty of the slack variables.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient; "scale" is ``1 / (n_features * X.var())``, "auto" is
        ``1 / n_features``.  The cross-validation uses that of the full sample.
    random_state : int, RandomState instance or None, default=None
        Draws the folds of the cross-validation; the machine itself is deterministic.

    Attributes
    ----------
    classes_, n_features_in_
        The class labels, and the number of columns of `X` in `fit`.
    support_, n_support_ : ndarray of shape (n_support,), (n_classes,)
        The training points that carry a weight in some pair, sorted by class, and how many in each.
    dual_coef_, intercept_ : ndarray of shape (n_classes - 1, n_support), (n_pairs,)
        The machines of the pairs (0, 1), (0, 2), ... in the layout of ``SVC`` (of two classes, too:
        positive for the first).
    coef_ : ndarray of shape (n_pairs, n_features)
        Their weights, if the kernel is "linear".
    sigmoids_ : ndarray of shape (n_pairs, 2)
        a and b of their sigmoids ``1 / (1 + exp(a f + b))``.
    gamma_, support_vectors_ : float, ndarray of shape (n_support, n_features)
        Kernel coefficient (not set if the kernel is "precomputed") and points (nor if "linear").

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cpp_core import PlattSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> PlattSVC(random_state=0).fit(X, y).predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

    by_kernel = True
    """Its numbers depend on kernel values alone, which trials that re-split a table may share."""

    def __init__(
        self,
        kernel: str = "rbf",
        C: float = 1.0,
        gamma: str | float = "scale",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> PlattSVC:
        """Fit all machines and sigmoids to points (or their Gram matrix) and labels.

        A sample of one class gives that class, with certainty.
        """
        data, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(labels)
        order = self._sort(labels)
        if self.kernel == "precomputed":
            if data.shape[0] != data.shape[1]:
                raise ValueError(f"A precomputed Gram matrix to fit is square, not {data.shape}.")
            gram = data.take(order, axis=0).take(order, axis=1)
        else:
            points = data.take(order, axis=0)
            with np.errstate(over="ignore", invalid="ignore"):  # told below
                self.gamma_ = kernel_coefficient(self.gamma, points)
                gram = self._kernel(points, points)
        if not np.isfinite(gram).all():
            raise ValueError(
                "Some kernel values of these points are too large; scale the columns of X."
            )
        self._fit_pairs(gram, order)
        if self.kernel == "linear":
            self.coef_ = pair_weights(data[self.support_], self.dual_coef_, self.n_support_)
        elif self.kernel != "precomputed":
            self.support_vectors_ = data[self.support_]
        return self

    def _sort(self, labels: NDArray[Any]) -> Ints:
        """Keep the classes and how many points each has; give the order that sorts by class."""
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self._counts = np.bincount(codes)
        return np.argsort(codes, kind="stable")

    def _fit_pairs(self, gram: Floats, order: Ints) -> None:
        """Fit to the Gram matrix of points sorted by class, which were in this order."""
        if not self.C > 0.0:
            raise ValueError(f"C must be greater than 0, but {self.C!r} was given.")
        counts = self._counts
        sizes = [n + m for n, m in combinations(counts, 2)]
        rng = check_random_state(self.random_state)
        perms = np.concatenate([np.empty(0, np.int64), *(rng.permutation(n) for n in sizes)])
        coef, pairs = np.zeros((len(counts) - 1, len(order))), np.empty((len(sizes), 3))
        fit_pairs(gram, counts, perms, float(self.C), coef, pairs)
        carries = coef.any(axis=0)
        self.support_ = order[carries]
        self.n_support_ = np.add.reduceat(carries, np.cumsum(counts) - counts, dtype=np.int64)
        self.dual_coef_ = coef[:, carries]
        self.intercept_, self.sigmoids_ = pairs[:, 0].copy(), pairs[:, 1:].copy()

    def _kernel(self, X: Floats, Y: Floats) -> Floats:
        """Kernel values of points with others."""
        params = {"filter_params": True, "gamma": self.gamma_, "degree": 3, "coef0": 0.0}
        with config_context(assume_finite=True):
            return np.ascontiguousarray(pairwise_kernels(X, Y, metric=self.kernel, **params))

    def _decisions(self, X: ArrayLike) -> Floats:
        """Decision values of the pairs at points, which are checked."""
        check_is_fitted(self, "sigmoids_")
        data = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        if self.kernel == "linear":
            return data @ self.coef_.T + self.intercept_
        if len(self.classes_) == 1:
            return np.empty((len(data), 0))
        if self.kernel == "precomputed":
            gram = data.take(self.support_, axis=1)
        else:
            gram = self._kernel(data, self.support_vectors_)
        return pair_decisions(gram, self.dual_coef_, self.intercept_, self.n_support_)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Decision values as of ``SVC``: of the pair if there are two classes, else of each class.

        Those are its votes, with the sum of its decision values squeezed into a third of a vote.
        """
        decisions = self._decisions(X)
        if len(self.classes_) == 2:
            return -decisions[:, 0]
        sums = np.zeros((len(decisions), len(self.classes_)))
        for column, (i, j) in enumerate(combinations(range(len(self.classes_)), 2)):
            sums[:, i] += decisions[:, column]
            sums[:, j] -= decisions[:, column]
        return self._votes(decisions) + sums / (3.0 * (np.abs(sums) + 1.0))

    def _votes(self, decisions: Floats) -> Ints:
        """How many pairs decide for each class."""
        votes = np.zeros((len(decisions), len(self.classes_)), dtype=np.int64)
        for column, (i, j) in enumerate(combinations(range(len(self.classes_)), 2)):
            first = decisions[:, column] > 0.0
            votes[:, i] += first
            votes[:, j] += ~first
        return votes

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels by the vote of the machines; they need not be the most probable ones."""
        votes = self._votes(self._decisions(X))
        return self.classes_[votes.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of the classes, one row a point, columns in the order of `classes_`."""
        decisions = self._decisions(X)
        return _probabilities(decisions, self.sigmoids_, len(self.classes_))
