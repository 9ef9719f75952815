"""The binary machines and sigmoids of all pairs of classes, from one Gram matrix sorted by class.

They are hand-written because they are many and small: ten classes take 45 machines, 225 more for
five-fold cross-validation, and 45 sigmoids. On half of the digits ``SVC(probability=True)`` fits
for 27 ms (linear kernel) and 50 (Gaussian), this module for 5.5 and 4, in float64 where libsvm
rounds the kernel to float32.

The method is libsvm's [1]_, to its tolerance. What makes it fast: a greatest float is found as the
greatest integer of the same bits, with the position in the lowest ones, for which compilers have
vector instructions, as they have not for a search with a position; points left out of a fold have
an empty box, so that nothing is copied for a fold; a sigmoid takes one exponential a point and
step. No function keeps a state, and all release the interpreter lock: fits may run in threads.

References
----------
.. [1] R.-E. Fan, P.-H. Chen, C.-J. Lin. "Working set selection using second order information
   for training support vector machines". Journal of Machine Learning Research 6, 2005.
.. [2] H.-T. Lin, C.-J. Lin, R. C. Weng. "A note on Platt's probabilistic outputs for support
   vector machines". Machine Learning 68, 2007.
"""

import math

import numpy as np
from numpy.typing import NDArray

from cpp_core.learners.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# libsvm's constants: others would give other machines, not better ones.
N_FOLDS = 5
SMO_TOL = 1e-3
LEAST_CURVATURE = RIDGE = 1e-12

GREATEST = np.int64(2**63 - 1)
SIGN_BIT = np.int64(63)


@compiled(error_model="numpy")
def _first(
    resid: Floats, rise: Floats, step: float, up: Floats, down: Floats, low: np.int64
) -> np.int64:
    """Take a step along two rows of the Gram matrix, and find the greatest ``resid + rise``.

    Its key: the float's bits as an integer of the same order, but the position in the bits of
    ``low``.
    """
    key = -GREATEST
    for k in range(len(resid)):
        moved = resid[k] - step * (up[k] - down[k])
        resid[k] = moved
        bits = np.float64(moved + rise[k]).view(np.int64)
        bits ^= (bits >> SIGN_BIT) & GREATEST  # negative floats are ordered the other way round
        bits = (bits & ~low) | k
        key = bits if bits > key else key
    return key


@compiled(error_model="numpy")
def _second(
    resid: Floats,
    fall: Floats,
    top: float,
    own: float,
    diagonal: Floats,
    row: Floats,
    low: np.int64,
) -> np.int64:
    """Find the point with the largest gain together with the first; a key of zero gain: none."""
    key = np.int64(0)
    for k in range(len(resid)):
        gap = top - (resid[k] + fall[k])
        gap = gap if gap > 0.0 else 0.0
        curvature = own + diagonal[k] - 2.0 * row[k]
        curvature = curvature if curvature > LEAST_CURVATURE else LEAST_CURVATURE
        bits = (np.float64(gap * gap / curvature).view(np.int64) & ~low) | k
        key = bits if bits > key else key
    return key


