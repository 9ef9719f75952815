"""From scores to sets at any alpha: plain ones, those that move with the case, one per group.

See docs/method.md, sections 2 and 3. Losses are those for which smaller is better.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.method.modulation import modulated_scores, modulated_sets
from cpp_core.method.ranks import Ranked

Ends = tuple[NDArray, NDArray]


@dataclass(frozen=True)
class Sets:
    """Intervals by their ends, of one shape: one per trial (trials,), or one per case too."""

    lower: NDArray
    upper: NDArray

    @property
    def width(self) -> NDArray:
        """Upper minus lower end; an empty set has width 0."""
        with np.errstate(invalid="ignore"):
            width = self.upper - self.lower
        # Two infinite ends of the same sign hold one value, of width 0.
        return np.where(np.isnan(width), 0.0, np.maximum(width, 0.0))

    @property
    def negative(self) -> "Sets":
        """The same of minus the loss: how a metric is shown that is better when greater."""
        return Sets(-self.upper, -self.lower)

    def holds(self, losses: NDArray) -> NDArray:
        """Whether each loss (trials, T) lies in the set of its trial or case."""
        if self.lower.ndim < losses.ndim:
            return Sets(self.lower[:, None], self.upper[:, None]).holds(losses)
        return (self.lower <= losses) & (losses <= self.upper)


def moved_scores(losses: NDArray, predicted: Ends, side: str) -> Ranked:
    """The ranked scores (..., k) of losses whose ends were predicted at their cases."""
    return Ranked.of(modulated_scores(losses, *predicted, side))


def moved_sets(
    losses: NDArray,
    predicted: Ends,
    at_cases: Ends,
    alpha: Level,
    side: str,
    low: float,
    high: float,
) -> Sets:
    """Sets that move with the case (Theorems 10 and 12, equations 24 and 26; X-modulated ones).

    ``predicted`` has the ends (..., k) that a regression gave at the calibration losses' own cases,
    ``at_cases`` those (..., T) at the cases where sets are wanted. They are moved by the scores'
    upper-bound rank, which serves both sides.
    """
    score = moved_scores(losses, predicted, side).ends(alpha, "upper")[1]
    sets = modulated_sets(*at_cases, np.asarray(score)[..., None], side, low, high)
    return Sets(sets[..., 0], sets[..., 1])


def within_groups(
    groups: NDArray,
    wanted: NDArray,
    sets_of: Callable[[NDArray, NDArray, str], NDArray],
    n_levels: int,
) -> NDArray:
    """Sets calibrated within each group (Mondrian), (L, n, 2), for cases of the ``wanted`` groups.

    ``sets_of(own, new, group)`` gives those of the new cases at every level from the group's own
    scores; both are masks. A group that calibration never saw has no score.
    """
    found = np.empty((n_levels, len(wanted), 2))
    for group in np.unique(wanted):
        new = wanted == group
        found[:, new] = sets_of(groups == group, new, str(group))
    return found
