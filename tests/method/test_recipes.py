"""What is looked up once: copies and checks that change no number."""

import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from cpp_core import LOSSES, PlattSVC, load_dataset
from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.learners.table_encoder import TableEncoder
from cpp_core.method.constructions import plain
from cpp_core.method.measuring import measure
from cpp_core.method.recipes import Recipe
from cpp_core.method.training import reseeded

CLONED = ("lightgbm", "xgboost", "catboost")
"""They keep more than their parameters."""


class OtherForest(RandomForestClassifier):
    """A forest of a user's own."""


SEARCH = GridSearchCV(LogisticRegression(), {"C": [-1.0, 1.0]})
AFTER_AN_ENCODER = make_pipeline(
    TableEncoder((1,)), make_pipeline(StandardScaler(), LogisticRegression(random_state=3))
)
PLAIN = (
    *(known.make() for known in ALGORITHMS.values() if known.name not in CLONED),
    make_pipeline(StandardScaler(), LogisticRegression(random_state=3)),
    PlattSVC(kernel="linear"),
    AFTER_AN_ENCODER,
)
OTHERS = (
    SEARCH,
    make_pipeline(FunctionTransformer(np.log), Ridge()),
    BaggingClassifier(LogisticRegression()),
    RandomForestClassifier(3, class_weight={0: 1.0, 1: 2.0}),
    OtherForest(3),
)


@pytest.mark.parametrize("estimator", PLAIN, ids=lambda own: type(own).__name__)
def test_a_copy_is_a_clone_with_seeds(estimator):
    recipe = Recipe(estimator)
    assert recipe.plain
    fresh = reseeded(estimator, np.random.default_rng(1), recipe)
    rng = np.random.default_rng(1)
    seeds = {name: int(rng.integers(2**31)) for name in recipe.names}
    expected = clone(estimator).set_params(**seeds)
    assert repr(fresh.get_params()) == repr(expected.get_params())
    assert type(fresh) is type(estimator)
    fresh.added_ = 1
    assert not hasattr(recipe.copy(), "added_")
    if hasattr(fresh, "steps"):
        assert fresh.steps[-1][1] is not recipe.copy().steps[-1][1]


@pytest.mark.parametrize("estimator", OTHERS, ids=lambda own: type(own).__name__)
def test_what_may_behave_otherwise_later_is_cloned_and_checked(estimator):
    recipe = Recipe(estimator)
    recipe.checked = True
    assert not recipe.plain
    assert recipe.copy() is not estimator
    with recipe.trusted(np.ones((2, 2)), None):
        with pytest.raises(ValueError, match="NaN"):
            Ridge().fit(np.array([[np.nan]]), [1.0])
        with pytest.raises(ValueError, match="'alpha' parameter"):
            Ridge(alpha=-1).fit(np.ones((2, 1)), [1.0, 2.0])


class Noting(BaseEstimator):
    """Stands for a learner of scikit-learn; notes which checks it was spared."""

    __module__ = "sklearn.linear_model._noting"
    seen: ClassVar[list] = []

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        from sklearn import get_config

        config = get_config()
        self.seen.append((config["assume_finite"], config["skip_parameter_validation"]))
        if self.alpha < 0:
            raise ValueError("alpha")
        return self

    def predict(self, X):
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("alpha", "worst", "first", "later"),
    [
        (1.0, 1.0, (False, False), (True, True)),
        (1.0, np.nan, (False, False), (False, True)),
        (1.0, 1e200, (False, False), (False, True)),
        (-1.0, 1.0, (False, False), (False, False)),
    ],
    ids=["finite", "missing", "too great", "failed"],
)
def test_checks_are_left_out_after_one_fit_and_where_all_is_finite(alpha, worst, first, later):
    X, y = np.ones((40, 2)), np.arange(40.0)
    X[7, 1] = worst
    Noting.seen.clear()
    measure(Noting(alpha), LOSSES["squared_error"], X, y, plain(40, 5), np.random.default_rng(0))
    assert Noting.seen == [first] + [later] * 4


