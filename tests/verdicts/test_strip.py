"""What is told first: every outcome with a known truth, in few words, one number for one thing."""

import re

import numpy as np
import pytest

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.verdicts.about import About
from cpp_core.verdicts.answers import answers_from, answers_of
from cpp_core.verdicts.bounds import expected_loss
from cpp_core.verdicts.comparisons import enough
from cpp_core.verdicts.held_out import average_of, held_out_losses
from cpp_core.verdicts.language import number
from cpp_core.verdicts.strip import asked_strip, strip_of
from cpp_core.verdicts.strip_cards import AVERAGE_BEYOND, FIXED
from tests.builders import SIX, failing, pair, results_of, symbolic, tenths

WORDS = 25
N = 400
HALF = np.full(N, 0.5)
ODD = HALF + np.where(np.arange(N) % 10 < 8, -0.01, 0.4)  # wins 8 of 10, loses much else


def noise(seed=0, spread=0.05):
    return np.random.default_rng(seed).normal(scale=spread, size=N)


def strip(margin=None, **columns):
    about = About(low=0.0, high=1.0, n_algorithms=len(columns))
    return strip_of(columns, 0.1, about, margin)


def named(text):
    """The text with a single word for each name, whose length is not ours."""
    for label in (ALGORITHMS[name].label for name in SIX):
        text = text.replace(label, "X")
    return text


def cards(found):
    return {card.topic: card for card in found.cards}


def test_one_is_named():
    found = strip(a=HALF, b=HALF + 0.1 + noise())
    assert (found.title, found.names) == ("Use a.", ("a",))
    assert found.text == "It loses less than b, on average and more often."
    average, wins, bound = found.cards
    low, high = re.match(r"([\d.]+) to ([\d.]+) less$", average.text).groups()
    exact = average.verdicts[0].facts
    assert float(low) <= -exact["upper"] < -exact["lower"] <= float(high)
    assert float(low) < 0.1 < float(high)  # the truth
    assert average.detail == "than b, from 400 cases"
    assert (average.claim, average.strength, average.mark) == (
        "yes",
        "exact",
        "✓ exact guarantee",
    )
    won = int((noise() > -0.1).sum())
    assert wins.detail == f"against b: {won} of 400 cases, never equal"
    assert re.match(r"wins \d+ to \d+ % of new cases$", wins.text)
    assert bound.text == "at most 0.5"
    assert bound.detail.startswith("average 0.5; b: at most 0.6")
    assert bound.mark == f"✓ exact guarantee {FIXED}"  # the lowest of several covers less often
    larger = strip_of(
        {"a": HALF, "b": HALF + 0.1 + noise()},
        0.1,
        About(low=0.0, high=1.0, greater_is_better=True, n_algorithms=2),
    )
    assert larger.text == "It scores higher than a, on average and more often."
    assert larger.cards[0].text.endswith(" more")
    assert larger.cards[2].text.startswith("at least ")


@pytest.mark.parametrize("greater", [False, True])
def test_of_three_that_nobody_decides_every_bound_counts(greater):
    columns = {
        name: np.clip(0.5 + noise(seed, spread), 0, 1)
        for name, seed, spread in (("a", 1, 0.02), ("b", 2, 0.2), ("c", 3, 0.1))
    }
    about = About(low=0.0, high=1.0, n_algorithms=3, greater_is_better=greater)
    found = strip_of(columns, 0.1, about)
    assert found.title.startswith("Not decided")
    bound = found.cards[2]
    ends = {name: np.sort(own)[[40 - 1, 361 - 1]] for name, own in columns.items()}
    assert (bound.claim, bound.mark) == ("yes", f"✓ exact guarantee {FIXED}")
    low, high = map(
        float, re.match(r"at (?:most|least) ([\d.]+) to ([\d.]+)$", bound.text).groups()
    )
    truth = [ends[name][int(not greater)] for name in "ab"]
    assert np.allclose((low, high), truth, atol=1.1e-3)
    words = ("highest", "lowest") if greater else ("lowest", "highest")
    whose, averages = bound.detail.split("; ")
    assert whose == f"{words[0]} for a, {words[1]} for b"
    assert whose == found.beside_table.cards[2].detail  # a table has the averages
    low, high = map(float, re.match(r"averages ([\d.]+) to ([\d.]+)$", averages).groups())
    means = [own.mean() for own in columns.values()]
    assert (low, high) == pytest.approx((min(means), max(means)), rel=2e-3)
    needed = found.choice.facts["n_needed"]
    words = f"about {enough(needed, 'held-out case')} would do" if needed else "would do"
    assert (words in found.text.lower()) == bool(needed)
    assert not any("would do" in card.detail for card in found.cards if needed)
    quoted = sorted(own.facts["bound"] for own in bound.verdicts[:3])
    assert quoted == sorted(own[int(not greater)] for own in ends.values())


