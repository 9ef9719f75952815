"""How far the promise falls when a rule is broken: one small simulation for each way to break it.

Every function repeats a calibration with a 90 % upper bound and gives the share of new cases that
the bound covers, which is computed exactly given the calibration wherever that is possible.
"""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats
from scipy.special import ndtr

from cpp_core.lessons.charts import ALPHA, PROMISE
from cpp_core.lessons.stored import Average, Kept, average
from cpp_core.method.ranks import Ranked, conformal_ranks, coverage_law


def upper(losses: NDArray) -> NDArray:
    """The bound of each row of losses."""
    return Ranked.of(losses).ends(ALPHA, "upper")[1]


def within(bound: NDArray | float, sd: NDArray | float) -> NDArray:
    """The share of absolute Normal errors of this standard deviation up to a bound."""
    return 2 * ndtr(np.asarray(bound) / sd) - 1


def least_squares(X: NDArray, y: NDArray) -> NDArray:
    """Weights of least squares for each sample (..., n, d), the shortest ones where n < d."""
    n, d = X.shape[-2:]
    right, turned = y[..., None], np.swapaxes(X, -1, -2)
    if n == d:
        w = np.linalg.solve(X, right)
    elif n > d:
        w = np.linalg.solve(turned @ X, turned @ right)
    else:
        w = turned @ np.linalg.solve(X @ turned, right)
    return w[..., 0]


# Naive cross-validation

ROWS, FOLDS, TYPOS = 100, (2, 5, 10, 100), 0.02
GROUPS = 9
"""Disjoint groups of 91 rows, of which one is judged: what would be right."""


def prices(shape: tuple[int, ...], rng: np.random.Generator, typos: float = TYPOS) -> NDArray:
    """Prices around 10, a few of them typed a hundred times too large."""
    drawn = rng.normal(10, 1, shape)
    return np.where(rng.random(shape) < typos, 100 * drawn, drawn)


def fold_losses(rows: NDArray, folds: int, median: bool = False) -> NDArray:
    """Absolute errors of each row (..., n) at the mean of the other folds, or at their median."""
    size = rows.shape[-1] // folds
    parts = rows.reshape(*rows.shape[:-1], folds, size)
    if not median:
        rest = (rows.sum(axis=-1)[..., None] - parts.sum(axis=-1)) / (rows.shape[-1] - size)
    else:
        others = [np.delete(parts, i, axis=-2).reshape(*rows.shape[:-1], -1) for i in range(folds)]
        rest = np.stack([np.median(own, axis=-1) for own in others], axis=-1)
    return np.abs(parts - rest[..., None]).reshape(rows.shape)


def below_fresh(bounds: NDArray, m: int, typos: float = TYPOS) -> NDArray:
    """The share of new absolute errors up to each bound, at the mean of m fresh prices: exact.

    Given the number of typos among the m, and whether the new price is one, the error is Normal.
    """
    share = np.zeros(bounds.shape)
    for t in range(int(stats.binom.ppf(1 - 1e-9, m, typos)) + 1):
        mean, var = (10 * (m - t) + 1000 * t) / m, ((m - t) + 1e4 * t) / m**2
        weight = stats.binom.pmf(t, m, typos)
        for chance, center, own in ((1 - typos, 10, 1.0), (typos, 1000, 1e4)):
            gap, sd = center - mean, math.sqrt(var + own)
            share += weight * chance * (ndtr((bounds - gap) / sd) - ndtr((-bounds - gap) / sd))
    return share


