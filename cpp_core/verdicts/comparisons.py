"""Which of two algorithms is better: on the next case, how often, and on average (spec 6).

Everything rests on the difference l(first) - l(second) on the same cases, never on two separate
intervals. Here are the functions of plain arrays of differences, as shown; ``pairs`` reads them
from results.
"""

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from cpp_core.checks import Level, exact_alpha
from cpp_core.method.counts import share_interval
from cpp_core.method.ranks import ends, scores_needed
from cpp_core.verdicts.about import EXCHANGEABLE, INDEPENDENT, About, Verdict, check_scores
from cpp_core.verdicts.language import (
    confidence,
    counted,
    number,
    ordinal,
    percent,
    plural,
    sentence,
    with_unit,
)

HEAVY_SHARE = 0.1
"""The largest share of the sum of squares that one difference may hold for a mean to be judged.

The t statistic is near its law exactly when no single square matters (the share of the largest
tends to 0 if and only if the differences are in the Normal law's domain of attraction). In
simulations of Normal to infinite-variance laws, n = 20 to 1000 and alpha = 0.2 to 0.01, a false
statement about the mean was then made at about the stated rate or less; at 0.2 it was not.
"""

ENOUGH_CASES = 100
"""Below about this many cases one of them holds more than that share even in a Normal law."""

EXACT_UP_TO = 200
"""Numbers of cases up to which the one that would do is searched for."""


def between(about: About, lower: float, upper: float) -> str:
    """A difference's interval in words, rounded outwards and never across zero."""
    if math.isinf(lower) and math.isinf(upper):
        return "may be anything"
    if math.isinf(upper):
        return f"is at least {about.value(lower, 'down', 0.0)}"
    if math.isinf(lower):
        return f"is at most {about.value(upper, 'up', 0.0)}"
    low, high = number(lower, "down", 0.0), number(upper, "up", 0.0)
    return f"lies between {low} and {with_unit(high, about.unit)}"


def _smaller(about: About) -> str:
    return f"{'larger' if about.greater_is_better else 'smaller'} {about.loss}"


def _next_outcome(lower: float, upper: float) -> str:
    """What an interval of the difference, smaller better, says of the first and the second."""
    if lower > upper:
        return "empty"
    if lower == upper == 0:
        return "equal"
    if upper < 0:
        return "first better"
    if lower > 0:
        return "second better"
    if upper == 0:
        return "first not worse"
    return "second not worse" if lower == 0 else "either"


def _next_words(outcome: str, about: About, first: str, second: str) -> str:
    a, b = about.of(first), about.of(second)
    return {
        "first better": f"so {a} has the {_smaller(about)}",
        "second better": f"so {b} has the {_smaller(about)}",
        "first not worse": f"so {a} is better or equal",
        "second not worse": f"so {b} is better or equal",
        "equal": "so they are equal",
        "either": "so it could go either way",
    }[outcome]


def next_difference_of(
    differences: Any, alpha: Level, about: About, first: str, second: str
) -> Verdict:
    """Which is better on the next case, from k paired differences (k,) or (k, b): guaranteed."""
    d = about.sign * check_scores(differences)
    span = about.high - about.low
    lo, hi, lower, upper = ends(d, alpha, "two-sided", -span, span)
    needed, k = scores_needed(alpha), len(d)
    rank = (
        f"The ends are the {ordinal(lo)} and the {ordinal(hi)} smallest of the {d.size} "
        f"differences of {about.source}"
        if k >= needed
        else f"Two finite ends need {counted(needed, 'score')}, {about.source} has {k}"
    )
    return next_verdict(k, needed, (lower, upper), rank, alpha, about, first, second)


def next_verdict(
    k: int,
    needed: int,
    interval: tuple[float, float],
    rank: str,
    alpha: Level,
    about: About,
    first: str,
    second: str,
    at_case: bool = False,
) -> Verdict:
    lower, upper = interval
    outcome = "too little data" if k < needed else _next_outcome(lower, upper)
    shown = (-upper, -lower) if about.greater_is_better else (lower, upper)
    difference = f"the {about.loss} of {about.of(first)} minus that of {about.of(second)}"
    chance = f"with probability at least {confidence(alpha)}, {about.together}"
    if outcome == "too little data":
        text = (
            f"Too little data to compare {first} and {second} on a {about.next} with "
            f"{confidence(alpha)} confidence: {about.more(needed - k)} would do."
        )
    elif outcome == "empty":
        text = (
            f"{about.lead(first, second)}, the answer depends on the case: at the one random test "
            "case of trial 0 the set for the difference is empty, which counts as a miss, and "
            "nothing can be said."
        )
    else:
        range_, words = between(about, *shown), _next_words(outcome, about, first, second)
        text = f"{about.lead(first, second)}, {difference} {range_} {chance}: {words}."
        if at_case:
            text = (
                f"{about.lead(first, second)}, the answer depends on the case: at the one random "
                f"test case of trial 0 {difference} {range_}, {words}. Such sets hold the "
                f"difference {chance}."
            )
    why = (
        f"{rank}, with alpha = {number(float(exact_alpha(alpha)))}. Each difference is of two "
        f"losses on the same {about.new}."
    )
    facts = about.facts(
        alpha,
        k,
        first=first,
        second=second,
        lower=shown[0],
        upper=shown[1],
        outcome=outcome,
        at_case=at_case,
        k_needed=needed,
    )
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why + about.of_pairs)


