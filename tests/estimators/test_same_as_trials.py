"""Estimators and trials are two faces of one engine: the same cases and seeds, the same ends."""

import numpy as np
import pytest

from cpp_core import AlgorithmCPP, CandidateCPP, Experiment, Results, SymbolicCPP, make_algorithm
from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.trials.case_study import x_study
from cpp_core.trials.one_trial import run_block
from cpp_core.trials.trial_entry import algorithm_rng, keyed_rng, trial_sample
from tests.builders import VARIANTS, experiment_of

pytestmark = [
    pytest.mark.no_cover,  # both faces have tests of their own
    pytest.mark.filterwarnings("ignore::cpp_core.method.ranks.InfiniteEndWarning"),
]

NAME, OTHER = "naive-bayes", "random-forest"
SETTINGS = {OTHER: {"n_estimators": 5}}
ALPHAS = (0.1, 0.3)
RETRAINED = ("z-free", "z-free-grouped", "batch-algorithm", "z-fixed", "z-variable")


class Given(np.random.Generator):
    """Spawns the generators that it was given, one call after the other."""

    def __init__(self, *generators):
        super().__init__(np.random.PCG64(0))
        self.left = list(generators)

    def spawn(self, n_children):
        taken, self.left = self.left[:n_children], self.left[n_children:]
        assert len(taken) == n_children
        return taken


class InOrder(np.random.Generator):
    """Leaves the rows as they come: those of a trial are in random order already."""

    def __init__(self):
        super().__init__(np.random.PCG64(0))

    def permutation(self, x, axis=0):
        return np.arange(x)


def made(name):
    return make_algorithm(name, "classification", **SETTINGS.get(name, {}))


def trial(experiment):
    block, _ = run_block(experiment, 0, [0])
    X, y, _ = trial_sample(experiment, 0, 0)
    return Results(experiment, 0, np.arange(1), block, 1), X, y


def modelled(experiment, fits):
    """The seeds of a regression come after those of all fits of the trial."""
    return algorithm_rng(0, 0, NAME).spawn(fits + 1)[-1]


def regressor(experiment):
    return None if experiment.regressor is None else REGRESSORS[experiment.regressor].make()


def check_same(results, cpp, name, new=()):
    """Ends at every alpha and side; trials keep float32 losses and a grid of levels."""
    reader = results.reader(name) if isinstance(name, str) else results.paired_reader(*name)
    for alpha in ALPHAS:
        for side in ("upper", "two-sided"):
            found = reader.sets(alpha, side)
            expected = np.stack([found.lower[0], found.upper[0]], axis=-1)
            got = cpp.predict_interval(*new, confidence_level=1 - alpha, side=side)
            np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["candidate", "batch"])
def test_candidate(name):
    experiment = experiment_of(name, algorithms=(NAME,))
    results, X, y = trial(experiment)
    half = experiment.sizes.m
    cpp = CandidateCPP(made(NAME), experiment.criterion, batch_size=experiment.batch_size)
    cpp.random_state = Given(algorithm_rng(0, 0, NAME))
    cpp.fit(X[:half], y[:half])
    calibration = slice(half, half + experiment.sizes.k * (experiment.batch_size or 1))
    cpp._split_seed = Given(InOrder(), np.random.default_rng(0))
    cpp.conformalize(X[calibration], y[calibration])
    check_same(results, cpp, NAME)


