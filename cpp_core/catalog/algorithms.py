"""The algorithms that a user can pick, each with one label, colour, marker and hatch everywhere."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from cpp_core.checks import lookup

Task = Literal["classification", "regression"]


@dataclass(frozen=True)
class Algorithm:
    """A learning algorithm with what a page needs to show it.

    ``makers`` holds, for each task that it can do, what builds its estimator from settings.
    ``lock_free`` says that one large fit runs outside the interpreter lock, hence well in threads;
    ``kernel`` names compiled code that computes whole trials of it, where a dataset has it too.
    ``batched`` is the place of code that trains and judges all candidates of a layout at once.
    ``responses`` are the methods of its classifiers beyond ``predict``; None where only one that is
    made can tell.
    ``case_bytes`` and ``pair_bytes`` are about what a fit takes for each case that it trains on,
    and for each pair of them (or of one and a case that it is judged at).
    ``own`` says that a user added it, which this process alone knows; then ``digest`` tells what
    its numbers depend on, ``kept`` whether it can be found again by that, and ``prepares`` whether
    it reads a frame as it is.
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
    batched: str | None = None
    responses: tuple[str, ...] | None = None
    case_bytes: int = 200
    pair_bytes: int = 0
    own: bool = False
    digest: str = ""
    kept: bool = True
    prepares: bool = False

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

    def measuring(self) -> Callable[..., Any] | None:
        """The algorithm's own way to measure, with the signature of ``method.measuring.measure``.

        It is for the algorithm as it is made here: other settings, losses and tables it passes on.
        """
        return None if self.batched is None else loaded(self.batched)

    def answers(self, response: str, task: Task, **settings: Any) -> bool:
        """Whether its candidates have the method that a loss calls; loads nothing to know it."""
        if self.responses is None:
            return hasattr(self.make(task, **settings), response)
        return response == "predict" or (task == "classification" and response in self.responses)

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
            names = ", ".join(map(repr, settings))
            raise ValueError(f"{self.label} does not take these settings: {names}.") from error


def prepares(names: Iterable[str]) -> bool:
    """Whether one of these algorithms, those that are known here, reads a frame as it is."""
    return any(ALGORITHMS[name].prepares for name in names if name in ALGORITHMS)


def made(place: str, **fixed: Any) -> Callable[..., Any]:
    """What makes an estimator of the class at a place, as ``module:name``, with fixed settings.

    Its module is loaded when the first one is made: who trains nothing never waits for it.
    """

    def make(**settings: Any) -> Any:
        return loaded(place)(**{**fixed, **settings})

    return make


