"""Memory and training runs: known before anything is drawn, and refused above it."""

import re
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import psutil
import pytest

from cpp_core import Experiment, Store, run
from cpp_core.catalog.datasets import register, table_dataset
from cpp_core.catalog.presets import PRESETS
from cpp_core.trials import budget as budgets
from cpp_core.trials.budget import (
    BudgetError,
    budget,
    check_budget,
    cost_of,
    machine_memory,
    most_fits,
    most_trials,
    share_of,
    usual_algorithms,
)
from cpp_core.trials.experiment import USUAL_ALGORITHMS
from cpp_core.trials.jobs import Jobs
from cpp_core.trials.store import default_store

HUGE = Experiment(
    dataset="quadnoise", dataset_settings={"d": 50}, algorithms=("gd", "sgd"), n=10_000_000
)
SMALL = Experiment(dataset="iris", algorithms=("dummy",))


def test_a_huge_run_is_refused_before_it_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("CPP_CORE_MEMORY", "4")
    before = psutil.Process().memory_info().rss
    for ask in (
        lambda: run(HUGE, 1, store=Store(tmp_path)),
        lambda: Jobs(Store(tmp_path)).start(HUGE, 1, 0),
        lambda: check_budget(HUGE, study=True),
    ):
        with pytest.raises(BudgetError, match=r"needs about .* GiB .* 4\.0 GiB are allowed: ask"):
            ask()
    assert psutil.Process().memory_info().rss - before < 50e6
    assert not list(tmp_path.iterdir())


def test_results_of_all_trials_count(monkeypatch):
    monkeypatch.setenv("CPP_CORE_MEMORY", "1")
    wide = Experiment(dataset="quadnoise", algorithms=("gd", "sgd"), n=200_000)
    check_budget(wide, 10)
    with pytest.raises(BudgetError, match="smaller sizes or fewer trials"):
        check_budget(wide, 100_000)
    with pytest.raises(BudgetError, match=r"1,000,001 trials are too many; 1,000,000 are the most"):
        check_budget(SMALL, 10**6 + 1)


def test_the_budget_is_a_setting(monkeypatch):
    monkeypatch.delenv("CPP_CORE_MEMORY", raising=False)
    assert 0 < machine_memory() <= psutil.virtual_memory().total
    assert budget() == int(machine_memory() * budgets.SHARE)
    monkeypatch.setenv("CPP_CORE_MEMORY", "0.5")
    assert budget() == 2**29
    for bad in ("much", "-1", "0", "nan", "inf"):
        monkeypatch.setenv("CPP_CORE_MEMORY", bad)
        with pytest.raises(BudgetError, match="must be a number of GiB above 0"):
            budget()


