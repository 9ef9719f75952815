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
from scipy import special, stats

from cpp_core.checks import Level, exact_alpha
from cpp_core.method.counts import share_interval
from cpp_core.method.means import betting_interval, break_even, t_interval, unseen_share
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


ON_AVERAGE = {"first wins": "first better on average", "second wins": "second better on average"}
"""What wins say of the average, where a loss is an error or none."""


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
    """Who wins more often where the two differ, with an exact interval for the first's share.

    Given how many of n independent differences are not zero, the first's wins among them are
    binomial; ties neither help nor hurt. Of differences (n, b) the first of each row counts: those
    of one row are not independent.
    """
    about, each = pair.about, pair.about.each_pair(alpha)
    d = about.sign * check_scores(differences)
    d = d if d.ndim == 1 else d[:, 0]
    n, wins, ties = len(d), int((d < 0).sum()), int((d == 0).sum())
    differing = n - ties
    low, high = share_interval(wins, differing, each)
    outcome = "first wins" if low > 0.5 else "second wins" if high < 0.5 else "not decided"
    outcome = outcome if differing else "all equal"
    needed = _wins_needed(wins, differing, each) if outcome == "not decided" else None
    facts = pair.facts(each, n, wins=wins, ties=ties, losses=differing - wins, differing=differing)
    facts |= {"lower": low, "upper": high, "outcome": outcome, "strength": "exact"}
    if needed is not None:
        facts |= {"differing_needed": needed, "n_needed": math.ceil(needed * n / differing)}
    why = (
        f"Among the {differing} of {n} independent {plural(about.held_out)} on which the two "
        f"differ, wins are binomial; the ends are Clopper and Pearson's for {wins} of {differing} "
        f"(alpha = {number(float(each))}), a half is the line. Ties ({ties}) neither help nor "
        "hurt. The confidence is over the draw of the held-out cases."
    )
    return Verdict(_wins_text(facts, pair), "guaranteed", INDEPENDENT, facts, why + about.of_pairs)


def _wins_text(facts: dict[str, Any], pair: Pair) -> str:
    about, a, b = pair.about, pair.a, pair.b
    held_out, differing = counted(facts["k"], f"held-out {about.held_out}"), facts["differing"]
    retrained = "" if about.m is None else f", each retrained on {counted(about.m, 'case')},"
    if not differing:
        return f"On all of {held_out} {a} and {b}{retrained} are equal: neither wins."
    conclusion = {
        "first wins": f"so {pair.first} wins more often",
        "second wins": f"so {pair.second} wins more often",
        "not decided": "so who wins more often is not decided by this data",
    }[facts["outcome"]]
    if "differing_needed" in facts:
        enough = f"{counted(facts['differing_needed'], f'such {about.held_out}')} would do"
        conclusion += f" (about {enough} if the share stays)"
    low, high = percent(facts["lower"], "down", 0.5), percent(facts["upper"], "up", 0.5)
    return (
        f"Of {held_out} {a} and {b}{retrained} differ on {differing:,}; {pair.first} wins "
        f"{facts['wins']:,} of those, and between {low} and {high} of new ones with "
        f"{confidence(facts['alpha'])} confidence, {conclusion}."
    )


