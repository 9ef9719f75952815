"""Nearest neighbours for samples of any size: all cases vote where there are too few."""

from typing import Any, Self

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor


class _Neighbors(BaseEstimator):
    """scikit-learn's estimators train on fewer cases than they ask for, but cannot predict then.

    An algorithm must give a candidate for every sample.
    """

    _kind: type

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: NDArray) -> Self:
        """Remember the sample."""
        self.model_ = self._kind(min(self.n_neighbors, X.shape[0])).fit(X, y)
        return self

    def predict(self, X: Any) -> NDArray:
        """The class with most votes, or the mean label."""
        return self.model_.predict(X)


class NeighborsClassifier(ClassifierMixin, _Neighbors):
    """The vote of the nearest cases."""

    _kind = KNeighborsClassifier

    @property
    def classes_(self) -> NDArray:
        """The classes of the sample."""
        return self.model_.classes_

    def predict_proba(self, X: Any) -> NDArray:
        """Shares of the votes."""
        return self.model_.predict_proba(X)


class NeighborsRegressor(RegressorMixin, _Neighbors):
    """The mean label of the nearest cases."""

    _kind = KNeighborsRegressor
