"""Tests of PlattSVC: each compiled function against a plain twin, the whole against libsvm."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import ks_2samp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics.pairwise import linear_kernel, pairwise_kernels, rbf_kernel
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from cpp_core.learners import svm as svm
from cpp_core.learners.svm import PlattSVC

DIGITS, LABELS = load_digits(return_X_y=True)
KERNELS = ("linear", "rbf")


def libsvm_fit(kernel, X, y, seed=0):
    """The deprecated reference, without its deprecation warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return SVC(kernel=kernel, probability=True, random_state=seed).fit(X, y)


def log_losses(proba, y, classes=None):
    """Log loss of each point; an unseen class has probability zero, clipped."""
    full = np.zeros((len(y), 10))
    full[:, np.arange(10) if classes is None else classes] = proba
    return -np.log(np.clip(full[np.arange(len(y)), y], np.finfo(float).eps, 1.0))


def halves(seed):
    points = np.random.default_rng(seed).permutation(len(LABELS))
    return points[:673], points[673:1346]


def upper_end(losses):
    """Upper end of the two-sided interval at alpha 0.1: an order statistic of the losses."""
    k = len(losses)
    rank = k + 1 - int((k + 1) * 0.05)
    return np.sort(losses)[rank - 1]


def assert_distributions(proba):
    assert np.isfinite(proba).all()
    assert (proba >= 0.0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)


