"""What is known of an algorithm before it is trained again and again, looked up once.

To find where its seeds are, to clone it and to check its parameters takes as long as many a small
fit: of a trial with ridge or logistic regression 16 to 23 % went into cloning, and as much again
into checks whose outcome is known. Copies and numbers are the same, bit for bit.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

LEARNERS = (
    "sklearn.discriminant_analysis",
    "sklearn.dummy",
    "sklearn.ensemble.",
    "sklearn.linear_model.",
    "sklearn.naive_bayes",
    "sklearn.neighbors.",
    "sklearn.svm.",
    "sklearn.tree.",
    "cpp_core.learners.",
)
"""Modules of estimators that keep nothing but their parameters before they are fitted."""

SCALER = "sklearn.preprocessing._data.StandardScaler"
ENCODER = "cpp_core.learners.table_encoder.TableEncoder"
PREPARED = (SCALER, ENCODER)
"""What may stand before them in a pipeline: of moderate numbers it makes finite ones in float64.

The encoder, which comes first, makes them of missing ones too. A new value divided by a tiny spread
of the training cases may be too great for float32.
"""

TREES = ("sklearn.ensemble.", "sklearn.tree.")
"""Modules of learners that compute with float32, which is told from their checks alone."""

FORESTS = tuple(
    f"sklearn.ensemble._forest.{kind}{task}"
    for kind in ("RandomForest", "ExtraTrees")
    for task in ("Classifier", "Regressor")
)
"""They keep the tree that they grow as well, which can be made quick to copy."""

GREATEST = 1e30
"""Beyond this a finite table may overflow inside an estimator, also as float32: checks stay on."""

Scalar = bool | int | float | str | None


class Recipe:
    """How an algorithm is copied for a training run, where its seeds are, and what is checked.

    Attributes
    ----------
    estimator : the algorithm, untrained
    names : list of str
        Its parameters ``random_state``, nested ones too, in a fixed order.
    plain : bool
        Whether it is one of scikit-learn's learners or of ours, alone or after a standardisation,
        with numbers and words as its only settings.
    checked : bool
        Whether a training run with all of scikit-learn's checks has passed.
    fills : bool
        Whether it begins with an encoder, to which missing numbers are numbers.
    scales : bool
        Whether something stands before the learner, which divides by the spread of training cases.
    narrow : bool
        Whether the learner computes with float32.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.names = random_parameters(estimator)
        self.checked = False
        self.plain = False
        self.fills = False
        self.scales = False
        self.narrow = False
        self._template: Any = None
        if hasattr(estimator, "get_params"):
            self._template = _untrained(estimator)
            self.plain = _is_plain(self._template)
        if self.plain:
            steps = _steps(self._template)
            self.fills, self.scales = _place(type(steps[0])) == ENCODER, len(steps) > 1
            self.narrow = _place(type(steps[-1])).startswith(TREES)
            _quicken(steps[-1])

    def copy(self) -> Any:
        """An untrained copy that shares nothing with others."""
        if self.plain:
            return _copied(self._template)
        from sklearn.base import clone

        return clone(self.estimator)

    def seed(self, fresh: Any, seeds: dict[str, int]) -> Any:
        """Give a copy its seeds."""
        if not self.plain:
            return fresh.set_params(**seeds) if seeds else fresh
        for name, seed in seeds.items():
            own = fresh
            for step in name.split("__")[:-1]:
                own = dict(own.steps)[step]
            own.random_state = seed
        return fresh

    def trusted(self, X: Any, y: NDArray | None) -> AbstractContextManager[None]:
        """Let scikit-learn leave out checks that have passed once, where data are known as finite.

        All are made until a training run has passed them, and always where the algorithm is not
        ``plain``: a search, or a transformation of a user's own, may meet other parameters, or
        infinities, in a later run. What is standardised must be float64, and stay it.
        """
        if not self.plain or not self.checked:
            return nullcontext()
        from sklearn import config_context

        finite = moderate(X, self.fills) and self._stays_finite(X.dtype)
        finite = finite and (y is None or y.dtype.kind not in "fc" or moderate(y))
        return config_context(assume_finite=finite, skip_parameter_validation=True)

    def _stays_finite(self, dtype: np.dtype) -> bool:
        """Whether moderate numbers of this type do, whatever the spread that they are divided by.

        In float64 it is at least 1e-162, as its square is not 0.
        """
        return not self.scales or not (self.narrow or (dtype.kind == "f" and dtype.itemsize < 8))


