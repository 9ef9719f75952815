"""The encoder of mixed columns, beside scikit-learn's own parts and against awkward rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from cpp_core import AlgorithmCPP, CandidateCPP, SymbolicCPP, TableEncoder


def mixed_frame(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(50, 10, n),
            "city": rng.choice(["Bonn", "Oslo", "Rome"], n),
            "new": rng.random(n) < 0.3,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    frame.loc[rng.random(n) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n) < 0.1, "city"] = None
    y = np.where(frame["city"].eq("Oslo"), 1.0, 0.0) + rng.normal(0, 0.3, n)
    return frame, y


@pytest.mark.parametrize("seed", range(3))
def test_the_same_as_scikit_learns_parts(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(3, 2, (80, 6))
    X[:, 5] = rng.integers(0, 4, 80)
    X[rng.random((80, 6)) < 0.1] = np.nan
    train, new = X[:50], X[50:]
    ours = TableEncoder(categorical=[5]).fit(train)
    fill = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    theirs = ColumnTransformer(
        [
            ("numbers", fill, [0, 1, 2, 3, 4]),
            ("codes", OneHotEncoder(handle_unknown="ignore", sparse_output=False), [5]),
        ]
    ).fit(np.where(np.isnan(train), [np.nan] * 5 + [-1.0], train))
    expected = theirs.transform(np.where(np.isnan(new), [np.nan] * 5 + [-1.0], new))
    found, names = ours.transform(new), ours.get_feature_names_out().tolist()
    assert np.allclose(found[:, :5], expected[:, :5])
    gaps = [names.index(f"x{j} missing") for j in range(5) if np.isnan(train[:, j]).any()]
    assert np.array_equal(
        found[:, gaps], np.isnan(new[:, :5])[:, np.isnan(train[:, :5]).any(axis=0)]
    )
    assert np.array_equal(found[:, -4:], expected[:, 6:])  # without the made-up level of gaps


def test_what_it_has_not_seen():
    train = np.array([[5.0, 1e9, 0], [5.0, 1e9, 1], [5.0, 1e9, 1]])
    encoder = TableEncoder(categorical=[2]).fit(train)
    new = np.array([[7.0, 0.0, 2], [np.nan, np.inf, np.nan]])
    assert np.array_equal(encoder.transform(new), np.zeros((2, 4)))


@pytest.mark.parametrize("value", [0.1, 1e308, 5e-324, -1e308, np.nan, np.inf])
def test_always_finite(value):
    rng = np.random.default_rng(0)
    X = rng.choice([value, value, 1.0, -1e308, 0.1], (30, 4))
    assert np.isfinite(TableEncoder().fit(X).transform(X[::-1])).all()
    same = np.full((30, 2), value)
    assert not TableEncoder().fit(same).transform(X[:, :2]).any()


def test_frames_and_arrays_agree():
    frame, _ = mixed_frame(60)
    encoder = TableEncoder().fit(frame[:40])
    names = ["size", "new", "day", "size missing", "city Bonn", "city Oslo", "city Rome"]
    assert encoder.get_feature_names_out().tolist() == names
    codes = pd.Categorical(frame["city"]).codes.astype(float)
    days = (frame["day"] - pd.Timestamp(0)) / pd.Timedelta(days=1)
    array = np.column_stack([frame["size"], np.where(codes < 0, np.nan, codes), frame["new"], days])
    plain = TableEncoder(categorical=[1]).fit(array[:40].astype(float))
    assert np.allclose(plain.transform(array.astype(float)), encoder.transform(frame))
    objects = TableEncoder().fit(frame.to_numpy(dtype=object)[:40])
    assert np.allclose(objects.transform(frame.to_numpy(dtype=object)), encoder.transform(frame))


def test_only_frequent_levels_of_many():
    codes = np.repeat(np.arange(100.0), np.arange(1, 101))[:, None]
    encoder = TableEncoder(categorical=[0], max_levels=7).fit(codes)
    assert encoder.levels_[0].tolist() == list(range(93, 100))


def test_it_is_a_transformer():
    frame, y = mixed_frame(120)
    encoder = TableEncoder(max_levels=5)
    assert clone(encoder).get_params() == {"categorical": None, "max_levels": 5}
    scores = cross_val_score(make_pipeline(encoder, Ridge()), frame, y, cv=3)
    assert scores.mean() > 0.3
    named = make_pipeline(encoder).set_output(transform="pandas").fit(frame).transform(frame)
    assert list(named.columns) == encoder.fit(frame).get_feature_names_out().tolist()
    with pytest.raises(NotFittedError, match="call fit first"):
        TableEncoder().transform(frame)
    with pytest.raises(ValueError, match="X has 2 columns, but TableEncoder was fitted with 4"):
        encoder.transform(frame[["size", "city"]])


@pytest.mark.parametrize("modulation", ["regression", "quantile"])
def test_sets_that_move_read_mixed_frames(modulation):
    frame, y = mixed_frame(300)
    labels = (y > 0.5).astype(int)
    model = make_pipeline(TableEncoder(), LogisticRegression())
    candidate = CandidateCPP(model, modulation=modulation, random_state=0)
    candidate.fit(frame[:100], labels[:100]).conformalize(frame[100:], labels[100:])
    assert candidate.predict_interval(frame[:5]).shape == (5, 2)
    given = {"n_sets": 10, "modulation": modulation, "random_state": 0}
    algorithm = AlgorithmCPP(model, "log_loss", **given).conformalize(frame, labels)
    assert algorithm.predict_interval(frame[:5], labels[:5], confidence_level=0.8).shape == (5, 2)
    symbolic = SymbolicCPP(model, n_sets=10, random_state=0).conformalize(frame, labels)
    assert symbolic.predict_set(frame[:5], labels[:5], confidence_level=0.8).shape == (5, 3)


class Recording(TableEncoder):
    """Remembers how many rows it was fitted to, and which."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None):
        self.seen.append(set(X.index))
        return super().fit(X)


def test_the_features_of_the_loss_never_see_calibration():
    frame, y = mixed_frame(200)
    Recording.seen.clear()
    cpp = CandidateCPP(
        make_pipeline(TableEncoder(), Ridge()),
        "squared_error",
        modulation="regression",
        feature_map=Recording(),
        random_state=0,
    )
    cpp.fit(frame[:50], y[:50]).conformalize(frame[50:], y[50:])
    cpp.predict_interval(frame[:3])
    assert [len(rows) for rows in Recording.seen] == [75]
    assert not Recording.seen[0] & set(range(50))
    losses = {round(float(v), 9) for v in cpp.losses_}
    own = (y[50:] - cpp.candidate_.predict(frame[50:])) ** 2
    calibration = {i + 50 for i, v in enumerate(own) if round(float(v), 9) in losses}
    assert len(calibration) == cpp.k_
    assert not calibration & Recording.seen[0]


def test_columns_that_are_not_those_it_was_fitted_with():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["u", "v", "u"]})
    encoder = TableEncoder().fit(frame)
    for other in (frame[["b", "a"]], frame.rename(columns={"b": "c"})):
        with pytest.raises(ValueError, match=r"was fitted with .* in the same order"):
            encoder.transform(other)
    assert np.array_equal(encoder.transform(frame), encoder.transform(frame.to_numpy(object)))
    for outside in (-1, 2, "b"):
        with pytest.raises(ValueError, match="count them from 0 to 1"):
            TableEncoder(categorical=[outside]).fit(np.ones((3, 2)))
