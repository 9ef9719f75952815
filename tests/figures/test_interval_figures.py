"""Figures: their numbers against plain computations, their titles in every branch."""

import re

import numpy as np
import pytest
from scipy import stats

from cpp_core import ALGORITHMS, Experiment, Results
from cpp_core.figures.coverage_figures import coverage_histograms
from cpp_core.figures.interval_figures import (
    interval_histograms,
    paired_difference,
    width_differences,
    width_histograms,
)
from cpp_core.figures.next_loss import next_loss
from cpp_core.trials.one_trial import run_block
from cpp_core.verdicts.about import LEAST_TRIALS
from cpp_core.verdicts.language import number, percent
from tests.builders import bars, check, drawn, infinite, made

pytestmark = pytest.mark.usefixtures("no_warnings")


def test_infinite_ends_are_told_and_drawn():
    results = infinite()
    panel = next_loss(results, 0.05, "upper")
    wanted = "no finite bound: 9 more calibration cases would give one"
    assert panel.title == f"With 95 % confidence there is {wanted}"
    assert "<b>no finite bound</b>" in [note.text for note in panel.figure.layout.annotations]
    arrow = [t for t in panel.figure.data if t.type == "scatter" and t.marker.symbol]
    assert "triangle-right" in [trace.marker.symbol for trace in arrow]
    histogram = interval_histograms(results, 0.05, "upper")
    assert histogram.title == f"There is {wanted}"
    assert "4 infinite values" in histogram.caption
    assert width_histograms(results, 0.05, "upper").title == f"There is {wanted}"
    certain = coverage_histograms(results, 0.05, "upper")
    assert "No curve is drawn" in certain.caption
    assert not [trace for trace in certain.figure.data if trace.type == "scatter"]
    assert "because there is no finite bound" in certain.title
    # A bounded loss has the end of its range instead, and one more score is singular.
    bounded = Experiment(dataset="iris", algorithms=("logistic",), n=36, test_size=50)
    block, _ = run_block(bounded, 0, range(2))
    words = next_loss(Results(bounded, 0, np.arange(2), block, 2), 0.1).title
    assert "no bound but the end of the range: 1 more calibration case would give one" in words


def test_interval_histograms_count_every_trial(two):
    panel = interval_histograms(two, 0.1)
    frame = two.at(0.1)
    for name in two.algorithms:
        own = frame[frame["algorithm"] == name]
        for quantity in ("lower", "upper", "mean_test_loss"):
            rows = panel.data.query("algorithm == @name and quantity == @quantity")
            assert rows["trials"].sum() == 200
            for row in rows.itertuples():
                a, b = row[3], row[4]
                inside = own[quantity].between(a, b, inclusive="left").sum()
                assert row.trials == inside
    hatched = [bar for bar in bars(panel) if bar.marker.pattern.shape and not bar.showlegend]
    shapes = {bar.marker.pattern.shape for bar in hatched if bar.showlegend is False}
    assert shapes == {ALGORITHMS[name].hatch for name in two.algorithms}
    ends = frame.pivot(index="trial", columns="algorithm", values="upper")
    share = (ends["ridge"] < ends["knn"]).mean()
    assert panel.title == f"Ridge has the lowest upper end in {percent(share)} of the trials"
    ranges = {tuple(axis.range) for axis in panel.figure.select_yaxes()}
    assert len(ranges) == 1
    assert len({tuple(axis.range) for axis in panel.figure.select_xaxes()}) == 1


def test_titles_with_ties_and_alone():
    same = made(np.ones((2, 30, 39)), np.ones((2, 30, 5)))
    assert (
        interval_histograms(same, 0.1).title
        == "The lowest upper end is shared in 100 % of the trials"
    )
    assert (
        width_histograms(same, 0.1).title == "The narrowest sets are a tie in 100 % of the trials"
    )
    widths = width_differences(same, "ridge", "knn", 0.1)
    assert widths.title == "The sets are equally wide in 100 % of the trials"
    assert [bar.y[0] for bar in bars(widths, name="equally wide")] == [30]
    alone = drawn(factors=(1.0,), trials=8)
    upper = np.sort(alone.at(0.1)["upper"].to_numpy())
    a, b = (np.quantile(upper, q, method="nearest") for q in (0.25, 0.75))
    a, b = number(a, "down"), number(b, "up")
    assert (
        interval_histograms(alone, 0.1).title
        == f"Half of Ridge's upper ends lie between {a} and {b}"
    )
    assert width_histograms(alone, 0.1).title.startswith("Half of Ridge's widths lie between")


def test_widths_trial_by_trial(two):
    panel = width_differences(two, "ridge", "knn", 0.1)
    frame = two.at(0.1).pivot(index="trial", columns="algorithm", values="mean_width")
    d = frame["ridge"] - frame["knn"]
    assert panel.title == f"Ridge's sets are narrower in {percent((d < 0).mean())} of the trials"
    left, right = bars(panel)
    assert sum(left.y) == (d < 0).sum()
    assert sum(right.y) == (d > 0).sum()
    assert max(left.x) < 0 < min(right.x)
    flipped = width_differences(two, "knn", "ridge", 0.1)
    assert flipped.title == panel.title
    assert "better" not in panel.title
    medians = {name: frame[name].quantile(0.5, interpolation="lower") for name in frame}
    assert width_histograms(two, 0.1).title == (
        f"Median width: Ridge {number(medians['ridge'], 'up')} and Nearest neighbours "
        f"{number(medians['knn'], 'up')}"
    )
    few = width_differences(drawn(trials=5, factors=(1.0, 9.0)), "ridge", "knn", 0.1)
    assert few.title == "Ridge's sets are narrower in 5 of 5 trials"
    three = width_histograms(drawn(factors=(1.0, 5.0, 5.0)), 0.1)
    assert three.title == "Ridge's sets are the narrowest in 100 % of the trials"


