"""The constructions as a user asks for them."""

from typing import NamedTuple


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
