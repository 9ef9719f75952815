"""Settings that a page offers, and those of the registered algorithms."""

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
