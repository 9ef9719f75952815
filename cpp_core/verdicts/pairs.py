"""Comparisons of the algorithms of results: two of them, or all pairs jointly (spec 6)."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, exact_alpha
from cpp_core.method.ranks import as_stored
from cpp_core.trials.results import NumericLosses, Results
from cpp_core.verdicts.about import About, Verdict, about_results, first_trial, numeric
from cpp_core.verdicts.comparisons import mean_of, next_difference_of, next_verdict, wins_of
from cpp_core.verdicts.language import (
    confidence,
    counted,
    listed,
    number,
    ordinal,
    plural,
    sentence,
)

Question = Literal["next case", "wins", "average"]


def _pair(results: Results, first: str, second: str) -> tuple[NumericLosses, int, str, str]:
    numeric(results, "difference")
    reader, row = results.paired_reader(first, second), first_trial(results)
    return reader, row, ALGORITHMS[first].label, ALGORITHMS[second].label


def held_out_differences(results: Results, first: str, second: str) -> NDArray:
    """Independent differences of trial 0, as shown: (n,), or (n, b) for grouped evaluations.

    For a candidate all its held-out cases, calibration and test, given the two trained models; for
    an algorithm its k calibration groups.
    """
    reader, row, *_ = _pair(results, first, second)
    calibration = reader.sign * reader.calibration[row]
    if results.experiment.algorithmic:
        return calibration
    return np.concatenate([calibration, reader.shown_test[row]])


def next_case(results: Results, first: str, second: str, alpha: Level = 0.1) -> Verdict:
    """Which is better on the next case: the paired difference interval of trial 0, guaranteed."""
    reader, row, a, b = _pair(results, first, second)
    words = about_results(results)
    if not reader.modulated:
        shown = reader.sign * reader.calibration[row]
        return next_difference_of(shown, alpha, words, a, b)
    read = reader.read(alpha, "two-sided")
    hi = reader.ranks(alpha, "two-sided")[1]
    ends = as_stored(*sorted_ends(read.lower[row], read.upper[row], words))
    needed = results.k_needed(alpha)
    rank = (
        f"The predicted ends at the case are widened by the {ordinal(hi)} smallest of the "
        f"{reader.k} calibration scores of trial 0"
        if reader.k >= needed
        else f"A finite set needs {counted(needed, 'score')}, trial 0 has {reader.k}"
    )
    return next_verdict(reader.k, needed, ends, rank, alpha, words, a, b, at_case=True)


def sorted_ends(lower: Any, upper: Any, about: About) -> tuple[float, float]:
    """Shown ends as ends with smaller better; an empty set stays empty."""
    return (-upper, -lower) if about.greater_is_better else (lower, upper)


def share_of_wins(results: Results, first: str, second: str, alpha: Level = 0.1) -> Verdict:
    """How often the first is better: wins and ties of trial 0, exact, guaranteed (iid)."""
    d = held_out_differences(results, first, second)
    return wins_of(
        d, alpha, about_results(results), ALGORITHMS[first].label, ALGORITHMS[second].label
    )


def better_on_average(
    results: Results, first: str, second: str, alpha: Level = 0.1, margin: float | None = None
) -> Verdict:
    """Which is better on average, from one trial's held-out cases or groups: approximate.

    Never a test over trials: re-splits of one table are not independent.
    """
    d = held_out_differences(results, first, second)
    a, b = ALGORITHMS[first].label, ALGORITHMS[second].label
    return mean_of(d, alpha, about_results(results), a, b, margin)


@dataclass(frozen=True)
class AllPairs:
    """A verdict for every pair, each at alpha over the number of pairs, and one for all."""

    pairs: tuple[Verdict, ...]
    summary: Verdict


def all_pairs(
    results: Results,
    alpha: Level = 0.1,
    question: Question = "next case",
    margin: float | None = None,
) -> AllPairs:
    """All pairs at alpha over their number, so that the statements hold jointly."""
    numeric(results, "difference")
    names = list(combinations(results.algorithms, 2))
    if not names:
        raise ValueError("One algorithm alone has no rival; pick at least two to compare.")
    each = exact_alpha(alpha) / len(names)
    if question == "next case":
        verdicts = [next_case(results, a, b, each) for a, b in names]
    elif question == "wins":
        verdicts = [share_of_wins(results, a, b, each) for a, b in names]
    elif question == "average":
        verdicts = [better_on_average(results, a, b, each, margin) for a, b in names]
    else:
        raise ValueError(
            f"question must be 'next case', 'wins' or 'average', but {question!r} was given."
        )
    about = about_results(results)
    verdicts = jointly(verdicts, about)
    return AllPairs(tuple(verdicts), summary_of(verdicts, alpha, about, question))


def jointly(verdicts: list[Verdict], about: About) -> list[Verdict]:
    """Verdicts on all pairs that were made at alpha over their number, and say so."""
    alone, n = about.of_pairs, len(verdicts)
    if not alone:
        return verdicts
    joint = f" Here alpha is divided by the {n} pairs, so that all statements hold jointly."
    return [replace(verdict, why=verdict.why.replace(alone, joint)) for verdict in verdicts]


def _decided(facts: dict[str, Any]) -> tuple[str, str] | None:
    """Who is better than whom by a verdict on a pair, if it says so."""
    first, second, outcome = facts["first"], facts["second"], facts["outcome"]
    if outcome in ("first better", "first better on average", "most"):
        return first, second
    # Each of the two shares exceeds one half falsely at most half of alpha of the time.
    if outcome in ("second better", "second better on average") or facts.get("second_on_most"):
        return second, first
    return None


def summary_of(verdicts: list[Verdict], alpha: Level, about: About, question: Question) -> Verdict:
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
    }[question]
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
    kind = "approximately " if question == "average" else ""
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
