"""What loss to expect, in plain sentences (docs/method.md, section 6).

A guaranteed sentence quotes trial 0, fixed beforehand; averages over trials are typical values and
only approximate. Functions that end in ``_of`` take plain arrays; the others read results.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, check_side, exact_alpha
from cpp_core.method.ranks import as_stored, conformal_ranks, scores_needed
from cpp_core.method.symbols import CORRECT, FN, FP, OTHER
from cpp_core.trials.readings import NumericLosses, SymbolicLosses
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import (
    NO_BOUND,
    About,
    End,
    about_results,
    check_scores,
    first_trial,
    is_stored,
)
from cpp_core.verdicts.language import confidence, counted, number, ordinal, percent, with_unit
from cpp_core.verdicts.verdict import EXCHANGEABLE, Brief, Verdict

SYMBOL_WORDS = {
    CORRECT: "correct",
    FP: "a false positive",
    FN: "a false negative",
    OTHER: "another error",
}

TYPICAL_FACTS = (
    *("lower_mean", "upper_mean", "lower_median", "upper_median"),
    *("lower_infinite", "upper_infinite", "width_mean", "test_coverage_mean"),
)

# The bound on the next loss


def bound_of(losses: Any, alpha: Level, about: About, label: str, side: str = "upper") -> Verdict:
    """The bound on the next loss, from losses (k,) or (k, b) as shown: guaranteed.

    One-sided, or the interval of two sides.
    """
    scores = check_scores(losses)
    (lo, hi), found = about.set_from(scores, alpha, side)
    rule = f"(1 - alpha)) with k = {len(scores):,}"
    if scores.ndim == 2:
        rule = f" b (1 - alpha)) for k = {len(scores):,} groups of b = {scores.shape[1]:,}"
    level = f"alpha = {number(float(exact_alpha(alpha)))}"
    of = f"of the {scores.size:,} calibration losses of {about.source}"
    why = f"The bound is the {ordinal(hi)} {about.order} {of}: rank ceil((k + 1){rule} and {level}."
    if side == "two-sided":
        why = f"The ends are the {ordinal(lo)} and the {ordinal(hi)} {about.order} {of} ({level})."
    return bound_verdict(len(scores), found, why, alpha, about, label, side=side)


def bound_verdict(
    k: int,
    found: tuple[float, float],
    why: str,
    alpha: Level,
    about: About,
    label: str,
    at_case: bool = False,
    side: str = "upper",
) -> Verdict:
    """The sentence on a set that k scores gave, with all the ways in which it says nothing."""
    needed = scores_needed(alpha, "upper" if at_case else side)
    lower, upper = found
    end = lower if about.greater_is_better else upper
    if k < needed:
        outcome = "too little data"
        text, brief = _too_few(needed - k, alpha, about, label)
        why = (
            f"At {confidence(alpha, 'up')} confidence a bound needs k of at least "
            f"{1 if side == 'upper' else 2}/alpha - 1 = {needed:,} calibration scores; "
            f"{about.source} has {k:,}."
        )
    else:
        outcome, text, brief = _told(found, alpha, about, label, at_case, side)
    facts = about.facts(alpha, k, algorithm=label, bound=end, quoted=about.end(end))
    facts |= {"outcome": outcome, "k_needed": needed, "lower": lower, "upper": upper, "side": side}
    facts["at_case"] = at_case
    why += about.separately(alpha)
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why, brief)


def _trivial(about: About) -> str:
    """No bound, in words."""
    if np.isfinite(about.worst):
        return f"no bound {about.edge} of its range, {about.end(about.worst)},"
    return NO_BOUND


def _too_few(missing: int, alpha: Level, about: About, label: str) -> tuple[str, Brief]:
    """What is said where there are not enough scores for a bound."""
    subject, more = f"the {about.loss} of {about.of(label)}", about.more(missing)
    refused = confidence(alpha, "up")
    text = (
        f"{about.lead(label)}, {subject} has {_trivial(about)} with {refused} "
        f"confidence: {more} would give one."
    )
    return text, Brief(label, "no bound yet", f": {about.missing(missing)} would give one", "open")


def _told(
    found: tuple[float, float], alpha: Level, about: About, label: str, at_case: bool, side: str
) -> tuple[str, str, Brief]:
    """The outcome of enough scores, in a sentence and in brief."""
    (lower, upper), one_sided, refused = found, side == "upper", confidence(alpha, "up")
    end = lower if about.greater_is_better else upper
    subject, lead = f"the {about.loss} of {about.of(label)}", f"{about.lead(label)}, "
    if at_case:
        lead += "the bound depends on the case: at the one random test case of trial 0 "
    if lower > upper:
        text = f"{lead}the set for {subject} is empty, which counts as a miss."
        brief = Brief(label, "moves with the case", ": at one random case the set is empty")
        return "empty", text, brief
    if np.isinf(end):
        failed = ": training failed or diverged too often"
        text = f"{lead}{subject} has no finite bound with {refused} confidence{failed}, which "
        return (
            "failed",
            f"{text}counts as infinitely bad.",
            Brief(label, NO_BOUND, failed, "no"),
        )
    if is_stored(end, about.worst) and (one_sided or is_stored(lower + upper - end, about.best)):
        below, _, top = about.edge.split()
        brief = Brief(
            label, f"no bound {below} {about.end(about.worst)}", f", the {top} of its range", "no"
        )
        return "top", f"{lead}{subject} has {_trivial(about)} with {refused} confidence.", brief
    chance = f"with probability at least {confidence(alpha)}, {about.together}"
    phrase = f"{about.bound(end)}{' (no error)' if about.no_error(end) else ''}"
    phrase = phrase if one_sided else about.between(lower, upper)
    if at_case:
        brief = Brief(label, "moves with the case", f": {phrase} at one random case")
        return "bound", f"{lead}{subject} is {phrase}. Such bounds hold {chance}.", brief
    return "bound", f"{lead}{subject} is {phrase} {chance}.", Brief(label, phrase, about.on_next)


def _troubles(results: Results, algorithm: str, row: int) -> str:
    """What went wrong in a trial, in words."""
    arrays, words = results.arrays[algorithm], ""
    failed = int(arrays["failed"][row])
    undefined = int(arrays["undefined"][row]) if "undefined" in arrays else 0
    if failed:
        words += (
            f" {counted(failed, 'training run')} of trial 0 raised an error and "
            f"{'counts' if failed == 1 else 'count'} with the worst loss."
        )
    if undefined:
        words += (
            f" On {counted(undefined, 'batch')} of trial 0 the metric was undefined and "
            f"{'counts' if undefined == 1 else 'count'} as the worst value."
        )
    return words


def expected_loss(
    results: Results, algorithm: str, alpha: Level = 0.1, side: str = "upper"
) -> Verdict:
    """What loss to expect: the bound of trial 0, on the bad side or on both, guaranteed.

    Of this trained candidate, of the algorithm retrained on m cases, at the trial's one random test
    case where sets move with it, on the next batch, or the kinds of error that are left.
    """
    reader, row = results.reader(algorithm), first_trial(results)
    about, label = about_results(results), ALGORITHMS[algorithm].label
    if isinstance(reader, SymbolicLosses):
        return _symbol_verdict(reader, row, label, alpha, about)
    if reader.modulated:
        verdict = _case_verdict(reader, row, label, alpha, about, side)
    else:
        verdict = bound_of(reader.arrays["calibration"][row], alpha, about, label, side)
    return replace(verdict, why=verdict.why + _troubles(results, algorithm, row))


def _case_verdict(
    reader: NumericLosses, row: int, label: str, alpha: Level, about: About, side: str
) -> Verdict:
    read = reader.read(alpha, side)
    lower, upper = about.turned(read.lower[row], read.upper[row])
    if side == "upper":
        # A bound below the range is the empty set; the least possible loss is a valid, wider one.
        lower, upper = reader.low, max(upper, reader.low)
    found = about.turned(*as_stored(lower, upper, reader.test.dtype))
    hi = reader.ranks(alpha, side)[1]
    why = (
        f"The predicted loss at the case is moved by the {ordinal(hi)} smallest of the "
        f"{reader.k:,} calibration scores of trial 0: rank ceil((k + 1)(1 - alpha)) with "
        f"k = {reader.k:,} and alpha = {number(float(exact_alpha(alpha)))}."
    )
    return bound_verdict(reader.k, found, why, alpha, about, label, at_case=True, side=side)


def _symbol_verdict(
    reader: SymbolicLosses, row: int, label: str, alpha: Level, about: About
) -> Verdict:
    sets, k, needed = reader.sets(alpha)[row], reader.k, scores_needed(alpha, "upper")
    held = sets[0]
    kinds = [symbol for symbol, kept in zip(reader.symbols, held, strict=True) if kept]
    if k < needed:
        outcome, more = "too little data", f": {about.more(needed - k)} would allow it"
        text = (
            f"{about.lead(label)}, no kind of error of {about.of(label)} that the label allows "
            f"can be ruled out with {confidence(alpha, 'up')} confidence{more}."
        )
        rest = f": {about.missing(needed - k)} would allow it"
        brief = Brief(label, "no kind of error that the label allows is ruled out", rest, "open")
        why = (
            f"A smaller set needs k of at least 1/alpha - 1 = {needed:,} calibration scores; trial "
            f"0 has {k:,}."
        )
    else:
        outcome = "set"
        words = [SYMBOL_WORDS[kind] for kind in kinds]
        left = words[0] if len(words) == 1 else f"one of: {', '.join(words)}"
        text = (
            f"{about.lead(label)}, the kinds of answer that are left depend on the case: at the "
            f"one random test case of trial 0 the answer of {about.of(label)} is {left}. Such sets "
            f"hold what happens with probability at least {confidence(alpha)}, {about.together}."
        )
        hi = conformal_ranks(k, alpha, "upper")[1]
        why = (
            f"A kind of answer is kept when it is likely enough by the {ordinal(hi)} smallest of "
            f"the {k:,} calibration scores of trial 0 (alpha = "
            f"{number(float(exact_alpha(alpha)))})."
        )
        alone = sets[:, reader.symbols.index(CORRECT)] & (sets.sum(axis=1) == 1)
        seen = f"{int(alone.sum()):,} of {counted(len(sets), 'test case')}"
        brief = Brief(label, f"only {SYMBOL_WORDS[CORRECT]!r} is left", f"at {seen} of this split")
    facts = about.facts(alpha, k, algorithm=label, symbols=kinds, outcome=outcome, k_needed=needed)
    why += about.separately(alpha)
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why, brief)


# Typical values over trials


def typical(results: Results, algorithm: str, alpha: Level = 0.1, side: str = "upper") -> Verdict:
    """The median of the ends over the trials, approximate, and how many of them are infinite."""
    check_side(side)
    reader, about = results.reader(algorithm), about_results(results)
    label = ALGORITHMS[algorithm].label
    found, n = results.summary(alpha, side)[algorithm], len(results.trials)
    over = f"Typical over {counted(n, 'trial')}"
    level = confidence(alpha)
    inside = "of the test losses lie inside"
    if found["k"] < found["k_needed"]:
        more = about.more(found["k_needed"] - found["k"])
        refused = confidence(alpha, "up")
        what = f"too little data for a {refused} set for {label}, {more} would give one"
        inside, lead = "", "no bound yet"
    elif isinstance(reader, SymbolicLosses):
        inside = "of what happened lies inside"
        size = number(found["width_mean"])
        kinds = f"{size} {'kind' if size == '1' else 'kinds'} of answer"
        lead = f"{kinds} in a set"
        what = f"the {level} sets of {label} hold {kinds} on average"
    else:
        what = _typical_ends(found, n, level, side, about, label)
        lead = about.bound(found[f"{about.bad_end}_median"])
        if side == "two-sided":
            lead = about.between(found["lower_median"], found["upper_median"])
        if reader.modulated:
            what += ", each at its own random test case"
    text = f"{over}: {what}"
    text += f"; {percent(found['test_coverage_mean'])} {inside}." if inside else "."
    simulated = results.experiment.data.size is None
    lean = "fresh simulated data in each trial" if simulated else "re-splits of one table"
    why = (
        f"Medians of ends and means of shares over {counted(n, 'trial')} of seed {results.seed}, "
        f"which describe {lean}. A typical bound carries no promise of its own; that of trial 0 "
        "does."
    )
    facts = about.facts(alpha, found["k"], algorithm=label, trials=n, side=side)
    facts |= {name: found[name] for name in TYPICAL_FACTS}
    covered = f", {percent(found['test_coverage_mean'])} {inside}" if inside else ""
    brief = Brief(label, lead, f"in the median of {counted(n, 'trial')}{covered}")
    return Verdict(text, "approximate", lean, facts, why, brief)


def _typical_ends(
    found: Mapping[str, Any], n: int, level: str, side: str, about: About, label: str
) -> str:
    names = about.ends(side)
    infinite = max(found[f"{name}_infinite"] for name in names)
    shown = [_typical_end(found[f"{name}_median"], name, about) for name in names]
    what = f"the {level} bound on the {about.loss} of {label} is {shown[0]}"
    if len(shown) == 2:
        what = f"the ends of the {level} interval for the {about.loss} of {label} are "
        what += f"{shown[0]} and {shown[1]}"
    more = f", {infinite:,} of {n:,} being infinite" if infinite else ""
    return f"{what} in the median{more}"


def _typical_end(end: float, name: End, about: About) -> str:
    """The median of an end over the trials, which is one of them, rounded outwards like a bound."""
    return "infinite" if np.isinf(end) else with_unit(about.rounded(name, end), about.unit)
