"""Algorithm CPP: the loss that an algorithm will incur once it is retrained on fresh data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cpp_core.checks import Level, check_count
from cpp_core.estimators.conformal_sets import ConformalSets, check_groups
from cpp_core.learners.batched import measuring_of
from cpp_core.method.constructions import dealt, modulated, plain
from cpp_core.method.evaluation import check_labels
from cpp_core.method.measuring import measure
from cpp_core.method.modulation import Modulation
from cpp_core.method.training import check_sample, tell_failures


class AlgorithmCPP(ConformalSets):
    """Intervals for the loss after retraining on m fresh cases (Theorems 8, 10 and 12).

    If the algorithm is retrained on m fresh cases (m, not all n), its loss on a new case lies in
    the interval with probability at least the confidence level, over the data given here, the fresh
    training sample and the new case together. Needs exchangeability only.

    Parameters
    ----------
    estimator : scikit-learn estimator
        The algorithm. Each training run is a clone with seeds of its own.
    loss, regressor, batch_size
        As in ``CandidateCPP``.
    n_sets : int
        k, the number of disjoint training subsets, each with its own evaluation point.
    n_evaluations : int
        Evaluation points of each subset. More than one (without modulation) makes the ends vary
        less for the same data, by the ranks of ``grouped_ranks``.
    modulation : None, "regression" or "quantile"
        None is the Z-free set. Otherwise the set moves with the new case (X, y): half of the data
        regresses the loss on the case, the other half calibrates, each with k subsets; "regression"
        has a fixed width, "quantile" a variable one.
    feature_map : callable or transformer, optional
        Turns X into inputs of ``regressor``; the label is appended, one-hot for classification. As
        in ``CandidateCPP``.
    paired_with : scikit-learn estimator, optional
        Bounds the difference l(estimator) - l(paired_with), both trained on the same sample.
    random_state : int, Generator or None
        Seeds the splits, and each training run independently.
    n_jobs : int, optional
        Workers that share the training runs, by joblib's convention: None is 1, unless a
        ``joblib.parallel_config`` says otherwise, -1 all cores. The numbers are the same for any.

    Attributes
    ----------
    losses_ : array (k,), or (k, n_evaluations) when that is more than one
    k_, m_ : int, the number of training subsets behind the ranks, and their size
    failures_ : list of Failure, training runs that raised, counted with the worst loss
    n_undefined_ : int, batches on which the metric was undefined, counted as the worst

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(6000, 2))
    >>> y = X.sum(axis=1) + rng.normal(size=6000)
    >>> cpp = AlgorithmCPP(Ridge(), n_sets=200, random_state=0).conformalize(X, y)
    >>> cpp.k_, cpp.m_
    (200, 29)
    >>> cpp.predict_interval(confidence_level=0.9, side="upper").round(1)
    array([0. , 3.2])
    """

    _with_label = True
    m_: int

    def __init__(
        self,
        estimator: Any,
        loss: Any = "squared_error",
        n_sets: int = 50,
        n_evaluations: int = 1,
        modulation: Modulation | None = None,
        regressor: Any = None,
        feature_map: Any = None,
        batch_size: int | None = None,
        paired_with: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.loss = loss
        self.n_sets = n_sets
        self.n_evaluations = n_evaluations
        self.modulation = modulation
        self.regressor = regressor
        self.feature_map = feature_map
        self.batch_size = batch_size
        self.paired_with = paired_with
        self.random_state = random_state
        self.n_jobs = n_jobs

    def conformalize(
        self, X: Any, y: ArrayLike | None = None, *, groups: ArrayLike | None = None
    ) -> "AlgorithmCPP":
        """Split the data, train on every subset and compute the losses.

        With ``groups``, one per case, the promise holds within the group of the evaluation point.
        """
        loss = self._check_choices(groups)
        check_count(self.n_sets, "n_sets")
        check_count(self.n_evaluations, "n_evaluations")
        alone = self.modulation is None and self.batch_size is None and groups is None
        if self.n_evaluations > 1 and not alone:
            raise ValueError(
                "n_evaluations above 1 is for plain sets; use it without modulation, batch_size "
                "and groups."
            )
        rows, labels = check_sample(X, y)
        check_labels(loss, () if labels is None else labels)
        n = rows.shape[0]
        names = check_groups(groups, n)
        layout = plain if self.modulation is None else modulated
        parts = layout(n, self.n_sets, self.batch_size or self.n_evaluations)
        self.m_ = parts[0].training.shape[1]
        split_rng, model_rng, fit_rng = np.random.default_rng(self.random_state).spawn(3)
        parts = dealt(parts, split_rng.permutation(n))
        self.failures_ = []
        # Two estimators share samples, not seeds: the second has those that the first leaves.
        way = measure if len(self._estimators) > 1 else measuring_of(self.estimator)
        measured = [
            way(estimator, loss, rows, labels, parts, fit_rng, n_jobs=self.n_jobs)
            for estimator in self._estimators
        ]
        self._finish(loss, measured, rows, labels, names, model_rng)
        tell_failures(self.failures_, len(parts) * self.n_sets * len(self._estimators))
        return self

    def predict_interval(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        *,
        confidence_level: Level | Sequence[Level] = 0.9,
        side: str = "two-sided",
        groups: ArrayLike | None = None,
    ) -> NDArray:
        """The interval for the loss after retraining: (2,), or (n, 2) for n new cases (X, y).

        Several levels come first: (L, 2), (L, n, 2). ``side="upper"`` bounds the bad side only.
        Ends that cross are the empty set. An end that k losses cannot give is the end of the
        loss's range, with a warning that says how many would do.
        """
        rows, labels = (None, None) if X is None else check_sample(X, y, "the new cases")
        return self._predict(rows, labels, confidence_level, side, groups)
