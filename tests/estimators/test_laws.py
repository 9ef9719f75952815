"""The exact laws of docs/method.md, section 2, for every construction, over thousands of draws.

Each construction is repeated on fresh data. A repetition reports, for every (alpha, side), whether
one new loss is covered and how many of many new losses are. Then the hits must be binomial with the
exact p = (hi - lo)/(k + 1), and the counts Beta-binomial, checked by a KS test of their randomised
ranks. Both see a rank that is off by one, which the last tests show.
"""

from fractions import Fraction

import numpy as np
import pytest
from quantile_forest import RandomForestQuantileRegressor
from scipy import stats

import cpp_core.method.training
from cpp_core import AlgorithmCPP, CandidateCPP, SymbolicCPP, coverage_law
from cpp_core.method.symbols import possible_symbols, symbols_of
from tests.builders import (
    Band,
    FrequencyByLabel,
    Guess,
    Line,
    Majority,
    Mean,
    law_pvalues,
    normal_sample,
    shifted_ranks,
)

REPETITIONS = 2000
NEW = 200
ALPHAS = (Fraction(1, 10), Fraction(1, 5))  # as they are read from 0.1 and 0.2, but once
LEVELS = [1 - alpha for alpha in ALPHAS]
KS = (9, 19, 50, 99)
FIRST = [9, *(pytest.param(k, marks=pytest.mark.slow) for k in KS[1:])]
"""All of them, of which the quick tests see the first."""

M = 2
pytestmark = [
    pytest.mark.no_cover,  # thousands of times the same lines
    pytest.mark.filterwarnings("ignore::cpp_core.method.ranks.InfiniteEndWarning"),
]


def covered(cpp, losses, sides, *cases, **groups):
    """A repetition, which can be asked whether each loss lies in its set: (alphas, sides, n)."""

    def ask():
        given = {"confidence_level": LEVELS, **groups}
        sets = np.stack([cpp.predict_interval(*cases, side=s, **given) for s in sides], axis=1)
        if sets.ndim == 3:
            sets = sets[:, :, None, :]
        return (sets[..., 0] <= losses) & (losses <= sets[..., 1])

    return ask


SIDES = ("two-sided", "upper")


def candidate(k, rng):
    X, y = normal_sample(M + k + NEW, rng)
    cpp = CandidateCPP(Mean(), loss="squared_error", random_state=rng).fit(X[:M], y[:M])
    cpp.conformalize(X[M : M + k], y[M : M + k])
    return covered(cpp, (y[M + k :] - y[:M].mean()) ** 2, SIDES)


def candidate_paired(k, rng):
    X, y = normal_sample(k + NEW, rng)
    models = Mean().fit(X, [0.3]), Mean().fit(X, [-0.5])
    cpp = CandidateCPP(models[0], loss="squared_error", prefit=True, paired_with=models[1])
    cpp.conformalize(X[:k], y[:k])
    return covered(cpp, (y[k:] - 0.3) ** 2 - (y[k:] + 0.5) ** 2, SIDES)


def candidate_x_modulated(k, rng, regressor=None, modulation="regression"):
    n = 2 * k + NEW
    X = rng.uniform(0, 1, (n, 1))
    y = (1 + X[:, 0]) * rng.standard_normal(n)
    model = Mean().fit(X, [0.3])
    cpp = CandidateCPP(
        model,
        loss="squared_error",
        prefit=True,
        modulation=modulation,
        regressor=Line() if regressor is None else regressor,
        random_state=rng,
    ).conformalize(X[: 2 * k], y[: 2 * k])
    return covered(cpp, (y[2 * k :] - 0.3) ** 2, SIDES, X[2 * k :])


def candidate_grouped(k, rng):
    X, y = normal_sample(2 * k + NEW, rng)
    groups = np.arange(2 * k) % 2
    y[: 2 * k] *= 1 + 2 * groups
    cpp = CandidateCPP(Mean().fit(X, [0.3]), loss="squared_error", prefit=True)
    cpp.conformalize(X[: 2 * k], y[: 2 * k], groups=groups)
    new = 3 * y[2 * k :]
    return covered(cpp, (new - 0.3) ** 2, SIDES, groups=np.ones(NEW))


def fresh_losses(rng, size):
    """New labels, and the squared errors of means that were retrained on M fresh labels."""
    y = rng.standard_normal(size)
    return y, (y - rng.standard_normal(size) / np.sqrt(M)) ** 2


def z_free(k, rng, estimator=None):
    X, y = normal_sample(k * (M + 1), rng)
    cpp = AlgorithmCPP(estimator or Mean(), n_sets=k, random_state=rng).conformalize(X, y)
    return covered(cpp, fresh_losses(rng, NEW)[1], SIDES)


