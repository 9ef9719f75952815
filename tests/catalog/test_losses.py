"""Losses against scikit-learn's metrics, with classes that the training sample lacks."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from cpp_core import LOSSES, Loss, LossError, batch_mean, f1, log_loss
from cpp_core.catalog.losses import resolve_loss
from cpp_core.method.constant import ConstantClassifier
from cpp_core.method.evaluation import evaluate, evaluate_batch

LABELS = np.array(["ant", "bee", "cat"])


@pytest.fixture(scope="module")
def three_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = LABELS[np.clip(np.round(X[:, 0] + rng.normal(size=300) / 2), -1, 1).astype(int) + 1]
    return X, y


@pytest.fixture(scope="module")
def classifier(three_classes):
    return LogisticRegression().fit(*three_classes)


def test_pointwise_losses_average_to_the_metrics(classifier, three_classes):
    X, y = three_classes
    proba = classifier.predict_proba(X)

    def mean(name):
        return evaluate(LOSSES[name], classifier, X, y).mean()

    assert mean("log_loss") == pytest.approx(metrics.log_loss(y, proba))
    assert mean("zero_one") == pytest.approx(metrics.zero_one_loss(y, classifier.predict(X)))
    one_hot = y[:, None] == LABELS
    assert mean("brier") == pytest.approx(((proba - one_hot) ** 2).sum(axis=1).mean() / 2)
    decision = classifier.decision_function(X)
    assert mean("hinge") == pytest.approx(metrics.hinge_loss(y, decision, labels=LABELS))


def test_binary_hinge_and_brier(three_classes):
    X, y = three_classes
    two = y == "cat"
    model = LogisticRegression().fit(X, two)
    hinge = evaluate(LOSSES["hinge"], model, X, two)
    assert hinge.mean() == pytest.approx(metrics.hinge_loss(two, model.decision_function(X)))
    brier = evaluate(LOSSES["brier"], model, X, two).mean()
    assert brier == pytest.approx(metrics.brier_score_loss(two, model.predict_proba(X)[:, 1]))


def test_regression_losses(three_classes):
    X, _ = three_classes
    y = X @ [1.0, 2.0] + 0.1
    model = LinearRegression(fit_intercept=False).fit(X, y)
    error = y - model.predict(X)
    assert evaluate(LOSSES["squared_error"], model, X, y) == pytest.approx(error**2)
    assert evaluate(LOSSES["absolute_error"], model, X, y) == pytest.approx(abs(error))
    rmse = metrics.root_mean_squared_error(y, model.predict(X))
    assert evaluate_batch(LOSSES["rmse"], model, X, y) == pytest.approx(rmse)
    assert evaluate_batch(LOSSES["mae"], model, X, y) == pytest.approx(abs(error).mean())


def test_batch_metrics(classifier, three_classes):
    X, y = three_classes
    predicted, proba = classifier.predict(X), classifier.predict_proba(X)
    expected = {
        "error_rate": metrics.zero_one_loss(y, predicted),
        "accuracy": metrics.accuracy_score(y, predicted),
        "f1": metrics.f1_score(y, predicted, average="macro"),
        "roc_auc": metrics.roc_auc_score(y, proba, multi_class="ovr"),
        "mean_log_loss": metrics.log_loss(y, proba),
    }
    for name, value in expected.items():
        assert evaluate_batch(LOSSES[name], classifier, X, y) == pytest.approx(value), name
    own = metrics.f1_score(y == "bee", predicted == "bee")
    assert evaluate_batch(f1("bee"), classifier, X, y) == pytest.approx(own)


def test_classes_that_training_lacked(three_classes):
    X, y = three_classes
    model = SVC().fit(X[y != "bee"], y[y != "bee"])
    constant = ConstantClassifier().fit(X, np.full(len(X), "cat"))
    logistic = LogisticRegression().fit(X[y != "bee"], y[y != "bee"])
    bees = y == "bee"
    worst = -math.log(np.finfo(float).eps)
    assert worst == pytest.approx(36.04, abs=0.01)
    for candidate in (constant, logistic):
        assert (evaluate(LOSSES["log_loss"], candidate, X, y)[bees] == worst).all()
        assert (evaluate(LOSSES["zero_one"], candidate, X, y)[bees] == 1).all()
        assert (evaluate(LOSSES["brier"], candidate, X, y)[bees] > 0.7).all()
        assert evaluate_batch(LOSSES["roc_auc"], candidate, X, y) < 1
    assert (evaluate(LOSSES["hinge"], model, X, y)[bees] >= 1).all()
    assert evaluate(LOSSES["log_loss"], constant, X, y)[y == "cat"].max() == 0
    assert evaluate(LOSSES["hinge"], constant, X, y)[y == "cat"].max() == 0


def test_the_clip_is_a_parameter_and_does_not_depend_on_dtype(three_classes):
    X, y = three_classes

    class Single(ConstantClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X).astype(np.float32)

    model = Single().fit(X, y[y == "ant"])
    for clip, top in ((None, 36.0437), (1e-3, 6.9078)):
        loss = log_loss() if clip is None else log_loss(clip)
        assert evaluate(loss, model, X, y).max() == pytest.approx(top, abs=1e-4)
        assert loss.high == pytest.approx(top, abs=1e-4)
    with pytest.raises(ValueError, match="clip must lie strictly"):
        log_loss(0)


def test_undefined_metrics(classifier, three_classes):
    X, y = three_classes
    one = y == "ant"
    assert math.isnan(evaluate_batch(LOSSES["roc_auc"], classifier, X[one], y[one]))
    quiet = ConstantClassifier().fit(X, y[one])
    assert math.isnan(evaluate_batch(f1("bee"), quiet, X[one], y[one]))


def test_ranges_and_directions():
    assert LOSSES["accuracy"].sign == -1
    assert LOSSES["accuracy"].worst == 0
    assert LOSSES["squared_error"].worst == math.inf
    paired = LOSSES["brier"].paired()
    assert (paired.low, paired.high) == (-1, 1)
    assert "difference" in paired.name


def test_resolving():
    assert resolve_loss("zero_one") is LOSSES["zero_one"]
    assert resolve_loss(LOSSES["brier"]) is LOSSES["brier"]
    assert resolve_loss("zero_one", 10).batch

    def mine(candidate, X, y):
        return np.zeros(len(X))

    assert resolve_loss(mine).name == "mine"
    assert resolve_loss(mine, 10).batch
    assert batch_mean(LOSSES["brier"]).name == "mean brier"
    with pytest.raises(ValueError, match="did you mean 'log_loss'"):
        resolve_loss("logloss")
    with pytest.raises(ValueError, match="known: log_loss"):
        resolve_loss("??")
    with pytest.raises(ValueError, match="batch_size"):
        resolve_loss("accuracy")
    with pytest.raises(ValueError, match="must be a name"):
        resolve_loss(3)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (lambda n: np.zeros(n + 1), "one number per case"),
        (lambda n: 0.0, "one number per case"),
        (lambda n: ["a"] * n, "one number per case"),
        (lambda n: np.full(n, np.nan), "finite number"),
        (lambda n: np.full(n, np.inf), "finite number"),
        (lambda n: np.full(n, -1.0), r"outside its declared range \[0, 1\]"),
    ],
)
def test_unusable_losses(values, says):
    loss = Loss("mine", lambda candidate, X, y: values(len(X)), None, 0.0, 1.0)
    with pytest.raises(LossError, match=says):
        evaluate(loss, None, np.zeros((5, 1)), np.zeros(5))


def test_unusable_batch_metrics_and_candidates(three_classes):
    X, y = three_classes
    loss = Loss("mine", lambda candidate, X, y: np.zeros(len(X)), batch=True)
    with pytest.raises(LossError, match="single number for a batch"):
        evaluate_batch(loss, None, X, y)
    with pytest.raises(LossError, match=r"could not be computed for a trained SVC.*predict_proba"):
        evaluate(LOSSES["log_loss"], SVC().fit(X, y), X, y)


def test_frames_and_candidates_that_do_not_predict():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    loss = Loss("distance", lambda centre, X, y: abs(X["a"] - centre), low=0.0)
    assert evaluate(loss, 2.0, frame, None).tolist() == [1, 0, 1]
