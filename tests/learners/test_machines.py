"""The compiled machines and sigmoids against plain twins, and against scikit-learn's SVC."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.svm import SVC

from cpp_core.learners.machines import (
    SMO_TOL,
    cross_decisions,
    fit_pairs,
    fit_sigmoid,
    train,
)


def last_argmax(values):
    """The last of the greatest; as many bits of the floats are left out as positions have."""
    bits = values.view(np.int64)
    ordered = bits ^ ((bits >> 63) & np.int64(2**63 - 1))
    shortened = ordered & -(1 << (len(values) - 1).bit_length())
    return int(np.flatnonzero(shortened == shortened.max())[-1])


def plain_machine(gram, sign, used, C):
    """Working set selection of second order as one writes it: (beta, decisions at all points)."""
    lower = np.where(used, np.minimum(0.0, C * sign), 0.0)
    upper = np.where(used, np.maximum(0.0, C * sign), 0.0)
    beta, resid = np.zeros(len(sign)), sign.copy()
    while True:
        rising, falling = np.where(beta < upper, resid, -np.inf), beta > lower
        i = last_argmax(rising)
        gaps = np.where(falling, np.maximum(rising[i] - resid, 0.0), 0.0)
        curvature = np.maximum(gram[i, i] + np.diag(gram) - 2.0 * gram[i], 1e-12)
        j = last_argmax(gaps * gaps / curvature)
        if gaps.max() < SMO_TOL:
            break
        rooms = upper[i] - beta[i], beta[j] - lower[j]
        step = min(gaps[j] / curvature[j], *rooms)
        beta[i] = upper[i] if step == rooms[0] else beta[i] + step
        beta[j] = lower[j] if step == rooms[1] else beta[j] - step
        resid -= step * (gram[i] - gram[j])
    free = (lower < beta) & (beta < upper)
    middle = 0.5 * (rising[i] + resid[falling].min())
    offset = resid[free].mean() if free.any() else middle
    return beta, sign - resid + offset


def signs(n, n_first):
    return np.where(np.arange(n) < n_first, 1.0, -1.0)


def plain_cross_decisions(gram, n_first, perm, C):
    out, sign = np.zeros(len(perm)), signs(len(perm), n_first)
    for fold in range(5):
        left_out = perm[fold * len(perm) // 5 : (fold + 1) * len(perm) // 5]
        used = ~np.isin(np.arange(len(perm)), left_out)
        if len({*sign[used]}) == 2:
            out[left_out] = plain_machine(gram, sign, used, C)[1][left_out]
        else:
            out[left_out] = sign[used].max(initial=-1) + sign[used].min(initial=1)
            out[left_out] = np.sign(out[left_out])
    return out


def machine(gram, n_first, used=None, C=1.0):
    """(beta, decisions, offset) of the compiled machine."""
    used = np.ones(len(gram), dtype=bool) if used is None else used
    beta, decisions = np.empty(len(gram)), np.empty(len(gram))
    offset = train(gram, n_first, used, C, beta, decisions)
    return beta, decisions, offset


def pairs_of(gram, counts, perms, C=1.0):
    """What ``fit_pairs`` fills."""
    coef = np.zeros((len(counts) - 1, sum(counts)))
    pairs = np.empty((len(counts) * (len(counts) - 1) // 2, 3))
    fit_pairs(gram, np.array(counts), perms, C, coef, pairs)
    return coef, pairs


def noisy_pair(seed, n_first=30, n_second=20):
    """Gram matrix of two overlapping classes, the first one's points first."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_first + n_second, 3))
    X[:n_first, 0] += 1.0
    return rbf_kernel(X, gamma=0.3)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
def test_a_machine_is_its_plain_twin_and_a_binary_svc(seed, C):
    gram, sign = noisy_pair(seed), signs(50, 30)
    used = np.random.default_rng(seed).random(50) < 0.8
    beta, decisions, offset = machine(gram, 30, used, C)
    plain_beta, plain_decisions = plain_machine(gram, sign, used, C)
    np.testing.assert_allclose(beta, plain_beta, atol=1e-9)
    np.testing.assert_allclose(decisions, plain_decisions, atol=1e-9)
    assert (beta[~used] == 0.0).all()
    assert abs(beta.sum()) < 1e-9
    np.testing.assert_allclose(gram @ beta + offset, decisions, atol=1e-9)
    svc = SVC(kernel="precomputed", C=C, tol=SMO_TOL).fit(gram[used][:, used], sign[used])
    # Both stop at the same tolerance of the optimality conditions, not at the same point.
    np.testing.assert_allclose(decisions, svc.decision_function(gram[:, used]), atol=5e-3)


def test_a_machine_of_two_thousand_points_has_positions_for_all():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2100, 2))
    X[:1000] += 0.7
    gram = rbf_kernel(X)
    svc = SVC(kernel="precomputed").fit(gram, signs(2100, 1000))
    decisions = machine(gram, 1000)[1]
    np.testing.assert_allclose(decisions, svc.decision_function(gram), atol=1e-2)


def test_a_machine_bears_equal_points_and_any_scale():
    np.testing.assert_allclose(machine(np.ones((4, 4)), 2)[1], 0.0, atol=1e-9)
    X = np.random.default_rng(1).normal(size=(30, 2))
    X[:15] += 5.0  # apart: the machine of scaled points is the same one
    small = machine(linear_kernel(X), 15, C=1e300)[1]
    for scale in (1e-3, 1e30, 1e140):
        np.testing.assert_allclose(
            machine(linear_kernel(scale * X), 15, C=1e300)[1], small, atol=1e-2
        )


