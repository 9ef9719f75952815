"""What is said about single cases."""

import math
from dataclasses import replace

import numpy as np
import pytest

from cpp_core import Experiment
from cpp_core.trials.case_study import CaseStudy, Study, case_experiment
from cpp_core.trials.gallery import ORDERS, Gallery
from cpp_core.trials.symbol_study import SymbolStudy
from cpp_core.verdicts.about import About
from cpp_core.verdicts.case_sentences import (
    case_name,
    end_of_range,
    finding,
    promise,
    question,
    set_reading,
    stayed_inside,
    sweep_title,
    symbol_finding,
    trained_title,
    training_sizes,
    value_texts,
    wall_caption,
    wall_heading,
)

IRIS = {"dataset": "iris", "algorithms": ("naive-bayes", "knn")}
DIGITS = Experiment.preset("digits-instance", n_sets=19)
NONE = np.empty(0)


def study_of(experiment, k):
    return Study(experiment, 0, 0, NONE, NONE, NONE, k, experiment.sizes.m)


def case_study_of(experiment, k, y=(), calibration=None):
    return CaseStudy(
        *(experiment, 0, 0, NONE, np.array(y), NONE, k, experiment.sizes.m),
        label_known=True,
        calibration=calibration or {},
        tested=NONE,
        losses={},
        failures={},
        readers={},
    )


class Fixed:
    """Sets of symbols that a test chooses."""

    def __init__(self, *held):
        self.held = np.array([held], dtype=bool)

    def sets(self, alpha):
        return self.held[None]


def symbol_study_of(experiment, readers, k=40):
    symbols = ("Correct", "FP", "FN", "Other")
    labels = np.array([experiment.positive_class])
    base = (experiment, 0, 0, NONE, labels, NONE, k, experiment.sizes.m)
    return SymbolStudy(*base, symbols, NONE, {}, {}, readers)


# Which question


def test_the_question_names_what_the_sidebar_asks_instead():
    candidate = Experiment.preset("digits-candidate")
    assert question(candidate, case_experiment(candidate)) == (
        "The sidebar asks about “The model I have”. One case answers: the log loss at one image, "
        "after retraining on m = 34 images."
    )


def test_a_batch_gets_the_loss_of_a_case():
    batch = Experiment(**IRIS, variant="batch", loss="accuracy", batch_size=5)
    told = question(batch, case_experiment(batch))
    assert "“On the next batch”" in told
    assert "the log loss at one case, after retraining on m = 5 cases" in told


def test_nothing_is_said_where_the_sidebar_asks_the_same():
    assert question(DIGITS, DIGITS) == ""
    symbolic = Experiment(**IRIS, variant="symbolic")
    assert question(symbolic, symbolic) == ""


def test_another_width_is_the_same_question():
    fixed = Experiment(**IRIS, variant="z-fixed")
    assert question(fixed, case_experiment(fixed)) == ""


def test_sizes_of_the_papers_images():
    told = training_sizes(Experiment.preset("digits-instance"))
    assert told.startswith("Each retraining sees m = 12 images, not the n = 1,347 of the trial: ")
    assert "2 x 50 training runs share those, each with its own 12" in told


def test_sizes_of_one_training():
    told = training_sizes(Experiment(**IRIS, variant="symbolic"))
    assert told.startswith("The training saw m = ")
    assert "retrain" not in told


# The finding


def test_the_finding_begins_with_the_highest_bound():
    study = case_study_of(DIGITS, 19, [9])
    sets = {"svm-lin": (0.0, 3.6312), "svm-rbf": (0.0, 4.1101)}
    assert finding(study, 0, sets, 0.1, "upper") == (
        "At this 9, SVM-rbf retrained on 34 images may lose up to 4.12 nats, SVM-lin 3.64"
    )
    two = {"svm-lin": (0.0, 3.6312), "svm-rbf": (0.1239, 4.1101)}
    assert finding(study, 0, two, 0.1, "two-sided") == (
        "At this 9, SVM-rbf retrained on 34 images may lose between 0.123 and 4.12 nats, "
        "SVM-lin between 0 and 3.64"
    )


@pytest.mark.parametrize("alpha", [0.1, 0.25, 0.01])
def test_the_finding_has_no_probability_for_the_case(alpha):
    """The confidence stands only where there is no bound at it."""
    told = finding(case_study_of(DIGITS, 19, [9]), 0, {"svm-lin": (0.0, 3.6)}, alpha, "upper")
    assert ("%" in told) == (alpha == 0.01)
    assert ("At this 9" in told) == (alpha != 0.01)


