"""Truths: how labels fall, what a loss makes of them, and learners small enough to repeat."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from cpp_core import Loss

SAMPLE = 3
"""Training cases of each candidate."""

Sample = tuple[NDArray, NDArray]


class Quick(RegressorMixin, BaseEstimator):
    """Clones without scikit-learn's introspection, which costs more than these fits do."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """What was given to ``__init__``."""
        return {name: value for name, value in vars(self).items() if not name.endswith("_")}

    def set_params(self, **values: Any) -> Any:
        """Without a check of the names."""
        vars(self).update(values)
        return self

    def __sklearn_clone__(self) -> Any:
        return type(self)(**self.get_params())


class Centre(Quick):
    """Predicts a share of the mean label, moved by its seed; ``brittle`` raises on some samples."""

    def __init__(
        self, shrink: float = 1.0, brittle: bool = False, random_state: int | None = None
    ) -> None:
        self.shrink, self.brittle, self.random_state = shrink, brittle, random_state

    def fit(self, X: NDArray, y: NDArray) -> "Centre":
        """Raise where the first label is small, if brittle."""
        if self.brittle and y[0] < -0.6:
            raise RuntimeError("the first label is small")
        moved = 0.0 if self.random_state is None else self.random_state / 2**31 - 0.5
        self.centre_ = self.shrink * float(sum(y)) / len(y) + 0.2 * moved
        return self

    def predict(self, X: NDArray) -> NDArray:
        """The same for every case."""
        return np.full(len(X), self.centre_)


class Line(Quick):
    """Least squares on the last column and its square."""

    def fit(self, X: NDArray, y: NDArray) -> "Line":
        """Three coefficients."""
        self.coef_ = np.linalg.lstsq(self._design(X), y, rcond=None)[0]
        return self

    def predict(self, X: NDArray) -> NDArray:
        """The line."""
        return self._design(X) @ self.coef_

    def _design(self, X: NDArray) -> NDArray:
        last = X[:, -1]
        return np.column_stack([np.ones(len(X)), last, last**2])


class Band(Line):
    """Quantiles by a Normal band around the line; one fit, any level."""

    def fit(self, X: NDArray, y: NDArray) -> "Band":
        """The line, and the mean distance from it: squares of 1e200 would overflow."""
        super().fit(X, y)
        self.spread_ = 1.25 * float(np.mean(np.abs(y - super().predict(X))))
        return self

    def predict(self, X: NDArray, quantiles: Any = (0.5,)) -> NDArray:
        """(n, levels)."""
        return super().predict(X)[:, None] + self.spread_ * special.ndtri(np.asarray(quantiles))


class Level(Line):
    """One prediction for all cases: the mean."""

    def _design(self, X: NDArray) -> NDArray:
        return np.ones((len(X), 1))


class Levels(Band):
    """The same with a band."""

    def _design(self, X: NDArray) -> NDArray:
        return np.ones((len(X), 1))


class Offset(Quick):
    """Nine times the mean: any regressor is allowed, and this one is hard on rounding."""

    def fit(self, X: NDArray, y: NDArray) -> "Offset":
        """The mean, off."""
        self.mean_ = 9 * float(np.mean(y))
        return self

    def predict(self, X: NDArray, quantiles: Any = (0.5,)) -> NDArray:
        """(n, levels)."""
        return np.full((len(X), len(quantiles)), self.mean_)


@dataclass(frozen=True)
class Truth:
    """A law of labels, and a loss of labels and predictions.

    ``exact`` says that losses do not tie, so that coverage is exactly p.
    """

    name: str
    noise: Callable[[np.random.Generator, int], NDArray]
    measure: Callable[[NDArray, NDArray], NDArray]
    exact: bool
    low: float = 0.0
    high: float = math.inf
    greater_is_better: bool = False
    brittle: bool = False
    level: bool = False  # the loss is regressed by one number for all cases

    def draw(self, n: int, rng: np.random.Generator) -> Sample:
        """Cases whose labels spread more to the right."""
        X = rng.random((n, 1))
        return X, self.noise(rng, n) * (0.5 + X[:, 0])

    @property
    def loss(self) -> Loss:
        """The loss as the package takes it."""

        def function(candidate: Any, X: NDArray, y: NDArray) -> NDArray:
            return self.measure(y, candidate.predict(X))

        range_ = {"low": self.low, "high": self.high}
        return Loss(
            f"truth-{self.name}", function, "predict", **range_, task="regression",
            greater_is_better=self.greater_is_better, label="loss",
        )  # fmt: skip

    @property
    def regressors(self) -> dict[Any, Callable[[], Any]]:
        """What regresses the loss, by modulation."""
        if self.level:
            return {"regression": Level, "quantile": Levels}
        return {"regression": Line, "quantile": Band}

    @property
    def worst(self) -> float:
        """The loss of a fit that raised."""
        return self.low if self.greater_is_better else self.high

    def trained(self, shrink: float, sample: Sample, rng: np.random.Generator) -> Centre | None:
        """A candidate, None where its fit raised; without the package."""
        try:
            return Centre(shrink, self.brittle, int(rng.integers(2**31))).fit(*sample)
        except RuntimeError:
            return None

    def losses(self, model: Any, new: Sample) -> NDArray:
        """Losses of a candidate at cases; without the package."""
        if model is None:
            return np.full(len(new[1]), self.worst)
        return self.measure(new[1], model.predict(new[0]))


