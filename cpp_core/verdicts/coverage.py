"""What is known of the coverage: its exact law, or why there is only a bound on it.

docs/method.md, section 2, has the laws.
"""

import math
from dataclasses import dataclass

import numpy as np

from cpp_core.checks import Level, check_side, exact_alpha
from cpp_core.trials.readings import NumericLosses
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import NO_BOUND
from cpp_core.verdicts.language import confidence, counted, listed, percent


@dataclass(frozen=True)
class CoverageFacts:
    """The law of the coverage at one alpha."""

    promised: float  # 1 - alpha
    p: float | None  # the probability of covering a new loss; None where only the promise is known
    exact: bool  # whether p is that probability itself, and not a lower bound on it
    certain: bool  # whether the sets hold every loss: there are too few scores for a bound
    law: tuple[int, int] | None  # parameters of the Beta law of the coverage where it can be drawn
    tied_shares: tuple[float, ...]  # per algorithm: the share of trials where an end ties
    words: str  # all this in a sentence

    @property
    def target(self) -> float:
        """What a cover rate is compared with."""
        return self.promised if self.p is None else self.p

    def agrees(self, low: float, high: float) -> bool:
        """Whether an interval of a cover rate agrees: where p is a lower bound, a rate above it."""
        return high >= self.target and (low <= self.target or not self.exact)


def coverage_facts(results: Results, alpha: Level, side: str) -> CoverageFacts:
    """What is known of the coverage of all algorithms."""
    law, promised = results.coverage_law(alpha, check_side(side)), float(1 - exact_alpha(alpha))
    if law is None:
        words = (
            f"The law is not known for {results.experiment.n_evaluations} losses per training "
            f"subset, only that {confidence(alpha)} are covered at least."
        )
        return CoverageFacts(promised, None, False, False, None, (), words)
    a, b = law
    if b == 0:
        words = f"Coverage is certain, because there is {too_few(results, alpha, side)}."
        return CoverageFacts(promised, 1.0, True, True, None, (), words)
    p = a / (a + b)
    words = f"A new loss is covered with probability {a:,}/{a + b:,} = {percent(p)}"
    if results.experiment.kind.symbolic:
        words += "; a lower bound, because an empty set gets its most likely symbol."
        return CoverageFacts(promised, p, False, False, None, (), words)
    shares = tuple(tied_share(results, name, alpha, side) for name in results.algorithms)
    tied, criterion = max(shares) > 0, results.experiment.criterion
    discrete = criterion.errors or criterion.shares  # those tie, though few may not show it
    if tied:
        words += (
            "; a lower bound where scores tie (the ends tie with other or new scores in "
            f"{listed(percent(share) for share in shares)} of the trials)"
        )
    elif discrete:
        words += "; a lower bound, because such losses can tie"
    exact = not (tied or discrete)
    return CoverageFacts(promised, p, exact, False, law, shares, f"{words}.")


def tied_share(results: Results, name: str, alpha: Level, side: str) -> float:
    """In which share of the trials an end ties with another score, or with that of a test loss.

    There p is a lower bound.
    """
    reader = results.reader(name)
    assert isinstance(reader, NumericLosses)
    ordered = reader.scores(alpha, side).by_rank[1:-1]
    ends = [rank - 1 for rank in reader.ranks(alpha, side) if 1 <= rank <= len(ordered)]
    beside = [i for end in ends for i in (end - 1, end) if 0 <= i < len(ordered) - 1]
    ties = [ordered[i] == ordered[i + 1] for i in beside]
    new = reader.new_scores(alpha, side) if ends else None
    ties += [(new == ordered[end][:, None]).any(axis=1) for end in ends]
    return float(np.any(ties, axis=0).mean()) if ties else 0.0


def too_few(results: Results, alpha: Level, side: str) -> str:
    """What is missing for a bound or a set, empty when there are enough calibration scores."""
    experiment = results.experiment
    more = results.k_needed(alpha, side) - experiment.sizes.k
    if more <= 0:
        return ""
    thing = "calibration batch" if experiment.batch_size else "calibration case"
    thing = "training subset" if experiment.algorithmic else thing
    finite = math.isfinite(experiment.criterion.worst)
    bound = "no bound but the end of the range" if finite else NO_BOUND
    bound = "no smaller set than the label allows" if experiment.kind.symbolic else bound
    return f"{bound}: {counted(more, f'more {thing}')} would give one"
