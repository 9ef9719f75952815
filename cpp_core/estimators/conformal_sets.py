"""From calibration losses to sets at any confidence: what all numeric constructions share."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from cpp_core.catalog.losses import resolve_loss
from cpp_core.checks import Level, alphas_of, check_count, check_side
from cpp_core.learners.table_encoder import fitted_map
from cpp_core.method.evaluation import Loss
from cpp_core.method.measuring import Measured, paired
from cpp_core.method.modulation import (
    CaseFeatures,
    LossModel,
    Modulation,
    fit_loss_model,
    label_classes,
)
from cpp_core.method.ranks import Ranked, tell_infinite
from cpp_core.method.sets import moved_sets, within_groups
from cpp_core.method.training import Failure, sample_rows


@dataclass(frozen=True)
class Calibration:
    """The calibration losses of one construction, with smaller better, and what moves the set.

    ``losses`` has shape (k, b): b is 1 but for grouped algorithm CPP. Where sets are modulated, a
    ``model`` regresses the loss on ``features``; ``groups`` names the group of each score.
    """

    losses: NDArray[np.float64]
    low: float
    high: float
    features: NDArray
    model: LossModel | None = None
    groups: NDArray | None = None

    def sets(
        self, alphas: Sequence[Fraction], side: str, features: NDArray, groups: NDArray | None
    ) -> NDArray:
        """At each alpha the set (2,), or one per case (n, 2) if it moves with it or its group."""
        if groups is None or self.groups is None:
            return self._sets(alphas, side, features, np.ones(len(self.losses), dtype=bool))

        def of_group(own: NDArray, new: NDArray, group: str) -> NDArray:
            at = features if self.model is None else features[new]
            found = self._sets(alphas, side, at, own, f" in group {group!r}")
            return found[:, None] if self.model is None else found

        return within_groups(self.groups, groups, of_group, len(alphas))

    def _sets(
        self,
        alphas: Sequence[Fraction],
        side: str,
        features: NDArray,
        own: NDArray,
        where: str = "",
    ) -> NDArray:
        losses, model = self.losses[own], self.model
        ranked_by = side if model is None else "upper"
        for alpha in alphas:
            tell_infinite(len(losses), alpha, ranked_by, f"calibration scores{where}")
        if model is None:
            ranked = Ranked.of(losses.ravel(), self.low, self.high, losses.shape[1])
            return np.array([ranked.ends(alpha, side) for alpha in alphas])
        at, k = np.concatenate([self.features[own], features]), len(losses)
        found = []
        predicted = model.all_ends(at, [float(alpha) for alpha in alphas], side)
        for alpha, (lower, upper) in zip(alphas, predicted, strict=True):
            ends = (lower[:k], upper[:k]), (lower[k:], upper[k:])
            sets = moved_sets(losses[:, 0], *ends, alpha, side, self.low, self.high)
            found.append(np.column_stack([sets.lower, sets.upper]))
        return np.array(found)


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

    def _finish(
        self,
        loss: Loss,
        measured: Sequence[Measured],
        X: Any,
        y: NDArray | None,
        groups: NDArray | None,
        rng: np.random.Generator,
    ) -> None:
        """Keep the losses, and the regression of the loss where the set moves with the case.

        ``measured`` has one entry, or two to pair; ``groups`` the group of each row of (X, y).
        """
        own = measured[0] if len(measured) == 1 else paired(*measured)
        shown = loss.paired() if self.paired_with is not None else loss
        low, high = sorted((shown.sign * shown.low, shown.sign * shown.high))
        losses, at = own.values["calibrate"], own.at["calibrate"][:, 0]
        features, model, self._case_features = np.empty((0, 0)), None, None
        if self.modulation is not None:
            regressed = sample_rows(X, y, own.at["regress"][:, 0])
            classes = label_classes(self._estimators, regressed[1])
            mapped = fitted_map(self.feature_map, regressed[0])
            self._case_features = CaseFeatures(mapped, classes, self._with_label)
            inputs = self._case_features(*regressed)
            targets = shown.sign * own.values["regress"][:, 0]
            model = fit_loss_model(self.modulation, self.regressor, inputs, targets, rng)
            features = self._case_features(*sample_rows(X, y, at))
        self._sign = shown.sign
        self.loss_ = shown
        self.losses_ = losses[:, 0] if losses.shape[1] == 1 else losses
        self.k_ = len(losses)
        self.failures_ += own.failures
        self.n_undefined_ = own.n_undefined
        names = None if groups is None else groups[at]
        self._calibration = Calibration(shown.sign * losses, low, high, features, model, names)

    def _predict(
        self,
        X: Any,
        y: NDArray | None,
        confidence_level: Level | Sequence[Level],
        side: str,
        groups: ArrayLike | None,
    ) -> NDArray:
        if not hasattr(self, "_calibration"):
            raise NotFittedError(
                f"This {type(self).__name__} has no calibration losses yet; call conformalize "
                "with cases that the model was not trained on, then predict_interval."
            )
        calibration = self._calibration
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
        features = self._case_features(X, y) if self._case_features else np.empty((0, 0))
        names = None if groups is None else np.atleast_1d(np.asarray(groups))
        if names is not None and self._case_features and len(names) != len(features):
            raise ValueError(f"{len(names)} groups were given for {len(features)} cases.")
        alphas, several = alphas_of(confidence_level)
        sets = calibration.sets(alphas, side, features, names)
        if self._sign < 0:  # a larger-is-better metric is shown as it is
            sets = -sets[..., ::-1]
        return sets if several else sets[0]


def check_groups(groups: ArrayLike | None, n: int) -> NDArray | None:
    """One group per case, or None."""
    if groups is None:
        return None
    names = np.asarray(groups)
    if names.shape != (n,):
        raise ValueError(f"groups has shape {names.shape}, but one per case, ({n},), is needed.")
    return names
