"""Pairs: every branch of who is better, against a known truth."""

import math

import numpy as np
import pytest
from scipy import stats

from cpp_core.method.modulation import LEVELS
from cpp_core.verdicts.about import About
from cpp_core.verdicts.comparisons import Pair, wins_of
from cpp_core.verdicts.pairs import all_pairs, all_pairs_of, decided_title, judged
from tests.builders import PLAIN, SPREAD, pair, results_of, symbolic, tenths

TIES = "is not worse; they tie on 50 of 99 calibration cases"


@pytest.mark.parametrize(
    ("d", "outcome", "words"),
    [
        (
            SPREAD - 1,
            "first better",
            "so this trained Logistic regression has the smaller log loss",
        ),
        (
            SPREAD + 1,
            "second better",
            "so this trained Nearest neighbours has the smaller log loss",
        ),
        (SPREAD, "either", "so it could go either way"),
        (
            np.minimum(SPREAD, 0),
            "first not worse",
            f"Logistic regression {TIES}",
        ),
        (
            np.maximum(SPREAD, 0),
            "second not worse",
            f"Nearest neighbours {TIES}",
        ),
        (SPREAD * 0, "equal", "so they are equal"),
        (SPREAD[:18], "too little data", "1 more calibration case would do"),
    ],
)
def test_next_case(d, outcome, words):
    found = judged(pair(d), "logistic", "knn")
    assert (found.facts["outcome"], found.badge) == (outcome, "guaranteed")
    assert words in found.text
    if outcome == "first better":
        assert (
            "minus that of this trained Nearest neighbours lies between -1.23 and -0.77"
            in found.text
        )
        assert "The ends are the 5th and the 95th smallest of the 99 differences" in found.why


def test_next_case_of_a_metric_after_retraining_and_at_a_case():
    better = pair(SPREAD - 0.3, variant="batch", loss="accuracy", batch_size=3)
    found = judged(better, "logistic", "knn")
    assert "Logistic regression has the larger accuracy" in found.text
    assert found.facts["lower"] == pytest.approx(0.07, abs=0.001)
    retrained = judged(pair(SPREAD, variant="z-free"), "knn", "logistic").text
    assert (
        "are retrained on the same 7 fresh cases (not 792), then for the same new case" in retrained
    )
    moved = pair(SPREAD - 1, variant="z-fixed")
    for ends in ("calibration_ends", "test_ends"):
        moved.arrays["knn minus logistic"][ends][:] = 1  # the difference is predicted well: -1
    at_case = judged(moved, "logistic", "knn")
    assert at_case.facts["outcome"] == "first better"
    assert "test case of trial 0 the log loss of Logistic regression minus" in at_case.text
    assert "Such sets hold the difference with probability at least 90 %" in at_case.text
    assert at_case.brief.line.startswith("Logistic regression: better than Nearest neighbours on")
    few = judged(pair(SPREAD[:8], variant="z-fixed"), "logistic", "knn")
    assert "1 more calibration group (each with its own 7 training cases) would do" in few.text


def test_an_empty_set_says_nothing():
    crossed = pair(SPREAD * 0, variant="z-variable")
    rising = LEVELS.astype(np.float32)
    own = crossed.arrays["knn minus logistic"]
    own["calibration_ends"][:] = 40 * (2 * rising - 1)  # wide: scores far below 0
    own["test_ends"][:] = 0  # a point: narrowed by the score, it is empty
    found = judged(crossed, "logistic", "knn")
    assert found.facts["outcome"] == "empty"
    assert "is empty, which counts as a miss, and nothing can be said" in found.text
    assert (found.claim, found.brief.lead) == ("open", "nothing can be said")


