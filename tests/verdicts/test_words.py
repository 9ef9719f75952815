"""Sentences that somebody tried to break, each with its truth; one number for one thing."""

import math
import re

import numpy as np
import pandas as pd
import pytest

from cpp_core import Experiment
from cpp_core.method.counts import batch_errors
from cpp_core.verdicts.about import LEAST_TRIALS, About
from cpp_core.verdicts.answers import answers_from, answers_of
from cpp_core.verdicts.averages import mean_of
from cpp_core.verdicts.bounds import typical
from cpp_core.verdicts.choice import choose_of
from cpp_core.verdicts.class_sentences import own_promise
from cpp_core.verdicts.comparisons import Pair
from cpp_core.verdicts.file_lines import decision_line, losses_table
from cpp_core.verdicts.language import ordinal
from cpp_core.verdicts.next_errors import errors_ahead_of
from cpp_core.verdicts.set_words import set_words
from cpp_core.verdicts.strip import asked_strip, strip_of
from cpp_core.verdicts.summary import figures_table
from cpp_core.verdicts.texts import spent_words, training_runs
from tests.builders import results_of, tenths

N = 400
HALF = np.full(N, 0.5)


def noise(seed, spread=0.05):
    return np.random.default_rng(seed).normal(scale=spread, size=N)


def errors(k, wrong, trials=1):
    return np.repeat((np.arange(k) < wrong)[None] * 1.0, trials, axis=0)


@pytest.mark.parametrize("side", ["upper", "two-sided"])
def test_one_set_per_model_wherever_it_is_told(side):
    """Strip, table and sentence follow the side; "at most" is the one-sided bound alone."""
    results = results_of([tenths(99)] * 2)
    answers = answers_from(results, 0.1, side)
    ends = {"upper": "at most 9 nats", "two-sided": "between 0.5 and 9.5 nats"}[side]
    cell = {"upper": "9", "two-sided": "0.5 to 9.5"}[side]
    assert all(ends in own.text for own in answers.bounds)
    assert answers.strip.cards[2].text.endswith(ends)
    assert figures_table(results, 0.1, side).rows[0][1] == cell


def test_errors_are_told_as_errors_ahead():
    """Of zero-one losses each model's bound counts errors, in results and in a file."""
    columns = {"a": errors(200, 10)[0], "b": errors(200, 60)[0]}
    results = results_of([errors(200, 10), errors(200, 60)], loss="zero_one")
    for found in (answers_from(results, 0.1, "upper"), answers_of(columns, 0.1)):
        most = [batch_errors(200, wrong, 100, 0.1, "upper")[1] for wrong in (10, 60)]
        for own, n in zip(found.each_model, most, strict=True):
            assert f"makes at most {n} errors with" in own.text
        assert not any("(no error)" in own.text for own in found.each_model)
    asked = answers_of(columns, 0.1, error_rate_at_most=0.2, batch_size=50)
    assert [own.facts.get("rate") for own in asked.each_model] == [0.2, 0.2, None, None]


def test_any_number_of_errors_is_called_so_everywhere():
    about = About(low=0.0, high=1.0, errors=True)
    one_of_many = errors_ahead_of(np.ones(5), 0.1, about, "A")
    assert one_of_many.brief.line == "A: any number of errors among the next 100 cases."
    assert "none is ruled out" in one_of_many.text
    assert one_of_many.claim == "no"
    strip = asked_strip(results_of([errors(5, 5)], loss="zero_one"))
    assert strip.title == "Any number of errors."
    assert strip.text == (
        "By this trained Logistic regression among the next 100 cases: none can be ruled out."
    )
    assert strip.judged.mark == "✕ no bound inside the range"


def test_errors_after_retraining_say_so():
    results = results_of([errors(60, 6)], [errors(4, 1)], variant="z-free", loss="zero_one")
    strip = asked_strip(results)
    assert strip.text == (
        "By Logistic regression among the next 100 cases, each after retraining on 7 fresh cases, "
        "with 90 % confidence."
    )
    assert "each after retraining on 7 fresh cases" in strip.bound[0].brief.line


