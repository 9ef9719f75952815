"""The registries: every algorithm and dataset works, and is described."""

import numpy as np
import pytest
from scipy import stats
from sklearn import datasets
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from cpp_core import (
    ALGORITHMS,
    DATASETS,
    GradientDescent,
    StochasticGradientDescent,
    digits_features,
    load_dataset,
    make_algorithm,
)
from cpp_core.catalog.bundled import BUNDLED
from cpp_core.catalog.datasets import table_dataset
from cpp_core.learners.gradient import gd_updates, sgd_updates


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_trains_and_predicts(name):
    algorithm = ALGORITHMS[name]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    for task in algorithm.tasks:
        y = X[:, 0] + rng.normal(size=60)
        y = (y > 0).astype(int) if task == "classification" else y
        estimator = clone(algorithm.make(task)).fit(X, y)
        assert estimator.predict(X).shape == (60,)
        if task == "classification":
            assert estimator.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert algorithm.label
    assert algorithm.description


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_algorithms_are_said_to_answer_is_what_they_do(name):
    algorithm = ALGORITHMS[name]
    for task in algorithm.tasks:
        made = algorithm.make(task)
        for response in ("predict", "predict_proba", "decision_function"):
            assert algorithm.answers(response, task) == hasattr(made, response)


@pytest.mark.parametrize("name", BUNDLED)
def test_what_is_said_of_a_bundled_table_is_true_of_it(name):
    said, raw = load_dataset(name), getattr(datasets, BUNDLED[name].loader)()
    X, y = said.table
    assert (raw.data == X).all()
    assert said.feature_names == tuple(map(str, raw.feature_names))
    assert said.n_inputs == X.shape[1] == len(said.feature_names)
    assert said.size == len(y)
    if said.task == "classification":
        assert (y == raw.target_names[raw.target]).all()
        assert said.classes == tuple(np.unique(y).tolist())
    else:
        assert (y == raw.target).all()
        assert said.classes == ()
    own = table_dataset(name, name, X, y, said.task)
    images = own.description.replace("cases, 64 inputs", "images")
    assert said.description in (own.description, images)


def test_neighbours_of_a_tiny_sample():
    X, y = np.array([[0.0], [1.0]]), np.array(["a", "b"])
    vote = make_algorithm("knn", "classification").fit(X, y)
    assert vote.predict_proba([[0.2]]).tolist() == [[0.5, 0.5]]
    assert make_algorithm("knn", "regression").fit(X, [1.0, 3.0]).predict([[0.2]]) == [2.0]


def test_algorithms_can_be_told_apart():
    looks = [(a.color, a.marker) for a in ALGORITHMS.values()]
    assert len({color for color, _ in looks}) == len({m for _, m in looks}) == len(looks)
    paper = {name: ALGORITHMS[name].color for name in ("svm-lin", "svm-rbf", "gd", "sgd")}
    assert paper == {
        "svm-lin": "#C2188F",
        "svm-rbf": "#1186D8",
        "gd": "#D1352B",
        "sgd": "#2A52BE",
    }


def test_unknown_algorithms_and_settings():
    with pytest.raises(ValueError, match="did you mean 'svm-lin'"):
        make_algorithm("svm-line")
    with pytest.raises(ValueError, match="GD does regression, not classification"):
        make_algorithm("gd", "classification")
    with pytest.raises(ValueError, match="GD does not take these settings"):
        make_algorithm("gd", nonsense=1)
    assert make_algorithm("logistic", C=3.0)[-1].C == 3.0


