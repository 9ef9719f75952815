"""Decisions: shown, not shown, or too little data."""

import math
import re

import numpy as np
import pytest

from cpp_core import batch_errors
from cpp_core.verdicts.decisions import decide, error_rate_at_most, loss_at_most
from tests.builders import results_of, tenths


def test_loss_at_most():
    losses = np.arange(1, 20) / 20
    assert loss_at_most(losses, 0.9).outcome == "shown"
    assert loss_at_most(losses, 0.9).text.endswith("together; the bound is 0.9.")
    assert loss_at_most(losses, 0.8999999).outcome == "not shown"
    assert loss_at_most(losses, 0.9000001).text.endswith("the bound is 0.9.")
    few = loss_at_most(losses[:8], 0.9)
    assert few.outcome == "too little data"
    assert "1 more calibration case would allow it" in few.text
    assert loss_at_most(losses[:8], 1.0, high=1.0).outcome == "shown"
    assert loss_at_most(losses.astype(np.float32), 0.9).outcome == "shown"
    near = loss_at_most(losses - 1e-6, 0.9)
    assert near.outcome == "shown"
    assert float(re.search(r"the bound is ([\d.]+\d)", near.text)[1]) < 0.9
    assert decide(results_of([tenths(19)]), "logistic", 1.8).outcome == "shown"
    accuracy = results_of([tenths(9)], variant="batch", loss="accuracy", batch_size=10)
    assert decide(accuracy, "logistic", 0.1).outcome == "shown"
    assert decide(accuracy, "logistic", 0.11).outcome == "not shown"
    assert decide(accuracy, "logistic", 0.0).text.endswith(": its range ends at 0.")
    with pytest.raises(ValueError, match="threshold must be a number"):
        loss_at_most(losses, math.inf)
    with pytest.raises(ValueError, match="NaN or infinite"):
        loss_at_most([1.0, math.nan], 1)


def test_error_rate_at_most():
    found = error_rate_at_most(200, 10, 100, 0.09)
    assert found.outcome == "shown"  # batch_errors(200, 10, 100, 0.1, "upper") is 0..9
    assert "is at most 9 % (9 errors) with probability at least 90 %" in found.text
    not_shown = error_rate_at_most(200, 10, 100, 0.0899)
    assert not_shown.outcome == "not shown"
    allowed = not_shown.facts["errors_allowed"]
    assert batch_errors(200, allowed, 100, 0.1, "upper")[1] <= 8
    assert batch_errors(200, allowed + 1, 100, 0.1, "upper")[1] > 8
    few = error_rate_at_most(1, 0, 5, 0)
    assert few.outcome == "too little data"
    assert "45 cases without an error would do, a single one cannot" in few.text
    for k, b, rate in ((20, 100, 0.01), (3, 10, 0.1)):
        needed = error_rate_at_most(k, 0, b, rate).facts["k_needed"]
        assert error_rate_at_most(needed, 0, b, rate).outcome == "shown"
        assert error_rate_at_most(needed - 1, 0, b, rate).outcome == "too little data"
    with pytest.raises(ValueError, match=r"write 0\.05 for 5 %"):
        error_rate_at_most(200, 10, 100, 5)
    with pytest.raises(ValueError, match="between 0 and 1"):
        error_rate_at_most(200, 10, 100, -0.1)