def test_paired_difference(two):
    panel = paired_difference(two, "ridge", "knn", 0.1)
    first = two.paired("ridge", "knn", 0.1).iloc[0]
    solid = [bar for bar in bars(panel, xaxis="x") if str(bar.marker.color).startswith("#")]
    ends = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in solid]
    assert ends[0][0] == pytest.approx(first["lower"], rel=1e-6)
    assert ends[0][1] == ends[1][0] == 0
    assert ends[1][1] == pytest.approx(first["upper"], rel=1e-6)
    colors = [ALGORITHMS[name].color for name in ("ridge", "knn")]
    assert [bar.marker.color for bar in solid] == colors
    one, other = two.arrays["ridge"], two.arrays["knn"]
    wins = sum(int((one[part][0] < other[part][0]).sum()) for part in ("calibration", "test"))
    shares = bars(panel, xaxis="x2")
    assert [bar.x[0] for bar in shares] == pytest.approx(
        [100 * wins / 69, 0, 100 - 100 * wins / 69]
    )
    exact = stats.binomtest(wins, 69).proportion_ci(0.95, "exact")  # alpha / 2, as in the decision
    low, high = percent(exact.low, "down"), percent(exact.high, "up")
    assert f"exact 95 % interval {low} to {high}" in panel.caption
    assert (
        panel.title == f"Ridge is better at {wins} of 69 held-out cases; the next may go either way"
    )


@pytest.mark.parametrize("trials", [LEAST_TRIALS - 1, LEAST_TRIALS])
def test_typical_ends_stand_beside_their_fade(trials):
    results = drawn(trials=trials)
    panel = paired_difference(results, "ridge", "knn", 0.1)
    check(panel)
    frame = results.paired("ridge", "knn", 0.1)
    ends = [np.quantile(frame[end], 0.5, method="inverted_cdf") for end in ("lower", "upper")]
    notes = [note.text for note in panel.figure.layout.annotations]
    told = [text for text in notes if text.startswith("typical")]
    fades = [bar for bar in bars(panel, xaxis="x") if bar.customdata is not None]
    if trials < LEAST_TRIALS:  # few trials show nothing typical, and no spread
        assert not told
        assert not fades
        assert "Fade" not in panel.caption
        return
    assert fades
    low, high = map(float, re.match(r"typical: between (\S+) and (\S+)$", told[0]).groups())
    assert low <= ends[0] < ends[1] <= high
    assert (low, high) == pytest.approx(ends, rel=0.01)


def test_titles_of_pairs():
    def title(a, b, side="two-sided"):
        shape = np.ones((3, 39)), np.ones((3, 10))
        results = made(*([a * part, b * part] for part in shape))
        check(panel := paired_difference(results, "ridge", "knn", 0.1, side))
        return panel.title

    sure = "on the next case, with 90 % confidence"
    assert title(1, 2) == f"Ridge will be better than Nearest neighbours {sure}"
    assert title(2, 1) == f"Nearest neighbours will be better than Ridge {sure}"
    assert title(1, 1) == f"Ridge will be exactly as good as Nearest neighbours {sure}"
    for a, b in ((1, 2), (2, 1), (1, 1)):  # judged on both sides, whatever the others show
        assert title(a, b, "upper") == title(a, b)
    losses = np.ones((2, 2, 39)), np.tile([[[1.0, 2.0]], [[2.0, 1.0]]], (1, 2, 1))
    losses[0][0, :, :9] = 0
    less = paired_difference(made(*losses), "ridge", "knn", 0.1).title
    assert less == f"Ridge will be not worse than Nearest neighbours {sure}"
    more = paired_difference(made(*losses), "knn", "ridge", 0.1).title
    assert more == less
    losses[0][1, :, 9:18] = 0
    even = paired_difference(made(*losses), "ridge", "knn", 0.1)
    assert even.title == (
        "Neither is better more often: 10 of 41 held-out cases each; the next may go either way"
    )
    few = paired_difference(made(losses[0][:, :, :18], losses[1]), "ridge", "knn", 0.1)
    assert few.title.endswith("held-out cases each; too little data to tell of the next")


def test_greater_is_better_pairs(every_variant):
    results = every_variant["batch"]
    first, second = results.algorithms
    panel = paired_difference(results, first, second, 0.1, "upper")
    assert "above 0" in panel.figure.layout.xaxis.title.text
    better = [
        results.arrays[first][part][0] > results.arrays[second][part][0]
        for part in ("calibration", "test")
    ]
    share = 100 * np.concatenate(better).mean()
    assert bars(panel, xaxis="x2")[0].x[0] == pytest.approx(share)
