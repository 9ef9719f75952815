"""All that is said about results, or about a file of losses, in the order in which it is told.

Report, command line and exported files read the same object.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.directions import DIRECTIONS, as_errors
from cpp_core.checks import DELTA, Level, exact_alpha
from cpp_core.method.ranks import check_losses
from cpp_core.trials.experiment_checks import MAX_ALGORITHMS
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import LEAST_TRIALS, About, about_numbers, about_results
from cpp_core.verdicts.bounds import bound_of, typical
from cpp_core.verdicts.choice import Choice, choose
from cpp_core.verdicts.decisions import (
    Decision,
    check_rate,
    decision_of,
    decisions_from,
    error_rate_of,
)
from cpp_core.verdicts.groups import group_bounds, in_group
from cpp_core.verdicts.next_errors import ahead, ahead_of
from cpp_core.verdicts.pairs import AllPairs, all_pairs, all_pairs_of, summary_of
from cpp_core.verdicts.selection import selection_safe, winner_of
from cpp_core.verdicts.strip import Strip, strip_from, strip_of
from cpp_core.verdicts.thresholds import under_threshold
from cpp_core.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Comparison:
    """Which to use, who wins by each aspect, the pairs behind it if several, the safe choice."""

    choice: Choice
    verdicts: tuple[Verdict, ...]
    pairs: tuple[Verdict, ...]
    safe: Verdict


@dataclass(frozen=True)
class Answers:
    """Verdicts by what they are for."""

    strip: Strip  # what is told first: the decision and the few figures that it rests on
    answer: tuple[Verdict, ...]  # the limits that were asked about, or the bounds on the next loss
    bounds: tuple[Verdict, ...]  # one for each model; where errors are counted, on those to come
    typical: tuple[Verdict, ...] = ()  # the same over trials
    comparison: tuple[Verdict, ...] = ()  # who is better, by each aspect; the choice that is safe
    pairs: tuple[Verdict, ...] = ()  # behind a joint comparison of more than two
    groups: tuple[Verdict, ...] = ()  # bounds within each group of cases, one for each model
    choice: Choice | None = None  # which to use, where algorithms compete

    @property
    def errors(self) -> bool:
        """Whether errors are counted, so that bounds are on those among the next cases."""
        return "errors" in self.bounds[0].facts

    @property
    def each_model(self) -> tuple[Verdict, ...]:
        """What was asked of each model, then its bound."""
        asked = tuple(own for own in self.answer if isinstance(own, Decision))
        return (*asked, *self.bounds)

    @property
    def who_wins(self) -> tuple[Verdict, ...]:
        """Which to use, then who is better by each aspect."""
        return (*((self.choice,) if self.choice else ()), *self.comparison)

    @property
    def all(self) -> list[Verdict]:
        """Each verdict once."""
        told = [*self.answer, *self.bounds, *self.typical, *self.who_wins, *self.pairs]
        told += self.groups
        return list({verdict.text: verdict for verdict in told}.values())


def answers_from(
    results: Results,
    alpha: Level = 0.1,
    side: str = "two-sided",
    at_most: float | None = None,
    error_rate_at_most: Level | None = None,
    batch_size: int | None = None,
    margin: float | None = None,
    delta: Level = DELTA,
) -> Answers:
    """All that is said about results; guaranteed sentences quote trial 0.

    Parameters
    ----------
    at_most : float or None
        Ask whether at least 1 - alpha of new cases have a loss of at most this (at least, where
        greater is better), shown with confidence 1 - ``delta``.
    error_rate_at_most, batch_size : float and int, or None
        Ask whether at most this share of the next ``batch_size`` answers are errors; for the
        zero-one loss of candidates.
    margin : float or None
        Average losses that differ by less are practically equal.
    """
    names = results.algorithms
    bounds = tuple(ahead(results, name, alpha, side) for name in names)
    enough = names if len(results.trials) >= LEAST_TRIALS else ()
    usual = tuple(typical(results, name, alpha, side) for name in enough)
    decisions = decisions_from(results, alpha, at_most, error_rate_at_most, batch_size, delta)
    answer = decisions or bounds
    if at_most is not None:
        bounds += tuple(under_threshold(results, name, at_most, delta) for name in names)
    strip, within = (
        strip_from(results, alpha, side, margin, decisions),
        group_bounds(results, alpha),
    )
    if strip.choice is None:
        return Answers(strip, answer, bounds, usual, groups=within)
    found = _compared(results, strip.choice, alpha)
    comparison = (*found.verdicts, found.safe)
    return Answers(strip, answer, bounds, usual, comparison, found.pairs, within, found.choice)


def compared(results: Results, alpha: Level = 0.1, margin: float | None = None) -> Comparison:
    """Two algorithms directly, more jointly at alpha over the number of pairs.

    Wins and averages are those that the decision was read from, at alpha / 2 each.
    """
    choice = choose(results, alpha, margin)
    if choice is None:
        raise ValueError("There is nothing to compare: pick two or more, and a numeric loss.")
    return _compared(results, choice, alpha)


def _compared(results: Results, choice: Choice, alpha: Level) -> Comparison:
    about, safe = about_results(results), selection_safe(results, alpha)
    return _comparison(choice, all_pairs(results, alpha), alpha, about, safe)


def _comparison(
    choice: Choice, following: AllPairs, alpha: Level, about: About, safe: Verdict
) -> Comparison:
    half = exact_alpha(alpha) / 2
    wins, means = [own.wins for own in choice.asked], [own.mean for own in choice.asked]
    pairs = (*following.pairs, *wins, *means)
    if len(choice.asked) == 1:
        return Comparison(choice, pairs, (), safe)
    summaries = following.summary, summary_of(wins, half, about, "wins")
    return Comparison(choice, (*summaries, summary_of(means, half, about, "average")), pairs, safe)


def answers_of(
    columns: Mapping[str, NDArray],
    alpha: Level = 0.1,
    at_most: float | None = None,
    error_rate_at_most: Level | None = None,
    batch_size: int | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    margin: float | None = None,
    source: str = "the file",
    groups: NDArray | None = None,
    delta: Level = DELTA,
    greater_is_better: bool = False,
    at_least: float | None = None,
    unit: str = "",
) -> Answers:
    """All that is said about losses of trained models on the same cases, one column each.

    Questions are those of ``answers_from``; where an error rate is asked for, losses are 1 for an
    error and 0 for a correct answer. ``low`` and ``high`` are the range of the losses, ``source``
    tells where they come from, and each of the ``groups`` (k,) gets bounds of its own. Scores,
    where ``greater_is_better``, are 1 for a correct answer, and their limit is ``at_least``.
    ``unit`` is what losses count.
    """
    about = _about(columns, error_rate_at_most, batch_size, low, high, source, greater_is_better)
    about = replace(about, unit="" if about.errors else unit)
    limit = _limit(at_most, at_least, greater_is_better)
    if limit is not None and error_rate_at_most is not None:
        raise ValueError("Ask for a bound on the loss or on the error rate, not for both at once.")
    for name, losses in columns.items():
        try:
            check_losses(losses, about.low, about.high)
        except ValueError as error:
            raise ValueError(f"Column {name!r}: {error}") from error
    several = len(columns) > 1
    owns = [
        (own, replace(about, source=f"column {name!r} of {source}"), name if several else "model")
        for name, own in columns.items()
    ]
    answer: tuple[Verdict, ...] = tuple(bound_of(own, alpha, its, name) for own, its, name in owns)
    bounds = tuple(ahead_of(own, alpha, its, name) for own, its, name in owns)
    if limit is not None:
        answer = tuple(decision_of(own, limit, alpha, its, name, delta) for own, its, name in owns)
    elif error_rate_at_most is not None and batch_size is not None:
        rule = batch_size, error_rate_at_most, alpha, about
        answer = tuple(_errors(name, own, *rule) for name, own in columns.items())
    within = tuple(
        in_group(group, name, own[groups == group], alpha, its, label)
        for group in ([] if groups is None else dict.fromkeys(groups.tolist()))
        for name, (own, its, label) in zip(columns, owns, strict=True)
    )
    limits = [found for found in answer if isinstance(found, Decision)]
    strip = strip_of(columns, alpha, about, margin, limits)
    if strip.choice is None:
        return Answers(strip, answer, bounds, groups=within)
    following = all_pairs_of(columns, alpha, about, "next case", margin)
    safe = winner_of(columns, alpha, about)
    found = _comparison(strip.choice, following, alpha, about, safe)
    comparison = (*found.verdicts, found.safe)
    return Answers(strip, answer, bounds, (), comparison, found.pairs, within, strip.choice)


def _about(
    columns: Mapping[str, NDArray],
    rate: Level | None,
    batch_size: int | None,
    low: float,
    high: float,
    source: str,
    greater: bool,
) -> About:
    if not 1 <= len(columns) <= MAX_ALGORITHMS:
        raise ValueError(
            f"{len(columns)} columns of losses are too many to compare; name 1 to {MAX_ALGORITHMS}."
        )
    check_rate(rate, batch_size)
    if not low < high:
        raise ValueError(f"The range must go from low to high, but {low:g} to {high:g} was given.")
    errors = rate is not None or as_errors(columns, low, high)
    low, high = (0.0, 1.0) if errors else (low, high)
    own = {"low": low, "high": high, "errors": errors, "source": source}
    return about_numbers(greater, n_algorithms=len(columns), **own)


def _limit(at_most: float | None, at_least: float | None, greater: bool) -> float | None:
    """The limit that was asked for, by the name that fits the numbers."""
    unfit = at_most if greater else at_least
    if unfit is not None:
        asked, instead = ("at-most", "at-least") if greater else ("at-least", "at-most")
        raise ValueError(
            f"{asked} {unfit:g} was asked, but these numbers are taken as {DIRECTIONS[greater]}: "
            f"ask with {instead}, or say {'smaller' if greater else 'greater'}-is-better."
        )
    return at_least if greater else at_most


def _errors(
    name: str, losses: NDArray, batch_size: int, rate: Level, alpha: Level, about: About
) -> Decision:
    right = int(about.greater_is_better)
    between = np.flatnonzero((losses != 0) & (losses != 1))
    if between.size:
        raise ValueError(
            f"Column {name!r} has {losses[between[0]]:g} as its {about.loss} number "
            f"{between[0] + 1}; an error rate needs {1 - right} for an error and {right} for a "
            f"correct answer: ask with {about.at_most.replace(' ', '-')} instead."
        )
    found = error_rate_of(abs(losses - right), batch_size, rate, alpha, about, name)
    return found if about.n_algorithms == 1 else replace(found, text=f"{name}: {found.text}")
