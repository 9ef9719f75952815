"""The candidate of a sample with one class."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class ConstantClassifier(ClassifierMixin, BaseEstimator):
    """The candidate of a sample with one class: that class, with certainty."""

    def fit(self, X: Any, y: NDArray) -> "ConstantClassifier":
        """Remember the only class."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> NDArray:
        """The only class, for every row."""
        return np.full(X.shape[0], self.classes_[0])

    def predict_proba(self, X: Any) -> NDArray:
        """Probability one for the only class."""
        return np.ones((X.shape[0], 1))

    def decision_function(self, X: Any) -> NDArray:
        """A constant score for the only class."""
        return np.ones((X.shape[0], 1))