def _wins_needed(wins: int, n: int, alpha: Level) -> int | None:
    """About how many differing cases would tell the share of wins from one half, if any would."""
    share = wins / n
    if share == 0.5:
        return None
    tail, more = float(exact_alpha(alpha)) / 2, np.arange(n + 1, EXACT_UP_TO)
    hits = np.round(share * more)
    hits = np.maximum(hits, more - hits)
    enough = more[special.betaincinv(hits, more - hits + 1, tail) > 0.5]
    if len(enough):
        return int(enough[0])
    z = float(stats.norm.isf(tail))
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
    """Which is better on average, from n independent differences.

    Better on average, not decided by this data, or practically equal: the last only with a margin
    and an interval inside it. Of differences (n, b) the mean of each row counts. *Guaranteed* where
    the range is finite and bets decide, or where errors are counted and wins decide. Else
    *approximate*, by a t interval, and with the condition under which it holds. Where the largest
    difference holds more than ``HEAVY_SHARE`` of the sum of squares that one is silent too.
    """
    scores, margin = check_scores(differences).astype(float), pair.margin
    shown = scores if scores.ndim == 1 else scores.mean(axis=1)
    if margin is not None and not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"The margin must be a positive number, but {margin!r} was given.")
    about, share, range_ = pair.about, largest_share(shown), pair.about.difference
    each, wins = about.each_pair(alpha), wins_of(scores, alpha, pair)
    facts = pair.facts(each, len(shown), margin=margin, share=share, outcome="not decided")
    facts |= {"lower": None, "upper": None, "strength": "approximate"}
    facts |= {"break_even": None, "ruled_out": None}
    if math.isfinite(range_.high):
        lower, upper = betting_interval(shown, each, range_.low, range_.high)
        outcome = _mean_outcome(lower, upper, pair)
        if about.errors and outcome != "practically equal":
            outcome = ON_AVERAGE.get(wins.facts["outcome"], "not decided")
        if outcome != "not decided":
            facts |= {"mean": float(shown.mean()), "lower": lower, "upper": upper}
            return _exact_mean(facts | {"outcome": outcome, "strength": "exact"}, wins, pair)
    found = None if share > HEAVY_SHARE else _near_mean(shown, facts, pair)
    if found is None or (about.errors and found.facts["outcome"] != "practically equal"):
        facts |= {name: wins.facts[name] for name in ("wins", "ties", "losses")}
        facts |= {"n_needed": wins.facts["n_needed"]} if "n_needed" in wins.facts else {}
        reason, why = "with errors wins settle it", "Who wins more often errs less often"
        if found is None:
            reason = f"{_why_silent(shown, share, about)}, so only wins are counted"
            why = "A mean that rests on one difference, or on none that differs, has no usable "
            why += "interval"
        text = f"Not decided by this data which is better on average: {reason}. {wins.text}"
        return Verdict(text, "approximate", INDEPENDENT, facts, f"{why}. {wins.why}")
    return found


def _exact_mean(facts: dict[str, Any], wins: Verdict, pair: Pair) -> Verdict:
    """A verdict that wins settle, where errors are counted, or that bets do."""
    about, n = pair.about, facts["k"]
    why = (
        f"Bets on the mean of {n} differences of {about.source} in a fixed random order (mean "
        f"{number(facts['mean'])}), hedged; the ends are the means at which they multiplied by "
        "2 / alpha, which holds for every law within the range, rare large losses included."
    )
    level = f"exact, {confidence(facts['alpha'])} confidence"
    by = f"{_by(facts, pair)} ({level}, {counted(n, f'held-out {about.held_out}')})"
    if about.errors and facts["outcome"] != "practically equal":
        won, lost, ties = (wins.facts[name] for name in ("wins", "losses", "ties"))
        most = won if facts["outcome"] == ON_AVERAGE["first wins"] else lost
        by = f": it wins {most:,} of the {counted(n - ties, pair.about.held_out)} on which they "
        by += f"differ ({level})"
        why = f"With errors the average is settled by wins: McNemar's exact test. {wins.why}"
        return Verdict(_mean_text(facts, pair, by), "guaranteed", INDEPENDENT, facts, why)
    text = _mean_text(facts, pair, by)
    return Verdict(text, "guaranteed", INDEPENDENT, facts, why + about.of_pairs)


def _near_mean(shown: NDArray, facts: dict[str, Any], pair: Pair) -> Verdict:
    """A verdict by a t interval, with the condition under which it holds."""
    about, n, mean = pair.about, len(shown), float(shown.mean())
    lower, upper = t_interval(shown, facts["alpha"])
    outcome, half = _mean_outcome(lower, upper, pair), (upper - lower) / 2
    facts = facts | {"mean": mean, "lower": lower, "upper": upper, "outcome": outcome}
    (low, high), level = _ends(facts, pair), f"approximate {confidence(facts['alpha'])} confidence"
    why = (
        f"The average {about.loss} of {pair.a} minus that of {pair.b} lies between {low} and {high}"
        f" ({level}): a t interval from {n} differences of {about.source} with a mean of "
        f"{number(mean)}. The largest holds "
        f"{percent(facts['share'], 'up')} of the sum of squares, not more than "
        f"{percent(HEAVY_SHARE)}, so that no single case decides. "
    )
    if outcome == "not decided":
        if mean:  # so many decide if mean and spread stay
            facts["n_needed"] = max(math.ceil(n * (half / mean) ** 2), n + 1)
        text = _mean_text(facts, pair, level)
    else:
        facts |= _condition(facts, pair)
        unseen = unseen_share(n, facts["alpha"])
        why += (
            f"It cannot see a rare large loss that did not occur: {n} {plural(about.held_out)} "
            f"without one leave up to 1 in {number(1 / unseen, 'down')} possible with "
            f"{confidence(facts['alpha'])} confidence."
        )
        text = _mean_text(facts, pair, f" ({level}), {facts['condition']}")
    lean = f"{INDEPENDENT}, and a mean of {n} differences that is near Normal"
    return Verdict(text, "approximate", lean, facts, why.rstrip() + about.of_pairs)


