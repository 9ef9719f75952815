"""AlgorithmCPP as a user meets it."""

import math

import numpy as np
import pytest
from quantile_forest import RandomForestQuantileRegressor
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from cpp_core import (
    AlgorithmCPP,
    FailedFitWarning,
    GradientDescent,
    InfiniteEndWarning,
    digits_features,
    interval,
    load_dataset,
)
from cpp_core.method.modulation import CaseFeatures, finite_targets
from tests.builders import Brittle, Line, Mean, normal_sample


@pytest.fixture(scope="module")
def data():
    return normal_sample(660, np.random.default_rng(0))


def test_z_free(data):
    cpp = AlgorithmCPP(Mean(), n_sets=50, random_state=0).conformalize(*data)
    assert (cpp.k_, cpp.m_) == (50, 12)
    assert cpp.losses_.shape == (50,)
    assert (cpp.predict_interval() == interval(cpp.losses_, 0.1, low=0)).all()
    assert cpp.predict_interval(confidence_level=[0.8, 0.9]).shape == (2, 2)
    again = clone(cpp).conformalize(*data)
    assert (again.losses_ == cpp.losses_).all()


def test_several_evaluations(data):
    cpp = AlgorithmCPP(Mean(), n_sets=30, n_evaluations=4, random_state=0).conformalize(*data)
    assert cpp.losses_.shape == (30, 4)
    assert (cpp.k_, cpp.m_) == (30, 18)
    ordered = np.sort(cpp.losses_, axis=None)
    # (K+1) b = 124: upper ceil(111.6) = 112; two-sided f = floor(6.2) = 6, lo = 3, hi = 118.
    assert cpp.predict_interval(side="upper").tolist() == [0, ordered[111]]
    assert cpp.predict_interval().tolist() == [ordered[2], ordered[117]]
    few = AlgorithmCPP(Mean(), n_sets=8, n_evaluations=50, random_state=0).conformalize(*data)
    with pytest.warns(InfiniteEndWarning, match="9 would: add 1"):
        assert few.predict_interval(side="upper")[1] == math.inf


@pytest.mark.parametrize("modulation", ["regression", "quantile"])
@pytest.mark.parametrize("side", ["two-sided", "upper"])
def test_z_modulated_shapes(data, modulation, side):
    cpp = AlgorithmCPP(Mean(), n_sets=30, modulation=modulation, random_state=0)
    cpp.conformalize(*data)
    assert (cpp.k_, cpp.m_) == (30, 10)
    X, y = data[0][:7], data[1][:7]
    sets = cpp.predict_interval(X, y, side=side)
    assert sets.shape == (7, 2)
    assert cpp.predict_interval(X, y, side=side, confidence_level=[0.8, 0.9]).shape == (2, 7, 2)
    widths = sets[:, 1] - sets[:, 0]
    if modulation == "regression" and side == "two-sided":
        inside = sets[:, 0] > 0
        assert np.ptp(widths[inside]) < 1e-12 or inside.sum() < 2
    with pytest.raises(ValueError, match="moves with the case"):
        cpp.predict_interval()


def test_fixed_and_variable_width_differ_where_noise_grows():
    X, y = load_dataset("growing-noise").draw(6000, np.random.default_rng(0))
    new = np.array([[0.2], [2.8]])
    labels = np.sin(2 * new[:, 0])
    widths = {}
    for modulation in ("regression", "quantile"):
        cpp = AlgorithmCPP(
            LinearRegression(), "absolute_error", 100, modulation=modulation, random_state=0
        )
        sets = cpp.conformalize(X, y).predict_interval(new, labels)
        widths[modulation] = sets[:, 1] - sets[:, 0]
    ratio = {name: w.max() / w.min() for name, w in widths.items()}
    assert ratio["quantile"] > ratio["regression"]


def test_the_papers_features_on_digits():
    X, y = load_digits(return_X_y=True)
    cpp = AlgorithmCPP(
        GaussianNB(var_smoothing=1e-2),
        "log_loss",
        50,
        modulation="quantile",
        feature_map=digits_features,
        random_state=0,
    ).conformalize(X[:1347], y[:1347])
    assert cpp.m_ == 12
    assert cpp._calibration.features.shape == (50, 14)
    sets = cpp.predict_interval(X[1347:], y[1347:])
    assert sets.shape == (450, 2)
    assert sets[:, 0].min() >= 0
    assert sets[:, 1].max() <= cpp.loss_.high


def test_labels_enter_the_regression():
    X, y = np.zeros((2, 3)), np.array(["a", "b"])
    assert CaseFeatures(None, np.array(["a", "c"]))(X, y).tolist() == [
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 0],
    ]
    numeric = CaseFeatures(None, None)(X, np.array([1.5, 2.5]))
    assert numeric[:, 3].tolist() == [1.5, 2.5]


def test_crossed_ends_are_the_empty_set():
    """A narrow calibration score pulls the ends across each other; clipping keeps them crossed."""
    from cpp_core.method.modulation import modulated_sets

    sets = modulated_sets(np.array([1.0, 5.0]), np.array([1.5, 5.0]), -0.5, "two-sided", 0.0, 4.0)
    assert sets == pytest.approx(np.array([[1.5, 1.0], [5.5, 4.0]]))
    below = modulated_sets(np.array([-3.0]), np.array([-2.0]), -1.5, "two-sided", 0.0, math.inf)
    assert (below[:, 0] > below[:, 1]).all()


