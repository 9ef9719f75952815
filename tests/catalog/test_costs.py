"""Losses in the user's unit: by hand, against the pinball loss, to the last word."""

import shlex

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import mean_pinball_loss
from sklearn.naive_bayes import GaussianNB

from cpp_core import (
    AlgorithmCPP,
    CandidateCPP,
    Experiment,
    asymmetric_cost,
    compare,
    cost_matrix,
    pinball,
)
from cpp_core.catalog.costs import costs_of, grid_text, read_grid
from cpp_core.catalog.losses import LOSSES, make_loss
from cpp_core.cli.commands import parser
from cpp_core.cli.run_command import experiment_of
from cpp_core.method.evaluation import LossError
from cpp_core.report.reproduce import command_line

COSTS = {"ill": {"well": 500}, "well": {"ill": 20}}


class Says:
    """A candidate with given predictions."""

    def __init__(self, *said):
        self.said = np.array(said)

    def predict(self, X):
        return self.said


def test_costs_of_errors_by_hand():
    loss = cost_matrix(COSTS, unit="EUR")
    y = np.array(["ill", "ill", "well", "well"])
    lost = loss.function(Says("ill", "well", "ill", "well"), None, y)
    assert lost.tolist() == [0, 500, 20, 0]
    part = cost_matrix({1: {0: 5}})  # what is not said: 1 for an error
    assert part.function(Says(0, 1, 2), None, np.array([1, 0, 2])).tolist() == [5, 1, 0]
    assert (part.low, part.high) == (0, 5)
    gains = cost_matrix({"a": {"a": -3, "b": 2}, "b": {"a": 0.5, "b": 0}})
    assert (gains.low, gains.high) == (-3, 2)
    plain = LOSSES["cost_matrix"].function(Says("a", "b"), None, np.array(["a", "a"]))
    assert plain.tolist() == [0, 1]


def test_the_range_holds_what_is_not_said():
    settings = {"costs": {"setosa": {"versicolor": 0.5}, "versicolor": {"setosa": 0.2}}}
    how = {"dataset": "iris", "algorithms": ("dummy",), "loss": "cost_matrix"}
    iris = Experiment(**how, loss_settings=settings).criterion
    assert (iris.low, iris.high) == (0, 1)  # virginica is not named: an error costs 1
    settings["costs"] |= {"setosa": {"versicolor": 5, "setosa": 2}, "virginica": {"virginica": 3}}
    more = Experiment(**how, loss_settings=settings).criterion
    assert (more.low, more.high) == (0, 5)
    assert cost_matrix({"a": {"a": 0}}).high == 1  # errors stay to be paid for
    two = Experiment(**how | {"dataset": "two-classes"}, loss_settings={"costs": {0: {1: 5, 0: 2},
                     1: {0: 3, 1: 2}}}).criterion  # fmt: skip
    assert (two.low, two.high) == (2, 5)


def test_costs_of_being_off_by_hand_and_against_the_pinball_loss():
    rng = np.random.default_rng(0)
    y, said = rng.normal(size=(2, 500))
    lost = pinball(0.8).function(Says(*said), None, y)
    assert lost.mean() == pytest.approx(mean_pinball_loss(y, said, alpha=0.8))
    asymmetric = asymmetric_cost(under=3, over=1).function(Says(4.0, 7.0), None, np.array([5.0, 5]))
    assert asymmetric.tolist() == [3, 2]
    same = make_loss("asymmetric_cost").function(Says(*said), None, y)
    assert same == pytest.approx(np.abs(y - said))


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: cost_matrix({"a": {"b": "x"}}), "could not convert"),
        (lambda: cost_matrix({"a": {"b": float("inf")}}), r"is inf; a finite number is needed\.$"),
        (lambda: cost_matrix({"a": {"b": 0}, "b": {"a": 0}}), "All costs are equal"),
        (lambda: cost_matrix(unit="<b>EUR</b>"), "short word"),
        (lambda: cost_matrix(unit="9"), "short word"),
        (lambda: asymmetric_cost(0, 0), "nothing can be lost"),
        (lambda: asymmetric_cost(-1, 1), "0 or more"),
        (lambda: pinball(1.0), "strictly between"),
        (lambda: Experiment(dataset="iris", algorithms=("dummy",), loss="cost_matrix",
                            loss_settings={"costs": COSTS}), "name them as they are"),
    ],
)  # fmt: skip
def test_costs_that_cannot_be_get_a_sentence(make, word):
    with pytest.raises(ValueError, match=word):
        make()


def test_a_bound_in_the_users_unit_and_numbers_that_do_not_depend_on_its_name():
    X, y = load_breast_cancer(return_X_y=True)
    costs = {"0": {"1": 900}, "1": {"0": 70}}
    rivals = {"bayes": GaussianNB(), "guess": DummyClassifier()}
    settings = {"costs": costs, "unit": "EUR"}
    found = compare(rivals, X, y, loss="cost_matrix", loss_settings=settings, trials=2, n_jobs=1)
    assert "EUR" in str(found)
    experiment = found.results.experiment
    assert Experiment.from_dict(experiment.to_dict()) == experiment
    other = Experiment.from_dict(experiment.to_dict() | {"loss_settings": {"costs": costs}})
    assert [other.key(n, 0) for n in other.algorithms] == [
        experiment.key(name, 0) for name in experiment.algorithms
    ]
    model = CandidateCPP(DummyRegressor(), loss=asymmetric_cost(2, 1, "EUR"), random_state=0)
    model.fit(X[:200], y[:200]).conformalize(X[200:], y[200:])
    assert 0 < model.predict_interval(side="upper")[1] <= 2


