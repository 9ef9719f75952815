"""Algorithms of one's own: names, colours, digests, and a Python file."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from cpp_core import ALGORITHMS, Experiment, add_algorithm
from cpp_core.catalog.own_algorithms import (
    LOOKS,
    digest_of,
    prepares,
    read_algorithms,
    read_from_environment,
)


class Mine(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_names_are_never_taken_over():
    forest = add_algorithm("my forest", RandomForestClassifier(max_depth=2))
    assert (forest.name, forest.label) == ("my-forest", "my forest")
    assert add_algorithm("my forest", RandomForestClassifier(max_depth=2)) is forest
    other = add_algorithm("my forest", RandomForestClassifier(max_depth=3))
    assert other.name.startswith("my-forest-")
    assert other.label == "my forest"
    before = ALGORITHMS["logistic"]
    assert add_algorithm("logistic", LogisticRegression()).name.startswith("logistic-")
    assert ALGORITHMS["logistic"] is before
    assert forest.make().max_depth == 2
    assert forest.make(max_depth=7).max_depth == 7
    assert add_algorithm("line", Ridge()).tasks == ("regression",)


def test_colours_and_markers_are_not_taken():
    known = {(own.color, own.marker) for own in ALGORITHMS.values()}
    added = [add_algorithm(f"r{i}", Ridge(alpha=i)) for i in range(1, len(LOOKS) + 1)]
    looks = {(own.color, own.marker) for own in added}
    assert len(looks) == len(LOOKS)
    assert not {color for color, _ in looks} & {color for color, _ in known}
    assert add_algorithm("one more", Ridge(alpha=99)).color == added[0].color


@pytest.mark.parametrize("given", [RandomForestClassifier, 3, None, "logistic"])
def test_what_cannot_be_trained(given):
    with pytest.raises(ValueError, match="cannot be trained; give an estimator such as"):
        add_algorithm("mine", given)


def test_digests_tell_what_matters():
    scaled = make_pipeline(StandardScaler(), LogisticRegression(C=2.0))
    search = GridSearchCV(LogisticRegression(), {"C": [1, np.float64(2)]}, cv=3)
    stack = StackingClassifier([("a", LogisticRegression()), ("b", RandomForestClassifier())])
    log = make_pipeline(FunctionTransformer(np.log1p), Ridge())
    sure = [LogisticRegression(), LogisticRegression(C=2.0), scaled, search, stack, log, Ridge()]
    digests = [digest_of(own) for own in sure]
    assert all(kept for _, kept in digests)
    assert len(set(digests)) == len(sure)
    assert digest_of(RandomForestClassifier(random_state=3)) == digest_of(RandomForestClassifier())
    for unsure in (Mine(), make_pipeline(FunctionTransformer(lambda X: X), Ridge())):
        first, second = digest_of(unsure), digest_of(unsure)
        assert not first[1]
        assert first != second


def test_the_key_of_stored_losses_depends_on_the_settings():
    first = add_algorithm("forest", RandomForestClassifier(max_depth=2))
    key = Experiment(dataset="iris", algorithms=(first.name,)).key("forest", 0)
    ALGORITHMS.pop("forest")
    add_algorithm("forest", RandomForestClassifier(max_depth=3))
    assert Experiment(dataset="iris", algorithms=("forest",)).key("forest", 0) != key
    ALGORITHMS.pop("forest")
    add_algorithm("forest", RandomForestClassifier(max_depth=2))
    assert Experiment(dataset="iris", algorithms=("forest",)).key("forest", 0) == key


def test_who_prepares_columns():
    columns = make_column_transformer((OneHotEncoder(), ["city"]))
    assert prepares(make_pipeline(columns, Ridge()))
    assert prepares(GridSearchCV(make_pipeline(columns, Ridge()), {"ridge__alpha": [1]}))
    assert not prepares(GridSearchCV(Ridge(), {"alpha": [1]}))


GOOD = """
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
import numpy as np

class First(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return np.full(len(X), self.classes_[0])

ALGORITHMS = {"my first": First(), "small-forest": RandomForestClassifier(5)}
"""


def test_a_file_of_ones_own(tmp_path, monkeypatch):
    file = tmp_path / "my_models.py"
    file.write_text(GOOD)
    found = read_algorithms(file)
    assert [own.name for own in found] == ["my-first", "small-forest"]
    assert all(own.kept and own.own for own in found)
    assert read_algorithms(file) == found  # the same file, the same digests
    file.write_text(GOOD + "# changed\n")
    assert read_algorithms(file)[0].digest != found[0].digest
    monkeypatch.setenv("CPP_CORE_ALGORITHMS", str(tmp_path / "none.py"))
    with pytest.warns(UserWarning, match="CPP_CORE_ALGORITHMS: .* cannot be read"):
        read_from_environment()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1", "has no algorithms; write ALGORITHMS = "),
        ("ALGORITHMS = {}", "has no algorithms"),
        ("ALGORITHMS = {'a': 1}", "cannot be trained"),
        ("1 / 0", "cannot be executed .ZeroDivisionError"),
        ("def (", "cannot be executed .SyntaxError"),
        ("\0", "cannot be executed"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, text, says):
    file = tmp_path / "my_models.py"
    file.write_text(text)
    with pytest.raises(ValueError, match=says):
        read_algorithms(file)


@pytest.mark.parametrize("wrap", [FrozenEstimator, lambda m: make_pipeline(FrozenEstimator(m))])
def test_a_model_that_stays_trained_is_refused(wrap):
    trained = LogisticRegression().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="stays as it was trained"):
        add_algorithm("mine", wrap(trained))
    add_algorithm("mine", trained)  # is trained anew each time
