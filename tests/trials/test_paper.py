"""The paper's digits experiment gives the numbers that the plain model gives."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cpp_core import Experiment, load_dataset, run

# Means over 300 trials of SVC(probability=True), with the standard error of the upper end.
REFERENCE = {"svm-lin": (0.0124, 0.759, 0.005), "svm-rbf": (0.0157, 0.599, 0.004)}
TRIALS = 200


@pytest.mark.parametrize("name", REFERENCE)
def test_digits_candidate(name):
    """On the stored trials, of which others are computed anew in test_data."""
    found = run(Experiment.preset("digits-candidate"), TRIALS).reader(name).read(0.1, "two-sided")
    low, high, reference_error = REFERENCE[name]
    spread = found.upper.std(ddof=1), found.lower.std(ddof=1)
    assert abs(found.upper.mean() - high) < 4 * np.hypot(spread[0] / TRIALS**0.5, reference_error)
    # The reference's lower end has no standard error of its own: assume that of this run.
    assert abs(found.lower.mean() - low) < 4 * np.sqrt(2 / TRIALS) * spread[1]
    # (hi - lo)/(k + 1) = 608/674 with k = 673; docs/method.md, section 2, has the standard error.
    p, k, test = 608 / 674, 673, 450
    standard_error = np.sqrt(p * (1 - p) / test * (k + 1 + test) / (k + 2) / TRIALS)
    assert abs(found.test_coverage.mean() - p) < 4 * standard_error


def test_digits_are_the_papers():
    X, _ = load_digits(return_X_y=True)
    assert load_dataset("digits").table[0].shape == X.shape == (1797, 64)
    assert X.max() == 16
