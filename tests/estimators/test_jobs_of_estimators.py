"""``n_jobs`` of the estimators: joblib's convention, and the same numbers for any."""

import joblib
import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import cpp_core.method.measuring
from cpp_core import AlgorithmCPP, FailedFitWarning, SymbolicCPP
from tests.builders import Brittle, normal_sample


@pytest.fixture
def shares(monkeypatch):
    """How many shares of the training runs each call makes."""
    seen = []
    split = np.array_split

    def noting(runs, n):
        seen.append(n)
        return split(runs, n)

    monkeypatch.setattr(cpp_core.method.measuring.np, "array_split", noting)
    return seen


def test_the_same_numbers_for_any_number(shares):
    X, y = normal_sample(300, np.random.default_rng(0))
    options = {"n_sets": 21, "n_evaluations": 2, "random_state": 4}
    tree = DecisionTreeRegressor(max_features=1, splitter="random")
    alone = AlgorithmCPP(tree, paired_with=Brittle(), **options)
    with pytest.warns(FailedFitWarning):
        alone.conformalize(X, y)
    assert not shares
    for n_jobs, backend in ((2, "loky"), (None, "threading"), (-1, "threading")):
        found = AlgorithmCPP(tree, paired_with=Brittle(), n_jobs=n_jobs, **options)
        with joblib.parallel_config(backend, n_jobs=3), pytest.warns(FailedFitWarning):
            found.conformalize(X, y)
        assert (found.losses_ == alone.losses_).all()
        assert found.failures_ == alone.failures_ != []
    assert shares[:4] == [8, 8, 12, 12]  # four for each worker
    with pytest.raises(ValueError, match="n_jobs == 0"):
        AlgorithmCPP(tree, n_jobs=0, **options).conformalize(X, y)


def test_kinds_of_error_too(shares):
    X, y = normal_sample(300, np.random.default_rng(0))
    options = {"n_sets": 12, "random_state": 1, "regressor": None}
    tree, labels = DecisionTreeClassifier(splitter="random"), (y > 0).astype(int)
    alone, found = (
        SymbolicCPP(tree, n_jobs=n_jobs, **options).conformalize(X, labels) for n_jobs in (1, 2)
    )
    assert shares == [8] * 3
    sets = [cpp.predict_set(X[:50], labels[:50], confidence_level=0.7) for cpp in (alone, found)]
    assert (sets[0] == sets[1]).all()
