"""A pair in a title and a line: every outcome with a known truth, the same facts as verdicts."""

import numpy as np
import pytest
from scipy import stats

from cpp_core.verdicts.about import About
from cpp_core.verdicts.duel import Duel, duel, duel_title, wins_words
from cpp_core.verdicts.language import percent
from cpp_core.verdicts.pairs import judged
from tests.builders import PLAIN, made, pair, results_of

CASE = "the one random test case of trial 0"


def told(outcome, at_case=False, wins=6, losses=3, ties=1, about=PLAIN):
    """A duel with these facts, and an interval for wins of 40 to 90 %."""
    next_ = {"first": "A", "second": "B", "outcome": outcome, "at_case": at_case}
    counts = {"wins": wins, "losses": losses, "ties": ties, "differing": wins + losses}
    found = counts | {"first": "A", "second": "B", "k": wins + losses + ties, "alpha": 0.05}
    found |= {"lower": 0.40009, "upper": 0.90009, "outcome": "not decided"}
    return Duel(next_, found, about, "90 %")


@pytest.mark.parametrize(
    ("outcome", "at_case", "title"),
    [
        ("first better", False, "A will be better than B on the next case, with 90 % confidence"),
        ("second better", False, "B will be better than A on the next case, with 90 % confidence"),
        ("first not worse", False, "A will be not worse than B on the next case, with 90 % "
         "confidence"),
        ("second not worse", False, "B will be not worse than A on the next case, with 90 % "
         "confidence"),
        ("equal", False, "A will be exactly as good as B on the next case, with 90 % confidence"),
        ("first better", True, f"A is better than B at {CASE}, by a rule that holds with 90 % "
         "confidence"),
        ("either", False, "A is better at 6 of 10 held-out cases; the next may go either way"),
        ("either", True, f"A is better at 6 of 10 held-out cases; at {CASE} it may go either way"),
        ("too little data", False, "A is better at 6 of 10 held-out cases; too little data to tell "
         "of the next"),
        ("empty", True, f"A is better at 6 of 10 held-out cases; at {CASE} the set is empty"),
    ],
)  # fmt: skip
def test_every_outcome_has_its_title(outcome, at_case, title):
    assert duel_title(told(outcome, at_case)) == title


def test_who_is_ahead_or_nobody():
    behind = duel_title(told("either", wins=3, losses=6))
    assert behind == "B is better at 6 of 10 held-out cases; the next may go either way"
    even = duel_title(told("either", wins=4, losses=4, ties=2))
    assert even == (
        "Neither is better more often: 4 of 10 held-out cases each; the next may go either way"
    )
    batches = duel_title(told("either", about=About(batch_size=5)))
    assert batches.startswith("A is better at 6 of 10 held-out batches; ")
    groups = duel_title(told("either", about=About(m=7)))
    assert groups.startswith("A is better at 6 of 10 held-out groups; ")


def test_the_share_of_wins_is_of_who_is_ahead_and_rounded_outwards():
    ahead = "A wins 66.7 % of 9 of the 10 held-out cases of trial 0 where they differ"
    assert wins_words(told("either")) == f"{ahead} (exact 95 % interval 40 % to 90.1 %)"
    behind = wins_words(told("either", wins=3, losses=6))
    assert behind.startswith("B wins 66.7 % of 9 of the 10 held-out cases of trial 0 where they ")
    assert behind.endswith("(exact 95 % interval 9.9 % to 60 %)")
    never_equal = wins_words(told("either", ties=0))
    assert never_equal.startswith("A wins 66.7 % of all 9 held-out cases of trial 0 (exact 95 %")
    same = told("equal", wins=0, losses=0, ties=10)
    assert wins_words(same) == "The two are equal at all of 10 held-out cases of trial 0"
    same.wins["outcome"] = "both failed"
    assert wins_words(same) == "The two failed at all of 10 held-out cases of trial 0"


def test_a_lead_is_told_apart_from_a_draw():
    close = wins_words(told("either", wins=5001, losses=4999, ties=0))
    assert close.startswith("A wins 50.01 % of all 10,000 held-out cases of trial 0 (exact ")
    draw = wins_words(told("either", wins=4, losses=4, ties=2))
    assert draw == (
        "Each wins 50 % of 8 of the 10 held-out cases of trial 0 where they differ (exact 95 % "
        "interval 40 % to 90.1 %)"
    )


def test_one_case_is_the_one():
    interval = "(exact 95 % interval 40 % to 90.1 %)"
    alone = wins_words(told("either", wins=1, losses=0, ties=0))
    assert alone == f"A wins the one held-out case of trial 0 {interval}"
    among = wins_words(told("either", wins=1, losses=0, ties=9))
    assert among == f"A wins the one of 10 held-out cases of trial 0 where they differ {interval}"
    same = told("equal", wins=0, losses=0, ties=1)
    assert wins_words(same) == "The two are equal at the one held-out case of trial 0"


def test_the_facts_are_those_of_the_verdicts():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=(3, 2, 39))
    results = made(losses, losses[:, :, :10])
    found = duel(results, "ridge", "dummy", 0.1)
    assert found.next == judged(results, "ridge", "dummy", 0.1, "next case").facts
    assert found.wins == judged(results, "ridge", "dummy", 0.05, "wins").facts
    assert found.level == percent(1 - 0.1 / 3, "down")  # of three pairs
    exact = stats.binomtest(found.wins["wins"], 49).proportion_ci(1 - 0.05 / 3, "exact")
    assert (found.wins["lower"], found.wins["upper"]) == pytest.approx((exact.low, exact.high))


def test_a_real_win_a_real_tie_and_a_set_that_moves():
    def title(results):
        first, second = results.algorithms
        return duel_title(duel(results, first, second, 0.1))

    one, other = "Logistic regression", "Nearest neighbours"
    assert title(pair(np.full(39, -1.0))).startswith(f"{one} will be better than {other} on the ")
    assert title(pair(np.full(39, 1.0))).startswith(f"{other} will be better than {one} on the ")
    assert title(pair(np.zeros(39))).startswith(f"{one} will be exactly as good as {other} on ")
    assert title(pair(np.full(5, -1.0))).endswith("; too little data to tell of the next")
    moving = [np.full((1, 39), level) for level in (1.0, 3.0)]
    assert CASE in title(results_of(moving, variant="z-fixed", regressor="linear"))
