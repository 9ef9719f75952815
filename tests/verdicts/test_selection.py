"""The best of several: its bound pays for the choice."""

import numpy as np
import pytest

from cpp_core import batch_errors
from cpp_core.verdicts.about import About
from cpp_core.verdicts.bounds import expected_loss
from cpp_core.verdicts.selection import selection_safe, winner_of
from tests.builders import PLAIN, results_of, symbolic, tenths


def test_selection_safe():
    better, worse = tenths(101), tenths(101, 3.0)
    found = selection_safe(results_of([worse, better]))
    assert found.text.startswith(
        "Chosen among 2 on 50 calibration cases, calibrated on 50 others that the choice never "
        "saw, Nearest neighbours: for a new case drawn like the calibration data, the log loss of "
    )
    assert (found.facts["chosen"], found.facts["k"]) == ("Nearest neighbours", 50)
    assert found.text.endswith(
        " Quote this bound if you picked Nearest neighbours here; the one from all 101 only for a "
        "model fixed beforehand; never the smaller of the two."
    )
    assert "Quoting the best of 2 bounds from all 101 would cost some" in found.why
    columns = {"A": worse[0].astype(np.float32), "B": better[0].astype(np.float32)}
    plain = winner_of(columns, 0.1, About(n_algorithms=2))
    assert plain.facts["chosen"] == "B"
    assert plain.facts["bound"] == found.facts["bound"]
    assert found.facts["bound"] in columns["B"]
    few = selection_safe(results_of([tenths(17), tenths(17)]))
    assert "Too little data to choose on one half" in few.text
    assert "1 more calibration case would do" in few.text
    assert winner_of({"A": [1.0]}, 0.1, PLAIN).facts["outcome"] == "too little data"
    only = results_of([tenths(19)])
    assert selection_safe(only) == expected_loss(only, "logistic")
    accuracy = [np.minimum(own / 20, 1) for own in (better, worse)]
    larger = selection_safe(results_of(accuracy, variant="batch", loss="accuracy", batch_size=2))
    assert larger.facts["chosen"] == "Nearest neighbours"
    assert "is at least 0." in larger.text
    assert "never the larger of the two" in larger.text
    for variant in ("z-fixed", "z-variable"):
        at_case = selection_safe(results_of([worse, better], variant=variant))
        assert at_case.facts["chosen"] == "Nearest neighbours"
        assert "Such bounds hold with probability at least 90 %" in at_case.text
    groups = np.stack([tenths(20), tenths(20)], axis=2)
    grouped = selection_safe(results_of([groups + 1, groups], variant="z-free", n_evaluations=2))
    assert grouped.facts["chosen"] == "Nearest neighbours"
    with pytest.raises(ValueError, match="same cases"):
        winner_of({"A": [1.0, 2.0], "B": [1.0]}, 0.1, PLAIN)
    with pytest.raises(ValueError, match="Kinds of error"):
        selection_safe(symbolic(20))


def test_the_one_with_the_fewest_errors_is_told_by_its_errors_on_the_other_half():
    """A bound could only be 0 or 1; each half has its own errors, and only one half is quoted."""
    wrong, right = np.repeat([1.0, 0.0], [60, 140]), np.zeros(200)
    errors = About(errors=True, low=0.0, high=1.0, n_algorithms=2)
    found = winner_of({"A": wrong, "B": right}, 0.1, errors)
    assert found.facts["chosen"] == "B"
    assert found.facts["errors_on_first_half"]["B"] == 0
    assert found.facts["errors_on_first_half"]["A"] + found.facts["errors"] < 60
    most = batch_errors(100, 0, 100, 0.1, "upper")[1]
    assert (found.facts["k"], found.facts["errors"], found.facts["most"]) == (100, 0, most)
    assert found.brief.line == (
        f"B: at most {most} errors among the next 100 cases if you picked it here: chosen on 100, "
        "calibrated on 100 more."
    )
    assert len(found.brief.line.split()) <= 25
    assert "never the smaller of the two" in found.text
    scores = About(errors=True, low=0.0, high=1.0, n_algorithms=2, greater_is_better=True)
    turned = winner_of({"A": 1 - wrong, "B": 1 - right}, 0.1, scores)
    assert turned.facts["most"] == most
    assert turned.facts["chosen"] == "B"
    few = winner_of({"A": wrong[:1], "B": right[:1]}, 0.1, errors)
    assert few.facts["outcome"] == "too little data"


def test_who_shares_the_first_place_is_told():
    columns = {"A": np.ones(40), "B": np.zeros(40), "C": np.zeros(40)}
    shares = "B is the first of 2 with"
    errors = About(errors=True, low=0.0, high=1.0, n_algorithms=3)
    found = winner_of(columns, 0.1, errors)
    assert found.why.startswith(f"{shares} the fewest errors of 3 on one random half of the 40 ")
    bound = winner_of(columns, 0.1, About(n_algorithms=3))
    assert bound.why.startswith(f"{shares} the best bound of 3 on one random half of the 40 ")
    alone = winner_of({"A": np.ones(40), "B": np.zeros(40)}, 0.1, About(n_algorithms=2))
    assert alone.why.startswith("B has the best bound of 2 on one random half")


def test_one_case_on_each_half_is_one_case():
    errors = About(errors=True, low=0.0, high=1.0, n_algorithms=2)
    found = winner_of({"A": [1.0, 1.0, 1.0], "B": [0.0, 0.0, 0.0]}, 0.1, errors)
    start = "Chosen among 2 on 1 calibration case, calibrated on 1 other that the choice never saw"
    assert found.text.startswith(f"{start}, B: ")
    bound = winner_of({"A": [1.0, 2.0], "B": [3.0, 4.0]}, 0.5, About(n_algorithms=2))
    assert bound.text.startswith(f"{start}, A: ")
