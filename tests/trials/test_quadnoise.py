"""The compiled trials of quadnoise against a plain twin, and what they promise."""

import warnings
import zlib
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from scipy import stats

from cpp_core.catalog.datasets import load_dataset
from cpp_core.learners.gradient import GradientDescent, StochasticGradientDescent
from cpp_core.method.splits import training_groups
from cpp_core.trials import quadnoise
from cpp_core.trials.quadnoise import DEFAULTS, TrialLosses, quadnoise_trials
from cpp_core.trials.seeding import states_of

BOTH = (("gd", {}), ("sgd", {}))
KERNELS = [name for name, thing in vars(quadnoise).items() if hasattr(thing, "py_func")]


def quadnoise_trial(seed, trial, **setting):
    """One trial, by algorithm."""
    found = quadnoise_trials(seed, [trial], **setting)
    return {
        name: TrialLosses(losses.calibration[0], losses.test[0], int(losses.diverged[0]))
        for name, losses in found.items()
    }


def settings(**changes):
    plain = {
        "algorithmic": False,
        "n": 41,
        "n_sets": None,
        "n_evaluations": 1,
        "test_size": 6,
        "d": 2,
    }
    return plain | {"noise": "normal", "scale": 2.2, "df": 2.1, "algorithms": BOTH} | changes


def groups(**changes):
    return settings(algorithmic=True, n=61, n_sets=5, **changes)


def generator(seed, *key):
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def plain_candidate(name, given, X, y, rng):
    """A candidate by the book: one NumPy expression for each update."""
    chosen = DEFAULTS[name] | given
    start, step = chosen["start"], chosen["step"]
    w = np.array([-start + 2 * start * rng.random() for _ in range(X.shape[1])])
    for _ in range(chosen.get("updates", 0)):
        w = w - step * 2 * X.T @ (X @ w - y) / len(y)
    order = np.arange(len(y))
    for _ in range(chosen.get("passes", 0)):
        for i in range(len(y) - 1, 0, -1):
            j = int(rng.random() * (i + 1))
            order[[i, j]] = order[[j, i]]
        for i in order:
            w = w - step * 2 * (X[i] @ w - y[i]) * X[i]
    return w


def plain_trial(
    seed,
    trial,
    *,
    algorithmic,
    n,
    n_sets,
    n_evaluations,
    test_size,
    d,
    noise,
    scale,
    df,
    algorithms,
):
    """Calibration and test losses of every algorithm."""
    rng = generator(seed, trial, 0)
    data = load_dataset("quadnoise", d=d, noise=noise, scale=scale, df=df)
    X, y = data.draw(n, rng)
    if algorithmic:
        train, held = training_groups(np.arange(n), n_sets, n_evaluations)
        m = train.shape[1]
        X_new, y_new = data.draw(test_size * (m + 1), rng)
        new_train, new_held = training_groups(np.arange(len(y_new)), test_size, 1)
    else:
        half = n // 2
        train, held = np.arange(half)[None], np.arange(half, 2 * half)[None]
        X_new, y_new = data.draw(test_size, rng)
    results = {}
    for name, given in algorithms:
        own = generator(seed, trial, 1, zlib.crc32(name.encode()))
        W = [plain_candidate(name, given, X[rows], y[rows], own) for rows in train]
        losses = np.array([(y[i] - X[i] @ w) ** 2 for i, w in zip(held, W, strict=True)])
        if algorithmic:
            W = [plain_candidate(name, given, X_new[i], y_new[i], own) for i in new_train]
            W = np.array(W)
            test = (y_new[new_held[:, 0]] - (X_new[new_held[:, 0]] * W).sum(axis=1)) ** 2
            results[name] = losses, test
        else:
            results[name] = losses[0], (y_new - X_new @ W[0]) ** 2
    return results


