"""Which of two algorithms is better on average, and under which condition.

Exact where differences are bounded and bets decide, or where errors are counted; else near, by a t
interval that cannot see a rare large loss, and says so. See docs/method.md, section 6.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.method.means import betting_interval, break_even, t_interval, unseen_share
from cpp_core.verdicts.about import check_scores
from cpp_core.verdicts.comparisons import Pair, enough, needed_words, wins_of
from cpp_core.verdicts.language import (
    confidence,
    counted,
    number,
    percent,
    plural,
    sentence,
    with_unit,
)
from cpp_core.verdicts.verdict import INDEPENDENT, Brief, Verdict

HEAVY_SHARE = 0.1
"""The largest share of the sum of squares that one difference may hold for a mean to be judged.

The t statistic is near its law exactly when no single square matters (the share of the largest
tends to 0 if and only if the differences are in the Normal law's domain of attraction). In
simulations of Normal to infinite-variance laws, n = 20 to 1000 and alpha = 0.2 to 0.01, a false
statement about the mean was then made at about the stated rate or less; at 0.2 it was not.
"""

ENOUGH_CASES = 100
"""Below about this many cases one of them holds more than that share even in a Normal law."""


NOISE = 1e-9, 1e-5
"""A spread of differences up to this share of them is rounding; the second for float32."""

ON_AVERAGE = {"first wins": "first better on average", "second wins": "second better on average"}
"""What wins say of the average, where a loss is an error or none."""


def without_noise(differences: NDArray) -> NDArray:
    """Differences that rounding alone tells apart, as the one number that they stand for.

    >>> without_noise(np.array([1.2, 2.2, 3.2]) - np.array([1.0, 2.0, 3.0])).round(12).tolist()
    [0.2, 0.2, 0.2]
    """
    finite, near = np.isfinite(differences).all(), NOISE[differences.dtype == np.float32]
    if finite and np.ptp(differences) <= near * np.abs(differences).max():
        return np.full_like(differences, np.median(differences))
    return differences


def largest_share(differences: NDArray) -> float:
    """The share of the sum of squares that the largest deviation from the mean holds.

    1 where there is no spread to judge, or an infinite difference.

    >>> largest_share(np.array([1.0, -1.0, 1.0, -1.0]))
    0.25
    """
    if not np.isfinite(differences).all() or np.ptp(differences) == 0:
        return 1.0
    scaled = differences / np.abs(differences).max()  # squares of tiny ones would vanish
    squares = (scaled - scaled.mean()) ** 2
    return float(squares.max() / squares.sum()) if squares.any() else 1.0


def mean_of(differences: Any, alpha: Level, pair: Pair) -> Verdict:
    """Which is better on average, from n independent differences.

    Better on average, not decided by this data, or practically equal: the last only with a margin
    and an interval inside it. Of differences (n, b) the mean of each row counts. *Guaranteed* where
    the range is finite and bets decide, or where errors are counted and wins decide. Else
    *approximate*, by a t interval, and with the condition under which it holds. Where the largest
    difference holds more than ``HEAVY_SHARE`` of the sum of squares that one is silent too. Where
    every difference lies inside the margin, the two are practically equal: it goes before all else.
    """
    scores, margin = check_scores(differences), pair.margin
    shown = without_noise(scores if scores.ndim == 1 else scores.mean(axis=1)).astype(float)
    if margin is not None and not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"The margin must be a positive number, but {margin!r} was given.")
    about, share, range_ = pair.about, largest_share(shown), pair.about.difference
    each, wins = about.each_pair(alpha), wins_of(scores, alpha, pair)
    facts = pair.facts(each, len(shown), margin=margin, share=share, outcome="not decided")
    facts |= {"lower": None, "upper": None, "strength": "approximate"}
    facts |= {"break_even": None, "ruled_out": None}
    inside = _all_inside(shown, pair)
    if math.isfinite(range_.high) and not pair.failed:
        lower, upper = betting_interval(shown, each, range_.low, range_.high)
        outcome = _mean_outcome(lower, upper, pair)
        if about.errors and outcome != "practically equal":
            outcome = ON_AVERAGE.get(wins.facts["outcome"], "not decided")
        if outcome == "practically equal" or (outcome != "not decided" and not inside):
            facts |= {"mean": float(shown.mean()), "lower": lower, "upper": upper}
            return _exact_mean(facts | {"outcome": outcome, "strength": "exact"}, wins, pair)
    found = None if share > HEAVY_SHARE or pair.failed else _near_mean(shown, facts, pair)
    if inside and (found is None or found.facts["outcome"] != "practically equal"):
        return _inside_margin(shown, facts, pair)
    if found is None or (about.errors and found.facts["outcome"] != "practically equal"):
        facts |= {name: wins.facts[name] for name in ("wins", "ties", "losses")}
        facts |= {"n_needed": wins.facts["n_needed"]} if "n_needed" in wins.facts else {}
        reason, why = "with errors wins settle it", "Who wins more often errs less often"
        if found is None:
            reason = f"{_why_silent(shown, share, pair)}, so only wins are counted"
            why = "A mean that rests on one difference, or on none that differs, has no usable "
            why += "interval"
        text = f"Not decided by this data which is better on average: {reason}. {wins.text}"
        brief = Brief("", "not decided", f": {_why_short(shown, found is None, pair)}", "open")
        return Verdict(text, "approximate", INDEPENDENT, facts, f"{why}. {wins.why}", brief)
    return found


def _exact_mean(facts: dict[str, Any], wins: Verdict, pair: Pair) -> Verdict:
    """A verdict that wins settle, where errors are counted, or that bets do."""
    about, n = pair.about, facts["k"]
    why = (
        f"Bets on the mean of {n:,} differences of {about.source} in a fixed random order (mean "
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
        better, worse = _ordered(facts, pair)
        apart = f"{most:,} of {counted(n - ties, about.held_out)}"
        brief = Brief(better, "fewer errors", f"than {worse}: right on {apart} where one errs")
        return Verdict(_mean_text(facts, pair, by), "guaranteed", INDEPENDENT, facts, why, brief)
    text, brief = _mean_text(facts, pair, by), _mean_brief(facts, pair)
    return Verdict(text, "guaranteed", INDEPENDENT, facts, why + about.of_pairs, brief)


def _all_inside(shown: NDArray, pair: Pair) -> bool:
    """Whether every difference lies inside the margin, and not by one heavy case alone."""
    enough = len(shown) * HEAVY_SHARE >= 1 and not pair.failed
    return pair.margin is not None and enough and bool(np.abs(shown).max() <= pair.margin)


def _inside_margin(shown: NDArray, facts: dict[str, Any], pair: Pair) -> Verdict:
    """Practically equal since every difference is: their mean is no further out than they are."""
    n, lower, upper = len(shown), float(shown.min()), float(shown.max())
    facts = facts | {"mean": float(shown.mean()), "lower": lower, "upper": upper}
    facts |= {"outcome": "practically equal"}
    facts |= _condition(facts, pair)
    more = f" (approximate {confidence(facts['alpha'])} confidence), {facts['condition']}"
    low, high = _ends(facts, pair)
    why = (
        f"All {n:,} differences of {pair.about.source} lie between {low} and {high}, inside the "
        "margin; so does their average, unless larger ones occur that were not seen."
    )
    lean = f"{INDEPENDENT}, and differences like those that were seen"
    text, brief = _mean_text(facts, pair, more), _mean_brief(facts, pair)
    return Verdict(text, "approximate", lean, facts, why + pair.about.of_pairs, brief)


def _near_mean(shown: NDArray, facts: dict[str, Any], pair: Pair) -> Verdict:
    """A verdict by a t interval, with the condition under which it holds."""
    about, n, mean = pair.about, len(shown), float(shown.mean())
    lower, upper = t_interval(shown, facts["alpha"])
    outcome, half = _mean_outcome(lower, upper, pair), (upper - lower) / 2
    facts = facts | {"mean": mean, "lower": lower, "upper": upper, "outcome": outcome}
    (low, high), level = _ends(facts, pair), f"approximate {confidence(facts['alpha'])} confidence"
    why = (
        f"The average {about.loss} of {pair.a} minus that of {pair.b} lies between {low} and {high}"
        f" ({level}): a t interval from {n:,} differences of {about.source} with a mean of "
        f"{number(mean)}. The largest holds "
        f"{percent(facts['share'], 'up', HEAVY_SHARE)} of the sum of squares, not more than "
        f"{percent(HEAVY_SHARE)}, so that no single case decides. "
    )
    if outcome == "not decided":
        # So many decide if mean and spread stay: zero outside the interval, or all of it inside
        # the margin.
        gaps = [abs(mean), 0.0 if pair.margin is None else pair.margin - abs(mean)]
        if max(gaps) > 0:
            facts["n_needed"] = max(math.ceil(n * (half / max(gaps)) ** 2), n + 1)
        text = _mean_text(facts, pair, level)
    else:
        facts |= _condition(facts, pair)
        unseen = unseen_share(n, facts["alpha"])
        why += (
            f"It cannot see a rare large loss that did not occur: {n:,} {plural(about.held_out)} "
            f"without one leave up to 1 in {number(1 / unseen, 'down')} possible with "
            f"{confidence(facts['alpha'])} confidence."
        )
        text = _mean_text(facts, pair, f" ({level}), {facts['condition']}")
    lean = f"{INDEPENDENT}, and a mean of {n:,} differences that is near Normal"
    why, brief = why.rstrip() + about.of_pairs, _mean_brief(facts, pair)
    return Verdict(text, "approximate", lean, facts, why, brief)


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
        short = f"unless over 1 in {one_in} new {plural(about.new)} are far worse"
    else:
        found["break_even_loss"] = n * line - (n - 1) * end
        size = with_unit(number(found["break_even_loss"], "down"), about.unit)
        who = "one of them" if facts["outcome"] == "practically equal" else "it"
        words = short = f"unless one new {about.new} in {n:,} costs {who} {size} more"
        if about.greater_is_better:
            words = short = f"unless on one new {about.new} in {n:,} {who} scores {size} lower"
    ruled_out = found["break_even"] >= unseen_share(n, facts["alpha"])
    words += "" if ruled_out else ", which this data cannot rule out"
    short += "" if ruled_out else " (not ruled out)"
    return found | {"ruled_out": ruled_out, "condition": words, "unless": short}


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


def _either_way(facts: dict[str, Any], pair: Pair) -> str:
    """By how much the first may be below or above the second, rounded outwards, in few words."""
    limits = (0.0,) if pair.margin is None else (0.0, pair.margin)
    less, more = (number(abs(facts[end]), "up", limits, digits=2) for end in ("lower", "upper"))
    verb = "score" if pair.about.greater_is_better else "lose"
    return f"may {verb} {with_unit(less, pair.about.unit)} less or {more} more than"


def _by(facts: dict[str, Any], pair: Pair) -> str:
    """By how much one is better."""
    if facts["outcome"] == "practically equal":
        return ""
    ends = facts["lower"], facts["upper"]
    low, high = sorted(map(abs, ends))
    return f", by {number(low, 'down', 0.0)} to {with_unit(number(high, 'up'), pair.about.unit)}"


def _ordered(facts: dict[str, Any], pair: Pair) -> tuple[str, str]:
    """The better and the worse of a decided pair."""
    first = facts["outcome"] == ON_AVERAGE["first wins"]
    return (pair.first, pair.second) if first else (pair.second, pair.first)


def _mean_brief(facts: dict[str, Any], pair: Pair) -> Brief:
    """By how much one is better on average, with its condition, in a few words."""
    about, unless = pair.about, f", {facts['unless']}" if "unless" in facts else ""
    if facts["outcome"] == "practically equal":
        margin = with_unit(number(facts["margin"], digits=17), about.unit)
        both = f"{pair.first} and {pair.second}"
        return Brief("", "no real difference", f": {both} within {margin} on average{unless}")
    if facts["outcome"] == "not decided":
        needed = needed_words(facts["n_needed"], about.held_out) if "n_needed" in facts else ""
        rest = f": {pair.first} {_either_way(facts, pair)} {pair.second} on average{needed}"
        return Brief("", "not decided", rest, "open")
    better, worse = _ordered(facts, pair)
    less = "more" if about.greater_is_better else "less"
    seen = counted(facts["k"], about.held_out)
    low, high = sorted(map(abs, (facts["lower"], facts["upper"])))
    fewest, most = number(low, "down", 0.0, 2), number(high, "up", digits=2)
    by = with_unit(most if fewest == most else f"{fewest} to {most}", about.unit)
    return Brief(better, f"{by} {less}", f"than {worse} on average, from {seen}{unless}")


def _why_short(shown: NDArray, silent: bool, pair: Pair) -> str:
    """Why nothing is said about the mean, in a few words."""
    if not silent:
        return "errors of 0 or 1: the average asks who wins more often, too"
    if pair.failed:
        return "every training run of both failed"
    if np.isinf(shown).any():
        return "a failed training run counts as infinitely bad"
    if len(shown) == 1 or np.ptp(shown) == 0:
        return "there is no spread to judge by"
    return "one difference weighs too much to average, so only wins are counted"


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
        better, worse = map(about.of, _ordered(facts, pair))
        return f"{sentence(better)}{retrained} is better on average than {worse}{more}."
    low, high = _ends(facts, pair)
    text = (
        f"Not decided by this data, {a} or {b}{retrained}: their average difference lies between "
        f"{low} and {high} ({more}), on both sides of zero."
    )
    if "n_needed" in facts:
        cases = enough(facts["n_needed"], f"held-out {about.held_out}")
        text += f" About {cases} would decide if mean and spread stay as they are."
    return text


def _why_silent(shown: NDArray, share: float, pair: Pair) -> str:
    """Why nothing is said about the mean of these differences."""
    n = len(shown)
    if pair.failed:
        return "every training run of both failed"
    if np.isinf(shown).any():
        return "a training run failed and counts as infinitely bad"
    if n == 1:
        reason = "there is one difference only"
    elif np.ptp(shown) == 0:
        reason = f"all {n:,} differences are {number(shown[0])}, which shows no spread to judge by"
    else:
        reason = (
            f"one of {n:,} differences holds {percent(share, 'down', HEAVY_SHARE)} of the sum of "
            f"squares, more than {percent(HEAVY_SHARE)}"
        )
    if n < ENOUGH_CASES:
        reason += f", and about {ENOUGH_CASES} {plural(pair.about.held_out)} or more are needed"
    return reason
