"""A table of one's own on the command line: read, checked, decided, written."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cpp_core.cli.commands import main

DATA = Path(__file__).parents[2] / "data"
MODELS = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Often(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.often_ = self.classes_[counts.argmax()]
        return self
    def predict(self, X):
        return np.full(len(X), self.often_)

ALGORITHMS = {"the most frequent": Often()}
"""


pytestmark = pytest.mark.usefixtures("forgotten")


def test_from_a_file_to_the_decision(tmp_path, capsys):
    out = tmp_path / "out.json"
    page = tmp_path / "out.html"
    said = ["--target", "price_thousand", "--time", "sold", "--drop", "built", "--loss", "brier"]
    houses = ["run", "--data", str(DATA / "houses.csv"), "--algorithms", "ridge", "dummy"]
    houses += ["--trials", "3", "--jobs", "1", "--json", str(out)]
    houses += ["--html", str(page)]
    assert main([*houses, *said]) == 2  # a loss of the other task is a sentence
    assert "The loss brier is for a classification, but houses.csv" in capsys.readouterr().err
    assert main([*houses, *said[:-1], "absolute_error"]) == 0
    told, before = capsys.readouterr()
    assert told.startswith("Use Ridge.")
    assert "candidate on houses.csv" in told
    assert "Latest cases" in told
    assert "T2" not in before  # the latest cases are held out
    assert "note S1: Enough for" in before
    assert "note: Commas were read as decimal points." in before
    content = json.loads(out.read_text(), parse_constant=pytest.fail)
    assert content["decision"]["use"] == ["ridge"]
    data = content["data"]
    assert (data["file"], data["target"], data["task"]) == (
        *("houses.csv", "price_thousand", "regression"),
    )
    assert set(data["inputs"]) == {"district", "area_m2", "rooms", "garden"}
    assert [check["code"] for check in data["checks"]] == ["T2", "S1"]
    assert "North" not in out.read_text()  # none of its cells
    report = page.read_text(encoding="utf-8")
    assert "A check of the file: Of the latest 225 cases, which were held out" in report
    assert "Harbour" not in report


def test_each_group_has_a_bound(tmp_path, capsys):
    out = tmp_path / "out.json"
    houses = ["run", "--data", str(DATA / "houses.csv"), "--target", "price_thousand"]
    houses += ["--algorithms", "ridge", "--trials", "1", "--jobs", "1", "--group", "district"]
    assert main([*houses, "--loss", "absolute_error", "--json", str(out), "--why"]) == 0
    told = capsys.readouterr().out
    assert "bound (90 %)" in told
    assert "Each bound holds separately, for a new case of its group" in told
    assert "[guaranteed: exchangeable cases] Within group 'North': for a new case" in told
    verdicts = json.loads(out.read_text())["verdicts"]
    groups = [own["facts"] for own in verdicts if "group" in own["facts"]]
    assert len(groups) == 5
    assert (
        sum(own["k"] for own in groups) == json.loads(out.read_text())["algorithms"]["ridge"]["k"]
    )


def test_algorithms_of_a_file_and_groups(tmp_path, capsys):
    file = tmp_path / "my_models.py"
    file.write_text(MODELS)
    machines = ["run", "--data", str(DATA / "machines.csv"), "--group", "machine"]
    machines += ["--time", "load_percent"]
    machines += ["--algorithms", str(file), "naive-bayes", "--loss", "zero_one", "--n-sets", "9"]
    assert main([*machines, "--variant", "z-free", "--trials", "2", "--jobs", "1"]) == 0
    told, before = capsys.readouterr()
    assert "\nthe most frequent  " in told
    assert "look D3: 60 values of “machine” stand in 1,200 rows." in before
    assert "The target is 'fails': 2 classes" in before
    assert "The latest rows are held out for the variant candidate alone." in told
    assert "A bound for each group needs the question about the model at hand." in told


def test_what_a_file_does_not_tell_is_said(tmp_path, capsys):
    rng = np.random.default_rng(0)
    days, prices = rng.integers(1, 10, 80), rng.integers(1000, 9999, 80)
    rows = [
        f"{p // 1000}.{p % 1000:03d};0{d}/03/2024;{p % 7}"
        for p, d in zip(prices, days, strict=True)
    ]
    file = tmp_path / "asked.csv"
    file.write_text("\n".join(["price;when;y", *rows]))
    quick = ["run", "--data", str(file), "--algorithms", "dummy", "--trials", "1", "--jobs", "1"]
    assert main([*quick, "--task", "regression"]) == 0
    before = capsys.readouterr().err
    assert "was taken; --decimal says it." in before
    assert "was taken; --day-first or --month-first says it." in before
    assert main([*quick, "--task", "regression", "--decimal", ".", "--day-first"]) == 0
    assert "was taken;" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--target", "y"], "--target is about a file of your own: say --data FILE too"),
        (["--month-first"], "--day-first is about a file of your own"),
        (["--data", "none.csv"], "none.csv cannot be read: No such file or directory"),
        (["--data", "churn.csv", "--dataset", "iris"], "one of them"),
        (["--data", "churn.csv", "--target", "chum"], "did you mean 'churn'"),
        (["--data", "churn.csv", "--target", "contract", "--task", "regression"], "holds words"),
        (["--data", "churn.csv", "--algorithms", "none.py"], "none.py cannot be read"),
        (["--data", "README.md"], "README.md"),
    ],
)
def test_sentences(arguments, says, capsys, monkeypatch):
    monkeypatch.chdir(DATA)
    assert main(["run", *arguments, "--trials", "1"]) == 2
    told = capsys.readouterr().err
    assert says in told
    assert "Traceback" not in told


def test_enough_is_told_of_the_side_that_is_asked(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(32, 2)), columns=["x", "y"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    asked = ["run", "--data", str(tmp_path / "t.csv"), "--target", "y", "--algorithms", "dummy"]
    asked += ["--trials", "1", "--jobs", "1", "--json", str(tmp_path / "o.json")]
    two = "S1: Enough for 80 %, not for 90 %, 95 % and 99 %: 19 calibration cases are needed, 12"
    assert main([*asked, "--side", "two-sided"]) == 0
    assert two in capsys.readouterr().err
    checks = json.loads((tmp_path / "o.json").read_text())["data"]["checks"]
    assert next(own["text"] for own in checks if own["code"] == "S1") in f"{two} are there."
    for more in ([], ["--side", "upper"]):  # what is usual is what the dashboard starts with
        assert main([*asked, *more]) == 0
        assert "S1: Enough for 80 % and 90 %" in capsys.readouterr().err


def test_an_algorithms_file_that_ends_the_program(tmp_path, capsys):
    (tmp_path / "own.py").write_text("import sys\nsys.exit(3)\n")
    asked = ["run", "--dataset", "iris", "--algorithms", str(tmp_path / "own.py")]
    assert main(asked) == 2
    assert "cannot be executed (SystemExit: 3)" in capsys.readouterr().err
