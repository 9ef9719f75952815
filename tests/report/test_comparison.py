"""compare: any estimators, one call, the decision first; it prints and draws itself."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cpp_core import Experiment, FailedFitWarning, Store, compare

pytestmark = pytest.mark.usefixtures("forgotten")


class Off(RegressorMixin, BaseEstimator):
    """Predicts a number; its class lives in a file that may change."""

    def __init__(self, by=0.0):
        self.by = by

    def fit(self, X, y):
        self.mean_ = np.mean(y) + self.by
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def mixed(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"city": rng.choice(["Oslo", "Rome", None], n), "size": rng.normal(size=n)})
    X.loc[::9, "size"] = np.nan
    words = rng.choice(["good", "bad"], n)
    X["note"] = [f"a {word} day, the {i}th of all" for i, word in enumerate(words)]
    y = 3.0 * (X["city"] == "Oslo") + 2.0 * (words == "good") + rng.normal(0, 0.3, n)
    return X, y.to_numpy()


def test_a_decision_in_one_call(tmp_path):
    X, y = mixed()
    rivals = {"line": Ridge(), "mean <b>": DummyRegressor()}
    found = compare(rivals, X, y, loss="absolute_error", trials=2, n_jobs=1, store=Store(tmp_path))
    assert (found.decision, found.use) == ("use", ("line",))
    text = str(found)
    assert text.startswith("Use line")
    assert repr(found) == text
    assert list(found.table.iloc[:, 0]) == ["line", "mean <b>"]
    page = found._repr_html_()
    assert page.startswith("<iframe")
    assert "Use line" in page
    assert "<b>" not in page
    assert "Left out, free text:" in page
    assert "default-src &#x27;none&#x27;" in page  # no request leaves it
    assert found.results.at(0.1).shape[0] == 4
    assert Store(tmp_path).size() > 0


def test_a_pipeline_gets_the_frame_as_it_is():
    """Free text too, where it is declared: then all get it, one way or another."""
    X, y = mixed()
    X["note"] = X["note"].astype("category")
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["city"]), (TfidfVectorizer(), "note")
    )
    rivals = {"own": make_pipeline(columns, Ridge()), "plain": Ridge()}
    found = compare(rivals, X, y, trials=1, n_jobs=1, store=Store(None))
    assert found.results.summary(0.1, "upper")["own"]["failed"] == 0
    assert found.use == ("own",)
    assert not found.notes


def test_all_are_given_the_same_columns():
    """A count from row to row is an input; what is left out is so for all, and is told."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"day": np.arange(80), "x": rng.normal(size=80)})
    y = X["day"] / 10 + rng.normal(size=80)
    X["note"] = [f"remark number {i} on this" for i in range(80)]
    X["row"] = np.arange(80)
    rivals = {"plain": LinearRegression(), "guess": DummyRegressor()}
    rivals["piped"] = make_pipeline(StandardScaler(), LinearRegression())
    found = compare(rivals, X, y, trials=1, n_jobs=1, store=Store(None))
    assert found.results.experiment.data.feature_names == ("day", "x")
    plain, guess, piped = (found.results.arrays[n]["test"] for n in found.results.algorithms)
    assert np.allclose(plain, piped)
    assert plain.mean() < 2 < guess.mean()
    left_out = ("Left out, free text: 'note'.", "Left out, a name for each row: 'row'.")
    assert found.notes == left_out
    assert str(found).endswith("\n".join(left_out))
    found = compare(rivals, X, y, trials=1, n_jobs=1, store=Store(None), drop=["day", "note"])
    assert found.results.experiment.data.feature_names == ("x",)
    assert found.notes == left_out[1:]
    with pytest.warns(UserWarning, match="free text: 'note'"):
        Experiment.from_table(X.assign(y=y), "y")


def test_the_same_name_with_other_settings_gives_other_numbers(tmp_path):
    X, y = mixed()
    store = Store(tmp_path)
    for make in (lambda by: Off(by), lambda by: Ridge(alpha=1 + by)):
        near, far = (
            compare({"a": make(by)}, X, y, trials=1, n_jobs=1, store=store).results for by in (0, 9)
        )
        losses = [own.arrays[own.algorithms[0]]["test"] for own in (near, far)]
        assert not np.array_equal(*losses)


def test_nothing_is_stored_of_a_class_that_may_change(tmp_path):
    X, y = mixed()
    compare({"off": Off()}, X, y, trials=1, n_jobs=1, store=Store(tmp_path))
    assert Store(tmp_path).size() == 0


@pytest.mark.slow
def test_workers_know_what_this_process_knows(tmp_path):
    """A table and a class of one's own in other processes, with the same numbers."""
    X, y = mixed(60_000)
    asked = {"trials": 6, "store": Store(None), "variant": "z-free", "n_sets": 40}
    here = compare({"off": Off(), "line": Ridge()}, X, y, n_jobs=1, **asked).results
    there = compare({"off": Off(), "line": Ridge()}, X, y, n_jobs=2, **asked).results
    for first, second in zip(here.algorithms, there.algorithms, strict=True):
        assert np.array_equal(here.arrays[first]["test"], there.arrays[second]["test"])


@pytest.mark.parametrize(
    ("rivals", "y", "says"),
    [
        ({}, [0, 1] * 30, "No algorithms were given"),
        ({}, np.linspace(0, 1, 60), "No algorithms were given"),
        (
            {"a": Ridge(), "a ": Ridge(alpha=2)},
            np.linspace(0, 1, 60),
            "Two algorithms are called 'a'",
        ),
        ({"a": LogisticRegression()}, [0, 1] * 29, "one label for each of the 60 rows"),
        ({"a": LogisticRegression()}, [1] * 60, "is 1 in every row"),
        ({"a": LogisticRegression()}, None, "needs X with a row, and y with a label"),
        ({"a": Ridge()}, ["a", "b"] * 30, "holds words"),
    ],
)
def test_what_cannot_be_compared(rivals, y, says):
    with pytest.raises(ValueError, match=says):
        compare(rivals, np.random.default_rng(0).normal(size=(60, 2)), y)


def test_fits_that_fail_are_told_everywhere():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    how = {"trials": 2, "n_jobs": 1, "store": Store(None)}
    with pytest.warns(FailedFitWarning, match="bad: 2 training runs failed .* Got -1 instead"):
        one = compare({"bad": Ridge(alpha=-1), "guess": DummyRegressor()}, X, y, **how)
    (line,) = one.strip.failed
    assert line in str(one)
    assert "2 training runs failed and count with the worst loss" in one.html()
    assert one.use == ("guess",)
    with pytest.warns(FailedFitWarning):
        both = compare({"bad": Ridge(alpha=-1), "worse": Ridge(alpha=-2)}, X, y, margin=1, **how)
    shown = str(both)
    assert "bad and worse failed on all of" in both.strip.text
    assert "bad and worse: both failed on all of" in shown
    assert "equal" not in shown
    assert len(both.strip.failed) == 2


def test_what_the_data_warn_of_and_what_was_asked_is_said():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["y", "y 0"])
    X["when"] = pd.date_range("2024-01-01", periods=200)
    rivals = {"line": LinearRegression(), "mean": DummyRegressor()}
    found = compare(
        rivals, X, X["y"] + 0.1 * rng.normal(size=200), trials=2, n_jobs=1, store=Store(None),
        at_most=50.0,
    )  # fmt: skip
    assert "Random splits hide drift" in str(found)
    assert "new squared errors are at most 50" in str(found)
    assert "Random splits hide drift" in found.html()
