"""The latest cases held out: who is trained where, and that drift shows there."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from cpp_core import Experiment, run
from cpp_core.catalog.checkups import checkups, still_open
from cpp_core.catalog.tables import type_frame
from cpp_core.trials.latest import latest_held_out
from cpp_core.verdicts.drift import latest_only, latest_table, latest_words
from cpp_core.verdicts.language import percent


def drifting(slope, n=600):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"t": np.arange(n), "x": rng.normal(size=n)})
    frame["y"] = frame["x"] + slope * frame["t"] / n + rng.normal(size=n)
    return frame


def both(slope):
    frame = drifting(slope)
    experiment = Experiment.from_table(
        frame, "y", "regression", time="t", algorithms=("ridge",), loss="absolute_error"
    )
    return run(experiment, 20, n_jobs=1), latest_held_out(experiment, frame["t"])


@pytest.mark.parametrize(("slope", "kept"), [(0.0, True), (12.0, False)])
def test_drift_shows_in_the_latest_cases_alone(slope, kept):
    random, latest = both(slope)
    assert random.at(0.1, "upper")["test_coverage"].mean() > 0.85
    assert (latest.at(0.1, "upper")["test_coverage"].iloc[0] > 0.8) == kept
    table = latest_table(random, latest, 0.1)
    assert table.rows[0][0] == "Ridge"
    assert table.rows[0][2].endswith("of 150")
    assert "no bound is promised" in table.caption
    words = latest_words(latest, 0.1)
    n = int(table.rows[0][2].split()[0])
    assert words.startswith(f"Of the latest 150 cases, which were held out, {n} are within the")
    assert "bound of Ridge (90 % was asked)" in words
    assert "no bound is promised" in words


def test_without_a_finite_bound_nothing_is_within_it():
    """Every case lies below infinity: 50 of 50 would say that the bound held."""
    table = drifting(0.0, 200)
    experiment = Experiment.from_table(
        table, "y", "regression", algorithms=("ridge", "dummy"), loss="absolute_error"
    )
    latest = latest_held_out(experiment, np.arange(200))
    words = latest_words(latest, 0.001)
    assert words.startswith("Ridge and Dummy have no finite bound (99.9 % was asked).")
    for shown in (latest_table(latest, latest, 0.001), latest_only(latest, 0.001)):
        assert all("no finite bound" in row for row in shown.rows)


def test_random_splits_say_how_many_had_no_finite_bound():
    """An infinite bound covers every case, which says nothing of the algorithm."""
    random, latest = both(0.0)
    found = latest_table(random, latest, 0.1).rows[0][1]
    assert found == percent(random.at(0.1, "upper")["test_coverage"].mean())
    random.arrays["ridge"]["calibration"][:3] = np.inf
    some = replace(random, _readers={})
    share = percent(some.at(0.1, "upper")["test_coverage"].mean())
    assert latest_table(some, latest, 0.1).rows[0][1] == f"{share} (3 of 20 not finite)"
    random.arrays["ridge"]["calibration"][:] = np.inf
    none = replace(random, _readers={})
    assert latest_table(none, latest, 0.1).rows[0][1] == "no finite bound"


def test_what_cannot_be_held_out_is_said():
    with pytest.raises(ValueError, match="of a table"):
        latest_held_out(Experiment(dataset="quadnoise", algorithms=("gd",)), [])
    with pytest.raises(ValueError, match="give one each"):
        latest_held_out(Experiment(dataset="wine", algorithms=("dummy",)), [1, 2])


def test_words_in_time():
    """Natural order, or none; rows without a time have no part."""
    frame = drifting(0.0, 200)
    frame.loc[150:, "y"] += 50
    asked = {"task": "regression", "algorithms": ("ridge",), "loss": "absolute_error"}

    def within(times):
        experiment = Experiment.from_table(frame.assign(t=times), "y", time="t", **asked)
        return latest_held_out(experiment, times).at(0.1, "upper")["test_coverage"].iloc[0]

    weeks = pd.Series([f"Week {1 + i // 10}" for i in range(200)])
    assert within(weeks) == within(pd.Series(np.arange(200) // 10)) == 0
    days = pd.Series(pd.date_range("2024-01-01", periods=200).astype(str))
    assert within(days) == 0
    months = pd.Series(pd.Categorical(["May", "April"] * 100, ["April", "May"], ordered=True))
    assert within(months) > 0
    assert within(days.where(days.index < 150)) > 0.7  # none of the rows that jump has a part
    with pytest.raises(ValueError, match="such as 'Jan 2024', whose order is not known"):
        within(pd.Series(["Jan 2024", "Feb 2024"] * 100))
    with pytest.raises(ValueError, match="20 rows have a time"):
        within(days.where(days.index < 20))
    table = type_frame(frame.assign(t=days.where(days.index < 150))).table("y", time="t")
    assert any("50 rows without a time" in own.text for own in checkups(table))


def test_one_time_for_all_is_no_order():
    frame = pd.DataFrame({"x": np.arange(80.0), "year": 2024, "y": np.arange(80) % 7 + 0.5})
    table = type_frame(frame).table("y", time="year")
    experiment = Experiment.on(table, algorithms=("dummy",))
    with pytest.raises(ValueError, match="All rows have the same time"):
        latest_held_out(experiment, table.times)
    assert "T2" in {own.code for own in still_open(checkups(table), table, held_out=True)}
