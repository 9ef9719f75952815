"""Results whose losses a test chooses, to speak sentences about."""

import numpy as np

from cpp_core import Experiment
from cpp_core.constructions import LEVELS
from cpp_core.results import Results
from cpp_core.sentences import About

SIX = ("logistic", "knn", "random-forest", "boosting", "naive-bayes", "dummy")
PLAIN = About(n_algorithms=2)

SPREAD = np.linspace(-0.25, 0.25, 99)


def results_of(calibration, test=None, *, m=7, failed=0, **settings):
    """Results with these losses: one array (trials, k) or (trials, k, b) for each algorithm."""
    calibration = [np.asarray(own, dtype=np.float32) for own in calibration]
    trials, k = calibration[0].shape[:2]
    test = [np.full((trials, 4), own.flat[0]) for own in calibration] if test is None else test
    test = [np.asarray(own, dtype=np.float32) for own in test]
    settings = {"dataset": "two-classes", "loss": "log_loss", "variant": "candidate"} | settings
    b, variant = settings.get("batch_size", 1), settings["variant"]
    algorithmic = variant in ("z-free", "z-fixed", "z-variable")
    if algorithmic:
        parts = 1 if variant == "z-free" else 2
        held_out = settings.get("n_evaluations", 1)
        sizes = {"n": parts * k * (m + held_out), "n_sets": k, "test_size": test[0].shape[1]}
    else:
        sizes = {"n": 2 * k * b, "test_size": test[0].shape[1] * b}
    experiment = Experiment(algorithms=SIX[: len(calibration)], **settings, **sizes)
    assert experiment.sizes.k == k
    arrays = {}
    for name, own, tested in zip(experiment.algorithms, calibration, test, strict=True):
        arrays[name] = {
            "calibration": own,
            "test": tested,
            "failed": np.full(trials, failed, dtype=np.int32),
            "failure": np.full(trials, b"it broke", dtype="S200"),
        }
        if b > 1:
            arrays[name]["undefined"] = np.ones(trials, dtype=np.int32)
        if variant in ("z-fixed", "z-variable"):
            # The prediction is the loss 1 everywhere: scores are l - 1.
            levels = () if variant == "z-fixed" else (len(LEVELS),)
            arrays[name]["calibration_ends"] = np.ones((trials, k, *levels), dtype=np.float32)
            arrays[name]["test_ends"] = np.ones((*tested.shape, *levels), dtype=np.float32)
    return Results(experiment, 0, np.arange(trials), arrays, trials)


def symbolic(k, n_algorithms=2):
    """Correct is likely and FP not at every case; FN is impossible."""
    experiment = Experiment(
        dataset="two-classes",
        algorithms=SIX[:n_algorithms],
        variant="symbolic",
        n=4 * k,
        test_size=2,
    )
    likely = np.tile(np.array([-0.1, -3.0, -np.inf], dtype=np.float32), (1, 2, 1))
    arrays = {
        "calibration": np.linspace(-1, -0.1, k, dtype=np.float32)[None],
        "calibration_ends": np.full((1, k, len(LEVELS)), -0.5, dtype=np.float32),
        "test": likely,
        "test_ends": np.full((1, 2, len(LEVELS)), -0.5, dtype=np.float32),
        "test_symbol": np.zeros((1, 2), dtype=np.int8),
        "failed": np.zeros(1, dtype=np.int32),
        "failure": np.zeros(1, dtype="S200"),
    }
    return Results(experiment, 0, np.arange(1), dict.fromkeys(experiment.algorithms, arrays), 1)


def tenths(k, shift=0.0):
    """Losses 0.1, 0.2, ... as one trial."""
    return np.arange(1, k + 1)[None] / 10 + shift


def failing():
    """Squared errors of two regressions, of which the first failed in most runs of trial 0."""
    experiment = Experiment(
        dataset="growing-noise", algorithms=("knn", "dummy"), variant="z-free", n_sets=20, n=60,
        test_size=2,
    )  # fmt: skip
    arrays = {}
    for name, failed in (("knn", 15), ("dummy", 0)):
        losses = np.arange(1, 61, dtype=np.float32).reshape(3, 20)
        losses[0, :failed] = np.inf
        arrays[name] = {
            "calibration": losses,
            "test": np.ones((3, 2), dtype=np.float32),
            "failed": np.array([failed, 0, 0], dtype=np.int32),
            "failure": np.zeros(3, dtype="S200"),
        }
    return Results(experiment, 0, np.arange(3), arrays, 3)


def pair(d, **settings):
    """Two models whose losses differ by d on the calibration cases, and on as many test cases."""
    d = np.atleast_2d(np.asarray(d, dtype=float))
    base = np.full(d.shape, 16.0)
    sign = -1 if settings.get("loss") == "accuracy" else 1
    if sign < 0:
        base[:] = 0.5
    losses = [base + sign * d, base]
    return results_of(losses, losses, **settings)
