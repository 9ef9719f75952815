"""The list of panels, and that titles say what the verdicts say."""

import inspect
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from cpp_core.checks import exact_alpha
from cpp_core.figures import coverage_figures, interval_figures, symbol_figures
from cpp_core.figures.compare import PANELS, panels_of
from cpp_core.figures.interval_figures import interval_histograms, paired_difference
from cpp_core.figures.loss_figures import (
    bound_bars,
    color_of,
    difference_bars,
    loss_histograms,
)
from cpp_core.figures.next_loss import next_loss
from cpp_core.figures.panels import Panel
from cpp_core.verdicts.about import LEAST_TRIALS
from cpp_core.verdicts.answers import compared
from cpp_core.verdicts.bounds import expected_loss
from cpp_core.verdicts.language import confidence
from cpp_core.verdicts.pairs import all_pairs
from cpp_core.verdicts.summary import figures_table
from tests.builders import SIX, VARIANTS, bars, check, results_of

pytestmark = pytest.mark.usefixtures("no_warnings")

NUMBER = r"(-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?)"
TOP = 36.04365338911715


def value(text):
    return np.float32(float(text.replace(",", "")))


# The list


def test_the_list_has_every_panel_of_results():
    modules = (interval_figures, coverage_figures, symbol_figures)
    found = {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if inspect.signature(function).return_annotation is Panel
        and next(iter(inspect.signature(function).parameters)) == "results"
        and not name.startswith("_")
    }
    assert {kind.draw for kind in PANELS} == set(found.values())
    assert len({kind.key for kind in PANELS}) == len(PANELS)
    for kind in PANELS:
        names = ["results", *["first", "second"] * kind.of_pair, "alpha", "side", "dark"]
        assert list(inspect.signature(kind.draw).parameters) == names


@pytest.mark.parametrize("name", VARIANTS)
def test_every_panel_that_fits_is_drawn_under_its_key(every_variant, name):
    results = every_variant[name]
    kinds = [kind for own in panels_of(results).values() for kind in own]
    assert len(kinds) == (5 if results.experiment.kind.symbolic else 7)
    one_sided = [kind for own in panels_of(results, "upper").values() for kind in own]
    widths = {kind.key for kind in kinds} - {kind.key for kind in one_sided}
    # The width of a one-sided set is its end.
    repeated = set() if results.experiment.kind.symbolic else {"widths", "width-differences"}
    assert widths == repeated
    for kind in kinds:
        drawn = {}
        for side in ("two-sided", "upper"):
            asked = kind.arguments(results.algorithms, 0.1, side)
            panel = kind.draw(results, *asked, dark=True)
            assert panel.key == kind.key
            drawn[asked] = panel.figure.to_json()
        assert len(drawn) == 1 + kind.follows_side


def test_what_is_alone_has_no_pair():
    panels = panels_of(results_of([np.ones((1, 30))]))
    assert "Who wins" not in panels
    assert not any(kind.of_pair for kinds in panels.values() for kind in kinds)


# Titles of pairs


def random_world(rng, K, k, **settings):
    """Losses of K algorithms that differ by nothing, by noise, by a shift, or by much."""
    base, spread = rng.random((2, k)), rng.choice([0.0, 0.02, 0.5])
    shifts = rng.choice([0.0, 0.05, 0.2], size=K)
    losses = [
        np.clip(0.4 * base + s + spread * 0.3 * rng.random((2, k)), 0, 1).round(2) for s in shifts
    ]
    results = results_of(losses, losses, **settings)
    expected = dict(zip(results.algorithms, shifts + 0.2, strict=True))
    for entry, own in results.arrays.items():
        first, *second = (expected[name] for name in entry.split(" minus "))
        for ends in {"calibration_ends", "test_ends"} & set(own):
            own[ends][:] = first - sum(second)  # what a good regression predicts
    return results


def said(title):
    """The outcome that a title states, with the labels that it names."""
    for words, outcome in (("better than", "better"), ("not worse than", "not worse")):
        if found := re.match(
            rf"(.+?) (?:will be|is) {words} (.+?) (?:on the next|at the one)", title
        ):
            return outcome, found[1], found[2]
    if "exactly as good as" in title:
        return "equal", "", ""
    ends = {
        "go either way": "either",
        "too little data to tell of the next": "too little data",
        "set is empty": "empty",
    }
    return next(outcome for end, outcome in ends.items() if title.endswith(end)), "", ""


