"""``check`` as a script meets it: exit codes, sentences, files."""

import json
from fractions import Fraction

import numpy as np
import pytest

from cpp_core import batch_errors, interval
from cpp_core.cli.check_command import told_lines
from cpp_core.cli.commands import main
from cpp_core.verdicts.answers import answers_of

LOSSES = np.arange(1, 20) / 20  # k = 19: the upper bound at alpha 0.1 is the 18th, 0.9


@pytest.fixture
def file(tmp_path):
    """Writes columns to a file; gives its path."""

    def write(**columns):
        path = tmp_path / "losses.csv"
        rows = zip(*columns.values(), strict=True)
        lines = [",".join(columns), *(",".join(map(repr, map(float, row))) for row in rows)]
        path.write_text("\n".join(lines))
        return str(path)

    return write


@pytest.mark.parametrize(
    ("count", "at_most", "code", "says"),
    [
        (19, "0.9", 0, "[guaranteed: exchangeable cases] Shown: for a new case"),
        (19, "0.899", 1, "Not shown with 90 % confidence"),
        (8, "0.9", 3, "1 more calibration case would allow it"),
        (1, "0.9", 3, "8 more calibration cases would allow it"),
        (8, "1", 0, "its range ends at 1"),
    ],
)
def test_exit_codes(file, capsys, count, at_most, code, says):
    path = file(loss=LOSSES[:count])
    arguments = ["--column", "loss", "--at-most", at_most, "--alpha", "0.1", "--high", "1"]
    assert main(["check", path, *arguments]) == code
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rate", "code"), [("0.1", 0), ("0.08", 1), ("0.02", 1), ("0.01", 3), ("0", 3)]
)
def test_error_rates_by_the_exact_batch_rule(file, capsys, rate, code):
    wrong = np.repeat([1, 0], [10, 190])
    most = [batch_errors(200, e, 100, 0.1, "upper")[1] for e in (10, 0)]
    allowed = Fraction(rate) * 100
    assert code == (0 if most[0] <= allowed else 1 if most[1] <= allowed else 3)
    arguments = ["--error-rate-at-most", rate, "--batch-size", "100"]
    assert main(["check", file(wrong=wrong), *arguments]) == code
    assert "the error rate on the next 100 cases" in capsys.readouterr().out


def test_without_a_question_there_is_a_bound(file, capsys):
    assert main(["check", file(loss=LOSSES), "--low", "0"]) == 0
    assert "the loss of this trained model is at most 0.9 " in capsys.readouterr().out
    assert main(["check", file(loss=LOSSES[:5])]) == 3
    assert "no finite bound" in capsys.readouterr().out


