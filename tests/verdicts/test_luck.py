"""Where trial 0 lies among the trials, told with a known truth."""

from dataclasses import replace

import numpy as np
import pytest

from cpp_core import Experiment, run
from cpp_core.verdicts.luck import split_place
from tests.builders import failing, results_of, symbolic

REST = np.linspace(1, 2, 99)


def world(first, **settings):
    """100 trials of 19 equal losses each: trial 0 has the bound that a test chooses."""
    bounds = np.append(first, REST)
    return results_of([np.repeat(bounds[:, None], 19, axis=1)], **settings)


@pytest.mark.parametrize(
    ("first", "words", "below", "above"),
    [
        (0.5, "is lower than in 100 % of 99 other data sets", 0, 1),
        (3.0, "is higher than in 100 % of 99 other data sets", 1, 0),
        (1.5, "is in the middle of 99 other data sets", 49 / 99, 49 / 99),
        (1.0, "is lower than in 99 % of 99 other data sets", 0, 98 / 99),
    ],
)
def test_where_the_split_lies(first, words, below, above):
    found = split_place(world(first), "logistic")
    assert words in found.text
    assert (found.facts["below"], found.facts["above"]) == pytest.approx((below, above))
    assert found.badge == "approximate"
    assert len(found.text.split()) <= 26
    assert "typical is 1.5" in found.text or "typical is 1.49" in found.text


def test_the_better_side_of_a_metric_is_higher():
    bounds = np.append(0.2, np.linspace(0.5, 0.9, 99))
    world = results_of(
        [np.repeat(bounds[:, None], 19, axis=1)],
        variant="batch",
        loss="accuracy",
        batch_size=4,
    )
    assert (
        "0.2, is lower than in 100 % of 99 other data sets" in split_place(world, "logistic").text
    )


def test_nothing_is_said_of_few_trials_or_of_sets_that_move():
    assert split_place(results_of([np.ones((19, 9))]), "logistic") is None
    assert split_place(results_of([np.ones((30, 19))], variant="z-fixed"), "logistic") is None
    assert split_place(symbolic(20), "logistic") is None


def test_the_digits_split_is_a_lucky_one():
    results = run(Experiment.preset("digits-candidate"), 1000)
    found = split_place(results, "svm-lin")
    assert found.facts["above"] > 0.7
    assert "lower than" in found.text
    assert "999 other splits" in found.text
    assert found.why.startswith("This split was fixed beforehand")


@pytest.mark.parametrize("first", [1.0, np.inf])
def test_a_split_without_a_finite_bound_has_no_place(first):
    """Nobody takes it for a lucky one; a typical bound that is infinite has no unit."""
    results, arrays = failing(), {}
    for name, own in results.arrays.items():
        losses = np.full((25, 20), np.inf, dtype=np.float32)
        losses[0] = first
        tests, none = np.ones((25, 2), dtype=np.float32), np.zeros(25, dtype=np.int32)
        arrays[name] = own | {"calibration": losses, "test": tests, "failed": none}
    world = replace(results, arrays=arrays, trials=np.arange(25), asked=25, _readers={})
    found = split_place(world, "knn")
    assert (found is None) == (first == np.inf)
    if found is not None:
        assert found.text.endswith("typical is no finite bound.")
        assert found.why.startswith("This data set was fixed beforehand")
