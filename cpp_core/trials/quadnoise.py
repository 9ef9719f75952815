"""Whole randomized trials of the quadnoise experiments, compiled.

By hand, because no library descends 1,250 candidates of 74 cases at once: a plain loop takes 39 ms
for a trial of one candidate each and 1,133 ms for a Z-free one, NumPy across candidates 4.9 and 46,
NumPy's draws with compiled updates 1.1 and 23. A shuffle is 18 ns an element in NumPy, 2 in here.

The data are those that ``load_dataset("quadnoise", ...)`` draws, to the last bit; the updates are
those of ``cpp_core.learners.gradient``, up to rounding. Trials share nothing: threads may compute
them.
"""

import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from cpp_core.catalog.datasets import load_dataset
from cpp_core.checks import check_count, lookup
from cpp_core.learners.compiled import compiled
from cpp_core.learners.gradient import (
    GradientDescent,
    StochasticGradientDescent,
    gd_updates,
    sgd_updates,
)
from cpp_core.method.splits import HALF, check_training_size, part_sizes
from cpp_core.trials.seeding import advance, states_of
from cpp_core.trials.trial_entry import data_rng


def _defaults(estimator: BaseEstimator) -> dict[str, float]:
    """The settings of an estimator as it is made, but for its seed."""
    return {name: own for name, own in estimator.get_params().items() if name != "random_state"}


DEFAULTS: dict[str, dict[str, float]] = {
    "gd": _defaults(GradientDescent()),
    "sgd": _defaults(StochasticGradientDescent()),
}
"""The settings of the estimators, by the names of the algorithms."""


class TrialLosses(NamedTuple):
    """Losses (n // 2,) or (n_sets, n_evaluations), and (test_size,); those that diverged are +inf.

    ``diverged`` counts the candidates whose weights overflowed. Of several trials all have these
    along the first axis.
    """

    calibration: NDArray
    test: NDArray
    diverged: Any


# The algorithms' uniform numbers come from NumPy's PCG64 written out: compiled, its state stays in
# registers, while a call of a Generator takes twice as long and 15 microseconds to hand it over.
Word = np.uint64
_11, _58, _63, _64 = (Word(bits) for bits in (11, 58, 63, 64))


@compiled(inline="always")
def _uniform(high: Word, low: Word) -> float:
    """The number in [0, 1) that ``Generator.random`` makes of a state."""
    mixed, turn = high ^ low, high >> _58
    bits = (mixed >> turn) | (mixed << ((_64 - turn) & _63))
    return np.int64(bits >> _11) * (1.0 / 9007199254740992.0)


@compiled()
def _draw(rng: np.random.Generator, table: NDArray, n: int, law: tuple) -> None:
    """Fill the rows (x, y) of a table with the dataset's draw of n, then with one for the others.

    For d < 8, and df > 2 if Student-t. That noise is NumPy's, Normal / sqrt(gamma) after Marsaglia
    and Tsang, written out because numba's ``standard_t`` takes twice as long.
    """
    student, scale, df = law
    d, shape = table.shape[1] - 1, df / 2 - 1.0 / 3.0
    spread, root = 1.0 / math.sqrt(9 * shape) if student else 0.0, math.sqrt(df / 2)
    for Z in (table[:n], table[n:]):
        for i in range(len(Z)):
            Z[i, d] = 0.0
            for j in range(d):
                Z[i, j] = rng.standard_normal()
                Z[i, d] += Z[i, j]
        for i in range(len(Z)):
            normal = rng.standard_normal()
            if not student:
                Z[i, d] += scale * normal
                continue
            while True:
                x = rng.standard_normal()
                v = 1.0 + spread * x
                if v <= 0.0:
                    continue
                v = v * v * v
                u = rng.random()
                inside = u < 1.0 - 0.0331 * (x * x) * (x * x)
                if inside or math.log(u) < 0.5 * x * x + shape * (1.0 - v + math.log(v)):
                    break
            Z[i, d] += root * normal / math.sqrt(shape * v)


@compiled()
def _begin(w: NDArray, start: float, state: NDArray) -> None:
    """Fill w with Uniform[-start, start]."""
    high, low = state[0], state[1]
    for j in range(w.size):
        high, low = advance(high, low, state[2], state[3])
        w[j] = -start + 2 * start * _uniform(high, low)
    state[0], state[1] = high, low


