"""Symbolic losses: which kind of error, as a set of symbols instead of an interval."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from cpp_core.checks import Level, alphas_of, check_count
from cpp_core.learners.table_encoder import fitted_map
from cpp_core.method.constructions import dealt, held_out, symbolic
from cpp_core.method.measuring import Measured, measure
from cpp_core.method.modulation import CaseFeatures
from cpp_core.method.ranks import tell_infinite
from cpp_core.method.symbols import (
    Symbols,
    fit_symbol_model,
    possible_symbols,
    score_of,
    symbol_sets,
    symbols_for,
)
from cpp_core.method.training import check_sample, failure_of, take, tell_failures, train


class SymbolicCPP(BaseEstimator):
    """Sets of Correct / FP / FN / Other that hold the kind of the next error.

    Three disjoint parts of the data: on the first a classifier learns which symbol a case gets, and
    ``s(z, c)``, the log of its probability for symbol c, says how likely c is; on the second the
    alpha-quantile of the true symbol's s is regressed on the case; on the third the differences
    q(z) - s(z, c) calibrate. The set is every c with ``s(z, c) >= q(z) - s_(hi)``, and holds the
    true symbol with probability at least the confidence level, over all data and the new case
    together.

    Parameters
    ----------
    estimator : scikit-learn classifier
    positive_class : label
        The class whose false positives and false negatives are told apart.
    n_sets : int or None
        k, the training subsets in each of the three parts: the promise is for the algorithm
        retrained on m fresh cases. None: the promise is for one candidate, trained by ``fit`` (or
        before, with ``prefit``), and each point of the three parts is an evaluation point.
    prefit : bool
        With ``n_sets=None``: whether ``estimator`` is trained already.
    classifier, regressor : scikit-learn estimators, optional
        Score the symbols and regress the quantile; by default a random forest and a quantile
        forest.
    feature_map : callable or transformer, optional
        Turns X into their inputs; the one-hot label is appended. As in ``CandidateCPP``.
    drop_impossible : bool
        Leave out symbols that the label excludes (FP for a positive case).
    random_state : int, Generator or None
    n_jobs : int, optional
        Workers that share the training runs, by joblib's convention: None is 1, unless a
        ``joblib.parallel_config`` says otherwise, -1 all cores. The numbers are the same for any.

    Attributes
    ----------
    symbols_ : tuple of str, the columns of ``predict_set``; Other where more than two classes are
        among the labels, or among what the model may answer
    k_, m_ : int, calibration scores, and size of a training subset (None for a candidate)
    failures_ : list of Failure; such a run counts as FN for a positive case, FP for a negative one

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 2))
    >>> y = (X[:, 0] + rng.normal(size=900) > 0).astype(int)
    >>> cpp = SymbolicCPP(LogisticRegression(), positive_class=1, n_sets=30, random_state=0)
    >>> cpp.conformalize(X, y).symbols_
    ('Correct', 'FP', 'FN')
    >>> cpp.predict_set([[3.0, 0.0], [-3.0, 0.0]], [1, 1])
    array([[ True, False, False],
           [ True, False,  True]])
    """

    def __init__(
        self,
        estimator: Any,
        positive_class: Any = 1,
        n_sets: int | None = 50,
        prefit: bool = False,
        classifier: Any = None,
        regressor: Any = None,
        feature_map: Any = None,
        drop_impossible: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.positive_class = positive_class
        self.n_sets = n_sets
        self.prefit = prefit
        self.classifier = classifier
        self.regressor = regressor
        self.feature_map = feature_map
        self.drop_impossible = drop_impossible
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike) -> "SymbolicCPP":
        """Train the candidate that the promise is about; only with ``n_sets=None``."""
        if self.n_sets is not None or self.prefit:
            raise ValueError(
                "fit trains a candidate: it is for n_sets=None and prefit=False; otherwise call "
                "conformalize directly."
            )
        rows, labels = check_sample(X, y, "the training sample")
        rng = np.random.default_rng(self.random_state).spawn(1)[0]
        self.candidate_ = train(self.estimator, rows, labels, rng)
        return self

    def conformalize(self, X: Any, y: ArrayLike) -> "SymbolicCPP":
        """Learn the scores of the symbols and calibrate them, on three disjoint random parts."""
        rows, labels = check_sample(X, y)
        if labels is None or not (labels == self.positive_class).any():
            raise ValueError(
                f"No label equals the positive class {self.positive_class!r}; choose one of "
                f"{[] if labels is None else np.unique(labels).tolist()[:10]}."
            )
        split_rng, fit_rng, model_rng = np.random.default_rng(self.random_state).spawn(4)[1:]
        measured = self._measured(rows, labels, split_rng, fit_rng)
        points = {role: at[:, 0] for role, at in measured.at.items()}
        happened = {role: symbols[:, 0] for role, symbols in measured.values.items()}
        classes = {*labels.tolist(), *self._answers()}
        self.symbols_ = symbols_for(classes, np.concatenate([*happened.values()]).tolist())
        scored = points["score"]  # what the features are learned from takes no part in the ranks
        mapped = fitted_map(self.feature_map, take(rows, scored))
        self._features = CaseFeatures(mapped, np.unique(labels[scored]))
        inputs = {role: self._features(take(rows, at), labels[at]) for role, at in points.items()}
        self._model = fit_symbol_model(
            self.symbols_, inputs, happened, self.classifier, self.regressor, model_rng
        )
        scores = self._model.log_probabilities(inputs["calibrate"])
        truth = score_of(scores, self.symbols_, happened["calibrate"])
        self._calibration = inputs["calibrate"], truth
        self.k_ = len(scores)
        return self

    def predict_set(
        self, X: Any, y: ArrayLike, *, confidence_level: Level | Sequence[Level] = 0.9
    ) -> NDArray[np.bool_]:
        """Which symbols belong to the set of each new case: (n, S), several levels (L, n, S).

        A set that comes out empty gets its most likely symbol.
        """
        if not hasattr(self, "_calibration"):
            raise NotFittedError(
                "This SymbolicCPP is not calibrated yet; call conformalize, then predict_set."
            )
        rows, labels = check_sample(X, y, "the new cases")
        if labels is None:
            raise ValueError("The set depends on the label of the case: give y as well as X.")
        alphas, several = alphas_of(confidence_level)
        inputs = self._features(rows, labels)
        likely = self._model.log_probabilities(inputs)
        if self.drop_impossible:
            likely[~possible_symbols(labels, self.positive_class, self.symbols_)] = -np.inf
        calibrated, truth = self._calibration
        at, levels = np.concatenate([calibrated, inputs]), [float(alpha) for alpha in alphas]
        quantiles = self._model.quantiles.quantiles(at, levels).T
        sets = []
        for alpha, q in zip(alphas, quantiles, strict=True):
            tell_infinite(self.k_, alpha, "upper")
            sets.append(symbol_sets(truth, q[: self.k_], likely, q[self.k_ :], alpha))
        return np.stack(sets) if several else sets[0]

    def _candidate(self) -> Any:
        """The trained model that the promise is about; None where it is about an algorithm."""
        if self.n_sets is not None:
            return None
        candidate = self.estimator if self.prefit else getattr(self, "candidate_", None)
        if candidate is None:
            raise ValueError("With n_sets=None call fit first, or pass prefit=True.")
        return candidate

    def _answers(self) -> list[Any]:
        """What a trained model says that it may answer, of which some may be no label here."""
        classes = getattr(self._candidate(), "classes_", None)
        return [] if classes is None else np.ravel(classes).tolist()

    def _measured(
        self, X: Any, y: NDArray, split_rng: np.random.Generator, fit_rng: np.random.Generator
    ) -> Measured:
        """The symbols that happened in the three parts."""
        n, candidate = X.shape[0], self._candidate()
        self.m_: int | None = None
        if self.n_sets is None:
            if n < 3:
                raise ValueError(f"{n} points cannot be divided into 3 parts; 3 are needed.")
            parts = held_out(np.arange(n), ("score", "regress", "calibrate"))
        else:
            parts = symbolic(n, check_count(self.n_sets, "n_sets"))
            self.m_ = parts[0].training.shape[1]
        parts = dealt(parts, split_rng.permutation(n))
        kinds = Symbols(self.positive_class)
        measured = measure(
            self.estimator, kinds, X, y, parts, fit_rng, candidate, n_jobs=self.n_jobs
        )
        self.failures_ = failure_of(self.estimator, candidate) + measured.failures
        tell_failures(self.failures_, 3 * (self.n_sets or 1))
        return measured
