"""Figures of single cases and levels."""

import math

import numpy as np
import pytest

from cpp_core.figures.case_figures import CaseBar, alpha_sweep, case_bars
from cpp_core.verdicts.about import About
from tests.builders import bars, check

pytestmark = pytest.mark.usefixtures("no_warnings")


def diamonds_of(panel):
    return [t for t in panel.figure.data if t.type == "scatter" and t.marker.symbol == "diamond"]


def texts_of(panel):
    return [annotation.text for annotation in panel.figure.layout.annotations]


def test_one_case():
    losses = np.array([0.5, 1.0, 2.0, 2.0, 9.0])
    panel = case_bars(
        [CaseBar("svm-lin", 0.5, 2.0, losses), CaseBar("svm-rbf", 3.0, 1.0, losses)],
        "log loss (nats)",
        dark=True,
        about=About(unit="nats", m=34),
    )
    check(panel)
    assert panel.title == "What may happen, and what did"
    made_up = case_bars([CaseBar("svm-lin", 0.5, 2.0, losses)], invented=True)
    assert made_up.title == "What may happen"
    bar = bars(panel)[0]
    assert (bar.base[0], bar.x[0]) == (0.5, 1.5)
    diamonds = diamonds_of(panel)[0]
    assert diamonds.marker.color == "#FFFFFF"
    assert diamonds.x == (0.5, 1.0, 2.0, 9.0)
    assert diamonds.customdata[2] == "2 candidates lost"
    texts = texts_of(panel)
    assert "4 of 5 retrained models stayed inside" in texts
    assert "0 of 5 retrained models stayed inside" in texts
    assert "<b>0.5 to 2 nats</b>" in texts
    assert "empty set" in texts
    assert "models retrained on 34 other cases" in panel.caption
    assert panel.data[["inside", "candidates"]].to_numpy().tolist() == [[4, 5], [0, 5]]


def test_the_bound_is_written_on_the_safe_side():
    panel = case_bars([CaseBar("svm-lin", 0.0, 4.1101)], side="upper", about=About(unit="nats"))
    assert "<b>4.12 nats</b>" in texts_of(panel)


def test_bars_come_before_the_losses():
    """Candidates that are still being trained are not told to be none."""
    pending = case_bars([CaseBar("svm-lin", 0.0, 2.0)])
    check(pending)
    assert pending.title == "What may happen"
    assert "retrained models to compare with: not there yet" in texts_of(pending)
    none = case_bars([CaseBar("svm-lin", 0.0, 2.0, np.empty(0))])
    assert "too few other cases to retrain on" in texts_of(none)


def test_the_one_trained_model_is_not_called_fresh():
    bars = [CaseBar("svm-lin", 0.0, 0.5, np.array([0.2]))]
    panel = case_bars(bars, fresh=False, about=About(unit="nats"))
    assert check(panel)
    assert panel.title == "The trained model at this case: SVM-lin between 0 and 0.5"
    assert "the trained model had here" in panel.caption
    assert "it lost 0.2 nats" in texts_of(panel)
    assert "retrained" not in panel.figure.to_json()


def test_infinite_ends_and_losses():
    losses = np.append(np.linspace(1, 2000, 600), math.inf)
    several = [CaseBar(name, 1.0, math.inf, losses) for name in ("gd", "sgd")]
    panel = case_bars(several, "squared error")
    check(panel)
    assert texts_of(panel).count("no finite bound") == 2
    assert texts_of(panel).count("601 of 601 retrained models stayed inside") == 2
    assert panel.figure.layout.xaxis.type == "log"
    assert panel.figure.layout.xaxis.title.text == "squared error, log scale"
    none = case_bars([CaseBar("gd", 0.0, math.inf, np.array([]))])
    check(none)
    assert none.figure.layout.xaxis.type == "linear"
    with pytest.raises(ValueError, match="at least one CaseBar"):
        case_bars([])


def test_bounds_at_cases_are_on_the_safe_side():
    about = About(low=0.0, high=36.04365338911715)
    top = float(np.float32(about.high))
    case = case_bars(
        [CaseBar("svm-lin", 0.1, 36.02, np.array([1.0]))],
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
