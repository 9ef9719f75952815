"""A frame understood: kinds of columns, the target, what is left out, and sentences where not."""

import datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cpp_core.catalog import columns
from cpp_core.catalog.checkups import checkups
from cpp_core.catalog.columns import coded
from cpp_core.catalog.tables import type_frame

N = 60
DAYS = pd.date_range("2024-02-28", periods=N, freq="D")


@pytest.mark.parametrize(
    ("values", "kind", "missing"),
    [
        (np.linspace(0, 1, N), "number", 0),
        (np.r_[np.linspace(0, 1, N - 2), np.inf, np.nan], "number", 2),
        ([1, 2, 3] * 20, "number", 0),
        (pd.array([1, None, 3] * 20, dtype="Int64"), "number", 20),
        ([Decimal("1.5"), None, Decimal("2")] * 20, "number", 20),
        (pd.to_timedelta(np.arange(N) ** 2, "h"), "number", 0),
        ([True, False] * 30, "boolean", 0),
        ([True, None, False] * 20, "boolean", 20),
        (pd.array([True, None, False] * 20, dtype="boolean"), "boolean", 20),
        (DAYS, "date", 0),
        (DAYS.tz_localize("Europe/Rome"), "date", 0),
        ([datetime.date(2024, 1, 1), None, datetime.date(2024, 5, 1)] * 20, "date", 20),
        (["a", "b", None] * 20, "category", 20),
        (pd.Categorical(["a", "b", "c"] * 20), "category", 0),
        (pd.Categorical([1, 2, 3] * 20), "category", 0),
        ([1, "a", None] * 20, "category", 20),
        ([7] * N, "constant", 0),
        (["only"] * N, "constant", 0),
        ([7, None] * 30, "number", 30),
        ([f"user{i}" for i in range(N)], "id", 0),
        (pd.Categorical([f"user{i}" for i in range(N)]), "category", 0),
        (range(N), "number", 0),
        (range(1, N + 1), "number", 0),
        (np.arange(N) * 3 + 5, "number", 0),
        ([f"a note about number {i}" for i in range(N)], "text", 0),
        (["a" * 60, "a"] * 30, "category", 0),
        (["a" * 60, "a" * 30] * 30, "text", 0),
        ([None] * N, "empty", N),
        ([np.nan] * N, "empty", N),
        ([np.inf] * N, "empty", N),
    ],
)  # fmt: skip
def test_kinds(values, kind, missing):
    typed = type_frame(pd.DataFrame({"x": values, "y": [0, 1] * 30}))
    assert (typed.columns["x"].kind, typed.columns["x"].missing) == (kind, missing)
    assert typed.values["x"].dtype == np.float64
    assert not np.isinf(typed.values["x"]).any()


def test_names_of_rows_by_their_name():
    ids = np.arange(N) * 7 + 1000
    frame = pd.DataFrame(dict.fromkeys(("customer_id", "PassengerId", "ID", "paid", "grid"), ids))
    kinds = [own.kind for own in type_frame(frame).columns.values()]
    assert kinds == ["id", "id", "id", "number", "number"]
    for first in (0, 1):  # a count names rows where its name says so
        names = ("row", "Nr.", "case", "column 1", "day", "0", "paid", "humid")
        frame = pd.DataFrame(dict.fromkeys(names, np.arange(N) + first))
        kinds = [own.kind for own in type_frame(frame).columns.values()]
        assert kinds == ["id"] * 4 + ["number"] * 4


def test_values_come_back():
    late = DAYS[1] + pd.Timedelta("90min")
    frame = pd.DataFrame(
        {
            "c": ["b", "a", None],
            "d": [DAYS[0], None, late],
            "b": [True, False, True],
            "x": [0.5, 1e9, 2],
        }
    )
    typed = type_frame(frame)
    shown = [[own.shown(v) for v in typed.values[name]] for name, own in typed.columns.items()]
    assert shown[0] == ["b", "a", "missing"]
    assert shown[1] == ["2024-02-28", "missing", "2024-02-29 01:30:00"]
    assert shown[2] == ["True", "False", "True"]
    assert shown[3] == ["0.5", "1e+09", "2"]


@pytest.mark.parametrize(
    ("columns", "target"),
    [(["a", "b", "c"], "c"), (["Target", "b"], "Target"), (["y", "label", "b"], "label"),
     (["class", "id", "x"], "class"), (["a", " Y ", "b"], " Y ")],
)  # fmt: skip
def test_the_target_is_guessed_by_name_or_is_the_last(columns, target):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, len(columns))), columns=columns)
    frame["note"] = [f"something about row {i}" for i in range(30)]
    frame["when"] = DAYS[:30]
    assert type_frame(frame).guess_target() == target


@pytest.mark.parametrize(
    ("values", "task", "dtype"),
    [
        (["yes", "no"] * 30, "classification", "U"),
        ([True, False] * 30, "classification", "b"),
        ([0, 1, 2] * 20, "classification", "i"),
        ([0.0, 1.0, None] * 20, "classification", "i"),
        ([0.5, 1.5] * 30, "classification", "f"),
        (np.arange(N) * 2, "regression", "f"),
        (np.linspace(0, 1, N), "regression", "f"),
        (np.round(np.linspace(0, 3, N), 1), "regression", "f"),
    ],
)
def test_the_task_is_guessed(values, task, dtype):
    table = type_frame(pd.DataFrame({"x": np.linspace(0, 1, N), "y": values})).table("y")
    assert (table.task, table.y.dtype.kind) == (task, dtype)


