"""What can regress a loss on a case, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cpp_core.catalog.algorithms import made, scaled
from cpp_core.method.modulation import Modulation


@dataclass(frozen=True)
class Regressor:
    """A regression of the loss, or of its quantiles, with its label on a page.

    ``counterpart`` names the one to take where the other modulation is asked for; by default the
    first of its kind.
    """

    name: str
    label: str
    modulation: Modulation
    description: str
    make: Callable[[], Any]
    counterpart: str | None = None


_OFFERED = (
    Regressor(
        *("random-forest", "Random forest", "regression", "100 decision trees"),
        made("sklearn.ensemble:RandomForestRegressor"),
    ),
    Regressor(
        *("extra-trees", "Extra trees", "regression", "100 trees with random cuts"),
        made("sklearn.ensemble:ExtraTreesRegressor"),
        "quantile-extra-trees",
    ),
    Regressor(
        *("linear", "Linear model", "regression", "a linear model on standardised inputs"),
        scaled("sklearn.linear_model:Ridge"),
    ),
    Regressor(
        *("mean", "Mean loss", "regression", "the same at every case: the mean loss"),
        made("sklearn.dummy:DummyRegressor"),
    ),
    Regressor(
        *("quantile-forest", "Quantile forest", "quantile"),
        "quantiles of 100 decision trees",
        made("quantile_forest:RandomForestQuantileRegressor"),
    ),
    Regressor(
        *("quantile-extra-trees", "Quantile extra trees", "quantile"),
        "quantiles of 100 trees with random cuts",
        made("quantile_forest:ExtraTreesQuantileRegressor"),
        "extra-trees",
    ),
)
REGRESSORS: dict[str, Regressor] = {regressor.name: regressor for regressor in _OFFERED}
"""The registered regressions by name."""
