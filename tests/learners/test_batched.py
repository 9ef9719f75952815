"""All candidates at once: the losses of scikit-learn's estimators, one by one."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import cpp_core.learners.batched
from cpp_core import ALGORITHMS, LOSSES, AlgorithmCPP, Loss, make_algorithm
from cpp_core.learners.batched import measure_naive_bayes, measure_ridge, measuring_of
from cpp_core.method.constructions import modulated, plain, with_test
from cpp_core.method.evaluation import LossError
from cpp_core.method.measuring import measure
from cpp_core.method.training import BEFORE_FIT


@pytest.fixture
def plainly(monkeypatch):
    """How often the plain way was taken."""
    calls = []
    monkeypatch.setattr(
        cpp_core.learners.batched, "measure", lambda *asked: calls.append(asked) or measure(*asked)
    )
    return calls


def sample(n, p, n_classes, rng):
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-3, 4, size=p)
    X[:, 0] = np.round(X[:, 0] / 1e4)  # without spread in most training samples
    y = rng.integers(n_classes, size=n) if n_classes else X @ rng.normal(size=p)
    return X, np.array(["no", "yes", "perhaps"])[y] if n_classes else y


@pytest.mark.parametrize(
    "parts",
    [
        with_test(plain(120, 20), 120, 7),  # m = 5: some samples lack a class, or have one
        with_test(plain(120, 5, 3), 120, 2),
        with_test(plain(120), 120, 40),
        modulated(120, 8),
    ],
    ids=["z-free", "grouped", "candidate", "z-fixed"],
)
@pytest.mark.parametrize(
    ("name", "p", "loss"),
    [
        ("ridge", 3, "squared_error"),
        ("ridge", 30, "absolute_error"),  # more columns than cases
        ("naive-bayes", 4, "log_loss"),
        ("naive-bayes", 2, "brier"),
        ("naive-bayes", 2, "zero_one"),
    ],
)
def test_the_plain_twin(parts, name, p, loss, plainly):
    fast, n_classes = (measure_ridge, 0) if name == "ridge" else (measure_naive_bayes, 3)
    asked = make_algorithm(name), LOSSES[loss], *sample(170, p, n_classes, np.random.default_rng(p))
    counted = []
    token = BEFORE_FIT.set(lambda: counted.append(1))
    try:
        rngs = [np.random.default_rng(5) for _ in range(2)]
        ours = fast(*asked, parts, rngs[0])
        fits = len(counted)
        theirs = measure(*asked, parts, rngs[1])
    finally:
        BEFORE_FIT.reset(token)
    assert not plainly
    assert 2 * fits == len(counted)
    assert ours.failures == theirs.failures == []
    for role, values in theirs.values.items():
        np.testing.assert_allclose(ours.values[role], values, rtol=1e-6, atol=1e-9)
        assert (ours.at[role] == theirs.at[role]).all()
    if "regress" in theirs.values:  # whose seeds come next
        assert rngs[0].spawn(1)[0].random() == rngs[1].spawn(1)[0].random()


def outcome(way, *asked):
    """The losses, or why there are none."""
    try:
        return way(*asked).values["calibrate"].tolist()
    except LossError as error:
        return error


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")  # scikit-learn, of columns of 0
def test_what_is_not_usual_goes_the_plain_way(plainly):
    rng = np.random.default_rng(0)
    X, y = sample(60, 3, 0, rng)
    missing, labels = X.copy(), np.where(y > 0, "a", "b")
    missing[3, 1] = np.nan
    ridge, loss, parts = make_algorithm("ridge"), LOSSES["squared_error"], plain(60, 5)
    named = Loss("mine", lambda candidate, X, y: candidate.predict(X) * 0, "predict", 0, 1)
    bayes = GaussianNB()
    odd = (
        (measure_ridge, Ridge(), loss, X, y),
        (measure_ridge, make_pipeline(StandardScaler(), Ridge(solver="svd")), loss, X, y),
        (measure_ridge, make_pipeline(StandardScaler(with_std=False), Ridge()), loss, X, y),
        (measure_ridge, make_pipeline(StandardScaler(), Ridge(alpha=0)), loss, X, y),
        (measure_ridge, ridge, loss, missing, y),
        (measure_ridge, ridge, named, X, y),
        (measure_ridge, ridge, replace(loss, high=1e-9), X, y),
        (measure_naive_bayes, GaussianNB(priors=[0.5, 0.5]), LOSSES["log_loss"], X, labels),
        (measure_naive_bayes, bayes, LOSSES["log_loss"], X * 0, labels),
    )
    for i, (fast, *asked) in enumerate(odd):
        found, expected = (
            outcome(way, *asked, parts, np.random.default_rng(1)) for way in (fast, measure)
        )
        assert str(found) == str(expected)
        assert len(plainly) == i + 1


@pytest.mark.parametrize("name", [own.name for own in ALGORITHMS.values() if own.batched])
def test_fast_paths_have_the_signature_of_the_plain_way(name):
    own = ALGORITHMS[name].measuring()
    assert inspect.signature(own) == inspect.signature(measure)
    assert measuring_of(make_algorithm(name)) is own


def test_what_is_not_known_is_measured_plainly():
    positive = make_pipeline(StandardScaler(), Ridge(positive=True))
    for other in (Ridge(), make_algorithm("knn"), positive, "text"):
        assert measuring_of(other) is measure


class OwnRidge(Ridge):
    """Another class, which therefore goes the plain way."""


class OwnBayes(GaussianNB):
    """The same for naive Bayes."""


@pytest.mark.parametrize(
    ("modulation", "regressor"), [(None, None), ("regression", LinearRegression())]
)
@pytest.mark.parametrize(
    ("name", "twin", "loss"),
    [
        ("ridge", make_pipeline(StandardScaler(), OwnRidge()), "squared_error"),
        ("naive-bayes", OwnBayes(), "log_loss"),
    ],
)
def test_the_estimators_take_the_fast_path(name, twin, loss, modulation, regressor):
    X, y = sample(400, 3, 0 if name == "ridge" else 3, np.random.default_rng(5))
    known = make_algorithm(name)
    assert measuring_of(known) is not measuring_of(twin)
    both = [
        AlgorithmCPP(
            own, loss, n_sets=19, modulation=modulation, regressor=regressor, random_state=3
        )
        .conformalize(X, y)
        .predict_interval(*((X[:5], y[:5]) if modulation else ()), confidence_level=0.8)
        for own in (known, twin)
    ]
    np.testing.assert_allclose(*both, rtol=1e-6, atol=1e-9)


def test_a_pair_has_the_seeds_that_it_had():
    """The second of two estimators draws the seeds that the first one leaves."""
    X, y = sample(200, 3, 0, np.random.default_rng(6))
    rival = make_algorithm("random-forest", "regression", n_estimators=3)
    twin = make_pipeline(StandardScaler(), OwnRidge())
    found = [
        AlgorithmCPP(first, n_sets=9, paired_with=rival, random_state=1).conformalize(X, y).losses_
        for first in (make_algorithm("ridge"), twin)
    ]
    assert (found[0] == found[1]).all()
