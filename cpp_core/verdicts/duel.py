"""Two competitors in a title and a line: who will be better on the next case, who wins how often.

Both are read from the verdicts on trial 0, so that a picture says what the sentence beside it says.
"""

from dataclasses import dataclass
from typing import Any

from cpp_core.checks import Level, exact_alpha
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About, about_results
from cpp_core.verdicts.language import confidence, counted, percent
from cpp_core.verdicts.pairs import judged

ONE_CASE = "the one random test case of trial 0"


@dataclass(frozen=True)
class Duel:
    """The facts of two verdicts on a pair: on the next case at alpha, and on wins at half of it.

    Both are over the number of pairs; half of alpha is what the decision has for wins.
    """

    next: dict[str, Any]
    wins: dict[str, Any]
    about: About
    level: str  # the confidence of what is said of the next case


def duel(results: Results, first: str, second: str, alpha: Level) -> Duel:
    """What the verdicts on trial 0 say of a pair."""
    about = about_results(results)
    next_ = judged(results, first, second, alpha, "next case").facts
    wins = judged(results, first, second, exact_alpha(alpha) / 2, "wins").facts
    return Duel(next_, wins, about, confidence(about.each_pair(alpha)))


def duel_title(found: Duel) -> str:
    """Who is better on the next case, where its verdict says so; else who is more often."""
    next_, about = found.next, found.about
    one, two, outcome = next_["first"], next_["second"], next_["outcome"]
    will = "is" if next_["at_case"] else "will be"
    decided = {
        "first better": f"{one} {will} better than {two}",
        "second better": f"{two} {will} better than {one}",
        "first not worse": f"{one} {will} not worse than {two}",
        "second not worse": f"{two} {will} not worse than {one}",
        "equal": f"{one} {will} exactly as good as {two}",
    }
    if outcome in decided:
        at_case = f"at {ONE_CASE}, by a rule that holds"
        where = at_case if next_["at_case"] else f"on the next {about.new},"
        return f"{decided[outcome]} {where} with {found.level} confidence"
    either = f"at {ONE_CASE} it may go either way"
    open_ = {
        "either": either if next_["at_case"] else "the next may go either way",
        "too little data": "too little data to tell of the next",
        "empty": f"at {ONE_CASE} the set is empty",
    }
    return f"{_ahead(found)}; {open_[outcome]}"


def _ahead(found: Duel) -> str:
    """Who is better more often so far."""
    wins = found.wins
    of = counted(wins["k"], f"held-out {found.about.held_out}")
    if wins["wins"] == wins["losses"]:
        return f"Neither is better more often: {wins['wins']:,} of {of} each"
    leader = wins["first"] if wins["wins"] > wins["losses"] else wins["second"]
    return f"{leader} is better at {max(wins['wins'], wins['losses']):,} of {of}"


def wins_words(found: Duel) -> str:
    """Which share the one who is ahead wins, with the interval of its verdict."""
    wins = found.wins
    n, differing, level = wins["k"], wins["differing"], confidence(wins["alpha"])
    noun = f"held-out {found.about.held_out}"
    held_out = f"{counted(n, noun)} of trial 0"
    if not differing:
        alike = "failed" if wins["outcome"] == "both failed" else "are equal"
        of = f"the one {noun} of trial 0" if n == 1 else f"all of {held_out}"
        return f"The two {alike} at {of}"
    leader, share = wins["first"], wins["wins"] / differing
    low, high = wins["lower"], wins["upper"]
    if share < 0.5:  # told of who is ahead, as in the decision
        leader, share, low, high = wins["second"], 1 - share, 1 - high, 1 - low
    who = "Each" if share == 0.5 else leader
    ends = f"{percent(low, 'down', 0.5)} to {percent(high, 'up', 0.5)}"
    whole = "all" if differing == n else f"{differing:,} of the"
    some = f"{percent(share, against=0.5)} of {whole} {held_out}"
    if differing == 1:
        some = f"the one of {held_out}" if n > 1 else f"the one {noun} of trial 0"
    where = " where they differ" if differing < n else ""
    return f"{who} wins {some}{where} (exact {level} interval {ends})"