@compiled(error_model="numpy")
def _solve(gram: Floats, lower: Floats, upper: Floats, beta: Floats, resid: Floats) -> float:
    """Move ``beta`` within its box, its sum kept, until the machine is optimal; give the offset.

    ``resid`` is ``sign - gram @ beta`` and follows: the machine decides ``sign - resid + offset``.
    A point with the box [0, 0] never enters the machine, but its residual is kept up to date.
    """
    n = len(beta)
    low = np.int64(1)
    while low < n:
        low *= 2
    low -= 1  # ones where a position has its bits
    diagonal, rise, fall = np.empty(n), np.empty(n), np.empty(n)
    for k in range(n):
        diagonal[k] = gram[k, k]
        rise[k] = 0.0 if beta[k] < upper[k] else -np.inf
        fall[k] = 0.0 if beta[k] > lower[k] else np.inf
    i = j = np.int64(0)
    step = top = bottom = 0.0
    for _ in range(max(10_000_000, 100 * n)):
        # The first of two points violates the optimality conditions most ...
        i = _first(resid, rise, step, gram[i], gram[j], low) & low
        top, row = resid[i], gram[i]
        # ... the second promises the largest gain of the objective together with it.
        key = _second(resid, fall, top, diagonal[i], diagonal, row, low)
        j = key & low
        if key <= low or top - resid[j] < SMO_TOL:  # else the largest gap is no smaller than this
            bottom = np.inf
            for k in range(n):
                bottom = min(bottom, resid[k] + fall[k])
            if key <= low or top - bottom < SMO_TOL:
                break
        room_i, room_j = upper[i] - beta[i], beta[j] - lower[j]
        curvature = max(diagonal[i] + diagonal[j] - 2.0 * row[j], LEAST_CURVATURE)
        step = min((top - resid[j]) / curvature, room_i, room_j)
        # A bound must be met exactly, or rounding would leave the point free.
        beta[i] = upper[i] if step == room_i else beta[i] + step
        beta[j] = lower[j] if step == room_j else beta[j] - step
        for k in (i, j):
            rise[k] = 0.0 if beta[k] < upper[k] else -np.inf
            fall[k] = 0.0 if beta[k] > lower[k] else np.inf
    total, free = 0.0, 0
    for k in range(n):
        if lower[k] < beta[k] < upper[k]:
            total, free = total + resid[k], free + 1
    return total / free if free else 0.5 * (top + bottom)


@compiled()
def train(
    gram: Floats, n_first: int, used: NDArray[np.bool_], C: float, beta: Floats, decisions: Floats
) -> float:
    """The machine of the points ``used``, of which the first ``n_first`` are positive.

    Fills ``beta``, signed multipliers between 0 and C, and decisions at all points; gives the
    offset of the decisions.
    """
    n = len(gram)
    lower, upper = np.zeros(n), np.zeros(n)
    for k in range(n):
        beta[k] = 0.0
        decisions[k] = 1.0 if k < n_first else -1.0
        if used[k]:
            lower[k], upper[k] = min(0.0, C * decisions[k]), max(0.0, C * decisions[k])
    offset = _solve(gram, lower, upper, beta, decisions)
    for k in range(n):
        decisions[k] = (1.0 if k < n_first else -1.0) - decisions[k] + offset
    return offset


