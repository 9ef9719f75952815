"""Which of two algorithms is better: on the next case, how often, and on average.

Everything rests on the difference l(first) - l(second) on the same cases, never on two separate
intervals. Here are the functions of plain arrays of differences, as shown; ``pairs`` reads them
from results. Each judges its pair at alpha over the number of pairs, so that the statements on all
of them hold jointly. What may be said of them is in docs/method.md, section 6.
"""

import math
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class Pair:
    """Two competitors by their labels, and what their losses are about.

    Averages that differ by less than the margin are practically equal.
    """

    first: str
    second: str
    about: About
    margin: float | None = None

    @property
    def a(self) -> str:
        """The first in a sentence."""
        return self.about.of(self.first)

    @property
    def b(self) -> str:
        """The second in a sentence."""
        return self.about.of(self.second)

    def facts(self, alpha: Level, k: int, **more: Any) -> dict[str, Any]:
        """What every verdict on a pair lists."""
        return self.about.facts(alpha, k, first=self.first, second=self.second, **more)


def between(about: About, lower: float, upper: float) -> str:
    """A difference's interval in words, rounded outwards and never across zero."""
    if math.isinf(lower) and math.isinf(upper):
        return "may be anything"
    low, high = about.difference.lower_end(lower, 0.0), about.difference.upper_end(upper, 0.0)
    if math.isinf(upper):
        return f"is at least {with_unit(low, about.unit)}"
    if math.isinf(lower):
        return f"is at most {with_unit(high, about.unit)}"
    return f"lies between {low} and {with_unit(high, about.unit)}"


def _next_outcome(lower: float, upper: float) -> str:
    """What the set of the next difference, smaller better, says of the first and the second."""
    if lower > upper:
        return "empty"
    if lower == upper == 0:
        return "equal"
    if upper <= 0:
        return "first better" if upper < 0 else "first not worse"
    if lower >= 0:
        return "second better" if lower > 0 else "second not worse"
    return "either"


def _next_words(outcome: str, pair: Pair) -> str:
    smaller = f"{'larger' if pair.about.greater_is_better else 'smaller'} {pair.about.loss}"
    return {
        "first better": f"so {pair.a} has the {smaller}",
        "second better": f"so {pair.b} has the {smaller}",
        "first not worse": f"so {pair.a} is better or equal",
        "second not worse": f"so {pair.b} is better or equal",
        "equal": "so they are equal",
        "either": "so it could go either way",
    }[outcome]


def next_difference_of(differences: Any, alpha: Level, pair: Pair) -> Verdict:
    """Which is better on the next case, from k paired differences (k,) or (k, b): guaranteed."""
    about, range_ = pair.about, pair.about.difference
    d, each = about.sign * check_scores(differences), about.each_pair(alpha)
    lo, hi, lower, upper = ends(d, each, "two-sided", range_.low, range_.high)
    rank = (
        f"The ends are the {ordinal(lo)} and the {ordinal(hi)} smallest of the {d.size} "
        f"differences of {about.source}"
    )
    return next_verdict(len(d), (lower, upper), rank, alpha, pair)


def next_verdict(
    k: int, found: tuple[float, float], rank: str, alpha: Level, pair: Pair, at_case: bool = False
) -> Verdict:
    """The sentence on who is better on the next case, with all the ways in which it is open.

    ``found`` is the set of the difference, smaller better, that k scores gave; ``rank`` tells how.
    """
    about, each = pair.about, pair.about.each_pair(alpha)
    needed = scores_needed(each, "upper" if at_case else "two-sided")
    outcome = "too little data" if k < needed else _next_outcome(*found)
    shown = about.turned(*found)
    lead = about.lead(pair.first, pair.second)
    chance = f"with probability at least {confidence(each)}, {about.together}"
    if outcome == "too little data":
        text = (
            f"Too little data to compare {pair.first} and {pair.second} on a {about.next} with "
            f"{confidence(each)} confidence: {about.more(needed - k)} would do."
        )
        rank = f"{'A finite set needs' if at_case else 'Two finite ends need'} "
        rank += f"{counted(needed, 'score')}, {about.source} has {k}"
    elif outcome == "empty":
        text = (
            f"{lead}, the answer depends on the case: at the one random test case of trial 0 the "
            "set for the difference is empty, which counts as a miss, and nothing can be said."
        )
    else:
        difference = f"the {about.loss} of {pair.a} minus that of {pair.b} {between(about, *shown)}"
        words = _next_words(outcome, pair)
        text = f"{lead}, {difference} {chance}: {words}."
        if at_case:
            text = (
                f"{lead}, the answer depends on the case: at the one random test case of trial 0 "
                f"{difference}, {words}. Such sets hold the difference {chance}."
            )
    why = (
        f"{rank}, with alpha = {number(float(each))}. Each difference is of two losses on the same "
        f"{about.new}."
    )
    facts = pair.facts(each, k, lower=shown[0], upper=shown[1], outcome=outcome)
    facts |= {"at_case": at_case, "k_needed": needed}
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why + about.of_pairs)


