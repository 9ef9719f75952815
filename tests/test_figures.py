"""Figures: their numbers against plain computations, their titles in every branch."""

import json
import math
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from cpp_core import ALGORITHMS, Experiment, Results, run
from cpp_core.case_figures import CaseBar, ClassBar, alpha_sweep, case_bars, class_bars, symbol_bars
from cpp_core.coverage_figures import (
    calibration_curve,
    cover_rates,
    coverage_histograms,
    tied_share,
)
from cpp_core.figures import (
    interval_histograms,
    overview_bars,
    paired_difference,
    width_differences,
    width_histograms,
)
from cpp_core.histograms import bin_edges
from cpp_core.panels import GREY, loss_label, number, wants_log
from cpp_core.sentences import percent
from cpp_core.trials import run_block
from tests.test_trials import VARIANTS, experiment_of

SIX = ("logistic", "knn", "random-forest", "naive-bayes", "dummy", "svm-rbf")
ALL = (
    overview_bars,
    interval_histograms,
    width_histograms,
    cover_rates,
    coverage_histograms,
    calibration_curve,
)
PAIRS = (width_differences, paired_difference)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def made(calibration, test):
    """Results with losses that a test chooses: (algorithms, trials, k) and (..., T)."""
    names = ("ridge", "knn", "dummy")[: len(calibration)]
    n_test = np.shape(test)[2]
    n = 2 * np.shape(calibration)[2]
    experiment = Experiment(dataset="diabetes", algorithms=names, n=n, test_size=n_test)
    trials = np.shape(calibration)[1]
    arrays = {
        name: {
            "calibration": np.asarray(calibration[i], dtype=np.float32),
            "test": np.asarray(test[i], dtype=np.float32),
            "failed": np.zeros(trials, dtype=np.int32),
            "failure": np.zeros(trials, dtype="S200"),
        }
        for i, name in enumerate(names)
    }
    return Results(experiment, 0, np.arange(trials), arrays, trials)


def drawn(k=39, trials=200, n_test=30, factors=(1.0, 2.0)):
    """Independent exponential losses with the given means."""
    rng = np.random.default_rng(1)
    calibration = [factor * rng.exponential(size=(trials, k)) for factor in factors]
    return made(calibration, [f * rng.exponential(size=(trials, n_test)) for f in factors])


@pytest.fixture(scope="module")
def two():
    return drawn()


@pytest.fixture(scope="module")
def every_variant():
    found = {}
    for name in VARIANTS:
        experiment = experiment_of(name, algorithms=("dummy", "naive-bayes"))
        block, _ = run_block(experiment, 0, range(2))
        found[name] = Results(experiment, 0, np.arange(2), block, 2)
    return found


def infinite(algorithms=("ridge",), trials=4):
    experiment = Experiment(dataset="diabetes", algorithms=algorithms, n=20, test_size=50)
    block, _ = run_block(experiment, 0, range(trials))
    return Results(experiment, 0, np.arange(trials), block, trials)