@pytest.mark.parametrize("greater", [False, True])
def test_a_rival_whose_average_exceeds_its_bound_is_marked(greater):
    """Ten of 400 far worse cases: beyond rank 361, and the mean is beyond the bound."""
    far = np.where(np.arange(N) % 40 == 0, 30.0, 0.0)
    sign = -1 if greater else 1
    columns = {"good": sign * (HALF + noise(1, 0.01)), "spiky": sign * (0.6 + far)}
    about = About(n_algorithms=2, greater_is_better=greater)
    card = strip_of(columns, 0.1, about).cards[2]
    mark = {own.split(":")[0]: "beyond the bound" in own for own in card.detail.split("; ")}
    assert mark["spiky"]
    losses = [np.where(np.arange(60) < 5, 30.0, 0.01)[None], tenths(60)]
    rows = figures_table(results_of(losses), 0.1, "upper").rows
    assert [row[-1].endswith(" (beyond the bound)") for row in rows] == [True, False]


def test_three_that_are_undecided_have_averages_and_a_word():
    rare = np.where(np.arange(N) % 40 == 0, 30.0, 0.01)
    columns = {name: np.roll(rare, i) + 1e-3 * noise(i) for i, name in enumerate("abc")}
    found = strip_of(columns, 0.1, About(n_algorithms=3))
    assert found.choice.outcome == "undecided"
    assert re.search(r"averages? [\d. to]+, beyond the bound for 3 of 3$", found.cards[2].detail)


def test_two_sides_of_three_are_no_one_sided_bounds():
    losses = [np.clip(0.5 + noise(seed, 0.1), 0, 1)[None] for seed in range(3)]
    card = asked_strip(results_of(losses), 0.1, "two-sided").cards[2]
    ends = sorted(np.sort(own[0])[381 - 1] for own in losses)  # floor(401 / 20) = 20 from above
    low, high = map(
        float, re.match(r"upper ends at ([\d.]+) to ([\d.]+) nats$", card.text).groups()
    )
    assert (low, high) == pytest.approx((ends[0], ends[-1]), abs=1.1e-3)
    assert asked_strip(results_of(losses), 0.1, "upper").cards[2].text.startswith("at most ")


def test_typical_is_one_of_the_bounds():
    """The median, here as everywhere: a mean of errors of 10 cases cannot occur."""
    metric = {"variant": "batch", "loss": "error_rate", "batch_size": 10}
    own = np.repeat(np.linspace(0, 1, 11)[:, None], 19, axis=1)
    losses = np.vstack([own, own, own[:2]])  # 24 trials
    results = results_of([losses], **metric)
    bound = float(np.quantile(losses[:, 0], 0.5, method="inverted_cdf"))
    assert f"is {bound:g} in the median" in typical(results, "logistic").text
    assert typical(results, "logistic").brief.lead == f"at most {bound:g}"


def test_few_trials_are_typical_of_nothing():
    for n in (LEAST_TRIALS - 1, LEAST_TRIALS):
        results = results_of([np.repeat(tenths(30), n, axis=0)] * 2)
        assert bool(answers_from(results, 0.1, "upper").typical) == (n == LEAST_TRIALS)


def test_the_headline_has_the_strength_of_the_decision():
    about = About(low=0.0, high=1.0, n_algorithms=2)
    exact = strip_of({"a": HALF, "b": HALF + 0.1 + noise(0)}, 0.1, about)
    assert exact.judged.mark == "✓ exact guarantee"
    assert decision_line(exact, 0.1).endswith(" (exact, 90 % confidence).")
    d = noise(3, 0.01) + np.where(np.arange(N) % 2, 0.4, -0.1)  # wins half, loses more
    near = strip_of({"a": 2 + HALF, "b": 2 + HALF + d}, 0.1, About(n_algorithms=2))
    assert near.choice.strength == "approximate"
    assert near.judged.mark == "≈ approximate"
    assert decision_line(near, 0.1).endswith(" (approximate, 90 % confidence).")
    open_ = strip_of({"a": HALF, "b": HALF + noise(1)}, 0.1, about)
    assert open_.judged is None  # the headline says that it is not decided
    alone = strip_of({"a": HALF}, 0.1, About(low=0.0, high=1.0))
    assert alone.judged is alone.bound[0]


def test_no_typical_bound_beside_none():
    """Where the headline has no bound, splits that have none are no card."""
    for k, there in ((8, False), (30, True)):
        strip = asked_strip(results_of([np.repeat(tenths(k), 25, axis=0)]))
        assert any(card.topic.startswith("Typical of") for card in strip.cards) == there


def test_a_bound_without_end_has_no_unit():
    about = About(unit="EUR", low=0.0)
    assert about.end(math.inf) == "no finite bound"
    assert about.bound(3.0) == "at most 3 EUR"
    assert about.between(0.0, math.inf) == "no finite bound"  # every loss is 0 or more
    assert about.between(1.0, math.inf) == "at least 1 EUR"
    assert About(high=1.0).between(-math.inf, 1.0) == "no finite bound"