def _condition(facts: dict[str, Any], pair: Pair) -> dict[str, Any]:
    """When a t interval misleads: how frequent an unseen loss at the worst end must be for it.

    Where there is no worst end, how large an unseen loss of frequency 1/n.
    """
    about, n, line = pair.about, facts["k"], 0.0
    low, high = about.turned(facts["lower"], facts["upper"])
    end = high if facts["outcome"] == ON_AVERAGE["first wins"] else -low
    if facts["outcome"] == "practically equal":
        end, line = max(high, -low), facts["margin"]
    worst, found = about.difference.high, {"break_even": 1 / n}
    if math.isfinite(worst):
        found["break_even"] = break_even(end, line, worst)
        one_in = number(math.ceil(1 / found["break_even"]), "up")
        side = "bottom" if about.greater_is_better else "top"
        words = (
            f"unless more than 1 in {one_in} new {plural(about.new)} bring a {about.loss} near the "
            f"{side} of its range that these {n:,} have not shown"
        )
    else:
        found["break_even_loss"] = n * line - (n - 1) * end
        size = with_unit(number(found["break_even_loss"], "down"), about.unit)
        who = "one of them" if facts["outcome"] == "practically equal" else "it"
        words = f"unless one new {about.new} in {n:,} costs {who} {size} more"
    ruled_out = found["break_even"] >= unseen_share(n, facts["alpha"])
    words += "" if ruled_out else ", which this data cannot rule out"
    return found | {"ruled_out": ruled_out, "condition": words}


def _mean_outcome(lower: float, upper: float, pair: Pair) -> str:
    """What an interval of the mean says of the first and the second."""
    if pair.margin is not None and -pair.margin <= lower and upper <= pair.margin:
        return "practically equal"
    low, high = sorted((pair.about.sign * lower, pair.about.sign * upper))
    if low > 0:
        return ON_AVERAGE["second wins"]
    return ON_AVERAGE["first wins"] if high < 0 else "not decided"


def _ends(facts: dict[str, Any], pair: Pair) -> tuple[str, str]:
    """The ends for the mean in words, rounded outwards across neither zero nor the margin."""
    limits = (0.0,) if pair.margin is None else (0.0, pair.margin, -pair.margin)
    high = number(facts["upper"], "up", limits)
    return number(facts["lower"], "down", limits), with_unit(high, pair.about.unit)


def _by(facts: dict[str, Any], pair: Pair) -> str:
    """By how much one is better."""
    if facts["outcome"] == "practically equal":
        return ""
    ends = facts["lower"], facts["upper"]
    low, high = sorted(map(abs, ends))
    return f", by {number(low, 'down', 0.0)} to {with_unit(number(high, 'up'), pair.about.unit)}"


def _mean_text(facts: dict[str, Any], pair: Pair, more: str) -> str:
    """The sentence on an average, with more that belongs to it."""
    about, a, b = pair.about, pair.a, pair.b
    retrained = "" if about.m is None else f", retrained on {counted(about.m, 'case')},"
    if facts["outcome"] == "practically equal":
        margin = with_unit(number(facts["margin"], digits=17), about.unit)
        return (
            f"{sentence(a)} and {b}{retrained} are practically equal: their average difference "
            f"lies inside the margin of {margin} that was set{more}."
        )
    if facts["outcome"] != "not decided":
        better, worse = (a, b) if facts["outcome"] == ON_AVERAGE["first wins"] else (b, a)
        return f"{sentence(better)}{retrained} is better on average than {worse}{more}."
    low, high = _ends(facts, pair)
    text = (
        f"Not decided by this data, {a} or {b}{retrained}: their average difference lies between "
        f"{low} and {high} ({more}), on both sides of zero."
    )
    if "n_needed" in facts:
        enough = counted(facts["n_needed"], f"held-out {about.held_out}")
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
