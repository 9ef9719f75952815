"""What can be said of a loss: its unit, its range, its clip, what is perfect, what it needs."""

import math
from collections.abc import Iterable
from typing import Any

from cpp_core.catalog.losses import CLIPS, is_clipped, make_loss
from cpp_core.method.evaluation import Loss
from cpp_core.trials.experiment import Experiment
from cpp_core.verdicts.language import counted, listed, number, sentence, with_unit

RESPONSES = {"predict_proba": "probabilities", "decision_function": "decision values"}
"""What a loss needs of a model, in words."""
TOP_DIGITS = 4
"""Significant digits of the greatest value that a loss can have."""


def perfect_words(loss: Loss) -> str:
    """Which value is perfect; empty where none is known.

    >>> perfect_words(make_loss("accuracy"))
    '1 is perfect'
    """
    return f"{number(loss.best)} is perfect" if math.isfinite(loss.best) else ""


def in_parentheses(*about: str) -> str:
    """What is said of something behind it, as far as there is something.

    >>> in_parentheses("nats", "0 is perfect"), in_parentheses("")
    (' (nats, 0 is perfect)', '')
    """
    told = ", ".join(filter(None, about))
    return f" ({told})" if told else ""


def in_unit(unit: str) -> str:
    """A unit behind what is counted in it.

    >>> in_unit("EUR"), in_unit("")
    (', in EUR', '')
    """
    return f", in {unit}" if unit else ""


# As it is offered


def loss_choice(name: str) -> str:
    """A loss as it is offered: its label, and which value is perfect.

    >>> loss_choice("log_loss"), loss_choice("accuracy")
    ('log loss (0 is perfect)', 'accuracy (1 is perfect)')
    """
    loss = make_loss(name)
    return f"{loss.label}{in_parentheses(perfect_words(loss))}"


def loss_words(name: str, **settings: Any) -> str:
    """What a loss measures, with its range and unit.

    >>> loss_words("log_loss", clip=0.001)
    'How surprised the model is by the true label. Range: 0 to 6.908 nats.'
    >>> loss_words("squared_error")[-28:]
    'From 0, without upper limit.'
    """
    loss = make_loss(name, **settings)
    if math.isinf(loss.high):
        start = with_unit(number(loss.low), loss.unit)
        return f"{sentence(loss.words)}. From {start}, without upper limit."
    ends = with_unit(f"{number(loss.low)} to {number(loss.high, digits=TOP_DIGITS)}", loss.unit)
    return f"{sentence(loss.words)}. Range: {ends}."


def clip_words(name: str) -> str:
    """A clip as it is offered, with the loss that it gives to a label of probability 0.

    >>> clip_words("machine"), clip_words("0.001")
    ('2.22e-16 (36.04 nats)', '0.001 (6.908 nats)')
    """
    loss = make_loss("log_loss", clip=CLIPS[name])
    top = with_unit(number(loss.high, digits=TOP_DIGITS), loss.unit)
    return f"{number(CLIPS[name])}{in_parentheses(top)}"


def lacking_words(loss: str, labels: Iterable[str]) -> str:
    """Why a loss is not offered: what algorithms with these labels do not give.

    >>> lacking_words("hinge", ["Dummy", "Naive Bayes"])
    'No hinge loss: Dummy and Naive Bayes give no decision values.'
    """
    names, found = list(labels), make_loss(loss)
    give = "gives" if len(names) == 1 else "give"
    missing = RESPONSES.get(found.response or "", "predictions")
    return f"No {found.label}: {listed(names)} {give} no {missing}."


def instead_words(before: str, now: str) -> str:
    """That another loss is asked about, because the one that was chosen does not fit.

    >>> instead_words("log_loss", "error_rate")
    'Now about the error rate: log loss does not fit this choice.'
    """
    return (
        f"Now about the {make_loss(now).label}: {make_loss(before).label} does not fit this choice."
    )


# Of an experiment


def loss_unit(experiment: Experiment) -> str:
    """Unit of the loss: its own, or that of the labels in a regression (squared for squares)."""
    loss, unit = experiment.criterion, experiment.data.unit
    if loss.unit or loss.task != "regression" or not unit:
        return loss.unit
    return f"{unit} squared" if loss.squared else unit


def loss_label(experiment: Experiment) -> str:
    """The loss as the title of an axis: "log loss (nats, 0 is perfect)"."""
    loss, b = experiment.criterion, experiment.batch_size
    batch = f" of {counted(b, 'case')}" if b else ""
    return loss.label + batch + in_parentheses(loss_unit(experiment), perfect_words(loss))


def width_label(experiment: Experiment, whose: str = "") -> str:
    """The title of an axis of widths, which are symbols where sets hold kinds of error."""
    if experiment.kind.symbolic:
        return "symbols in a set" + (f", {whose}" if whose else "")
    width = f"width of {whose}" if whose else "width"
    return f"{width} in {experiment.criterion.label}{in_parentheses(loss_unit(experiment))}"


def top_words(experiment: Experiment, top: str) -> str:
    """Why a loss may be the greatest that there is, which is ``top`` in words."""
    loss = experiment.criterion
    if is_clipped(loss.name):
        return f"A label that training never saw costs {top}, the clip of the {loss.label}."
    return f"{top} is the greatest possible {loss.label}."
