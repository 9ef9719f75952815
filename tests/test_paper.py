"""The paper's digits experiment gives the numbers that the plain model gives."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from cpp_core import CandidateCPP, load_dataset, make_algorithm
from cpp_core.splits import equal_parts

# Means over 300 trials of SVC(probability=True), with the standard error of the upper end.
REFERENCE = {"svm-lin": (0.0124, 0.759, 0.005), "svm-rbf": (0.0157, 0.599, 0.004)}
TRIALS = 200


@pytest.mark.slow
@pytest.mark.parametrize("name", REFERENCE)
def test_digits_candidate(name):
    dataset = load_dataset("digits")
    ends, coverages = [], []
    for rng in np.random.default_rng(0).spawn(TRIALS):
        X, y = dataset.draw(1797, rng)
        train, calibrate = equal_parts(1347, 2, rng)
        cpp = CandidateCPP(make_algorithm(name), random_state=rng).fit(X[train], y[train])
        cpp.conformalize(X[calibrate], y[calibrate])
        lower, upper = cpp.predict_interval(confidence_level=0.9)
        losses = cpp.loss_.function(cpp.candidate_, X[1347:], y[1347:])
        coverages.append(np.mean((lower <= losses) & (losses <= upper)))
        ends.append((lower, upper))
    (lower, upper), spread = np.mean(ends, axis=0), np.std(ends, axis=0, ddof=1)
    low, high, reference_error = REFERENCE[name]
    error = np.hypot(spread[1] / np.sqrt(TRIALS), reference_error)
    assert abs(upper - high) < 4 * error
    # The reference's lower end has no standard error of its own: assume that of this run.
    assert abs(lower - low) < 4 * np.sqrt(2 / TRIALS) * spread[0]
    # (hi - lo)/(k + 1) = 608/674 with k = 673; the standard error is spec 2's.
    p, k, test = 608 / 674, 673, 450
    standard_error = np.sqrt(p * (1 - p) / test * (k + 1 + test) / (k + 2) / TRIALS)
    assert abs(np.mean(coverages) - p) < 4 * standard_error


def test_digits_are_the_papers():
    X, _ = load_digits(return_X_y=True)
    assert load_dataset("digits").table[0].shape == X.shape == (1797, 64)
    assert X.max() == 16
