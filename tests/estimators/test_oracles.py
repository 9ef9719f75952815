"""The same scores give the same ends as MAPIE and plain NumPy, to 1e-12."""

import numpy as np
import pytest
from mapie.regression import ConformalizedQuantileRegressor, SplitConformalRegressor
from sklearn.linear_model import LinearRegression, QuantileRegressor

from cpp_core import AlgorithmCPP, CandidateCPP, Loss
from tests.builders import Mean

CONFIDENCE = 0.9


class Echo(Loss):
    """The label itself as the loss: then a set for the loss is one for the label."""


ECHO = Loss("echo", lambda candidate, X, y: y)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 2, (400, 1))
    return X, X[:, 0] + (0.2 + X[:, 0]) * rng.normal(size=400)


def parts(cpp):
    """The regression's pairs, and the calibration's inputs and losses."""
    calibration = cpp._calibration
    return calibration.model, calibration.features, calibration.losses[:, 0]


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_fixed_width_is_mapies_split_conformal(data, confidence):
    X, y = data
    cpp = CandidateCPP(
        Mean(), ECHO, prefit=True, modulation="regression", regressor=LinearRegression()
    )
    cpp.conformalize(X, y)
    model, features, losses = parts(cpp)
    oracle = SplitConformalRegressor(
        LinearRegression().fit(model.features, model.targets), confidence_level=confidence
    ).conformalize(features, losses)
    new = np.linspace(0, 2, 50)[:, None]
    expected = oracle.predict_interval(new)[1][:, :, 0]
    found = cpp.predict_interval(new, confidence_level=confidence)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("confidence", [0.8, 0.9])
def test_variable_width_is_mapies_cqr(data, confidence):
    X, y = data
    regressor = QuantileRegressor(alpha=0.0, solver="highs")
    cpp = CandidateCPP(Mean(), ECHO, prefit=True, modulation="quantile", regressor=regressor)
    cpp.conformalize(X, y)
    model, features, losses = parts(cpp)
    tail = (1 - confidence) / 2
    fitted = [
        QuantileRegressor(alpha=0.0, solver="highs", quantile=q).fit(model.features, model.targets)
        for q in (tail, 1 - tail, 0.5)
    ]
    oracle = ConformalizedQuantileRegressor(fitted, confidence_level=confidence, prefit=True)
    oracle.conformalize(features, losses)
    new = np.linspace(0, 2, 50)[:, None]
    expected = oracle.predict_interval(new, symmetric_correction=True)[1][:, :, 0]
    found = cpp.predict_interval(new, confidence_level=confidence)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("side", ["two-sided", "upper"])
@pytest.mark.parametrize("modulation", [None, "regression", "quantile"])
def test_plain_numpy(data, modulation, side):
    """Written as the paper writes it, with NumPy's own order statistics."""
    X, y = data
    regressor = {
        None: None,
        "regression": LinearRegression(),
        "quantile": QuantileRegressor(alpha=0.0, solver="highs"),
    }[modulation]
    cpp = AlgorithmCPP(
        Mean(), n_sets=40, modulation=modulation, regressor=regressor, random_state=0
    ).conformalize(X, y)
    k = 40
    if modulation is None:
        ordered = sorted(cpp.losses_)
        expected = [ordered[2 - 1], ordered[39 - 1]] if side == "two-sided" else [0, ordered[36]]
        assert cpp.predict_interval(side=side).tolist() == expected
        return
    model, features, losses = parts(cpp)

    def predict(inputs, level):
        quantile = modulation == "quantile"
        fresh = QuantileRegressor(alpha=0.0, solver="highs", quantile=level)
        chosen = fresh if quantile else LinearRegression()
        return chosen.fit(model.features, model.targets).predict(inputs)

    new, labels = np.linspace(0, 2, 20)[:, None], np.linspace(-1, 3, 20)
    inputs = np.column_stack([new, labels])
    levels = (0.9, 0.9) if side == "upper" else (0.05, 0.95)
    lower, upper = (predict(features, level) for level in levels)
    scores = losses - upper if side == "upper" else np.maximum(lower - losses, losses - upper)
    s = np.quantile(scores, 0.9 * (1 + 1 / k), method="inverted_cdf")
    low, high = (predict(inputs, level) for level in levels)
    bottom = np.zeros(20) if side == "upper" else np.maximum(low - s, 0)
    expected = np.column_stack([bottom, high + s])
    np.testing.assert_allclose(
        cpp.predict_interval(new, labels, side=side), expected, rtol=0, atol=1e-12
    )