@pytest.mark.parametrize("K", [2, 3, 6])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"variant": "z-free"},
        {"variant": "z-fixed"},
        {"variant": "batch", "loss": "accuracy", "batch_size": 4},
    ],
)
def test_the_title_of_a_pair_says_what_its_sentence_says(K, settings):
    rng = np.random.default_rng(K)
    seen = set()
    for k in (12, 120, 400) * (5 if K < 6 else 2):
        results = random_world(rng, K, k, **settings)
        alpha = float(rng.choice([0.1, 0.3]))
        both = compared(results, alpha).verdicts[:2] if K == 2 else ()
        half = exact_alpha(alpha) / 2  # wins are those of the decision
        pairs = [all_pairs(results, alpha).pairs, all_pairs(results, half, "wins").pairs]
        for i, (first, second) in enumerate(combinations(results.algorithms, 2)):
            next_, wins = (verdicts[i] for verdicts in pairs)
            assert not both or both == (next_, wins)
            panel = paired_difference(results, first, second, alpha)
            outcome, *labels = said(panel.title)
            facts = next_.facts
            expected = facts["outcome"].removeprefix("first ").removeprefix("second ")
            assert outcome == expected
            seen.add(outcome)
            if labels[0]:
                order = ["first", "second"]
                order = order if facts["outcome"].startswith("first") else order[::-1]
                assert labels == [facts[name] for name in order]
                level = re.search(r"with ([\d.]+ %) confidence", panel.title)[1]
                assert f"probability at least {level}" in next_.text
            if found := re.search(rf"{NUMBER} of {NUMBER} held-out", panel.title):
                most = max(wins.facts["wins"], wins.facts["losses"])
                assert (value(found[1]), value(found[2])) == (most, wins.facts["k"])
                assert f"held-out {'group' if 'z-' in str(settings) else ''}" in panel.title
            shares = [bar.name for bar in panel.figure.data if bar.xaxis == "x2"]
            counts = [f"{wins.facts[name]} of {wins.facts['k']}" for name in ("wins", "ties")]
            assert [name.split(": ")[1] for name in shares[:2]] == counts
            drawn = [bar for bar in panel.figure.data if bar.xaxis == "x" and bar.type == "bar"]
            if outcome == "either":
                solid = [bar for bar in drawn if str(bar.marker.color).startswith("#")]
                ends = [solid[0].base[0], solid[-1].base[0] + solid[-1].x[0]]
                assert ends == pytest.approx([facts["lower"], facts["upper"]], abs=1e-6)
            told = f"exact {confidence(wins.facts['alpha'])} interval"
            told = told if wins.facts["differing"] else "The two are equal at all of"
            assert told in panel.caption
    assert len(seen) > 2


# Printed bounds


TRIALS = 21
"""Enough for a typical bound."""


def tops(rng, K, k=60):
    """Log losses of which many lie at the end of the range, or just below it."""
    near = rng.choice([TOP, 36.02, 36.0436, 0.3, 1.7, 0.04999], size=(K, TRIALS, k))
    return [np.minimum(own + rng.choice([0, 1e-5], size=own.shape), TOP) for own in near]


def check_upper(text, bound):
    """What is printed is no smaller than the bound, and no greater than the range's end."""
    if np.float32(bound) == np.float32(TOP):
        assert text == "36.04"
    else:
        assert np.float32(bound) <= value(text) < np.float32(TOP)