def test_equal_bounds_are_said_once():
    study = case_study_of(DIGITS, 19, [8])
    sets = {"svm-lin": (0.0, 35.0), "svm-rbf": (0.0, 35.0)}
    assert finding(study, 0, sets, 0.1, "upper") == (
        "At this 8, each model retrained on 34 images may lose up to 35 nats"
    )
    alone = {"svm-lin": (0.0, 35.0)}
    assert finding(study, 0, alone, 0.1, "upper") == (
        "At this 8, SVM-lin retrained on 34 images may lose up to 35 nats"
    )


@pytest.mark.parametrize("top", [DIGITS.criterion.high, float(np.float32(DIGITS.criterion.high))])
def test_the_top_of_the_range_is_no_bound(top):
    """A bound there says no more than that losses have a range."""
    study = case_study_of(DIGITS, 19, [8])
    high, low, below = (0.0, top), (0.0, 4.0), "bound below 36.04 nats, the top of the range"

    def told(side="upper", **sets):
        return finding(study, 0, {n.replace("_", "-"): e for n, e in sets.items()}, 0.1, side)

    assert (
        told(svm_lin=high, svm_rbf=high)
        == f"At this 8, no model retrained on 34 images has a {below}"
    )
    assert told(svm_lin=high) == f"At this 8, SVM-lin retrained on 34 images has no {below}"
    assert told(svm_lin=high, svm_rbf=low) == (
        f"At this 8, SVM-rbf retrained on 34 images may lose up to 4 nats, SVM-lin has no {below}"
    )
    assert told(svm_lin=high, svm_rbf=high, knn=low) == (
        "At this 8, Nearest neighbours retrained on 34 images may lose up to 4 nats, "
        f"SVM-lin and SVM-rbf have no {below}"
    )
    assert told(svm_lin=high, svm_rbf=high, knn=(3.0, 1.0)) == (
        f"At this 8, SVM-lin and SVM-rbf retrained on 34 images have no {below}, "
        "Nearest neighbours has an empty set"
    )
    assert told("two-sided", svm_lin=(3.0, top)) == (
        "At this 8, SVM-lin retrained on 34 images may lose between 3 and 36.04 nats, "
        "and 36.04 nats is the top of the range"
    )


def test_empty_sets_and_missing_bounds_are_told():
    study = case_study_of(DIGITS, 19, [8])
    sets = {"svm-lin": (2.0, 1.0), "svm-rbf": (0.0, 4.0), "knn": (0.0, math.inf)}
    assert finding(study, 0, sets, 0.1, "upper") == (
        "At this 8, SVM-rbf retrained on 34 images may lose up to 4 nats, Nearest neighbours has "
        "no finite bound, SVM-lin has an empty set"
    )
    assert finding(study, 0, {"svm-lin": (2.0, 1.0)}, 0.1, "upper") == (
        "At this 8, SVM-lin has an empty set"
    )


def test_many_algorithms_are_told_by_the_highest_and_the_lowest():
    names = ("svm-lin", "svm-rbf", "knn", "logistic", "dummy")
    sets = {name: (0.0, float(i + 1)) for i, name in enumerate(names)}
    told = finding(case_study_of(DIGITS, 19, [8]), 0, sets, 0.1, "upper")
    assert told.endswith("may lose up to 5 nats, SVM-lin 1, 3 others in between")


def test_too_little_data_is_the_finding():
    study = case_study_of(DIGITS, 19, [8])
    assert finding(study, 0, {"svm-lin": (0.0, 36.0)}, 0.01, "upper") == (
        "No bound at 99 % confidence: that takes 99 training subsets, and there are 19"
    )
    told = promise(study, 0.01)
    assert "80 more calibration groups (each with its own 34 training cases)" in told.text
    assert "set k to 99: m then falls to 5" in told.text
    assert replace(DIGITS, n_sets=99).sizes.m == 5  # as it says
    assert "n = 1,347 cases are too few" in promise(study, 0.001).text


def test_cases_have_names():
    assert case_name(case_study_of(DIGITS, 19, [9]), 0) == "this 9"
    iris = Experiment(**IRIS, variant="z-variable")
    assert case_name(case_study_of(iris, 9, ["setosa", "virginica"]), 1) == "case 1 (virginica)"
    ridge = Experiment(dataset="diabetes", algorithms=("ridge",), variant="z-variable")
    assert case_name(case_study_of(ridge, 9, [151.0]), 0) == "case 0 (target 151)"
    told = finding(case_study_of(ridge, 19, [151.0]), 0, {"ridge": (0, 9111.0)}, 0.1, "upper")
    assert told == (
        "At case 0 (target 151), Ridge retrained on 7 cases may lose up to 9,120 (squared error)"
    )


