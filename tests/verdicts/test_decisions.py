"""Decisions: shown, not shown, or too little data."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from cpp_core import batch_errors, tolerance_rank
from cpp_core.verdicts.about import About
from cpp_core.verdicts.decisions import decide, decision_of, error_rate_at_most, loss_at_most
from cpp_core.verdicts.thresholds import exceedance_of, under_threshold
from tests.builders import results_of, tenths


def test_the_tolerance_rank_decides():
    losses = np.arange(1, 101) / 100  # rank 96 decides, where 91 is conformal
    assert tolerance_rank(100, 0.1, 0.05) == 96
    shown = loss_at_most(losses, 0.96)
    assert shown.outcome == "shown"
    assert shown.text == (
        "Shown: at least 90 % of new cases have a loss of at most 0.96, with 95 % confidence."
    )
    assert (shown.badge, shown.assumptions) == ("guaranteed", "independent cases")
    assert {"delta": 0.05, "beyond": 4, "allowed": 4}.items() <= shown.facts.items()
    assert loss_at_most(losses, 0.95).outcome == "not shown"
    assert loss_at_most(losses, 0.88).text == (
        "Not shown with 95 % confidence that at least 90 % of new cases have a loss of at most "
        "0.88: 12 of 100 calibration cases exceed it, at most 4 may."
    )
    assert loss_at_most(losses[:29], 0.28).text.endswith(
        "1 of 29 calibration cases exceeds it, none may."
    )
    few = loss_at_most(losses[:20], 0.5)
    assert few.outcome == "too little data"
    assert few.text == (
        "Too little data to show with 95 % confidence that at least 90 % of new cases have a loss "
        "of at most 0.5: 29 calibration cases would allow it, there are 20."
    )
    assert few.facts["k_needed"] == 29
    for found in (shown, few):
        assert "bound" not in found.text + str(list(found.facts))  # none of one draw is quoted


def test_delta_is_the_users():
    losses = np.arange(1, 101) / 100
    assert loss_at_most(losses, 0.95, delta=0.1).outcome == "shown"
    assert "with 90 % confidence" in loss_at_most(losses, 0.95, delta=0.1).text
    assert loss_at_most(losses, 0.96, delta=0.01).outcome == "not shown"
    few = loss_at_most(losses[:20], 0.5, alpha=0.5, delta=Fraction(1, 2**21))
    assert few.facts["k_needed"] == 21
    with pytest.raises(ValueError, match=r"if you mean 5 %, write delta=0\.05"):
        loss_at_most(losses, 0.5, delta=5)
    results = results_of([tenths(29)])
    assert decide(results, "logistic", 2.9).outcome == "shown"
    assert decide(results, "logistic", 2.9, delta=0.01).outcome == "too little data"


def test_where_no_loss_can_exceed_the_limit():
    for k in (1, 8, 100):
        found = loss_at_most(np.linspace(0, 1, k), 1.0, high=1.0)
        assert found.text == "Shown: all new cases have a loss of at most 1: its range ends at 1."
    accuracy = results_of([tenths(9)], variant="batch", loss="accuracy", batch_size=10)
    assert decide(accuracy, "logistic", 0.0).text.endswith("of at least 0: its range ends at 0.")
    assert loss_at_most(np.full(40, 0.9, dtype=np.float32), 0.9).outcome == "shown"
    with pytest.raises(ValueError, match="threshold must be a number"):
        loss_at_most([0.5], math.inf)
    with pytest.raises(ValueError, match="NaN or infinite"):
        loss_at_most([1.0, math.nan], 1)


def test_decisions_say_whom_they_are_about():
    found = decide(results_of([tenths(29)], variant="z-free"), "logistic", 1.8)
    assert found.text == (
        "Not shown with 95 % confidence that, for Logistic regression retrained on 7 fresh cases, "
        "at least 90 % of new cases have a log loss of at most 1.8 nats: 11 of 29 calibration "
        "groups exceed it, none may."
    )
    assert "training anew on 7 cases, not 232" in found.why
    accuracy = results_of([tenths(40) / 10], variant="batch", loss="accuracy", batch_size=10)
    assert decide(accuracy, "logistic", 0.02).text == (
        "Not shown with 95 % confidence that, for this trained Logistic regression, at least 90 % "
        "of new batches of 10 cases have an accuracy of at least 0.02: 1 of 40 calibration batches "
        "falls below it, none may."
    )
    assert decide(accuracy, "logistic", 0.01).outcome == "shown"
    right = results_of([np.zeros((1, 30))], loss="zero_one")
    assert "have a zero-one loss of at most 0 (no error), with 95 %" in decide(
        right, "logistic", 0
    ).text  # fmt: skip


def test_no_error_is_said_of_the_limits_that_leave_correct_answers_alone():
    """Losses of 0 are correct; scores of 1 are: a limit of 0 for scores excludes nothing."""
    says = {}
    for greater in (False, True):
        about = About(low=0.0, high=1.0, errors=True, greater_is_better=greater)
        right = np.full(40, float(greater))
        for limit in (-0.5, 0.0, 0.5, 1.0, 1.5):
            decision = decision_of(right, limit, 0.1, about, "model").text
            share = exceedance_of(right, limit, 0.1, about, "A").text
            says[greater, limit] = "(no error)" in decision, "answers a new case corr" in share
    assert [limit for (greater, limit), said in says.items() if all(said) and not greater] == [
        0.0,
        0.5,
    ]
    assert [limit for (greater, limit), said in says.items() if all(said) and greater] == [0.5, 1.0]
    assert sum(map(sum, says.values())) == 8


def test_shown_and_refused_say_what_was_asked_in_full():
    """3,000 losses within the limit show 99.9 %, not 99.95 %: neither is told as the other."""
    none = np.zeros(3000)
    assert loss_at_most(none, 1, alpha=0.001).text == (
        "Shown: at least 99.9 % of new cases have a loss of at most 1, with 95 % confidence."
    )
    few = loss_at_most(none, 1, alpha=0.0005)
    assert few.text.startswith(
        "Too little data to show with 95 % confidence that at least 99.95 % of new cases have"
    )
    open_ = loss_at_most(np.arange(100), 80, alpha=0.1234567, delta=0.0512345)
    assert open_.text.startswith(
        "Not shown with 94.87655 % confidence that at least 87.65433 % of new cases have"
    )
    rate = error_rate_at_most(200, 10, 100, 0.05, alpha=0.0005)
    assert rate.text.startswith("Too little data to show with 99.95 % confidence that the err")


def test_a_share_that_is_nearly_none_or_all_is_told_with_its_digits():
    none = np.zeros(3000)
    found = exceedance_of(none, 2.0, 0.1, About(), "A")
    assert "exceeds 2 with probability about 0.03 %, and at most 0.1 %" in found.text
    right = exceedance_of(none, 0.5, 0.1, About(low=0.0, high=1.0, errors=True), "A")
    assert "correctly with probability about 99.97 %, and at least 99.9 %" in right.text
    for own in (found, right):
        assert "about under" not in own.text + own.brief.line
        assert "about over" not in own.text + own.brief.line


def test_large_counts_have_separators():
    found = loss_at_most(np.repeat([2.0, 1.0], [3033, 2967]), 1.5, alpha=0.2)
    assert "3,033 of 6,000 calibration cases exceed it, at most 1,1" in found.text
    few = loss_at_most(np.zeros(3000), 1, alpha=0.0005)
    assert few.text.endswith("5,990 calibration cases would allow it, there are 3,000.")
    assert "all 3,000 might" in few.why
    assert "to the power of 3,000," in few.why
    many = error_rate_at_most(6000, 1200, 10_000, 0.1)
    assert "there may be 2,0" in many.text
    assert many.why.startswith("2,0")


def test_one_loss_of_each_group_decides():
    """Others of a group depend on the first: thirty groups of five equal losses are thirty."""
    losses = np.zeros((1, 30, 5))
    losses[0, :, 1:] = 9.0
    results = results_of(losses[None], variant="z-free", n_evaluations=5)
    found = decide(results, "logistic", 0.5)
    assert found.outcome == "shown"
    assert found.facts["k"] == 30
    assert "Of each group the first loss counts" in found.why


@pytest.mark.parametrize("k", [9, 19, 29, 50, 100, 400])
@pytest.mark.parametrize("truth", [0.8, 0.85, 0.88, 0.899])
def test_shown_is_false_at_most_at_delta(k, truth):
    """Fewer than 90 % stay within the limit: whatever is shown is false, for ties and without."""
    rng, data_sets = np.random.default_rng(11), 1000
    losses = rng.random((data_sets, k))
    limit = truth  # of a uniform loss
    ties = (losses > limit).astype(float)  # zero-one: 0 with probability truth
    for own, t in ((losses, limit), (ties, 0.0)):
        beyond = (own > t).sum(axis=1)
        decided = {n: loss_at_most(own[np.argmax(beyond == n)], t) for n in set(beyond.tolist())}
        false = sum(decided[n].outcome == "shown" for n in beyond.tolist())
        assert stats.binomtest(false, data_sets, 0.05, alternative="greater").pvalue > 1e-3
        if k < 29:
            assert {one.outcome for one in decided.values()} == {"too little data"}
    most = max((n for n in range(k + 1) if k >= 29 and _shown(k, n)), default=-1)
    assert stats.binom.cdf(most, k, 1 - truth) <= 0.05  # and exactly


def _shown(k, beyond):
    return loss_at_most(np.repeat([1.0, 0.0], [beyond, k - beyond]), 0.5).outcome == "shown"


def test_the_share_beyond_a_limit_says_the_same():
    """Shown exactly where the binomial bound on that share, at the same confidence, is in alpha."""
    for beyond in range(12):
        results = results_of([np.repeat([2.0, 1.0], [beyond, 100 - beyond])[None]])
        share = under_threshold(results, "logistic", 1.5, 0.05).facts["upper"]
        assert (decide(results, "logistic", 1.5).outcome == "shown") == (share <= 0.1)


def test_shown_is_said_where_it_is_true():
    """With 400 cases of which 96 % stay within the limit: nearly always."""
    beyond = max(n for n in range(60) if _shown(400, n))
    assert stats.binom.cdf(beyond, 400, 0.04) > 0.99


def test_error_rate_at_most():
    found = error_rate_at_most(200, 10, 100, 0.09)
    assert found.outcome == "shown"  # batch_errors(200, 10, 100, 0.1, "upper") is 0..9
    assert found.text == (
        "Shown: the error rate on the next 100 cases is at most 9 % (9 errors). Over the checked "
        "and the next cases together, this rule makes a wrong claim at most 10 % of the time."
    )
    not_shown = error_rate_at_most(200, 10, 100, 0.0899)
    assert not_shown.outcome == "not shown"
    allowed = not_shown.facts["errors_allowed"]
    assert batch_errors(200, allowed, 100, 0.1, "upper")[1] <= 8
    assert batch_errors(200, allowed + 1, 100, 0.1, "upper")[1] > 8
    few = error_rate_at_most(1, 0, 5, 0)
    assert few.outcome == "too little data"
    assert "45 cases without an error would do, a single one cannot" in few.text
    for k, b, rate in ((20, 100, 0.01), (3, 10, 0.1)):
        needed = error_rate_at_most(k, 0, b, rate).facts["k_needed"]
        assert error_rate_at_most(needed, 0, b, rate).outcome == "shown"
        assert error_rate_at_most(needed - 1, 0, b, rate).outcome == "too little data"
    with pytest.raises(ValueError, match=r"write 0\.05 for 5 %"):
        error_rate_at_most(200, 10, 100, 5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        error_rate_at_most(200, 10, 100, -0.1)
