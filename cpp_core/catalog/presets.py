"""The paper's runs, by name: what they are called, and what they are made of."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A run that starts with one click: its label, one line of description, how many trials.

    ``opens`` names the page that tells its story. Where it is ``automatic``, the dashboard starts
    it with an upper bound and as large training subsets as there can be: with the paper's settings
    most bars fill the range.
    """

    name: str
    label: str
    description: str
    trials: int
    settings: dict[str, Any]
    opens: str = "overview"
    automatic: bool = False


_DIGITS = {
    "dataset": "digits",
    "algorithms": ("svm-lin", "svm-rbf"),
    "loss": "log_loss",
    "n": 1347,
    "test_size": 450,
}
_QUADNOISE = {"dataset": "quadnoise", "algorithms": ("gd", "sgd"), "loss": "squared_error"}
_NORMAL = _QUADNOISE | {"dataset_settings": {"noise": "normal", "d": 2}}
_STUDENT = _QUADNOISE | {"dataset_settings": {"noise": "student", "d": 2}}
_RUNS = (
    Preset(
        "digits-candidate",
        "Digits: which SVM?",
        "Two support vector machines read handwritten digits: what will they lose next?",
        1000,
        _DIGITS | {"variant": "candidate"},
    ),
    Preset(
        "digits-instance",
        "Digits: one image",
        "What retrained machines may lose at one image, and what they really lost.",
        20,
        _DIGITS | {"variant": "z-variable", "n_sets": 50, "regressor": "quantile-forest"},
        opens="case",
        automatic=True,
    ),
    Preset(
        "quadnoise-candidate",
        "GD or SGD?",
        "Two ways to fit a line, trained once: what will they lose next?",
        1000,
        _NORMAL | {"variant": "candidate", "n": 7500, "test_size": 2500},
    ),
    Preset(
        "quadnoise-algorithm",
        "GD or SGD, after retraining",
        "The same two, each time trained anew: what will they lose?",
        1000,
        _STUDENT | {"variant": "z-free", "n": 75000, "n_sets": 1000, "test_size": 250},
    ),
)
PRESETS: dict[str, Preset] = {preset.name: preset for preset in _RUNS}
"""The paper's four runs."""