def test_kinds_of_error_that_are_left():
    one = Experiment(dataset="digits", variant="symbolic", positive_class=9)
    readers = {"svm-lin": Fixed(1, 0, 1, 1), "svm-rbf": Fixed(1, 0, 0, 0)}
    assert symbol_finding(symbol_study_of(one, readers), 0, 0.1) == (
        "At this 9, the trained model may be correct, a false negative or another error (SVM-lin); "
        "correct (SVM-rbf)"
    )
    same = {"svm-lin": Fixed(1, 0, 1, 0), "svm-rbf": Fixed(1, 0, 1, 0)}
    many = replace(one, n_sets=19)
    assert symbol_finding(symbol_study_of(many, same, 19), 0, 0.1) == (
        "At this 9, a retrained model may be correct or a false negative (SVM-lin, SVM-rbf)"
    )
    assert symbol_finding(symbol_study_of(one, same, 40), 0, 0.01) == (
        "Nothing that the label allows is ruled out at 99 % confidence: that takes 99 calibration "
        "cases, and there are 40"
    )


# What is promised


def test_the_promise_is_over_new_cases():
    found = promise(study_of(Experiment(**IRIS, variant="z-variable", n_sets=9), 9), 0.1)
    assert found.text == (
        "The promise holds over cases drawn at random, at 90 %; not for this one case alone."
    )
    assert found.why.startswith(
        "At a new case, after retraining on fresh ones, the loss is in its set with 90 % "
        "confidence, separately for each algorithm."
    )
    assert found.badge == "guaranteed"
    assert "9th smallest of the 9 calibration scores" in found.why
    assert "the fresh training cases and the new case together" in found.why
    assert "at this one case, or in one class, the set may hold more often or less" in found.why
    assert "sees m = 5 cases, not the n = 112" in found.why
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
    assert found.why.startswith(
        "At a new case the kind of the outcome is in its set with 80 % confidence."
    )
    assert "training cases" not in found.why
    few = promise(study_of(experiment, 40), 0.01)
    assert few.text.endswith("Ask for less confidence, or use more cases.")


def test_bars_at_the_end_of_the_range():
    experiment = Experiment(**IRIS, variant="z-variable", n_sets=9, loss="zero_one")
    calibration = {"naive-bayes": np.array([0, 0, 0, 1]), "knn": np.zeros(4)}
    study = case_study_of(experiment, 9, calibration=calibration)
    high, low = ("naive-bayes", 1.0), ("knn", 0.5)
    told = end_of_range(study, [high, low], 0.1)
    assert told.startswith(
        "1 is the greatest possible zero-one loss. The bar of Naive Bayes ends there."
    )
    assert "25 % or more of the calibration losses" in told
    assert "With 5 training cases" in end_of_range(study, [high], 0.1)
    assert end_of_range(study, [low], 0.1) == ""
    assert end_of_range(study, [high], 0.05) == ""  # too few scores is what is told then
    assert "What is predicted here" in end_of_range(study, [("knn", 1.0)], 0.1)


def test_the_clip_is_named_where_it_decides():
    top = float(np.float32(DIGITS.criterion.high))
    calibration = {name: np.float32([top, 1, 1, 1]) for name in DIGITS.algorithms}
    study = case_study_of(DIGITS, 19, calibration=calibration)
    told = end_of_range(study, [(name, top) for name in DIGITS.algorithms], 0.1)
    assert told.startswith(
        "A label that training never saw costs 36.04 nats, the clip of the log loss. "
        "The bars of SVM-lin and SVM-rbf end there."
    )
    clipped = replace(DIGITS, loss_settings={"clip": 1e-3})
    end = float(np.float32(clipped.criterion.high))
    own = {name: np.float32([end, 1]) for name in DIGITS.algorithms}
    told = end_of_range(case_study_of(clipped, 19, calibration=own), [("svm-lin", end)], 0.1)
    assert "costs 6.908 nats" in told


def test_a_loss_without_an_end():
    experiment = Experiment(
        dataset="growing-noise", algorithms=("ridge",), variant="z-fixed", n=160, n_sets=20
    )
    assert end_of_range(case_study_of(experiment, 20), [("ridge", np.inf)], 0.1) == ""


def test_what_retrained_models_did():
    assert stayed_inside(12, np.zeros(13)) == "12 of 13 retrained models stayed inside"
    assert stayed_inside(0, np.empty(0)) == "too few other cases to retrain on"
    assert "not there yet" in stayed_inside(0, None)


