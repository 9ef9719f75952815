"""Bars by class: median sets, and the bounds that classes have by themselves."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from cpp_core import ALGORITHMS
from cpp_core.figures.class_figures import class_bars
from cpp_core.verdicts.about import About
from tests.builders import bars, check

pytestmark = pytest.mark.usefixtures("no_warnings")


def frame_of(*rows, own=True):
    """Rows of (label, algorithm, lower, upper, cases, bound, k, more)."""
    columns = ["label", "algorithm", "lower", "upper", "cases", "bound", "k", "more"]
    frame = pd.DataFrame(rows, columns=columns)
    return frame if own else frame.drop(columns=["bound", "k", "more"])


ROWS = [
    (0, "svm-lin", 0.1, 0.9, 40, 1.2, 40, 0),
    (8, "svm-lin", 0.2, 1.9, 5, 36.0, 5, 4),
    (0, "svm-rbf", 0.3, 0.1, 40, 1.4, 40, 0),
]


def test_median_sets():
    panel = class_bars(frame_of(*ROWS, own=False), "log loss (nats)")
    check(panel)
    assert panel.title == (
        "By label, the median bound is highest for 8 with SVM-lin (1.9), "
        "lowest for 0 with SVM-rbf (0.1)"
    )
    assert "not for each label" in panel.caption
    lin, rbf = bars(panel)
    assert lin.base == (0.1, 0.2)
    assert lin.y == pytest.approx((0.8, 1.7))
    assert lin.text == ("0.9", "1.9")
    assert rbf.text == ("empty",)
    assert rbf.y == (0.0,)
    assert lin.customdata[1] == "8: between 0.2 and 1.9"
    assert panel.figure.layout.xaxis.ticktext == ("0<br>(40)", "8<br>(5)")


def test_bars_of_a_class_stand_beside_each_other():
    panel = class_bars(frame_of(*ROWS))
    check(panel)
    places = sorted((bar.x[0], bar.width[0]) for bar in bars(panel) if bar.x[0] < 0.5)
    assert len(places) == 4
    for (left, width), (right, _) in itertools.pairwise(places):
        assert left + width / 2 <= right - width / 2


def test_own_bounds_are_hatched_and_told():
    panel = class_bars(frame_of(*ROWS))
    lin, own, _, _ = bars(panel)
    assert own.marker.pattern.shape == ALGORITHMS["svm-lin"].hatch
    assert lin.marker.pattern.shape is None
    assert len(own.x) == 1  # 5 scores make no bound for the 8
    assert own.base[0] + own.y[0] == pytest.approx(1.2)
    assert own.customdata == ("0: at most 1.2, from 40 scores",)
    assert "promise of its own for each class, from 5 to 40 scores" in panel.caption
    assert "None for 8: that takes 9 scores." in panel.caption


def test_bounds_are_on_the_safe_side():
    about = About(low=0.0, high=36.04365338911715, unit="nats")
    top = float(np.float32(about.high))
    rows = [
        ("0", "svm-lin", 0.12345, 36.02, 40, 36.02, 40, 0),
        ("1", "svm-lin", 0.12345, top, 40, top, 40, 0),
    ]
    panel = class_bars(frame_of(*rows), about=about)
    sets, own = bars(panel)
    assert sets.customdata == ("0: between 0.123 and 36.02", "1: between 0.123 and 36.04")
    assert own.customdata == (
        "0: at most 36.02, from 40 scores",
        "1: at most 36.04, from 40 scores",
    )
    assert panel.title.startswith(
        "By label, the median bound is highest for 1 with SVM-lin (36.04 nats, the top of the "
    )


def test_a_class_without_cases_has_no_bar():
    rows = [("a", "svm-lin", math.nan, math.nan, 0, 1.0, 20, 0), ("b", *ROWS[0][1:])]
    panel = class_bars(frame_of(*rows))
    check(panel)
    assert len(bars(panel)[0].x) == 1
    assert panel.title == "The median bound is 0.9 in every class"
    alone = class_bars(frame_of(rows[0]))
    assert alone.title == "No class has a test case"


def test_many_bars_have_their_values_upwards_or_none():
    many = [(label, "svm-lin", 0.0, 1.0, 9, 1.0, 9, 0) for label in range(20)]
    upwards = bars(class_bars(frame_of(*many, own=False)))[0]
    assert (upwards.textangle, upwards.textposition) == (-90, "outside")
    assert bars(class_bars(frame_of(*many)))[0].textposition == "none"
    few = bars(class_bars(frame_of(*many[:3])))[0]
    assert (few.textangle, few.textposition) == (0, "outside")
    with pytest.raises(ValueError, match="at least one"):
        class_bars(frame_of())