@pytest.mark.parametrize("name", DATASETS)
def test_every_dataset_draws(name):
    dataset = load_dataset(name)
    X, y = dataset.draw(40, np.random.default_rng(0))
    again = load_dataset(name).draw(40, np.random.default_rng(0))
    assert (again[0] == X).all()
    assert (again[1] == y).all()
    assert X.shape == (40, len(dataset.feature_names))
    assert y.shape == (40,)
    assert dataset.description
    assert bool(dataset.classes) == (dataset.task == "classification")
    assert (dataset.size is None) == (dataset.table is None)
    if dataset.table is not None:
        assert dataset.size == len(dataset.table[0])
        with pytest.raises(ValueError, match="ask for fewer"):
            dataset.draw(dataset.size + 1, np.random.default_rng(0))
        rows = dataset.draw(dataset.size, np.random.default_rng(0))[0]
        assert (np.sort(rows, axis=0) == np.sort(dataset.table[0], axis=0)).all()


def test_the_bayes_error_is_what_it_says():
    X, y = load_dataset("two-classes", bayes_error=0.15).draw(20000, np.random.default_rng(0))
    errors = int(((X[:, 0] > 0) != y).sum())
    assert stats.binomtest(errors, len(y), 0.15).pvalue > 1e-3
    fitted = LogisticRegression().fit(X, y)
    assert stats.binomtest(int((fitted.predict(X) != y).sum()), len(y), 0.15).pvalue > 1e-3


def test_quadnoise_has_the_papers_noise():
    rng = np.random.default_rng(0)
    X, y = load_dataset("quadnoise", d=3).draw(5000, rng)
    noise = (y - X.sum(axis=1)) / 2.2
    assert stats.kstest(noise, "norm").pvalue > 1e-3
    X, y = load_dataset("quadnoise", noise="student").draw(5000, rng)
    assert stats.kstest(y - X.sum(axis=1), stats.t(2.1).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("digit", {}, "did you mean 'digits'"),
        ("digits", {"d": 2}, "does not take these settings"),
        ("quadnoise", {"d": 0}, "d must be a whole number"),
        ("quadnoise", {"noise": "cauchy"}, "noise must be"),
        ("quadnoise", {"df": -1.0}, "must be positive"),
        ("two-classes", {"bayes_error": 0.7}, "bayes_error must lie"),
        ("growing-noise", {"spread": 0.0}, "spread must be"),
    ],
)
def test_datasets_that_cannot_be(name, settings, says):
    with pytest.raises(ValueError, match=says):
        load_dataset(name, **settings)


def test_digits_features_by_hand():
    image = np.zeros((8, 8))
    image[0] = 16  # the top row is lit: symmetric left to right, not upside down
    features = digits_features(image.ravel()[None, :])
    assert features[0] == pytest.approx([-0.25, 0, 0.125, np.sqrt(0.125 * 0.875)])


def plain_descent(X, y, w, step, batches):
    for rows in batches:
        residual = X[rows] @ w - y[rows]
        w = w - step * 2 * (X[rows].T @ residual) / len(rows)
    return w


def test_descent_against_plain_numpy():
    rng = np.random.default_rng(0)
    X, y, start = rng.normal(size=(30, 3)), rng.normal(size=30), rng.uniform(-5, 5, 3)
    order = rng.permutation(30)
    for compiled in (True, False):
        w = start.copy()
        (gd_updates if compiled else gd_updates.py_func)(X, y, w, 0.1, 5)
        everything = [np.arange(30)] * 5
        assert w == pytest.approx(plain_descent(X, y, start, 0.1, everything), rel=1e-12)
        w = start.copy()
        (sgd_updates if compiled else sgd_updates.py_func)(X, y, w, 0.01, order)
        assert w == pytest.approx(plain_descent(X, y, start, 0.01, order[:, None]), rel=1e-12)


def test_descent_follows_its_seed():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    for learner in (GradientDescent, StochasticGradientDescent):
        first, same, other = (learner(random_state=s).fit(X, y).coef_ for s in (1, 1, 2))
        assert (first == same).all()
        assert (first != other).all()
        assert (abs(learner(step=0.0, random_state=1).fit(X, y).coef_) <= 5).all()
    with pytest.raises(FloatingPointError, match="diverged"), np.errstate(all="ignore"):
        GradientDescent(updates=2000, step=10.0).fit(X, y)
