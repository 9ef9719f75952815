"""What is said beside the sets at single cases."""

import numpy as np
import pytest

from cpp_core import Experiment
from cpp_core.figures.case_figures import CaseBar
from cpp_core.trials.case_study import CaseStudy, Study
from cpp_core.verdicts.case_sentences import end_of_range, promise, training_sizes

IRIS = {"dataset": "iris", "algorithms": ("naive-bayes", "knn")}


def ends(bars):
    return [(bar.algorithm, bar.upper) for bar in bars]


def study_of(experiment, k):
    none = np.empty(0)
    return Study(experiment, 0, 0, none, none, none, k, experiment.sizes.m)


def test_sizes_of_the_papers_images():
    large, why = training_sizes(Experiment.preset("digits-instance"))
    assert large == "Each retraining sees m = 12 cases"
    assert "Not the n = 1,347 cases of the trial: 50 training runs on 12 cases each" in why


def test_sizes_of_one_training():
    large, why = training_sizes(Experiment(**IRIS, variant="symbolic"))
    assert large.startswith("The training saw m = ")
    assert "retrain" not in large + why


def test_the_promise_is_over_new_cases():
    found = promise(study_of(Experiment(**IRIS, variant="z-variable", n_sets=9), 9), 0.1)
    assert found.text == (
        "At a new case, after retraining on fresh ones, the loss is in its set with 90 % "
        "confidence, separately for each algorithm."
    )
    assert found.badge == "guaranteed"
    assert "9th smallest of the 9 calibration scores" in found.why
    assert "the fresh training cases and the new case together" in found.why
    assert found.facts["more_needed"] == 0


@pytest.mark.parametrize(("k", "more"), [(8, 1), (5, 4)])
def test_too_few_scores_promise_nothing(k, more):
    found = promise(study_of(Experiment(**IRIS, variant="z-variable", n_sets=9), k), 0.1)
    assert f"{more} more calibration group" in found.text
    assert "at least 1/alpha - 1 = 9 calibration scores" in found.why
    assert found.facts["more_needed"] == more


def test_kinds_of_error_of_one_model():
    experiment = Experiment(dataset="iris", algorithms=("knn",), variant="symbolic")
    found = promise(study_of(experiment, 40), 0.2)
    assert found.text == (
        "At a new case the kind of the outcome is in its set with 80 % confidence."
    )
    assert "training cases" not in found.why


def test_bars_at_the_end_of_the_range():
    experiment = Experiment(**IRIS, variant="z-variable", n_sets=9, loss="zero_one")
    none = np.empty(0)
    calibration = {"naive-bayes": np.array([0, 0, 0, 1]), "knn": np.zeros(4)}
    study = CaseStudy(
        *(experiment, 0, 0, none, none, none, 9, 5),
        label_known=True,
        calibration=calibration,
        tested=none,
        losses={},
        failures={},
        readers={},
    )
    high = CaseBar("naive-bayes", "variable width", 0.0, 1.0, none)
    low = CaseBar("knn", "variable width", 0.0, 0.5, none)
    assert "25 % or more of its calibration losses" in end_of_range(study, ends([high, low]), 0.1)
    assert "With 5 training cases" in end_of_range(study, ends([high]), 0.1)
    assert end_of_range(study, ends([low]), 0.1) == ""
    assert end_of_range(study, ends([high]), 0.05) == ""  # too few scores is what is told then
    predicted = CaseBar("knn", "variable width", 0.0, 1.0, none)
    assert "what is predicted here" in end_of_range(study, ends([predicted]), 0.1)


def test_a_loss_without_an_end():
    experiment = Experiment(
        dataset="growing-noise", algorithms=("ridge",), variant="z-fixed", n=160, n_sets=20
    )
    none = np.empty(0)
    study = CaseStudy(*(experiment, 0, 0, none, none, none, 20, 3), True, {}, none, {}, {}, {})
    assert end_of_range(study, ends([CaseBar("ridge", "", 0.0, np.inf, none)]), 0.1) == ""
