"""The hostile reading runs: every row is made, and what is false is called so."""

import numpy as np
import pytest

import benchmarks.truth.__main__ as command
from benchmarks.truth import comparisons, estimators, sentences, trials
from benchmarks.truth.rows import Job, NotAvailableError, covers, errs, find, ranks, worst
from cpp_core import conformal_ranks
from tests.builders import shifted_ranks

PARTS = {part.__name__.rsplit(".", 1)[1]: part for part in command.PARTS}

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("part", PARTS)
def test_every_row_is_made(part):
    """With next to no repetitions; a sentence whose function has gone is a hole in the table."""
    rows = [row for job in PARTS[part].jobs() for row in job.rows(2)]
    assert not [row for row in rows if row.verdict in ("RAISES", "not available")]
    assert len({(row.what, row.setting) for row in rows}) == len(rows)
    assert all(row.line().count("|") == 8 for row in rows)


def test_names_of_jobs_seed_them():
    names = [job.name for job in command.all_jobs()]
    assert len(set(names)) == len(names)
    job = next(sentences.jobs())
    assert job.rows(20) == job.rows(20)


@pytest.mark.parametrize("side", ["two-sided", "upper"])
def test_ranks_are_those_of_the_package(side):
    for k in (1, 9, 19, 24, 99):
        for alpha in (0.1, 0.3, 0.44):
            low, high = conformal_ranks(k, alpha, side)
            assert ranks(k, alpha, side) * (k + 1) == high - low


def test_what_is_false_is_called_false():
    hits = np.arange(1000) < 850
    assert covers("", "", hits, 0.9, exact=False).verdict == "FALSE"
    assert covers("", "", hits, 0.85, exact=True).verdict == "holds"
    assert covers("", "", hits, 0.78, exact=True).verdict == "FALSE"
    assert covers("", "", hits, 0.8, exact=False).verdict == "holds"
    assert errs("", "", ~hits, 0.1).verdict == "FALSE"
    assert errs("", "", ~hits, 0.15).verdict == "holds"
    assert errs("", "", ~hits, 0.0).verdict == "FALSE"
    assert errs("", "", np.zeros(9, dtype=bool), 0.0).verdict == "holds"


def test_the_worst_setting_stands_for_a_claim():
    rows = [errs("a", f"{n}", np.arange(100) < n, 0.1) for n in (5, 60, 40)]
    (only,) = worst(rows)
    assert only.setting == "60; the worst of 3"
    assert only.verdict == "FALSE in 2"


def test_a_function_that_has_gone_and_one_that_raises_are_rows():
    def gone(repetitions, rng):
        find("cpp_core.checks", "no_such_name")

    def broken(repetitions, rng):
        raise ValueError("3 | 4")

    with pytest.raises(NotAvailableError, match="no_such_module"):
        find("cpp_core.no_such_module", "name")
    assert [Job("x", run).rows(2)[0].verdict for run in (gone, broken)] == [
        "not available",
        "RAISES",
    ]


@pytest.mark.parametrize("shift", [(0, 1), (0, -1)])
def test_a_rank_off_by_one_is_noticed(monkeypatch, shift):
    shifted_ranks(monkeypatch, *shift)
    rng = np.random.default_rng(0)
    for run in (
        lambda: estimators.run_construction("CandidateCPP, plain", "continuous", 400, rng),
        lambda: trials.run_numeric("candidate", "continuous", 400, rng),
        lambda: estimators.run_symbolic(False, "continuous", 400, rng),
    ):
        assert any(row.verdict == "FALSE" for row in run())


def test_a_condition_that_the_truth_breaks_excuses_the_sentence():
    rare = comparisons.DIFFERENCES["rare large, log loss"]
    assert comparisons.condition_fails(rare, {"break_even": 0.0005})
    assert not comparisons.condition_fails(rare, {"break_even": 0.002})
    assert not comparisons.condition_fails(rare, {})
    pareto = comparisons.DIFFERENCES["pareto"]
    assert comparisons.condition_fails(pareto, {"break_even": 0.01, "break_even_loss": 2.0})
    assert not comparisons.condition_fails(pareto, {"break_even": 0.01, "break_even_loss": 50.0})


@pytest.mark.parametrize("name", comparisons.DIFFERENCES)
def test_differences_have_the_law_that_they_say(name):
    law, n = comparisons.DIFFERENCES[name], 400_000
    d = law.draw(np.random.default_rng(0), n)
    assert (d < 0).mean() == pytest.approx(law.win, abs=0.004)
    assert (d > 0).mean() == pytest.approx(law.lose, abs=0.004)
    if law.mean is not None:
        assert abs(d.mean() - law.mean) < 5 * d.std() / n**0.5
    if law.high < np.inf:
        assert np.abs(d).max() <= law.high - law.low


@pytest.mark.parametrize("name", [name for name in sentences.LAWS if name != "constant"])
@pytest.mark.parametrize("p", [0.5, 0.9])
def test_thresholds_are_kept_as_often_as_they_say(name, p):
    law = sentences.LAWS[name]
    losses = law.draw(np.random.default_rng(0), (100_000,), p)
    assert 1 - law.beyond(losses, law.threshold(p)).mean() == pytest.approx(p, abs=0.006)


def test_the_command_prints_and_writes(monkeypatch, tmp_path, capsys):
    table = tmp_path / "TRUTH.md"
    table.write_text("Head\n<!-- table -->\nstale", encoding="utf-8")
    monkeypatch.setattr(command, "TABLE", table)
    jobs = [job for job in command.all_jobs() if job.name == "sentence: bound_of: continuous"]
    monkeypatch.setattr(command, "all_jobs", lambda: jobs)
    assert command.main(["--repetitions", "20", "--jobs", "1", "--only", "bound_of"]) == 0
    assert "the worst of 4" in capsys.readouterr().out
    assert "stale" in table.read_text(encoding="utf-8")
    assert command.main(["--repetitions", "20", "--jobs", "1", "--all"]) == 0
    written = table.read_text(encoding="utf-8")
    assert written.startswith("Head\n<!-- table -->")
    assert "stale" not in written
    assert written.count("bound_of: continuous") == 4
    with pytest.raises(SystemExit):
        command.main(["--only", "nothing like it"])
