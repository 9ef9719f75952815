"""The paper's runs, by name."""

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "digits-candidate": {
        "dataset": "digits",
        "algorithms": ("svm-lin", "svm-rbf"),
        "loss": "log_loss",
        "variant": "candidate",
        "n": 1347,
        "test_size": 450,
    },
    "digits-instance": {
        "dataset": "digits",
        "algorithms": ("svm-lin", "svm-rbf"),
        "loss": "log_loss",
        "variant": "z-variable",
        "n": 1347,
        "n_sets": 50,
        "test_size": 450,
        "regressor": "quantile-forest",
    },
    "quadnoise-candidate": {
        "dataset": "quadnoise",
        "dataset_settings": {"noise": "normal", "scale": 2.2, "d": 2},
        "algorithms": ("gd", "sgd"),
        "loss": "squared_error",
        "variant": "candidate",
        "n": 7500,
        "test_size": 2500,
    },
    "quadnoise-algorithm": {
        "dataset": "quadnoise",
        "dataset_settings": {"noise": "student", "df": 2.1, "d": 2},
        "algorithms": ("gd", "sgd"),
        "loss": "squared_error",
        "variant": "z-free",
        "n": 75000,
        "n_sets": 1000,
        "test_size": 250,
    },
}
"""The paper's four runs."""


PRESET_LABELS: dict[str, str] = {
    "digits-candidate": "Digits: which SVM?",
    "digits-instance": "Digits: one image",
    "quadnoise-candidate": "GD or SGD?",
    "quadnoise-algorithm": "GD or SGD, after retraining",
}
