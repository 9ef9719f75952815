"""What is said of a loss: each branch with a known truth."""

import math
from dataclasses import replace

import pytest

from cpp_core import LOSSES, Experiment, Loss
from cpp_core.verdicts.loss_words import (
    in_parentheses,
    lacking_words,
    loss_choice,
    loss_label,
    loss_words,
    perfect_words,
    top_words,
    width_label,
)
from tests.builders import experiment_of


def test_labels_of_losses():
    digits = Experiment.preset("digits-candidate")
    assert loss_label(digits) == "log loss (nats, 0 is perfect)"
    diabetes = Experiment(dataset="diabetes", algorithms=("ridge",))
    assert loss_label(diabetes) == "squared error (progression score squared, 0 is perfect)"
    absolute = replace(diabetes, loss="absolute_error")
    assert loss_label(absolute) == "absolute error (progression score, 0 is perfect)"
    assert loss_label(Experiment.preset("quadnoise-candidate")) == "squared error (0 is perfect)"
    assert loss_label(experiment_of("batch")) == "accuracy of 5 cases (1 is perfect)"


@pytest.mark.parametrize("name", LOSSES)
def test_losses_say_what_is_perfect_and_what_they_measure(name):
    loss = LOSSES[name]
    best = 1 if loss.greater_is_better else 0
    assert loss_choice(name) == f"{loss.label} ({best} is perfect)"
    assert not loss_words(name)[0].islower()
    bounded = f"Range: {loss.low:g} to {loss.high:.4g}", f"From {loss.low:g}, without upper limit"
    assert bounded[loss.high == float("inf")] in loss_words(name)
    assert "_" not in loss_choice(name) + loss_words(name)


def test_why_a_loss_is_not_offered():
    assert lacking_words("hinge", ["Dummy"]) == "No hinge loss: Dummy gives no decision values."
    told = lacking_words("log_loss", ["A", "B"])
    assert told == "No log loss: A and B give no probabilities."
    assert lacking_words("zero_one", ["A"]) == "No zero-one loss: A gives no predictions."


def test_a_loss_without_a_best_value_says_none():
    assert perfect_words(Loss("mine", lambda *_: 0)) == ""
    assert math.isinf(Loss("mine", lambda *_: 0).best)
    assert in_parentheses("", "a", "b") == " (a, b)"
    assert in_parentheses() == ""


def test_labels_of_widths():
    diabetes = Experiment(dataset="diabetes", algorithms=("ridge",))
    assert width_label(diabetes) == "width in squared error (progression score squared)"
    assert width_label(experiment_of("batch"), "A minus B") == "width of A minus B in accuracy"
    symbols = experiment_of("symbolic")
    assert width_label(symbols) == "symbols in a set"
    assert width_label(symbols, "A minus B") == "symbols in a set, A minus B"


def test_the_greatest_loss_is_told_by_what_makes_it():
    digits = Experiment.preset("digits-candidate")
    clip = "A label that training never saw costs 36.04 nats, the clip of the log loss."
    assert top_words(digits, "36.04 nats") == clip
    brier = replace(digits, loss="brier")
    assert top_words(brier, "1") == "1 is the greatest possible Brier loss."
