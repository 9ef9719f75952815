"""What a user asks for beyond bounds: limits, error rates, margins, groups of a file."""

import json

import numpy as np
import pytest
from scipy import stats

from cpp_core import Experiment, Store, batch_errors, interval, run
from cpp_core.catalog.loss_files import column_names, read_losses
from cpp_core.cli.commands import main
from cpp_core.report.export import to_json
from cpp_core.report.pages import losses_report_html, report_html
from cpp_core.report.reproduce import command_line, losses_command_line, losses_python_lines
from cpp_core.verdicts.answers import answers_from, answers_of
from cpp_core.verdicts.decisions import decisions_from

PAIR = ("knn", "naive-bayes")


@pytest.fixture(scope="module")
def results():
    experiment = Experiment(dataset="breast-cancer", algorithms=PAIR, loss="zero_one")
    return run(experiment, 2, store=Store(None), n_jobs=1)


@pytest.fixture(scope="module")
def numeric():
    return run(Experiment(dataset="breast-cancer", algorithms=PAIR), 2, store=Store(None), n_jobs=1)


def grouped_file(folder, small=4):
    """Two groups of losses, one of them large enough for a bound."""
    rng = np.random.default_rng(0)
    rows = [("big", x, x + 1) for x in rng.exponential(size=30)]
    rows += [("small", x, x + 1) for x in rng.exponential(size=small)]
    path = folder / "losses.csv"
    lines = [f"c{i},{g},{a},{b}" for i, (g, a, b) in enumerate(rows)]
    path.write_text("\n".join(["id,site,good,bad", *lines]))
    return path


def test_limits_are_decided_first(numeric):
    bound = answers_from(numeric, 0.1).bounds[0].facts["bound"]
    above = answers_from(numeric, 0.1, at_most=bound + 1)
    below = answers_from(numeric, 0.1, at_most=bound / 2)
    assert above.answer[0].outcome == "shown"
    assert below.answer[0].outcome == "not shown"
    assert len(above.answer) == 2  # one for each algorithm
    assert answers_from(numeric, 0.1).answer == answers_from(numeric, 0.1).bounds
    card = above.strip.cards[-1]
    assert card.topic.startswith("Your limit, at most ")
    assert (card.claim, card.strength) == ("yes", "exact")
    assert sorted(own.text for own in card.verdicts) == sorted(own.text for own in above.answer)
    assert sum("exceeds" in verdict.text for verdict in above.bounds) == 2
    assert decisions_from(numeric, 0.1) == ()


def test_error_rates_count_the_errors_of_trial_0(results):
    errors = [int(results.arrays[name]["calibration"][0].sum()) for name in PAIR]
    k = results.experiment.sizes.k
    for rate in (0.02, 0.1, 0.3):
        found = decisions_from(results, 0.1, error_rate_at_most=rate, batch_size=50)
        for decision, count in zip(found, errors, strict=True):
            most = batch_errors(k, count, 50, 0.1, "upper")[1]
            assert (decision.outcome == "shown") == (most <= rate * 50)
            assert decision.facts["n_algorithms"] == 2


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"error_rate_at_most": 0.1}, "give both the rate and the batch size"),
        ({"error_rate_at_most": 0.1, "batch_size": 9}, "choose the zero-one loss"),
        ({"at_most": np.inf}, "The threshold must be a number"),
        ({"margin": -1.0}, "The margin must be a positive number"),
    ],
)
def test_questions_that_cannot_be_answered(numeric, asked, says):
    with pytest.raises(ValueError, match=says):
        answers_from(numeric, 0.1, **asked)


def test_a_margin_may_make_two_practically_equal():
    rng = np.random.default_rng(0)
    first = rng.normal(size=400)
    columns = {"a": first, "b": first + 0.01 * rng.normal(size=400)}
    told = " ".join(v.text for v in answers_of(columns, 0.1, margin=0.1).comparison)
    assert "practically equal" in told
    assert "practically equal" not in " ".join(v.text for v in answers_of(columns, 0.1).comparison)


def test_a_margin_reaches_the_comparison_of_results(numeric):
    told = " ".join(v.text for v in answers_from(numeric, 0.1, margin=1000.0).comparison)
    assert "practically equal" in told or "only wins are counted" in told


def test_bounds_within_groups(tmp_path, capsys):
    path = grouped_file(tmp_path)
    table = read_losses(path, ["good", "bad"], "id", "site")
    found = answers_of(table.columns, 0.1, groups=table.groups).groups
    assert [v.facts["group"] for v in found] == ["big", "big", "small", "small"]
    own = table.columns["good"][table.groups == "big"]
    assert found[0].facts["bound"] == interval(own, 0.1, "upper")[1]
    assert found[0].text.startswith("Within group 'big': for a new case")
    assert found[2].facts["outcome"] == "too little data"
    assert "5 more calibration cases would give one" in found[2].text
    page = losses_report_html(table, 0.1)
    assert "Within each group" in page
    assert "none: 5 more cases needed" in page
    assert main(["check", str(path), "--all", "--case", "id", "--group", "site", "--why"]) == 0
    assert "Within group 'small'" in capsys.readouterr().out
    assert "case='id', group='site'" in losses_python_lines(table, {"alpha": 0.1})
    assert "--case=id --group=site" in losses_command_line(table, {"alpha": 0.1})


def test_group_bounds_cover_within_their_group():
    """Hits for a new case of one group are binomial with at least the promised rate."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2000):
        groups = rng.integers(2, size=60).astype(str)
        losses = rng.exponential(size=60) * np.where(groups == "1", 10, 1)
        found = answers_of({"m": losses}, 0.2, groups=groups).groups
        bound = next(v.facts["bound"] for v in found if v.facts["group"] == "1")
        hits += 10 * rng.exponential() <= bound
    assert stats.binomtest(hits, 2000, 0.8, alternative="less").pvalue > 1e-3


def test_columns_are_told_before_they_are_read(tmp_path):
    names, likely = column_names(grouped_file(tmp_path))
    assert names == ["id", "site", "good", "bad"]
    assert likely == ["good", "bad"]
    names, likely = column_names(b"a,b\n1,2\n3,oops\n4,5\n")
    assert likely == ["a", "b"]


def test_questions_reach_the_files_and_what_reproduces_them(numeric, tmp_path, capsys):
    page = report_html(numeric, 0.1, at_most=36.0, margin=0.5)
    assert page.index("Shown: ") < page.index("What this assumes")
    assert "at_most=36.0" in page
    content = to_json(numeric, 0.1, at_most=36.0)
    assert content["question"] == {"at_most": 36.0}
    assert any("hown" in verdict["text"] for verdict in content["verdicts"])
    told = command_line(numeric.experiment, 2, 0, 0.1, "upper", {"at_most": 36.0, "margin": 0.5})
    assert "--at-most=36 --margin=0.5" in told
    asked = {"error_rate_at_most": 0.1, "batch_size": 9}
    assert command_line(numeric.experiment, 2, 0, 0.1, "upper", asked) is None
    arguments = ["run", "--dataset", "iris", "--algorithms", *PAIR, "--trials", "2", "--jobs", "1"]
    written = tmp_path / "out.json"
    assert main([*arguments, "--at-most", "30", "--json", str(written)]) == 0
    assert "hown" in capsys.readouterr().out
    assert json.loads(written.read_text())["question"] == {"at_most": 30.0, "delta": 0.05}
