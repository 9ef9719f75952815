"""Whether the sets kept their promise over the trials: what was seen, beside what is known of it.

What is known is in ``coverage``. Shares that were seen are rounded to nearest, but never onto what
they are compared with.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import DECIMALS, Level, to_fraction
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import LEAST_TRIALS
from cpp_core.verdicts.coverage import CoverageFacts, coverage_facts, too_few
from cpp_core.verdicts.language import confidence, counted, listed, number, percent, possessive
from cpp_core.verdicts.over_trials import MOST_QUOTED


def shares_words(shares: Mapping[str, float]) -> str:
    """Shares by name.

    >>> shares_words({"Ridge": 0.9, "Dummy": 0.91})
    'Ridge 90 % and Dummy 91 %'
    """
    return listed(f"{label} {percent(share)}" for label, share in shares.items())


# The one new loss of each trial


@dataclass(frozen=True)
class CoverRate:
    """In which share of the trials the one new loss was covered, with its exact interval."""

    rate: float
    low: float
    high: float


@dataclass(frozen=True)
class CoverRates:
    """The cover rates of all algorithms, by label, beside what is known of them."""

    n: int
    rates: dict[str, CoverRate]
    known: CoverageFacts

    @property
    def missed(self) -> dict[str, CoverRate]:
        """Those that do not agree with what is known."""
        agrees = self.known.agrees
        return {label: own for label, own in self.rates.items() if not agrees(own.low, own.high)}

    @property
    def target(self) -> str:
        """With what they are compared."""
        return f"{'the exact' if self.known.exact else 'at least'} {percent(self.known.target)}"

    def shown(self, own: CoverRate) -> str:
        """A rate that does not agree."""
        return percent(own.rate, against=self.known.target)


def cover_rates_of(results: Results, alpha: Level, side: str) -> CoverRates:
    """The cover rates over all trials."""
    rates = {
        ALGORITHMS[name].label: CoverRate(
            *(own[f"new_loss_cover_{key}"] for key in ("rate", "low", "high"))
        )
        for name, own in results.summary(alpha, side).items()
    }
    return CoverRates(len(results.trials), rates, coverage_facts(results, alpha, side))


def rates_title(found: CoverRates) -> str:
    """Whether the cover rates agree with what is known."""
    count, missed = len(found.rates), found.missed
    if missed:
        told = [f"{possessive(label)}, {found.shown(own)}" for label, own in missed.items()]
        rates = listed([*(f"{own}," for own in told[:-1]), told[-1]])
        some = f"{len(told)} of {count} cover rates disagree"
        some = "The cover rate disagrees" if count == 1 else some
        return f"{some} with {found.target}: {rates}"
    who = {1: "The cover rate agrees", 2: "Both cover rates agree"}
    return f"{who.get(count, f'All {count} cover rates agree')} with {found.target}"


def promise_kept(results: Results, alpha: Level, side: str) -> str:
    """Whether the cover rates agree with what is promised, in a line; empty for few trials."""
    few = len(results.trials) < LEAST_TRIALS
    return "" if few else kept_line(cover_rates_of(results, alpha, side))


def kept_line(found: CoverRates) -> str:
    """The same for whoever asks in words."""
    if found.known.certain:
        return "Promise kept? Trivially: without a bound, the sets hold every loss."
    trials = counted(found.n, "trial")
    if found.missed:
        told = [f"{label} {found.shown(own)}" for label, own in found.missed.items()]
        return (
            f"Promise kept? Not seen for {listed(told)}, where {found.target} is expected of "
            f"{trials}; one in 20 differs by chance."
        )
    rates = [own.rate for own in found.rates.values()]
    ends = dict.fromkeys(percent(rate) for rate in (min(rates), max(rates)))
    seen, whose = " to ".join(ends), ", by algorithm" if len(ends) > 1 else ""
    return (
        f"Promise kept? Consistent with {found.target}: new losses were covered in {seen} of "
        f"{trials}{whose}."
    )


# All test losses of each trial


@dataclass(frozen=True)
class MeanCoverage:
    """The mean share of test losses that are covered, by label, beside what is known of it."""

    means: dict[str, float]
    known: CoverageFacts
    promised: str
    lacking: str  # why every loss is covered; empty where that is not certain


def mean_coverage(results: Results, alpha: Level, side: str) -> MeanCoverage:
    """Means over all trials."""
    means = {
        ALGORITHMS[name].label: float(results.reader(name).read(alpha, side).test_coverage.mean())
        for name in results.algorithms
    }
    known = coverage_facts(results, alpha, side)
    return MeanCoverage(means, known, confidence(alpha), too_few(results, alpha, side))


def coverage_title(found: MeanCoverage) -> str:
    """How many are covered on average, and how many were promised."""
    known, means = found.known, found.means
    if known.certain:
        return f"Every test loss is covered, because there is {found.lacking}"
    few = len(means) <= MOST_QUOTED
    seen = shares_words(means) if few else f"{percent(min(means.values()), 'down')} or more"
    expected = f"expected {'' if known.exact else 'at least '}{percent(known.target)}"
    return f"Covered on average: {seen}; " + (
        f"promised {found.promised}" if known.p is None else expected
    )


# At every confidence


@dataclass(frozen=True)
class Shortfall:
    """Where the mean coverage is farthest below the promise, over a range of confidences."""

    gap: float  # the promise less the coverage; none where it is 0 or less
    label: str
    at: float
    span: tuple[float, float]


def shortfall(promised: NDArray, curves: Mapping[str, NDArray]) -> Shortfall:
    """Of curves of mean coverage, by algorithm, over these promises.

    Shares are read as decimals, so that what binary fractions add to them is no gap.
    """
    gaps = {name: np.round(promised - own, DECIMALS) for name, own in curves.items()}
    worst = max(gaps, key=lambda name: float(gaps[name].max()))
    place, span = int(gaps[worst].argmax()), (float(promised[0]), float(promised[-1]))
    at, label = float(promised[place]), ALGORITHMS[worst].label
    return Shortfall(float(gaps[worst][place]), label, at, span)


def curve_title(found: Shortfall) -> str:
    """How far the mean coverage falls below the promise, and where."""
    if found.gap <= 0:
        span = " to ".join(map(percent, found.span))
        return f"At every confidence from {span}, the mean coverage is at least the promise"
    gap = number(float(100 * to_fraction(found.gap, "gap")), "up")
    points = "percentage point" if gap == "1" else "percentage points"
    return (
        f"The mean coverage is at most {gap} {points} below the promise ({found.label} at "
        f"{percent(found.at)})"
    )
