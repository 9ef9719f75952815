"""Comparisons of the algorithms of results: two of them, or all pairs jointly.

What may be said of them is in docs/method.md, section 6.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, exact_alpha
from cpp_core.method.ranks import as_stored
from cpp_core.trials.results import NumericLosses, Results
from cpp_core.verdicts.about import About, Verdict, about_results, check_numeric, first_trial
from cpp_core.verdicts.comparisons import (
    DifferenceSet,
    Pair,
    mean_of,
    next_difference_of,
    next_verdict,
    wins_of,
)
from cpp_core.verdicts.language import (
    confidence,
    counted,
    listed,
    number,
    ordinal,
    plural,
    sentence,
)

Aspect = Literal["next case", "wins", "average"]
"""What a pair is judged by."""


def _pair(results: Results, first: str, second: str, joint: bool) -> tuple[NumericLosses, Pair]:
    check_numeric(results, "difference")
    reader, about = results.paired_reader(first, second), about_results(results)
    labels = ALGORITHMS[first].label, ALGORITHMS[second].label
    return reader, Pair(*labels, replace(about, joint=joint))


def held_out_differences(results: Results, reader: NumericLosses) -> NDArray:
    """Independent differences of trial 0, as shown: (n,), or (n, b) for grouped evaluations.

    For a candidate all its held-out cases, calibration and test, given the two trained models; for
    an algorithm its k calibration groups.
    """
    row = first_trial(results)
    calibration = reader.sign * reader.calibration[row]
    if results.experiment.algorithmic:
        return calibration
    return np.concatenate([calibration, reader.shown_test[row]])


def next_case(
    results: Results, first: str, second: str, alpha: Level = 0.1, joint: bool = False
) -> Verdict:
    """Which is better on the next case: the paired difference interval of trial 0, guaranteed.

    ``joint`` says that alpha has been divided by the number of pairs, here and below.
    """
    reader, pair = _pair(results, first, second, joint)
    row = first_trial(results)
    if not reader.modulated:
        return next_difference_of(reader.sign * reader.calibration[row], alpha, pair)
    read = reader.read(alpha, "two-sided")
    hi = reader.ranks(alpha, "two-sided")[1]
    ends = as_stored(*sorted_ends(read.lower[row], read.upper[row], pair.about))
    needed = results.k_needed(alpha)
    rank = (
        f"The predicted ends at the case are widened by the {ordinal(hi)} smallest of the "
        f"{reader.k} calibration scores of trial 0"
        if reader.k >= needed
        else f"A finite set needs {counted(needed, 'score')}, trial 0 has {reader.k}"
    )
    return next_verdict(DifferenceSet(reader.k, needed, *ends, rank, at_case=True), alpha, pair)


def sorted_ends(lower: Any, upper: Any, about: About) -> tuple[float, float]:
    """Shown ends as ends with smaller better; an empty set stays empty."""
    return (-upper, -lower) if about.greater_is_better else (lower, upper)


def share_of_wins(
    results: Results, first: str, second: str, alpha: Level = 0.1, joint: bool = False
) -> Verdict:
    """How often the first is better: wins and ties of trial 0, exact, guaranteed (iid)."""
    reader, pair = _pair(results, first, second, joint)
    return wins_of(held_out_differences(results, reader), alpha, pair)


def better_on_average(
    results: Results,
    first: str,
    second: str,
    alpha: Level = 0.1,
    margin: float | None = None,
    joint: bool = False,
) -> Verdict:
    """Which is better on average, from one trial's held-out cases or groups: approximate.

    Never a test over trials: re-splits of one table are not independent.
    """
    reader, pair = _pair(results, first, second, joint)
    return mean_of(held_out_differences(results, reader), alpha, pair, margin)


ASPECTS: dict[Aspect, Callable[..., Verdict]] = {
    "next case": next_case,
    "wins": share_of_wins,
    "average": better_on_average,
}
"""By what pairs are judged, with what judges a pair of results."""


def judged(
    results: Results,
    first: str,
    second: str,
    alpha: Level,
    aspect: Aspect,
    margin: float | None = None,
) -> Verdict:
    """One pair by one aspect, at alpha over the number of pairs: jointly with all others."""
    if aspect not in ASPECTS:
        raise ValueError(f"aspect must be one of {', '.join(ASPECTS)}, but {aspect!r} was given.")
    each = about_results(results).each_pair(alpha)
    more = {"margin": margin} if aspect == "average" else {}
    return ASPECTS[aspect](results, first, second, each, joint=True, **more)


@dataclass(frozen=True)
class AllPairs:
    """A verdict for every pair, each at alpha over the number of pairs, and one for all."""

    pairs: tuple[Verdict, ...]
    summary: Verdict


def all_pairs(
    results: Results, alpha: Level = 0.1, aspect: Aspect = "next case", margin: float | None = None
) -> AllPairs:
    """All pairs at alpha over their number, so that the statements hold jointly."""
    check_numeric(results, "difference")
    names = list(combinations(results.algorithms, 2))
    if not names:
        raise ValueError("One algorithm alone has no rival; pick at least two to compare.")
    verdicts = [judged(results, a, b, alpha, aspect, margin) for a, b in names]
    return AllPairs(tuple(verdicts), summary_of(verdicts, alpha, about_results(results), aspect))


def _decided(facts: dict[str, Any]) -> tuple[str, str] | None:
    """Who is better than whom by a verdict on a pair, if it says so."""
    first, second, outcome = facts["first"], facts["second"], facts["outcome"]
    if outcome in ("first better", "first better on average", "most"):
        return first, second
    # Each of the two shares exceeds one half falsely at most half of alpha of the time.
    if outcome in ("second better", "second better on average") or facts.get("second_on_most"):
        return second, first
    return None


def summary_of(verdicts: list[Verdict], alpha: Level, about: About, aspect: Aspect) -> Verdict:
    """One sentence for all pairs, from verdicts that were each made at alpha over their number."""
    n, facts = len(verdicts), [verdict.facts for verdict in verdicts]
    beaten: dict[str, list[str]] = {}
    open_pairs = equal = 0
    for found in facts:
        decided = _decided(found)
        if decided is not None:
            beaten.setdefault(decided[0], []).append(decided[1])
        elif found["outcome"] == "practically equal":
            equal += 1
        else:
            open_pairs += 1
    K = about.n_algorithms
    at_case = facts[0].get("at_case", False)
    what = {
        "next case": "at the one random test case of trial 0"
        if at_case
        else f"on the next {about.new}",
        "wins": f"on most new {plural(about.new)}",
        "average": "on average",
    }[aspect]
    parts = []
    for better, others in beaten.items():
        all_others = len(others) == K - 1 > 1
        rivals = f"each of the {K - 1} others" if all_others else listed(others)
        parts.append(f"{better} is better than {rivals}")
    if equal:
        parts.append(f"{counted(equal, 'pair')} {'is' if equal == 1 else 'are'} practically equal")
    if open_pairs:
        undecided = "is" if open_pairs == 1 else "are"
        parts.append(f"{counted(open_pairs, 'pair')} {undecided} not decided by this data")
    short = [found for found in facts if found["outcome"] == "too little data"]
    if short:
        more = short[0]["k_needed"] - short[0]["k"]
        parts[-1] += f"; {about.more(more)} would give finite intervals"
    kind = "approximately " if aspect == "average" else ""
    by = "by rules that hold " if at_case else ""
    jointly = "for the pair" if n == 1 else f"for all {n} pairs jointly"
    level = f"{kind}{confidence(alpha)}"
    text = f"{sentence(what)}, {by}{jointly} with {level} confidence: {'; '.join(parts)}."
    why = (
        f"Each of {counted(n, 'pair')} was judged at alpha / {n} = "
        f"{number(float(exact_alpha(alpha) / n))}, so that all statements hold together with the "
        "stated confidence, the one on whichever algorithm looks best included."
    )
    first = verdicts[0]
    listed_facts = {"n_pairs": n, "better": beaten, "equal": equal, "not_decided": open_pairs}
    return Verdict(
        text,
        first.badge,
        first.assumptions,
        about.facts(alpha, first.facts["k"], **listed_facts),
        why,
    )
