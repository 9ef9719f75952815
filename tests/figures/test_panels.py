"""Panels: how people read numbers, and what holds for every figure of every variant."""

import math

import numpy as np
import pytest

from cpp_core import ALGORITHMS, Experiment, Results, run
from cpp_core.figures.coverage_figures import calibration_curve, cover_rates, coverage_histograms
from cpp_core.figures.histograms import bin_edges
from cpp_core.figures.interval_figures import (
    interval_histograms,
    paired_difference,
    width_differences,
    width_histograms,
)
from cpp_core.figures.next_loss import next_loss
from cpp_core.figures.panels import wants_log
from cpp_core.figures.symbol_figures import symbol_bars
from cpp_core.trials.one_trial import run_block
from cpp_core.verdicts.language import number, percent
from tests.builders import VARIANTS, check, drawn, infinite

SIX = ("logistic", "knn", "random-forest", "naive-bayes", "dummy", "svm-rbf")
ALL = (
    next_loss,
    interval_histograms,
    width_histograms,
    cover_rates,
    coverage_histograms,
    calibration_curve,
)
PAIRS = (width_differences, paired_difference)

pytestmark = pytest.mark.usefixtures("no_warnings")


def test_numbers_and_shares_as_people_read_them():
    shown = {
        0.75941: "0.759",
        26.04: "26",
        1234.5: "1,230",
        99999: "100,000",
        123456: "123,000",
        0.00123: "0.00123",
        0.0000123: "0.0000123",
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
    alt = next_loss(six, 0.1, "upper").alt
    assert all(f"{ALGORITHMS[name].label} at most" in alt for name in SIX)


def test_a_thousand_trials_of_digits_stay_small():
    results = run(Experiment.preset("digits-candidate"), 1000)
    for make in ALL:
        check(make(results, 0.1))
    for make in PAIRS:
        check(make(results, "svm-lin", "svm-rbf", 0.1))


def test_failed_runs_are_told():
    results = drawn(trials=3)
    for arrays in results.arrays.values():
        arrays["calibration"][:] = np.inf
        arrays["test"][:, 0] = np.inf
    panel = next_loss(results, 0.1, "upper")
    check(panel)
    assert "failed training" in panel.title
    assert "<b>no finite bound</b>" in [note.text for note in panel.figure.layout.annotations]
    for make in ALL:
        check(make(results, 0.1))


def test_wrong_questions(every_variant, two):
    for make in (next_loss, interval_histograms):
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