@compiled()
def _shuffle(order: NDArray, state: NDArray) -> None:
    """Fisher-Yates, in place."""
    high, low, add_high, add_low = state[0], state[1], state[2], state[3]
    for i in range(order.size - 1, 0, -1):
        high, low = advance(high, low, add_high, add_low)
        j = int(_uniform(high, low) * (i + 1))
        order[i], order[j] = order[j], order[i]
    state[0], state[1] = high, low


@compiled(fastmath={"contract", "reassoc"})
def _gd_plane(Z: NDArray, w: NDArray, step: float, updates: int) -> None:
    """``gd_updates`` for d = 2, by the sample's moments: one pass over it serves all updates."""
    aa = ab = bb = ay = by = 0.0
    for i in range(len(Z)):
        a, b, y = Z[i, 0], Z[i, 1], Z[i, 2]
        aa, ab, bb = aa + a * a, ab + a * b, bb + b * b
        ay, by = ay + a * y, by + b * y
    u, v, pace = w[0], w[1], 2.0 * step / len(Z)
    for _ in range(updates):
        u, v = u - pace * (aa * u + ab * v - ay), v - pace * (ab * u + bb * v - by)
    w[0], w[1] = u, v


@compiled(fastmath={"contract"})
def _sgd_plane(
    Z: NDArray, w: NDArray, step: float, order: NDArray, upcoming: NDArray, state: NDArray
) -> None:
    """``sgd_updates`` for d = 2; ``_shuffle(upcoming)`` fills the wait for the last weights."""
    high, low, add_high, add_low = state[0], state[1], state[2], state[3]
    u, v, pace = w[0], w[1], 2.0 * step
    for t in range(order.size):
        a, b, y = Z[order[t], 0], Z[order[t], 1], Z[order[t], 2]
        residual = u * a + (v * b - y)
        u, v = u - residual * (pace * a), v - residual * (pace * b)
        i = upcoming.size - 1 - t
        if i > 0:
            high, low = advance(high, low, add_high, add_low)
            j = int(_uniform(high, low) * (i + 1))
            upcoming[i], upcoming[j] = upcoming[j], upcoming[i]
    w[0], w[1] = u, v
    state[0], state[1] = high, low


@compiled()
def _train(Z: NDArray, w: NDArray, settings: NDArray, state: NDArray) -> None:
    """Fill w with the weights of a candidate trained on the rows of Z."""
    stochastic, start, step, rounds = settings[0] > 0, settings[1], settings[2], int(settings[3])
    d, passes = w.size, rounds if stochastic else 0
    _begin(w, start, state)
    if not stochastic and d == 2:
        _gd_plane(Z, w, step, rounds)
    elif not stochastic:
        gd_updates(Z[:, :d], Z[:, d], w, step, rounds)
    order = np.arange(len(Z) if passes else 0).astype(np.uint32)
    _shuffle(order, state)
    for left in range(passes - 1, -1, -1):
        upcoming = order.copy() if left else order[:0]
        if d == 2:
            _sgd_plane(Z, w, step, order, upcoming, state)
        else:
            sgd_updates(Z[:, :d], Z[:, d], w, step, order)
            _shuffle(upcoming, state)
        order = upcoming


@compiled()
def _squared_errors(Z: NDArray, w: NDArray, losses: NDArray) -> None:
    """Fill losses of the candidate at the rows of Z: +inf where they, or its weights, overflow."""
    finite = np.isfinite(w).all()
    for i in range(losses.size):
        error = -Z[i, w.size]
        for j in range(w.size):
            error += w[j] * Z[i, j]
        losses[i] = error * error if finite and not np.isnan(error) else np.inf