def wins_of(differences: Any, alpha: Level, about: About, first: str, second: str) -> Verdict:
    """How often the first is better, with an exact interval from n independent differences.

    Of differences (n, b) the first of each row counts: those of one row are not independent.
    """
    d = about.sign * check_scores(differences)
    d = d if d.ndim == 1 else d[:, 0]
    n, wins, ties = len(d), int((d < 0).sum()), int((d == 0).sum())
    low, high = share_interval(wins, n, alpha)
    a, b = about.of(first), about.of(second)
    losses = n - wins - ties
    outcome = "most" if low > 0.5 else "fewer than half" if high < 0.5 else "not decided"
    conclusion = {
        "most": f"so {a} is better on most of them",
        "fewer than half": f"so {a} is strictly better on fewer than half of them",
        "not decided": "so whether that is more than half is not decided by this data",
    }[outcome]
    if outcome == "not decided" and ties < n:
        needed = _wins_needed(wins, n, alpha)
        if needed is not None and needed > n:
            conclusion += f" (about {counted(needed, about.held_out)} would do if the share stays)"
    equal = "all equal" if ties == n else f"worse on {losses} and equal on {ties}"
    result = equal if ties == n else f"better on {wins}, {equal}"
    kept = "" if about.m is None else f", each retrained on {counted(about.m, 'case')}"
    text = (
        f"Of {counted(n, f'held-out {about.held_out}')}, {a} against {b}{kept}: {result}. Its "
        f"share of wins on new {plural(about.new)} lies between "
        f"{percent(low, 'down', 0.5)} and {percent(high, 'up', 0.5)} with {confidence(alpha)} "
        f"confidence, "
        f"{conclusion}."
    )
    why = (
        f"Wins among independent {plural(about.held_out)} are binomial; the ends are Clopper and "
        f"Pearson's for {wins} of {n} (alpha = {number(float(exact_alpha(alpha)))}). Ties are no "
        "wins. The confidence is over the draw of the held-out cases."
    )
    facts = about.facts(
        alpha,
        n,
        first=first,
        second=second,
        wins=wins,
        ties=ties,
        losses=losses,
        lower=low,
        upper=high,
        outcome=outcome,
        second_on_most=share_interval(losses, n, alpha)[0] > 0.5,
    )
    return Verdict(text, "guaranteed", INDEPENDENT, facts, why + about.of_pairs)


def _wins_needed(wins: int, n: int, alpha: Level) -> int | None:
    """About how many cases would tell the share of wins from one half, None when it is one half."""
    share = wins / n
    if share == 0.5:
        return None
    for more in range(n + 1, EXACT_UP_TO):
        low, high = share_interval(round(share * more), more, alpha)
        if low > 0.5 or high < 0.5:
            return more
    z = float(stats.norm.isf(float(exact_alpha(alpha)) / 2))
    # With so many cases the binomial is nearly normal.
    return max(math.ceil(z**2 * share * (1 - share) / (share - 0.5) ** 2), EXACT_UP_TO)


def largest_share(differences: NDArray) -> float:
    """The share of the sum of squares that the largest deviation from the mean holds.

    1 where there is no spread to judge, or an infinite difference.

    >>> largest_share(np.array([1.0, -1.0, 1.0, -1.0]))
    0.25
    """
    if not np.isfinite(differences).all() or np.ptp(differences) == 0:
        return 1.0
    squares = (differences - differences.mean()) ** 2
    return float(squares.max() / squares.sum())


