"""What was seen over the trials: every branch of every title, with ends that the test chooses."""

import numpy as np
import pytest

from cpp_core.verdicts.about import About
from cpp_core.verdicts.over_trials import (
    Smallest,
    Typical,
    about_widths,
    ends_spread,
    ends_title,
    half_of,
    in_trials,
    median_widths,
    medians_words,
    narrower,
    narrower_title,
    narrower_words,
    typical_sets,
    typical_title,
    widths_spread,
    widths_title,
)
from tests.builders import PLAIN, infinite, made, results_of, symbolic

K = 39


def bounded(*bounds):
    """Results whose upper bounds are these: one list per algorithm, a number per trial."""
    losses = np.repeat(np.array(bounds, dtype=float)[:, :, None], K, axis=2)
    return made(losses, losses[:, :, :5])


def wide(*widths):
    """Results whose two-sided sets begin at 1 and have these widths."""
    losses = np.ones((len(widths), len(widths[0]), K))
    losses[:, :, K // 2 :] += np.array(widths, dtype=float)[:, :, None]
    return made(losses, losses[:, :, :5])


def ends(*bounds, alpha=0.1):
    return ends_title(ends_spread(bounded(*bounds), alpha, "upper"))


def widths(*values, alpha=0.1):
    return widths_title(widths_spread(wide(*values), alpha, "two-sided"))


def test_shares_are_counts_where_trials_are_few():
    assert in_trials(1, 1) == "in the one trial"
    assert in_trials(12 / 19, 19) == "in 12 of 19 trials"
    assert in_trials(0.5, 20) == "in 50 % of the trials"


def test_the_smallest_is_alone_or_ties():
    values = {"a": np.array([1, 1, 3, 5]), "b": np.array([2, 1, 4, 2]), "c": np.full(4, 9)}
    found = Smallest.among(values)
    assert (found.leader, found.share, found.ties) == ("a", 0.5, 0.25)
    assert not found.tied
    assert Smallest.among({"a": np.array([1, 1]), "b": np.array([1, 2])}).tied
    endless = {"a": np.array([np.inf, 1]), "b": np.array([np.inf, np.inf])}
    found = Smallest.among(endless)
    assert (found.leader, found.share, found.ties) == ("a", 0.5, 0.5)


def test_whose_bound_is_the_lowest():
    assert ends([1, 1, 5], [2, 2, 2]) == "Ridge has the lowest upper end in 2 of 3 trials"
    assert ends([3], [2]) == "Nearest neighbours has the lowest upper end in the one trial"
    assert ends([1, 1, 5], [1, 1, 2]) == "The lowest upper end is shared in 2 of 3 trials"
    many = [1.0] * 15 + [3.0] * 5
    assert ends(many, [2] * 20) == "Ridge has the lowest upper end in 75 % of the trials"
    accuracy = [np.full((2, 9), share) for share in (0.8, 0.6)]
    shown = results_of(accuracy, variant="batch", loss="accuracy", batch_size=5)
    found = ends_spread(shown, 0.1, "upper")
    assert found.about.greater_is_better
    title = ends_title(found)
    assert title == "Logistic regression has the highest lower end in 2 of 2 trials"


def test_nothing_finite_is_told_by_what_is_missing():
    lacking = "There is no finite bound: 9 more calibration cases would give one"
    assert ends_title(ends_spread(infinite(), 0.05, "upper")) == lacking
    two = infinite(("ridge", "knn"))
    assert widths_title(widths_spread(two, 0.05, "upper")) == lacking
    assert narrower_title(narrower(two, ("ridge", "knn"), 0.05, "upper")) == lacking
    assert widths_spread(two, 0.05, "upper").by_medians is False
    failed = bounded([np.inf, np.inf])
    assert ends_title(ends_spread(failed, 0.1, "upper")) == "There is no finite bound"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([0.1, 0.50009, 0.7301, 9.0], "Half of X's ends lie between 0.5 and 0.731"),
        ([0.1, 0.50009, 0.7301, 0.9, 9.0], "3 of 5 of X's ends lie between 0.5 and 0.9"),
        ([0.1, 0.50009, 0.7301, 9.0, 9.0], "4 of 5 of X's ends lie between 0.5 and 9"),
        ([0.12349, 0.12349, 0.33331, 0.33331], "All of X's ends lie between 0.123 and 0.334"),
        ([0.33331] * 4, "All of X's ends are about 0.334"),
        ([0.33331], "X's end is about 0.334"),
        ([0.2, 0.33331, 0.33331, 0.33331, 0.4], "3 of 5 of X's ends are about 0.334"),
        ([0.50009, 0.7, np.inf, np.inf, np.inf], "4 of 5 of X's ends are 0.7 or more"),
        ([*np.arange(1, 7) / 10, *[np.inf] * 3], "7 of 9 of X's ends are 0.3 or more"),
        ([-np.inf, -np.inf, -np.inf, 0.5, 0.50009, 0.6], "5 of 6 of X's ends are 0.501 or less"),
        ([0.1, 0.2, np.inf, np.inf, np.inf, np.inf, np.inf], "5 of 7 of X's ends are infinite"),
        ([np.inf] * 3, "All of X's ends are infinite"),
        ([np.inf], "X's end is infinite"),
        (np.arange(200.0), "Half of X's ends lie between 50 and 149"),
        (np.arange(201.0), "Half of X's ends lie between 50 and 150"),
        ([*np.arange(28.0), *[np.inf] * 12], "75 % of X's ends are 10 or more"),
    ],
)
def test_where_half_of_them_lie_holds_when_rounded(values, told):
    """The share is counted: it is more than a half where values are equal, few or infinite."""
    assert half_of("X", "end", np.array(values), About()) == told


