"""The constructions as layouts: who trains on which rows, and who is judged where.

Rows are in exchangeable order, so that consecutive rows are random parts; what does not divide
evenly is left over. A layout trains nothing: ``measuring.measure`` does what it says, and ``sets``
turns the losses into sets. See docs/method.md, section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cpp_core.checks import Level
from cpp_core.method.splits import (
    HALF,
    Indices,
    check_training_size,
    group_counts,
    part_sizes,
    training_groups,
)

Role = Literal["score", "regress", "calibrate", "test"]
"""What a part is for: likelihoods of symbols, the regression of losses, calibration, testing."""


@dataclass(frozen=True)
class Part:
    """Candidates, and the rows at which they are judged.

    ``training`` (g, m) has the rows that train each of g candidates, judged at the same row of
    ``at`` (g, b). One candidate that serves all rows of ``at`` has its training rows alone, (m,).
    """

    role: Role
    training: Indices
    at: Indices


def held_out(
    rows: Indices, roles: Sequence[Role], training: Indices | None = None, batch_size: int = 1
) -> tuple[Part, ...]:
    """One candidate, judged at equal shares of the rows, one for each role.

    Without ``training`` rows it is trained elsewhere. With a batch size, batch by batch.
    """
    own = np.empty(0, dtype=np.intp) if training is None else training
    shares = _divided(rows, part_sizes(len(rows), len(roles)))
    return _judged(roles, own, shares, batch_size)


def _divided(rows: Indices, sizes: Sequence[int]) -> list[Indices]:
    """Consecutive parts of these sizes."""
    return np.split(rows[: sum(sizes)], np.cumsum(sizes)[:-1])


def _judged(
    roles: Sequence[Role], training: Indices, shares: Sequence[Indices], batch_size: int
) -> tuple[Part, ...]:
    """One candidate, judged at the rows of each share, batch by batch."""
    return tuple(
        Part(role, training, rows[: len(rows) // batch_size * batch_size].reshape(-1, batch_size))
        for role, rows in zip(roles, shares, strict=True)
    )


def plain(
    n: int, n_sets: int | None = None, n_held_out: int = 1, calibration_share: Level = HALF
) -> tuple[Part, ...]:
    """One interval for all cases.

    Without ``n_sets``, candidate CPP (Theorem 5, equations 14 to 16, Algorithm 1): one half trains,
    the other calibrates, in batches of ``n_held_out`` for a metric. With it algorithm CPP, Z-free
    (Theorem 8, equations 18 to 20, Algorithm 2): k disjoint groups of m training rows and
    ``n_held_out`` others, which are one evaluation point, several, or a batch.

    In all constructions the last part calibrates and has ``calibration_share`` of the last two,
    by default one half. Any share that is fixed beforehand is valid.
    """
    return _layout(("calibrate",), n, n_sets, n_held_out, calibration_share)


def modulated(
    n: int, n_sets: int | None = None, n_held_out: int = 1, calibration_share: Level = HALF
) -> tuple[Part, ...]:
    """Sets that move with the case: one part's losses are regressed on it, the last calibrates.

    With ``n_sets`` algorithm CPP, Z-modulated (Theorems 10 and 12, equations 22 to 26, Algorithm
    3): halves TR and CP of k groups each. Without it X-modulated sets of a candidate (ours), which
    a third of the rows trains.
    """
    return _layout(("regress", "calibrate"), n, n_sets, n_held_out, calibration_share)


def symbolic(
    n: int, n_sets: int | None = None, n_held_out: int = 1, calibration_share: Level = HALF
) -> tuple[Part, ...]:
    """Sets of symbols: parts TR, EV and CP that score symbols, regress the scores, calibrate.

    With ``n_sets`` each has k groups of its own; without it one candidate, trained on a fourth
    part, is judged at all rows of the three.
    """
    return _layout(("score", "regress", "calibrate"), n, n_sets, n_held_out, calibration_share)


def _layout(
    roles: Sequence[Role], n: int, n_sets: int | None, n_held_out: int, share: Level
) -> tuple[Part, ...]:
    if n_sets is None:
        sizes = part_sizes(n, len(roles) + 1, share)
        training, *others = _divided(np.arange(n), sizes)
        return _judged(roles, training, others, n_held_out)
    size = check_training_size(n, n_sets, n_held_out, len(roles), share) + n_held_out
    sizes = part_sizes(n, len(roles), share)
    parts = zip(roles, _divided(np.arange(n), sizes), group_counts(sizes, n_sets), strict=True)
    return tuple(
        Part(role, *training_groups(rows[: count * size], count, n_held_out))
        for role, rows, count in parts
    )


def dealt(parts: Sequence[Part], order: Indices) -> tuple[Part, ...]:
    """The same layout of rows that are first put into this (random) order."""
    return tuple(Part(part.role, order[part.training], order[part.at]) for part in parts)


def with_test(parts: Sequence[Part], n: int, n_test: int, n_held_out: int = 1) -> tuple[Part, ...]:
    """The layout with a part to test with, on the rows behind the first n.

    One candidate is tested at them; where candidates are retrained, each test loss has a fresh
    training sample of its own, in disjoint groups.
    """
    training = parts[0].training
    if training.ndim == 1:
        at = n + np.arange(n_test * n_held_out).reshape(n_test, n_held_out)
        return *parts, Part("test", training, at)
    rows = n + np.arange(n_test * (training.shape[1] + n_held_out)).reshape(n_test, -1)
    return *parts, Part("test", rows[:, n_held_out:], rows[:, :n_held_out])
