"""Whether the numbers of a file are losses or scores: guessed from names and values, and told."""

import math
import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*")
SCORE_WORDS = re.compile(
    "accuracy|acc|auc|auroc|f1|r2|correct|hits?|right|rewards?|gains?|precision|recall|utility|"
    "profit|success|likelihood|loglik|similarity|iou|dice|kappa|mcc|ndcg|bleu"
)
LOSS_WORDS = re.compile(
    ".*loss|.*losses|.*errors?|err|wrong|incorrect|mistakes?|miss|misses|costs?|mse|mae|rmse|mape|"
    "nll|brier|regret|deviance|perplexity|penalty|hinge|wer"
)
DIRECTIONS = {True: "scores, greater is better", False: "losses, smaller is better"}
"""What the numbers of a file may be, by whether greater is better."""


def guessed_direction(columns: Mapping[str, NDArray]) -> tuple[bool, str]:
    """Whether greater is better, by the names of the columns or by their values, and why.

    >>> guessed_direction({"svm_accuracy": np.array([0.9])})
    (True, "because of the column name 'svm_accuracy'")
    """
    says = {name: _name_says(name) for name in columns}
    scores = [name for name, found in says.items() if "score" in found]
    losses = [name for name, found in says.items() if "loss" in found]
    if scores and losses:
        raise ValueError(
            f"{scores[0]!r} sounds like {DIRECTIONS[True]}, and {losses[0]!r} like "
            f"{DIRECTIONS[False]}: say --greater-is-better or --smaller-is-better for all columns, "
            "or take columns of one kind."
        )
    if scores or losses:
        return bool(scores), f"because of the column name {(scores or losses)[0]!r}"
    values = np.concatenate(list(columns.values()))
    if zero_one(columns):
        return False, "which 0 and 1 cannot tell, nor the column names"
    if (values <= 0).all():
        return True, "because no number is above 0 and the column names say nothing"
    return False, "because the column names say nothing else"


def zero_one(columns: Mapping[str, NDArray]) -> bool:
    """Whether every number is 0 or 1.

    >>> zero_one({"a": np.array([0.0, 1.0])}), zero_one({"a": np.array([0.0, 0.5])})
    (True, False)
    """
    return all(bool(np.isin(own, (0, 1)).all()) for own in columns.values())


def as_errors(
    columns: Mapping[str, NDArray], low: float = -math.inf, high: float = math.inf
) -> bool:
    """Whether zeros and ones are taken as errors: they are unless a wider range was given.

    >>> own = {"a": np.array([0.0, 1.0])}
    >>> as_errors(own), as_errors(own, high=1.0), as_errors(own, high=5.0)
    (True, True, False)
    """
    return zero_one(columns) and low in (-math.inf, 0) and high in (1, math.inf)


def _name_says(name: str) -> set[str]:
    """What a column's name speaks of: scores, losses, both or neither.

    >>> [sorted(_name_says(name)) for name in ("brier_score", "neg_log_loss", "rocAUC", "svm")]
    [['loss'], ['score'], ['score'], []]
    """
    words = {word.lower() for word in WORD.findall(name)}
    words |= {word.rstrip("0123456789") for word in words}
    found = {"score"} if any(map(SCORE_WORDS.fullmatch, words)) else set()
    if any(map(LOSS_WORDS.fullmatch, words)):
        return {"score"} if words & {"neg", "negative"} else found | {"loss"}
    return found or ({"score"} if words & {"score", "scores"} else set())