CASES = [
    pytest.param(make(d=d, noise=noise, n_evaluations=b), id=f"{make.__name__}-{d}-{noise}-{b}")
    for make in (settings, groups)
    for d in (1, 2, 3)
    for noise in ("normal", "student")
    for b in ((1,) if make is settings else (1, 3))
] + [
    pytest.param(make(**law), id=f"{make.__name__}-drawn-by-numpy-{number}")
    for make in (settings, groups)
    for number, law in enumerate([{"d": 9}, {"noise": "student", "df": 2}])
]


def assert_same(found, expected, **tolerance):
    assert found.keys() == expected.keys()
    for name, (calibration, test) in expected.items():
        assert found[name].diverged == 0
        np.testing.assert_allclose(found[name].calibration, calibration, **tolerance)
        np.testing.assert_allclose(found[name].test, test, **tolerance)


@pytest.mark.parametrize("case", CASES)
def test_trials_against_a_plain_twin(case):
    expected = plain_trial(7, 3, **case)
    assert_same(quadnoise_trial(7, 3, **case), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_plain_python_gives_the_same(case, monkeypatch):
    compiled = quadnoise_trial(1, 0, **case)
    assert len(KERNELS) >= 10
    for name in KERNELS:
        monkeypatch.setattr(quadnoise, name, getattr(quadnoise, name).py_func)
    with np.errstate(over="ignore"):  # the generator's arithmetic is modulo 2^64
        plain = quadnoise_trial(1, 0, **case)
    expected = {name: (losses.calibration, losses.test) for name, losses in plain.items()}
    assert_same(compiled, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("d", "noise", "df"),
    [(d, "normal", 2.1) for d in (1, 2, 7)] + [(2, "student", df) for df in (2.1, 3, 30)],
)
def test_data_are_those_of_the_dataset(d, noise, df):
    data = load_dataset("quadnoise", d=d, noise=noise, scale=0.7, df=df)
    rng, other = generator(5, 1), generator(5, 1)
    Z = np.empty((5000, d + 1))
    quadnoise._draw(rng, Z, 3000, (noise == "student", 0.7, float(df)))
    expected = np.vstack([np.column_stack(data.draw(size, other)) for size in (3000, 2000)])
    assert np.array_equal(Z, expected)
    assert rng.random() == other.random()


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1, 2**32, 2**100 + 3, 2**190 + 9])
def test_states_are_those_of_numpy(seed):
    trials, keys = [0, 1, 999_999, 2**32 - 1], [(1, 0), (2, 2**32 - 1), (4, 12345)]
    for own, trial in zip(states_of(seed, trials, keys), trials, strict=True):
        for state, key in zip(own, keys, strict=True):
            known = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(trial, *key)))
            words = known.state["state"]
            expected = [*divmod(words["state"], 2**64), *divmod(words["inc"], 2**64)]
            assert state.tolist() == expected


def test_uniform_numbers_are_those_of_the_generator():
    rng, w = generator(3, 2, 1, zlib.crc32(b"sgd")), np.empty(10_000)
    quadnoise._begin(w, 0.5, quadnoise._states(3, [2], ["sgd"])[0, 0])
    assert np.array_equal(w, -0.5 + rng.random(10_000))


@pytest.mark.parametrize("make", [settings, groups])
@pytest.mark.parametrize(
    "algorithms",
    [
        [("sgd", {"passes": 0}), ("gd", {"updates": 0, "start": 1.0})],
        [("sgd", {"passes": 1, "step": 0.02}), ("gd", {"updates": 12, "step": 0.3})],
    ],
)
def test_settings_are_followed(make, algorithms):
    case = make(algorithms=algorithms)
    found = quadnoise_trial(2, 9, **case)
    assert_same(found, plain_trial(2, 9, **case), rtol=1e-12, atol=1e-12)


def test_defaults_are_those_of_the_estimators():
    for name, estimator in (("gd", GradientDescent()), ("sgd", StochasticGradientDescent())):
        assert DEFAULTS[name] | {"random_state": None} == estimator.get_params()


