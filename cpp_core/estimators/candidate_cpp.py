"""Candidate CPP: the loss that THIS trained model will incur on a new case."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpp_core.checks import Level
from cpp_core.estimators.conformal_sets import ConformalSets, check_groups
from cpp_core.method.constructions import Role, held_out
from cpp_core.method.evaluation import check_labels
from cpp_core.method.measuring import measure
from cpp_core.method.modulation import Modulation
from cpp_core.method.training import check_sample, failure_of, tell_failures, train


class CandidateCPP(ConformalSets):
    """Intervals for the loss of a trained candidate on a new case (Theorem 5 of the paper).

    For a new case drawn like the calibration data, the loss of this trained model lies in the
    interval with probability at least the confidence level, over the calibration draw and the new
    case together. Needs exchangeability only. Not valid once the model is refitted.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Trained by ``fit``, or trained already when ``prefit``. It need not predict anything as
        long as the loss can evaluate it.
    loss : str, Loss or callable
        A name in ``cpp_core.LOSSES``, a ``Loss``, or ``loss(candidate, X, y) -> (n,)``.
    prefit : bool
        Whether ``estimator`` (and ``paired_with``) was trained elsewhere.
    modulation : None, "regression" or "quantile"
        None gives one interval. Otherwise the interval moves with X, for when the label is still
        unknown: the points given to ``conformalize`` are split at random, one half regresses the
        loss on X (fixed width: any regressor; variable width: any quantile regressor), the other
        calibrates. The promise stays marginal.
    regressor : scikit-learn regressor, optional
        Regresses the loss; by default a random forest, or a quantile forest.
    feature_map : callable or transformer, optional
        Turns X into the inputs of ``regressor``. A transformer is fitted to the half that
        regresses; by default it is a ``TableEncoder`` where X is a frame of mixed columns.
    batch_size : int, optional
        Bounds a metric on the next ``batch_size`` cases instead of the loss of one.
    paired_with : scikit-learn estimator, optional
        Bounds the difference l(estimator) - l(paired_with) on the same case.
    random_state : int, Generator or None
        Seeds the training run and the random splits.

    Attributes
    ----------
    candidate_ : the trained model
    losses_ : array (k,), the calibration losses
    k_ : int, how many
    failures_ : list of Failure, training runs that raised
    n_undefined_ : int, batches on which the metric was undefined, counted as the worst

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(400, 2))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> cpp = CandidateCPP(LogisticRegression(), random_state=0)
    >>> cpp.fit(X[:200], y[:200]).conformalize(X[200:], y[200:]).k_
    200
    >>> cpp.predict_interval(confidence_level=0.9, side="upper").round(2)
    array([0.  , 0.39])
    """

    _with_label = False

    def __init__(
        self,
        estimator: Any,
        loss: Any = "log_loss",
        prefit: bool = False,
        modulation: Modulation | None = None,
        regressor: Any = None,
        feature_map: Any = None,
        batch_size: int | None = None,
        paired_with: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.prefit = prefit
        self.modulation = modulation
        self.regressor = regressor
        self.feature_map = feature_map
        self.batch_size = batch_size
        self.paired_with = paired_with
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> "CandidateCPP":
        """Train the candidate, and its rival on the same sample with a seed of its own."""
        self._check_choices(None)
        if self.prefit:
            raise ValueError(
                "prefit=True says that the model is trained already: call conformalize directly."
            )
        rows, labels = check_sample(X, y, "the training sample")
        rng = np.random.default_rng(self.random_state)
        generators = rng.spawn(len(self._estimators))
        self._split_seed = int(rng.integers(2**63))
        self._candidates = [
            train(estimator, rows, labels, rng)
            for estimator, rng in zip(self._estimators, generators, strict=True)
        ]
        self.candidate_ = self._candidates[0]
        pairs = zip(self._estimators, self._candidates, strict=True)
        self.failures_ = [failure for pair in pairs for failure in failure_of(*pair)]
        tell_failures(self.failures_, len(self._candidates))
        return self

    def conformalize(
        self, X: Any, y: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> "CandidateCPP":
        """Compute the losses of the candidate on cases that it was not trained on.

        With ``groups``, one per case, the promise holds within each group separately; each group
        then needs enough cases of its own.
        """
        loss = self._check_choices(groups)
        if self.prefit:
            self._candidates = self._estimators
            self.candidate_, self.failures_ = self.estimator, []
            self._split_seed = int(np.random.default_rng(self.random_state).integers(2**63))
        elif not hasattr(self, "_candidates"):
            raise ValueError(
                "The model is not trained yet: call fit first, or pass prefit=True for a model "
                "that was trained elsewhere."
            )
        rows, labels = check_sample(X, y, "the calibration sample")
        learned = (getattr(candidate, "classes_", ()) for candidate in self._candidates)
        check_labels(loss, [*chain(*learned), *np.unique([] if labels is None else labels)])
        names, n, b = check_groups(groups, rows.shape[0]), rows.shape[0], self.batch_size or 1
        if n < b:
            raise ValueError(
                f"{n} calibration cases hold no batch of {b}; at least {b} are needed."
            )
        split_rng, model_rng = np.random.default_rng(self._split_seed).spawn(2)
        plain = self.modulation is None and self.batch_size is None
        order = np.arange(n) if plain else split_rng.permutation(n)
        roles: tuple[Role, ...] = ("regress", "calibrate") if self.modulation else ("calibrate",)
        parts = held_out(order, roles, batch_size=b)
        measured = [
            measure(estimator, loss, rows, labels, parts, model_rng, candidate)
            for estimator, candidate in zip(self._estimators, self._candidates, strict=True)
        ]
        self._finish(loss, measured, rows, labels, names, model_rng)
        return self

    def predict_interval(
        self,
        X: Any = None,
        *,
        confidence_level: Level | Sequence[Level] = 0.9,
        side: str = "two-sided",
        groups: ArrayLike | None = None,
    ) -> NDArray:
        """The interval for the next loss: (2,), (n, 2) with modulation or groups; L levels first.

        ``side="upper"`` bounds the bad side only. An end that k losses cannot give is the end of
        the loss's range, with a warning that says how many would do. Choose the confidence before
        looking at the losses.
        """
        rows = None if X is None else check_sample(X, None, "the new cases")[0]
        return self._predict(rows, None, confidence_level, side, groups)