def test_a_link_says_costs_by_position_alone():
    rows = [[0.0, 500.0], [20.0, 0.0]]
    assert read_grid(grid_text(rows), 2) == rows
    assert costs_of(("ill", "well"), rows)["ill"]["well"] == 500
    for odd in (None, "", "1;2;3", "0,1;1", "x", "0,1e9;1,0", "0,1;1,0;" * 400):
        assert read_grid(odd, 2) == [[0, 1], [1, 0]]


def test_the_command_says_costs_and_settings_of_algorithms():
    costs = {"malignant": {"benign": 900}, "benign": {"malignant": 70}}
    chosen = {"dataset": "breast-cancer", "algorithms": ("knn", "dummy")}
    for more in (
        {"loss": "cost_matrix", "loss_settings": {"costs": costs, "unit": "EUR"}},
        {"loss": "log_loss", "loss_settings": {"clip": 0.001}},
        {"algorithm_settings": {"knn": {"n_neighbors": 9}}},
    ):
        experiment = Experiment(**chosen, **more)
        words = shlex.split(command_line(experiment, 2, 0, 0.1, "upper"))[3:]
        assert experiment_of(parser().parse_args(words)) == experiment
    implied = ["run", "--dataset", "diabetes", "--algorithms", "ridge", "--under", "3"]
    assert experiment_of(parser().parse_args(implied)).loss == "asymmetric_cost"
    for odd in (["--unit", "EUR"], ["--loss", "log_loss", "--under", "2"], ["--set", "knn"]):
        with pytest.raises(ValueError, match=r"say|take|write"):
            experiment_of(parser().parse_args(["run", "--dataset", "iris", *odd]))
    for odd, says in (
        (["--set", "ridge.alpha=3"], "'ridge' does not run here; those that do are 'svm-lin'"),
        (["--cost", "a", "b", "5", "--cost", "a", "b", "7"], "a b is said twice"),
    ):
        with pytest.raises(ValueError, match=says):
            experiment_of(parser().parse_args(["run", "--dataset", "iris", *odd]))


def test_costs_of_labels_that_are_not_there():
    X, y = np.arange(40.0)[:, None], np.array(["p", "q"] * 20)
    said = "about p, z, but the labels of the sample are p, q"
    loss = cost_matrix({"z": {"p": 4}})
    with pytest.raises(ValueError, match=said):
        CandidateCPP(GaussianNB(), loss=loss).fit(X, y).conformalize(X, y)
    with pytest.raises(ValueError, match=said):
        AlgorithmCPP(GaussianNB(), loss=loss, n_sets=3).conformalize(X, y)
    rare = CandidateCPP(GaussianNB(), loss=cost_matrix({"q": {"p": 4}})).fit(X, y)
    assert rare.conformalize(X[::2], y[::2]).k_ == 20  # it has learned of q


class Fixed:
    """Predicts what it was told, with these probabilities."""

    classes_ = np.array([0, 1])

    def __init__(self, labels, probabilities=None):
        self.labels, self.probabilities = np.asarray(labels), probabilities

    def predict(self, X):
        return self.labels

    def predict_proba(self, X):
        return np.asarray(self.probabilities)


def test_one_as_a_float_is_the_label_one():
    loss = cost_matrix({"1": {"0": 500}, "0": {"1": 20}})
    y = np.array([0, 0, 1, 1])
    costs = [
        loss.function(Fixed(own), np.zeros((4, 1)), y) for own in ([0, 1, 0, 1], [0.0, 1, 0, 1])
    ]
    assert costs[0].tolist() == costs[1].tolist() == [0, 20, 500, 0]


@pytest.mark.parametrize("name", ["zero_one", "cost_matrix"])
def test_labels_of_another_kind_are_refused(name):
    loss = LOSSES[name] if name == "zero_one" else cost_matrix({"1": {"0": 5}, "0": {"1": 2}})
    for labels, y in ((["0", "1"], np.array([0, 1])), ([0, 1], np.array(["0", "1"]))):
        with pytest.raises(LossError, match="let both be the same"):
            loss.function(Fixed(labels), np.zeros((2, 1)), y)


@pytest.mark.parametrize(
    "told", [[[0.9, 0.9]] * 2, [[0.5, 0.5, 0.0]] * 2, [[1.5, -0.5]] * 2, [[0.5, 0.5]]]
)
@pytest.mark.parametrize("name", ["log_loss", "brier"])
def test_what_are_no_probabilities_is_refused(name, told):
    with pytest.raises(LossError, match="predict_proba gave"):
        LOSSES[name].function(Fixed([0, 1], told), np.zeros((2, 1)), np.array([0, 1]))
    fine = np.array([[0.25, 0.75]] * 2, dtype=np.float32)
    assert LOSSES[name].function(Fixed([0, 1], fine), np.zeros((2, 1)), np.array([0, 1])).size == 2
