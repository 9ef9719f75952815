"""The words that pages, report and command line share."""

from typing import Any, NamedTuple

from cpp_core.losses import make_loss
from cpp_core.sentences import with_unit

TAGLINE = (
    "Forecast the next loss, of the model you have and of the one you will retrain, with a stated "
    "guarantee."
)

STEPS = (
    "**Draw** data, **split** them at random, **train**, **lose** (compute the loss of every "
    "held-out case), **sort** the losses, **read off** the bound: its rank alone makes the promise."
)


class Question(NamedTuple):
    """A CPP variant as a visitor asks for it."""

    label: str
    technical: str
    explanation: str


QUESTIONS: dict[str, Question] = {
    "candidate": Question(
        "The model I have",
        "candidate CPP",
        "Training is complete: what loss can I expect on a new case?",
    ),
    "z-free": Question(
        "After retraining",
        "algorithm CPP, Z-free",
        "I have an algorithm: once trained on fresh data, what loss can I expect?",
    ),
    "z-fixed": Question(
        "At one case, after retraining (fixed width)",
        "algorithm CPP, Z-modulated, fixed width",
        "Retrained on fresh data, what loss at this very case? All sets are equally wide.",
    ),
    "z-variable": Question(
        "At one case, after retraining (variable width)",
        "algorithm CPP, Z-modulated, variable width",
        "Retrained on fresh data, what loss at this very case? Hard cases get wider sets.",
    ),
    "symbolic": Question(
        "What kind of error",
        "symbolic CPP",
        "Will the next case be correct, a false positive or a false negative?",
    ),
    "batch": Question(
        "On the next batch",
        "sample-based CPP",
        "What error rate, accuracy or other metric on the next b cases?",
    ),
}

LOSS_WORDS: dict[str, str] = {
    "log_loss": "log loss: how surprised the model is by the true label; 0 is perfect",
    "zero_one": "1 for an error, 0 for a hit",
    "brier": "Brier loss: half the squared distance to the true label; 0 is perfect",
    "hinge": "hinge loss: how far the case lies on the wrong side of the margin; 0 is perfect",
    "squared_error": "squared error of the prediction; 0 is perfect",
    "absolute_error": "absolute error of the prediction; 0 is perfect",
    "error_rate": "share of errors in the batch; 0 is perfect",
    "accuracy": "share of hits in the batch; 1 is perfect",
    "f1": "F1 of the batch, averaged over classes; 1 is perfect",
    "roc_auc": "area under the ROC curve of the batch, averaged over classes; 1 is perfect",
    "mean_log_loss": "mean log loss of the batch; 0 is perfect",
    "rmse": "root mean squared error of the batch; 0 is perfect",
    "mae": "mean absolute error of the batch; 0 is perfect",
}

PRESET_LABELS: dict[str, str] = {
    "digits-candidate": "Digits: which SVM?",
    "digits-instance": "Digits: one image",
    "quadnoise-candidate": "GD or SGD?",
    "quadnoise-algorithm": "GD or SGD, after retraining",
}

RE_SPLITS = (
    "These trials re-split one table. Given the table, the counts of covered losses follow the "
    "exact law drawn here, whatever the table: agreement checks the arithmetic, and would hold on "
    "a table that drifts too. Ends, widths and mean losses describe re-splitting this table, not "
    "new tables."
)

NOT_FOR_ONE_CASE = (
    "What this does not promise: the probability counts new cases and all else that is drawn, "
    "together. Over many cases the sets hold what happens as often as promised; at this one case, "
    "or in one class, it may be more often or less."
)

BEFORE_THE_LABEL = (
    "While the label is still unknown, only the inputs can move the bar, and the promise is about "
    "one model that is trained already (on a third of the cases), not about retraining."
)


def loss_words(name: str, **settings: Any) -> str:
    """What a loss measures, with its range and unit.

    >>> loss_words("log_loss", clip=0.001)[-24:], loss_words("squared_error")[-28:]
    ('(range: 0 to 6.908 nats)', '(range: 0 to no upper limit)')
    """
    loss = make_loss(name, **settings)
    top = "no upper limit" if loss.high == float("inf") else f"{loss.high:.4g}"
    return f"{LOSS_WORDS[name]} (range: {with_unit(f'{loss.low:g} to {top}', loss.unit)})"


def duration(seconds: float) -> str:
    """Seconds as people say them.

    >>> duration(0.4), duration(55), duration(200), duration(9000)
    ('under a second', '55 s', '3 min', '2.5 h')
    """
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