def test_a_table_and_what_is_said_of_it():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "row": range(N),
            "when": DAYS,
            "site": ["north", "south"] * 30,
            "size": np.r_[np.nan, np.inf, rng.normal(size=N - 2)],
            "note": [f"a remark on row {i}" for i in range(N)],
            "empty": None,
            "ok": [True, False] * 30,
            "y": np.r_[rng.normal(size=N - 3), [np.nan] * 3],
        }
    )
    typed = type_frame(frame)
    table = typed.table(time="when", group="site", drop=["ok"])
    assert table.target == "y"
    assert [own.name for own in table.inputs] == ["site", "size"]
    assert table.X.shape == (57, 2)
    assert np.isnan(table.X[:2, 1]).all()
    assert table.dropped == 3
    assert table.groups.tolist() == frame["site"][:57].tolist()
    assert table.times.tolist() == list(DAYS[:57])
    assert list(table.frame) == ["site", "size"]
    assert table.notes == (
        "57 rows, 2 inputs: 1 number, 1 category.",
        "The target is 'y': a number (regression).",
        "3 rows without a target left out.",
        "Left out, free text: 'note'.",
        "Left out, a name for each row: 'row'.",
        "Left out, no values: 'empty'.",
        "2 values missing, in 1 input.",
        "1 infinite value taken for missing.",
    )
    assert [own.name for own in typed.table("ok").inputs] == ["when", "site", "size", "y"]


def test_twins_and_numbers_as_names():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=["a", "a", 7])
    assert list(type_frame(frame).columns) == ["a", "a (2)", "7"]
    assert list(type_frame(frame.to_numpy()).columns) == ["0", "1", "2"]


WORDS = [f"word{i % 40} {i}" for i in range(N)]


@pytest.mark.parametrize(
    ("columns", "asked", "says"),
    [
        ({}, {}, "has 0 rows and 0 columns"),
        ({"x": []}, {}, "has 0 rows and 1 columns"),
        ({"x": [1.5] * N}, {}, "No column can be a target"),
        ({"id": range(N), "y": [0, 1] * 30}, {}, "No column is left to predict 'y' from"),
        ({"x": np.arange(N) / 7, "y": [0, 1] * 30}, {"drop": ["x"]}, "No column is left"),
        ({"x": np.arange(N) / 7, "y": [0, 1] * 30}, {"target": "z"}, "no column 'z'|column"),
        ({"x": np.arange(N) / 7, "y": [0, 1] * 30}, {"drop": ["y"]}, "cannot be left out too"),
        ({"x": np.arange(N) / 7, "y": [0, 1] * 30}, {"time": "y"}, "cannot be the time column too"),
        ({"x": [0, 1] * 30, "y": WORDS}, {"target": "y"}, "60 distinct values in 60 rows"),
        ({"x": [0, 1] * 30, "y": WORDS}, {"target": "y", "task": "regression"}, "holds words"),
        ({"x": [0, 1] * 30, "y": DAYS}, {"target": "y", "task": "classification"}, "holds dates"),
        ({"x": [0, 1] * 30, "y": [3] * N}, {"target": "y"}, "is 3 in every row"),
        ({"x": [0, 1] * 30, "y": [None] * N}, {"target": "y"}, "has no values"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_gets_a_sentence(columns, asked, says):
    with pytest.raises(ValueError, match=says):
        type_frame(pd.DataFrame(columns)).table(
            **({"target": "y"} if "y" in columns and "target" not in asked else {}) | asked
        )


@pytest.mark.parametrize("given", ["data/churn.csv", b"a,b", Path("churn.csv")])
def test_a_path_is_no_frame(given):
    with pytest.raises(ValueError, match=r"A frame is needed, .* read the file first"):
        type_frame(given)


@pytest.mark.parametrize("task", [None, "classification", "regression"])
def test_words_among_numbers_are_named(task):
    values = [f"{i / 7:.3f}" for i in range(N)]
    values[7] = values[20] = "oops"
    frame = pd.DataFrame({"x": [0, 1] * 30, "y": values})
    with pytest.raises(ValueError, match="but for 'oops' in row 8, 'oops' in row 21; correct"):
        type_frame(frame).table("y", task)
    (told,) = type_frame(frame.assign(z=[0.5, 1, 2] * 20)).table("x").left_out
    assert told.endswith("'y' (numbers, but for 'oops' in row 8, 'oops' in row 21).")


def test_labels_beyond_what_a_float_can_tell():
    y = np.array([2**60, 2**60 + 1, 2**60 + 1] * 20)
    frame = pd.DataFrame({"x": np.arange(N) / 7, "y": y})
    table = type_frame(frame).table("y")
    assert table.task == "classification"
    assert np.array_equal(table.y, y)
    assert not any(own.code in ("T1", "L1") for own in checkups(table))
    y = pd.array([2**64 - 1, 2**64 - 2, None] * 20, dtype="UInt64")
    table = type_frame(frame.assign(y=y)).table("y")
    assert sorted(set(table.y.tolist())) == [2**64 - 2, 2**64 - 1]


@pytest.mark.parametrize("missing", [False, True])
def test_text_of_files_is_coded_as_that_of_python(missing):
    words = ["Zoe", "a", "Ä", "😀", "\uffff", "a ", "", "10", "9", "ß"] * 3
    words = [*words, None] if missing else words
    codes, levels = coded(pd.Series(words, dtype="str"))
    plain, expected = pd.factorize(pd.Series(words, dtype=object), sort=True)
    assert levels == list(expected)
    assert codes.tolist() == plain.tolist()
    assert all(type(level) is str for level in levels)


def test_words_that_do_not_fit_in_one_piece_are_found(monkeypatch):
    monkeypatch.setattr(columns, "AT_ONCE", 3)
    column = pd.Series([*map(str, range(10)), "oops"], dtype="str")
    assert columns.type_column("x", column)[0].odd == "'oops' in row 11"
