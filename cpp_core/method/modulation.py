"""Sets that move with the case: regressions of the loss on what is known of the case.

The regression is fitted on pairs (case, loss) that calibration never sees; any regressor keeps the
guarantee, a good one makes the sets narrow. A fixed width uses one prediction f as both ends, a
variable width two quantiles q_lo and q_hi; with ``q_lo = q_hi = f`` the scores and the sets of the
two constructions are the same formulas, which stand here once.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpp_core.method.training import reseeded

Modulation = Literal["regression", "quantile"]

LEVELS = np.arange(1, 200) / 200
"""The grid of levels at which trials store quantile regressions: 0.005 to 0.995."""


def modulated_scores(losses: NDArray, lower: NDArray, upper: NDArray, side: str) -> NDArray:
    """How far each loss lies outside its predicted ends, negative inside.

    ``max(lower - l, l - upper)``, which is ``abs(l - f)`` when both ends are f (equations 23 and
    25 of the paper); ``l - upper`` for an upper bound.
    """
    above = losses - upper
    return above if side == "upper" else np.maximum(lower - losses, above)


def modulated_sets(
    lower: NDArray, upper: NDArray, score: Any, side: str, low: float, high: float
) -> NDArray:
    """Predicted ends widened by the calibration score and intersected with the loss's range.

    ``[lower - s, upper + s]`` (equations 24 and 26). A negative score narrows the set; ends that
    cross are the empty set, and the intersection leaves them crossed.

    A loss belongs to the set when its score, as computed, is at most s. Rounding of the score may
    hide as much as one unit in the last place of s, and of the sum one unit of its own: ends are
    wider by both, so that no such loss falls out, however small it is beside the prediction.
    """
    hidden = np.where(np.isfinite(score), np.spacing(np.abs(score)), 0.0)
    last = np.nextafter(upper + score + hidden, np.inf)
    first = np.nextafter(lower - score - hidden, -np.inf)
    first = np.full(upper.shape, low) if side == "upper" else np.maximum(first, low)
    return np.stack([first, np.minimum(last, high)], axis=-1)


@dataclass(frozen=True)
class CaseFeatures:
    """What the regression of the loss sees of a case: mapped inputs, then the label.

    The label is one-hot for classification (a class unknown here gives zeros), a number for
    regression, absent when ``with_label`` is false.
    """

    feature_map: Callable[[Any], Any] | None
    classes: NDArray | None
    with_label: bool = True

    def __call__(self, X: Any, y: NDArray | None) -> NDArray:
        mapped = X if self.feature_map is None else self.feature_map(X)
        try:
            inputs = np.asarray(mapped, dtype=np.float64).reshape(X.shape[0], -1)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"The regression of the loss needs numbers, but X could not be read as such "
                f"({error}); give a feature_map that turns X into an array of numbers."
            ) from error
        if not self.with_label or y is None:
            return inputs
        label = y[:, None] if self.classes is None else y[:, None] == self.classes[None, :]
        return np.hstack([inputs, label.astype(np.float64)])


def finite_targets(losses: NDArray) -> NDArray:
    """Losses to regress on: an infinite one (a failed fit) becomes the most extreme finite one.

    This shapes the regression only, which may be anything; the calibration scores stay infinite.
    """
    finite = losses[np.isfinite(losses)]
    bounds = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    return np.clip(losses, *bounds)


@dataclass
class LossModel:
    """A fitted regression of the loss that predicts a pair of ends for any alpha."""

    regressor: Any
    modulation: Modulation
    features: NDArray
    targets: NDArray
    seed: int
    _fitted: dict[float | None, Any] = field(default_factory=dict)

    def ends(self, features: NDArray, alpha: float, side: str) -> tuple[NDArray, NDArray]:
        """Predicted lower and upper ends: f twice, or the quantiles at alpha/2 and 1 - alpha/2.

        For an upper bound both are f, or the quantile at 1 - alpha.
        """
        return self.all_ends(features, [alpha], side)[0]

    def all_ends(
        self, features: NDArray, alphas: Sequence[float], side: str
    ) -> list[tuple[NDArray, NDArray]]:
        """The ends for each alpha, from one prediction, which costs more than all the rest."""
        if self.modulation == "regression":
            f = np.asarray(self._fit(None).predict(features), dtype=np.float64)
            return [(f, f)] * len(alphas)
        lower = [] if side == "upper" else [alpha / 2 for alpha in alphas]
        upper = [1 - alpha if side == "upper" else 1 - alpha / 2 for alpha in alphas]
        q = self.quantiles(features, lower + upper).T
        return list(zip(q[: len(alphas)], q[-len(alphas) :], strict=True))

    def quantiles(self, features: NDArray, levels: Sequence[float]) -> NDArray:
        """Conditional quantiles of the loss, (n, L); one fit serves all levels where it can."""
        if self.takes_levels:
            predicted = self._fit(None).predict(features, quantiles=list(levels))
            return np.asarray(predicted, dtype=np.float64).reshape(len(features), len(levels))
        columns = [self._fit(level).predict(features) for level in levels]
        return np.column_stack(columns).astype(np.float64)

    @cached_property
    def takes_levels(self) -> bool:
        """Whether one fit predicts any level, as quantile-forest's regressors do."""
        return "quantiles" in inspect.signature(type(self.regressor).predict).parameters

    def _fit(self, level: float | None) -> Any:
        if level not in self._fitted:
            fresh = reseeded(self.regressor, np.random.default_rng(self.seed))
            if level is not None:
                fresh.set_params(**{level_parameter(self.regressor): level})
            self._fitted[level] = fresh.fit(self.features, self.targets)
        return self._fitted[level]


def label_classes(estimators: Sequence[Any], y: NDArray | None) -> NDArray | None:
    """Classes of the one-hot label; None where the label is a number to regress on, or absent.

    It is one-hot where an algorithm classifies, or where labels are no numbers.
    """
    from sklearn.base import is_classifier

    if y is None or not (any(is_classifier(e) for e in estimators) or y.dtype.kind not in "fiu"):
        return None
    return np.unique(y)


def level_parameter(regressor: Any) -> str:
    """The parameter that holds the level of a regressor which is fitted for one quantile."""
    parameters = regressor.get_params(deep=True)
    for name in sorted(parameters, key=len):
        if name == "quantile" or name.endswith("__quantile"):
            return name
    if parameters.get("loss") == "quantile" and "alpha" in parameters:
        return "alpha"
    raise ValueError(
        f"{type(regressor).__name__} does not regress quantiles; for modulation='quantile' give "
        "one whose predict takes `quantiles` (quantile-forest), or one with a parameter "
        "`quantile`, such as scikit-learn's QuantileRegressor."
    )


def fit_loss_model(
    modulation: Modulation,
    regressor: Any,
    features: NDArray,
    losses: NDArray,
    rng: np.random.Generator,
) -> LossModel:
    """Regress the loss on the case; the default is a random forest, or a quantile forest."""
    if regressor is None:
        from quantile_forest import RandomForestQuantileRegressor
        from sklearn.ensemble import RandomForestRegressor

        forests = {"regression": RandomForestRegressor, "quantile": RandomForestQuantileRegressor}
        regressor = forests[modulation]()
    seed = int(rng.integers(2**31))
    model = LossModel(regressor, modulation, features, finite_targets(losses), seed)
    if modulation == "quantile" and not model.takes_levels:
        level_parameter(regressor)  # refuses what cannot regress quantiles, before any use
    else:
        model._fit(None)
    return model