def z_modulated(k, rng, modulation="regression", regressor=None):
    X, y = normal_sample(2 * k * (M + 1), rng)
    cpp = AlgorithmCPP(
        Mean(),
        n_sets=k,
        modulation=modulation,
        regressor=Line() if regressor is None else regressor,
        random_state=rng,
    ).conformalize(X, y)
    labels, losses = fresh_losses(rng, NEW)
    return covered(cpp, losses, SIDES, rng.standard_normal((NEW, 1)), labels)


def z_variable(k, rng):
    return z_modulated(k, rng, "quantile", Band())


def z_free_batch(k, rng, b=3):
    X, y = normal_sample(k * (M + b), rng)
    cpp = AlgorithmCPP(Mean(), loss="mae", n_sets=k, batch_size=b, random_state=rng)
    cpp.conformalize(X, y)
    centre = rng.standard_normal((NEW, 1)) / np.sqrt(M)
    return covered(cpp, np.abs(rng.standard_normal((NEW, b)) - centre).mean(axis=1), SIDES)


def candidate_batch(k, rng, b=3):
    X, y = normal_sample(k * b + 1, rng)
    cpp = CandidateCPP(
        Mean().fit(X, [0.3]), loss="rmse", prefit=True, batch_size=b, random_state=rng
    )
    cpp.conformalize(X, y)
    new = np.sqrt(((rng.standard_normal((NEW, b)) - 0.3) ** 2).mean(axis=1))
    return covered(cpp, new, SIDES)


def z_free_paired(k, rng):
    X, y = normal_sample(k * (M + 1), rng)
    cpp = AlgorithmCPP(Mean(), n_sets=k, paired_with=Guess(), random_state=rng).conformalize(X, y)
    labels, losses = fresh_losses(rng, NEW)
    return covered(cpp, losses - (labels - rng.uniform(-5, 5, NEW)) ** 2, SIDES)


def repeated(construction, k, seed=0, repetitions=REPETITIONS):
    generators = np.random.default_rng([seed, k]).spawn(repetitions)
    return [construction(k, rng) for rng in generators]


def asked(repetitions):
    """What each repetition says, (repetitions, ...)."""
    return np.array([ask() for ask in repetitions])


def check_laws(construction, k, modulated=False):
    check_hits(asked(repeated(construction, k)), k, modulated)


def check_hits(hits, k, modulated=False):
    rng = np.random.default_rng(1)
    for i, alpha in enumerate(ALPHAS):
        for j, side in enumerate(SIDES):
            law, found = coverage_law(k, alpha, "upper" if modulated else side), hits[:, i, j]
            pvalues = law_pvalues(found[:, 0], found.sum(axis=1), NEW, law, rng)
            assert min(pvalues) > 1e-4, (alpha, side, pvalues)


@pytest.mark.parametrize("k", FIRST)
def test_candidate_paired(k):
    check_laws(candidate_paired, k)


@pytest.mark.parametrize("k", FIRST)
def test_candidate_batch(k):
    check_laws(candidate_batch, k)


@pytest.mark.parametrize("k", FIRST)
def test_candidate_per_group(k):
    check_laws(candidate_grouped, k)


@pytest.mark.parametrize("k", FIRST)
@pytest.mark.parametrize("modulation", ["regression", "quantile"])
def test_candidate_x_modulated(k, modulation):
    regressor = Line() if modulation == "regression" else Band()

    def construction(k, rng):
        return candidate_x_modulated(k, rng, regressor, modulation)

    check_laws(construction, k, modulated=True)


@pytest.mark.parametrize("k", FIRST)
def test_z_free(k):
    check_laws(z_free, k)


@pytest.mark.slow
@pytest.mark.parametrize("k", KS)
def test_z_free_batch(k):
    check_laws(z_free_batch, k)


@pytest.mark.slow
@pytest.mark.parametrize("k", KS)
def test_z_free_paired(k):
    check_laws(z_free_paired, k)


@pytest.mark.slow
@pytest.mark.parametrize("k", KS)
def test_z_modulated_fixed(k):
    check_laws(z_modulated, k, modulated=True)


@pytest.mark.slow
def test_z_modulated_with_the_quantile_forest():
    forest = RandomForestQuantileRegressor(n_estimators=2, min_samples_leaf=3)

    def construction(k, rng):
        return z_modulated(k, rng, "quantile", forest)

    check_laws(construction, 19, modulated=True)


@pytest.mark.slow
@pytest.mark.parametrize("k", [9, 19])
def test_grouped_evaluations_cover_at_least(k):
    def construction(k, rng):
        X, y = normal_sample(k * (M + 3), rng)
        cpp = AlgorithmCPP(Mean(), n_sets=k, n_evaluations=3, random_state=rng).conformalize(X, y)
        return covered(cpp, fresh_losses(rng, NEW)[1], SIDES)

    hits = asked(repeated(construction, k))
    for i, alpha in enumerate(ALPHAS):
        for j in range(2):
            n = int(hits[:, i, j, 0].sum())
            assert stats.binomtest(n, len(hits), float(1 - alpha), alternative="less").pvalue > 1e-3