def test_scores_of_which_more_is_better_are_told_so():
    """It wins 8 of 10 and loses much else: the other scores higher when it matters."""
    odd = HALF + np.where(np.arange(N) % 10 < 8, 0.01, -0.4)
    about = About(low=0.0, high=1.0, greater_is_better=True, n_algorithms=2)
    choice = choose_of({"a": odd, "b": HALF}, 0.1, about)
    assert choice.text.startswith("It depends: a wins more often than b, b scores higher when it")
    smaller = choose_of({"a": -odd, "b": -HALF}, 0.1, About(n_algorithms=2, low=-1.0, high=0.0))
    assert "b loses less when it matters" in smaller.text
    d = 1 + noise(2)
    more = mean_of(d, 0.1, Pair("a", "b", About("score", greater_is_better=True)))
    assert re.search(r"unless on one new case in 400 it scores [\d.,]+ lower", more.text)
    less = mean_of(-d, 0.1, Pair("a", "b", About()))
    assert re.search(r"unless one new case in 400 costs it [\d.,]+ more", less.text)
    assert more.facts["break_even_loss"] == pytest.approx(less.facts["break_even_loss"])


def test_a_decided_pair_needs_no_more_cases():
    """A wins over B and B over C, A and C are open; one case keeps all averages silent."""
    orders = ["ABC"] * 60 + ["CAB"] * 30 + ["BCA"] * 25
    rows = [[1e6, 3e6, 9e6], *([own.index(name) for name in "ABC"] for own in orders)]
    losses = dict(zip("ABC", np.transpose(rows).astype(float), strict=True))
    choice = choose_of(losses, 0.1, About(n_algorithms=3))
    wins = {(own.wins.facts["first"], own.wins.facts["second"]): own.wins for own in choice.asked}
    outcomes = [wins[pair].facts["outcome"] for pair in (("A", "B"), ("B", "C"), ("A", "C"))]
    assert outcomes == ["first wins", "first wins", "not decided"]
    assert choice.outcome == "undecided"
    assert choice.facts["n_needed"] == wins["A", "C"].facts["n_needed"]


def test_several_that_keep_a_limit_are_named():
    rng = np.random.default_rng(0)
    steady = {name: rng.uniform(0.3, 0.31, N) for name in "BC"}
    spiky = np.where(np.arange(N) % 5 == 0, 0.9, 0.1)
    found = answers_of({"A": spiky, **steady}, 0.1, at_most=0.5).strip
    assert found.title == "Use A."
    assert found.text.endswith("But only B and C are shown to keep your limit.") or (
        found.text.endswith("But only C and B are shown to keep your limit.")
    )


def test_one_of_something_is_one():
    found = Experiment(test_size=1)
    assert spent_words(found).endswith(" 1 other tests it.")
    assert spent_words(Experiment(test_size=2)).endswith(" 2 others test it.")
    alone = Experiment(variant="z-free", n_sets=1, n=100)
    assert training_runs(alone) == "k = 1 training run"
    frame = pd.DataFrame({"k": [1, 1], "more": [0, 0], "label": ["a", "b"]})
    assert own_promise(frame).endswith("from 1 score each.")
    frame["k"] = [1, 1200]
    assert own_promise(frame).endswith("from 1 to 1,200 scores each.")


def test_the_table_of_a_file_says_any_number():
    from cpp_core.catalog.loss_files import read_losses

    table = read_losses(b"a\n" + b"1\n" * 5)
    row = losses_table(table, answers_of(table.columns, 0.1), 0.1).rows[0]
    assert "any number of errors" in row


def test_what_if_has_words_for_every_set():
    about = About(low=0.0, unit="EUR")
    words = [set_words(about, *own, "two-sided") for own in ((0.0, 2.0), (0.0, np.inf), (2.0, 1.0))]
    assert words == ["between 0 and 2 EUR", "no finite bound", "an empty set"]
    assert set_words(about, 0.0, np.inf, "upper") == "no finite bound"


def test_thousands_are_separated():
    assert [ordinal(n) for n in (901, 1000, 1001, 12011)] == [
        "901st",
        "1,000th",
        "1,001st",
        "12,011th",
    ]
    assert "(not 75,000)" in About(m=74, n=75000).lead("SGD")
    why = answers_of({"a": np.arange(2000.0)}, 0.1).bounds[0].why
    assert "the 1,801st smallest of the 2,000 calibration losses" in why
    assert "k = 2,000" in why
