"""What can regress a loss on a case, by name."""

from collections.abc import Callable
from typing import Any

from quantile_forest import ExtraTreesQuantileRegressor, RandomForestQuantileRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cpp_core.method.modulation import Modulation


def _linear() -> Any:
    return make_pipeline(StandardScaler(), Ridge())


REGRESSORS: dict[str, tuple[Modulation, str, Callable[[], Any]]] = {
    "random-forest": ("regression", "100 decision trees", RandomForestRegressor),
    "extra-trees": ("regression", "100 trees with random cuts", ExtraTreesRegressor),
    "linear": ("regression", "a linear model on standardised inputs", _linear),
    "mean": ("regression", "no modulation: the mean loss", DummyRegressor),
    "quantile-forest": (
        "quantile",
        "quantiles of 100 decision trees",
        RandomForestQuantileRegressor,
    ),
    "quantile-extra-trees": (
        "quantile",
        "quantiles of 100 trees with random cuts",
        ExtraTreesQuantileRegressor,
    ),
}
"""Regressions of the loss by name: what they modulate, a description, what makes them."""
