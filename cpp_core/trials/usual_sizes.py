"""How many cases and training subsets an experiment has where nobody says."""

from cpp_core.catalog.datasets import Dataset
from cpp_core.catalog.variants import VARIANTS
from cpp_core.method.ranks import scores_needed
from cpp_core.method.splits import HALF, part_sizes

USUAL_ALPHA = 0.1

USUAL_SETS = scores_needed(USUAL_ALPHA, "two-sided")
"""Training subsets where nobody says how many: just enough for two sides at the usual alpha.

Every subset more makes all of them smaller. Upper bounds, and sets that move with the case, need
half as many: theirs stay finite down to half that alpha.
"""

LEAST_TRAINING = 5
"""The least m for which there are fewer subsets than usual."""


def usual_n(data: Dataset) -> int:
    """Cases for training and calibration where nobody says how many."""
    return 7500 if data.size is None else data.size * 3 // 4


def usual_sets(variant: str, n: int, held_out: int = 1, calibration_share: float = HALF) -> int:
    """k where nobody says how many: 19, or fewer so that each subset has 5 cases to train with.

    It does not depend on the alpha that is asked for, which never trains anything.

    >>> usual_sets("z-free", 1347), usual_sets("z-free", 112), usual_sets("z-variable", 112)
    (19, 18, 9)
    """
    last = part_sizes(n, VARIANTS[variant].n_parts, calibration_share)[-1]
    return max(1, min(USUAL_SETS, last // (LEAST_TRAINING + held_out)))