def test_failed_fits_count(data):
    X, y = data
    cpp = AlgorithmCPP(Brittle(), n_sets=50, random_state=0)
    with pytest.warns(FailedFitWarning, match="of 50 training runs raised"):
        cpp.conformalize(X, y)
    failed = len(cpp.failures_)
    assert 10 < failed < 40
    assert np.isinf(cpp.losses_).sum() == failed
    assert cpp.predict_interval(side="upper")[1] == math.inf
    for modulation, regressor in (("regression", Line()), ("quantile", None)):
        cpp.set_params(modulation=modulation, regressor=regressor)
        with pytest.warns(FailedFitWarning, match="of 100 training runs"):
            cpp.conformalize(X, y)
        assert (cpp.predict_interval(X[:3], y[:3])[:, 1] == math.inf).all()


def test_targets_of_the_regression_are_finite():
    assert finite_targets(np.array([1.0, math.inf, -math.inf, 2.0])).tolist() == [1, 2, 1, 2]
    assert finite_targets(np.array([math.inf])).tolist() == [0]


def test_estimators_that_complain_about_inputs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)), np.arange(300) % 2
    X[0, 0] = np.nan
    cpp = AlgorithmCPP(LogisticRegression(), "log_loss", n_sets=20, random_state=0)
    with pytest.warns(FailedFitWarning, match=r"LogisticRegression: ValueError: .*NaN"):
        cpp.conformalize(X, y)
    AlgorithmCPP(DecisionTreeClassifier(), "zero_one", n_sets=20).conformalize(X, y)


def test_pairs_share_samples_not_seeds(data):
    X, y = data
    same = AlgorithmCPP(Mean(), n_sets=30, paired_with=Mean(), random_state=0).conformalize(X, y)
    assert (same.losses_ == 0).all()
    random = GradientDescent(updates=1)
    pair = AlgorithmCPP(random, n_sets=30, paired_with=random, random_state=0).conformalize(X, y)
    assert (pair.losses_ != 0).all()


def test_groups(data):
    X, y = data
    groups = (X[:, 0] > 0).astype(int)
    cpp = AlgorithmCPP(Mean(), n_sets=60, random_state=0).conformalize(X, y, groups=groups)
    assert cpp.predict_interval(groups=[0, 1, 1]).shape == (3, 2)
    cpp.set_params(modulation="regression").conformalize(X, y, groups=groups)
    assert cpp.predict_interval(X[:4], y[:4], groups=groups[:4]).shape == (4, 2)


def test_batches(data):
    X, y = data
    cpp = AlgorithmCPP(Mean(), "rmse", n_sets=30, batch_size=5, random_state=0).conformalize(X, y)
    assert (cpp.k_, cpp.m_) == (30, 17)
    assert cpp.losses_.shape == (30,)
    labels = (X[:, 0] > 0).astype(int)
    auc = AlgorithmCPP(GaussianNB(), "roc_auc", n_sets=30, batch_size=2, random_state=0)
    auc.conformalize(X, labels)
    assert auc.n_undefined_ > 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_sets": 0}, "n_sets must be a whole number"),
        ({"n_sets": 400}, r"at least 800 points are needed, or at most n_sets = 330"),
        ({"n_sets": 200, "modulation": "quantile"}, r"each of 2 parts; at least 800 points"),
        ({"n_evaluations": 0}, "n_evaluations must be"),
        ({"n_evaluations": 2, "modulation": "quantile"}, "is for plain sets"),
        ({"n_evaluations": 2, "batch_size": 2, "loss": "mae"}, "is for plain sets"),
        ({"modulation": "both"}, "modulation must be None"),
    ],
)
def test_choices_that_do_not_fit(data, options, says):
    with pytest.raises(ValueError, match=says):
        AlgorithmCPP(Mean(), **options).conformalize(*data)


def test_before_conformalize():
    with pytest.raises(NotFittedError, match="call conformalize"):
        AlgorithmCPP(Mean()).predict_interval()


@pytest.mark.parametrize("side", ["two-sided", "upper"])
@pytest.mark.parametrize("modulation", ["regression", "quantile"])
@pytest.mark.parametrize("grouped", [False, True])
def test_many_levels_are_those_of_each_alone(modulation, side, grouped):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(0, 1, (600, 1)), rng.standard_normal(600)
    forests = {"regression": RandomForestRegressor, "quantile": RandomForestQuantileRegressor}
    regressor = forests[modulation](n_estimators=5, min_samples_leaf=5)
    cpp = AlgorithmCPP(
        Mean(), n_sets=60, modulation=modulation, regressor=regressor, random_state=0
    )
    cpp.conformalize(X, y, groups=np.arange(600) % 2 if grouped else None)
    new = {"side": side, "groups": np.arange(9) % 2 if grouped else None}
    levels = [0.8, 0.55, 0.9]
    alone = [cpp.predict_interval(X[:9], y[:9], confidence_level=at, **new) for at in levels]
    together = cpp.predict_interval(X[:9], y[:9], confidence_level=levels, **new)
    np.testing.assert_array_equal(together, alone)