def test_pairs_refuse():
    with pytest.raises(ValueError, match="Kinds of error have no difference"):
        judged(symbolic(20), "logistic", "knn")
    with pytest.raises(ValueError, match="paired with itself"):
        judged(pair(SPREAD), "knn", "knn", aspect="wins")
    with pytest.raises(ValueError, match="no rival"):
        all_pairs(results_of([tenths(9)]))
    with pytest.raises(ValueError, match="aspect must"):
        all_pairs(pair(SPREAD), aspect="who")
    with pytest.raises(ValueError, match="margin must"):
        judged(pair(SPREAD), "logistic", "knn", margin=0, aspect="average")
    with pytest.raises(ValueError, match="without gaps"):
        wins_of([0.1, math.nan], 0.1, Pair("A", "B", PLAIN))


@pytest.mark.parametrize(
    ("d", "outcome", "words"),
    [
        ([-1] * 70 + [1] * 29, "first wins", "so Logistic regression wins more often"),
        ([1] * 70 + [-1] * 29, "second wins", "so Nearest neighbours wins more often"),
        (
            [-1] * 20 + [1] * 5 + [0] * 74,
            "first wins",
            "differ on 50; Logistic regression wins 40 of those",
        ),
        ([1] * 49 + [-1] * 48 + [0, 0], "not decided", "is not decided by this data (about"),
        (
            [0] * 99,
            "all equal",
            "On all of 198 held-out cases this trained Logistic regression and",
        ),
    ],
)
def test_share_of_wins_where_two_differ(d, outcome, words):
    found = judged(pair(d), "logistic", "knn", aspect="wins")
    assert (found.facts["outcome"], found.badge) == (outcome, "guaranteed")
    assert words in found.text
    wins, differing = (2 * int(np.sum(own)) for own in (np.array(d) < 0, np.array(d) != 0))
    assert (found.facts["wins"], found.facts["differing"]) == (wins, differing)
    assert found.facts["wins"] + found.facts["ties"] + found.facts["losses"] == 198
    ends = found.facts["lower"], found.facts["upper"]
    assert ends == (0, 1) if not differing else True
    if differing:  # calibration and test cases of trial 0
        exact = stats.binomtest(wins, differing).proportion_ci(0.9, "exact")
        assert ends == pytest.approx((exact.low, exact.high))
    groups = judged(pair(d, variant="z-free"), "logistic", "knn", aspect="wins")
    assert groups.facts["k"] == 99
    assert "f 99 held-out groups" in groups.text
    half = judged(pair([1, -1] * 10), "logistic", "knn", aspect="wins").text
    assert half.endswith("so who wins more often is not decided by this data.")


def test_of_groups_one_difference_counts_for_wins_and_the_mean_for_the_mean():
    d = np.stack([np.where(np.arange(120) < 90, -0.1, 0.1), np.linspace(2, 4, 120)], axis=1)[None]
    both = [16 + d, np.full(d.shape, 16.0)]
    found = results_of(both, variant="z-free", n_evaluations=2)
    assert judged(found, "logistic", "knn", aspect="wins").facts["wins"] == 90
    mean = judged(found, "logistic", "knn", aspect="average")
    assert mean.facts["outcome"] == "second better on average"
    assert mean.facts["mean"] == pytest.approx(d.mean(), abs=1e-5)


@pytest.mark.parametrize(
    ("d", "margin", "outcome", "words"),
    [
        (
            SPREAD - 1,
            None,
            "first better on average",
            "Logistic regression is better on average than",
        ),
        (
            SPREAD + 1,
            None,
            "second better on average",
            "Nearest neighbours is better on average than",
        ),
        (
            SPREAD + 1,
            0.5,
            "second better on average",
            "Nearest neighbours is better on average than",
        ),
        (
            SPREAD + 0.001,
            None,
            "not decided",
            "held-out cases would decide if mean and spread stay",
        ),
        (SPREAD, 0.5, "practically equal", "inside the margin of 0.5 nats that was set"),
        (SPREAD + 0.1, 0.2, "practically equal", "are practically equal: their average difference"),
        (SPREAD, 0.001, "not decided", "on both sides of zero"),
        (SPREAD * 0, None, "not decided", "all 198 differences are 0, which shows no spread"),
        (SPREAD * 0, 0.5, "practically equal", "inside the margin of 0.5 nats that was set"),
        (SPREAD[:10] - 1, None, "not decided", "about 100 cases or more are needed"),
        (np.r_[SPREAD, -15], None, "not decided", "so only wins are counted"),
    ],
)
def test_better_on_average(d, margin, outcome, words):
    found = judged(pair(d), "logistic", "knn", margin=margin, aspect="average")
    assert found.facts["outcome"] == outcome
    assert words in found.text
    exact = found.facts["strength"] == "exact"
    assert exact == (words.endswith("is better on average than"))
    assert found.badge == ("guaranteed" if exact else "approximate")
    if exact:
        assert "(exact, 90 % confidence, 198 held-out cases)" in found.text
    elif found.facts["lower"] is not None:
        twice = np.tile(np.float32(np.float32(16 + d) - np.float32(16)), 2)
        exact = stats.ttest_1samp(twice, 0).confidence_interval(0.9)
        assert found.facts["lower"] == pytest.approx(exact.low, abs=1e-6)
        assert found.facts["upper"] == pytest.approx(exact.high, abs=1e-6)
    else:
        assert "held-out cases this trained Logistic regression and" in found.text


