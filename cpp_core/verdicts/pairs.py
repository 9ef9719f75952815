"""Comparisons of algorithms, or of columns of losses: two of them, or all pairs jointly.

What may be said of them is in docs/method.md, section 6.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.method.ranks import as_stored
from cpp_core.trials.readings import NumericLosses
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About, about_results, check_numeric, first_trial
from cpp_core.verdicts.averages import mean_of
from cpp_core.verdicts.comparisons import Pair, next_difference_of, next_verdict, wins_of
from cpp_core.verdicts.failing import always_failed
from cpp_core.verdicts.language import confidence, counted, listed, number, ordinal, plural
from cpp_core.verdicts.verdict import INDEPENDENT, Brief, Claim, Verdict

Aspect = Literal["next case", "wins", "average"]
"""What a pair is judged by."""

ASPECTS: dict[Aspect, Callable[[Any, Level, Pair], Verdict]] = {
    "next case": next_difference_of,
    "wins": wins_of,
    "average": mean_of,
}
"""By what pairs are judged, with what judges differences."""


def judged(
    results: Results,
    first: str,
    second: str,
    alpha: Level = 0.1,
    aspect: Aspect = "next case",
    margin: float | None = None,
) -> Verdict:
    """One pair by one aspect, from trial 0, at alpha over the number of pairs.

    On the next case, guaranteed; who wins more often, guaranteed (iid); or on average, guaranteed
    (iid) or approximate. For a candidate the last two count all its held-out cases, calibration and
    test, given the two trained models; for an algorithm its k calibration groups. Never a test over
    trials: re-splits of one table are not independent.
    """
    if aspect not in ASPECTS:
        raise ValueError(f"aspect must be one of {', '.join(ASPECTS)}, but {aspect!r} was given.")
    check_numeric(results, "difference")
    reader, row = results.paired_reader(first, second), first_trial(results)
    labels = ALGORITHMS[first].label, ALGORITHMS[second].label
    failed = always_failed(results, first) and always_failed(results, second)
    pair = Pair(*labels, about_results(results), margin, failed)
    differences = reader.sign * reader.calibration[row]
    if aspect == "next case" and reader.modulated:
        return _at_case(reader, row, alpha, pair)
    if aspect != "next case" and not results.experiment.algorithmic:
        differences = np.concatenate([differences, reader.shown_test[row]])
    return ASPECTS[aspect](differences, alpha, pair)


def _at_case(reader: NumericLosses, row: int, alpha: Level, pair: Pair) -> Verdict:
    """Which is better at the trial's one random test case, where sets move with it."""
    each = pair.about.each_pair(alpha)
    read, hi = reader.read(each, "two-sided"), reader.ranks(each, "two-sided")[1]
    ends = as_stored(*pair.about.turned(read.lower[row], read.upper[row]), reader.test.dtype)
    rank = (
        f"The predicted ends at the case are widened by the {ordinal(hi)} smallest of the "
        f"{reader.k:,} calibration scores of trial 0"
    )
    return next_verdict(reader.k, ends, rank, alpha, pair, at_case=True)


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
    pairs = list(combinations(results.algorithms, 2))
    if not pairs:
        raise ValueError("One algorithm alone has no rival; pick at least two to compare.")
    verdicts = [judged(results, a, b, alpha, aspect, margin) for a, b in pairs]
    return AllPairs(tuple(verdicts), summary_of(verdicts, alpha, about_results(results), aspect))


def all_pairs_of(
    columns: Mapping[str, NDArray], alpha: Level, about: About, aspect: Aspect, margin: float | None
) -> AllPairs:
    """The same for two or more columns of losses on the same cases."""
    verdicts = [
        ASPECTS[aspect](columns[a] - columns[b], alpha, Pair(a, b, about, margin))
        for a, b in combinations(columns, 2)
    ]
    return AllPairs(tuple(verdicts), summary_of(verdicts, alpha, about, aspect))


def decided(facts: dict[str, Any]) -> tuple[str, str] | None:
    """Who is better than whom by a verdict on a pair, if it says so."""
    first, second, outcome = facts["first"], facts["second"], facts["outcome"]
    if outcome in ("first better", "first better on average", "first wins"):
        return first, second
    if outcome in ("second better", "second better on average", "second wins"):
        return second, first
    return None


def decided_title(facts: Sequence[dict[str, Any]]) -> str:
    """How many of the pairs are decided on the next case."""
    count = sum(decided(own) is not None for own in facts)
    return f"{count} of {counted(len(facts), 'difference')} on one side of zero"


def summary_of(verdicts: list[Verdict], alpha: Level, about: About, aspect: Aspect) -> Verdict:
    """One sentence for all pairs, from verdicts that were each made at alpha over their number."""
    n, facts = len(verdicts), [verdict.facts for verdict in verdicts]
    told = [pair for pair in map(decided, facts) if pair is not None]
    beaten: dict[str, list[str]] = {}
    for better, worse in told:
        beaten.setdefault(better, []).append(worse)
    equal = sum(own["outcome"] == "practically equal" for own in facts)
    open_pairs = n - len(told) - equal
    K, at_case = about.n_algorithms, facts[0].get("at_case", False)
    what = {
        "next case": f"On the next {about.new}",
        "wins": f"More often on new {plural(about.new)} that tell two apart",
        "average": "On average",
    }[aspect]
    what = "At the one random test case of trial 0" if at_case else what
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
    if facts[0]["outcome"] == "too little data":  # then all are
        more = about.more(facts[0]["k_needed"] - facts[0]["k"])
        parts[-1] += f"; {more} would give finite intervals"
    # What is claimed is as strong as its weakest part, which brings its condition along.
    unless = condition_of(facts)
    weak = aspect == "average" and bool(unless or not (told or equal))
    rules = "by rules that hold " if at_case else ""
    jointly = "for the pair" if n == 1 else f"for all {n} pairs jointly"
    level = f"{'approximately ' if weak else ''}{confidence(alpha)} confidence{unless}"
    text = f"{what}, {rules}{jointly} with {level}: {'; '.join(parts)}."
    why = (
        f"Each of {counted(n, 'pair')} was judged at alpha / {n} = "
        f"{number(facts[0]['alpha'])}, so that all statements hold together with the "
        "stated confidence, the one on whichever algorithm looks best included."
    )
    found = about.facts(alpha, facts[0]["k"], n_pairs=n, better=beaten, equal=equal)
    found |= {"not_decided": open_pairs, "strength": "approximate" if weak else "exact"}
    leans = next((v.assumptions for v in verdicts if "condition" in v.facts), INDEPENDENT)
    leans = verdicts[0].assumptions if aspect == "next case" else leans
    by = {"next case": f"on the next {about.new}", "wins": "by wins", "average": "on average"}
    more = f"; {equal:,} practically equal" if equal else ""
    claim: Claim = "yes" if told or equal else "open"
    lead = f"{len(told):,} of {counted(n, 'pair')} decided"
    if equal and not told:
        lead, more = f"{equal:,} of {counted(n, 'pair')} practically equal", ""
    brief = Brief("", lead, f"{by[aspect]}, all jointly{more}", claim)
    return Verdict(text, "approximate" if weak else "guaranteed", leans, found, why, brief)


def condition_of(facts: list[dict[str, Any]]) -> str:
    """The strictest condition of averages that are approximate, as the end of a clause."""
    near = [own for own in facts if "condition" in own]
    strictest = min(
        near, key=lambda own: (own["break_even"], own.get("break_even_loss", 0)), default=None
    )
    return f", {strictest['condition']}" if strictest else ""