def test_several_columns_are_compared(file, tmp_path, capsys):
    rng = np.random.default_rng(0)
    hard = rng.exponential(size=300)
    columns = {name: hard + shift for name, shift in (("good", 0.0), ("fair", 0.5), ("bad", 1.0))}
    path, out = file(**columns), tmp_path / "out.json"
    assert main(["check", path, "--all", "--low", "0", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "for all 3 pairs jointly" in printed
    assert "good is better than each of the 2 others; fair is better than bad" in printed
    assert "for all at once use --alpha 0.0333." in printed
    content = json.loads(out.read_text(), parse_constant=pytest.fail)
    assert content["high"] is None
    assert len(content["sha256"]) == 64
    bounds = {v["facts"]["algorithm"]: v["facts"]["bound"] for v in content["verdicts"][:3]}
    for name, own in columns.items():
        assert bounds[name] == interval(own, 0.1, "upper")[1]
    assert all({"text", "badge", "facts"} <= set(v) for v in content["verdicts"])
    # All three at most 3: by far the good one, not the bad one; the worst of them decides.
    two = ["check", path, "--column", "good", "--column", "bad", "--at-most"]
    bound = {name: interval(own, 0.1, "upper")[1] for name, own in columns.items()}
    between = (bound["good"] + bound["bad"]) / 2
    assert main([*two, repr(float(between))]) == 1
    printed = capsys.readouterr().out
    assert "Shown: for a new case" in printed
    assert "Not shown" in printed
    assert "so this trained good has the smaller loss" in printed
    assert main([*two, "100"]) == 0


def test_error_rates_of_several_columns_name_them():
    answers = answers_of(
        {"a": np.zeros(100), "b": np.ones(100)}, error_rate_at_most=0.1, batch_size=10
    )
    assert [verdict.outcome for verdict in answers.answer] == ["shown", "not shown"]
    assert answers.answer[0].text.startswith("a: Shown")
    assert any("b: Not shown" in line for line in told_lines(answers, 0.1))
    equal = answers_of({"a": np.ones(30), "b": np.ones(30)})
    assert "so they are equal" in equal.comparison[0].text


@pytest.mark.parametrize(
    ("columns", "arguments", "says"),
    [
        ({"loss": LOSSES}, ["--column", "los"], "did you mean 'loss'"),
        ({"loss": LOSSES}, ["--alpha", "10"], "if you mean 10 %"),
        ({"loss": LOSSES}, ["--at-most", "nan"], "threshold must be a number"),
        ({"loss": LOSSES}, ["--low", "0.5"], "Column 'loss': 9 of 19 losses lie outside"),
        ({"loss": LOSSES}, ["--low", "1", "--high", "0"], "from low to high, but 1 to 0"),
        ({"loss": LOSSES}, ["--low", "nan"], "from low to high"),
        ({"loss": LOSSES}, ["--error-rate-at-most", "0.1"], "give both the rate and the batch"),
        ({"loss": LOSSES}, ["--batch-size", "10"], "give both the rate and the batch"),
        (
            {"loss": LOSSES},
            ["--error-rate-at-most", "0.1", "--batch-size", "10"],
            "Column 'loss' has 0.05 as its loss number 1; an error rate needs 1 for an error",
        ),
        (
            {"wrong": [0, 1]},
            ["--error-rate-at-most", "5", "--batch-size", "10"],
            "write 0.05 for 5 %",
        ),
        (
            {"wrong": [0, 1]},
            ["--error-rate-at-most", "0.1", "--batch-size", "0"],
            "batch_size must be a whole number",
        ),
        ({"a": LOSSES, "b": LOSSES}, [], "2 columns of losses (a, b); name one with --column"),
        ({"a": LOSSES}, ["--all", "--column", "a"], "not both"),
        ({f"m{i}": LOSSES for i in range(7)}, ["--all"], "7 columns of losses are too many"),
        ({"a": [0.5, np.nan]}, [], "1 of 2 losses missing or infinite"),
        ({"a": [0.5, 0.5], "id": [7, 7]}, ["--column", "a", "--case", "id"], "'7.0' twice"),
        ({"a": LOSSES}, ["--json", "no/such/folder/o.json"], "does not exist; make it first"),
        ({"a": LOSSES}, ["--html", "no/such/folder/o.html"], "does not exist; make it first"),
    ],
)
def test_unusable_input(file, capsys, columns, arguments, says):
    assert main(["check", file(**columns), *arguments]) == 2
    caught = capsys.readouterr()
    assert says in caught.err
    assert caught.out == ""


def test_no_such_file(capsys):
    assert main(["check", "nowhere.csv"]) == 2
    assert "nowhere.csv cannot be read" in capsys.readouterr().err


def test_two_questions_at_once_are_refused(file, capsys):
    with pytest.raises(ValueError, match="not for both at once"):
        answers_of({"a": LOSSES}, at_most=1, error_rate_at_most=0.1, batch_size=3)
    both = ["--at-most", "1", "--error-rate-at-most", "0.1", "--batch-size", "3"]
    with pytest.raises(SystemExit) as stop:
        main(["check", file(a=LOSSES), *both])
    assert stop.value.code == 2


def test_help_shows_an_example_and_the_codes(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["check", "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "check losses.csv --column loss --at-most 0.5 --alpha 0.1" in out
    assert "3 too little data" in out
