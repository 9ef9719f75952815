"""Support vector classification with Platt probabilities, without ``SVC(probability=True)``.

The classifier is a plain one-vs-one :class:`sklearn.svm.SVC`.  Its probabilities are made the
way libsvm makes them: for every pair of classes, five-fold cross-validation over that pair's
points gives each a decision value that it did not help to train; Platt's sigmoid [1]_, fitted
by the Newton method of [2]_, turns those into the probability of the one class against the
other; the second pairwise coupling of [3]_ makes one distribution over all classes of them.

The binary machines of the cross-validation are small and many (225 for ten classes), so that
scikit-learn's cost of a call would outweigh the work.  They are solved here, on a Gram matrix
computed once, by libsvm's own method [4]_ to libsvm's tolerance.  The compiled functions
release the interpreter lock and keep no state: fits may run in threads.

References
----------
.. [1] J. Platt. "Probabilistic outputs for support vector machines and comparisons to
   regularized likelihood methods". Advances in Large Margin Classifiers, 1999 (MIT Press 2000).
.. [2] H.-T. Lin, C.-J. Lin, R. C. Weng. "A note on Platt's probabilistic outputs for support
   vector machines". Machine Learning 68, 2007.
.. [3] T.-F. Wu, C.-J. Lin, R. C. Weng. "Probability estimates for multi-class classification by
   pairwise coupling". Journal of Machine Learning Research 5, 2004.
.. [4] R.-E. Fan, P.-H. Chen, C.-J. Lin. "Working set selection using second order information
   for training support vector machines". Journal of Machine Learning Research 6, 2005.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

__all__ = ["PlattSVC"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# libsvm's constants: others would give other probabilities, not better ones.
N_FOLDS = 5
SMO_TOL = 1e-3
COUPLING_TOL = 0.005
MIN_PROB = 1e-7


@njit(cache=True, nogil=True)
def _solve_smo(gram: Floats, sign: Floats, used: NDArray[np.bool_], C: float) -> Floats:
    """Decision values at all points of the binary machine trained on the ``used`` ones.

    The variables are ``beta = sign * alpha``, each in a box from 0 to ``sign * C``.  A point
    not used has the empty box [0, 0]: it never enters the working set, but its residual
    ``sign - gram @ beta`` is kept up to date, and that is its decision value but for the
    offset.  So no part of the Gram matrix need be copied for a fold.
    """
    n = len(sign)
    beta = np.zeros(n)
    lower = np.where(used, np.minimum(0.0, sign * C), 0.0)
    upper = np.where(used, np.maximum(0.0, sign * C), 0.0)
    resid = sign.copy()
    top = bottom = 0.0
    for _ in range(max(10_000_000, 100 * n)):
        # The first of two points violates the optimality conditions most ...
        i, top = -1, -np.inf
        for k in range(n):
            if beta[k] < upper[k] and resid[k] > top:
                i, top = k, resid[k]
        # ... the second promises the largest gain of the objective together with it.
        j, best, bottom = -1, 0.0, np.inf
        for k in range(n):
            if beta[k] > lower[k]:
                bottom = min(bottom, resid[k])
                gap = top - resid[k]
                if gap > 0.0:
                    gain = gap * gap / max(gram[i, i] + gram[k, k] - 2.0 * gram[i, k], 1e-12)
                    if gain > best:
                        j, best = k, gain
        if top - bottom < SMO_TOL or j < 0:
            break
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        step = (top - resid[j]) / max(gram[i, i] + gram[j, j] - 2.0 * gram[i, j], 1e-12)
        step = min(step, room_i, room_j)
        # A bound must be met exactly, or rounding would leave the point free.
        beta[i] = upper[i] if step == room_i else beta[i] + step
        beta[j] = lower[j] if step == room_j else beta[j] - step
        for k in range(n):
            resid[k] -= step * (gram[i, k] - gram[j, k])
    free = (lower < beta) & (beta < upper)
    offset = resid[free].mean() if free.any() else 0.5 * (top + bottom)
    return sign - resid + offset


@njit(cache=True, nogil=True)
def _cross_decisions(gram: Floats, n_first: int, perm: Ints, C: float) -> Floats:
    """Cross-validated decision values of a pair whose first ``n_first`` points are positive."""
    n = len(perm)
    sign = np.where(np.arange(n) < n_first, 1.0, -1.0)
    decisions = np.zeros(n)
    for fold in range(N_FOLDS):
        left_out = perm[fold * n // N_FOLDS : (fold + 1) * n // N_FOLDS]
        if len(left_out) == 0:
            continue
        used = np.ones(n, dtype=np.bool_)
        used[left_out] = False
        n_plus, n_minus = used[:n_first].sum(), used[n_first:].sum()
        if n_plus > 0 and n_minus > 0:
            decisions[left_out] = _solve_smo(gram, sign, used, C)[left_out]
        else:  # nothing to separate: the class that is there wins, if any is
            decisions[left_out] = min(1, n_plus) - min(1, n_minus)
    return decisions


@njit(cache=True, nogil=True)
def _fit_sigmoid(f: Floats, n_first: int) -> tuple[float, float]:
    """Newton fit of a, b in P(positive | f) = 1 / (1 + exp(a f + b)) to Platt's soft targets.

    The first ``n_first`` of the decision values ``f`` belong to positive points.
    """
    n_second = len(f) - n_first
    a, b = 0.0, np.log((n_second + 1.0) / (n_first + 1.0))
    high, low = (n_first + 1.0) / (n_first + 2.0), 1.0 / (n_second + 2.0)
    target = np.where(np.arange(len(f)) < n_first, high, low)
    z = a * f + b
    loss = (target * z + np.logaddexp(0.0, -z)).sum()
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(z))
        grad_a, grad_b = (f * (target - p)).sum(), (target - p).sum()
        if abs(grad_a) < 1e-5 and abs(grad_b) < 1e-5:
            break
        weight = p * (1.0 - p)
        # The ridge of 1e-12 keeps a singular Hessian from dividing by zero.
        haa, hbb = (f * f * weight).sum() + 1e-12, weight.sum() + 1e-12
        hab = (f * weight).sum()
        det = haa * hbb - hab * hab
        da, db = (hab * grad_b - hbb * grad_a) / det, (hab * grad_a - haa * grad_b) / det
        slope = grad_a * da + grad_b * db
        step = 1.0
        while step >= 1e-10:
            z = (a + step * da) * f + b + step * db
            new = (target * z + np.logaddexp(0.0, -z)).sum()
            if new < loss + 1e-4 * step * slope:
                break
            step *= 0.5
        if step < 1e-10:  # no descent left at this precision
            break
        a, b, loss = a + step * da, b + step * db, new
    return a, b


@njit(cache=True, nogil=True)
def _pair_sigmoids(gram: Floats, order: Ints, starts: Ints, perms: Ints, C: float) -> Floats:
    """Rows (a, b) of the sigmoids of all pairs of classes.

    ``order[starts[c]:starts[c + 1]]`` are the points of class ``c``, and ``perms`` holds the
    permutations of the pairs' points one after the other.
    """
    n_classes = len(starts) - 1
    out = np.empty((n_classes * (n_classes - 1) // 2, 2))
    pair = done = 0
    for c in range(n_classes):
        for d in range(c + 1, n_classes):
            first = order[starts[c] : starts[c + 1]]
            points = np.concatenate((first, order[starts[d] : starts[d + 1]]))
            n = len(points)
            sub = np.empty((n, n))
            for i in range(n):
                row = gram[points[i]]
                for j in range(n):
                    sub[i, j] = row[points[j]]
            decisions = _cross_decisions(sub, len(first), perms[done : done + n], C)
            out[pair] = _fit_sigmoid(decisions, len(first))
            pair, done = pair + 1, done + n
    return out


@njit(cache=True, nogil=True)
def _couple(r: Floats, tol: float) -> Floats:
    """Class probabilities ``p`` from ``r[i, j]``, the probability of i when it is i or j.

    They minimise the sum over pairs of ``(r_ji p_i - r_ij p_j) ** 2`` on the simplex, by the
    coordinate sweeps of Wu, Lin and Weng's algorithm 2.
    """
    k = len(r)
    q = np.empty((k, k))
    for i in range(k):
        q[i, i] = 0.0
        for j in range(k):
            if j != i:
                q[i, i] += r[j, i] * r[j, i]
                q[i, j] = -r[j, i] * r[i, j]
    p = np.full(k, 1.0 / k)
    qp = np.empty(k)
    for _ in range(max(100, k)):
        pqp = 0.0
        for i in range(k):
            qp[i] = 0.0
            for j in range(k):
                qp[i] += q[i, j] * p[j]
            pqp += p[i] * qp[i]
        if np.abs(qp - pqp).max() < tol:
            break
        for i in range(k):
            diff = (pqp - qp[i]) / q[i, i]
            scale = 1.0 / (1.0 + diff)
            pqp = (pqp + diff * (diff * q[i, i] + 2.0 * qp[i])) * scale * scale
            p[i] += diff
            for j in range(k):
                qp[j] = (qp[j] + diff * q[i, j]) * scale
                p[j] *= scale
    return p


@njit(cache=True, nogil=True)
def _probabilities(decisions: Floats, sigmoids: Floats, n_classes: int) -> Floats:
    """Class probabilities of each row of pairwise decision values."""
    out = np.empty((len(decisions), n_classes))
    r = np.zeros((n_classes, n_classes))
    for row in range(len(decisions)):
        pair = 0
        for i in range(n_classes):
            for j in range(i + 1, n_classes):
                z = sigmoids[pair, 0] * decisions[row, pair] + sigmoids[pair, 1]
                r[i, j] = min(max(1.0 / (1.0 + np.exp(z)), MIN_PROB), 1.0 - MIN_PROB)
                r[j, i] = 1.0 - r[i, j]
                pair += 1
        if n_classes == 2:  # one pair: nothing to couple
            out[row, 0], out[row, 1] = r[0, 1], r[1, 0]
        else:
            out[row] = _couple(r, COUPLING_TOL / n_classes)
    return out


def _pair_decisions(svc: SVC, gram: Floats) -> Floats:
    """One-vs-one decision values of a precomputed-kernel SVC, positive for a pair's first class.

    The numbers of its ``decision_function`` of shape "ovo", but by matrix products, which are
    several times faster than libsvm's scalar loops.
    """
    flip = -1.0 if len(svc.classes_) == 2 else 1.0  # scikit-learn turns two classes round
    ends = np.cumsum(svc.n_support_)
    shares = [
        gram.take(svc.support_[end - size : end], axis=1) @ svc.dual_coef_[:, end - size : end].T
        for size, end in zip(svc.n_support_, ends, strict=True)
    ]
    pairs = list(combinations(range(len(ends)), 2))
    out = np.empty((len(gram), len(pairs)))
    for column, (i, j) in enumerate(pairs):
        out[:, column] = flip * (shares[i][:, j - 1] + shares[j][:, i] + svc.intercept_[column])
    return out


def kernel_coefficient(gamma: str | float, X: Floats) -> float:
    """The kernel coefficient for training points: ``gamma``, or what its name stands for."""
    variance, n_features = X.var(), X.shape[1]
    if gamma == "scale":
        return float(1.0 / (n_features * variance)) if variance > 0.0 else 1.0
    return 1.0 / n_features if gamma == "auto" else float(gamma)


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
    svc_ : SVC
        The machine on all points, with precomputed kernel and class numbers for labels.
    sigmoids_ : ndarray of shape (n_classes * (n_classes - 1) / 2, 2)
        a and b of the sigmoids ``1 / (1 + exp(a f + b))`` of the pairs (0, 1), (0, 2), ...
    gamma_, X_fit_ : float, ndarray of shape (n_samples, n_features)
        Kernel coefficient and training points; not set if the kernel is "precomputed".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cpp_core import PlattSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> PlattSVC(random_state=0).fit(X, y).predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

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
        """Fit the machine to points (or their Gram matrix) and labels, and all sigmoids."""
        data, labels = validate_data(self, X, y, dtype=np.float64, order="C")
        check_classification_targets(labels)
        if len(np.unique(labels)) < 2:
            raise ValueError("PlattSVC needs points of at least two classes, but y has one class.")
        gram = data if self.kernel == "precomputed" else self._fit_kernel(data)
        if gram.shape[0] != gram.shape[1]:
            raise ValueError(f"A precomputed Gram matrix to fit is square, not {gram.shape}.")
        return self.fit_gram(gram, labels)

    def fit_gram(self, gram: Floats, labels: NDArray[Any]) -> PlattSVC:
        """Fit to a Gram matrix and labels that are known to be fit for it, without checks."""
        self.classes_, codes = np.unique(labels, return_inverse=True)
        with config_context(assume_finite=True, skip_parameter_validation=True):
            self.svc_ = SVC(kernel="precomputed", C=self.C, tol=SMO_TOL).fit(gram, codes)
        counts = np.bincount(codes)
        rng = check_random_state(self.random_state)
        perms = np.concatenate([rng.permutation(n + m) for n, m in combinations(counts, 2)])
        order, starts = np.argsort(codes, kind="stable"), np.concatenate(([0], np.cumsum(counts)))
        self.sigmoids_ = _pair_sigmoids(gram, order, starts, perms, float(self.C))
        return self

    def _fit_kernel(self, X: Floats) -> Floats:
        """Keep the training points and their kernel coefficient; return their Gram matrix."""
        self.gamma_ = kernel_coefficient(self.gamma, X)
        self.X_fit_ = X.copy()  # the caller may change theirs
        return self._kernel(X)

    def _kernel(self, X: Floats) -> Floats:
        params = {"filter_params": True, "gamma": self.gamma_, "degree": 3, "coef0": 0.0}
        with config_context(assume_finite=True):
            gram = pairwise_kernels(X, self.X_fit_, metric=self.kernel, **params)
        return np.ascontiguousarray(gram)

    def _gram(self, X: ArrayLike) -> Floats:
        """Kernel values of checked points with the training points."""
        check_is_fitted(self, "svc_")
        data = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return data if self.kernel == "precomputed" else self._kernel(data)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Decision values of the plain SVC, of its default shape "ovr"."""
        gram = self._gram(X)
        with config_context(assume_finite=True):
            return self.svc_.decision_function(gram)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels by the vote of the plain SVC; they need not be the most probable ones."""
        gram = self._gram(X)
        with config_context(assume_finite=True):
            return self.classes_[self.svc_.predict(gram)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of the classes, one row a point, columns in the order of `classes_`."""
        return self.gram_proba(self._gram(X))

    def gram_proba(self, gram: Floats) -> Floats:
        """Probabilities from kernel values with the training points, without checks."""
        return _probabilities(_pair_decisions(self.svc_, gram), self.sigmoids_, len(self.classes_))