@pytest.mark.parametrize("make", [settings, groups])
def test_threads_and_order_do_not_matter(make):
    run = partial(quadnoise_trial, 11, **make(noise="student"))
    trials = range(40)
    one_by_one = [run(trial) for trial in reversed(trials)][::-1]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(run, trials))
    for one, other in zip(one_by_one, together, strict=True):
        for name in ("gd", "sgd"):
            assert np.array_equal(one[name].calibration, other[name].calibration)
            assert np.array_equal(one[name].test, other[name].test)
    assert not np.array_equal(together[0]["gd"].test, together[1]["gd"].test)


@pytest.mark.parametrize("make", [settings, groups])
def test_algorithms_do_not_depend_on_each_other(make):
    together = quadnoise_trial(0, 4, **make())
    for name in ("gd", "sgd"):
        other = "sgd" if name == "gd" else "gd"
        for algorithms in ([(name, {})], [(other, {"step": 0.03}), (name, {})]):
            alone = quadnoise_trial(0, 4, **make(algorithms=algorithms))
            assert np.array_equal(alone[name].calibration, together[name].calibration)
            assert np.array_equal(alone[name].test, together[name].test)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("make", "candidates"), [(settings, 1), (groups, 5 + 6)])
def test_diverged_candidates_lose_everything(make, candidates, d):
    wild = [("gd", {"step": 100.0, "updates": 500}), ("sgd", {"step": 10.0, "passes": 200})]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = quadnoise_trial(0, 0, **make(algorithms=wild, d=d))
    for name in ("gd", "sgd"):
        assert found[name].diverged == candidates
        assert np.isposinf(found[name].calibration).all()
        assert np.isposinf(found[name].test).all()


@pytest.mark.parametrize("start", [1e30, 1e200, 1e308])
def test_losses_that_overflow_are_infinite(start):
    """Weights are finite here: their squares pass float32, then float64, then the sums do."""
    far = [("gd", {"updates": 0, "start": start / 2})]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = quadnoise_trial(0, 0, **groups(algorithms=far, d=3))["gd"]
    assert found.diverged == 0
    for losses in (found.calibration, found.test):
        assert (losses > np.finfo(np.float32).max).all()
        assert np.isposinf(losses).all() == (start > 1e100)


def test_losses_follow_the_estimators_law():
    """Mean test losses of 200 trials have the distribution of 200 fits by GradientDescent."""
    data = load_dataset("quadnoise", d=2)
    run = partial(quadnoise_trial, 20, **settings(n=400, test_size=200, algorithms=BOTH[:1]))
    ours = [run(trial)["gd"].test.mean() for trial in range(200)]
    theirs = []
    for repetition in range(200):
        rng = np.random.default_rng([21, repetition])
        (X, y), (X_new, y_new) = data.draw(200, rng), data.draw(200, rng)
        candidate = GradientDescent(random_state=rng).fit(X, y)
        theirs.append(((y_new - candidate.predict(X_new)) ** 2).mean())
    assert stats.ks_2samp(ours, theirs).pvalue > 1e-3


@pytest.mark.parametrize(
    ("case", "says"),
    [
        (settings(algorithms=[("sdg", {})]), "did you mean 'sgd'"),
        (settings(algorithms=[("gd", {"passes": 3})]), "gd takes start, step, updates, but not"),
        (settings(algorithms=[("sgd", {"passes": 1.5})]), "passes must be a whole number"),
        (settings(n=1), "n must be a whole number of at least 2"),
        (settings(test_size=0), "test_size must be a whole number"),
        (settings(noise="cauchy"), "noise must be"),
        (settings(algorithmic=True), "n_sets must be a whole number"),
        (groups(n_evaluations=12), "leave no training point"),
    ],
)
def test_trials_that_cannot_be(case, says):
    with pytest.raises(ValueError, match=says):
        quadnoise_trial(0, 0, **case)
