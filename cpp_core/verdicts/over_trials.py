"""What was seen over the trials, as facts and titles: a description, which promises nothing.

Shares are of the trials that are there; what is quoted of a set is rounded outwards, like a bound.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, check_side, lookup
from cpp_core.trials.results import Results, median
from cpp_core.verdicts.about import LEAST_TRIALS, NO_BOUND, About, about_results
from cpp_core.verdicts.coverage import too_few
from cpp_core.verdicts.language import listed, percent, plural, possessive
from cpp_core.verdicts.set_words import bare_words, has_words

Columns = dict[str, dict[str, NDArray]]
"""By algorithm: a number per trial under each name that ``Results.at`` gives it."""
MOST_QUOTED = 3
"""Up to so many algorithms a title quotes one by one."""


def columns(results: Results, alpha: Level, side: str) -> Columns:
    """The columns of ``results.at``, by algorithm."""
    read = {name: results.reader(name).read(alpha, check_side(side)) for name in results.algorithms}
    return {
        name: {column: values.astype(float) for column, values in vars(own).items()}
        for name, own in read.items()
    }


def in_trials(share: float, n: int) -> str:
    """A share of the trials, as a count where there are few.

    >>> in_trials(1, 1), in_trials(0.6, 5), in_trials(0.6, 200)
    ('in the one trial', 'in 3 of 5 trials', 'in 60 % of the trials')
    """
    if n == 1:
        return "in the one trial"
    few = n < LEAST_TRIALS
    if few:
        return f"in {round(share * n)} of {n} trials"
    return f"in {percent(share, against=0.5)} of the trials"


def quantile(values: NDArray, level: float) -> float:
    """One of the values, so that infinite ones do no harm."""
    return float(np.quantile(values, level, method="nearest"))


def half_of(label: str, noun: str, values: NDArray, about: About) -> str:
    """Where the middle half of an algorithm's values lies, or more of them where many are equal.

    >>> half_of("Ridge", "width", np.array([0.1, 0.5101, 0.7399, 9.0]), About())
    "Half of Ridge's widths lie between 0.51 and 0.74"
    >>> half_of("Ridge", "width", np.array([0.5, 0.7, np.inf, np.inf, np.inf]), About())
    "4 of 5 of Ridge's widths are 0.7 or more"
    """
    low, high = (quantile(values, level) for level in (0.25, 0.75))
    endless = math.isinf(low), math.isinf(high)
    inside = np.isinf(values) if all(endless) else (low <= values) & (values <= high)
    if all(endless):
        where = "are infinite"
    elif any(endless):
        more = f"{about.lower_end(low)} or more", f"{about.upper_end(high)} or less"
        where = f"are {more[endless[0]]}"
    elif low == high:
        where = f"are about {about.rounded(about.bad_end, low)}"
    else:
        where = f"lie between {about.lower_end(low)} and {about.upper_end(high)}"
    whose = possessive(label)
    if len(values) == 1:
        return f"{whose} {noun} is {where.removeprefix('are ')}"
    return f"{_share_of(int(inside.sum()), len(values))} of {whose} {plural(noun)} {where}"


def _share_of(count: int, n: int) -> str:
    """A half of many where no number of the n is closer to it; else how many, or the percentage."""
    few = n < LEAST_TRIALS
    if count == n:
        return "All"
    if abs(2 * count - n) < (1 if few else 2):
        return "Half"
    return f"{count} of {n}" if few else percent(count / n, against=0.5)


@dataclass(frozen=True)
class Smallest:
    """Who is most often below all others in a trial, and how often several share the least.

    Several lead where they are so equally often.
    """

    leaders: tuple[str, ...]
    share: float
    ties: float

    @classmethod
    def among(cls, values: Mapping[str, NDArray]) -> "Smallest":
        """Of a number per trial for each name."""
        stack = np.stack(list(values.values()))
        least = stack == stack.min(axis=0)
        alone = least.sum(axis=0) == 1
        shares = (least & alone).mean(axis=1)
        most = shares.max()
        leaders = (name for name, share in zip(values, shares, strict=True) if share == most)
        return cls(tuple(leaders), float(most), float((~alone).mean()))

    @property
    def leader(self) -> str:
        """The one who leads; the first of several."""
        return self.leaders[0]

    @property
    def tied(self) -> bool:
        """Whether nobody is ahead more often than several are together."""
        return self.ties >= self.share


@dataclass(frozen=True)
class Spread:
    """A number that each algorithm has in each trial: where it lies, and whose is least."""

    n: int
    values: dict[str, NDArray]  # by label
    smallest: Smallest
    about: About  # how one of the numbers is rounded
    lacking: str  # what there is instead where none is finite; empty where some are

    @classmethod
    def of(
        cls,
        results: Results,
        alpha: Level,
        side: str,
        values: Mapping[str, NDArray],
        about: About,
        sign: int = 1,
    ) -> "Spread":
        """Of numbers by algorithm, of which smaller ones are ahead after the ``sign``."""
        told = {ALGORITHMS[name].label: own for name, own in values.items()}
        none = all(np.isinf(own).all() for own in told.values())
        lacking = no_bound(results, alpha, side) if none else ""
        smallest = Smallest.among({label: sign * own for label, own in told.items()})
        return cls(len(results.trials), told, smallest, about, lacking)

    @property
    def by_medians(self) -> bool:
        """Whether two are told by their medians: both have some, and they are not always equal."""
        return len(self.values) == 2 and not (self.lacking or self.smallest.tied)

    @property
    def often(self) -> str:
        """In how many trials the leader leads, or where nobody does, several share the place."""
        return in_trials(self.smallest.ties if self.smallest.tied else self.smallest.share, self.n)


def no_bound(results: Results, alpha: Level, side: str) -> str:
    """What there is where nothing is finite."""
    return too_few(results, alpha, side) or NO_BOUND


def _equally(often: str) -> str:
    """How often each of several leads."""
    return f"equally often, each {often}"


# The ends


def ends_spread(results: Results, alpha: Level, side: str) -> Spread:
    """The ends on the bad side."""
    about = about_results(results)
    bad = {name: own[about.bad_end] for name, own in columns(results, alpha, side).items()}
    return Spread.of(results, alpha, side, bad, about, about.sign)


def ends_title(found: Spread) -> str:
    """Whose bound is the best how often; of one alone, where half of its bounds lie."""
    end, best = found.about.bad_end, "highest" if found.about.greater_is_better else "lowest"
    leader = found.smallest.leader
    if found.lacking:
        return f"There is {found.lacking}"
    if len(found.values) == 1:
        return half_of(leader, f"{end} end", found.values[leader], found.about)
    if found.smallest.tied:
        return f"The {best} {end} end is shared {found.often}"
    if len(found.smallest.leaders) > 1:
        return f"{listed(found.smallest.leaders)} have the {best} {end} end {_equally(found.often)}"
    return f"{leader} has the {best} {end} end {found.often}"


def medians_words(results: Results, alpha: Level, side: str) -> str:
    """The median ends of each algorithm."""
    about, told = about_results(results), []
    for name, own in columns(results, alpha, side).items():
        medians = median(own["lower"]), median(own["upper"])
        told.append(f"{ALGORITHMS[name].label} {bare_words(about, *medians, side)}")
    return listed(told)


@dataclass(frozen=True)
class Typical:
    """The median set of each algorithm, by label, where sets move with the case."""

    sets: dict[str, tuple[float, float]]
    side: str
    about: About


def typical_sets(results: Results, alpha: Level, side: str) -> Typical:
    """The medians of the ends over the trials."""
    sets = {
        ALGORITHMS[name].label: (median(own["lower"]), median(own["upper"]))
        for name, own in columns(results, alpha, side).items()
    }
    return Typical(sets, side, about_results(results))


def typical_title(found: Typical) -> str:
    """The typical sets; of many the least and the greatest bound."""
    about, count = found.about, len(found.sets)
    if count <= MOST_QUOTED:
        words = [
            f"{label} {has_words(about, *own, found.side)}" for label, own in found.sets.items()
        ]
        return f"Typically: {', '.join(words)}"
    bounds = [own[about.bad_end == "upper"] for own in found.sets.values()]
    infinite = sum(map(math.isinf, bounds))
    if infinite:
        return f"Typically: {NO_BOUND} for {infinite} of {count}"
    least, most = (about.rounded(about.bad_end, end) for end in (min(bounds), max(bounds)))
    return f"Typically: {count} bounds from {least} to {most}"


# The widths


def about_widths(results: Results) -> About:
    """How a width is rounded: up, within the range of the loss; a number of symbols has none."""
    about = about_results(results)
    span = math.inf if results.experiment.kind.symbolic else about.high - about.low
    return replace(about, low=0.0, high=span, greater_is_better=False)


def widths_spread(results: Results, alpha: Level, side: str) -> Spread:
    """The mean width of the sets in each trial."""
    widths = {name: own["mean_width"] for name, own in columns(results, alpha, side).items()}
    return Spread.of(results, alpha, side, widths, about_widths(results))


def median_widths(found: Spread) -> str:
    """The median width of each algorithm."""
    return listed(
        f"{label} {found.about.upper_end(median(own))}" for label, own in found.values.items()
    )


def widths_title(found: Spread) -> str:
    """Whose sets are narrow: of two the median widths, of more who is the narrowest how often."""
    leader = found.smallest.leader
    if found.lacking:
        return f"There is {found.lacking}"
    if len(found.values) == 1:
        return half_of(leader, "width", found.values[leader], found.about)
    if found.by_medians:
        return f"Median width: {median_widths(found)}"
    if found.smallest.tied:
        return f"The narrowest sets are a tie {found.often}"
    if len(found.smallest.leaders) > 1:
        whose = listed(map(possessive, found.smallest.leaders))
        return f"{whose} sets are the narrowest {_equally(found.often)}"
    return f"{possessive(leader)} sets are the narrowest {found.often}"


@dataclass(frozen=True)
class Narrower:
    """Trial by trial, which of two algorithms has the narrower sets: shares of the trials."""

    n: int
    shares: dict[str, float]  # by label
    equal: float  # two infinite ones are
    infinite: float
    differences: NDArray  # the first minus the second, where not both are infinite
    lacking: str  # what there is instead where both are always infinite


def narrower(results: Results, pair: Sequence[str], alpha: Level, side: str) -> Narrower:
    """The widths of two algorithms, compared in each trial."""
    found = columns(results, alpha, side)
    a, b = (lookup(name, found, "competing algorithm")["mean_width"] for name in pair)
    both, n = np.isinf(a) & np.isinf(b), len(a)
    d = a[~both] - b[~both]
    labels = [ALGORITHMS[name].label for name in pair]
    shares = dict(zip(labels, (float((d < 0).sum() / n), float((d > 0).sum() / n)), strict=True))
    lacking = no_bound(results, alpha, side) if both.all() else ""
    return Narrower(n, shares, float((d == 0).sum() / n), float(both.mean()), d, lacking)


def narrower_title(found: Narrower) -> str:
    """Whose sets are narrower how often."""
    leader = max(found.shares, key=lambda label: found.shares[label])
    if found.lacking:
        return f"There is {found.lacking}"
    if found.equal >= found.shares[leader]:
        return f"The sets are equally wide {in_trials(found.equal, found.n)}"
    often = in_trials(found.shares[leader], found.n)
    if len(set(found.shares.values())) == 1:
        return f"{listed(map(possessive, found.shares))} sets are narrower {_equally(often)}"
    return f"{possessive(leader)} sets are narrower {often}"


def narrower_words(found: Narrower) -> str:
    """All that was counted: who is narrower how often, and how often neither is."""
    told = listed(
        f"{label} narrower {in_trials(share, found.n)}" for label, share in found.shares.items()
    )
    infinite = f"; both infinite {in_trials(found.infinite, found.n)}" if found.infinite else ""
    return f"{told}; equal {in_trials(found.equal, found.n)}{infinite}"