def test_cross_decisions_are_those_of_twin_and_svc_on_the_other_folds():
    gram, sign = noisy_pair(3), signs(50, 30)
    perm = np.random.default_rng(3).permutation(50)
    ours = cross_decisions(gram, 30, perm, 1.0)
    np.testing.assert_allclose(plain_cross_decisions(gram, 30, perm, 1.0), ours, atol=1e-9)
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
    for function in (cross_decisions, plain_cross_decisions):
        out = function(np.eye(len(perm)), n_first, np.array(perm), 1.0)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("n_first", "n_second", "shift"), [(40, 25, 1.0), (5, 60, 3.0), (3, 2, 0)])
def test_sigmoid_minimises_platts_objective(n_first, n_second, shift):
    rng = np.random.default_rng(n_first)
    f = rng.normal(size=n_first + n_second)
    f[:n_first] += shift
    a, b = fit_sigmoid(f, n_first)
    first = np.arange(len(f)) < n_first
    target = np.where(first, (n_first + 1) / (n_first + 2), 1 / (n_second + 2))

    def objective(ab):
        p = 1.0 / (1.0 + np.exp(ab[0] * f + ab[1]))
        return -(target * np.log(p) + (1.0 - target) * np.log(1.0 - p)).sum()

    best = minimize(objective, [0.0, 0.0], method="BFGS", options={"gtol": 1e-9})
    assert objective((a, b)) <= best.fun + 1e-8
    np.testing.assert_allclose((a, b), best.x, atol=1e-3)


def test_sigmoid_of_many_points_and_of_huge_and_constant_decisions():
    f = np.tile([1.0, 2.0, -1.0, 0.5], 1000)  # as many exponentials as overflow one product
    f.sort()
    a, b = fit_sigmoid(f[::-1].copy(), 2000)
    p = 1.0 / (1.0 + np.exp(a * f[::-1] + b))
    # At the optimum the targets' sum, 2000 of 2001/2002 and 2000 of 1/2002, is that of p.
    assert p.sum() == pytest.approx(2000, abs=1e-3)
    for f in (np.array([1e6, 1e6, -1e6, -1e6]), np.zeros(4), np.array([-1e6, -1e6, 1e6, 1e6])):
        assert np.isfinite(fit_sigmoid(f, 2)).all()


def test_pairs_are_the_plain_loop_over_pairs():
    X, y = load_iris(return_X_y=True)
    X, y = X[10:], y[10:]  # classes of 40, 50 and 50
    gram, counts = linear_kernel(X), [40, 50, 50]
    perms = [np.random.default_rng(n).permutation(n) for n in (90, 90, 100)]
    coef, pairs = pairs_of(gram, counts, np.concatenate(perms))
    for pair, (c, d) in enumerate([(0, 1), (0, 2), (1, 2)]):
        points = np.flatnonzero((y == c) | (y == d))
        own, n_first = gram[np.ix_(points, points)], counts[c]
        beta, decisions = plain_machine(own, signs(len(points), n_first), points >= 0, 1.0)
        both = np.concatenate((coef[d - 1, y == c], coef[c, y == d]))
        np.testing.assert_allclose(both, beta, atol=1e-9)
        np.testing.assert_allclose(own @ both + pairs[pair, 0], decisions, atol=1e-9)
        crossed = plain_cross_decisions(own, n_first, perms[pair], 1.0)
        np.testing.assert_allclose(pairs[pair, 1:], fit_sigmoid(crossed, n_first), atol=1e-6)


def test_no_pair_of_one_class():
    coef, pairs = pairs_of(np.eye(3), [3], np.empty(0, dtype=np.int64))
    assert coef.shape == (0, 3)
    assert pairs.shape == (0, 3)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_decisions_on_the_digits_are_those_of_svc(kernel):
    """Within 1e-2, and with the sign of libsvm's in all but one of ten thousand."""
    X, y = load_digits(return_X_y=True)
    rng, apart, flipped, total = np.random.default_rng(0), 0.0, 0, 0
    for _ in range(3):
        rows = rng.permutation(len(y))
        train_rows = rows[:673][np.argsort(y[rows[:673]], kind="stable")]
        points, held = X[train_rows], X[rows[673:]]
        gamma = 1.0 / (64 * points.var())
        gram = linear_kernel(points) if kernel == "linear" else rbf_kernel(points, gamma=gamma)
        at = linear_kernel(held, points) if kernel == "linear" else rbf_kernel(held, points, gamma)
        svc = SVC(kernel="precomputed", decision_function_shape="ovo").fit(gram, y[train_rows])
        counts = np.bincount(y[train_rows])
        sizes = [a + b for c, a in enumerate(counts) for b in counts[c + 1 :]]
        coef, pairs = pairs_of(gram, counts.tolist(), np.concatenate([np.arange(n) for n in sizes]))
        ends = np.concatenate(([0], np.cumsum(counts)))
        shares = [at[:, a:b] @ coef[:, a:b].T for a, b in pairwise(ends)]
        chosen = [(c, d) for c in range(10) for d in range(c + 1, 10)]
        ours = np.transpose([shares[c][:, d - 1] + shares[d][:, c] for c, d in chosen])
        ours += pairs[:, 0]
        theirs = svc.decision_function(at)
        apart = max(apart, np.abs(ours - theirs).max())
        flipped, total = flipped + ((ours > 0) != (theirs > 0)).sum(), total + ours.size
    assert apart < 1e-2
    assert flipped <= 1e-4 * total