@pytest.mark.parametrize("K", [1, 2, 3, 4, 6])
def test_printed_bounds_are_on_the_safe_side(K):
    rng = np.random.default_rng(K)
    for alpha in (0.05, 0.1, 0.3, 0.5):
        results = results_of(tops(rng, K))
        frame = results.at(alpha, "upper")
        by_name = {name: own["upper"].to_numpy() for name, own in frame.groupby("algorithm")}
        panel = next_loss(results, alpha, "upper")
        drawn = [note.text for note in panel.figure.layout.annotations]
        texts = re.findall(rf"at most {NUMBER}", panel.alt)
        for name, text in zip(SIX[:K], texts, strict=True):
            check_upper(text, by_name[name][0])
            assert f"<b>{text}</b>" in drawn  # the same digits beside the line
            sentence = expected_loss(results, name, alpha)
            if sentence.facts["outcome"] == "bound":
                assert f"at most {text} nats" in sentence.text  # and in the sentence
        caption = interval_histograms(results, alpha, "upper").caption
        printed = re.findall(NUMBER, caption.split("Median upper end: ")[1])
        rows = figures_table(results, alpha, "upper").rows
        for name, text, row in zip(SIX, printed, rows, strict=False):
            middle = np.sort(by_name[name])[TRIALS // 2]
            check_upper(text, middle)
            assert row[2] == text
            own, _, word = row[1].partition(" (")
            check_upper(own, by_name[name][0])
            assert bool(word) == (by_name[name][0] == results.experiment.criterion.high)


def test_printed_bounds_of_a_metric_are_rounded_down():
    rng = np.random.default_rng(0)
    metric = {"variant": "batch", "loss": "accuracy", "batch_size": 7}
    for _ in range(20):
        results = results_of([rng.integers(0, 8, size=(1, 40)) / 7 for _ in range(2)], **metric)
        frame = results.at(0.1, "upper")
        alt = next_loss(results, 0.1, "upper").alt
        for text, bound in zip(re.findall(rf"at least {NUMBER}", alt), frame["lower"], strict=True):
            assert 0 <= value(text) <= bound


def test_printed_bounds_of_a_file_of_losses():
    rng = np.random.default_rng(1)
    for _ in range(20):
        columns = {name: rng.choice([0.98765, 0.9996, 0.3, 1.0], size=40) for name in "abc"}
        panel = bound_bars(columns, 0.1, low=0.0, high=1.0)
        texts = re.findall(rf"at most {NUMBER}", panel.alt)
        for text, bound in zip(texts, panel.data["bound"], strict=True):
            assert bound <= float(text) <= 1
            assert (float(text) == 1) == (bound == 1)
        differences = difference_bars(columns, 0.1, low=0.0, high=1.0)
        solid = [bar.hovertemplate for bar in differences.figure.data if bar.type == "bar"]
        for hover in solid:
            low, high = re.search(rf"between {NUMBER} and {NUMBER}", hover).groups()
            assert -1 <= float(low) <= float(high) <= 1


def test_one_table_of_figures(two):
    table = figures_table(two, 0.1)
    summary = two.summary(0.1)
    assert table.names == two.algorithms
    assert table.head == ("Algorithm", "Interval of this split", "Typical interval", "Average")
    for name, row in zip(two.algorithms, table.rows, strict=True):
        found, arrays = summary[name], two.arrays[name]
        low, high = map(value, row[1].split(" to "))
        own = two.at(0.1).query("trial == 0").set_index("algorithm").loc[name]
        assert low <= own["lower"] <= own["upper"] <= high
        low, high = map(value, row[2].split(" to "))
        assert low <= np.float32(found["lower_median"]) < np.float32(found["upper_median"]) <= high
        held_out = np.concatenate([arrays["calibration"][0], arrays["test"][0]])
        assert value(row[3]) == pytest.approx(held_out.mean(), rel=0.005)
    assert "Typical: the median of 200 splits." in table.caption
    one_sided = figures_table(two, 0.1, "upper")
    assert one_sided.head[1:3] == ("Bound of this split", "Typical bound")
    few = results_of([np.zeros((LEAST_TRIALS - 1, 5))] * 2)  # nothing is typical of few trials
    assert figures_table(few, 0.1, "upper").caption == (
        "This data set was fixed beforehand and carries the promise."
    )
    one = results_of([np.zeros((1, 5))] * 2)  # one trial has no other, five cases no bound
    for own in (few, one):
        assert figures_table(own, 0.1, "upper").head[1:] == (
            "Bound of this data set (nats)",
            "Average (nats)",
        )
    assert figures_table(one, 0.1, "upper").rows[0][1] == "36.04 (the end of the range)"
    later = replace(two, trials=two.trials + 1, _readers={})  # trial 0 is not there yet
    assert figures_table(later, 0.1).head == ("Algorithm", "Typical interval")


def test_the_table_of_errors():
    errors = np.zeros((1, 200))
    errors[0, :10] = 1
    table = figures_table(results_of([errors, 1 - errors], [errors] * 2, loss="zero_one"), 0.1)
    assert table.head[1:] == ("Error rate", "Next 100 cases")  # a bound would be 0 or 1
    assert table.rows[0][1:] == ("5 %", "1 to 10 errors")  # batch_errors(200, 10, 100, .1)
    assert table.rows[1][1] == "50 %"  # 190 of 200 calibration cases, 10 of 200 test cases


def test_the_table_counts_infinite_ends_and_knows_symbols(every_variant):
    results = results_of([np.ones((TRIALS, 30))] * 2)
    for arrays in results.arrays.values():
        arrays["calibration"][0] = np.inf
    squared = replace(
        results.experiment, dataset="growing-noise", algorithms=("knn", "dummy"), loss=None
    )
    arrays = dict(zip(squared.algorithms, results.arrays.values(), strict=True))
    moved = replace(results, experiment=squared, arrays=arrays, _readers={})
    rows = figures_table(moved, 0.1, "upper").rows
    assert rows[0][1:3] == ("no finite bound", "1 (1 of 21 not finite)")
    kinds = figures_table(every_variant["symbolic"], 0.1)
    assert kinds.head[1] == "Kinds of answer in a set"
    assert kinds.caption == "Means over 2 splits."


def test_charts_of_scores_point_the_other_way():
    rng = np.random.default_rng(0)
    columns = {"good": rng.uniform(0.8, 1, 99), "bad": rng.uniform(0, 0.2, 99)}
    scores = {"low": 0.0, "high": 1.0, "greater_is_better": True}
    panel = bound_bars(columns, 0.1, 0.5, **scores)
    check(panel)
    expected = [-np.sort(-own)[89] for own in columns.values()]  # the 90th largest of 99
    np.testing.assert_array_equal(panel.data["bound"], expected)
    assert "good at least 0.8" in panel.alt
    counts = loss_histograms(columns, 0.1, **scores).title
    assert counts == "9 of 99 scores of good and 9 of 99 scores of bad lie below the bound"
    differences = difference_bars(columns, 0.1, **scores)
    assert differences.title.startswith("1 of 1 difference on one side")
    assert "Right of zero the first is better" in differences.caption
    (bar,) = bars(differences)
    assert bar["marker"]["color"] == color_of(columns, "good")