def wins_of(differences: Any, alpha: Level, pair: Pair) -> Verdict:
    """How often the first is better, with an exact interval from n independent differences.

    Of differences (n, b) the first of each row counts: those of one row are not independent.
    """
    about, each = pair.about, pair.about.each_pair(alpha)
    d = about.sign * check_scores(differences)
    d = d if d.ndim == 1 else d[:, 0]
    n, wins, ties = len(d), int((d < 0).sum()), int((d == 0).sum())
    low, high = share_interval(wins, n, each)
    losses = n - wins - ties
    outcome = "most" if low > 0.5 else "fewer than half" if high < 0.5 else "not decided"
    conclusion = {
        "most": f"so {pair.a} is better on most of them",
        "fewer than half": f"so {pair.a} is strictly better on fewer than half of them",
        "not decided": "so whether that is more than half is not decided by this data",
    }[outcome]
    if outcome == "not decided" and ties < n:
        needed = _wins_needed(wins, n, each)
        if needed is not None and needed > n:
            conclusion += f" (about {counted(needed, about.held_out)} would do if the share stays)"
    result = f"better on {wins}, worse on {losses} and equal on {ties}"
    result = "all equal" if ties == n else result
    kept = "" if about.m is None else f", each retrained on {counted(about.m, 'case')}"
    text = (
        f"Of {counted(n, f'held-out {about.held_out}')}, {pair.a} against {pair.b}{kept}: "
        f"{result}. Its share of wins on new {plural(about.new)} lies between "
        f"{percent(low, 'down', 0.5)} and {percent(high, 'up', 0.5)} with {confidence(each)} "
        f"confidence, {conclusion}."
    )
    why = (
        f"Wins among independent {plural(about.held_out)} are binomial; the ends are Clopper and "
        f"Pearson's for {wins} of {n} (alpha = {number(float(each))}). Ties are no "
        "wins. The confidence is over the draw of the held-out cases."
    )
    counts = {"wins": wins, "ties": ties, "losses": losses}
    facts = pair.facts(each, n, **counts, lower=low, upper=high, outcome=outcome)
    facts["second_on_most"] = share_interval(losses, n, each)[0] > 0.5
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


