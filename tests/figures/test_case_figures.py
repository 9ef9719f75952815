"""Figures of single cases, classes and levels."""

import math

import numpy as np
import pytest

from cpp_core import ALGORITHMS
from cpp_core.figures.case_figures import CaseBar, ClassBar, alpha_sweep, case_bars, class_bars
from cpp_core.verdicts.about import About
from tests.builders import bars, check

pytestmark = pytest.mark.usefixtures("no_warnings")


def test_one_case():
    losses = np.array([0.5, 1.0, 2.0, 2.0, 9.0])
    panel = case_bars(
        [CaseBar("svm-lin", "", 0.5, 2.0, losses), CaseBar("svm-rbf", "", 3.0, 1.0, losses)],
        "log loss (nats)",
        dark=True,
    )
    check(panel)
    assert panel.title == "Fresh losses inside the bar at this case: SVM-lin 80 % and SVM-rbf 0 %"
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


def test_the_one_trained_model_is_not_called_fresh():
    bars = [CaseBar("svm-lin", "", 0.0, 0.5, np.array([0.2]))]
    panel = case_bars(bars, fresh=False)
    assert check(panel)
    assert panel.title == "The trained model at this case: SVM-lin between 0 and 0.5"
    assert "the trained model really had" in panel.caption
    assert "fresh" not in panel.figure.to_json()


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
    with pytest.raises(ValueError, match="at least one ClassBar"):
        class_bars([])


def test_bounds_at_cases_and_in_classes_are_on_the_safe_side():
    about = About(low=0.0, high=36.04365338911715)
    top = float(np.float32(about.high))
    rows = [
        ClassBar("0", "svm-lin", 0.12345, 36.02, 0.95, 36.02, 40),
        ClassBar("1", "svm-lin", 0.12345, top, 0.95, top, 40),
    ]
    panel = class_bars(rows, about=about)
    sets, own = (
        [
            text
            for t in panel.figure.data
            if t.type == kind and t.customdata
            for text in t.customdata
        ]
        for kind in ("bar", "scatter")
    )
    assert sets == ["0 between 0.123 and 36.02, 95 %", "1 between 0.123 and 36.04, 95 %"]
    assert own == ["class 0 at most 36.02, from 40 scores", "class 1 at most 36.04, from 40 scores"]
    case = case_bars(
        [CaseBar("svm-lin", "", 0.1, 36.02, np.array([1.0]))],
        fresh=False,
        side="upper",
        about=about,
    )
    assert case.title == "The trained model at this case: SVM-lin at most 36.02"
    alphas = np.array([0.1, 0.2])
    curves = {"svm-lin": (alphas, np.array([0.12345, 0.3]), np.array([top, 5.4321]))}
    sweep = alpha_sweep(curves, 0.1, about=about)
    assert sweep.title.endswith("SVM-lin between 0.123 and 36.04")
    assert sweep.figure.data[0].customdata == ("5.44", "36.04", "0.123", "0.3")


def test_a_class_without_a_tested_case_has_no_share():
    rows = [ClassBar("a", "svm-lin", 0.0, 1.0, math.nan, None, 3)]
    panel = class_bars(rows)
    assert panel.title.startswith("No class has a tested case")
    assert "none tested" in panel.figure.to_json()
    mixed = class_bars([*rows, ClassBar("b", "svm-lin", 0.0, 1.0, 0.9, None, 3)])
    assert mixed.title.startswith("Every tested class is covered in 90 %")


def test_sweep():
    alphas = np.array([0.05, 0.1, 0.2, 0.3])
    lower, upper = np.array([0.0, 0.1, 0.6, 0.3]), np.array([math.inf, 0.9, 0.5, 0.4])
    panel = alpha_sweep({"svm-lin": (alphas, lower, upper)}, 0.1, "log loss (nats)")
    check(panel)
    assert panel.title == (
        "The set of this case, by the rule for 90 % of cases: SVM-lin between 0.1 and 0.9"
    )
    left, right = (t for t in panel.figure.data if t.fill == "toself")  # empty between them
    assert left.x == pytest.approx((70, 70))
    assert left.y == pytest.approx((0.4, 0.3))
    assert right.x == pytest.approx((90, 95, 95, 90))
    assert right.y[0] == 0.9
    assert "empty at 1 place." in panel.caption
    assert "no finite bound" in panel.caption
    empty = alpha_sweep({"svm-lin": (alphas, lower, upper)}, 0.2)
    assert empty.title == (
        "The set of this case, by the rule for 80 % of cases: SVM-lin has an empty set"
    )
    with pytest.raises(ValueError, match="not among the alphas"):
        alpha_sweep({"svm-lin": (alphas, lower, upper)}, 0.15)
    with pytest.raises(ValueError, match="at least one algorithm"):
        alpha_sweep({}, 0.1)


def test_a_sweep_of_upper_bounds_says_at_most():
    alphas = np.array([0.1, 0.2])
    curves = {"svm-lin": (alphas, np.zeros(2), np.array([0.5, 0.4]))}
    assert "SVM-lin at most 0.5" in alpha_sweep(curves, 0.1, side="upper").title