def _normal(rng: np.random.Generator, n: int) -> NDArray:
    return rng.standard_normal(n)


def _distance(y: NDArray, prediction: NDArray) -> NDArray:
    return np.abs(y - prediction)


def _tiny(y: NDArray, prediction: NDArray) -> NDArray:
    """Three losses in four are a few millionths, the others millions."""
    apart = np.abs(y - prediction)
    return np.where(apart < 1.15, 1e-6 * np.ceil(4 * apart), 4e6 * apart)


def _vast(y: NDArray, prediction: NDArray) -> NDArray:
    """Three losses in four are below what a sum with the others can hold."""
    apart = np.abs(y - prediction)
    return np.where(apart < 1.15, 1e-9, 4e9) * apart


def _rare(rng: np.random.Generator, n: int) -> NDArray:
    return np.where(rng.random(n) < 0.001, 1e4, rng.standard_normal(n))


TRUTHS = {
    truth.name: truth
    for truth in (
        Truth("continuous", _normal, _distance, True),
        Truth("zero-one", _normal, lambda y, p: (np.abs(y - p) > 1.5) * 1.0, False, high=1.0),
        Truth("rounded", _normal, lambda y, p: np.abs(y - p).round(1), False),
        Truth("constant", _normal, lambda y, p: np.full(len(y), 0.1), False),
        Truth("tiny beside huge", _normal, _tiny, False, level=True),
        Truth("tiny beside vast", _normal, _vast, False, level=True),
        Truth(
            "rare large", _rare, lambda y, p: np.where(y > 1e3, 36.0, np.abs(y - p)), False
        ),
        Truth("pareto", lambda rng, n: rng.pareto(2.1, n), _distance, True),
        Truth("cauchy", lambda rng, n: rng.standard_cauchy(n), _distance, True),
        Truth("beyond float32", _normal, lambda y, p: 1e39 * np.abs(y - p), True),
        Truth("far beyond float32", _normal, lambda y, p: 1e200 * np.abs(y - p), True),
        Truth("failing fits", _normal, _distance, False, brittle=True),
        Truth(
            *("greater is better", _normal, lambda y, p: np.exp(-np.abs(y - p)), True),
            high=1.0,
            greater_is_better=True,
        ),
    )
}  # fmt: skip
OVERFLOWING = ("beyond float32", "far beyond float32")


# Kinds of error

BOTH = np.array([0, 1])


class Cut(ClassifierMixin, Quick):
    """Predicts the side of the middle between the class means; ``brittle`` as above."""

    def __init__(self, brittle: bool = False) -> None:
        self.brittle = brittle

    def fit(self, X: NDArray, y: NDArray) -> "Cut":
        """One number."""
        if self.brittle and X[0, 0] < -0.6:
            raise RuntimeError("the first input is small")
        self.classes_ = BOTH
        upper = y == 1
        self.cut_ = (X[upper, 0].mean() + X[~upper, 0].mean()) / 2
        return self

    def predict(self, X: NDArray) -> NDArray:
        """0 or 1."""
        return (X[:, 0] > self.cut_).astype(int)


class Smooth(Quick):
    """Probabilities of symbols that are a smooth function of the case: no ties."""

    def fit(self, X: NDArray, y: NDArray) -> "Smooth":
        """Nothing to learn."""
        self.classes_ = np.array(["Correct", "FN", "FP"])
        return self

    def predict_proba(self, X: NDArray) -> NDArray:
        """The second input decides; the label is the last one."""
        correct, positive = special.ndtr(X[:, 1]), X[:, -1]
        wrong = 1 - correct
        return np.column_stack([correct, wrong * positive, wrong * (1 - positive)])


class ByLabel(Smooth):
    """The frequency of each symbol among the training cases with the same label: ties."""

    def fit(self, X: NDArray, y: NDArray) -> "ByLabel":
        """Counts, with one more of each."""
        self.classes_, symbol = np.unique(y, return_inverse=True)
        size, label = len(self.classes_), X[:, -1].round().astype(int)
        counts = np.bincount(2 * symbol + label, minlength=2 * size).reshape(size, 2).T + 1.0
        self.table_ = counts / counts.sum(axis=1, keepdims=True)
        return self

    def predict_proba(self, X: NDArray) -> NDArray:
        """Its row of the table."""
        return self.table_[X[:, -1].round().astype(int)]


class Flat(Smooth):
    """All symbols equally likely: a constant score."""

    def predict_proba(self, X: NDArray) -> NDArray:
        """A third each."""
        return np.full((len(X), 3), 1 / 3)


@dataclass(frozen=True)
class SymbolTruth:
    """Which classifier scores symbols, which regressor their quantiles; exact without ties."""

    name: str
    classifier: Callable[[], Any]
    regressor: str
    exact: bool
    brittle: bool = False


SYMBOL_TRUTHS = {
    truth.name: truth
    for truth in (
        SymbolTruth("continuous", Smooth, "truth-band", True),
        SymbolTruth("ties", ByLabel, "truth-band", False),
        SymbolTruth("ties, quantile off", ByLabel, "truth-offset", False),
        SymbolTruth("constant score", Flat, "truth-offset", False),
        SymbolTruth("failing fits", ByLabel, "truth-band", False, True),
    )
}


def draw_classes(n: int, rng: np.random.Generator) -> Sample:
    """Two classes that overlap, by the first of two inputs."""
    X = rng.standard_normal((n, 2))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
