"""How many of the losses at hand lie beyond the bound that they give."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.verdicts.about import NO_BOUND, About
from cpp_core.verdicts.bounds import bound_of
from cpp_core.verdicts.language import counted, listed


@dataclass(frozen=True)
class Beyond:
    """One model: its bound, as shown, and how many of its k losses lie beyond it.

    The bound is infinite where there is none but the end of the range.
    """

    label: str
    k: int
    bound: float
    beyond: int

    @property
    def bounded(self) -> bool:
        """Whether there is a bound."""
        return math.isfinite(self.bound)


def beyond_bound(losses: NDArray, alpha: Level, about: About, label: str) -> Beyond:
    """The bound of a verdict, and the losses (k,) that are worse."""
    facts = bound_of(losses, alpha, about, label).facts
    bound = float(facts["bound"]) if facts["outcome"] == "bound" else about.sign * math.inf
    return Beyond(label, losses.size, bound, int((about.sign * losses > about.sign * bound).sum()))


def beyond_title(found: Sequence[Beyond], about: About) -> str:
    """How many numbers of each model lie beyond its bound, and who has none."""
    known = [own for own in found if own.bounded]
    lacking = [own.label for own in found if not own.bounded]
    told = []
    if known:
        lie = "lies" if [own.beyond for own in known] == [1] else "lie"
        side = "below" if about.greater_is_better else "above"
        readings = [f"{x.beyond:,} of {counted(x.k, about.loss)} of {x.label}" for x in known]
        told.append(f"{listed(readings)} {lie} {side} the bound")
    if lacking:
        ends = math.isfinite(about.worst)
        none = f"no bound {about.edge} of the range" if ends else NO_BOUND
        told.append(f"{listed(lacking)} {'has' if len(lacking) == 1 else 'have'} {none}")
    return "; ".join(told)