def cross_validation(size: int, seed: int) -> Mapping[str, Average]:
    """Losses of the folds used as if they were scores, for a model of fresh rows."""
    rng, found = np.random.default_rng([81, seed]), {}
    for folds in FOLDS:
        m = ROWS - ROWS // folds
        for name, typos in ((f"cv-{folds}", TYPOS), (f"cv-clean-{folds}", 0.0)):
            bounds = upper(fold_losses(prices((size, ROWS), rng, typos), folds))
            found[name] = average(below_fresh(bounds, m, typos), way=True)
    rows = prices((size, ROWS), rng)
    fresh = np.median(prices((size, ROWS - ROWS // 5), rng), axis=1)
    new = np.abs(prices((size,), rng) - fresh)
    found["cv-median"] = average(new <= upper(fold_losses(rows, 5, median=True)))
    groups = prices((size, GROUPS, ROWS - 9), rng)
    losses = np.abs(groups[..., 0] - groups[..., 1:].mean(axis=-1))
    found["cv-right"] = average(below_fresh(upper(losses), groups.shape[-1] - 1))
    return found


# Calibrating on the training data

TRAINED_ON, TRAINED_INPUTS = 100, (10, 50, 90, 100)


def on_training_data(size: int, seed: int) -> Mapping[str, Average]:
    """Residuals of least squares on its own rows as scores."""
    rng, found = np.random.default_rng([82, seed]), {}
    for d in TRAINED_INPUTS:
        X = rng.standard_normal((size, TRAINED_ON, d))
        y = rng.standard_normal((size, TRAINED_ON))
        w = least_squares(X, y)
        losses = np.abs(y - (X @ w[..., None])[..., 0])
        bounds = upper(losses if d < TRAINED_ON else np.zeros_like(losses))  # no rounding errors
        found[f"training-{d}"] = average(within(bounds, np.sqrt(1 + (w**2).sum(axis=1))), way=True)
    return found


# Duplicated rows

ORIGINALS, COPIES = 200, (1, 2, 3, 4, 5)
AT = (np.arange(400) + 0.5) / 400


def duplicates(size: int, seed: int) -> Mapping[str, Average]:
    """Copies of one row on both sides of the split, and a nearest neighbour that knows them."""
    rng, found = np.random.default_rng([83, seed]), {}
    for copies in COPIES:
        covers = []
        for _ in range(size):
            x = rng.random(ORIGINALS)
            y = np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal(ORIGINALS)
            order = rng.permutation(np.repeat(np.arange(ORIGINALS), copies))
            train, judge = np.unique(order[: len(order) // 2]), order[len(order) // 2 :]
            bound = upper(np.abs(y[judge] - y[train][nearest(x[train], x[judge])])[None])[0]
            own = y[train][nearest(x[train], AT)]
            truth = np.sin(2 * np.pi * AT)
            share = ndtr((own + bound - truth) / 0.3) - ndtr((own - bound - truth) / 0.3)
            covers.append(share.mean())
        found[f"copies-{copies}"] = average(covers, way=True)
    return found


def nearest(known: NDArray, at: NDArray) -> NDArray:
    """The index of the known place next to each place."""
    order = np.argsort(known)
    edges = (known[order][1:] + known[order][:-1]) / 2
    return order[np.searchsorted(edges, at)]


# Refitting on all the data

REFIT_INPUTS, REFIT_ROWS = (2, 20, 40), 20


def refitted(size: int, seed: int) -> Mapping[str, Average]:
    """Calibrated at 20 rows, then fitted again on all 40."""
    rng, found = np.random.default_rng([84, seed]), {}
    for d in REFIT_INPUTS:
        truth = np.full(d, 1 / math.sqrt(d))
        X = rng.standard_normal((size, 2 * REFIT_ROWS, d))
        y = X @ truth + 0.5 * rng.standard_normal((size, 2 * REFIT_ROWS))
        train, judge = slice(None, REFIT_ROWS), slice(REFIT_ROWS, None)
        w = least_squares(X[:, train], y[:, train])
        bounds = upper(np.abs(y[:, judge] - (X[:, judge] @ w[..., None])[..., 0]))
        for name, own in ((f"refit-{d}", least_squares(X, y)), (f"refit-kept-{d}", w)):
            sd = np.sqrt(0.25 + ((own - truth) ** 2).sum(axis=1))
            found[name] = average(within(bounds, sd), way=True)
    return found


# Naive swapping

SWAP_ROWS, SWAP_INPUTS = 50, (10, 25, 40, 50)


def swapped(size: int, seed: int) -> Mapping[str, Average]:
    """The new case is in the fit that gives the scores, but not in that of the model in use."""
    rng, found = np.random.default_rng([85, seed]), {}
    for d in SWAP_INPUTS:
        X = rng.standard_normal((size, SWAP_ROWS + 1, d))
        y = rng.standard_normal((size, SWAP_ROWS + 1))
        losses = np.abs(y - (X @ least_squares(X, y)[..., None])[..., 0])
        bounds, saw = upper(losses[:, 1:]), losses[:, 0]
        w = least_squares(X[:, 1:], y[:, 1:])
        used = np.abs(y[:, 0] - (X[:, 0] * w).sum(axis=1))
        found[f"swap-{d}"] = average(used <= bounds, way=True)
        found[f"swap-saw-{d}"] = average(saw <= bounds)
    return found


# One shared seed

SEED_K, SEED_M = 99, 20
LEFT = (1 - 2 * 0.1) ** 5
"""What is left of the start after five updates with step .1, where x = 1."""


def shared_seed(size: int, seed: int) -> Mapping[str, Average]:
    """Gradient descent whose runs all start at one random point, or each at its own.

    The error of a run is Normal around what is left of its start; squared losses are compared.
    """
    rng = np.random.default_rng([86, seed])
    sd = 0.1 * math.sqrt(1 + (1 - LEFT) ** 2 / SEED_M)
    start, own = rng.uniform(-5, 5, (2, size, SEED_K))
    start = np.repeat(start[:, :1], SEED_K, axis=1)
    noise = sd * rng.standard_normal((2, size, SEED_K))
    shared, each = (
        np.sqrt(upper((LEFT * (1 - at) + e) ** 2))[:, None]
        for at, e in zip((start, own), noise, strict=True)
    )

    def caught(bounds: NDArray, starts: NDArray) -> NDArray:
        gap = LEFT * (1 - starts)
        return (ndtr((bounds - gap) / sd) - ndtr((-bounds - gap) / sd)).mean(axis=1)

    fresh = (-5 + 10 * (np.arange(500) + 0.5) / 500)[None]
    return {
        "seed-shared": average(caught(shared, fresh), way=True),
        "seed-own": average(caught(each, fresh), way=True),
        "seed-same": average(caught(shared, start[:, :1])),
    }


# Drift, and an alpha that is tuned

SHIFTS, TUNED = (1, 2, 3), (19, 49, 99)


def shifted(size: int, seed: int) -> Mapping[str, Average]:
    """A line fitted to x + x^2, or to x alone, and inputs that move away."""
    rng, found = np.random.default_rng([87, seed]), {}
    at = np.array([stats.norm.ppf((i + 0.5) / 200) for i in range(200)])
    for name, bend in (("shift", 1.0), ("shift-right", 0.0)):
        x = rng.standard_normal((2, size, 100))
        y = x + bend * x**2 + rng.standard_normal(x.shape)
        slope = ((x[0] - x[0].mean(axis=1, keepdims=True)) * y[0]).sum(axis=1)
        slope /= ((x[0] - x[0].mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        level = y[0].mean(axis=1) - slope * x[0].mean(axis=1)
        lines = level[:, None] + slope[:, None] * x[1]
        bounds = upper(np.abs(y[1] - lines)[:, :99])[:, None]
        for shift in (0, *SHIFTS):
            new = at + shift
            gap = new + bend * new**2 - level[:, None] - slope[:, None] * new
            share = ndtr(bounds - gap) - ndtr(-bounds - gap)
            found[f"{name}-{shift}"] = average(share.mean(axis=1), way=True)
    return found


def tuned(size: int, seed: int) -> Mapping[str, Average]:
    """The bound put under the widest gap among the upper ranks; uniform losses."""
    rng, found = np.random.default_rng([88, seed]), {}
    for k in TUNED:
        losses = np.sort(rng.random((size, k)), axis=1)
        first = math.ceil(0.8 * (k + 1))
        ends = np.concatenate([losses[:, first - 1 :], np.ones((size, 1))], axis=1)
        ranks = first + np.diff(ends, axis=1).argmax(axis=1)
        found[f"tuned-{k}"] = average(losses[np.arange(size), ranks - 1], way=True)
        found[f"tuned-claims-{k}"] = average(ranks / (k + 1))
    return found


# Feared, and harmless

FRESH_K, CHOICES = 50, 20


def feared(size: int, seed: int) -> Mapping[str, Average]:
    """What people fear and what keeps the promise: its calibration cases are like new ones."""
    rng = np.random.default_rng([89, seed])
    wild = upper(np.abs(stats.cauchy.rvs(size=(size, 99), random_state=rng)))
    off = upper(np.abs(rng.normal(1000, 1, (size, 99))))
    few = min(size, 400)
    X, y = rng.standard_normal((few, 100, 100)), rng.standard_normal((few, 100))
    sd = np.sqrt(1 + (least_squares(X, y) ** 2).sum(axis=1))
    fresh = upper(np.abs(sd[:, None] * rng.standard_normal((few, FRESH_K))))
    # Models are noise sds; the one that looks best on 20 other cases is chosen, then calibrated.
    sds = rng.uniform(0.5, 2, (size, CHOICES))
    looks = np.abs(rng.standard_normal((size, CHOICES, 20)) * sds[..., None]).mean(axis=2)
    chosen = sds[np.arange(size), looks.argmin(axis=1)]
    own = upper(np.abs(chosen[:, None] * rng.standard_normal((size, FRESH_K))))
    return {
        "wild": average(2 * stats.cauchy.cdf(wild) - 1),
        "off": average(ndtr(off - 1000) - ndtr(-off - 1000)),
        "interpolates": average(within(fresh, sd)),
        "chosen": average(within(own, chosen)),
        "copies": average(repeated(min(size, 3000), rng)),
    }


def repeated(size: int, rng: np.random.Generator) -> NDArray:
    """The chance that a new case is covered that may be a copy, too: any of the judged rows is it.

    A row is covered by the bound of the others when its loss is at most that of the same rank.
    """
    covers = np.empty(size)
    for i in range(size):
        x = rng.random(ORIGINALS)
        y = np.sin(2 * np.pi * x) + 0.3 * rng.standard_normal(ORIGINALS)
        order = rng.permutation(np.repeat(np.arange(ORIGINALS), 2))
        train, judge = np.unique(order[:ORIGINALS]), order[ORIGINALS:]
        losses = np.abs(y[judge] - y[train][nearest(x[train], x[judge])])
        _, hi = conformal_ranks(len(losses) - 1, ALPHA, "upper")
        covers[i] = (losses <= np.sort(losses)[hi - 1]).mean()
    return covers


def errors_only(rate: float = 0.05, k: int = 99) -> float:
    """What is covered of losses 0 and 1, where the bound is 0 or 1: exact."""
    _, hi = conformal_ranks(k, ALPHA, "upper")
    zero = stats.binom.cdf(k - hi, k, rate)  # few enough errors for a bound of 0
    return float(zero * (1 - rate) + (1 - zero))


# Without simulation

LOWEST, LOWEST_K = (2, 5, 20, 100), 19
FAILING, FAILED_K, MINORITY = (5, 10, 20), 49, 0.2
DRIFTS = (1.5, 2.0, 3.0)
EXACT_BOUND = float(stats.norm.ppf(1 - ALPHA / 2))
"""Nine of ten absolute Normal errors stay below it."""
CLIPPED = (1, 2, 5, 8)


def lowest_of(models: int) -> float:
    """What the lowest of equal models' own bounds covers."""
    law = stats.beta(*coverage_law(LOWEST_K, ALPHA, "upper"))
    return float(integrate.quad(lambda u: law.sf(u) ** models, 0, 1, limit=200)[0])


def succeeding(m: int) -> float:
    """How often a sample of m rows has both classes."""
    return 1 - (1 - MINORITY) ** m - MINORITY**m


def dropped(m: int) -> float:
    """What is left where fits that fail, on one class, are dropped: the new one may fail too."""
    return PROMISE * succeeding(m)


def noisier(factor: float) -> float:
    """What the exact bound covers once the noise has grown."""
    return float(within(EXACT_BOUND, factor))


def clipped(k: int) -> float:
    """What the largest of k covers, taken where no rank is large enough."""
    if conformal_ranks(k, ALPHA, "upper")[1] <= k:
        raise ValueError(f"{k} losses have a finite bound")
    return k / (k + 1)


MEASURES: dict[str, Kept] = {
    "break-cv": Kept(cross_validation, 40_000, 300),
    "break-training": Kept(on_training_data, 2000, 40),
    "break-copies": Kept(duplicates, 5000, 60),
    "break-refit": Kept(refitted, 8000, 200),
    "break-swap": Kept(swapped, 12_000, 300),
    "break-seed": Kept(shared_seed, 20_000, 300),
    "break-shift": Kept(shifted, 8000, 200),
    "break-tuned": Kept(tuned, 40_000, 1000),
    "break-feared": Kept(feared, 8000, 300),
}