def loaded(place: str) -> Any:
    """What is at a place, as ``module:name``."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


def scaled(place: str, **fixed: Any) -> Callable[..., Any]:
    """The same on standardised inputs."""
    make = made(place, **fixed)

    def pipeline(**settings: Any) -> Any:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), make(**settings))

    return pipeline


_LIKELY, _SCORES = ("predict_proba",), ("predict_proba", "decision_function")

# Colours beyond the paper's four are Okabe and Ito's, safe for colour-blind eyes; marker and hatch
# tell two algorithms apart where colours cannot.
_OFFERED = (
    Algorithm(
        *("svm-lin", "SVM-lin"),
        "Support vector machine with a linear kernel, probabilities by Platt's method",
        *("#C2188F", "circle", "/"),
        {"classification": made("cpp_core.learners.svm:PlattSVC", kernel="linear")},
        lock_free=True,
        pair_bytes=12,
        responses=_SCORES,
    ),
    Algorithm(
        *("svm-rbf", "SVM-rbf"),
        "Support vector machine with a Gaussian kernel, probabilities by Platt's method",
        *("#1186D8", "square", "\\"),
        {"classification": made("cpp_core.learners.svm:PlattSVC", kernel="rbf")},
        lock_free=True,
        pair_bytes=12,
        responses=_SCORES,
    ),
    Algorithm(
        *("gd", "GD"),
        "Linear model, 5 full-batch gradient updates from a random start",
        *("#D1352B", "triangle-up", "x"),
        {"regression": made("cpp_core.learners.gradient:GradientDescent")},
        kernel="descent",
        responses=(),
    ),
    Algorithm(
        *("sgd", "SGD"),
        "Linear model, 5 passes of stochastic gradient descent from a random start",
        *("#2A52BE", "triangle-down", "-"),
        {"regression": made("cpp_core.learners.gradient:StochasticGradientDescent")},
        kernel="descent",
        responses=(),
    ),
    Algorithm(
        *("logistic", "Logistic regression"),
        "Linear log-odds on standardised inputs",
        *("#E69F00", "diamond-wide", "|"),
        {"classification": scaled("sklearn.linear_model:LogisticRegression", max_iter=1000)},
        responses=_SCORES,
    ),
    Algorithm(
        *("knn", "Nearest neighbours"),
        "The 5 nearest cases (all, where there are fewer) after standardising",
        *("#009E73", "pentagon", "+"),
        {
            "classification": scaled("cpp_core.learners.neighbors:NeighborsClassifier"),
            "regression": scaled("cpp_core.learners.neighbors:NeighborsRegressor"),
        },
        responses=_LIKELY,
    ),
    Algorithm(
        *("random-forest", "Random forest"),
        "100 decision trees on bootstrap samples",
        *("#7A5C00", "hexagon", "."),
        {
            "classification": made("sklearn.ensemble:RandomForestClassifier"),
            "regression": made("sklearn.ensemble:RandomForestRegressor"),
        },
        case_bytes=12_000,  # of 100 trees, grown until each leaf is pure
        responses=_LIKELY,
    ),
    Algorithm(
        *("boosting", "Gradient boosting"),
        "Histogram-based boosted trees",
        *("#56B4E9", "star", "/"),
        {
            "classification": made("sklearn.ensemble:HistGradientBoostingClassifier"),
            "regression": made("sklearn.ensemble:HistGradientBoostingRegressor"),
        },
        responses=_SCORES,
    ),
    Algorithm(
        *("naive-bayes", "Naive Bayes"),
        "Independent Gaussian inputs within each class",
        *("#D55E00", "bowtie", "\\"),
        {"classification": made("sklearn.naive_bayes:GaussianNB")},
        batched="cpp_core.learners.batched:measure_naive_bayes",
        responses=_LIKELY,
    ),
    Algorithm(
        *("ridge", "Ridge"),
        "Linear model with a squared penalty, on standardised inputs",
        *("#8A6FBF", "hourglass", "x"),
        {"regression": scaled("sklearn.linear_model:Ridge")},
        batched="cpp_core.learners.batched:measure_ridge",
        responses=(),
    ),
    Algorithm(
        *("dummy", "Dummy"),
        "Ignores the inputs: class frequencies, or the mean",
        *("#999933", "cross", "-"),
        {
            "classification": made("sklearn.dummy:DummyClassifier", strategy="prior"),
            "regression": made("sklearn.dummy:DummyRegressor"),
        },
        responses=_LIKELY,
    ),
)


def _imported(module: str, name: str, coded: bool, fixed: Mapping[str, Any]) -> Callable[..., Any]:
    """What makes an estimator of another library, which is imported when it is made."""

    def make(**settings: Any) -> Any:
        try:
            library = import_module(module)
        except (ImportError, OSError) as error:
            raise ValueError(
                f"{module} is installed but cannot be loaded ({error}); mend it, or pick another "
                "algorithm."
            ) from error
        made = getattr(library, name)(**{**fixed, **settings})
        if not coded:
            return made
        from cpp_core.learners.coded_labels import CodedLabels

        return CodedLabels(made)

    return make


def _of_library(
    about: tuple[str, str, str], look: tuple[str, str, str], module: str, prefix: str,
    coded: bool, fixed: Mapping[str, Any],
) -> Algorithm:  # fmt: skip
    makers: dict[Task, Callable[..., Any]] = {
        "classification": _imported(module, f"{prefix}Classifier", coded, fixed),
        "regression": _imported(module, f"{prefix}Regressor", False, fixed),
    }
    return Algorithm(*about, *look, makers)


_ELSEWHERE = (
    _of_library(
        ("lightgbm", "LightGBM", "Boosted trees of the library LightGBM"),
        ("#DDAA33", "triangle-ne", "\\"),
        *("lightgbm", "LGBM", False, {"verbosity": -1, "n_jobs": 1}),
    ),
    _of_library(
        ("xgboost", "XGBoost", "Boosted trees of the library XGBoost"),
        ("#BB5566", "triangle-nw", "."),
        *("xgboost", "XGB", True, {"n_jobs": 1}),
    ),
    _of_library(
        ("catboost", "CatBoost", "Boosted trees of the library CatBoost"),
        ("#225555", "triangle-se", "+"),
        *("catboost", "CatBoost", True),
        {
            **{"verbose": False, "allow_writing_files": False},
            **{"thread_count": 1, "random_state": 0},
        },
    ),
)
"""Offered where their library, of the same name, is installed; never required."""

ALGORITHMS: dict[str, Algorithm] = {
    own.name: own
    for own in (*_OFFERED, *(other for other in _ELSEWHERE if find_spec(other.name) is not None))
}
"""The registered algorithms by name."""


def make_algorithm(name: str, task: Task | None = None, **settings: Any) -> Any:
    """An untrained estimator by its registered name.

    >>> make_algorithm("gd", updates=10)
    GradientDescent(updates=10)
    """
    return lookup(name, ALGORITHMS, "algorithm").make(task, **settings)