def test_workers_share_the_budget(monkeypatch):
    monkeypatch.setenv("CPP_CORE_MEMORY", "8")
    assert [share_of(n) // 2**30 for n in (1, 2, 4, 8, 64)] == [8, 4, 2, 1, 1]
    monkeypatch.setenv("CPP_CORE_MEMORY", "0.5")
    assert share_of(2) == 2**29
    cost = cost_of(SMALL)
    check_budget(SMALL, each=cost.trial)
    with pytest.raises(BudgetError, match="are allowed: ask for smaller sizes"):
        check_budget(SMALL, each=cost.trial - 1)


def test_what_everybody_runs_is_allowed(monkeypatch):
    monkeypatch.setenv("CPP_CORE_MEMORY", "1")
    for name in PRESETS:
        check_budget(Experiment.preset(name), 1000, workers=2)


def test_too_many_training_runs_are_refused_before_anything_is_drawn(tmp_path, monkeypatch):
    retrained = Experiment(
        dataset="quadnoise", algorithms=("gd", "sgd"), variant="z-free", n=20_000, n_sets=1000
    )
    fits = cost_of(retrained, 2).fits
    assert fits == 2 * 2 * retrained.sizes.fits
    monkeypatch.setenv("CPP_CORE_FITS", str(fits))
    check_budget(retrained, 2)
    monkeypatch.setenv("CPP_CORE_FITS", str(fits - 1))
    wanted = rf"needs {fits:,} training runs, and {fits - 1:,} are allowed: ask for fewer trials or"
    start = time.monotonic()
    for ask in (
        lambda: run(retrained, 2, store=Store(tmp_path)),
        lambda: Jobs(Store(tmp_path)).start(retrained, 2, 0),
    ):
        with pytest.raises(BudgetError, match=wanted):
            ask()
    assert time.monotonic() - start < 1
    assert not list(tmp_path.iterdir())
    check_budget(retrained, 1)
    assert most_trials(retrained, (1, 2)) == 1
    monkeypatch.setenv("CPP_CORE_FITS", "1")
    with pytest.raises(BudgetError, match="ask for a smaller k or fewer algorithms"):
        check_budget(retrained, study=True)
    with pytest.raises(BudgetError, match=r"ask for fewer trials\. Whoever runs the program"):
        check_budget(SMALL, 2)


def test_only_what_must_be_trained_counts(tmp_path, monkeypatch):
    """What is stored, or ships, is not trained again; who wants it afresh trains all of it."""
    store = Store(tmp_path)
    run(replace(SMALL, algorithms=("naive-bayes",)), 6, n_jobs=1, store=store)
    both = replace(SMALL, algorithms=("dummy", "naive-bayes"))
    monkeypatch.setenv("CPP_CORE_FITS", "5")
    for ask in (
        lambda: run(both, 6, n_jobs=1, store=store),
        lambda: Jobs(store).start(both, 6, 0),
        lambda: Jobs(store).cost(both, 6, 0),
    ):
        with pytest.raises(BudgetError, match=r"needs 6 training runs, and 5 are allowed"):
            ask()
    monkeypatch.setenv("CPP_CORE_FITS", "6")
    for other in ({"seed": 1}, {"fresh": True}):
        with pytest.raises(BudgetError, match=r"needs 12 training runs, and 6 are allowed"):
            run(both, 6, n_jobs=1, store=store, **other)
    assert len(run(both, 6, n_jobs=1, store=store).trials) == 6
    monkeypatch.setenv("CPP_CORE_FITS", "1")
    job = Jobs(store).start(both, 6, 0)
    assert job.wait(30)
    assert job.state == "done"
    digits = run(Experiment.preset("digits-candidate"), 100, n_jobs=1, store=default_store())
    assert len(digits.trials) == 100


def test_what_would_help_is_named(monkeypatch):
    """Each test loss has training runs of its own; a k of 1 cannot be smaller."""
    one = Experiment(dataset="quadnoise", algorithms=("gd",), variant="z-free", n_sets=1)
    assert one.sizes.fits == 251
    monkeypatch.setenv("CPP_CORE_FITS", "100")
    start = "This needs 251 training runs, and 100 are allowed: ask for "
    with pytest.raises(BudgetError) as told:
        check_budget(one)
    assert str(told.value).startswith(f"{start}fewer test losses. Whoever")
    few = replace(one, n_sets=200, test_size=1)
    with pytest.raises(BudgetError, match=r"201 training runs.*: ask for a smaller k\. Whoever"):
        check_budget(few)
    with pytest.raises(BudgetError, match=r"ask for fewer trials or a smaller k or fewer test lo"):
        check_budget(replace(one, n_sets=200), 2)
    check_budget(replace(few, n_sets=99))
    check_budget(replace(one, test_size=99))


def test_little_memory_is_told_in_mib(monkeypatch):
    """And what is needed never reads like what is allowed."""
    monkeypatch.setenv("CPP_CORE_MEMORY", "0.002")
    middle = Experiment(dataset="quadnoise", algorithms=("gd",), n=100_000)
    with pytest.raises(BudgetError, match=r"needs about \d+\.\d MiB .* 2\.0 MiB are allowed"):
        check_budget(middle)
    cost = cost_of(middle).trial
    monkeypatch.delenv("CPP_CORE_MEMORY")
    with pytest.raises(BudgetError) as told:
        check_budget(middle, each=cost - 1)
    needs, allowed = re.findall(r"([\d.]+) MiB", str(told.value))
    assert float(allowed) <= (cost - 1) / 2**20 < cost / 2**20 <= float(needs)


def test_the_number_of_training_runs_is_a_setting(monkeypatch):
    monkeypatch.delenv("CPP_CORE_FITS", raising=False)
    assert most_fits() == budgets.FITS
    check_budget(Experiment.preset("quadnoise-algorithm"), 10_000)  # as the benchmarks do
    monkeypatch.setenv("CPP_CORE_FITS", "1e6")
    assert most_fits() == 10**6
    for bad in ("many", "0", "-1", "nan", "inf", "0.5"):
        monkeypatch.setenv("CPP_CORE_FITS", bad)
        with pytest.raises(BudgetError, match="must be a number of training runs, at least 1"):
            most_fits()


def test_fits_are_counted():
    experiment = Experiment(dataset="iris", algorithms=("dummy", "naive-bayes"), variant="z-free")
    assert cost_of(experiment, 7).fits == 7 * 2 * experiment.sizes.fits


@pytest.mark.slow
@pytest.mark.parametrize(
    "experiment",
    [
        Experiment(dataset="quadnoise", algorithms=("gd", "sgd"), n=2_000_000),
        replace(HUGE, n=300_000),
        Experiment(dataset="quadnoise", algorithms=("gd",), variant="z-free", n=400_000),
        Experiment(dataset="two-classes", algorithms=("svm-rbf",), n=6000),
        Experiment(dataset="two-classes", algorithms=("knn", "logistic"), n=100_000),
        Experiment(dataset="quadnoise", algorithms=("random-forest",), n=8000),
    ],
    ids=lambda e: f"{e.algorithms[0]}-{e.n}",
)
def test_a_trial_takes_no_more_than_was_said(experiment):
    code = (
        "import resource, sys\n"
        "from dataclasses import replace\n"
        "from cpp_core import Experiment\n"
        "from cpp_core.trials.one_trial import run_trial\n"
        f"experiment = Experiment.from_dict({experiment.to_dict()!r})\n"
        "run_trial(replace(experiment, n=300), 0, 0)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "run_trial(experiment, 0, 0)\n"
        "print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= cost_of(experiment).trial


@pytest.mark.usefixtures("forgotten")
def test_a_million_rows_by_twenty_within_two_gib(monkeypatch):
    X, y = np.broadcast_to(0.0, (1_000_000, 20)), np.arange(1e6)
    register(table_dataset("table-million", "A million", X, y, "regression", own=True))
    offered = 100, 20, 5, 1
    monkeypatch.setenv("CPP_CORE_MEMORY", "2")
    light = usual_algorithms("table-million", offered, 2)
    assert light == ("ridge", "boosting")
    on_light = Experiment(dataset="table-million", algorithms=light)
    trials = most_trials(on_light, offered, 2)
    assert trials in (5, 20)
    check_budget(on_light, trials, 2)
    with pytest.raises(BudgetError):
        check_budget(on_light, 100, 2)
    usual = Experiment(dataset="table-million", algorithms=USUAL_ALGORITHMS["regression"])
    assert most_trials(usual, offered, 2) == 0
    monkeypatch.setenv("CPP_CORE_MEMORY", "64")
    assert usual_algorithms("table-million", offered, 2) == USUAL_ALGORITHMS["regression"]
    assert most_trials(usual, offered, 2) == 100


@pytest.mark.usefixtures("forgotten")
def test_a_table_too_small_for_an_experiment_has_the_usual_algorithms():
    register(table_dataset("table-tiny", "Tiny", np.zeros((1, 1)), np.zeros(1), "regression"))
    assert usual_algorithms("table-tiny", (1,)) == USUAL_ALGORITHMS["regression"]