def mean_of(
    differences: Any,
    alpha: Level,
    about: About,
    first: str,
    second: str,
    margin: float | None = None,
) -> Verdict:
    """Which is better on average, from n independent differences: a t interval, approximate.

    Better on average, not decided by this data, or practically equal: the last only with a margin
    and an interval inside it. Of differences (n, b) the mean of each row counts. Where the largest
    difference holds more than ``HEAVY_SHARE`` of the
    sum of squares nothing is said about the mean, only about wins.
    """
    scores = check_scores(differences).astype(float)
    shown = scores if scores.ndim == 1 else scores.mean(axis=1)
    if margin is not None and not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"The margin must be a positive number, but {margin!r} was given.")
    n, share = len(shown), largest_share(shown)
    a, b = about.of(first), about.of(second)
    facts: dict[str, Any] = {"first": first, "second": second, "margin": margin}
    if share > HEAVY_SHARE:
        return _only_wins(scores, shown, share, alpha, about, first, second, facts)
    mean, error = shown.mean(), shown.std(ddof=1) / math.sqrt(n)
    half = float(stats.t.isf(float(exact_alpha(alpha)) / 2, n - 1)) * error
    lower, upper = mean - half, mean + half
    low, high = sorted((about.sign * lower, about.sign * upper))
    at = number(lower, "down", 0.0), number(upper, "up", 0.0)
    if margin is not None:
        at = _within(lower, margin, "down"), _within(upper, margin, "up")
    basis = (
        f"an approximate {confidence(alpha)} confidence interval from "
        f"{counted(n, f'held-out {about.held_out}')}"
    )
    difference = (
        f"on new {plural(about.new)} the average {about.loss} of {a} minus that of {b} lies "
        f"between {at[0]} and "
        f"{with_unit(at[1], about.unit)} ({basis})"
    )
    retrained = "" if about.m is None else f", retrained on {counted(about.m, 'case')},"
    if margin is not None and -margin <= lower and upper <= margin:
        outcome = "practically equal"
        text = (
            f"{sentence(a)} and {b}{retrained} are practically equal: {difference}, inside the "
            f"margin of {with_unit(number(margin, digits=17), about.unit)} that was set."
        )
    elif low > 0 or high < 0:
        better, worse = (b, a) if low > 0 else (a, b)
        outcome = "second better on average" if low > 0 else "first better on average"
        text = f"{sentence(better)}{retrained} is better on average than {worse}: {difference}."
    else:
        outcome = "not decided"
        text = (
            f"Not decided by this data, {a} or {b}{retrained}: {difference}, on both sides of zero."
        )
        if mean != 0:
            needed = math.ceil(n * (half / mean) ** 2)
            facts["n_needed"] = needed
            enough = counted(max(needed, n + 1), f"held-out {about.held_out}")
            text += f" About {enough} would decide if mean and spread stay as they are."
    why = (
        f"A t interval for the mean of {n} differences of {about.source} "
        f"(mean {number(mean)}, standard error {number(error)}). The largest holds "
        f"{percent(share, 'up')} of the sum of squares, not more than {percent(HEAVY_SHARE)}, so "
        "that no single case decides."
    )
    facts |= {"mean": mean, "lower": lower, "upper": upper, "outcome": outcome, "share": share}
    return Verdict(
        text,
        "approximate",
        f"{INDEPENDENT}, and a mean of {n} differences that is near Normal",
        about.facts(alpha, n, **facts),
        why + about.of_pairs,
    )


def _within(end: float, margin: float, direction: Literal["up", "down"]) -> str:
    """An end that is rounded across neither zero nor the margin."""
    nearest = min((0.0, margin, -margin), key=lambda value: abs(value - end))
    return number(end, direction, nearest)


def _only_wins(
    scores: NDArray,
    shown: NDArray,
    share: float,
    alpha: Level,
    about: About,
    first: str,
    second: str,
    facts: dict[str, Any],
) -> Verdict:
    n, wins = len(shown), wins_of(scores, alpha, about, first, second)
    if np.isinf(shown).any():
        reason = "a training run failed and counts as infinitely bad"
    elif np.ptp(shown) == 0:
        reason = f"all {n} differences are {number(shown[0])}, which shows no spread to judge by"
        if n == 1:
            reason = "there is one difference only"
    else:
        reason = (
            f"one of {n} differences holds {percent(share, 'down')} of the sum of squares, more "
            f"than {percent(HEAVY_SHARE)}"
        )
    if n < ENOUGH_CASES and not np.isinf(shown).any():
        reason += f", and about {ENOUGH_CASES} {plural(about.held_out)} or more are needed"
    text = (
        f"Not decided by this data which is better on average: {reason}, so only wins are counted. "
        f"{wins.text}"
    )
    facts |= {"outcome": "not decided", "share": share, "wins": wins.facts["wins"]}
    facts |= {"ties": wins.facts["ties"], "losses": wins.facts["losses"]}
    facts |= {"lower": None, "upper": None}
    why = (
        "A mean that rests on one difference, or on none that differs, has no usable interval. "
        f"{wins.why}"
    )
    return Verdict(text, "approximate", INDEPENDENT, about.facts(alpha, n, **facts), why)
