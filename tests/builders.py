"""What several tests build on: learners with known laws, results and panels that a test chooses."""

import json
import re
import sys
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from cpp_core import ALGORITHMS, Experiment, Results
from cpp_core.catalog.algorithms import Algorithm
from cpp_core.catalog.regressors import REGRESSORS, Regressor
from cpp_core.method.modulation import LEVELS
from cpp_core.method.ranks import Ranked
from cpp_core.trials.one_trial import run_block
from cpp_core.verdicts.about import About


def unmarked(html):
    """What a page says, without the marks of its terms."""
    return re.sub(r'<span class="term"[^>]*>(.*?)</span>', r"\1", html)


class Quick(RegressorMixin, BaseEstimator):
    """Clones without scikit-learn's introspection, which costs more than these fits do."""

    def get_params(self, deep=True):
        return {name: value for name, value in vars(self).items() if not name.endswith("_")}

    def set_params(self, **values):
        vars(self).update(values)
        return self

    def __sklearn_clone__(self):
        return type(self)(**self.get_params())


class Mean(Quick):
    """Predicts the mean of its training labels."""

    def fit(self, X, y):
        self.mean_ = sum(y) / len(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Guess(Quick):
    """Ignores the sample: predicts Uniform[-5, 5], the seed of its training run made a number."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.guess_ = 10 * self.random_state / 2**31 - 5
        return self

    def predict(self, X):
        return np.full(len(X), self.guess_)


class Brittle(Mean):
    """Raises when its sample holds a negative first label."""

    def fit(self, X, y):
        if y[0] < 0:
            raise RuntimeError("a negative label came first")
        return super().fit(X, y)


class Starved(Mean):
    """Finds no memory once its sample holds a negative first label."""

    def fit(self, X, y):
        if y[0] < 0:
            raise MemoryError("Unable to allocate 3 TiB")
        return super().fit(X, y)


class Starving:
    """A table of inputs that finds no memory for a sample of its rows."""

    def __init__(self, X):
        self.shape = X.shape

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, rows):
        raise MemoryError("Unable to allocate 3 TiB")


BOTH = np.array([0, 1])


class Majority(ClassifierMixin, Quick):
    """Predicts the side of the mean of the positives; a cheap, imperfect classifier of {0, 1}."""

    def fit(self, X, y):
        self.classes_ = BOTH  # with one class there is no training run
        upper = y == 1
        above, below = X[upper, 0], X[~upper, 0]
        self.cut_ = (sum(above) / len(above) + sum(below) / len(below)) / 2
        return self

    def predict(self, X):
        return self.classes_[(X[:, 0] > self.cut_).astype(int)]


class FrequencyByLabel(Majority):
    """Probability of each symbol: its frequency among the training cases with the same label."""

    def fit(self, X, y):
        self.classes_, symbol = np.unique(y, return_inverse=True)
        size = len(self.classes_)
        seen = 2 * symbol + X[:, -1].round().astype(int)
        counts = np.bincount(seen, minlength=2 * size).reshape(size, 2).T
        self.table_ = (counts + 1) / (counts.sum(axis=1, keepdims=True) + 1)
        return self

    def predict_proba(self, X):
        raw = self.table_[X[:, -1].round().astype(int)]
        return raw / raw.sum(axis=1, keepdims=True)


class Slope(Quick):
    """A probability that rises with the first input, smoothly; any sample will do to train it.

    Not marked as a classifier: a sample of one class would then get a constant, whose losses tie.
    """

    def fit(self, X, y):
        self.classes_ = BOTH
        self.cut_ = sum(X[:, 0]) / len(X)
        return self

    def predict(self, X):
        return (X[:, 0] > self.cut_).astype(int)

    def predict_proba(self, X):
        upper = special.expit(X[:, 0] - self.cut_)
        return np.column_stack([1 - upper, upper])


class Line(Quick):
    """Least squares on the last column and its square: cheap, deterministic."""

    def fit(self, X, y):
        self.coef_ = np.linalg.lstsq(self._design(X), y, rcond=None)[0]
        return self

    def predict(self, X):
        return self._design(X) @ self.coef_

    def _design(self, X):
        last = X[:, -1]
        return np.column_stack([np.ones(len(X)), last, last**2])


class Band(Line):
    """Quantiles by a Normal band around the line: one fit, any level."""

    def fit(self, X, y):
        super().fit(X, y)
        self.spread_ = float(np.std(y - super().predict(X)))
        return self

    def predict(self, X, quantiles=(0.5,)):
        line = super().predict(X)
        return line[:, None] + self.spread_ * special.ndtri(np.asarray(quantiles))[None, :]


def normal_sample(n, rng):
    """Cases whose label is standard Normal and independent of the single input."""
    return rng.standard_normal((n, 1)), rng.standard_normal(n)


# Laws


def law_pvalues(first, counts, n_new, law, rng):
    """p-values of the two laws of Beta parameters (a, b) over repetitions.

    Whether the ``first`` of ``n_new`` losses is covered is binomial with p = a / (a + b); how many
    are, the ``counts``, is Beta-binomial, by a KS test of their randomised ranks.
    """
    a, b = law
    single = stats.binomtest(int(first.sum()), len(first), a / (a + b)).pvalue
    if b == 0:
        return single, float((counts == n_new).all())
    law = stats.betabinom(n_new, a, b)
    ranks = law.cdf(counts - 1) + rng.random(len(counts)) * law.pmf(counts)
    return single, stats.kstest(ranks, "uniform").pvalue


def register_quick(monkeypatch):
    """Register learners that train in microseconds, for laws that hold for any learner."""
    about = ("Quick", "Quick", "#000000", "circle", "/")
    for name, learner in (("slope", Slope), ("majority", Majority)):
        found = Algorithm(name, *about, {"classification": learner})
        monkeypatch.setitem(ALGORITHMS, name, found)
    band = Regressor("band", "Band", "quantile", "a Normal band around a line", Band)
    monkeypatch.setitem(REGRESSORS, "band", band)


@contextmanager
def unmeasured():
    """Without coverage, which nearly doubles the time of a fixture that trains."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


def shifted_ranks(monkeypatch, shift_lo, shift_hi):
    """Mutate the ranks that all sets are made of."""

    original = Ranked.ranks

    def mutated(scores, alpha, side):
        lo, hi = original(scores, alpha, side)
        most = len(scores.by_rank) - 1  # beyond it there is no rank to read
        return max(lo + shift_lo, 0), min(hi + shift_hi, most)

    monkeypatch.setattr(Ranked, "ranks", mutated)


# Results whose losses a test chooses


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
    for pair in experiment.entries[len(experiment.algorithms) :]:
        first, second = (arrays[name] for name in pair.split(" minus "))
        arrays[pair] = {  # the predicted difference is 0 everywhere
            name: first[name] - second[name]
            for name in ("calibration", "test", "calibration_ends", "test_ends")
        }
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


# Panels


def made(calibration, test):
    """Results with losses that a test chooses: (algorithms, trials, k) and (..., T)."""
    names = ("ridge", "knn", "dummy")[: len(calibration)]
    n_test = np.shape(test)[2]
    n = 2 * np.shape(calibration)[2]
    experiment = Experiment(dataset="diabetes", algorithms=names, n=n, test_size=n_test)
    trials = np.shape(calibration)[1]
    arrays = {
        name: {
            "calibration": np.asarray(calibration[i], dtype=np.float32),
            "test": np.asarray(test[i], dtype=np.float32),
            "failed": np.zeros(trials, dtype=np.int32),
            "failure": np.zeros(trials, dtype="S200"),
        }
        for i, name in enumerate(names)
    }
    return Results(experiment, 0, np.arange(trials), arrays, trials)


def drawn(k=39, trials=200, n_test=30, factors=(1.0, 2.0)):
    """Independent exponential losses with the given means."""
    rng = np.random.default_rng(1)
    calibration = [factor * rng.exponential(size=(trials, k)) for factor in factors]
    return made(calibration, [f * rng.exponential(size=(trials, n_test)) for f in factors])


def infinite(algorithms=("ridge",), trials=4):
    experiment = Experiment(dataset="diabetes", algorithms=algorithms, n=20, test_size=50)
    block, _ = run_block(experiment, 0, range(trials))
    return Results(experiment, 0, np.arange(trials), block, trials)


def check(panel):
    """What holds for every panel: strict JSON, small, nothing left to a theme, words in hovers."""
    content = panel.figure.to_json()
    figure = json.loads(content, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))
    moving = len(json.dumps(figure.get("frames", []), separators=(",", ":")))
    assert len(content) - moving < 30_000
    assert len(content) < 60_000
    assert "bdata" not in content.replace(json.dumps(figure["layout"].get("template", {})), "")
    frames = figure.get("frames", [])
    for trace in figure["data"] + [trace for frame in frames for trace in frame["data"]]:
        assert None not in [*trace.get("x", []), *trace.get("y", [])]
        assert "<extra></extra>" in trace.get("hovertemplate", "<extra></extra>")
    layout = figure["layout"]
    assert not {"title", "font", "paper_bgcolor", "plot_bgcolor"} & set(layout)
    assert panel.title
    assert panel.caption.endswith((".", "law."))
    assert panel.alt
    assert isinstance(panel.data, pd.DataFrame)
    assert "nan" not in (panel.title + panel.caption + panel.alt).lower().replace("nanc", "")
    return figure


def bars(panel, **wanted):
    return [
        trace
        for trace in panel.figure.data
        if trace.type == "bar" and all(trace[name] == value for name, value in wanted.items())
    ]


# Experiments of every variant

SMALL = {"dataset": "breast-cancer", "algorithms": ("knn", "naive-bayes")}
VARIANTS = {
    "candidate": {},
    "z-free": {"n_sets": 20},
    "z-free-grouped": {"variant": "z-free", "n_sets": 20, "n_evaluations": 3},
    "z-fixed": {"n_sets": 20, "regressor": "linear"},
    "z-variable": {"n_sets": 20},
    "symbolic": {},
    "symbolic-algorithm": {"variant": "symbolic", "n_sets": 20},
    "batch": {"loss": "accuracy", "batch_size": 5},
    "batch-algorithm": {"variant": "batch", "loss": "roc_auc", "batch_size": 5, "n_sets": 15},
}


def experiment_of(name, **options):
    return Experiment(**{"variant": name, **SMALL, **VARIANTS[name], **options})
