"""From calibration losses to sets at any confidence: what all numeric constructions share."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.exceptions import NotFittedError

from cpp_core.catalog.losses import resolve_loss
from cpp_core.checks import Level, alphas_of, check_count, check_side
from cpp_core.method.evaluation import Loss
from cpp_core.method.modulation import (
    CaseFeatures,
    LossModel,
    Modulation,
    fit_loss_model,
    modulated_scores,
    modulated_sets,
)
from cpp_core.method.ranks import grouped_ranks, order_statistic, tell_infinite
from cpp_core.method.training import Failure


@dataclass(frozen=True)
class Calibration:
    """The calibration losses of one construction, with smaller better, and what moves the set.

    ``losses`` has shape (k, b): b is 1 but for grouped algorithm CPP. ``model`` regresses the loss
    on ``features`` for modulated sets; ``groups`` names the group of each score.
    """

    losses: NDArray[np.float64]
    low: float
    high: float
    features: NDArray | None = None
    model: LossModel | None = None
    groups: NDArray | None = None

    def sets(
        self, alpha: Fraction, side: str, features: NDArray | None, groups: NDArray | None
    ) -> NDArray:
        """The set (2,), or one per case (n, 2) when it moves with the case or with its group."""
        if groups is None:
            return self._sets(alpha, side, features, self.losses, self.features, "")
        result = np.empty((len(groups), 2))
        for group in np.unique(groups):
            own, new = self.groups == group, groups == group
            result[new] = self._sets(
                alpha,
                side,
                None if features is None else features[new],
                self.losses[own],
                None if self.features is None else self.features[own],
                f" in group {str(group)!r}",
            )
        return result

    def _sets(
        self,
        alpha: Fraction,
        side: str,
        features: NDArray | None,
        losses: NDArray,
        calibration_features: NDArray | None,
        where: str,
    ) -> NDArray:
        rank_side = side if self.model is None else "upper"
        tell_infinite(len(losses), alpha, rank_side, f"calibration scores{where}")
        if not len(losses):
            lo, hi = 0, 1
        else:
            lo, hi = grouped_ranks(len(losses), losses.shape[1], alpha, rank_side)
        if self.model is None or features is None or calibration_features is None:
            scores = np.sort(losses, axis=None)
            ends = order_statistic(scores, lo), order_statistic(scores, hi)
            return np.array([max(ends[0], self.low), min(ends[1], self.high)])
        level = float(alpha)
        scores = np.empty(0)
        if len(losses):
            ends_at_scores = self.model.ends(calibration_features, level, side)
            scores = np.sort(modulated_scores(losses[:, 0], *ends_at_scores, side))
        lower, upper = self.model.ends(features, level, side)
        score = order_statistic(scores, hi)
        return modulated_sets(lower, upper, score, side, self.low, self.high)


class ConformalSets(BaseEstimator):
    """Base of the estimators that give intervals; subclasses fill in ``_calibration``."""

    estimator: Any
    loss: Any
    modulation: Modulation | None
    regressor: Any
    feature_map: Any
    batch_size: int | None
    paired_with: Any
    random_state: Any

    _calibration: Calibration
    _case_features: CaseFeatures | None
    _with_label: bool
    losses_: NDArray[np.float64]
    k_: int
    failures_: list[Failure]
    n_undefined_: int

    def _check_choices(self, groups: Any) -> Loss:
        """Refuse settings that do not go together; give the loss in force."""
        if self.modulation not in (None, "regression", "quantile"):
            raise ValueError(
                "modulation must be None, 'regression' (fixed width) or 'quantile' (variable "
                f"width), but {self.modulation!r} was given."
            )
        if self.batch_size is not None:
            check_count(self.batch_size, "batch_size")
            if self.modulation is not None or groups is not None:
                raise ValueError(
                    "A metric on a batch belongs to no single case or group: use batch_size "
                    "without modulation and without groups."
                )
        return resolve_loss(self.loss, self.batch_size)

    @property
    def _estimators(self) -> list[Any]:
        return [self.estimator] + ([] if self.paired_with is None else [self.paired_with])

    def _one_hot(self, y: NDArray | None) -> NDArray | None:
        """Classes for the one-hot label, None where the label is a number or absent."""
        categorical = y is not None and (
            any(is_classifier(e) for e in self._estimators) or y.dtype.kind not in "fiu"
        )
        return np.unique(y) if categorical and y is not None else None

    def _finish(
        self,
        loss: Loss,
        losses: NDArray,
        groups: NDArray | None,
        regression: tuple[Any, NDArray | None, NDArray] | None = None,
        calibration: tuple[Any, NDArray | None] | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Keep the losses, and the regression of the loss where the set moves with the case.

        ``regression`` holds (X, y, losses) of the pairs it is fitted on, ``calibration`` the (X, y)
        at which the calibration losses were measured.
        """
        shown = loss.paired() if self.paired_with is not None else loss
        low, high = sorted((shown.sign * shown.low, shown.sign * shown.high))
        features = model = self._case_features = None
        if self.modulation is not None and regression and calibration and rng:
            X, y, targets = regression
            self._case_features = CaseFeatures(
                self.feature_map, self._one_hot(y), with_label=self._with_label
            )
            inputs, targets = self._case_features(X, y), shown.sign * targets
            model = fit_loss_model(self.modulation, self.regressor, inputs, targets, rng)
            features = self._case_features(*calibration)
        self._sign = shown.sign
        self.loss_ = shown
        self.losses_ = losses
        self.k_ = len(losses)
        columns = losses.reshape(len(losses), -1)
        self._calibration = Calibration(shown.sign * columns, low, high, features, model, groups)

    def _predict(
        self,
        X: Any,
        y: NDArray | None,
        confidence_level: Level | Sequence[Level],
        side: str,
        groups: ArrayLike | None,
    ) -> NDArray:
        calibration = self._calibrated()
        check_side(side)
        if (groups is None) != (calibration.groups is None):
            raise ValueError(
                "groups must be given both to conformalize and to predict_interval, or to neither."
            )
        if (X is None) != (self._case_features is None):
            raise ValueError(
                "This set moves with the case: give predict_interval the new cases."
                if X is None
                else "This set is the same for every case: predict_interval takes no X unless "
                "modulation is 'regression' or 'quantile'."
            )
        features = self._case_features(X, y) if self._case_features else None
        names = None if groups is None else np.atleast_1d(np.asarray(groups))
        if names is not None and features is not None and len(names) != len(features):
            raise ValueError(f"{len(names)} groups were given for {len(features)} cases.")
        alphas, several = alphas_of(confidence_level)
        sets = np.stack([calibration.sets(a, side, features, names) for a in alphas])
        if self._sign < 0:  # a larger-is-better metric is shown as it is
            sets = -sets[..., ::-1]
        return sets if several else sets[0]

    def _calibrated(self) -> Calibration:
        if not hasattr(self, "_calibration"):
            raise NotFittedError(
                f"This {type(self).__name__} has no calibration losses yet; call conformalize "
                "with cases that the model was not trained on, then predict_interval."
            )
        return self._calibration


def check_groups(groups: ArrayLike | None, n: int) -> NDArray | None:
    """One group per case, or None."""
    if groups is None:
        return None
    names = np.asarray(groups)
    if names.shape != (n,):
        raise ValueError(f"groups has shape {names.shape}, but one per case, ({n},), is needed.")
    return names
