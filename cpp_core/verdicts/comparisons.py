"""Which of two algorithms is better: on the next case, and how often.

Everything rests on the difference l(first) - l(second) on the same cases, never on two separate
intervals. Here and in ``averages`` are the functions of plain arrays of differences, as shown;
``pairs`` reads them from results. Each judges its pair at alpha over the number of pairs, so that
the statements on all of them hold jointly. What may be said of them is in docs/method.md, section
6.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from cpp_core.checks import Level, exact_alpha
from cpp_core.method.counts import share_interval
from cpp_core.method.ranks import ends, scores_needed
from cpp_core.verdicts.about import About, check_scores
from cpp_core.verdicts.language import (
    confidence,
    counted,
    number,
    ordinal,
    percent,
    plural,
    with_unit,
)
from cpp_core.verdicts.verdict import EXCHANGEABLE, INDEPENDENT, Brief, Claim, Verdict

EXACT_UP_TO = 200
"""Numbers of cases up to which the one that would do is searched for."""


def enough(n: int, noun: str) -> str:
    """About how many would decide, rounded up to two digits: no more is known of it.

    >>> enough(87, "case"), enough(985, "case"), enough(5521, "held-out group")
    ('87 cases', '990 cases', '5,600 held-out groups')
    """
    step = 10 ** max(len(str(n)) - 2, 0)
    return counted(-(-n // step) * step, noun)


def needed_words(n: int, noun: str) -> str:
    """How many cases would decide a pair, at the end of a line."""
    return f"; about {enough(n, noun)} would do"


@dataclass(frozen=True)
class Pair:
    """Two competitors by their labels, and what their losses are about.

    Averages that differ by less than the margin are practically equal. Where both ``failed`` in
    every training run, their worst losses make them equal in nothing.
    """

    first: str
    second: str
    about: About
    margin: float | None = None
    failed: bool = False

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


def _next_words(outcome: str, pair: Pair, tied: str) -> str:
    smaller = f"{'larger' if pair.about.greater_is_better else 'smaller'} {pair.about.loss}"
    return {
        "first better": f"so {pair.a} has the {smaller}",
        "second better": f"so {pair.b} has the {smaller}",
        "first not worse": f"so {pair.a} is not worse{tied}",
        "second not worse": f"so {pair.b} is not worse{tied}",
        "equal": "so they are equal",
        "either": "so it could go either way",
    }[outcome]


def _next_brief(outcome: str, pair: Pair, difference: str, tied: str) -> Brief:
    """The same in a few words; ties are told as ties."""
    new, first, second = pair.about.new, pair.first, pair.second
    rest = f"on the next {new}: {first} minus {second} {difference}"
    open_: Claim = "open"
    return {
        "first better": Brief(first, f"better than {second}", rest),
        "second better": Brief(second, f"better than {first}", rest),
        "first not worse": Brief(first, f"not worse than {second}", f"on the next {new}{tied}"),
        "second not worse": Brief(second, f"not worse than {first}", f"on the next {new}{tied}"),
        "equal": Brief("", f"{first} and {second} will tie", f"on the next {new}{tied}"),
        "either": Brief("", "either may be better", rest, open_),
        "empty": Brief("", "nothing can be said", f"of {first} and {second} at one case", open_),
    }[outcome]


def next_difference_of(differences: Any, alpha: Level, pair: Pair) -> Verdict:
    """Which is better on the next case, from k paired differences (k,) or (k, b): guaranteed."""
    about, range_ = pair.about, pair.about.difference
    d, each = about.sign * check_scores(differences), about.each_pair(alpha)
    lo, hi, lower, upper = ends(d, each, "two-sided", range_.low, range_.high)
    rank = (
        f"The ends are the {ordinal(lo)} and the {ordinal(hi)} smallest of the {d.size:,} "
        f"differences of {about.source}"
    )
    tied = int((d == 0).sum())
    of = f"{tied:,} of {counted(d.size, f'calibration {about.new}')}"
    ties = f"; they tie on {of}" if tied else ""
    return next_verdict(len(d), (lower, upper), rank, alpha, pair, ties=ties)


def next_verdict(
    k: int,
    found: tuple[float, float],
    rank: str,
    alpha: Level,
    pair: Pair,
    at_case: bool = False,
    ties: str = "",
) -> Verdict:
    """The sentence on who is better on the next case, with all the ways in which it is open.

    ``found`` is the set of the difference, smaller better, that k scores gave; ``rank`` tells how,
    ``ties`` on how many of them the two are equal.
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
            f"{confidence(each, 'up')} confidence: {about.more(needed - k)} would do."
        )
        brief = Brief("", "too little data", f": {about.missing(needed - k)} would do", "open")
        rank = f"{'A finite set needs' if at_case else 'Two finite ends need'} "
        rank += f"{counted(needed, 'score')}, {about.source} has {k:,}"
    elif outcome == "empty":
        text = (
            f"{lead}, the answer depends on the case: at the one random test case of trial 0 the "
            "set for the difference is empty, which counts as a miss, and nothing can be said."
        )
        brief = _next_brief(outcome, pair, "", "")
    else:
        difference = f"the {about.loss} of {pair.a} minus that of {pair.b} {between(about, *shown)}"
        words = _next_words(outcome, pair, ties)
        brief = _next_brief(outcome, pair, between(about, *shown), ties)
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
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why + about.of_pairs, brief)


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
    outcome = outcome if differing else "both failed" if pair.failed else "all equal"
    needed = _wins_needed(wins, differing, each) if outcome == "not decided" else None
    facts = pair.facts(each, n, wins=wins, ties=ties, losses=differing - wins, differing=differing)
    facts |= {"lower": low, "upper": high, "outcome": outcome, "strength": "exact"}
    if needed is not None:
        facts |= {"differing_needed": needed, "n_needed": math.ceil(needed * n / differing)}
    why = (
        f"Among the {differing:,} of {n:,} independent {plural(about.held_out)} on which the two "
        f"differ, wins are binomial; the ends are Clopper and Pearson's for {wins:,} of "
        f"{differing:,} (alpha = {number(float(each))}), a half is the line. Ties ({ties:,}) "
        "neither help nor hurt. The confidence is over the draw of the held-out cases."
    )
    why += about.of_pairs
    text, brief = _wins_text(facts, pair), _wins_brief(facts, pair)
    return Verdict(text, "guaranteed", INDEPENDENT, facts, why, brief)