@pytest.mark.parametrize(
    ("name", "paired"),
    [
        *((name, False) for name in RETRAINED),
        *((name, True) for name in RETRAINED if name != "z-free-grouped"),
    ],
)
def test_algorithm(name, paired):
    algorithms = (NAME, OTHER) if paired else (NAME,)
    experiment = experiment_of(name, algorithms=algorithms, algorithm_settings=SETTINGS)
    results, X, y = trial(experiment)
    sizes, n = experiment.sizes, experiment.n
    model = modelled(experiment, sizes.fits)
    if paired and experiment.modulation:
        model = keyed_rng(0, 0, 4, f"{NAME} minus {OTHER}")
    fits = algorithm_rng(0, 0, NAME)
    cpp = AlgorithmCPP(
        made(NAME),
        experiment.criterion,
        n_sets=experiment.n_sets,
        n_evaluations=experiment.n_evaluations,
        modulation=experiment.modulation,
        regressor=regressor(experiment),
        feature_map=experiment.data.feature_map,
        batch_size=experiment.batch_size,
        paired_with=made(OTHER) if paired else None,
        random_state=Given(InOrder(), model, fits),
    )
    if paired:  # each algorithm of a trial has seeds of its own; naive Bayes draws nothing
        other, parts = algorithm_rng(0, 0, OTHER), experiment.kind.n_parts
        cpp.random_state = Given(InOrder(), model, Given(*other.spawn(parts * experiment.n_sets)))
    cpp.conformalize(X[:n], y[:n])
    assert (cpp.k_, cpp.m_) == (sizes.k, sizes.m)
    at = n + np.arange(sizes.n_test) * (sizes.m + 1)
    new = (X[at], y[at]) if experiment.modulation else ()
    check_same(results, cpp, (NAME, OTHER) if paired else NAME, new)


@pytest.mark.parametrize("name", ["symbolic", "symbolic-algorithm"])
def test_symbols(name):
    experiment = experiment_of(name, algorithms=(NAME,))
    results, X, y = trial(experiment)
    sizes, n = experiment.sizes, experiment.n
    fits = algorithm_rng(0, 0, NAME)
    model = modelled(experiment, sizes.fits if experiment.algorithmic else 0)
    cpp = SymbolicCPP(
        made(NAME),
        positive_class=experiment.positive_class,
        n_sets=experiment.n_sets,
        regressor=regressor(experiment),
        feature_map=experiment.data.feature_map,
    )
    if experiment.algorithmic:
        cpp.random_state = Given(None, InOrder(), fits, model)
        cpp.conformalize(X[:n], y[:n])
        at = n + np.arange(sizes.n_test) * (sizes.m + 1)
    else:
        cpp.random_state = Given(fits)
        cpp.fit(X[: sizes.m], y[: sizes.m])
        cpp.random_state = Given(None, InOrder(), fits, model)
        cpp.conformalize(X[sizes.m : 4 * sizes.m], y[sizes.m : 4 * sizes.m])
        at = np.arange(n, n + sizes.n_test)
    reader = results.reader(NAME)
    for alpha in ALPHAS:
        got = cpp.predict_set(X[at], y[at], confidence_level=1 - alpha)
        assert (got == reader.sets(alpha)[0]).mean() > 0.99  # float32 at the edge of a set


def test_x_modulated():
    experiment = Experiment(
        dataset="iris", algorithms=(NAME,), variant="z-variable", n_sets=9, n=90
    )
    study = x_study(experiment)
    X, y, _ = trial_sample(experiment, 0, 0)
    fits = keyed_rng(0, 0, 3, NAME)
    third = experiment.n // 3
    for construction, modulation in (("fixed", "regression"), ("variable", "quantile")):
        cpp = CandidateCPP(made(NAME), experiment.criterion, modulation=modulation)
        cpp.random_state = Given(fits)
        cpp.fit(X[:third], y[:third])
        cpp._split_seed = Given(InOrder(), keyed_rng(0, 0, 3, NAME).spawn(1)[0])
        cpp.conformalize(X[third : 3 * third], y[third : 3 * third])
        for side in ("upper", "two-sided"):
            got = cpp.predict_interval(study.X, confidence_level=0.7, side=side)
            expected = study.sets(NAME, construction, 0.3, side)
            np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-5)


def test_every_variant_is_here():
    assert {*VARIANTS} == {*RETRAINED, "candidate", "batch", "symbolic", "symbolic-algorithm"}
