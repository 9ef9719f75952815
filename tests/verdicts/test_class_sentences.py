"""What is said about classes, by hand."""

import math

import numpy as np
import pandas as pd

from cpp_core.verdicts.about import About
from cpp_core.verdicts.class_sentences import class_finding, own_promise


def classes_of(*uppers, algorithms=("svm-lin",)):
    rows = [
        {"label": i, "algorithm": name, "upper": upper}
        for i, upper in enumerate(uppers)
        for name in algorithms
    ]
    return pd.DataFrame(rows)


def test_classes_are_told_by_the_extremes():
    about = About(unit="nats", low=0.0, high=36.04365338911715)
    top = float(np.float32(about.high))
    assert class_finding(classes_of(3.2881, 35.0, 4.0), about) == (
        "By label, the median bound is highest for 1 with SVM-lin (35 nats), "
        "lowest for 0 with SVM-lin (3.29 nats)"
    )
    assert class_finding(classes_of(3.2881, top, 4.0), about) == (
        "By label, the median bound is highest for 1 with SVM-lin (36.04 nats, the top of the "
        "range), lowest for 0 with SVM-lin (3.29 nats)"
    )
    assert class_finding(classes_of(4.0, 4.0), about) == "The median bound is 4 nats in every class"
    assert class_finding(classes_of(top, top), about) == (
        "The median bound is 36.04 nats, the top of the range, in every class"
    )
    assert class_finding(classes_of(math.nan), about) == "No class has a test case"


def test_all_that_share_an_extreme_are_named():
    about, both = About(unit="nats"), ("svm-lin", "svm-rbf")
    assert class_finding(classes_of(1.0, 8.0, algorithms=both), about) == (
        "By label, the median bound is highest for 1 with SVM-lin and SVM-rbf (8 nats), "
        "lowest for 0 with SVM-lin and SVM-rbf (1 nat)"
    )
    apart = pd.concat([classes_of(1.0, 8.0), classes_of(8.0, 3.0, algorithms=("knn",))])
    assert "highest for 1 with SVM-lin and 0 with Nearest neighbours (8 nats)" in (
        class_finding(apart, about)
    )
    many = classes_of(1.0, *[8.0] * 6)
    assert "highest for 1, 2, 3 and 3 others with SVM-lin (8 nats)" in class_finding(many, about)
    four = classes_of(1.0, *[8.0] * 4)
    assert "highest for 1, 2, 3 and 4 with SVM-lin" in class_finding(four, about)


def test_how_many_scores_a_class_has():
    frame = pd.DataFrame({"label": [0, 1, 2], "k": [12, 4, 30], "more": [0, 5, 0]})
    assert own_promise(frame) == (
        "Hatched: a bound with a promise of its own for each class, from 4 to 30 scores each. "
        "None for 1: that takes 9 scores."
    )
    same = pd.DataFrame({"label": [0, 1], "k": [12, 12], "more": [0, 0]})
    assert own_promise(same).endswith("from 12 scores each.")