def test_it_depends():
    found = strip(a=ODD, b=HALF)
    assert found.title == "It depends."
    assert found.text == "a wins more often, b loses less when it matters."
    average, wins, bound = found.cards
    assert average.text.startswith("b: ")  # whoever is meant is named
    assert wins.text.startswith("a: wins ")
    assert bound.text.split(":")[0] in ("a", "b")


def test_not_decided():
    found = strip(a=HALF, b=HALF + noise())
    assert found.title == "Not decided by this data."
    needed = found.choice.facts["n_needed"]
    cases = enough(needed, "held-out case")
    assert found.text == f"About {cases} would do, if all stays as it is."
    first = found.choice.asked[0].mean.brief  # and of one pair: who may lose how much
    low, high = re.match(
        r"Not decided: a may lose ([\d.]+) less or ([\d.]+) more than b on average; ", first.line
    ).groups()
    facts = found.choice.asked[0].mean.facts
    assert facts["lower"] == pytest.approx(-float(low), rel=0.1)
    assert -float(low) <= facts["lower"] < 0 < facts["upper"] <= float(high)
    assert f"about {enough(facts['n_needed'], 'case')} would do." in first.line
    card = found.cards[0]
    assert card.detail == f"a may lose {low} less or {high} more than b"
    assert found.names == ()
    for card in found.cards[:2]:
        assert (card.claim, card.strength, card.mark) == ("open", None, "○ not decided")
    same = strip(a=HALF, b=HALF)
    assert same.text == f"a and b are equal on all of {N} held-out cases."
    even = strip(a=np.array([1.0, 2.0]), b=np.array([2.0, 1.0]))
    assert even.text == "a or b: more cases may tell."
    assert same.cards[1].text == "a and b are equal"


def test_no_real_difference():
    found = strip(0.1, a=HALF, b=HALF + 0.01 + noise(spread=0.001))
    assert found.title == "No real difference."
    assert found.text == "On average a and b differ by less than the margin that was set."
    assert found.cards[0].text == "no real difference"
    assert found.cards[0].detail == "a and b within 0.1"


def test_more_than_two():
    far = HALF + 0.2
    three = strip(a=HALF + noise(1), b=HALF + noise(2), c=far + noise(3))
    assert three.title == "Use a or b."
    assert three.text == "This data cannot tell them apart; c is beaten."
    facts = three.cards[0].verdicts[0].facts
    assert {facts["first"], facts["second"]} == {"a", "b"}  # the best and the runner-up
    four = strip(d=far + 0.1, a=HALF - 0.2 + noise(1), b=HALF + noise(2), c=far + noise(3))
    assert (four.title, four.names) == ("Use a.", ("a",))
    assert four.text == "It loses less than each of the 3 others, on average and more often."
    assert "than b" in four.cards[0].detail  # the closest rival


def test_errors_lead_with_errors():
    rng = np.random.default_rng(0)
    good, bad = (rng.random(N) < 0.05) * 1.0, (rng.random(N) < 0.3) * 1.0
    about = About(low=0.0, high=1.0, errors=True, n_algorithms=2)
    found = strip_of({"a": good, "b": bad}, 0.1, about)
    assert (found.title, found.text) == ("Use a.", "It errs less often than b.")
    average, _, ahead = found.cards
    assert average.text == "fewer errors"
    right = int(((good == 0) & (bad == 1)).sum())
    assert f"right on {right} of {int((good != bad).sum())} cases" in average.detail
    assert ahead.topic == "The next 100 cases, each separately"
    assert re.match(r"at most \d+ errors$", ahead.text)
    assert f"error rate {100 * good.mean():.1f} %" in ahead.detail.replace("\u00a0", " ")


