"""The algorithms that a user can pick, each with one label, colour, marker and hatch everywhere."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cpp_core.checks import lookup
from cpp_core.learners.gradient import GradientDescent, StochasticGradientDescent
from cpp_core.learners.neighbors import NeighborsClassifier, NeighborsRegressor
from cpp_core.learners.svm import PlattSVC

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Algorithm:
    """A learning algorithm with what a page needs to show it.

    ``makers`` holds, for each task that it can do, what builds its estimator from settings.
    ``lock_free`` says that one large fit runs outside the interpreter lock, hence well in threads;
    ``kernel`` names compiled code that computes whole trials of it, where a dataset has it too.
    """

    name: str
    label: str
    description: str
    color: str
    marker: str
    hatch: str
    makers: dict[Task, Callable[..., Any]]
    lock_free: bool = False
    kernel: str | None = None

    @property
    def ink(self) -> str:
        """Black or white, whichever reads better on the algorithm's colour (WCAG contrast)."""
        shares = [int(self.color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        light = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
        luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
        return "#000000" if (luminance + 0.05) ** 2 > 1.05 * 0.05 else "#FFFFFF"

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks that the algorithm can do."""
        return tuple(self.makers)

    def make(self, task: Task | None = None, **settings: Any) -> Any:
        """An untrained estimator for the task (its first one by default)."""
        task = self.tasks[0] if task is None else task
        if task not in self.makers:
            raise ValueError(
                f"{self.label} does {' and '.join(self.tasks)}, not {task}; pick another algorithm."
            )
        try:
            return self.makers[task](**settings)
        except TypeError as error:
            raise ValueError(f"{self.label} does not take these settings: {error}.") from error


def _scaled(estimator: type, **fixed: Any) -> Callable[..., Any]:
    def make(**settings: Any) -> Any:
        return make_pipeline(StandardScaler(), estimator(**fixed, **settings))

    return make


# Colours beyond the paper's four are Okabe and Ito's, safe for colour-blind eyes; marker and hatch
# tell two algorithms apart where colours cannot.
_OFFERED = (
    Algorithm(
        *("svm-lin", "SVM-lin"),
        "Support vector machine with a linear kernel, probabilities by Platt's method",
        *("#C2188F", "circle", "/"),
        {"classification": partial(PlattSVC, kernel="linear")},
        lock_free=True,
    ),
    Algorithm(
        *("svm-rbf", "SVM-rbf"),
        "Support vector machine with a Gaussian kernel, probabilities by Platt's method",
        *("#1186D8", "square", "\\"),
        {"classification": partial(PlattSVC, kernel="rbf")},
        lock_free=True,
    ),
    Algorithm(
        *("gd", "GD"),
        "Linear model, 5 full-batch gradient updates from a random start",
        *("#D1352B", "triangle-up", "x"),
        {"regression": GradientDescent},
        kernel="descent",
    ),
    Algorithm(
        *("sgd", "SGD"),
        "Linear model, 5 passes of stochastic gradient descent from a random start",
        *("#2A52BE", "triangle-down", "-"),
        {"regression": StochasticGradientDescent},
        kernel="descent",
    ),
    Algorithm(
        *("logistic", "Logistic regression"),
        "Linear log-odds on standardised inputs",
        *("#E69F00", "diamond-wide", "|"),
        {"classification": _scaled(LogisticRegression, max_iter=1000)},
    ),
    Algorithm(
        *("knn", "Nearest neighbours"),
        "The 5 nearest cases (all, where there are fewer) after standardising",
        *("#009E73", "pentagon", "+"),
        {"classification": _scaled(NeighborsClassifier), "regression": _scaled(NeighborsRegressor)},
    ),
    Algorithm(
        *("random-forest", "Random forest"),
        "100 decision trees on bootstrap samples",
        *("#7A5C00", "hexagon", "."),
        {"classification": RandomForestClassifier, "regression": RandomForestRegressor},
    ),
    Algorithm(
        *("boosting", "Gradient boosting"),
        "Histogram-based boosted trees",
        *("#56B4E9", "star", "/"),
        {
            "classification": HistGradientBoostingClassifier,
            "regression": HistGradientBoostingRegressor,
        },
    ),
    Algorithm(
        *("naive-bayes", "Naive Bayes"),
        "Independent Gaussian inputs within each class",
        *("#D55E00", "bowtie", "\\"),
        {"classification": GaussianNB},
    ),
    Algorithm(
        *("ridge", "Ridge"),
        "Linear model with a squared penalty, on standardised inputs",
        *("#8A6FBF", "hourglass", "x"),
        {"regression": _scaled(Ridge)},
    ),
    Algorithm(
        *("dummy", "Dummy"),
        "Ignores the inputs: class frequencies, or the mean",
        *("#999933", "cross", "-"),
        {
            "classification": partial(DummyClassifier, strategy="prior"),
            "regression": DummyRegressor,
        },
    ),
)
ALGORITHMS: dict[str, Algorithm] = {algorithm.name: algorithm for algorithm in _OFFERED}
"""The registered algorithms by name."""


def make_algorithm(name: str, task: Task | None = None, **settings: Any) -> Any:
    """An untrained estimator by its registered name.

    >>> make_algorithm("gd", updates=10)
    GradientDescent(updates=10)
    """
    return lookup(name, ALGORITHMS, "algorithm").make(task, **settings)
