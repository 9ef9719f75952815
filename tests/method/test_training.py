"""Algorithms are total: one class, a raising fit, independent seeds."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cpp_core import LOSSES
from cpp_core.method.evaluation import difference
from cpp_core.method.measuring import observed
from cpp_core.method.training import (
    FailedCandidate,
    algorithm_name,
    check_sample,
    reseeded,
    take,
    train,
)
from tests.builders import Brittle


def test_one_class_gives_a_constant():
    X = np.zeros((3, 1))
    for label in (1, "yes"):
        model = train(LogisticRegression(), X, np.full(3, label), np.random.default_rng(0))
        assert model.predict(X).tolist() == [label] * 3
        assert model.predict_proba(X).tolist() == [[1.0]] * 3


def test_a_raising_fit_is_a_failed_candidate():
    X = np.zeros((3, 1))
    model = train(Brittle(), X, np.array([-1.0, 0, 1]), np.random.default_rng(0))
    assert model == FailedCandidate("RuntimeError: a negative label came first")
    for name, at, worst in (
        ("squared_error", [[0], [1], [2]], [[math.inf]] * 3),
        ("zero_one", [[0], [1], [2]], [[1]] * 3),
        ("accuracy", [[0, 1]], [[0.0]]),
    ):
        found = observed(LOSSES[name], model, X, np.zeros(3), np.array(at))
        assert found.tolist() == worst


def test_seeds_are_set_everywhere_and_differ():
    nested = make_pipeline(
        StandardScaler(), BaggingClassifier(SGDClassifier(random_state=3), random_state=3)
    )
    rng = np.random.default_rng(0)
    copies = [reseeded(nested, rng) for _ in range(20)]
    names = [name for name in nested.get_params() if name.endswith("random_state")]
    assert len(names) == 2
    for name in names:
        assert len({copy.get_params()[name] for copy in copies}) == 20
    assert nested.get_params()["baggingclassifier__random_state"] == 3


def test_the_global_random_state_is_left_alone():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    train(RandomForestClassifier(n_estimators=3), X, y, np.random.default_rng(0))
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_estimators_of_other_kinds():
    class Plain:
        """No get_params, and a fit that returns nothing."""

        def fit(self, X):
            self.centre = X.mean()

    original = Plain()
    model = train(original, np.array([[1.0], [3.0]]), None, np.random.default_rng(0))
    assert model.centre == 2
    assert not hasattr(original, "centre")


def test_difference_of_failures():
    first, second = np.array([math.inf, math.inf, 1.0, 2.0]), np.array([math.inf, 1.0, math.inf, 3])
    assert difference(first, second).tolist() == [0, math.inf, -math.inf, -1]


def test_rows_of_any_container():
    rows = np.array([2, 0])
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[7, 8, 9])
    assert take(frame, rows)["a"].tolist() == [3, 1]
    assert take(np.array([[1], [2], [3]]), rows).tolist() == [[3], [1]]
    assert take(sparse.csr_array([[1], [2], [3]]), rows).toarray().tolist() == [[3], [1]]


def test_names():
    assert algorithm_name(make_pipeline(StandardScaler(), LogisticRegression())) == (
        "LogisticRegression"
    )


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.zeros((0, 2)), [], "no rows"),
        ([[1], [2]], [1], "one label for each of the 2 rows"),
        ([[1], [2]], [[1, 2], [3, 4]], "one label"),
        ([[1], [2]], [1.0, np.nan], "1 of 2 rows .the first is row 1"),
        ([[1], [2]], [np.inf, 1.0], "infinite"),
        ([[1], [2]], ["a", None], "missing"),
        ([[1], [2]], np.array(["a", 1], dtype=object), "mixes text and numbers"),
    ],
)
def test_unusable_samples(X, y, says):
    with pytest.raises(ValueError, match=says):
        check_sample(X, y)


def test_usable_samples():
    X, y = check_sample([[1], [2]], pd.Series(["a", "b"]))
    assert X.shape == (2, 1)
    assert y.tolist() == ["a", "b"]
    assert check_sample([[1]], [[5]])[1].tolist() == [5]
    assert check_sample([[1]], None)[1] is None