def test_all_pairs():
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=0.05, size=(1, 400))
    shifts = (5.0, 3.0, 3.0, 3.0, 3.0, 1.0)
    six = [np.abs(shift + noise + rng.normal(scale=0.05, size=noise.shape)) for shift in shifts]
    found = all_pairs(results_of(six, six), 0.1)
    assert len(found.pairs) == 15
    assert found.pairs[0].facts["alpha"] == pytest.approx(0.1 / 15)
    assert found.pairs[0].facts["n_algorithms"] == 6
    assert "alpha is divided by the 15 pairs" in found.pairs[0].why
    assert "unless alpha was divided" not in found.pairs[0].why
    text = found.summary.text
    assert text.startswith("On the next case, for all 15 pairs jointly with 90 % confidence: ")
    assert "Dummy is better than each of the 5 others" in text
    assert "Nearest neighbours is better than Logistic regression;" in text
    assert "6 pairs are not decided by this data." in text
    average = all_pairs(results_of(six, six), 0.1, "average", margin=0.5).summary
    assert "6 pairs are practically equal" in average.text
    assert (average.badge, average.facts["strength"]) == ("guaranteed", "exact")
    columns = {str(i): own[0] for i, own in enumerate(six)}
    near = all_pairs_of(columns, 0.1, About(n_algorithms=6), "average", 0.5).summary
    assert (near.badge, near.facts["strength"]) == ("approximate", "approximate")
    assert "approximately 90 % confidence, unless one new case in 400 costs " in near.text
    wins = all_pairs(results_of(six, six), 0.1, "wins").summary.text
    assert wins.startswith("More often on new cases that tell two apart, for all 15 pairs")
    assert "Dummy is better than each of the 5 others" in wins
    few = all_pairs(results_of([own[:, :50] for own in six])).summary.text
    assert "15 pairs are not decided by this data; 249 more calibration cases would" in few
    case = [own[:, :99] for own in six[:3]]
    at_case = all_pairs(results_of(case, variant="z-fixed")).summary.text
    assert at_case.startswith(
        "At the one random test case of trial 0, by rules that hold for all 3"
    )
    single = all_pairs(pair(SPREAD - 1)).summary.text
    assert "for the pair with 90 % confidence: Logistic regression is better than" in single


def test_how_many_differences_are_on_one_side_of_zero():
    told = {"first": "A", "second": "B"}
    every = ["first better", "second better", "either", "equal", "first not worse", "empty"]
    facts = [told | {"outcome": outcome} for outcome in every]
    assert decided_title(facts) == "2 of 6 differences on one side of zero"
    assert decided_title(facts[2:3]) == "0 of 1 difference on one side of zero"
    worlds = {"a": np.zeros(99), "b": np.ones(99), "c": np.ones(99)}
    pairs = all_pairs_of(worlds, 0.1, About(n_algorithms=3), "next case", None).pairs
    found = decided_title([verdict.facts for verdict in pairs])
    assert found == "2 of 3 differences on one side of zero"  # b and c are equal
