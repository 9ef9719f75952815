"""CandidateCPP as a user meets it: shapes, choices that do not fit, bad input."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cpp_core import CandidateCPP, FailedFitWarning, InfiniteEndWarning, Loss, interval
from tests.builders import Brittle, Mean, normal_sample


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    rows = np.random.default_rng(0).permutation(150)
    names = pd.Series(data.target_names[data.target])
    return data.data.iloc[rows], names.iloc[rows]


@pytest.fixture(scope="module")
def calibrated(iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), LogisticRegression())
    cpp = CandidateCPP(model, random_state=0)
    return cpp.fit(X[:70], y[:70]).conformalize(X[70:], y[70:])


def test_frames_pipelines_and_text_labels(calibrated):
    assert calibrated.k_ == 80
    assert calibrated.losses_.shape == (80,)
    assert calibrated.failures_ == []
    ends = calibrated.predict_interval()
    assert ends.tolist() == interval(calibrated.losses_, 0.1, low=0).tolist()
    upper = calibrated.predict_interval(side="upper")
    assert upper.tolist() == interval(calibrated.losses_, 0.1, "upper", low=0).tolist()


def test_several_levels(calibrated):
    levels = [0.5, 0.9, 0.95]
    several = calibrated.predict_interval(confidence_level=levels)
    assert several.shape == (3, 2)
    for level, ends in zip(levels, several, strict=True):
        assert (calibrated.predict_interval(confidence_level=level) == ends).all()
    assert (np.diff(several[:, 1]) >= 0).all()


def test_clone_and_parameters(calibrated):
    fresh = clone(calibrated).set_params(loss="brier")
    assert fresh.get_params()["loss"] == "brier"
    with pytest.raises(NotFittedError, match="call conformalize"):
        fresh.predict_interval()


def test_prefit_gives_the_same(calibrated, iris):
    X, y = iris
    cpp = CandidateCPP(calibrated.candidate_, prefit=True).conformalize(X[70:], y[70:])
    assert (cpp.predict_interval() == calibrated.predict_interval()).all()
    with pytest.raises(ValueError, match="trained already"):
        cpp.fit(X, y)


def test_same_seed_same_numbers(iris):
    X, y = iris
    cpp = CandidateCPP(GaussianNB(), modulation="regression", random_state=3)
    first, second = (
        clone(cpp).fit(X[:70], y[:70]).conformalize(X[70:], y[70:]).predict_interval(X[:9])
        for _ in range(2)
    )
    assert (first == second).all()


@pytest.mark.parametrize("modulation", ["regression", "quantile"])
def test_x_modulated(modulation):
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 3, (900, 1))
    y = (0.1 + X[:, 0]) * rng.normal(size=900)
    cpp = CandidateCPP(Mean(), "absolute_error", modulation=modulation, random_state=0)
    cpp.fit(X[:100], y[:100]).conformalize(X[100:], y[100:])
    assert cpp.k_ == 400
    new = np.array([[0.1], [2.9]])
    assert cpp.predict_interval(new).shape == (2, 2)
    sets = cpp.predict_interval(new, confidence_level=[0.8, 0.9], side="upper")
    assert sets.shape == (2, 2, 2)
    assert (sets[..., 0] == 0).all()
    narrow, wide = sets[1, :, 1]
    assert narrow < wide
    with pytest.raises(ValueError, match="moves with the case"):
        cpp.predict_interval()


def test_regressors_fitted_for_one_quantile():
    rng = np.random.default_rng(0)
    X, y = normal_sample(300, rng)
    regressor = make_pipeline(StandardScaler(), QuantileRegressor(alpha=0, solver="highs"))
    cpp = CandidateCPP(Mean(), "absolute_error", modulation="quantile", regressor=regressor)
    cpp.fit(X[:100], y[:100]).conformalize(X[100:], y[100:])
    assert cpp.predict_interval(X[:5]).shape == (5, 2)
    from sklearn.ensemble import GradientBoostingRegressor

    boosted = GradientBoostingRegressor(loss="quantile", n_estimators=5)
    cpp.set_params(regressor=boosted).conformalize(X[100:], y[100:])
    assert cpp.predict_interval(X[:5]).shape == (5, 2)
    cpp.set_params(regressor=LinearRegression())
    with pytest.raises(ValueError, match="LinearRegression does not regress quantiles"):
        cpp.conformalize(X[100:], y[100:])


def test_groups():
    rng = np.random.default_rng(0)
    X, y = normal_sample(400, rng)
    groups = np.where(np.arange(400) % 4 == 0, "rare", "common")
    y[groups == "rare"] *= 10
    cpp = CandidateCPP(Mean().fit(X, [0.0]), "absolute_error", prefit=True)
    cpp.conformalize(X, y, groups=groups)
    sets = cpp.predict_interval(groups=["rare", "common", "rare"])
    assert sets.shape == (3, 2)
    expected = interval(abs(y[groups == "rare"]), 0.1, low=0)
    assert (sets[0] == expected).all()
    assert (sets[2] == expected).all()
    assert sets[1, 1] < sets[0, 1]
    assert cpp.predict_interval(groups=["rare"], confidence_level=[0.8, 0.9]).shape == (2, 1, 2)
    with pytest.warns(InfiniteEndWarning, match="0 calibration scores in group 'unknown'"):
        unknown = cpp.predict_interval(groups=["unknown"])
    assert unknown.tolist() == [[0, math.inf]]
    with pytest.raises(ValueError, match="both to conformalize and to predict_interval"):
        cpp.predict_interval()


@pytest.mark.parametrize("modulation", ["regression", "quantile"])
def test_groups_with_modulation(modulation):
    rng = np.random.default_rng(0)
    X, y = normal_sample(400, rng)
    groups = np.arange(400) % 2
    cpp = CandidateCPP(Mean().fit(X, [0.0]), "absolute_error", prefit=True, modulation=modulation)
    cpp.set_params(random_state=0).conformalize(X, y, groups=groups)
    assert cpp.predict_interval(X[:6], groups=groups[:6]).shape == (6, 2)
    with pytest.raises(ValueError, match="3 groups were given for 6 cases"):
        cpp.predict_interval(X[:6], groups=[0, 1, 0])
    with pytest.warns(InfiniteEndWarning):
        assert cpp.predict_interval(X[:1], groups=[7]).tolist() == [[0, math.inf]]


def test_batches(iris):
    X, y = iris
    cpp = CandidateCPP(GaussianNB(), "accuracy", batch_size=4, random_state=0)
    cpp.fit(X[:70], y[:70]).conformalize(X[70:], y[70:])
    assert cpp.k_ == 20
    lower, upper = cpp.predict_interval(side="upper")
    assert upper == 1
    assert 0 < lower < 1
    assert lower in cpp.losses_
    two = cpp.predict_interval()
    assert two[0] <= lower
    assert cpp.set_params(batch_size=3).conformalize(X[70:], y[70:]).k_ == 26


def test_undefined_batches_count_as_the_worst(iris):
    X, y = iris
    cpp = CandidateCPP(GaussianNB(), "roc_auc", batch_size=2, random_state=0)
    cpp.fit(X[:70], y[:70]).conformalize(X[70:], y[70:])
    assert cpp.n_undefined_ > 0
    assert (cpp.losses_ == 0).sum() >= cpp.n_undefined_


def test_pairs(iris):
    X, y = iris
    cpp = CandidateCPP(GaussianNB(), paired_with=LogisticRegression(max_iter=500), random_state=0)
    cpp.fit(X[:70], y[:70]).conformalize(X[70:], y[70:])
    alone = [CandidateCPP(model) for model in (GaussianNB(), LogisticRegression(max_iter=500))]
    a, b = (c.fit(X[:70], y[:70]).conformalize(X[70:], y[70:]).losses_ for c in alone)
    assert cpp.losses_ == pytest.approx(a - b)
    ends = cpp.predict_interval()
    assert (ends == interval(cpp.losses_, 0.1)).all()
    cpp.set_params(loss="f1", batch_size=4).conformalize(X[70:], y[70:])
    assert cpp.loss_.low == -1


def test_too_few_scores_give_the_end_of_the_range(iris):
    X, y = iris
    cpp = (
        CandidateCPP(GaussianNB(), "zero_one").fit(X[:70], y[:70]).conformalize(X[70:75], y[70:75])
    )
    with pytest.warns(InfiniteEndWarning, match="9 would: add 4"):
        assert cpp.predict_interval(side="upper").tolist() == [0, 1]
    with pytest.warns(InfiniteEndWarning, match="19 would: add 14"):
        cpp.predict_interval()


def test_a_failed_fit_has_the_worst_loss():
    X, y = normal_sample(40, np.random.default_rng(0))
    y[0] = -1.0
    cpp = CandidateCPP(Brittle(), "squared_error")
    with pytest.warns(FailedFitWarning, match="1 of 1 training runs.*Brittle: RuntimeError"):
        cpp.fit(X[:10], y[:10])
    cpp.conformalize(X[10:], y[10:])
    assert cpp.failures_[0].message == "RuntimeError: a negative label came first"
    assert cpp.predict_interval().tolist() == [math.inf, math.inf]
    pair = CandidateCPP(Brittle(), "squared_error", paired_with=Brittle())
    with pytest.warns(FailedFitWarning, match="2 of 2"):
        pair.fit(X[:10], y[:10])
    assert (pair.conformalize(X[10:], y[10:]).losses_ == 0).all()


def test_a_candidate_that_does_not_predict():
    X, _ = normal_sample(50, np.random.default_rng(0))
    loss = Loss("distance", lambda centre, X, y: abs(X[:, 0] - centre), low=0.0)
    cpp = CandidateCPP(0.5, loss, prefit=True).conformalize(X)
    assert cpp.predict_interval()[0] > 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"modulation": "linear"}, "modulation must be None"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"batch_size": 3, "modulation": "quantile"}, "without modulation"),
        ({"loss": "accuracy"}, "say how many with batch_size"),
        ({"loss": "nonsense"}, "There is no loss called"),
    ],
)
def test_choices_that_do_not_fit(iris, options, says):
    X, y = iris
    with pytest.raises(ValueError, match=says):
        CandidateCPP(GaussianNB(), **options).fit(X, y)


def test_bad_input(iris, calibrated):
    X, y = iris
    with pytest.raises(ValueError, match="call fit first"):
        CandidateCPP(GaussianNB()).conformalize(X, y)
    for level in (0, 1, 90, -0.5, math.nan):
        with pytest.raises(ValueError, match="confidence_level must"):
            calibrated.predict_interval(confidence_level=level)
    with pytest.raises(ValueError, match=r"if you mean 90 %, write confidence_level=0.9"):
        calibrated.predict_interval(confidence_level=90)
    with pytest.raises(ValueError, match="side must be"):
        calibrated.predict_interval(side="lower")
    with pytest.raises(ValueError, match="same for every case"):
        calibrated.predict_interval(X)
    with pytest.raises(ValueError, match=r"groups has shape \(3,\), but one per case"):
        calibrated.conformalize(X, y, groups=[1, 2, 3])
    batch = CandidateCPP(GaussianNB(), "accuracy", batch_size=200).fit(X, y)
    with pytest.raises(ValueError, match="hold no batch of 200"):
        batch.conformalize(X, y)
    numbers = CandidateCPP(Mean(), "squared_error")
    with pytest.raises(ValueError, match="infinite in 1 of 3 rows"):
        numbers.fit(np.zeros((3, 1)), [1, 2, np.nan])
    words = pd.DataFrame({"a": ["x", "y"] * 30})
    modulated = CandidateCPP(
        0.0,
        Loss("zero", lambda c, X, y: np.zeros(len(X))),
        prefit=True,
        modulation="regression",
        regressor=RandomForestRegressor(),
    )
    with pytest.raises(ValueError, match="give a feature_map"):
        modulated.conformalize(words.to_numpy(dtype=str))
    assert modulated.conformalize(words).predict_interval(words).shape == (60, 2)
    modulated.set_params(feature_map=lambda X: (X["a"] == "x").to_numpy())
    assert modulated.conformalize(words).predict_interval(words).shape == (60, 2)
