"""Bounds within the groups of a user's table: whose losses they are, their law, what is said."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from cpp_core import Experiment, Store, interval, run
from cpp_core.catalog.loss_files import MOST_GROUPS
from cpp_core.trials.own import own_of
from cpp_core.trials.trial_entry import calibration_rows, trial_sample
from cpp_core.verdicts.file_lines import own_group_table
from cpp_core.verdicts.groups import group_bounds, no_group_bounds

pytestmark = pytest.mark.usefixtures("forgotten")


def results_of(frame, **settings):
    asked = {"algorithms": ("dummy",), "loss": "absolute_error", **settings}
    experiment = Experiment.from_table(frame, "y", "regression", group="g", **asked)
    return run(experiment, 1, n_jobs=1, store=Store(None))


def frame_of(groups, rng, spread=1.0):
    n = len(groups)
    return pd.DataFrame({"x": rng.normal(size=n), "g": groups, "y": spread * rng.normal(size=n)})


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_a_bound_is_a_rank_among_the_losses_of_its_group(share):
    """The mean of the training rows predicts, so that every loss can be computed here."""
    rng = np.random.default_rng(0)
    frame = frame_of(rng.choice(["North", "South"], 200), rng)
    results = results_of(frame, calibration_share=share)
    _, y, rows = trial_sample(results.experiment, 0, 0)
    sizes = results.experiment.sizes
    lost = np.abs(frame["y"] - y[: sizes.m].mean())
    calibrating = rows[sizes.m : sizes.m + sizes.k]
    assert np.array_equal(calibration_rows(results.experiment, 0), calibrating)
    found = {own.facts["group"]: own for own in group_bounds(results, 0.1)}
    assert set(found) == {"North", "South"}
    for group, bound in found.items():
        own = lost[calibrating][frame["g"][calibrating] == group]
        assert bound.facts["k"] == len(own)
        assert bound.facts["average"] == pytest.approx(own.mean(), rel=1e-6)
        truth = interval(own.to_numpy(), 0.1, "upper")[1]
        assert bound.facts["bound"] == pytest.approx(truth, rel=1e-6)
        assert bound.badge == "guaranteed"
        assert bound.text.startswith(f"Within group '{group}': for a new case drawn like")
        assert "if the groups were fixed before looking at the losses." in bound.why


def test_bounds_of_several_groups_and_algorithms_are_not_joint_for_a_number_of_algorithms():
    rng = np.random.default_rng(0)
    frame = frame_of(rng.choice(["North", "South"], 200), rng)
    for bound in group_bounds(results_of(frame, algorithms=("dummy", "ridge")), 0.1):
        assert "Each bound holds separately" in bound.why
        assert "2 algorithms" not in bound.why


@pytest.mark.slow
def test_the_promise_holds_within_each_group_where_that_of_all_cases_does_not():
    """One case in eight is of a group whose targets spread ten times as far."""
    rng = np.random.default_rng(1)
    groups = np.where(np.arange(400) % 8 == 0, "far", "near")
    hits, hits_of_all, n = {"far": 0, "near": 0}, 0, 300
    for _ in range(n):
        frame = frame_of(groups, rng, np.where(groups == "far", 10.0, 1.0))
        results = results_of(frame)
        _, _, rows = trial_sample(results.experiment, 0, 0)
        test = rows[results.experiment.n :]
        lost = results.arrays["dummy"]["test"][0]
        for bound in group_bounds(results, 0.1):
            group = bound.facts["group"]
            new = lost[groups[test] == group][0]
            hits[group] += new <= bound.facts["bound"]
        bound = interval(results.arrays["dummy"]["calibration"][0], 0.1, "upper")[1]
        hits_of_all += lost[groups[test] == "far"][0] <= bound
    for count in hits.values():
        assert binomtest(count, n, 0.9, "less").pvalue > 0.01
    assert binomtest(hits_of_all, n, 0.9, "less").pvalue < 1e-9


def test_small_groups_and_missing_ones():
    rng = np.random.default_rng(0)
    groups = np.array(["big"] * 150 + ["small"] * 8 + [None] * 42, dtype=object)
    results = results_of(frame_of(groups, rng))
    rows = calibration_rows(results.experiment, 0)
    counts = {name: int((groups[rows] == name).sum()) for name in ("big", "small")}
    table = own_group_table(results, 0.1)
    assert [row[0] for row in table.rows] == ["big", "small"]
    assert [row[2] for row in table.rows] == [str(counts["big"]), str(counts["small"])]
    assert counts["small"] < 9
    assert table.rows[1][4] == f"none: {9 - counts['small']} more cases needed"
    assert table.rows[0][4].startswith("at most ")
    assert "A new case of any other group has no bound here." in table.caption


def test_a_known_group_of_which_no_case_calibrates():
    rng = np.random.default_rng(0)
    groups = np.array(["big"] * 100, dtype=object)
    alone = int(trial_sample(results_of(frame_of(groups, rng)).experiment, 0, 0)[2][-1])
    groups[alone] = "rare"  # it tests
    rows = own_group_table(results_of(frame_of(groups, rng)), 0.1).rows
    assert rows[1] == ("rare", "Dummy", "0", "none", "none: 9 more cases needed")


def test_where_groups_get_no_bounds_one_line_says_so():
    rng = np.random.default_rng(0)
    frame = frame_of(rng.choice(["a", "b"], 200), rng)
    retrained = results_of(frame, variant="z-free", n_sets=9)
    assert not group_bounds(retrained, 0.1)
    assert no_group_bounds(retrained) == (
        "A bound for each group needs the question about the model at hand."
    )
    many = results_of(frame_of(np.arange(MOST_GROUPS + 1) * 3, rng))
    assert not group_bounds(many, 0.1)
    assert no_group_bounds(many).startswith("201 groups are too many for a bound each")
    unknown = results_of(frame_of(pd.Series([None] * 200, dtype="object"), rng))
    assert not group_bounds(unknown, 0.1)
    assert no_group_bounds(unknown) == "No case has a known group."
    none = run(Experiment(dataset="wine", algorithms=("dummy",)), 1, n_jobs=1, store=Store(None))
    assert (group_bounds(none, 0.1), no_group_bounds(none)) == ((), "")


def test_groups_are_part_of_a_table_and_stay_in_this_process():
    rng = np.random.default_rng(0)
    frame = frame_of(rng.choice([1.0, 2.0, np.nan], 200), rng)
    named = Experiment.from_table(frame, "y", "regression", group="g", algorithms=("dummy",))
    plain = Experiment.from_table(frame, "y", "regression", algorithms=("dummy",))
    assert named.dataset != plain.dataset
    assert list(named.data.groups.categories) == ["1", "2"]
    assert own_of(named).table.groups is None
    assert own_of(named).table.name == named.dataset