def mean_of(differences: Any, alpha: Level, pair: Pair) -> Verdict:
    """Which is better on average, from n independent differences: a t interval, approximate.

    Better on average, not decided by this data, or practically equal: the last only with a margin
    and an interval inside it. Of differences (n, b) the mean of each row counts. Where the largest
    difference holds more than ``HEAVY_SHARE`` of the sum of squares nothing is said about the mean,
    only about wins.
    """
    scores, margin = check_scores(differences).astype(float), pair.margin
    shown = scores if scores.ndim == 1 else scores.mean(axis=1)
    if margin is not None and not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"The margin must be a positive number, but {margin!r} was given.")
    n, share, about = len(shown), largest_share(shown), pair.about
    each = about.each_pair(alpha)
    facts = pair.facts(each, n, margin=margin, share=share)
    if share > HEAVY_SHARE:
        wins = wins_of(scores, alpha, pair)
        facts |= {name: wins.facts[name] for name in ("wins", "ties", "losses")}
        facts |= {"outcome": "not decided", "lower": None, "upper": None}
        text = (
            "Not decided by this data which is better on average: "
            f"{_why_silent(shown, share, about)}, so only wins are counted. {wins.text}"
        )
        why = "A mean that rests on one difference, or on none that differs, has no usable interval"
        return Verdict(text, "approximate", INDEPENDENT, facts, f"{why}. {wins.why}")
    mean, error = float(shown.mean()), float(shown.std(ddof=1)) / math.sqrt(n)
    half = float(stats.t.isf(float(each) / 2, n - 1)) * error
    facts |= {"mean": mean, "lower": mean - half, "upper": mean + half}
    facts["outcome"] = _mean_outcome(mean - half, mean + half, pair)
    if facts["outcome"] == "not decided" and mean:  # so many decide if mean and spread stay
        facts["n_needed"] = math.ceil(n * (half / mean) ** 2)
    why = (
        f"A t interval for the mean of {n} differences of {about.source} "
        f"(mean {number(mean)}, standard error {number(error)}). The largest holds "
        f"{percent(share, 'up')} of the sum of squares, not more than {percent(HEAVY_SHARE)}, so "
        "that no single case decides."
    )
    lean = f"{INDEPENDENT}, and a mean of {n} differences that is near Normal"
    text = _mean_text(facts, pair, confidence(each))
    return Verdict(text, "approximate", lean, facts, why + about.of_pairs)


def _mean_outcome(lower: float, upper: float, pair: Pair) -> str:
    """What an interval of the mean says of the first and the second."""
    if pair.margin is not None and -pair.margin <= lower and upper <= pair.margin:
        return "practically equal"
    low, high = sorted((pair.about.sign * lower, pair.about.sign * upper))
    if low > 0:
        return "second better on average"
    return "first better on average" if high < 0 else "not decided"


def _mean_text(facts: dict[str, Any], pair: Pair, level: str) -> str:
    """The sentence on an average; its ends are rounded across neither zero nor the margin."""
    about, a, b, margin, n = pair.about, pair.a, pair.b, pair.margin, facts["k"]
    limits = (0.0,) if margin is None else (0.0, margin, -margin)
    low, high = number(facts["lower"], "down", limits), number(facts["upper"], "up", limits)
    held_out = f"held-out {about.held_out}"
    difference = (
        f"on new {plural(about.new)} the average {about.loss} of {a} minus that of {b} lies "
        f"between {low} and {with_unit(high, about.unit)} (an approximate "
        f"{level} confidence interval from {counted(n, held_out)})"
    )
    retrained = "" if about.m is None else f", retrained on {counted(about.m, 'case')},"
    if facts["outcome"] == "practically equal":
        set_margin = with_unit(number(margin or 0.0, digits=17), about.unit)
        return (
            f"{sentence(a)} and {b}{retrained} are practically equal: {difference}, inside the "
            f"margin of {set_margin} that was set."
        )
    if facts["outcome"] != "not decided":
        better, worse = (a, b) if facts["outcome"] == "first better on average" else (b, a)
        return f"{sentence(better)}{retrained} is better on average than {worse}: {difference}."
    text = f"Not decided by this data, {a} or {b}{retrained}: {difference}, on both sides of zero."
    if "n_needed" in facts:
        enough = counted(max(facts["n_needed"], n + 1), held_out)
        text += f" About {enough} would decide if mean and spread stay as they are."
    return text


def _why_silent(shown: NDArray, share: float, about: About) -> str:
    """Why nothing is said about the mean of these differences."""
    n = len(shown)
    if np.isinf(shown).any():
        return "a training run failed and counts as infinitely bad"
    if n == 1:
        reason = "there is one difference only"
    elif np.ptp(shown) == 0:
        reason = f"all {n} differences are {number(shown[0])}, which shows no spread to judge by"
    else:
        reason = (
            f"one of {n} differences holds {percent(share, 'down')} of the sum of squares, more "
            f"than {percent(HEAVY_SHARE)}"
        )
    if n < ENOUGH_CASES:
        reason += f", and about {ENOUGH_CASES} {plural(about.held_out)} or more are needed"
    return reason