@pytest.mark.parametrize("k", FIRST)
def test_ties_keep_validity(k):
    """Zero-one losses tie all the time: p is then a lower bound."""

    def construction(k, rng):
        X = rng.standard_normal((k + 1, 1))
        y = (X[:, 0] + rng.standard_normal(k + 1) > 0).astype(int)
        model = Majority().fit(np.array([[-1.0], [1.0]]), np.array([0, 1]))
        cpp = CandidateCPP(model, loss="zero_one", prefit=True).conformalize(X[:k], y[:k])
        return covered(cpp, (model.predict(X[k:]) != y[k:]).astype(float), SIDES)

    hits = asked(repeated(construction, k))
    for i, alpha in enumerate(ALPHAS):
        for j, side in enumerate(SIDES):
            a, b = coverage_law(k, alpha, side)
            n = int(hits[:, i, j, 0].sum())
            assert stats.binomtest(n, len(hits), a / (a + b), alternative="less").pvalue > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("n_sets", [9, 19, 50])
@pytest.mark.parametrize("whose", ["algorithm", "candidate"])
def test_symbolic_sets_cover_at_least(n_sets, whose):
    """Symbols tie in their scores, so that the level is a lower bound."""
    model = Majority().fit(np.array([[-1.0], [1.0]]), np.array([0, 1]))

    def draw(n, rng):
        X = rng.standard_normal((n, 1))
        return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)

    def construction(k, rng):
        algorithm = whose == "algorithm"
        X, y = draw(3 * k * (5 if algorithm else 1), rng)
        y[:2] = [0, 1]
        cpp = SymbolicCPP(
            Majority() if algorithm else model,
            n_sets=k if algorithm else None,
            prefit=not algorithm,
            classifier=FrequencyByLabel(),
            regressor=Band(),
            random_state=rng,
        ).conformalize(X, y)
        (X_new, y_new), (X_fresh, y_fresh) = draw(1, rng), draw(cpp.m_ or 1, rng)
        retrained = cpp_core.method.training.train(Majority(), X_fresh, y_fresh, rng)
        predicted = (retrained if algorithm else model).predict(X_new)
        sets = cpp.predict_set(X_new, y_new, confidence_level=LEVELS)
        symbol = symbols_of(predicted, y_new, 1)[0]
        assert not (sets & ~possible_symbols(y_new, 1, cpp.symbols_)).any()
        return sets[:, 0, cpp.symbols_.index(symbol)]

    hits = np.array(repeated(construction, n_sets, repetitions=2000 if n_sets < 50 else 1000))
    for i, alpha in enumerate(ALPHAS):
        n = int(hits[:, i].sum())
        assert stats.binomtest(n, len(hits), float(1 - alpha), alternative="less").pvalue > 1e-3


@pytest.mark.slow
def test_one_shared_seed_would_be_noticed(monkeypatch):
    """Cloning without new seeds copies one random start into all runs: coverage is lost."""

    def construction(k, rng):
        X, y = normal_sample(2 * k, rng)
        estimator = Guess(random_state=int(rng.integers(2**31)))
        cpp = AlgorithmCPP(estimator, n_sets=k, random_state=rng).conformalize(X, y)
        fresh = rng.uniform(-5, 5, NEW)
        return covered(cpp, (rng.standard_normal(NEW) - fresh) ** 2, SIDES)

    check_laws(construction, 19)
    monkeypatch.setattr(cpp_core.method.training, "reseeded", lambda estimator, *_: estimator)
    with pytest.raises(AssertionError):
        check_laws(construction, 19)


def check_laws_and_ranks(construction, k, shifts, modulated=False):
    """The laws hold, and a rank that is off by one breaks them, on the same draws."""
    repetitions = repeated(construction, k)
    check_hits(asked(repetitions), k, modulated)
    for shift_lo, shift_hi in shifts:
        with pytest.MonkeyPatch.context() as patch:
            shifted_ranks(patch, shift_lo, shift_hi)
            hits = asked(repetitions)
        with pytest.raises(AssertionError):
            check_hits(hits, k, modulated)


@pytest.mark.parametrize("k", FIRST)
def test_candidate_and_ranks_that_are_off_by_one(k):
    check_laws_and_ranks(candidate, k, [(0, 1), (0, -1), (1, 0), (-1, 0)])


@pytest.mark.slow
@pytest.mark.parametrize("k", KS)
def test_z_modulated_variable_and_ranks_that_are_off_by_one(k):
    check_laws_and_ranks(z_variable, k, [(0, 1), (0, -1)] if k == 9 else [], modulated=True)