NARROW = (
    (make_pipeline(StandardScaler(), RandomForestRegressor(3)), float),
    (make_pipeline(TableEncoder(), ExtraTreesRegressor(3)), float),
    (make_pipeline(TableEncoder(), GradientBoostingRegressor(n_estimators=3)), float),
    (make_pipeline(TableEncoder(), make_pipeline(StandardScaler(), ExtraTreesRegressor(3))), float),
    (make_pipeline(StandardScaler(), Ridge()), np.float32),
)


@pytest.mark.parametrize(
    ("estimator", "dtype"), NARROW, ids=lambda own: getattr(own, "__name__", "learner")
)
def test_what_standardising_makes_too_great_for_float32_is_refused_in_every_run(estimator, dtype):
    """A new value of 1e29, where the training cases lie within 1e-20, as the first run meets it."""
    X = np.column_stack([np.linspace(0, 1e-20, 20), np.linspace(0, 1, 20)]).astype(dtype)
    y, new = np.linspace(0, 1, 20), np.array([[1e29, 0.5]], dtype=dtype)
    recipe = Recipe(estimator)
    assert recipe.plain
    for recipe.checked in (False, True):
        with recipe.trusted(np.concatenate([X, new]), None):
            fitted = recipe.copy().fit(X, y)
            assert np.isfinite(fitted.predict(X)).all()
            with np.errstate(over="ignore"), pytest.raises(ValueError, match="contains infinity"):
                fitted.predict(new)


@pytest.mark.parametrize("name", ["logistic", "knn", "random-forest"])
def test_losses_are_those_of_checked_clones(name, monkeypatch):
    data = load_dataset("breast-cancer")
    settings = {"n_estimators": 5} if name == "random-forest" else {}
    asked = ALGORITHMS[name].make("classification", **settings), LOSSES["log_loss"], *data.table
    ours = measure(*asked, plain(569, 9), np.random.default_rng(3))
    monkeypatch.setattr("cpp_core.method.recipes._is_plain", lambda estimator: False)
    theirs = measure(*asked, plain(569, 9), np.random.default_rng(3))
    assert (ours.values["calibrate"] == theirs.values["calibrate"]).all()


FORESTS = (
    RandomForestClassifier(4, max_features=2),
    RandomForestRegressor(4, min_samples_leaf=3),
    ExtraTreesClassifier(4, max_depth=3),
    make_pipeline(StandardScaler(), ExtraTreesRegressor(4, criterion="absolute_error")),
)


@pytest.mark.parametrize("estimator", FORESTS, ids=lambda own: type(own).__name__)
def test_a_forest_of_quick_trees_is_the_forest(estimator):
    X, y = load_dataset("breast-cancer").table
    y = (y == y[0]).astype(float)
    recipe = Recipe(estimator)
    assert recipe.plain
    ours = reseeded(estimator, np.random.default_rng(2), recipe).fit(X[:200], y[:200])
    seed = {name: int(np.random.default_rng(2).integers(2**31)) for name in recipe.names}
    theirs = clone(estimator).set_params(**seed).fit(X[:200], y[:200])
    answer = "predict_proba" if hasattr(theirs, "predict_proba") else "predict"
    assert (getattr(ours, answer)(X) == getattr(theirs, answer)(X)).all()
    forest, other = (own[-1] if hasattr(own, "steps") else own for own in (ours, theirs))
    for tree, known in zip(forest.estimators_, other.estimators_, strict=True):
        assert isinstance(tree, type(known))
        assert tree.get_params() == known.get_params()
        assert not hasattr(clone(tree), "tree_")
        assert (pickle.loads(pickle.dumps(tree)).predict(X) == known.predict(X)).all()


@pytest.mark.parametrize("value", [1.0, np.nan, np.inf, 1e200])
def test_losses_after_an_encoder_are_those_of_checked_clones(value, monkeypatch):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=120), rng.integers(0, 4, 120), rng.normal(size=120)])
    X[rng.random(X.shape) < 0.1] = np.nan
    X[7, 2] = value
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=120) > 0).astype(int)
    asked = AFTER_AN_ENCODER, LOSSES["log_loss"], X, y, plain(120, 9)
    ours = measure(*asked, np.random.default_rng(3))
    assert not ours.failures
    monkeypatch.setattr("cpp_core.method.recipes._is_plain", lambda estimator: False)
    theirs = measure(*asked, np.random.default_rng(3))
    assert (ours.values["calibrate"] == theirs.values["calibrate"]).all()