def test_one_alone_is_told_by_half_of_its_ends_and_widths():
    assert ends([1, 2, 3, 4]) == "Half of Ridge's upper ends lie between 2 and 3"
    assert widths([1, 2, 3, 4]) == "Half of Ridge's widths lie between 2 and 3"


def test_whose_sets_are_narrow():
    assert widths([0.33331] * 3, [1, 2, 3]) == (
        "Median width: Ridge 0.334 and Nearest neighbours 2"
    )
    assert widths([1, 1, 5], [1, 1, 2]) == "The narrowest sets are a tie in 2 of 3 trials"
    three = widths([1, 1, 5], [2, 2, 2], [3, 3, 3])
    assert three == "Ridge's sets are the narrowest in 2 of 3 trials"
    tied = widths([1, 1, 5], [1, 1, 2], [3, 3, 3])
    assert tied == "The narrowest sets are a tie in 2 of 3 trials"
    found = widths_spread(wide([1, 2, 3]), 0.1, "two-sided")
    assert median_widths(found) == "Ridge 2"


def test_a_width_is_rounded_up_within_its_range():
    shares = [np.full((1, 9), 0.8)]
    batch = results_of(shares, variant="batch", loss="accuracy", batch_size=5)
    about = about_widths(batch)
    assert (about.low, about.high, about.greater_is_better) == (0, 1, False)
    assert about.upper_end(0.60001) == "0.601"  # no number of fifths
    assert about.upper_end(np.float32(0.6)) == "0.6"
    assert about_widths(symbolic(20)).upper_end(1.2341) == "1.24"
    assert np.isinf(about_widths(symbolic(20)).high)


def test_trial_by_trial_who_is_narrower():
    found = narrower(wide([1, 1, 5, 2], [2, 2, 2, 2]), ("ridge", "knn"), 0.1, "two-sided")
    assert narrower_title(found) == "Ridge's sets are narrower in 2 of 4 trials"
    assert narrower_words(found) == (
        "Ridge narrower in 2 of 4 trials and Nearest neighbours narrower in 1 of 4 trials; equal "
        "in 1 of 4 trials"
    )
    assert found.differences.tolist() == [-1, -1, 3, 0]
    turned = narrower(wide([2, 2], [1, 1]), ("ridge", "knn"), 0.1, "two-sided")
    assert narrower_title(turned) == "Nearest neighbours' sets are narrower in 2 of 2 trials"
    even = narrower(wide([1, 2], [1, 1]), ("ridge", "knn"), 0.1, "two-sided")
    assert narrower_title(even) == "The sets are equally wide in 1 of 2 trials"
    one = wide([1, 1], [2, 2])
    one.arrays["ridge"]["calibration"][0] = one.arrays["knn"]["calibration"][0] = np.inf
    half = narrower(one, ("ridge", "knn"), 0.1, "upper")
    assert narrower_words(half).endswith("; both infinite in 1 of 2 trials")
    with pytest.raises(ValueError, match="competing algorithm"):
        narrower(one, ("ridge", "gd"), 0.1, "upper")


def test_nobody_leads_where_several_do_as_often():
    one, other = "Ridge", "Nearest neighbours"
    even = narrower(wide([1, 2, 5, 5], [2, 1, 5, 5]), ("ridge", "knn"), 0.1, "two-sided")
    assert narrower_title(even) == "The sets are equally wide in 2 of 4 trials"
    half = narrower(wide([1, 2], [2, 1]), ("ridge", "knn"), 0.1, "two-sided")
    assert narrower_title(half) == (
        f"{one}'s and {other}' sets are narrower equally often, each in 1 of 2 trials"
    )
    assert ends([1, 2], [2, 1]) == (
        f"{one} and {other} have the lowest upper end equally often, each in 1 of 2 trials"
    )
    assert widths([1, 2, 9], [2, 1, 9], [3, 3, 8]) == (
        f"{one}'s, {other}' and Dummy's sets are the narrowest equally often, each in 1 of 3 trials"
    )
    assert Smallest.among({"a": np.array([1, 2]), "b": np.array([2, 1])}).leaders == ("a", "b")


def test_a_share_close_to_a_half_is_not_rounded_onto_it():
    assert in_trials(0.50004, 25_000) == "in 50.004 % of the trials"
    assert in_trials(0.5, 25_000) == "in 50 % of the trials"


def test_medians_are_rounded_outwards():
    found = bounded([0.33331, 0.33331, 9], [1, 2, 3])
    assert medians_words(found, 0.1, "upper") == "Ridge 0.334 and Nearest neighbours 2"
    both = wide([0.33331] * 3)
    assert medians_words(both, 0.1, "two-sided") == "Ridge 1 to 1.34"
    failed = bounded([np.inf] * 3)
    assert medians_words(failed, 0.1, "two-sided") == "Ridge no finite bound"


def test_typical_sets_of_few_and_of_many():
    few = bounded([0.33331, 0.33331, 9], [1, np.inf, np.inf])
    assert typical_title(typical_sets(few, 0.1, "upper")) == (
        "Typically: Ridge at most 0.334, Nearest neighbours has no finite bound"
    )

    def many(*tops, about=PLAIN):
        sets = {str(i): (0.0, top)[:: about.sign] for i, top in enumerate(tops)}
        return typical_title(Typical(sets, "upper", about))

    assert many(0.33331, 2, 3, 4) == "Typically: 4 bounds from 0.334 to 4"
    assert many(1, 2, np.inf, 4) == "Typically: no finite bound for 1 of 4"
    greater = many(0.33339, 0.5, 0.7, 0.8, about=About(greater_is_better=True))
    assert greater == "Typically: 4 bounds from 0.333 to 0.8"
