"""Symbolic losses: which kind of error, how likely each is at a case, and which are left."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.method.constructions import Role
from cpp_core.method.evaluation import EPSILON, aligned
from cpp_core.method.modulation import LossModel, fit_loss_model
from cpp_core.method.ranks import Ranked
from cpp_core.method.training import FailedCandidate, train

CORRECT, FP, FN, OTHER = "Correct", "FP", "FN", "Other"


@dataclass(frozen=True)
class Symbols:
    """The kind of error as what is measured, in the place of a loss."""

    positive_class: Any


def symbols_of(predicted: NDArray, y: NDArray, positive_class: Any) -> NDArray:
    """The kind of error of each prediction, one class against the rest.

    >>> symbols_of(np.array(list("aabbc")), np.array(list("ababb")), "a")
    array(['Correct', 'FP', 'FN', 'Correct', 'Other'], dtype='<U7')
    """
    wrong = np.where(y == positive_class, FN, np.where(predicted == positive_class, FP, OTHER))
    return np.where(predicted == y, CORRECT, wrong)


def possible_symbols(y: NDArray, positive_class: Any, symbols: Sequence[str]) -> NDArray:
    """Which symbols a case with label y can get, (n, S): a positive one is never an FP."""
    positive = (y == positive_class)[:, None]
    names = np.array(symbols)
    return np.where(positive, np.isin(names, [CORRECT, FN]), names != FN)


def symbols_at(candidate: Any, X: Any, y: NDArray, positive_class: Any) -> NDArray:
    """The symbols of a candidate at every case; a failed one errs in the way that y allows."""
    if isinstance(candidate, FailedCandidate):
        return np.where(y == positive_class, FN, FP)
    return symbols_of(np.asarray(candidate.predict(X)), y, positive_class)


@dataclass(frozen=True)
class SymbolModel:
    """How likely each symbol is at a case, s(z, c), and the regressed quantile q(z) of s."""

    symbols: tuple[str, ...]
    classifier: Any
    quantiles: LossModel

    def log_probabilities(self, inputs: NDArray) -> NDArray:
        """s(z, c) for every symbol, (n, S); one never seen has the clipped probability."""
        return symbol_scores(self.classifier, self.symbols, inputs)


def symbol_scores(classifier: Any, symbols: tuple[str, ...], inputs: NDArray) -> NDArray:
    """Logs of a classifier's probabilities for the symbols, clipped at machine epsilon."""
    probabilities = np.asarray(classifier.predict_proba(inputs), dtype=np.float64)
    columns = [
        aligned(probabilities, classifier.classes_, np.full(len(inputs), symbol), 0.0)
        for symbol in symbols
    ]
    return np.log(np.maximum(np.column_stack(columns), EPSILON))


def score_of(scores: NDArray, symbols: tuple[str, ...], happened: NDArray) -> NDArray:
    """The column of ``scores`` that belongs to what happened at each case."""
    unknown = np.setdiff1d(happened, symbols)
    if unknown.size:
        raise ValueError(
            f"What happened at some cases is {', '.join(unknown)}, but of these labels only "
            f"{', '.join(symbols)} are known: a model must answer with labels that the data has."
        )
    order = np.argsort(symbols)
    return aligned(scores[:, order], np.array(symbols)[order], happened, np.nan)


def default_classifier() -> Any:
    """What gives symbols their probabilities where nobody says: a forest, loaded when asked for.

    Leaves of several points: a probability of exactly 0 would rule a symbol out for good.
    """
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(min_samples_leaf=5)


def fit_symbol_model(
    symbols: tuple[str, ...],
    inputs: Mapping[Role, NDArray],
    happened: Mapping[Role, NDArray],
    classifier: Any,
    regressor: Any,
    rng: np.random.Generator,
) -> SymbolModel:
    """Learn s on the part that scores (TR), regress its alpha-quantiles on the next (EV)."""
    score_rng, quantile_rng = rng.spawn(2)
    classifier = default_classifier() if classifier is None else classifier
    fitted = train(classifier, inputs["score"], happened["score"], score_rng)
    if isinstance(fitted, FailedCandidate):
        raise ValueError(f"The classifier of symbols failed: {fitted.message}")
    scores = symbol_scores(fitted, symbols, inputs["regress"])
    truth = score_of(scores, symbols, happened["regress"])
    model = fit_loss_model("quantile", regressor, inputs["regress"], truth, quantile_rng)
    return SymbolModel(symbols, fitted, model)


def symbol_sets(
    truth: NDArray, q: NDArray, likely: NDArray, q_new: NDArray, alpha: Level
) -> NDArray[np.bool_]:
    """Every c with q(z) - s(z, c) <= s_(hi); an empty set gets its most likely symbol.

    ``truth`` and ``q`` (..., k) hold s of what happened and the regressed quantile at calibration,
    ``likely`` (..., n, S) all s(z, c) at the new cases, -inf for what is impossible, ``q_new``
    (..., n) the quantile there. The score at the upper-bound rank is infinite where k is too small:
    then all possible symbols are left. Scores are compared as they were made, so that equal ones
    stay equal.
    """
    score = np.asarray(Ranked.of(q - truth).ends(alpha, "upper")[1])
    sets = (q_new[..., None] - likely <= score[..., None, None]) & np.isfinite(likely)
    best = likely.argmax(axis=-1)[..., None]
    np.put_along_axis(sets, best, np.take_along_axis(sets, best, -1) | ~sets.any(-1)[..., None], -1)
    return sets


def symbols_for(classes: Collection[Any], happened: Collection[str] = ()) -> tuple[str, ...]:
    """The symbols of a classification with these classes, and where these ones happened.

    >>> symbols_for("ab"), symbols_for("abc") == symbols_for("ab", ["Correct", "Other"])
    (('Correct', 'FP', 'FN'), True)
    """
    binary = len(classes) <= 2 and OTHER not in happened
    return (CORRECT, FP, FN) if binary else (CORRECT, FP, FN, OTHER)