def noisy_pair(seed, n_first=30, n_second=20):
    """Gram matrix of two overlapping classes, the first one's points first."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_first + n_second, 3))
    X[:n_first, 0] += 1.0
    return rbf_kernel(X, gamma=0.3)


def random_pairwise(seed, k):
    r = np.zeros((k, k))
    rng = np.random.default_rng(seed)
    for i, j in combinations(range(k), 2):
        r[i, j] = rng.uniform(0.02, 0.98)
        r[j, i] = 1.0 - r[i, j]
    return r


# Each compiled function against a plain twin


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_solver_is_a_binary_svc(seed, C):
    gram = noisy_pair(seed)
    sign = np.where(np.arange(50) < 30, 1.0, -1.0)
    used = np.random.default_rng(seed).random(50) < 0.8
    ours = svm._solve_smo(gram, sign, used, C)
    np.testing.assert_allclose(svm._solve_smo.py_func(gram, sign, used, C), ours, atol=1e-12)
    svc = SVC(kernel="precomputed", C=C, tol=svm.SMO_TOL).fit(gram[used][:, used], sign[used])
    # Both stop at the same tolerance of the optimality conditions, not at the same point.
    np.testing.assert_allclose(ours, svc.decision_function(gram[:, used]), atol=5e-3)


def test_solver_bears_equal_points_of_both_classes():
    sign = np.array([1.0, -1.0, 1.0, -1.0])
    out = svm._solve_smo(np.ones((4, 4)), sign, np.ones(4, dtype=bool), 1.0)
    np.testing.assert_allclose(out, 0.0, atol=1e-9)


def test_cross_decisions_are_those_of_svc_on_the_other_folds():
    gram = noisy_pair(3)
    perm = np.random.default_rng(3).permutation(50)
    ours = svm._cross_decisions(gram, 30, perm, 1.0)
    np.testing.assert_allclose(svm._cross_decisions.py_func(gram, 30, perm, 1.0), ours, atol=1e-12)
    sign = np.where(np.arange(50) < 30, 1, -1)
    for out in perm.reshape(5, 10):
        rest = np.setdiff1d(perm, out)
        svc = SVC(kernel="precomputed").fit(gram[rest][:, rest], sign[rest])
        np.testing.assert_allclose(ours[out], svc.decision_function(gram[out][:, rest]), atol=5e-3)


@pytest.mark.parametrize(
    ("n_first", "perm", "expected"),
    [
        (1, [0, 1], [-1.0, 1.0]),  # each left out alone: the other class wins
        (2, [0, 1], [1.0, 1.0]),  # one class alone
        (0, [1, 0], [-1.0, -1.0]),
        (1, [0], [0.0]),  # nothing left to train on
    ],
)
def test_cross_decisions_of_folds_that_lack_a_class(n_first, perm, expected):
    for function in (svm._cross_decisions, svm._cross_decisions.py_func):
        out = function(np.eye(len(perm)), n_first, np.array(perm), 1.0)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("n_first", "n_second", "shift"), [(40, 25, 1.0), (5, 60, 3.0), (3, 2, 0)])
def test_sigmoid_minimises_platts_objective(n_first, n_second, shift):
    rng = np.random.default_rng(n_first)
    f = rng.normal(size=n_first + n_second)
    f[:n_first] += shift
    a, b = svm._fit_sigmoid(f, n_first)
    np.testing.assert_allclose(svm._fit_sigmoid.py_func(f, n_first), (a, b), rtol=0, atol=1e-12)
    first = np.arange(len(f)) < n_first
    target = np.where(first, (n_first + 1) / (n_first + 2), 1 / (n_second + 2))

    def objective(ab):
        p = 1.0 / (1.0 + np.exp(ab[0] * f + ab[1]))
        return -(target * np.log(p) + (1.0 - target) * np.log(1.0 - p)).sum()

    best = minimize(objective, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9})
    assert objective((a, b)) <= best.fun + 1e-8
    np.testing.assert_allclose((a, b), best.x, atol=1e-3)


def test_sigmoid_bears_huge_and_constant_decisions():
    for f in (np.array([1e6, 1e6, -1e6, -1e6]), np.zeros(4), np.array([-1e6, -1e6, 1e6, 1e6])):
        assert np.isfinite(svm._fit_sigmoid(f, 2)).all()


def test_pair_sigmoids_is_the_plain_loop_over_pairs():
    X, y = load_iris(return_X_y=True)
    y = y[::-1].copy()  # labels out of order
    gram = linear_kernel(X[::-1])
    order, starts = np.argsort(y, kind="stable"), np.array([0, 50, 100, 150])
    perms = np.concatenate([np.random.default_rng(p).permutation(100) for p in range(3)])
    args = (gram, order, starts, perms, 1.0)
    ours = svm._pair_sigmoids(*args)
    np.testing.assert_allclose(svm._pair_sigmoids.py_func(*args), ours, rtol=0, atol=1e-12)
    for pair, (c, d) in enumerate([(0, 1), (0, 2), (1, 2)]):
        points = np.concatenate((np.flatnonzero(y == c), np.flatnonzero(y == d)))
        perm = perms[100 * pair : 100 * pair + 100]
        decisions = svm._cross_decisions(gram[np.ix_(points, points)], 50, perm, 1.0)
        np.testing.assert_allclose(ours[pair], svm._fit_sigmoid(decisions, 50), atol=1e-12)


@pytest.mark.parametrize("k", [3, 5, 10])
def test_coupling_solves_the_linear_system(k):
    for seed in range(20):
        r = random_pairwise(seed, k)
        np.testing.assert_allclose(svm._couple.py_func(r, 1e-3), svm._couple(r, 1e-3), atol=1e-12)
        q = -r.T * r
        q[np.diag_indices(k)] = (r * r).sum(axis=0)
        # Stationary point of p' Q p subject to sum(p) = 1.
        system = np.block([[q, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
        exact = np.linalg.solve(system, np.r_[np.zeros(k), 1.0])[:k]
        np.testing.assert_allclose(svm._couple(r, 1e-13), exact, atol=1e-9)


def test_probabilities_compiled_and_plain():
    rng = np.random.default_rng(0)
    for k in (2, 4):
        n_pairs = k * (k - 1) // 2
        args = (3.0 * rng.normal(size=(20, n_pairs)), rng.normal(size=(n_pairs, 2)), k)
        np.testing.assert_allclose(
            svm._probabilities.py_func(*args), svm._probabilities(*args), rtol=0, atol=1e-12
        )
        assert_distributions(svm._probabilities(*args))


@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_decisions_and_probabilities_are_libsvms_given_its_sigmoids(n_classes):
    few = n_classes > LABELS
    X, y = DIGITS[few][:300], LABELS[few][:300]
    reference = libsvm_fit("linear", X, y).set_params(decision_function_shape="ovo")
    svc = SVC(kernel="precomputed").fit(linear_kernel(X), y)
    test = DIGITS[few][300:]
    decisions = svm._pair_decisions(svc, linear_kernel(test, X))
    flip = -1.0 if n_classes == 2 else 1.0
    theirs = flip * reference.decision_function(test).reshape(len(test), -1)
    np.testing.assert_allclose(decisions, theirs, atol=5e-3)
    sigmoids = np.column_stack((reference._probA, reference._probB))  # the public ones warn
    proba = svm._probabilities(theirs, sigmoids, n_classes)
    # scikit-learn's copy of libsvm couples two classes too, and stops early at that.
    atol = 3e-3 if n_classes == 2 else 1e-9
    np.testing.assert_allclose(proba, reference.predict_proba(test), atol=atol)


# The estimator against SVC(probability=True)


@pytest.mark.parametrize("kernel", KERNELS)
def test_one_split_agrees_with_libsvm(kernel):
    train, test = halves(0)
    reference = libsvm_fit(kernel, DIGITS[train], LABELS[train])
    model = PlattSVC(kernel, random_state=0).fit(DIGITS[train], LABELS[train])
    ours, theirs = model.predict_proba(DIGITS[test]), reference.predict_proba(DIGITS[test])
    assert_distributions(ours)
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.999
    mean_ours = log_losses(ours, LABELS[test]).mean()
    mean_theirs = log_losses(theirs, LABELS[test]).mean()
    assert abs(mean_ours - mean_theirs) < 0.05 * mean_theirs
    plain = SVC(kernel=kernel).fit(DIGITS[train], LABELS[train])
    np.testing.assert_array_equal(model.predict(DIGITS[test]), plain.predict(DIGITS[test]))
    np.testing.assert_allclose(
        model.decision_function(DIGITS[test]), plain.decision_function(DIGITS[test]), atol=5e-3
    )


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_upper_ends_agree_with_libsvm(kernel):
    ends = []
    for seed in range(200):
        train, test = halves(seed)
        models = (
            libsvm_fit(kernel, DIGITS[train], LABELS[train], seed),
            PlattSVC(kernel, random_state=seed).fit(DIGITS[train], LABELS[train]),
        )
        ends.append(
            [upper_end(log_losses(m.predict_proba(DIGITS[test]), LABELS[test])) for m in models]
        )
    theirs, ours = np.mean(ends, axis=0)
    assert abs(ours - theirs) < 0.03 * theirs


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_twelve_points_agree_with_libsvm_in_distribution(kernel):
    rng = np.random.default_rng(1)
    losses = []
    for seed in range(300):
        points = rng.choice(len(LABELS), size=13, replace=False)
        train, test = points[:12], points[12:]
        models = (
            libsvm_fit(kernel, DIGITS[train], LABELS[train], seed),
            PlattSVC(kernel, random_state=seed).fit(DIGITS[train], LABELS[train]),
        )
        probas = [model.predict_proba(DIGITS[test]) for model in models]
        assert_distributions(probas[1])
        losses.append([log_losses(p, LABELS[test], models[1].classes_)[0] for p in probas])
    theirs, ours = np.transpose(losses)
    assert ks_2samp(theirs, ours).pvalue > 0.001
    seen = np.maximum(theirs, ours) < 30.0  # the rest: a class that was not drawn
    assert abs(np.median(ours[seen]) - np.median(theirs[seen])) < 0.1
    assert abs(ours[seen].mean() - theirs[seen].mean()) < 0.1


# Small samples


@pytest.mark.parametrize("kernel", KERNELS)
def test_tiny_samples_give_distributions(kernel):
    rng = np.random.default_rng(2)
    fitted = 0
    for size in range(2, 16):
        for _ in range(20):
            points = rng.choice(len(LABELS), size=size, replace=False)
            if len(np.unique(LABELS[points])) < 2:
                continue
            model = PlattSVC(kernel, random_state=0).fit(DIGITS[points], LABELS[points])
            proba = model.predict_proba(DIGITS[:50])
            assert_distributions(proba)
            assert proba.shape == (50, len(model.classes_))
            fitted += 1
    assert fitted > 200


def test_two_equal_points_of_two_classes():
    model = PlattSVC(random_state=0).fit(np.ones((2, 3)), ["a", "b"])
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 3))), 0.5, atol=1e-6)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="at least two classes"):
        PlattSVC().fit(np.eye(3), [1, 1, 1])


# Kernels, seeds, threads, scikit-learn's manners


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.1])
def test_kernels_are_those_of_svc(kernel, gamma):
    X, y = load_iris(return_X_y=True)
    model = PlattSVC(kernel, C=2.0, gamma=gamma, random_state=0).fit(X[::2], y[::2])
    plain = SVC(kernel=kernel, C=2.0, gamma=gamma).fit(X[::2], y[::2])
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=2e-2)


@pytest.mark.parametrize("kernel", KERNELS)
def test_precomputed_gram_gives_the_same(kernel):
    train, test = halves(5)
    params = {"gamma": 0.001} if kernel == "rbf" else {}
    gram = pairwise_kernels(DIGITS, metric=kernel, **params)
    direct = PlattSVC(kernel, random_state=1, **params).fit(DIGITS[train], LABELS[train])
    sliced = PlattSVC("precomputed", random_state=1).fit(gram[train][:, train], LABELS[train])
    np.testing.assert_allclose(
        sliced.predict_proba(gram[test][:, train]), direct.predict_proba(DIGITS[test]), atol=1e-6
    )
    np.testing.assert_array_equal(
        sliced.predict(gram[test][:, train]), direct.predict(DIGITS[test])
    )
    with pytest.raises(ValueError, match="square"):
        PlattSVC("precomputed").fit(gram[:100, :90], LABELS[:100])


def test_seeds_and_the_global_state():
    X, y = DIGITS[:200], LABELS[:200]
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = PlattSVC(random_state=7).fit(X, y).sigmoids_
    again = PlattSVC(random_state=np.random.RandomState(7)).fit(X, y).sigmoids_
    other = PlattSVC(random_state=8).fit(X, y).sigmoids_
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_threads_give_the_serial_results():
    def probabilities(seed):
        train, test = halves(seed)
        model = PlattSVC(random_state=seed).fit(DIGITS[train[:300]], LABELS[train[:300]])
        return model.predict_proba(DIGITS[test])

    serial = [probabilities(seed) for seed in range(8)]
    with ThreadPoolExecutor(2) as pool:
        threaded = list(pool.map(probabilities, range(8)))
    for one, other in zip(serial, threaded, strict=True):
        np.testing.assert_array_equal(one, other)


def test_strings_frames_and_clones():
    pd = pytest.importorskip("pandas")
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = clone(PlattSVC("linear", C=0.5, random_state=3)).fit(frame, pd.Series(names[y]))
    assert model.get_params()["C"] == 0.5
    assert list(model.classes_) == list(names)
    assert list(model.feature_names_in_) == list("abcd")
    assert (model.predict(frame) == names[y]).mean() > 0.9
    plain = PlattSVC("linear", C=0.5, random_state=3).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(X), atol=1e-9)


def test_changing_the_training_points_later_changes_nothing():
    X, y = load_iris(return_X_y=True)
    mine = X.copy()
    model = PlattSVC(random_state=0).fit(mine, y)
    before = model.predict_proba(X)
    mine[:] = 0.0
    np.testing.assert_array_equal(model.predict_proba(X), before)


def failing_checks(estimator):
    """One check of scikit-learn passes points, not a Gram matrix, whatever the tags say."""
    name = "check_decision_proba_consistency"
    return {name: "no Gram matrix is passed"} if estimator.kernel == "precomputed" else {}


@parametrize_with_checks(
    [PlattSVC(random_state=0), PlattSVC("precomputed", random_state=0)],
    expected_failed_checks=failing_checks,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