@compiled()
def cross_decisions(gram: Floats, n_first: int, perm: Ints, C: float) -> Floats:
    """Decision values of each point by the machine of the folds without it.

    A fold is a fifth of ``perm``. Where it leaves one class alone that one wins, as in libsvm.
    """
    n = len(perm)
    out, beta, decisions = np.zeros(n), np.empty(n), np.empty(n)
    used = np.full(n, True)
    for fold in range(N_FOLDS):
        left_out = perm[fold * n // N_FOLDS : (fold + 1) * n // N_FOLDS]
        n_plus, n_minus = n_first, n - n_first
        for k in left_out:
            used[k] = False
            if k < n_first:
                n_plus -= 1
            else:
                n_minus -= 1
        if n_plus > 0 and n_minus > 0:
            train(gram, n_first, used, C, beta, decisions)
        else:
            for k in left_out:
                decisions[k] = min(1, n_plus) - min(1, n_minus)
        for k in left_out:
            out[k], used[k] = decisions[k], True
    return out


@compiled(error_model="numpy")
def _platt(f: Floats, n_first: int, a: float, b: float) -> tuple[float, ...]:
    """Platt's objective at a, b, with its gradient (2 numbers) and Hessian (aa, ab, bb)."""
    n_second = len(f) - n_first
    loss = grad_a = grad_b = haa = hab = hbb = 0.0
    product = 1.0  # of 1 + exp(-|z|): one logarithm for many of them
    for k in range(len(f)):
        target = (n_first + 1.0) / (n_first + 2.0) if k < n_first else 1.0 / (n_second + 2.0)
        z = a * f[k] + b
        small = math.exp(-abs(z))
        share = 1.0 / (1.0 + small)
        p = small * share if z >= 0.0 else share
        loss += target * z + max(-z, 0.0)
        product *= 1.0 + small
        if product > 1e300:
            loss, product = loss + math.log(product), 1.0
        weight = small * share * share
        grad_a += f[k] * (target - p)
        grad_b += target - p
        haa += f[k] * f[k] * weight
        hab += f[k] * weight
        hbb += weight
    return loss + math.log(product), grad_a, grad_b, haa, hab, hbb


@compiled(error_model="numpy")
def fit_sigmoid(f: Floats, n_first: int) -> tuple[float, float]:
    """Newton fit [2]_ of a, b in P(positive | f) = 1 / (1 + exp(a f + b)) to Platt's soft targets.

    The first ``n_first`` of the decision values ``f`` belong to positive points.
    """
    a, b = 0.0, math.log((len(f) - n_first + 1.0) / (n_first + 1.0))
    loss, grad_a, grad_b, haa, hab, hbb = _platt(f, n_first, a, b)
    for _ in range(100):
        if abs(grad_a) < 1e-5 and abs(grad_b) < 1e-5:
            break
        # The ridge keeps a singular Hessian from dividing by zero.
        haa, hbb = haa + RIDGE, hbb + RIDGE
        det = haa * hbb - hab * hab
        da, db = (hab * grad_b - hbb * grad_a) / det, (hab * grad_a - haa * grad_b) / det
        slope = grad_a * da + grad_b * db
        step, found = 1.0, False
        while step >= 1e-10 and not found:
            new, grad_a, grad_b, haa, hab, hbb = _platt(f, n_first, a + step * da, b + step * db)
            found = new < loss + 1e-4 * step * slope
            if found:
                a, b, loss = a + step * da, b + step * db, new
            step *= 0.5
        if not found:  # no descent left at this precision
            break
    return a, b


@compiled()
def _copy(values: Floats, to: Floats) -> None:
    """Copy; assigning to a slice does the same, but takes two seconds to compile."""
    for k in range(len(values)):
        to[k] = values[k]


@compiled()
def _pair_gram(gram: Floats, first: int, n_first: int, second: int, out: Floats) -> None:
    """The Gram matrix of a pair of classes whose points begin at ``first`` and ``second``."""
    n = len(out)
    for k in range(n):
        row = gram[first + k if k < n_first else second - n_first + k]
        _copy(row[first : first + n_first], out[k, :n_first])
        _copy(row[second : second - n_first + n], out[k, n_first:])


@compiled()
def fit_pairs(
    gram: Floats, counts: Ints, perms: Ints, C: float, coef: Floats, pairs: Floats
) -> None:
    """The machines and the sigmoids of all pairs (0, 1), (0, 2), ... of classes.

    Points are sorted by class, of which there are ``counts``. ``perms`` holds the permutations of
    the pairs' points one after the other. Fills ``coef`` with signed multipliers (a column for each
    point, a row for each class but its own), and ``pairs`` with rows of the offset of the machine,
    and a and b of the sigmoid.
    """
    widest = 0
    for c in range(len(counts)):
        for d in range(c):
            widest = max(widest, counts[c] + counts[d])
    room = np.empty(widest * widest if len(counts) > 2 else 0)
    pair = done = first = 0
    for c in range(len(counts)):
        second = first + counts[c]
        for d in range(c + 1, len(counts)):
            n_first, n = counts[c], counts[c] + counts[d]
            sub = gram
            if len(counts) > 2:
                sub = room[: n * n].reshape((n, n))
                _pair_gram(gram, first, n_first, second, sub)
            beta, used = np.empty(n), np.full(n, True)
            offset = train(sub, n_first, used, C, beta, np.empty(n))
            for k in range(n_first):
                coef[d - 1, first + k] = beta[k]
            for k in range(n_first, n):
                coef[c, second - n_first + k] = beta[k]
            a, b = fit_sigmoid(cross_decisions(sub, n_first, perms[done : done + n], C), n_first)
            pairs[pair, 0], pairs[pair, 1], pairs[pair, 2] = offset, a, b
            pair, done, second = pair + 1, done + n, second + counts[d]
        first += counts[c]
