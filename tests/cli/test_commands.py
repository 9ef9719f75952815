"""The command line as a user meets it."""

import json
import math
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from cpp_core.cli.commands import main, parser
from cpp_core.report.export import strict
from pages.parts.entries import SIDES

QUICK = ["run", "--dataset", "iris", "--algorithms", "naive-bayes", "dummy", "--jobs", "1"]


def test_run_writes_all_files(tmp_path, capsys):
    files = {kind: tmp_path / f"out.{kind}" for kind in ("json", "csv", "parquet")}
    extra = [f"--{kind}={path}" for kind, path in files.items()]
    assert main([*QUICK, "--trials", "20", "--alpha", "0.2", *extra]) == 0
    out = capsys.readouterr().out
    assert "the median of 20 splits" in out
    assert out.startswith("Use Naive Bayes. ")
    assert "Naive Bayes and Dummy: on average " in out
    assert "[guaranteed" not in out
    content = json.loads(files["json"].read_text(), parse_constant=pytest.fail)
    assert content["trials"] == 20
    assert content["alpha"] == 0.2
    assert set(content["algorithms"]) == {"naive-bayes", "dummy"}
    for name in (
        *("lower_mean", "upper_mean", "width_mean", "mean_test_loss", "test_coverage_mean"),
        *("new_loss_cover_rate", "k", "m", "failed"),
    ):
        assert name in content["algorithms"]["dummy"]
    assert content["paired"][0]["first"] == "naive-bayes"
    assert len(pd.read_csv(files["csv"])) == len(pd.read_parquet(files["parquet"])) == 40


def test_infinite_ends_are_null(tmp_path):
    path = tmp_path / "out.json"
    arguments = ["run", "--dataset", "diabetes", "--algorithms", "dummy", "--n", "10"]
    arguments += ["--trials", "2", "--jobs", "1", "--json", str(path)]
    for more, needed in ([], 9), (["--side", "two-sided"], 19):
        assert main([*arguments, *more]) == 0
        found = json.loads(path.read_text(), parse_constant=pytest.fail)["algorithms"]["dummy"]
        assert found["upper_mean"] is None
        assert found["upper_finite"] is False
        assert found["k_needed"] == needed
    assert strict([math.nan, {"a": math.inf}, 1.5]) == [None, {"a": None}, 1.5]


def test_the_bound_is_the_one_that_the_dashboard_starts_with():
    assert parser().parse_args(["run"]).side == next(iter(SIDES)) == "upper"


def test_symbolic_runs(tmp_path):
    path = tmp_path / "out.json"
    assert main([*QUICK, "--variant", "symbolic", "--trials", "2", "--json", str(path)]) == 0
    assert json.loads(path.read_text())["paired"] == []


def test_list(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    for name in ("digits-candidate", "z-variable", "growing-noise", "svm-rbf", "roc_auc"):
        assert name in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run"], "say what to run: --preset"),
        (["run", "--preset", "digits-candidat"], "did you mean 'digits-candidate'"),
        ([*QUICK, "--trials", "0"], "trials must be a whole number"),
        ([*QUICK, "--alpha", "10"], "if you mean 10 %"),
        ([*QUICK, "--side", "lower"], "side must be"),
        ([*QUICK, "--json", "no/such/folder/out.json"], "does not exist"),
        ([*QUICK, "--scheduler", "tcp://127.0.0.1:1"], "does not answer"),
    ],
)
def test_bad_input(arguments, says, capsys):
    assert main(arguments) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["--json", "--csv", "--parquet", "--html"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_computed(
    kind, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("CPP_CORE_STORE", str(tmp_path / "store"))
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    unwritable = {
        str(tmp_path): "is a folder; name a file in it",
        str(tmp_path / ("x" * 300)): "cannot be written (File name too long); name another file",
        str(loop): "cannot be written (Too many levels of symbolic links); name another file",
        str(loop / "out"): "The folder of",
    }
    for path, says in unwritable.items():
        assert main([*QUICK, "--trials", "100000", kind, path]) == 2
        told = capsys.readouterr()
        assert says in told.err
        assert not told.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loop"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full disk that is always there")
@pytest.mark.parametrize("kind", ["--json", "--csv", "--parquet", "--html"])
def test_a_full_disk_is_a_sentence_after_the_figures(kind, capsys):
    assert main([*QUICK, "--trials", "2", kind, "/dev/full"]) == 2
    told = capsys.readouterr()
    assert "/dev/full cannot be written (" in told.err
    assert "No space left on device" in told.err
    assert told.out
    assert len(told.err.splitlines()) <= 2


def test_a_file_that_is_there_stays_until_it_is_written(tmp_path, capsys):
    path = tmp_path / "out.json"
    path.write_text("as it was")
    assert main([*QUICK, "--alpha", "10", "--json", str(path)]) == 2
    assert main([*QUICK, "--trials", "2", "--json", str(path), "--html", str(tmp_path)]) == 2
    assert path.read_text() == "as it was"
    assert main([*QUICK, "--trials", "2", "--json", str(path)]) == 0
    assert json.loads(path.read_text())["trials"] == 2


def test_help_shows_an_example(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", "--help"])
    assert stop.value.code == 0
    assert "python -m cpp_core run --preset digits-candidate" in capsys.readouterr().out


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(tmp_path):
    environment = {**os.environ, "CPP_CORE_STORE": str(tmp_path)}
    command = [sys.executable, "-m", "cpp_core", *QUICK]
    process = subprocess.Popen(
        [*command, "--trials", "100000"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.time() + 60
    while time.time() < deadline and len(list(tmp_path.glob("*/*.npz"))) < 4:
        time.sleep(0.1)  # until there are two blocks of both
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "trials are kept; the same command goes on" in err
    assert "carries the promise" in out
    assert "Traceback" not in err