# The gallery


def gallery_of(by, values, cases=None):
    values = np.array(values, dtype=float)
    shown = np.arange(len(values)) if cases is None else np.array(cases)
    return Gallery(by, shown, values, values)


def test_the_wall_says_what_its_numbers_are():
    study = case_study_of(DIGITS, 19, [1, 2, 3, 4])
    found = gallery_of("hardest", [4.1101, 36.02, 1.0, np.float32(DIGITS.criterion.high)], [1, 0])
    assert wall_heading(study, found) == ("2 of 4 test images: the darker, the higher the bound")
    assert wall_caption(study, found, 2) == (
        "Number: the highest bound of any algorithm, in nats. Choose one."
    )
    assert "1 of 2 are shown" in wall_caption(study, found, 1)
    assert value_texts(study, found, np.arange(4)) == ["4.12", "36.02", "1", "36.04"]


def test_every_order_has_its_own_number():
    study = case_study_of(DIGITS, 19, [1, 2])
    told = {by: wall_caption(study, gallery_of(by, [1.2341, 2]), 2) for by in ORDERS}
    assert "highest bound" in told["as drawn"]
    assert "width of the widest set, in nats" in told["widest"]
    assert "how far the algorithms' bounds lie apart, in nats" in told["most surprising"]
    assert value_texts(study, gallery_of("widest", [1.2341]), [0]) == ["1.24"]
    assert value_texts(study, gallery_of("most surprising", [1.2341]), [0]) == ["1.23"]
    assert value_texts(study, gallery_of("hardest", [math.inf]), [0]) == ["∞"]


def test_one_algorithm_has_one_bound():
    ridge = Experiment(dataset="diabetes", algorithms=("ridge",), variant="z-variable")
    study = case_study_of(ridge, 19, [1.0])
    assert "Number: the bound (squared error)." in wall_caption(
        study, gallery_of("hardest", [1]), 1
    )
    told = wall_caption(study, gallery_of("most surprising", [1]), 1)
    assert "how far its predicted loss is from the usual one of all cases" in told
    knn = Experiment(dataset="iris", algorithms=("knn",), variant="z-variable")
    iris = case_study_of(knn, 9, ["setosa"])
    told = wall_caption(iris, gallery_of("most surprising", [1]), 1)
    assert "usual one of its label, in nats" in told


def test_a_wall_of_symbols():
    one = Experiment(dataset="digits", variant="symbolic", positive_class=9)
    study, found = symbol_study_of(one, {}), gallery_of("hardest", [3])
    assert wall_heading(study, found) == "1 test image: the darker, the more may happen"
    assert "how many kinds of outcome are left" in wall_caption(study, found, 1)
    assert value_texts(study, found, [0]) == ["3"]


def test_titles_quote_the_sets_of_each():
    about = About(unit="nats", low=0.0, high=36.04)
    sets = {"svm-lin": (0.10009, 0.33331), "svm-rbf": (0.5, 0.2)}
    assert trained_title(sets, about, "two-sided") == (
        "The trained model at this case: SVM-lin between 0.1 and 0.334 and SVM-rbf has an empty set"
    )
    assert sweep_title({"svm-lin": (0.0, 0.33331)}, about, "upper", 0.1) == (
        "The set of this case, by the rule for 90 % of cases: SVM-lin at most 0.334"
    )
    two = sweep_title(sets, about, "two-sided", 0.05)
    assert two.endswith("95 % of cases: SVM-lin between 0.1 and 0.334, SVM-rbf has an empty set")
    assert set_reading("svm-lin", (0.0, np.inf), About(), "upper") == "SVM-lin has no finite bound"


def test_each_model_is_said_of_all_alone():
    """Two of three have the same bound: that the third has none must not read as if it had."""
    experiment = Experiment(
        dataset="two-classes",
        algorithms=("logistic", "knn", "naive-bayes"),
        variant="z-variable",
        n_sets=20,
    )
    study, m = case_study_of(experiment, 20, y=[1]), experiment.sizes.m
    same, retrained = (0.0, 0.5), f"retrained on {m} cases may lose up to 0.5 nats"

    def told(bayes):
        sets = {"logistic": same, "knn": same, "naive-bayes": bayes}
        return finding(study, 0, sets, 0.1, "upper")

    assert told(same) == f"At case 0 (1), each model {retrained}"
    two = f"At case 0 (1), Logistic regression {retrained}, Nearest neighbours 0.5, Naive Bayes has"
    assert told((0.0, math.inf)) == f"{two} no finite bound"
    assert told((0.7, 0.6)) == f"{two} an empty set"