def check(panel):
    """What holds for every panel: strict JSON, small, nothing left to a theme, words in hovers."""
    content = panel.figure.to_json()
    assert len(content) < 30_000
    figure = json.loads(content, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    assert "bdata" not in content.replace(json.dumps(figure["layout"].get("template", {})), "")
    for trace in figure["data"]:
        assert None not in [*trace.get("x", []), *trace.get("y", [])]
        assert "<extra></extra>" in trace.get("hovertemplate", "<extra></extra>")
    layout = figure["layout"]
    assert not {"title", "font", "paper_bgcolor", "plot_bgcolor"} & set(layout)
    assert panel.title
    assert panel.caption.endswith((".", "law."))
    assert panel.alt
    assert isinstance(panel.data, pd.DataFrame)
    assert "nan" not in (panel.title + panel.caption + panel.alt).lower().replace("nanc", "")
    return figure


def bars(panel, **wanted):
    return [
        trace
        for trace in panel.figure.data
        if trace.type == "bar" and all(trace[name] == value for name, value in wanted.items())
    ]


def test_numbers_and_shares_as_people_read_them():
    shown = {
        0.75941: "0.759",
        26.04: "26",
        1234.5: "1,230",
        99999: "100,000",
        123456: "1.23e+05",
        0.00123: "0.00123",
        0.0000123: "1.23e-05",
        -0.5: "-0.5",
        -0.0: "0",
        math.inf: "no finite bound",
        -math.inf: "no finite bound",
    }
    for value, text in shown.items():
        assert number(value) == text
    assert [percent(x) for x in (0, 0.0001, 0.902, 0.9, 0.9999, 1)] == [
        *("0 %", "under 0.1 %", "90.2 %", "90 %", "over 99.9 %", "100 %")
    ]


def test_labels_of_losses():
    digits = Experiment.preset("digits-candidate")
    assert loss_label(digits) == "log loss (nats, 0 is perfect)"
    diabetes = Experiment(dataset="diabetes", algorithms=("ridge",))
    assert loss_label(diabetes) == "squared error (progression score squared, 0 is perfect)"
    absolute = replace(diabetes, loss="absolute_error")
    assert loss_label(absolute) == "absolute error (progression score, 0 is perfect)"
    assert loss_label(Experiment.preset("quadnoise-candidate")) == "squared error (0 is perfect)"
    assert loss_label(experiment_of("batch")) == "accuracy of 5 cases (1 is perfect)"


def test_log_axis_only_over_more_than_three_decades():
    assert not wants_log([1, 1000], None)
    assert wants_log([1, 1001], None)
    assert not wants_log([0, 1, 1e6], None)
    assert not wants_log([1, 1e6], False)
    assert wants_log([0, 1], True)
    assert not wants_log([0, -1], True)
    assert not wants_log([math.inf], None)


def test_bin_edges_are_shared_round_and_leave_out_far_outliers():
    rng = np.random.default_rng(0)
    values = rng.normal(5, 1, 1000)
    edges = bin_edges([values, values + 1], False)
    assert edges[0] <= values.min()
    assert edges[-1] >= values.max() + 1
    step = np.diff(edges)
    np.testing.assert_allclose(step, step[0])
    assert float(f"{step[0]:.1g}") == pytest.approx(step[0])
    far = bin_edges([np.append(values, 1e9)], False)
    assert far[-1] < 20
    for same in (0.0, 3.0, -1e-8):
        assert np.histogram([same] * 5, bin_edges([[same] * 5], False))[0].sum() == 5


@pytest.mark.parametrize("side", ["two-sided", "upper"])
@pytest.mark.parametrize("name", VARIANTS)
def test_every_panel_of_every_variant(every_variant, name, side):
    results = every_variant[name]
    symbolic = results.experiment.variant == "symbolic"
    colors = [ALGORITHMS[a].color for a in results.algorithms]
    panels = []
    panels += [make(results, 0.1, side) for make in (ALL[2:] if symbolic else ALL)]
    panels += [make(results, *results.algorithms, 0.1, side) for make in PAIRS if not symbolic]
    panels += [symbol_bars(results, 0.1)] if symbolic else []
    assert len({panel.key for panel in panels}) == len(panels)
    for panel in panels:
        check(panel)
        content = panel.figure.to_json()
        for color in colors:
            red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
            one_sided = panel.key in ("paired", "width-differences")
            assert one_sided or color in content or f"rgba({red},{green},{blue}" in content


def test_the_same_results_give_the_same_panel(two):
    for make in ALL:
        one, again = make(two, 0.1), make(drawn(), 0.1)
        assert one.figure.to_json() == again.figure.to_json()
        assert (one.title, one.caption, one.alt) == (again.title, again.caption, again.alt)


def test_six_algorithms_one_trial_and_all_infinite():
    experiment = Experiment(dataset="breast-cancer", algorithms=SIX)
    block, _ = run_block(experiment, 0, [0])
    six = Results(experiment, 0, np.arange(1), block, 1)
    for results, alpha in ((six, 0.1), (infinite(), 0.05), (infinite(("ridge", "knn")), 0.05)):
        for side in ("two-sided", "upper"):
            panels = [make(results, alpha, side) for make in ALL]
            if len(results.algorithms) > 1:
                panels += [make(results, *results.algorithms[:2], alpha, side) for make in PAIRS]
            for panel in panels:
                check(panel)
    assert "6 bounds from" in overview_bars(six, 0.1, "upper").title


def test_a_thousand_trials_of_digits_stay_small():
    results = run(Experiment.preset("digits-candidate"), 1000)
    for make in ALL:
        check(make(results, 0.1))
    for make in PAIRS:
        check(make(results, "svm-lin", "svm-rbf", 0.1))


def test_overview_is_the_set_of_the_first_trial(two):
    frame = two.at(0.1)
    panel = overview_bars(two, 0.1)
    own = frame[frame["algorithm"] == "ridge"]
    first = own.iloc[0]
    solid = [bar for bar in bars(panel) if bar.marker.color == ALGORITHMS["ridge"].color]
    assert len(solid) == 1
    assert solid[0].base[0] == pytest.approx(first["lower"], rel=1e-6)
    assert solid[0].base[0] + solid[0].x[0] == pytest.approx(first["upper"], rel=1e-6)
    fades = [bar for bar in bars(panel) if str(bar.marker.color).endswith(("0.16)", "0.34)"))]
    assert len(fades) == 8
    wide = [bar for bar in fades if bar.y[0] == 0 and str(bar.marker.color).endswith("0.16)")][1]
    expected = np.sort(own["upper"].to_numpy())[[round(0.05 * 199), round(0.95 * 199)]]
    assert [wide.base[0], wide.base[0] + wide.x[0]] == pytest.approx(expected.tolist(), rel=1e-6)
    tick = next(trace for trace in panel.figure.data if trace.type == "scatter")
    assert tick.marker.line.color == GREY
    assert tick.x[0] == pytest.approx(own["mean_test_loss"].mean(), rel=1e-6)
    assert f"Ridge between {number(first['lower'])} and {number(first['upper'])}" in panel.title
    assert "90 % confidence each" in panel.title
    assert "the set of trial 0, which carries the promise" in panel.caption
    later = overview_bars(replace(two, trials=two.trials + 3), 0.1)
    assert "the set of trial 3, until trial 0 is there" in later.caption
    upper = overview_bars(two, 0.1, "upper")
    bound = two.at(0.1, "upper").query("algorithm == 'ridge'")["upper"].iloc[0]
    assert f"Ridge at most {number(bound)}" in upper.title


def test_overview_of_moving_sets_is_typical(every_variant):
    results = every_variant["z-variable"]
    panel = overview_bars(results, 0.1)
    ends = np.sort(results.at(0.1).query("algorithm == 'naive-bayes'")["upper"])
    assert panel.data["upper"][1] == pytest.approx(ends[0])  # the lower one of two
    assert panel.title.startswith("Typically")
    assert "promise" not in panel.caption


def test_larger_is_better_is_at_least(every_variant):
    panel = overview_bars(every_variant["batch"], 0.1, "upper")
    assert "at least" in panel.title


def test_infinite_ends_are_told_and_drawn():
    results = infinite()
    panel = overview_bars(results, 0.05, "upper")
    assert "no finite bound" in panel.title
    wanted = "no finite bound: 9 more calibration cases would give one"
    assert wanted in panel.caption
    assert wanted.replace(": ", ":<br>") == panel.figure.layout.annotations[0].text
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
    words = overview_bars(Results(bounded, 0, np.arange(2), block, 2), 0.1).caption
    assert "no bound but the end of the range: 1 more calibration case would give one" in words


def test_failed_runs_are_told():
    results = drawn(trials=3)
    for arrays in results.arrays.values():
        arrays["calibration"][:] = np.inf
        arrays["test"][:, 0] = np.inf
    panel = overview_bars(results, 0.1, "upper")
    check(panel)
    assert "failed training" in panel.figure.layout.annotations[0].text
    for make in ALL:
        check(make(results, 0.1))


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
    a, b = (number(np.quantile(upper, q, method="nearest")) for q in (0.25, 0.75))
    assert (
        interval_histograms(alone, 0.1).title == f"Ridge's upper ends: half lie between {a} and {b}"
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
    assert width_histograms(two, 0.1).title == panel.title
    few = width_differences(drawn(trials=5, factors=(1.0, 9.0)), "ridge", "knn", 0.1)
    assert few.title == "Ridge's sets are narrower in 5 of 5 trials"
    three = width_histograms(drawn(factors=(1.0, 5.0, 5.0)), 0.1)
    assert three.title == "Ridge's sets are the narrowest in 100 % of the trials"


def test_cover_rates_against_the_exact_probability(two):
    panel = cover_rates(two, 0.1)
    frame = two.at(0.1)
    for row, name in enumerate(two.algorithms):
        hits = int(frame[frame["algorithm"] == name]["new_loss_covered"].sum())
        exact = stats.binomtest(hits, 200).proportion_ci(0.95, "exact")
        dot = next(t for t in panel.figure.data if t.marker.color == ALGORITHMS[name].color)
        assert dot.y == (row,)
        assert dot.x[0] == pytest.approx(hits / 2)
        assert dot.x[0] - dot.error_x.arrayminus[0] == pytest.approx(100 * exact.low)
        assert dot.x[0] + dot.error_x.array[0] == pytest.approx(100 * exact.high)
    assert "36/40 = 90 %" in panel.caption
    assert panel.title == "Both cover rates agree with the exact 90 %"
    # Test losses that lie all outside, then all inside: the law is refuted, and the title says so.
    broken = drawn()
    for arrays in broken.arrays.values():
        arrays["test"][:] = 1e9
    title = cover_rates(broken, 0.1).title
    assert title == (
        "2 of 2 cover rates disagree with the exact 90 %: Ridge's, 0 %, and "
        "Nearest neighbours', 0 %"
    )
    for arrays in broken.arrays.values():
        arrays["test"][:] = np.median(arrays["calibration"])
    assert cover_rates(broken, 0.1).title.startswith("2 of 2 cover rates disagree")


def test_with_ties_the_probability_is_a_lower_bound():
    tied = made(np.ones((1, 40, 39)), np.ones((1, 40, 9)))
    assert tied_share(tied, "ridge", 0.1, "upper") == 1
    panel = cover_rates(tied, 0.1, "upper")
    assert panel.title == "The cover rate agrees with at least 90 %"
    assert "a lower bound where scores tie" in panel.caption
    curve = coverage_histograms(tied, 0.1, "upper")
    assert "expected at least 90 %" in curve.title
    assert curve.figure.data[-1].name == "law without ties, a lower bound"
    scores = np.tile(np.arange(1.0, 40), (1, 4, 1))
    assert tied_share(made(scores, np.ones((1, 4, 9))), "ridge", 0.1, "two-sided") == 0
    scores[0, 0, 37] = scores[0, 0, 38]  # rank 38 is the upper end
    assert tied_share(made(scores, np.ones((1, 4, 9))), "ridge", 0.1, "two-sided") == 0.25


def test_coverage_bins_hold_whole_counts_and_their_law(two):
    panel = coverage_histograms(two, 0.1)
    law = stats.betabinom(30, *two.coverage_law(0.1))
    frame = two.at(0.1)
    for name in two.algorithms:
        hits = (frame[frame["algorithm"] == name]["test_coverage"] * 30).round()
        for row in panel.data[panel.data["algorithm"] == name].itertuples():
            inside = range(row.fewest, row.most + 1)
            assert row.trials == hits.isin(list(inside)).sum()
            assert row.expected == pytest.approx(200 * sum(law.pmf(j) for j in inside))
    band = [shape for shape in panel.figure.layout.shapes if shape.type == "rect"]
    assert {(shape.x0, shape.x1) for shape in band} == {(90, 95)}  # 2/(k+1) of k = 39
    upper = coverage_histograms(two, 0.1, "upper").figure.layout.shapes
    assert {(s.x0, s.x1) for s in upper if s.type == "rect"} == {(90, 92.5)}
    # Many test losses: neighbouring counts share a bin, the same number in each.
    many = coverage_histograms(drawn(n_test=300, trials=50), 0.1)
    sizes = many.data["most"] - many.data["fewest"] + 1
    assert sizes.nunique() == 1
    assert sizes.iloc[0] > 1
    assert many.data.groupby("algorithm")["trials"].sum().tolist() == [50, 50]


def test_no_law_no_curve(every_variant):
    grouped = every_variant["z-free-grouped"]
    panel = coverage_histograms(grouped, 0.2)
    assert not [trace for trace in panel.figure.data if trace.type == "scatter"]
    assert "No curve is drawn. The law is not known" in panel.caption
    assert "promised 80 %" in panel.title
    assert "at least 80 %" in cover_rates(grouped, 0.2).title
    symbolic = coverage_histograms(every_variant["symbolic"], 0.1)
    assert not [trace for trace in symbolic.figure.data if trace.type == "scatter"]
    assert "an empty set gets its most likely symbol" in symbolic.caption


def test_calibration_curve(two):
    panel = calibration_curve(two, 0.123)
    assert len(panel.data) == 2 * 51  # 50 levels and the chosen one
    for alpha in (0.01, 0.123, 0.5):
        row = panel.data.query("algorithm == 'knn'")
        row = row.iloc[int((row["promised"] - (1 - alpha)).abs().argmin())]
        own = two.at(alpha).query("algorithm == 'knn'")
        assert row["mean_coverage"] == pytest.approx(own["test_coverage"].mean())
    gap = (panel.data["promised"] - panel.data["mean_coverage"]).max()
    assert f"at most {number(100 * gap)} percentage points below" in panel.title
    sure = calibration_curve(made(np.ones((1, 5, 39)), np.ones((1, 5, 9))), 0.1)
    assert sure.title.endswith("the mean coverage is at least the promise")


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
    d = two.arrays["ridge"]["test"][0] - two.arrays["knn"]["test"][0]
    wins = int((d < 0).sum())
    shares = bars(panel, xaxis="x2")
    assert [bar.x[0] for bar in shares] == pytest.approx(
        [100 * wins / 30, 0, 100 - 100 * wins / 30]
    )
    exact = stats.binomtest(wins, 30).proportion_ci(0.95, "exact")
    assert f"exact 95 % interval {percent(exact.low)} to {percent(exact.high)}" in panel.caption
    assert panel.title == f"Ridge is better at {wins} of 30 test cases; the next may go either way"


def test_titles_of_pairs():
    def title(a, b, side="two-sided"):
        shape = np.ones((3, 39)), np.ones((3, 10))
        results = made(*([a * part, b * part] for part in shape))
        check(panel := paired_difference(results, "ridge", "knn", 0.1, side))
        return panel.title

    sure = "on the next case, with 90 % confidence"
    assert title(1, 2) == f"Ridge will be better than Nearest neighbours {sure}"
    assert title(2, 1) == f"Nearest neighbours will be better than Ridge {sure}"
    assert title(1, 2, "upper") == f"Ridge will be better than Nearest neighbours {sure}"
    assert title(1, 1) == f"Ridge will be exactly as good as Nearest neighbours {sure}"
    assert title(1, 1, "upper") == f"Ridge will be at least as good as Nearest neighbours {sure}"
    assert title(2, 1, "upper").startswith("Nearest neighbours is better at 10 of 10 test cases;")
    losses = np.ones((2, 2, 39)), np.tile([[[1.0, 2.0]], [[2.0, 1.0]]], (1, 2, 1))
    losses[0][0, :, :9] = 0
    losses[0][1, :, 9:18] = 0
    even = paired_difference(made(*losses), "ridge", "knn", 0.1)
    assert even.title == "Neither is better more often: 1 of 2 test cases each"


def test_greater_is_better_pairs(every_variant):
    results = every_variant["batch"]
    first, second = results.algorithms
    panel = paired_difference(results, first, second, 0.1, "upper")
    assert "above 0" in panel.figure.layout.xaxis.title.text
    better = results.arrays[first]["test"][0] > results.arrays[second]["test"][0]
    assert bars(panel, xaxis="x2")[0].x[0] == pytest.approx(100 * better.mean())


def test_one_case():
    losses = np.array([0.5, 1.0, 2.0, 2.0, 9.0])
    panel = case_bars(
        [CaseBar("svm-lin", "", 0.5, 2.0, losses), CaseBar("svm-rbf", "", 3.0, 1.0, losses)],
        "log loss (nats)",
        dark=True,
    )
    check(panel)
    assert panel.title == "Inside the bar at this case: SVM-lin 80 % and SVM-rbf 0 %"
    bar = bars(panel)[0]
    assert (bar.base[0], bar.x[0]) == (0.5, 1.5)
    diamonds = next(t for t in panel.figure.data if t.type == "scatter" and t.showlegend)
    assert diamonds.marker.symbol == "diamond"
    assert diamonds.marker.color == "#FFFFFF"
    assert diamonds.x == (0.5, 1.0, 2.0, 9.0)
    assert diamonds.customdata[2] == "2 candidates lost"
    texts = [annotation.text for annotation in panel.figure.layout.annotations]
    assert "<b>SVM-lin</b>: 4 of 5 inside (80 %)" in texts
    assert "empty set" in texts
    assert "not for this one" in panel.caption


def test_case_with_two_constructions_infinite_ends_and_no_losses():
    losses = np.append(np.linspace(1, 2000, 600), math.inf)
    several = [
        CaseBar(name, construction, 1.0, math.inf, losses)
        for name in ("gd", "sgd")
        for construction in ("variable width", "fixed width")
    ]
    panel = case_bars(several, "squared error")
    check(panel)
    assert panel.title == "100 % of the fresh losses lie inside their bars at this case"
    hatches = [bar.marker.pattern.shape for bar in bars(panel)]
    assert hatches == [None, ALGORITHMS["gd"].hatch, None, ALGORITHMS["sgd"].hatch]
    none = case_bars([CaseBar("gd", "", 0.0, math.inf, np.array([]))])
    check(none)
    assert none.title == "No fresh candidate was trained for this case"
    with pytest.raises(ValueError, match="at least one CaseBar"):
        case_bars([])


def test_classes():
    rows = [
        ClassBar("0", "svm-lin", 0.1, 0.9, 0.95, 1.2, 40),
        ClassBar("8", "svm-lin", 0.2, 1.9, 0.75, math.inf, 5),
        ClassBar("0", "svm-rbf", 0.3, 0.1, 0.0, None, 0),
    ]
    panel = class_bars(rows, "log loss (nats)")
    check(panel)
    assert panel.title == (
        "Between 0 % (SVM-rbf, 0) and 95 % (SVM-lin, 0) of a class are covered: "
        "no guarantee per class"
    )
    assert "no guarantee per class" in panel.caption
    assert "which is one" in panel.caption
    assert "1 class bound not finite" in panel.caption
    first = bars(panel)[0]
    assert first.base == (0.1, 0.2)
    assert first.x == pytest.approx((0.8, 1.7))
    own = next(t for t in panel.figure.select_traces({"mode": "markers"}))
    assert own.x[0] == 1.2
    assert tuple(own.marker.symbol) == (ALGORITHMS["svm-lin"].marker, "triangle-right")
    shares = [text for t in panel.figure.select_traces({"mode": "text"}) for text in t.text]
    assert shares == ["95 %", "75 %", "empty, 0 %"]
    assert class_bars(rows[:1]).title.startswith("Every tested class is covered in 95 % of its")
    check(class_bars(rows[:2], log=True))
    with pytest.raises(ValueError, match="at least one ClassBar"):
        class_bars([])


def test_sweep():
    alphas = np.array([0.05, 0.1, 0.2, 0.3])
    lower, upper = np.array([0.0, 0.1, 0.6, 0.3]), np.array([math.inf, 0.9, 0.5, 0.4])
    panel = alpha_sweep({"svm-lin": (alphas, lower, upper)}, 0.1, "log loss (nats)")
    check(panel)
    assert panel.title == "At 90 % confidence: SVM-lin between 0.1 and 0.9"
    left, right = (t for t in panel.figure.data if t.fill == "toself")  # empty between them
    assert left.x == pytest.approx((70, 70))
    assert left.y == pytest.approx((0.4, 0.3))
    assert right.x == pytest.approx((90, 95, 95, 90))
    assert right.y[0] == 0.9
    assert "empty at 1 place." in panel.caption
    assert "no finite bound" in panel.caption
    empty = alpha_sweep({"svm-lin": (alphas, lower, upper)}, 0.2)
    assert empty.title == "At 80 % confidence: SVM-lin has an empty set"
    with pytest.raises(ValueError, match="not among the alphas"):
        alpha_sweep({"svm-lin": (alphas, lower, upper)}, 0.15)
    with pytest.raises(ValueError, match="at least one algorithm"):
        alpha_sweep({}, 0.1)


@pytest.mark.parametrize("name", ["symbolic", "symbolic-algorithm"])
def test_symbols(every_variant, name):
    results = every_variant[name]
    panel = symbol_bars(results, 0.1)
    alone = []
    for algorithm in results.algorithms:
        reader = results.reader(algorithm)
        sets = reader.sets(0.1).reshape(-1, len(reader.symbols))
        rows = panel.data[panel.data["algorithm"] == algorithm]
        np.testing.assert_allclose(rows["share_of_sets"], sets.mean(axis=0))
        summary = results.summary(0.1)[algorithm]
        assert rows["coverage"].iloc[0] == pytest.approx(summary["test_coverage_mean"])
        assert rows["mean_set_size"].iloc[0] == pytest.approx(summary["width_mean"])
        assert rows["share_happened"].sum() == pytest.approx(1)
        only = (sets.sum(axis=1) == 1) & sets[:, 0]
        alone.append(f"{ALGORITHMS[algorithm].label} in {percent(only.mean())}")
    assert panel.title == f"Nothing but Correct is left: {' and '.join(alone)} of the sets"
    assert "All possible symbols are kept" in symbol_bars(results, 0.001).caption


def test_wrong_questions(every_variant, two):
    for make in (overview_bars, interval_histograms):
        with pytest.raises(ValueError, match="symbol_bars"):
            make(every_variant["symbolic"], 0.1)
    with pytest.raises(ValueError, match="interval_histograms"):
        symbol_bars(two, 0.1)
    with pytest.raises(ValueError, match="competing algorithm"):
        width_differences(two, "ridge", "gd", 0.1)
    with pytest.raises(ValueError, match="alpha must"):
        calibration_curve(two, 10)
    with pytest.raises(ValueError, match="side must"):
        cover_rates(two, 0.1, "lower")


def test_the_one_trained_model_is_not_called_fresh():
    bars = [CaseBar("svm-lin", "", 0.0, 0.5, np.array([0.2]))]
    panel = case_bars(bars, fresh=False)
    assert check(panel)
    assert panel.title == "The trained model at this case: SVM-lin between 0 and 0.5"
    assert "the trained model really had" in panel.caption
    assert "fresh" not in panel.figure.to_json()


def test_a_sweep_of_upper_bounds_says_at_most():
    alphas = np.array([0.1, 0.2])
    curves = {"svm-lin": (alphas, np.zeros(2), np.array([0.5, 0.4]))}
    assert "SVM-lin at most 0.5" in alpha_sweep(curves, 0.1, side="upper").title


def test_a_class_without_a_tested_case_has_no_share():
    rows = [ClassBar("a", "svm-lin", 0.0, 1.0, math.nan, None, 3)]
    panel = class_bars(rows)
    assert panel.title.startswith("No class has a tested case")
    assert "none tested" in panel.figure.to_json()
    mixed = class_bars([*rows, ClassBar("b", "svm-lin", 0.0, 1.0, 0.9, None, 3)])
    assert mixed.title.startswith("Every tested class is covered in 90 %")
