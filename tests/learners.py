"""Cheap learners and regressors whose losses have known laws."""

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class Quick(RegressorMixin, BaseEstimator):
    """Clones without scikit-learn's introspection, which costs more than these fits do."""

    def get_params(self, deep=True):
        return {name: value for name, value in vars(self).items() if not name.endswith("_")}

    def set_params(self, **values):
        vars(self).update(values)
        return self

    def __sklearn_clone__(self):
        return type(self)(**self.get_params())


class Mean(Quick):
    """Predicts the mean of its training labels."""

    def fit(self, X, y):
        self.mean_ = sum(y) / len(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Guess(Quick):
    """Ignores the sample: predicts Uniform[-5, 5], the seed of its training run made a number."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.guess_ = 10 * self.random_state / 2**31 - 5
        return self

    def predict(self, X):
        return np.full(len(X), self.guess_)


class Brittle(Mean):
    """Raises when its sample holds a negative first label."""

    def fit(self, X, y):
        if y[0] < 0:
            raise RuntimeError("a negative label came first")
        return super().fit(X, y)


BOTH = np.array([0, 1])


class Majority(ClassifierMixin, Quick):
    """Predicts the side of the mean of the positives; a cheap, imperfect classifier of {0, 1}."""

    def fit(self, X, y):
        self.classes_ = BOTH  # with one class there is no training run
        upper = y == 1
        above, below = X[upper, 0], X[~upper, 0]
        self.cut_ = (sum(above) / len(above) + sum(below) / len(below)) / 2
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.cut_).astype(int)]


class Line(Quick):
    """Least squares on the last column and its square: cheap, deterministic."""

    def fit(self, X, y):
        self.coef_ = np.linalg.lstsq(self._design(X), y, rcond=None)[0]
        return self

    def predict(self, X):
        return self._design(X) @ self.coef_

    def _design(self, X):
        last = X[:, -1]
        return np.column_stack([np.ones(len(X)), last, last**2])


class Band(Line):
    """Quantiles by a Normal band around the line: one fit, any level."""

    def fit(self, X, y):
        super().fit(X, y)
        self.spread_ = float(np.std(y - super().predict(X)))
        return self

    def predict(self, X, quantiles=(0.5,)):
        line = super().predict(X)
        return line[:, None] + self.spread_ * special.ndtri(np.asarray(quantiles))[None, :]


def normal_sample(n, rng):
    """Cases whose label is standard Normal and independent of the single input."""
    return rng.standard_normal((n, 1)), rng.standard_normal(n)
