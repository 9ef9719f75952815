"""Nearest neighbours for samples of any size: all cases vote where there are too few."""

from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor


class NeighborsClassifier(ClassifierMixin, BaseEstimator):
    """The vote of the nearest cases.

    scikit-learn's classifier trains on fewer cases than it asks for, but cannot predict then; an
    algorithm must give a candidate for every sample.
    """

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: NDArray) -> "NeighborsClassifier":
        """Remember the sample."""
        self.model_ = KNeighborsClassifier(min(self.n_neighbors, X.shape[0])).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> NDArray:
        """The class with most votes."""
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> NDArray:
        """Shares of the votes."""
        return self.model_.predict_proba(X)


class NeighborsRegressor(RegressorMixin, BaseEstimator):
    """The mean label of the nearest cases, for samples of any size."""

    def __init__(self, n_neighbors: int = 5) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: NDArray) -> "NeighborsRegressor":
        """Remember the sample."""
        self.model_ = KNeighborsRegressor(min(self.n_neighbors, X.shape[0])).fit(X, y)
        return self

    def predict(self, X: Any) -> NDArray:
        """The mean label."""
        return self.model_.predict(X)