def test_one_alone_has_no_decision():
    alone = asked_strip(results_of([tenths(99)]), at_most=9.5)
    assert (alone.title, alone.choice) == ("At most 9 nats.", None)
    assert alone.text == (
        "The log loss of this trained Logistic regression on the next case, with 90 % confidence."
    )
    assert [card.topic for card in alone.cards] == ["On average", "Your limit, at most 9.5 nats"]
    assert alone.cards[0].text == "4.81 nats"  # of 99 calibration and 4 test losses
    assert alone.cards[1].text == "shown"
    assert alone.behind[0].mark == "✓ exact guarantee"  # the headline's
    few = asked_strip(results_of([tenths(8)]))
    assert few.title == "No bound yet."
    assert few.text.endswith("on the next case: 1 more calibration case would give one.")
    assert few.behind[0].mark == "○ too little data"
    many = asked_strip(results_of([np.repeat(tenths(99), 25, axis=0)]))
    usual = cards(many)["Typical of 25 simulated data sets"]
    assert (usual.text, usual.strength) == ("at most 9 nats", None)
    assert usual.detail == ("this data set's is the same as in 100 % of 24 other data sets")


def test_a_bound_is_one_number_wherever_it_is_quoted():
    rng = np.random.default_rng(1)
    results = results_of(rng.random((2, 40, 60)), rng.random((2, 40, 5)))
    found = asked_strip(results, 0.1)
    bound = found.cards[2]
    told = {name: expected_loss(results, name, 0.1).facts["quoted"] for name in results.algorithms}
    quoted = re.findall(r"at most ([\d.]+ nats)", f"{bound.text}; {bound.detail}")
    assert sorted(quoted) == sorted(told.values())
    assert bound.detail not in str(found.beside_table)  # a table of all says it
    assert found.beside_table.cards[:2] == found.cards[:2]
    assert answers_from(results, 0.1).strip == asked_strip(results, 0.1, "two-sided")
    places = [own.text for own in bound.verdicts if "this data set's bound" in own.text]
    assert len(places) == 2  # one click to why they differ


def test_two_sides_change_the_strip():
    found = asked_strip(results_of([tenths(99)] * 2), 0.1, "two-sided")
    assert found.cards[2].text.endswith("between 0.5 and 9.5 nats")


def test_a_word_where_the_average_exceeds_the_bound():
    rare, even = np.where(np.arange(60) < 5, 30.0, 0.01)[None], tenths(60)
    metric = {"variant": "batch", "loss": "accuracy", "batch_size": 10}
    low = np.where(np.arange(60) < 5, 0.0, 0.9)[None]
    for losses, settings, beyond in ((rare, {}, True), (even, {}, False), (low, metric, True)):
        average = asked_strip(results_of([losses], **settings)).cards[0]
        assert average.detail.endswith("beyond the bound") == beyond
        bound = asked_strip(results_of([losses] * 2, **settings)).beside_table.cards[2]
        assert bound.detail == (AVERAGE_BEYOND if beyond else "")


def test_failed_runs_and_kinds_of_error():
    found = asked_strip(failing())
    assert "no finite average" in str([card.detail for card in found.cards])
    kinds = asked_strip(symbolic(20))
    assert kinds.title == "What kind of error, case by case."
    assert [card.topic for card in kinds.cards] == ["Logistic regression", "Nearest neighbours"]
    assert kinds.cards[0].text == "only 'correct' is left"
    assert kinds.cards[0].detail == "at 2 of 2 test cases of this split"
    few = asked_strip(symbolic(5))
    # By its label a case is no false positive, or no false negative: that needs no data.
    assert asked_strip(symbolic(5)).cards[0].text.endswith("that the label allows is ruled out")
    assert few.title == "No kind of error that the label allows can be ruled out."
    assert few.text == "4 more calibration cases would allow it."
    assert few.cards[0].claim == "open"


def test_averages_are_those_of_the_pairs():
    for settings in ({}, {"variant": "z-free"}):
        results = pair(np.random.default_rng(0).normal(size=120), **settings)
        first, second = (average_of(held_out_losses(results, name)) for name in ("logistic", "knn"))
        facts = asked_strip(results).cards[0].verdicts[0].facts
        assert facts["mean"] == pytest.approx(first - second, abs=1e-5)
        assert f"average {number(first)}" in asked_strip(results).cards[2].detail


@pytest.mark.parametrize("K", [1, 2, 3, 6])
def test_words_of_the_first_screen(K):
    """Whatever the data: at most 25 words in a sentence, a claim only with its strength."""
    rng = np.random.default_rng(K)
    metric = {"variant": "batch", "loss": "accuracy", "batch_size": 4}
    kinds = [{"variant": own} for own in ("z-free", "z-fixed")]
    for settings in ({}, {"loss": "zero_one"}, metric, *kinds):
        for k in (1, 12, 200):
            spread = rng.choice([0.0, 0.1, 1.0])
            losses = [np.clip(rng.random((25, k)) + spread * j, 0, 1) for j in range(K)]
            if settings.get("loss") == "zero_one":
                losses = [(own > 0.4) * 1.0 for own in losses]
            results = results_of(losses, losses, **settings)
            for margin in (None, 0.05):
                asked = {"at_most": 0.25} if k > 1 else {}
                found = asked_strip(results, 0.1, "upper", margin, **asked)
                assert len(found.title.split()) <= 12 + 3 * K
                assert len(found.text.split()) <= WORDS, found.text
                for card in found.cards:
                    told = named(f"{card.text} {card.detail}")
                    assert len(told.split()) <= WORDS, told
                    assert (card.strength is None) or card.claim == "yes"
                    assert (card.claim == "yes") or card.mark[0] in "○✕"
                    assert "None" not in told


