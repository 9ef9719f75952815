"""Settings that a page or a command offers: of simulations, algorithms and losses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Setting:
    """A setting that a page offers, of a simulation or an algorithm, with its name in a link.

    A choice among ``options``, which are labels by name, or a number from ``low`` to ``high`` in
    steps.
    """

    name: str
    label: str
    key: str
    default: Any
    options: Mapping[str, str] = field(default_factory=dict)
    low: float = 0
    high: float = 0
    step: float = 0


def _of(
    algorithm: str, *settings: tuple[str, str, float, float, float, float]
) -> tuple[Setting, ...]:
    """Numbers, each as its name, label, usual value, least, greatest and step."""
    return tuple(
        Setting(name, label, f"{algorithm}.{name}", usual, low=low, high=high, step=step)
        for name, label, usual, low, high, step in settings
    )


_PENALTY = ("C", "Weight of errors against the margin (C)", 1.0, 0.001, 1000.0, 0.1)
ALGORITHM_SETTINGS: dict[str, tuple[Setting, ...]] = {
    "svm-lin": _of("svm-lin", _PENALTY),
    "svm-rbf": _of("svm-rbf", _PENALTY),
    "gd": _of("gd", ("updates", "Updates", 5, 1, 200, 1), ("step", "Step", 0.1, 0.001, 1.0, 0.01)),
    "sgd": _of("sgd", ("passes", "Passes", 5, 1, 200, 1), ("step", "Step", 0.01, 0.001, 1.0, 0.01)),
    "logistic": _of("logistic", ("C", "Freedom of the coefficients (C)", 1.0, 0.001, 1000.0, 0.1)),
    "knn": _of("knn", ("n_neighbors", "Neighbours", 5, 1, 200, 1)),
    "random-forest": _of(
        "random-forest",
        ("n_estimators", "Trees", 100, 10, 1000, 10),
        ("min_samples_leaf", "Cases in a leaf, at least", 1, 1, 500, 1),
    ),
    "boosting": _of(
        "boosting",
        ("max_iter", "Rounds", 100, 10, 1000, 10),
        ("learning_rate", "Learning rate", 0.1, 0.005, 1.0, 0.01),
        ("max_leaf_nodes", "Leaves of a tree, at most", 31, 2, 255, 1),
    ),
    "ridge": _of("ridge", ("alpha", "Penalty", 1.0, 0.001, 10000.0, 0.1)),
}
"""The main settings of registered algorithms, by name; others are set in Python."""


def settings_said(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Settings by algorithm, of values by their names in a link; usual ones are not said.

    >>> settings_said({"ridge.alpha": 1.0, "knn.n_neighbors": 9})
    {'knn': {'n_neighbors': 9}}
    """
    found: dict[str, dict[str, Any]] = {}
    for algorithm, settings in ALGORITHM_SETTINGS.items():
        for setting in settings:
            value = values.get(setting.key, setting.default)
            if value != setting.default:
                found.setdefault(algorithm, {})[setting.name] = value
    return found


@dataclass(frozen=True)
class LossSetting:
    """What a loss may be told, the same on a page, in a link, in a command and in a report.

    ``help`` is what a command says of it, which offers it only then; ``label`` is what a page says
    where it asks for a number from ``low`` to ``high``. ``implies`` is the loss that is meant where
    nobody names one. What ``quotes`` holds words of the user's; what does not ``count`` changes no
    loss.
    """

    name: str
    help: str
    label: str = ""
    low: float | None = None
    high: float | None = None
    implies: str = ""
    quotes: bool = False
    counts: bool = True

    @property
    def option(self) -> str:
        """Its name in a command, where costs are said one by one."""
        return self.name if self.name != "costs" else "cost"


_OF_LOSSES = (
    LossSetting(
        "costs",
        "what a prediction costs where it says PREDICTED and TRUE is right; may be repeated",
        implies="cost_matrix",
        quotes=True,
    ),
    LossSetting(
        *("under", "what each unit predicted too low costs", "Each unit too low costs", 0.0, 1e9),
        implies="asymmetric_cost",
    ),
    LossSetting(
        *("over", "what each unit predicted too high costs", "Each unit too high costs", 0.0, 1e9),
        implies="asymmetric_cost",
    ),
    LossSetting(
        *("quantile", "of the pinball loss, between 0 and 1", "Quantile that is asked for"),
        *(0.01, 0.99, "pinball"),
    ),
    LossSetting("clip", "the smallest probability of log losses"),
    LossSetting("positive_class", "", quotes=True),
    LossSetting("unit", "of the loss, such as EUR", quotes=True, counts=False),
)
LOSS_SETTINGS: dict[str, LossSetting] = {setting.name: setting for setting in _OF_LOSSES}
"""What losses may be told, by name; a loss takes those that its maker has as arguments."""