@compiled()
def _evaluate(Z: NDArray, m: int, b: int, settings: NDArray, state: NDArray, out: NDArray) -> int:
    """Fill in losses at the first b of each m + b rows, of a candidate trained on the others.

    If b is 0: of one candidate, trained on the first m rows, at all others. Give how many diverged.
    """
    w, diverged = np.empty(Z.shape[1] - 1), 0
    for g in range(out.size // b if b else 1):
        group = Z[g * (m + b) : (g + 1) * (m + b)]
        _train(group[b:], w, settings, state)
        _squared_errors(group if b else Z[m:], w, out[g * b : (g + 1) * b] if b else out)
        diverged += not np.isfinite(w).all()
    return diverged


@compiled()
def _run(
    rng: np.random.Generator, Z: NDArray, law: tuple, sizes: tuple, algorithms: tuple, out: NDArray
) -> NDArray:
    """Draw Z, unless it is drawn, fill in each algorithm's losses; how many candidates diverged.

    All in one call, because a thread that returns to Python may have to wait for the other.
    """
    (n, m, b, known), (settings, states) = sizes, algorithms
    diverged = np.zeros(len(settings), dtype=np.int64)
    if not law[0]:
        _draw(rng, Z, n, law[1:])
    for a in range(len(settings)):
        if b == 0:
            diverged[a] = _evaluate(Z, m, 0, settings[a], states[a], out[a])
        else:
            diverged[a] = _evaluate(Z[:n], m, b, settings[a], states[a], out[a, :known])
            diverged[a] += _evaluate(Z[n:], m, 1, settings[a], states[a], out[a, known:])
    return diverged


def _states(seed: int, trials: Sequence[int], names: Sequence[str]) -> NDArray:
    """The algorithms' generators (trials, algorithms, 4) for ``advance``."""
    return states_of(seed, trials, [(1, zlib.crc32(name.encode())) for name in names])


def _settings(name: str, given: Mapping[str, Any]) -> tuple[bool, float, float, int]:
    """Is it stochastic, start, step and rounds: the default where nothing is given."""
    default = lookup(name, DEFAULTS, "descent")
    if unknown := given.keys() - default.keys():
        raise ValueError(f"{name} takes {', '.join(default)}, but not {', '.join(unknown)}.")
    chosen, stochastic = {**default, **given}, "passes" in default
    rounds = "passes" if stochastic else "updates"
    count = check_count(chosen[rounds], rounds, least=0)
    return stochastic, chosen["start"], chosen["step"], count


def quadnoise_trials(
    seed: int,
    trials: Sequence[int],
    *,
    algorithmic: bool,
    n: int,
    n_sets: int | None,
    n_evaluations: int,
    calibration_share: float = HALF,
    test_size: int,
    d: int,
    noise: str,
    scale: float,
    df: float,
    algorithms: Sequence[tuple[str, Mapping[str, float]]],
) -> dict[str, TrialLosses]:
    """Squared errors of randomized trials, stacked along the first axis, by algorithm.

    Parameters
    ----------
    seed, trials : int, sequence of int
        They and the settings determine an algorithm's losses, whatever other algorithms run.
    algorithmic : bool
        False: of n points ``calibration_share`` calibrate a candidate that the others train. True:
        n points make n_sets groups, whose first n_evaluations are held out; the others train.
    n, n_sets, n_evaluations, test_size : int
        n_sets and n_evaluations matter only when ``algorithmic``; then each of the test_size fresh
        points has a candidate trained on fresh points of its own.
    d, noise, scale, df : settings of the dataset
    algorithms : sequence of (name, settings)
        "gd", batch descent, or "sgd", stochastic, with the settings of the estimators.
    """
    check_count(test_size, "test_size")
    shape = [n_sets or 0, n_evaluations]
    if algorithmic:
        m, b, unused = check_training_size(n, *shape), n_evaluations, 0
    else:
        b, unused = 0, check_count(n, "n", least=2) % 2
        m, *shape = part_sizes(n, 2, calibration_share)
    calibrating, new = math.prod(shape), test_size * (m + 1 if algorithmic else 1)
    draw = load_dataset("quadnoise", d=d, noise=noise, scale=scale, df=df).draw
    # From eight columns on NumPy sums a row in another order; df <= 2 needs another gamma law.
    drawn = d >= 8 or (noise == "student" and df <= 2)
    law, sizes = (drawn, noise == "student", float(scale), float(df)), (n, m, b, calibrating)
    names, Z = [name for name, _ in algorithms], np.empty((n + new, d + 1))
    settings = np.array([_settings(*algorithm) for algorithm in algorithms], dtype=float)
    settings = settings.reshape(-1, 4)
    losses = np.empty((len(trials), len(names), calibrating + unused + test_size))
    diverged = np.empty((len(trials), len(names)), dtype=np.int64)
    states = _states(seed, trials, names)
    for t, trial in enumerate(trials):
        rng = data_rng(seed, trial)
        if drawn:
            Z[:n], Z[n:] = (np.column_stack(draw(size, rng)) for size in (n, new))
        diverged[t] = _run(rng, Z, law, sizes, (settings, states[t]), losses[t])
    known, tested = losses[..., :calibrating], losses[..., -test_size:]
    return {
        name: TrialLosses(known[:, a].reshape(-1, *shape), tested[:, a], diverged[:, a])
        for a, name in enumerate(names)
    }
