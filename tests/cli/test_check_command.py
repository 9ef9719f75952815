"""``check`` as a script meets it: exit codes, sentences, files."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from cpp_core import batch_errors, interval
from cpp_core.cli.check_command import told_lines
from cpp_core.cli.commands import main
from cpp_core.verdicts.answers import answers_of

LOSSES = np.arange(1, 20) / 20  # k = 19: the upper bound at alpha 0.1 is the 18th, 0.9
MANY = np.arange(1, 101) / 100  # k = 100: 96 of them within a limit show it


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
        (100, "0.96", 0, "[guaranteed: independent cases] Shown: at least 90 % of new cases have"),
        (100, "0.959", 1, "[not shown] Not shown with 95 % confidence"),
        (28, "0.9", 3, "[too little data] Too little"),
        (28, "0.9", 3, "29 calibration cases would allow it, there are 28"),
        (1, "0.9", 3, "29 calibration cases would allow it, there is 1"),
        (8, "1", 0, "its range ends at 1"),
    ],
)
def test_exit_codes(file, capsys, count, at_most, code, says):
    path = file(loss=MANY[:count])
    arguments = ["--column", "loss", "--at-most", at_most, "--alpha", "0.1", "--high", "1"]
    arguments.append("--why")
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
    arguments = ["--error-rate-at-most", rate, "--batch-size", "100", "--why"]
    assert main(["check", file(wrong=wrong), *arguments]) == code
    assert "the error rate on the next 100 cases" in capsys.readouterr().out


def test_without_a_question_there_is_a_bound(file, capsys):
    assert main(["check", file(loss=LOSSES), "--low", "0", "--why"]) == 0
    assert "the loss of this trained model is at most 0.9 " in capsys.readouterr().out
    assert main(["check", file(loss=LOSSES[:5]), "--why"]) == 3
    assert "no finite bound" in capsys.readouterr().out


def test_no_bound_below_the_top_of_the_range_is_no_success(file, tmp_path, capsys):
    out = tmp_path / "out.json"
    wrong = np.repeat([1, 0], [30, 70])
    arguments = ["--low", "0", "--high", "1", "--json", str(out), "--why"]
    assert main(["check", file(wrong=wrong), *arguments]) == 1
    assert "has no bound below the top of its range, 1," in capsys.readouterr().out
    assert json.loads(out.read_text())["exit_code"] == 1
    assert main(["check", file(wrong=wrong), *arguments, "--alpha", "0.4"]) == 0
    both = file(wrong=wrong, err=np.zeros(100))
    assert main(["check", both, "--all", *arguments]) == 1


def test_delta_is_asked_for(file, tmp_path, capsys):
    path, out = file(loss=MANY), tmp_path / "out.json"
    page = tmp_path / "out.html"
    asked = ["check", path, "--at-most", "0.96", "--delta", "0.01", "--why"]
    assert main([*asked, "--json", str(out), "--html", str(page)]) == 1
    assert "Not shown with 99 % confidence" in capsys.readouterr().out
    content = json.loads(out.read_text())
    assert content["delta"] == content["verdicts"][0]["facts"]["delta"] == 0.01
    assert "--at-most=0.96" in page.read_text()
    assert "--delta=0.01" in page.read_text()
    assert main(["check", path, "--at-most", "0.96", "--delta", "5"]) == 2
    assert "write delta=0.05" in capsys.readouterr().err
    two = file(a=MANY, b=MANY)
    assert main(["check", two, "--all", "--at-most", "0.97"]) == 0
    assert "for all at once use --delta 0.025." in capsys.readouterr().out


def test_scores_are_not_judged_as_losses(file, tmp_path, capsys):
    """The better of two is the one that is right more often, and a limit is a least score."""
    rng = np.random.default_rng(0)
    good, bad = rng.uniform(0.8, 1, 300), rng.uniform(0.1, 0.3, 300)
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    path = file(acc_good=good, acc_bad=bad)
    arguments = ["check", path, "--all", "--low", "0", "--high", "1", "--why"]
    assert main([*arguments, "--json", str(out), "--html", str(page)]) == 0
    caught = capsys.readouterr()
    assert "note: Taken as scores, greater is better, because of the column name" in caught.err
    assert "so this trained acc_good has the larger score" in caught.out
    assert "the score of this trained acc_good is at least 0.8" in caught.out
    content = json.loads(out.read_text())
    assert content["greater_is_better"] is True
    bounds = {v["facts"]["algorithm"]: v["facts"]["bound"] for v in content["verdicts"][:2]}
    assert bounds["acc_good"] == -interval(-good, 0.1, "upper")[1]
    assert "--greater-is-better" in page.read_text()
    assert "greater_is_better=True)" in page.read_text()
    assert "acc_good at least 0.8" in page.read_text()
    assert main([*arguments, "--smaller-is-better"]) == 0
    assert "so this trained acc_bad has the smaller loss" in capsys.readouterr().out
    one = ["check", path, "--column", "acc_good", "--why"]
    assert main([*one, "--at-least", "0.79", "--html", str(page)]) == 0
    assert "have a score of at least 0.79, with 95 % confidence" in capsys.readouterr().out
    assert "--at-least=0.79" in page.read_text()
    assert main([*one, "--at-least", "0.95"]) == 1
    assert "calibration cases fall below it, at most" in capsys.readouterr().out
    assert main([*one, "--at-most", "0.9"]) == 2
    said = (
        "at-most 0.9 was asked, but these numbers are taken as scores, greater is better: ask with"
    )
    assert said in capsys.readouterr().err
    assert main([*one, "--smaller-is-better", "--at-least", "0.9"]) == 2
    assert "taken as losses, smaller is better: ask with at-most" in capsys.readouterr().err


def test_error_rates_of_scores_count_what_is_not_right(file, capsys):
    right, wrong = np.repeat([0, 1], [10, 190]), np.repeat([1, 0], [10, 190])
    asked = ["--error-rate-at-most", "0.09", "--batch-size", "100"]
    told = []
    for path in (file(correct=right), file(wrong=wrong)):
        assert main(["check", path, *asked]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert main(["check", file(correct=MANY), *asked]) == 2
    assert "needs 0 for an error and 1 for a correct answer" in capsys.readouterr().err
    sure = answers_of({"correct": np.ones(30)}, greater_is_better=True)
    assert "the score of this trained model is at least 1 (no error)" in sure.answer[0].text
    most = sure.bounds[0].facts["most"]
    assert f"this trained model makes at most {most} error" in sure.bounds[0].text


def test_columns_of_both_kinds_are_asked_about(file, capsys):
    path = file(accuracy=MANY, loss=MANY)
    assert main(["check", path]) == 2
    assert "2 columns of losses (accuracy, loss); name one" in capsys.readouterr().err
    assert main(["check", path, "--all"]) == 2
    assert "say --greater-is-better or --smaller-is-better" in capsys.readouterr().err
    assert main(["check", path, "--all", "--greater-is-better"]) == 0


def test_several_columns_are_compared(file, tmp_path, capsys):
    rng = np.random.default_rng(0)
    hard = rng.exponential(size=300)
    columns = {name: hard + shift for name, shift in (("good", 0.0), ("fair", 0.5), ("bad", 1.0))}
    path, out = file(**columns), tmp_path / "out.json"
    assert main(["check", path, "--all", "--low", "0", "--json", str(out), "--why"]) == 0
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
    two = ["check", path, "--column", "good", "--column", "bad", "--why", "--at-most"]
    bound = {name: interval(own, 0.1, "upper")[1] for name, own in columns.items()}
    between = (bound["good"] + bound["bad"]) / 2
    assert main([*two, repr(float(between))]) == 1
    printed = capsys.readouterr().out
    assert "Shown: for this trained good, at least 90 % of new cases have" in printed
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
        ({"a": LOSSES}, ["--column=--"], "There is no column called '--'"),
        (
            {"a": [0.0, 1.0]},
            ["--error-rate-at-most=.1", f"--batch-size={10**400}"],
            "e+400 was",
        ),
        ({"a": LOSSES}, ["--json", "no/such/folder/o.json"], "does not exist; make it first"),
        ({"a": LOSSES}, ["--html", "no/such/folder/o.html"], "does not exist; make it first"),
        ({"a": LOSSES}, ["--json", "/"], "is a folder; name a file in it"),
    ],
)
def test_unusable_input(file, capsys, columns, arguments, says):
    assert main(["check", file(**columns), *arguments]) == 2
    caught = capsys.readouterr()
    assert says in caught.err
    assert caught.out == ""


@pytest.mark.parametrize("more", [["--all"], []])
def test_a_table_of_cases_is_refused_unless_its_models_are_named(capsys, more):
    table = str(Path(__file__).parents[2] / "data" / "deliveries.csv")
    assert main(["check", table, "--at-most", "8", *more]) == 2
    caught = capsys.readouterr()
    assert "looks like a table of cases, not a file of losses: 'ordered'" in caught.err
    assert caught.out == ""
    assert main(["check", table, "--column", "minutes", "--at-most", "80"]) == 0


def test_a_unit_stands_behind_what_is_said(file, tmp_path, capsys):
    rng = np.random.default_rng(0)
    hard, page, out = rng.exponential(size=300), tmp_path / "o.html", tmp_path / "o.json"
    path = file(good=hard, bad=hard + 1 + rng.normal(0, 0.1, 300))
    asked = ["check", path, "--all", "--at-most", "5", "--unit", "min"]
    assert main([*asked, "--html", str(page), "--json", str(out)]) == 0
    told = capsys.readouterr().out
    assert "at most 5 min" in told
    bound = re.search(r"^good .*at most ([\d.]+) min", told, re.M)
    assert float(bound[1]) >= interval(hard, 0.1, "upper")[1]
    assert re.search(r"on average good 0\.\d+ to 1(\.\d+)? min less", told)
    assert json.loads(out.read_text())["unit"] == "min"
    assert "--unit=min" in page.read_text()
    assert "unit=&#39;min&#39;" in page.read_text() or "unit='min'" in page.read_text()
    assert main(["check", path, "--all", "--unit", "much too long a word"]) == 2
    assert "is not a short word such as EUR" in capsys.readouterr().err


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


def test_it_prints_a_decision_a_table_and_a_line_for_each_pair(file, capsys):
    rng = np.random.default_rng(0)
    hard = rng.exponential(size=300)
    noise = rng.normal(0, 0.1, (300, 2))
    columns = {"good": hard, "fair": hard + 0.5 + noise[:, 0], "bad": hard + 1 + noise[:, 1]}
    assert main(["check", file(**columns), "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Use good")
    head = next(i for i, line in enumerate(lines) if line.startswith("model"))
    bounds = {name: interval(own, 0.1, "upper")[1] for name, own in columns.items()}
    for line, (name, bound) in zip(lines[head + 1 :], bounds.items(), strict=False):
        cells = line.split()
        assert cells[:2] == [name, "300"]
        assert cells[3:5] == ["at", "most"]
        assert bound <= float(cells[5]) <= bound * 1.01
        assert len(cells) == 6  # nothing was asked: no outcome
        assert line.index("at most") == lines[head].index("bound")
    pairs = [line for line in lines if line.startswith(("good and", "fair and"))]
    assert len(pairs) == 3
    assert all(len(line.split()) <= 25 for line in pairs)
    assert lines[-2].startswith("Assumes new cases like these")
    assert lines[-1].startswith("What is approximate holds unless")
    assert "[guaranteed" not in "".join(lines)
    assert len(lines) < 20


def test_why_adds_the_sentences_and_changes_nothing_else(file, capsys, tmp_path):
    path, out = file(a=MANY, b=MANY + 1), tmp_path / "out.json"
    codes, printed, written = [], [], []
    for more in ([], ["--why"]):
        codes.append(main(["check", path, "--all", "--at-most", "1", "--json", str(out), *more]))
        printed.append(capsys.readouterr().out.removesuffix(f"wrote {out}\n"))
        written.append(out.read_text())
    assert codes[0] == codes[1] == 1
    assert written[0] == written[1]
    assert printed[1].startswith(printed[0])
    assert "[guaranteed: independent cases] Shown: for this trained a" in printed[1]


def test_errors_are_led_by_their_rate_and_not_by_a_bound_of_0(file, capsys):
    assert main(["check", file(wrong=np.repeat([1, 0], [10, 190]))]) == 0
    most = batch_errors(200, 10, 100, 0.1, "upper")[1]
    out = capsys.readouterr().out
    assert out.startswith(f"At most {most} errors. By this trained model among the next 100 cases")
    assert "error rate 5 %." in out
    assert "at most 0" not in out


def test_groups_are_a_table(tmp_path, capsys):
    path = tmp_path / "losses.csv"
    rows = [f"{loss},{'big' if i < 95 else 'few'}" for i, loss in enumerate(MANY)]
    path.write_text("\n".join(["loss,site", *rows]))
    assert main(["check", str(path), "--group", "site"]) == 0
    out = capsys.readouterr().out
    assert "few    loss       5     0.98  none: 4 more cases needed" in out


@pytest.mark.parametrize("why", [[], ["--why"]])
def test_names_from_a_file_cannot_steer_the_terminal(file, capsys, why):
    """Escape sequences, line breaks and marks that turn the writing are shown, not sent."""
    evil = "\x1b[2Jgone\x07", "turned\u202e", "a\u2028b"
    path = file(**dict.fromkeys(evil, MANY))
    for arguments in (["--all"], [], ["--column", "nobody\x1b"]):
        main(["check", path, *arguments, *why])
        caught = capsys.readouterr()
        for char in "\x1b\x07\u202e\u2028":
            assert char not in caught.out + caught.err
        if arguments == ["--all"]:
            assert "\\x1b[2Jgone\\x07" in caught.out
