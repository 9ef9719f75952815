"""Tests of PlattSVC against libsvm; the machines and sigmoids are in test_machines."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from cpp_core.learners import svm as svm
from cpp_core.learners.svm import PlattSVC
from cpp_core.trials.gram import GramSVC, TableGram

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


def random_pairwise(seed, k):
    r = np.zeros((k, k))
    rng = np.random.default_rng(seed)
    for i, j in combinations(range(k), 2):
        r[i, j] = rng.uniform(0.02, 0.98)
        r[j, i] = 1.0 - r[i, j]
    return r


def coupled(r, tol, function=svm._couple):
    p = np.empty(len(r))
    function(r, tol, np.empty(r.shape), np.empty(len(r)), p)
    return p


# Coupling and probabilities


@pytest.mark.parametrize("k", [3, 5, 10])
def test_coupling_solves_the_linear_system(k):
    for seed in range(20):
        r = random_pairwise(seed, k)
        np.testing.assert_allclose(
            coupled(r, 1e-3, svm._couple.py_func), coupled(r, 1e-3), atol=1e-12
        )
        q = -r.T * r
        q[np.diag_indices(k)] = (r * r).sum(axis=0)
        # Stationary point of p' Q p subject to sum(p) = 1.
        system = np.block([[q, np.ones((k, 1))], [np.ones((1, k)), np.zeros((1, 1))]])
        exact = np.linalg.solve(system, np.r_[np.zeros(k), 1.0])[:k]
        np.testing.assert_allclose(coupled(r, 1e-13), exact, atol=1e-9)


def test_probabilities_compiled_and_plain():
    rng = np.random.default_rng(0)
    for k in (1, 2, 4):
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
    model = PlattSVC("linear", random_state=0).fit(X, y)
    test = DIGITS[few][300:]
    decisions = model._decisions(test)
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
    """On average over 300 splits, each with both, within two standard errors of the difference."""
    table, apart = TableGram(DIGITS), []
    for seed in range(300):
        train, test = halves(seed)
        model = GramSVC(table, kernel, random_state=seed).fit(train, LABELS[train])
        own, new = (model._kernel(rows, train) for rows in (train, test))
        reference = libsvm_fit("precomputed", own, LABELS[train], seed)
        probas = model.predict_proba(test), reference.predict_proba(new)
        ours, theirs = (upper_end(log_losses(proba, LABELS[test])) for proba in probas)
        apart.append(ours - theirs)
    assert abs(np.mean(apart)) < 2 * np.std(apart, ddof=1) / np.sqrt(300)


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


@pytest.mark.parametrize("kernel", ["linear", "rbf", "precomputed"])
def test_one_class_is_certain(kernel):
    model = PlattSVC(kernel).fit(np.eye(3), ["a", "a", "a"])
    np.testing.assert_array_equal(model.predict_proba(np.zeros((2, 3))), [[1.0], [1.0]])
    assert model.predict(np.zeros((2, 3))).tolist() == ["a", "a"]
    assert np.isfinite(model.decision_function(np.zeros((2, 3)))).all()


def test_what_no_machine_can_be_made_of_is_refused():
    with pytest.raises(ValueError, match="scale the columns"):
        PlattSVC("linear").fit(np.array([[1e200], [0.0], [-1e200]]), [0, 1, 1])
    with pytest.raises(ValueError, match="C must be greater than 0"):
        PlattSVC(C=0.0).fit(np.eye(3), [0, 1, 1])


# Kernels, seeds, threads, scikit-learn's manners


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.1])
def test_kernels_are_those_of_svc(kernel, gamma):
    X, y = load_iris(return_X_y=True)
    model = PlattSVC(kernel, C=2.0, gamma=gamma, random_state=0).fit(X[::2], y[::2])
    plain = SVC(kernel=kernel, C=2.0, gamma=gamma, decision_function_shape="ovo")
    pairs = plain.fit(X[::2], y[::2]).decision_function(X)
    np.testing.assert_allclose(model._decisions(X), pairs, atol=2e-2)
    # A saturated sigmoid tells no points apart: votes on decisions of 1e-9 are libsvm's rounding.
    told = (np.abs(pairs) > 1e-6).all(axis=1)
    assert told.all() or (kernel, gamma) == ("sigmoid", "auto")
    votes = plain.set_params(decision_function_shape="ovr").decision_function(X)
    np.testing.assert_allclose(model.decision_function(X)[told], votes[told], atol=2e-2)


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
