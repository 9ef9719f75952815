"""Classifiers of other libraries that want labels 0, 1, 2, ..., or answer in columns.

XGBoost refuses words as labels, and numbers that skip one, which a small training sample often
does; CatBoost predicts a matrix where scikit-learn expects a column.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone


class CodedLabels(ClassifierMixin, BaseEstimator):
    """A classifier that is trained on 0, 1, ... and answers with the labels themselves."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: NDArray) -> "CodedLabels":
        """Train on the codes of the labels."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, codes)
        return self

    def predict(self, X: Any) -> NDArray:
        """The label of each case."""
        return self.classes_[np.asarray(self.estimator_.predict(X)).reshape(-1).astype(int)]

    def predict_proba(self, X: Any) -> NDArray:
        """The probability of each label."""
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