def moderate(values: Any, gaps: bool = False) -> bool:
    """Whether these are plain numbers, none of them missing, infinite or too great to be squared.

    With ``gaps`` some may be missing.

    >>> moderate(np.eye(2)), moderate(np.array([1, np.nan])), moderate(np.array([1e200]))
    (True, False, False)
    >>> moderate(np.array([1, np.nan]), gaps=True)
    True
    """
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub" or not values.size:
        return False
    if values.dtype.kind in "iub":
        return True
    least, most = (np.fmin, np.fmax) if gaps else (np.minimum, np.maximum)
    low, high = least.reduce(values, axis=None), most.reduce(values, axis=None)
    return bool(low > -GREATEST and high < GREATEST)  # NaN compares as false


def random_parameters(estimator: Any) -> list[str]:
    """The names of all parameters ``random_state``, nested ones too, in a fixed order."""
    if not hasattr(estimator, "get_params"):
        return []
    return [
        name
        for name in sorted(estimator.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]


def _untrained(estimator: Any) -> Any:
    """A clone, None where it cannot be cloned: then each training run says so."""
    from sklearn.base import clone

    try:
        return clone(estimator)
    except Exception:  # whatever it is, a training run meets it again and counts as failed
        return None


def _is_plain(estimator: Any) -> bool:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    own = type(estimator)
    if own is Pipeline:
        *before, (_, last) = estimator.steps
        usual = estimator.memory is None and set(vars(estimator)) == set(
            estimator.get_params(deep=False)
        )
        known = all(_place(type(step)) in PREPARED and _only_scalars(step) for _, step in before)
        return usual and known and _is_plain(last)
    return (
        isinstance(estimator, BaseEstimator)
        and _place(own).startswith(LEARNERS)
        and own.__sklearn_clone__ is BaseEstimator.__sklearn_clone__
        and _only_scalars(estimator)
    )


def _place(own: type) -> str:
    return f"{own.__module__}.{own.__qualname__}"


def _only_scalars(estimator: Any) -> bool:
    """Whether it holds its parameters and nothing else, and these cannot be changed by a fit."""
    held = estimator.get_params(deep=False) if _is_forest(estimator) else vars(estimator)
    return set(held) == set(estimator.get_params(deep=False)) and all(
        isinstance(value, Scalar)
        or (isinstance(value, tuple) and all(isinstance(own, Scalar) for own in value))
        for value in held.values()
    )


def _is_forest(estimator: Any) -> bool:
    return _place(type(estimator)) in FORESTS


def _steps(template: Any) -> list[Any]:
    """What a pipeline consists of, nested ones too; an estimator alone."""
    if not hasattr(template, "steps"):
        return [template]
    return [own for _, step in template.steps for own in _steps(step)]


def _quicken(learner: Any) -> None:
    """Let a forest copy its trees without looking at their parameters again."""
    if _is_forest(learner):
        from cpp_core.method.quick_trees import quick_tree  # with scikit-learn, which is there

        learner.estimator = quick_tree(learner.estimator)


def _copied(template: Any) -> Any:
    fresh = object.__new__(type(template))
    fresh.__dict__.update(template.__dict__)
    if "steps" in fresh.__dict__:
        fresh.steps = [(name, _copied(step)) for name, step in template.steps]
    return fresh
