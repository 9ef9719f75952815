"""How rows in random order are divided into disjoint parts, without replacement.

What does not divide evenly is discarded, at random because the rows are in random order; that order
also makes an order-dependent learner symmetric.
"""

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import check_count

Indices = NDArray[np.intp]


def equal_parts(n: int, n_parts: int, rng: np.random.Generator) -> list[Indices]:
    """Disjoint random parts of floor(n / n_parts) indices each."""
    if n < n_parts:
        raise ValueError(
            f"{n} points cannot be divided into {n_parts} parts; at least {n_parts} are needed."
        )
    size = n // n_parts
    return np.split(rng.permutation(n)[: size * n_parts], n_parts)


def training_size(n: int, n_sets: int, n_evaluations: int = 1) -> int:
    """m, the training points of each of n_sets groups: floor((n - k b) / k).

    >>> training_size(75000, 1000), training_size(1347 // 2, 50)
    (74, 12)
    """
    return n // check_count(n_sets, "n_sets") - check_count(n_evaluations, "n_evaluations")


def check_training_size(n: int, n_sets: int, n_evaluations: int = 1, n_parts: int = 1) -> int:
    """m of every group when n points are first divided into n_parts; refuses m < 1."""
    m = training_size(n // n_parts, n_sets, n_evaluations)
    if m < 1:
        needed = n_parts * n_sets * (n_evaluations + 1)
        fitting = n // (n_parts * (n_evaluations + 1))
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