def share_words(low: float, high: float) -> str:
    """Between which whole percentages a share lies, rounded outwards and never across a half.

    >>> share_words(0.5239, 0.5801), share_words(0.50004, 1.0)
    ('52 to 59 %', '50.004 to 100 %')
    """
    fewest, most = number(100 * low, "down", 50.0, 2), number(100 * high, "up", 50.0, 2)
    return f"{fewest} to {most} %"


def _wins_brief(facts: dict[str, Any], pair: Pair) -> Brief:
    """Who wins which share of new cases, of those that tell the two apart where some tie."""
    noun, n, ties, differing = pair.about.held_out, facts["k"], facts["ties"], facts["differing"]
    if not differing:
        rest = f"on all of {counted(n, f'held-out {noun}')}"
        alike = "both failed" if pair.failed else "are equal"
        return Brief("", f"{pair.first} and {pair.second} {alike}", rest, "open")
    equal = f"equal on {ties:,}" if ties else "never equal"
    ahead = facts["wins"] >= facts["losses"]
    leader, other = (pair.first, pair.second) if ahead else (pair.second, pair.first)
    most = max(facts["wins"], facts["losses"])
    where, differ = f"of {counted(differing, noun)}", " where they differ" if ties else ""
    new = "where they differ" if ties else f"of new {plural(pair.about.new)}"
    if facts["outcome"] == "not decided":
        needed = needed_words(facts["n_needed"], noun) if "n_needed" in facts else ""
        rest = f": {leader} is ahead of {other} on {most:,} {where}{differ}, {equal}{needed}"
        if facts["wins"] == facts["losses"]:
            rest = f": {leader} and {other} win {most:,} each {where}{differ}, {equal}"
        return Brief("", "not decided", rest, "open")
    share = facts["lower"], facts["upper"]
    low, high = share if ahead else (1 - share[1], 1 - share[0])
    rest = f"against {other}: {most:,} {where}, {equal}"
    return Brief(leader, f"wins {share_words(low, high)} {new}", rest)


def _wins_text(facts: dict[str, Any], pair: Pair) -> str:
    about, a, b = pair.about, pair.a, pair.b
    held_out, differing = counted(facts["k"], f"held-out {about.held_out}"), facts["differing"]
    retrained = "" if about.m is None else f", each retrained on {counted(about.m, 'case')},"
    if pair.failed:
        return f"On all of {held_out} {a} and {b}{retrained} failed: neither wins."
    if not differing:
        return f"On all of {held_out} {a} and {b}{retrained} are equal: neither wins."
    conclusion = {
        "first wins": f"so {pair.first} wins more often",
        "second wins": f"so {pair.second} wins more often",
        "not decided": "so who wins more often is not decided by this data",
    }[facts["outcome"]]
    if "differing_needed" in facts:
        such = enough(facts["differing_needed"], f"such {about.held_out}")
        conclusion += f" (about {such} would do if the share stays)"
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
    z = -float(special.ndtri(tail))
    # With so many cases the binomial is nearly normal.
    return max(math.ceil(z**2 * share * (1 - share) / (share - 0.5) ** 2), EXACT_UP_TO)
