"""SymbolicCPP as a user meets it."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from cpp_core import FailedFitWarning, InfiniteEndWarning, SymbolicCPP, load_dataset
from cpp_core.method.symbols import possible_symbols, score_of, symbols_at, symbols_of


@pytest.fixture(scope="module")
def two():
    return load_dataset("two-classes", bayes_error=0.2).draw(900, np.random.default_rng(0))


def test_symbols():
    predicted, y = np.array([0, 1, 2, 0, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 1, 2])
    assert symbols_of(predicted, y, 1).tolist() == [
        *("Correct", "FP", "Other"),
        *("FN", "Correct", "FN"),
        "Correct",
    ]
    symbols = ("Correct", "FP", "FN", "Other")
    assert possible_symbols(np.array([1, 0]), 1, symbols).tolist() == [
        [True, False, True, False],
        [True, True, False, True],
    ]


def test_algorithm(two):
    X, y = two
    cpp = SymbolicCPP(LogisticRegression(), n_sets=30, random_state=0).conformalize(X, y)
    assert (cpp.k_, cpp.m_) == (30, 9)
    assert cpp.symbols_ == ("Correct", "FP", "FN")
    sets = cpp.predict_set(X[:50], y[:50])
    assert sets.shape == (50, 3)
    assert sets.dtype == bool
    assert sets.any(axis=1).all()
    assert not sets[y[:50] == 1, 1].any()
    assert not sets[y[:50] == 0, 2].any()
    assert cpp.predict_set(X[:5], y[:5], confidence_level=[0.5, 0.9]).shape == (2, 5, 3)


def test_candidate_and_prefit(two):
    X, y = two
    cpp = SymbolicCPP(LogisticRegression(), n_sets=None, random_state=0)
    cpp.fit(X[:300], y[:300]).conformalize(X[300:], y[300:])
    assert cpp.k_ == 200
    assert cpp.m_ is None
    model = LogisticRegression().fit(X[:300], y[:300])
    ready = SymbolicCPP(model, n_sets=None, prefit=True, random_state=0)
    ready.conformalize(X[300:], y[300:])
    assert (ready.predict_set(X[:50], y[:50]) == cpp.predict_set(X[:50], y[:50])).all()
    certain = cpp.predict_set(np.array([[6.0, 0.0], [-6.0, 0.0]]), [1, 0])
    assert certain[:, 0].all()


def test_many_classes_and_impossible_symbols():
    X, y = load_dataset("iris").table
    cpp = SymbolicCPP(
        GaussianNB(), positive_class="setosa", n_sets=10, drop_impossible=False, random_state=0
    )
    cpp.conformalize(X, y)
    assert cpp.symbols_ == ("Correct", "FP", "FN", "Other")
    assert cpp.predict_set(X, y).shape == (150, 4)


class Of3Classes(ClassifierMixin, BaseEstimator):
    """A trained model of classes 0, 1 and 2, which says 2 where the second column is high."""

    classes_ = np.arange(3)

    def predict(self, X):
        return np.where(X[:, 1] > 1, 2, X[:, 0] > 0)


class Silent(Of3Classes):
    """The same, which does not say what its classes are."""

    classes_ = None


@pytest.mark.parametrize("model", [Of3Classes(), Silent()])
def test_a_model_of_more_classes_than_the_labels(model):
    """Answers of a class that no label has are Other, and are covered as often as promised."""
    hits, rng = [], np.random.default_rng(0)
    for seed in range(40):
        X = rng.normal(size=(159, 2))
        y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
        cpp = SymbolicCPP(model, n_sets=None, prefit=True, random_state=seed)
        cpp.conformalize(X[:57], y[:57])
        assert cpp.symbols_ == ("Correct", "FP", "FN", "Other")
        happened = symbols_at(model, X[57:], y[57:], 1)
        held = cpp.predict_set(X[57:], y[57:])
        hits.append(held[np.arange(102), [cpp.symbols_.index(own) for own in happened]].mean())
    standard_error = np.std(hits) / np.sqrt(len(hits))
    assert np.mean(hits) > 0.9 - 2.6 * standard_error


def test_classes_of_a_model_that_were_not_answered_are_symbols():
    """A third class makes Other possible, though no calibration case was answered so."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=60), np.zeros(60)])
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    cpp = SymbolicCPP(Of3Classes(), n_sets=None, prefit=True, random_state=0).conformalize(X, y)
    assert cpp.symbols_ == ("Correct", "FP", "FN", "Other")


def test_a_symbol_without_a_column_has_no_score():
    with pytest.raises(ValueError, match=r"is Other, but .* only Correct, FP, FN are known"):
        score_of(np.zeros((1, 3)), ("Correct", "FP", "FN"), np.array(["Other"]))


def test_too_few_scores_give_all_possible_symbols(two):
    X, y = two
    cpp = SymbolicCPP(LogisticRegression(), n_sets=5, random_state=0).conformalize(X, y)
    with pytest.warns(InfiniteEndWarning, match="9 would: add 4"):
        sets = cpp.predict_set(X[:20], y[:20])
    assert (sets == possible_symbols(y[:20], 1, cpp.symbols_)).all()


def test_failed_fits_are_errors_of_the_possible_kind(two):
    class Failing(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            raise RuntimeError("no")

    X, y = two
    cpp = SymbolicCPP(Failing(), n_sets=30, random_state=0)
    with pytest.warns(FailedFitWarning, match="88 of 90"):
        cpp.conformalize(X, y)  # the other two samples held one class: no fit was needed
    sets = cpp.predict_set(X[:20], y[:20])
    assert (sets[np.arange(20), np.where(y[:20] == 1, 2, 1)]).all()
    bad = SymbolicCPP(LogisticRegression(), n_sets=30, classifier=Failing())
    with pytest.raises(ValueError, match="classifier of symbols failed: RuntimeError: no"):
        bad.conformalize(X, y)


def test_one_symbol_only(two):
    """A perfect classifier shows a single symbol in training; others stay eligible."""
    X, _ = two
    perfect = (X[:, 0] > 0).astype(int)
    model = LogisticRegression(C=1e6).fit(X, perfect)
    cpp = SymbolicCPP(model, n_sets=None, prefit=True, random_state=0).conformalize(X, perfect)
    assert cpp.predict_set(X[:10], perfect[:10])[:, 0].all()


def test_bad_input(two):
    X, y = two
    with pytest.raises(NotFittedError, match="call conformalize"):
        SymbolicCPP(LogisticRegression()).predict_set(X, y)
    with pytest.raises(ValueError, match=r"No label equals the positive class 7; choose one of"):
        SymbolicCPP(LogisticRegression(), positive_class=7).conformalize(X, y)
    with pytest.raises(ValueError, match="call fit first"):
        SymbolicCPP(LogisticRegression(), n_sets=None).conformalize(X, y)
    with pytest.raises(ValueError, match="fit trains a candidate"):
        SymbolicCPP(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match=r"each of 3 parts; at least 2400 points"):
        SymbolicCPP(LogisticRegression(), n_sets=400).conformalize(X, y)
    cpp = SymbolicCPP(LogisticRegression(), n_sets=30, random_state=0).conformalize(X, y)
    with pytest.raises(ValueError, match="give y as well as X"):
        cpp.predict_set(X, None)
