"""Test cases in an order: the value that they are ordered by really orders them."""

from dataclasses import replace

import numpy as np
import pytest

from cpp_core import Experiment
from cpp_core.trials.case_study import CONSTRUCTIONS, case_study
from cpp_core.trials.gallery import ORDERS, Gallery, gallery, orders, symbol_gallery
from cpp_core.trials.symbol_study import symbol_study

IRIS = Experiment(dataset="iris", algorithms=("naive-bayes", "knn"), variant="z-variable", n_sets=9)
RIDGE = Experiment(
    dataset="growing-noise", algorithms=("ridge",), variant="z-variable", n=160, n_sets=20,
    test_size=12,
)  # fmt: skip


@pytest.fixture(scope="module")
def digits():
    return case_study(Experiment.preset("digits-instance", n_sets=19))


@pytest.fixture(scope="module")
def iris():
    return case_study(IRIS, 0, 2)


def test_orders_hold_every_case_and_fall(digits):
    for by in ORDERS:
        for construction in CONSTRUCTIONS:
            found = gallery(digits, by, 0.3, "two-sided", construction)
            assert sorted(found.cases) == list(range(450))
            if by != "as drawn":
                assert (np.diff(found.values[found.cases]) <= 0).all()


def test_what_is_ordered_by(digits):
    names = digits.experiment.algorithms
    sets = np.array([digits.sets(name, "fixed", 0.3, "two-sided") for name in names])
    asked = 0.3, "two-sided", "fixed"
    highest = sets[..., 1].max(axis=0)
    for by in ORDERS:
        np.testing.assert_array_equal(gallery(digits, by, *asked).hardness, highest)
    np.testing.assert_array_equal(gallery(digits, "hardest", *asked).values, highest)
    np.testing.assert_array_equal(gallery(digits, "as drawn", *asked).values, highest)
    drawn = gallery(digits, "as drawn", *asked).cases
    np.testing.assert_array_equal(drawn, np.arange(450))
    widths = np.maximum(sets[..., 1] - sets[..., 0], 0).max(axis=0)
    np.testing.assert_array_equal(gallery(digits, "widest", *asked).values, widths)
    apart = np.ptp(sets[..., 1], axis=0)
    np.testing.assert_array_equal(gallery(digits, "most surprising", *asked).values, apart)


def test_one_label(digits):
    hardest = gallery(digits, "hardest", 0.3, "upper")
    sevens = gallery(digits, "hardest", 0.3, "upper", label=7)
    assert sevens.cases.tolist() == [case for case in hardest.cases if digits.y[case] == 7]
    assert len(sevens.values) == 450  # of every case, whichever is shown


def test_the_predicted_median_breaks_ties(digits):
    # k = 19 scores are too few: all sets are the loss's range.
    names = digits.experiment.algorithms
    medians = np.mean([digits.predicted(n, alpha=0.5, side="upper")[:, 1] for n in names], axis=0)
    found = gallery(digits, "widest", 0.01)
    assert len(np.unique(found.values)) == 1
    assert (np.diff(medians[found.cases]) <= 0).all()
    assert not found.depth.any()


def test_one_algorithm_is_surprising_by_its_own_median():
    for experiment in (replace(IRIS, algorithms=("naive-bayes",)), RIDGE):
        study = case_study(experiment)
        (name,) = experiment.algorithms
        medians = study.predicted(name, "variable", 0.5, "upper")[:, 1]
        peers = study.y if experiment.data.classes else np.zeros(len(study.y))
        usual = np.array([np.median(medians[peers == peer]) for peer in peers])
        found = gallery(study, "most surprising")
        np.testing.assert_array_equal(found.values, np.abs(medians - usual))
        assert (np.diff(found.values[found.cases]) <= 0).all()


def test_depth_is_in_proportion():
    cases = np.arange(4)
    hardness = np.array([1.0, 3.0, 2.0, np.inf])
    assert Gallery("as drawn", cases, hardness, hardness).depth.tolist() == [0, 1, 0.5, 1]
    nowhere = np.full(4, np.inf)
    assert Gallery("as drawn", cases, nowhere, nowhere).depth.tolist() == [1] * 4


def test_an_upper_bound_has_no_widest(digits):
    assert orders(digits, "upper") == ("as drawn", "hardest", "most surprising")
    assert orders(digits, "two-sided") == ORDERS


def test_symbols():
    experiment = Experiment(
        dataset="breast-cancer", algorithms=("knn", "naive-bayes"), variant="symbolic"
    )
    study = symbol_study(experiment)
    assert orders(study, "two-sided") == ("as drawn", "hardest")
    left = np.maximum(*(study.sets(name, 0.05).sum(axis=1) for name in experiment.algorithms))
    found = symbol_gallery(study, "hardest", 0.05)
    np.testing.assert_array_equal(found.values, left)
    assert (np.diff(left[found.cases]) <= 0).all()
    assert sorted(found.cases) == list(range(143))
    benign = symbol_gallery(study, "as drawn", 0.05, label="benign")
    np.testing.assert_array_equal(benign.cases, np.flatnonzero(study.y == "benign"))


def test_bad_questions(iris):
    with pytest.raises(ValueError, match="no order of the gallery called 'harder'"):
        gallery(iris, "harder")
    with pytest.raises(ValueError, match="'rose' is not a class of Iris; choose one of 'setosa'"):
        gallery(iris, "as drawn", label="rose")
