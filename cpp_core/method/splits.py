"""How rows in random order are divided into disjoint parts, without replacement.

What does not divide evenly is discarded, at random because the rows are in random order; that order
also makes an order-dependent learner symmetric.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level, check_count, probability

Indices = NDArray[np.intp]

HALF = 0.5
"""The usual share of calibration, which is the paper's: halves."""


def equal_parts(n: int, n_parts: int, rng: np.random.Generator) -> list[Indices]:
    """Disjoint random parts of floor(n / n_parts) indices each."""
    if n < n_parts:
        raise ValueError(
            f"{n} points cannot be divided into {n_parts} parts; at least {n_parts} are needed."
        )
    size = n // n_parts
    return np.split(rng.permutation(n)[: size * n_parts], n_parts)


def part_sizes(n: int, n_parts: int, calibration_share: Level = HALF) -> list[int]:
    """Sizes of n_parts equal parts, but that the last has this share of the last two.

    The last part calibrates. Any share that is fixed beforehand is valid.

    >>> part_sizes(1347, 2), part_sizes(1347, 2, 0.2), part_sizes(90, 3, 0.8)
    ([673, 673], [1077, 269], [30, 12, 48])
    """
    size = n // n_parts
    if n_parts == 1:
        return [size]
    last = math.floor(2 * size * probability(calibration_share, "calibration_share"))
    return [*[size] * (n_parts - 2), 2 * size - last, last]


def training_size(n: int, n_sets: int, n_evaluations: int = 1) -> int:
    """m, the training points of each of n_sets groups: floor((n - k b) / k).

    >>> training_size(75000, 1000), training_size(1347 // 2, 50)
    (74, 12)
    """
    return n // check_count(n_sets, "n_sets") - check_count(n_evaluations, "n_evaluations")


def check_training_size(
    n: int, n_sets: int, n_evaluations: int = 1, n_parts: int = 1, calibration_share: Level = HALF
) -> int:
    """m of every group when n points are first divided into n_parts; refuses m < 1.

    The last part has n_sets groups, and the others as many as their sizes allow.
    """
    last = part_sizes(n, n_parts, calibration_share)[-1]
    m = training_size(last, n_sets, n_evaluations)
    if m < 1:
        share = (
            probability(calibration_share, "calibration_share") if n_parts > 1 else Fraction(1, 2)
        )
        needed = n_parts * math.ceil(n_sets * (n_evaluations + 1) / (2 * share))
        fitting = last // (n_evaluations + 1)
        remedy = f", or at most n_sets = {fitting}" if fitting else ""
        raise ValueError(
            f"{n} points leave no training point for each of n_sets = {n_sets} groups"
            f"{f' in each of {n_parts} parts' if n_parts > 1 else ''}; "
            f"at least {needed} points are needed{remedy}."
        )
    return m


def training_groups(
    indices: Indices, n_sets: int, n_evaluations: int = 1
) -> tuple[Indices, Indices]:
    """Deal randomly ordered indices into n_sets disjoint groups: training (k, m), held out (k, b).

    Each group trains one candidate on its m points, evaluated at its own b held-out points.
    """
    m = check_training_size(len(indices), n_sets, n_evaluations)
    dealt = indices[: n_sets * (m + n_evaluations)].reshape(n_sets, m + n_evaluations)
    return dealt[:, n_evaluations:], dealt[:, :n_evaluations]


def group_counts(sizes: list[int], n_sets: int) -> list[int]:
    """Groups of each part, n_sets in the last one: all groups are of one size.

    >>> group_counts([673, 673], 50), group_counts([30, 12, 48], 8)
    ([50, 50], [5, 2, 8])
    """
    counts = [n_sets * size // sizes[-1] for size in sizes]
    if min(counts) < 1:
        raise ValueError(
            f"n_sets = {n_sets} groups calibrate and leave none for the other part; a smaller "
            "calibration_share or a greater n_sets does."
        )
    return counts
