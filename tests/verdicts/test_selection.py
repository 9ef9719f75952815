"""The best of several: its bound pays for the choice."""

import numpy as np
import pytest

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
