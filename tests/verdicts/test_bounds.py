"""Verdicts: every branch of what loss to expect, against a known truth."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from cpp_core import Experiment, batch_errors
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About
from cpp_core.verdicts.bounds import bound_of, expected_loss, typical
from cpp_core.verdicts.comparisons import Pair, next_difference_of
from cpp_core.verdicts.coverage import coverage_facts
from cpp_core.verdicts.decisions import decide
from cpp_core.verdicts.next_errors import errors_ahead, errors_ahead_of
from cpp_core.verdicts.pairs import judged
from cpp_core.verdicts.thresholds import under_threshold
from tests.builders import failing, results_of, symbolic, tenths

# What loss to expect


def test_expected_loss_of_a_candidate():
    found = expected_loss(results_of([tenths(19), tenths(19)]), "logistic", 0.1)
    assert found.text == (
        "For a new case drawn like the calibration data, the log loss of this trained Logistic "
        "regression is at most 1.8 nats with probability at least 90 %, over the calibration draw "
        "and the new case together."
    )
    assert (found.badge, found.assumptions) == ("guaranteed", "exchangeable cases")
    assert (found.facts["k"], found.facts["n_algorithms"]) == (19, 2)
    assert found.facts["bound"] == pytest.approx(1.8)
    assert "the 18th smallest of the 19 calibration losses of trial 0" in found.why
    assert "for all at once ask for alpha / 2 (95 %)" in found.why


def test_what_is_refused_or_would_do_is_never_told_with_less_confidence():
    for K, alpha in ((3, 0.1), (6, 0.1), (7, 0.05), (3, 0.001), (2, 0.0001)):
        told = About(n_algorithms=K).separately(alpha)
        level = float(re.search(r"\(([\d.]+) %\)", told)[1])
        assert level < 100
        assert K * (1 - level / 100) <= alpha + 1e-12  # asked for all, they hold jointly
    about = About()
    few = bound_of(np.arange(1500.0), 0.0005, about, "A")
    assert "has no finite bound with 99.95 % confidence: 499 more" in few.text
    assert "At 99.95 % confidence" in few.why
    third = bound_of(np.arange(28.0), Fraction(1, 30), about, "A")
    assert "with 96.7 % confidence: 1 more" in third.text  # 28 give one with 96.6 %
    wrong = errors_ahead_of(np.ones(28), Fraction(1, 30), replace(about, errors=True), "A")
    assert wrong.text.endswith("none is ruled out with 96.7 % confidence.")
    pair = next_difference_of(np.arange(20.0), Fraction(1, 30), Pair("A", "B", about))
    assert pair.text.startswith("Too little data to compare A and B on a new case with 96.7 % conf")


def test_expected_loss_quotes_trial_0_only():
    losses = np.vstack([tenths(19), tenths(19, 5.0)])
    assert "at most 1.8 nats" in expected_loss(results_of([losses]), "logistic").text
    later = results_of([losses])
    partial = Results(later.experiment, 0, np.array([3, 4]), later.arrays, 5)
    with pytest.raises(ValueError, match="quote trial 0"):
        expected_loss(partial, "logistic")


def test_expected_loss_after_retraining():
    one = results_of([tenths(19)], variant="z-free", m=1)
    found = expected_loss(one, "logistic")
    assert found.text.startswith("If Logistic regression is retrained on 1 fresh case (not 38), ")
    assert "the log loss of Logistic regression is at most 1.8 nats with probability" in found.text
    assert found.facts["m"] == 1
    assert "compared" not in found.why
    grouped = np.arange(1, 41).reshape(1, 20, 2) / 10
    many = results_of([grouped], variant="z-free", n_evaluations=2)
    assert "at most 3.8 nats" in expected_loss(many, "logistic").text  # ceil(21 * 2 * 0.9) = 38


def test_expected_metric_on_a_batch():
    accuracy = 1 - np.arange(19)[None] / 20
    found = expected_loss(
        results_of([accuracy], variant="batch", loss="accuracy", batch_size=20), "logistic"
    )
    assert "For a new batch of 20 cases" in found.text
    assert "is at least 0.15 with probability" in found.text
    assert "the 18th largest of the 19" in found.why
    assert "On 1 batch of trial 0 the metric was undefined" in found.why
    none = results_of([accuracy[:, :8]], variant="batch", loss="accuracy", batch_size=1)
    text = expected_loss(none, "logistic").text
    assert "no bound above the bottom of its range, 0, with 90 % confidence" in text
    assert "1 more calibration batch would give one" in text


@pytest.mark.parametrize("variant", ["z-fixed", "z-variable"])
def test_expected_loss_at_a_case(variant):
    found = expected_loss(results_of([tenths(19)], variant=variant), "logistic")
    claim, promise = found.text.split(". Such bounds hold ")
    assert claim.endswith("case of trial 0 the log loss of Logistic regression is at most 1.8 nats")
    assert "%" not in claim
    assert promise.startswith(
        "with probability at least 90 %, over the calibration draw, the fresh"
    )
    # 1 + max(l - 1) is 0; losses so small that their score is the same belong to the set too.
    low = results_of([np.zeros((1, 19))], variant=variant)
    found = expected_loss(low, "logistic")
    assert 0 <= found.facts["bound"] < 1e-15  # 1 - 1, and what rounding may hide
    assert f"at most {found.facts['quoted']}" in found.text


def test_expected_symbols():
    found = expected_loss(symbolic(20), "logistic")
    assert "of this trained Logistic regression is correct. Such sets hold" in found.text
    assert found.facts["symbols"] == ["Correct"]
    few = expected_loss(symbolic(5), "logistic")
    assert (
        "no kind of error of this trained Logistic regression that the label allows can be ruled "
        "out with 90 % confidence"
    ) in few.text
    assert coverage_facts(symbolic(5), 0.1, "upper").words == (
        "Coverage is certain, because there is no smaller set than the label allows: 4 more "
        "calibration cases would give one."
    )
    assert "4 more calibration cases would allow it" in few.text
    wide = symbolic(20)
    wide.arrays["logistic"]["test_ends"][:] = -9.0
    assert "is one of: correct, a false positive." in expected_loss(wide, "logistic").text


def test_no_bound():
    few = expected_loss(results_of([tenths(8)]), "logistic").text
    assert few.endswith(
        "has no bound below the top of its range, 36.04 nats, with 90 % confidence: 1 more "
        "calibration case would give one."
    )
    infinite = {"dataset": "growing-noise", "loss": "squared_error"}
    names = ("knn", "random-forest")
    experiment = Experiment(algorithms=names, n=14, test_size=1, **infinite)
    arrays = dict.fromkeys(names, results_of([tenths(7)]).arrays["logistic"])
    found = expected_loss(Results(experiment, 0, np.arange(1), arrays, 1), "knn").text
    assert "has no finite bound with 90 % confidence: 2 more calibration cases would" in found
    errors = results_of([np.ones((1, 30))], loss="zero_one")
    assert (
        "no bound below the top of its range, 1, with 90 %"
        in expected_loss(errors, "logistic").text
    )
    hits = expected_loss(results_of([np.zeros((1, 30))], loss="zero_one"), "logistic").text
    assert "is at most 0 (no error) with probability at least 90 %" in hits


def test_failed_runs_are_told():
    found = expected_loss(failing(), "knn")
    assert (
        "no finite bound with 90 % confidence: training failed or diverged too often" in found.text
    )
    assert "15 training runs of trial 0 raised an error and count with the worst loss" in found.why
    assert found.brief.line == (
        "Nearest neighbours: no finite bound: training failed or diverged too often."
    )
    assert (found.claim, found.mark) == ("no", "✕ no finite bound")
    assert judged(failing(), "knn", "dummy").text.endswith(
        "not worse; they tie on 5 of 20 calibration cases."
    )
    assert "is at least 0 " in judged(failing(), "knn", "dummy").text
    mean = judged(failing(), "knn", "dummy", aspect="average")
    assert "a training run failed and counts as infinitely bad, so only wins" in mean.text
    failed = decide(failing(), "knn", 18.0, alpha=0.2).text  # 15 failed, 2 of 5 losses exceed 18
    assert failed.endswith("17 of 20 calibration groups exceed it, none may.")


def test_typical():
    three = results_of([np.vstack([tenths(19, s) for s in (0.0, 0.1, 0.5)])])
    found = typical(three, "logistic")
    assert found.text == (
        "Typical over 3 trials: the 90 % bound on the log loss of Logistic regression is 1.9 nats "
        "in the median; 100 % of the test losses lie inside."
    )
    assert found.badge == "approximate"
    both = typical(three, "logistic", side="two-sided").text
    assert (
        "the ends of the 90 % interval for the log loss of Logistic regression are 0.2 nats" in both
    )
    ends = typical(failing(), "knn").text
    assert "the 90 % bound on the squared error of Nearest neighbours is 59 in the median" in ends
    assert "1 of 3 being infinite" in ends
    assert "too little data for a 99 % set" in typical(three, "logistic", 0.01).text
    assert "80 more calibration cases would give one." in typical(three, "logistic", 0.01).text
    assert "each at its own random test case" in typical(
        results_of([tenths(19)], variant="z-fixed"), "logistic"
    ).text  # fmt: skip
    assert "hold 1 kind of answer on average" in typical(symbolic(20), "logistic").text


def test_threshold():
    found = under_threshold(results_of([tenths(99)]), "logistic", 9.0)
    exact = stats.binomtest(9, 99, alternative="less").proportion_ci(0.9, "exact").high
    assert found.facts["estimate"] == 0.1
    assert found.facts["upper"] == pytest.approx(exact)
    assert "exceeds 9 nats with probability about 10 %, and at most 14 % with 90 %" in found.text
    assert "9 of 99 calibration cases are above it." in found.text
    assert found.assumptions == "independent cases"
    assert "never exceeds 40 nats: its range ends at 36.04 nats" in under_threshold(
        results_of([tenths(9)]), "logistic", 40
    ).text  # fmt: skip
    errors = np.zeros((1, 99))
    errors[0, :9] = 1
    right = under_threshold(results_of([errors], loss="zero_one"), "logistic", 0.5).text
    assert "correctly with probability about 90 %, and at least 86 % with 90 % confidence." in right
    accuracy = results_of([tenths(9)], variant="batch", loss="accuracy", batch_size=10)
    assert "falls below 0.15 with probability about 20 %" in under_threshold(
        accuracy, "logistic", 0.15
    ).text  # fmt: skip
    with pytest.raises(ValueError, match="threshold must be a number"):
        under_threshold(accuracy, "logistic", math.nan)
    with pytest.raises(ValueError, match="Kinds of error have no threshold"):
        under_threshold(symbolic(20), "logistic", 0.5)


# Two sides


def test_two_sides():
    found = expected_loss(results_of([tenths(19)]), "logistic", side="two-sided")
    assert "is between 0.1 and 1.9 nats with probability at least 90 %" in found.text
    assert found.brief.line == "Logistic regression: between 0.1 and 1.9 nats on the next case."
    assert (found.facts["lower"], found.facts["upper"]) == pytest.approx((0.1, 1.9))
    few = expected_loss(results_of([tenths(12)]), "logistic", side="two-sided")
    assert few.facts["outcome"] == "too little data"
    assert few.brief.line.endswith("no bound yet: 7 more calibration cases would give one.")
    assert expected_loss(results_of([tenths(12)]), "logistic").facts["outcome"] == "bound"
    failed = expected_loss(failing(), "knn", side="two-sided")
    assert failed.facts["outcome"] == "failed"
    accuracy = results_of([tenths(9)] * 2, variant="batch", loss="accuracy", batch_size=10)
    above = expected_loss(accuracy, "knn", 0.2, "two-sided")
    assert "between 0.1 and 0.9" in above.text
    everything = results_of([np.tile([0.0, 40.0], (1, 30)).clip(0, TOP)])
    assert expected_loss(everything, "logistic", side="two-sided").facts["outcome"] == "top"
    moved = results_of([tenths(19)], variant="z-fixed")  # the prediction is 1: scores |l - 1|
    at_case = expected_loss(moved, "logistic", side="two-sided")
    assert at_case.facts["at_case"]
    assert at_case.brief.lead == "moves with the case"


TOP = 36.04365338911715


@pytest.mark.parametrize("side", ["upper", "two-sided"])
def test_ends_of_two_sides_against_the_frame(side):
    rng = np.random.default_rng(3)
    for variant in ("candidate", "z-free", "z-fixed"):
        results = results_of([rng.random((2, 40))] * 2, variant=variant)
        frame = results.at(0.1, side)
        own = frame[(frame["trial"] == 0) & (frame["algorithm"] == "knn")].iloc[0]
        found = expected_loss(results, "knn", 0.1, side).facts
        assert found["upper"] == pytest.approx(max(own["upper"], 0.0), rel=1e-6)
        if side == "two-sided":
            assert found["lower"] == pytest.approx(own["lower"], rel=1e-6)


# Errors to come


def test_errors_ahead():
    errors = np.zeros((1, 200))
    errors[0, :10] = 1
    results = results_of([errors], loss="zero_one")
    found = errors_ahead(results, "logistic")
    most = batch_errors(200, 10, 100, 0.1, "upper")[1]
    assert found.brief.line == (
        f"Logistic regression: at most {most} errors among the next 100 cases."
    )
    assert found.facts["most"] == most
    assert "over the calibration draw and the next cases together" in found.text
    both = errors_ahead(results, "logistic", side="two-sided")
    assert both.brief.lead == "1 to 10 errors"
    all_wrong = errors_ahead(results_of([np.ones((1, 20))], loss="zero_one"), "logistic")
    assert (all_wrong.facts["outcome"], all_wrong.claim) == ("top", "no")
    retrained = results_of([errors], loss="zero_one", variant="z-free")
    assert "each after retraining on 7 fresh cases" in errors_ahead(retrained, "logistic").text
    right = About(greater_is_better=True, errors=True, low=0, high=1)
    scores = errors_ahead_of(1 - errors[0], 0.1, right, "a")
    assert scores.facts["errors"] == 10