def test_a_file_has_the_same_strip():
    columns = {"a": HALF, "b": HALF + 0.1 + noise()}
    found = answers_of(columns, 0.1, low=0.0, high=1.0, at_most=0.55)
    assert found.strip.title == "Use a."
    assert found.strip.choice == found.choice
    limit = found.strip.cards[-1]
    assert (limit.topic, limit.text) == ("Your limit, at most 0.55", "a: shown")
    assert "b: not shown" in limit.detail
    one = answers_of({"a": HALF}, 0.1, low=0.0, high=1.0).strip
    assert one.title == "At most 0.5."


def test_a_limit_that_the_named_one_does_not_keep_is_told():
    """Whoever wins more often, but not within the limit, is not recommended without a word."""
    rng = np.random.default_rng(0)
    steady = rng.uniform(0.3, 0.31, N)
    spiky = np.where(np.arange(N) % 5 == 0, 0.9, 0.1)
    found = answers_of({"spiky": spiky, "steady": steady}, 0.1, at_most=0.5).strip
    if found.title == "Use spiky.":
        assert found.text.endswith("But only steady is shown to keep your limit.")
    kept = answers_of({"a": HALF, "b": HALF + 0.1 + noise()}, 0.1, at_most=0.55, low=0, high=1)
    assert "But only" not in kept.strip.text


def test_a_worse_average_is_told_beside_wins():
    """Wins decide, one large loss keeps the average open: what was seen of it is said."""
    small = np.full(60, 0.2)
    rare = np.where(np.arange(60) == 0, 30.0, 0.1)
    about = About(low=0.0, n_algorithms=2)
    found = strip_of({"rare": rare, "small": small}, 0.1, about)
    assert found.title == "Use rare."
    assert found.text == "It wins more often than small, though small has a better average here."
    assert "though" not in strip(a=HALF, b=HALF + 0.1 + noise()).text


def test_only_the_pick_of_the_one_that_is_named_is_told():
    better, worse = tenths(101), tenths(101, 3.0)
    bound = asked_strip(results_of([worse, better], [worse, better])).cards[2]
    assert any("Quote this bound if you picked" in own.text for own in bound.verdicts)
    open_ = strip(a=HALF, b=HALF + noise()).cards[2]
    assert not any("Quote this bound" in own.text for own in open_.verdicts)


def test_exact_decisions_give_exact_reasons():
    """An average that is only near is no reason of a decision that is marked exact."""
    rng = np.random.default_rng(5)
    first = rng.uniform(1, 2, 300)
    columns = {"A": first, "B": first + rng.uniform(-0.02, 0.2, 300)}
    choice = answers_of(columns).choice
    assert (choice.strength, choice.mark) == ("exact", "✓ exact guarantee")
    assert choice.brief.line == "Use A: it wins more often than B."


def test_nobody_is_named_with_one_that_another_beats():
    kind = np.repeat([0, 0, 1, 2], 100)
    columns = {
        "A": np.choose(kind, [0, 0.3, 0.25]),
        "B": np.choose(kind, [0.2, 0.15, 0]),
        "C": np.choose(kind, [0.1, 0, 0.35]),
    }
    found = answers_of(columns, low=0, high=1)
    beaten = {own.wins.facts["first"] for own in found.choice.asked
              if own.wins.facts["outcome"] == "second wins"}  # fmt: skip
    beaten |= {own.wins.facts["second"] for own in found.choice.asked
               if own.wins.facts["outcome"] == "first wins"}  # fmt: skip
    assert not beaten & set(found.choice.use)


def test_tiny_losses_do_not_vanish():
    rng = np.random.default_rng(0)
    for scale in (1e-170, 1e-300, 1.0):
        columns = {name: scale * rng.uniform(0, 1, 200) for name in "AB"}
        mean = answers_of(columns).choice.asked[0].mean.facts
        assert mean["lower"] < mean["mean"] < mean["upper"]
        assert 0 < mean["share"] < 0.1
