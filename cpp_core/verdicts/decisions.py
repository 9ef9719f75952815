"""Shown, not shown, or too little data: decision rules with a finite-sample guarantee.

*Shown* is said wrongly, jointly over the data and the new cases, with probability at most alpha.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from cpp_core.checks import Level, check_count, exact_alpha, to_fraction
from cpp_core.method.counts import batch_errors
from cpp_core.method.ranks import as_limit, check_losses, scores_needed
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import EXCHANGEABLE, About, Verdict
from cpp_core.verdicts.bounds import independent_losses
from cpp_core.verdicts.language import clause, confidence, counted, number, ordinal, with_unit

Outcome = Literal["shown", "not shown", "too little data"]


@dataclass(frozen=True)
class Decision(Verdict):
    """A verdict with its outcome: shown, not shown or too little data."""

    outcome: Outcome


def loss_at_most(
    losses: ArrayLike, t: float, alpha: Level = 0.1, low: float = -math.inf, high: float = math.inf
) -> Decision:
    """Is the loss at most t on the next case? By the one-sided conformal bound.

    Shown when the bound at alpha is at most t; too little data when there are fewer than
    1/alpha - 1 losses, unless no loss can exceed t.

    >>> loss_at_most([0.1, 0.2, 0.3], 0.5, alpha=0.25).outcome
    'shown'
    """
    checked = check_losses(losses, low, high)
    return decision_of(checked, t, alpha, About(low=low, high=high), "model")


def decide(results: Results, algorithm: str, threshold: float, alpha: Level = 0.1) -> Decision:
    """Is the next loss at most the threshold (a greater-is-better metric: at least)? Trial 0."""
    losses, about, label = independent_losses(results, algorithm)
    return decision_of(losses, threshold, alpha, about, label)


def decision_of(shown: NDArray, t: float, alpha: Level, about: About, label: str) -> Decision:
    """The same for losses (k,) as shown, with all the ways in which it is open."""
    if not math.isfinite(t):
        raise ValueError(f"The threshold must be a number, but {t!r} was given.")
    (hi, end), level = about.bound_from(shown, alpha), confidence(alpha)
    k, needed = len(shown), scores_needed(alpha, "upper")
    limit = as_limit(t, shown.dtype, about.sign)
    claim = (
        f"{clause(about.lead(label))}, the {about.loss} of {about.of(label)} is {about.at_most} "
    )
    claim += with_unit(number(t, digits=17), about.unit)
    why = (
        f"The bound is the {ordinal(hi)} {about.order} of {counted(k, 'calibration score')} of "
        f"{about.source}."
    )
    outcome: Outcome
    if about.sign * limit >= about.sign * shown.dtype.type(about.worst):
        outcome = "shown"
        text = f"Shown: {claim}: {about.range_end}."
        why = "No value of this loss lies beyond the threshold."
    elif k < needed:
        outcome = "too little data"
        text = f"Too little data to show that {claim} with {level} confidence: "
        text += f"{about.more(needed - k)} would allow it."
        why = f"At this confidence a bound needs {counted(needed, 'score')}; "
        why += f"{about.source} has {k}."
    elif about.sign * end <= about.sign * limit:
        outcome = "shown"
        text = f"Shown: {claim} with probability at least {level}, {about.together}; the bound is "
        text += f"{about.end(end, t)}."
    else:
        outcome = "not shown"
        bound = about.end(end, t) if math.isfinite(end) else "not finite"
        text = f"Not shown with {level} confidence: {claim}; the bound is {bound}."
    facts = about.facts(alpha, k, algorithm=label, threshold=t, bound=end)
    facts |= {"outcome": outcome, "k_needed": needed}
    return Decision(text, "guaranteed", EXCHANGEABLE, facts, why, outcome)


def error_rate_at_most(
    k: int, errors: int, batch_size: int, rate: Level, alpha: Level = 0.1
) -> Decision:
    """Is the error rate at most ``rate`` on the next ``batch_size`` cases? By the exact batch rule.

    The errors among the next cases are a hypergeometric share of all errors (docs/method.md,
    section 7); the batch size is fixed beforehand. Too little data when not even k
    cases without an error would do.

    >>> [error_rate_at_most(200, 10, 100, rate).outcome for rate in (0.1, 0.05)]
    ['shown', 'not shown']
    """
    most = batch_errors(k, errors, batch_size, alpha, side="upper")[1]
    exact, level = _rate(rate), confidence(alpha)
    allowed = math.floor(exact * batch_size)
    asked = {"batch_size": batch_size, "rate": float(exact)}
    facts = About().facts(alpha, k, errors=errors, **asked, most=most)
    seen = f"{counted(errors, 'error')} among {counted(k, 'checked case')}"
    cases = "case" if batch_size == 1 else counted(batch_size, "case")
    at = f"{number(float(exact * 100), digits=17)} % ({counted(allowed, 'error')})"
    claim = f"the error rate on the next {cases} is at most {at}"
    outcome: Outcome
    if most <= allowed:
        outcome = "shown"
        text = (
            f"Shown: {claim} with probability at least {level}, over the checked and the next "
            f"cases together; with {seen} there will be at most {most}."
        )
    elif batch_errors(k, 0, batch_size, alpha, side="upper")[1] > allowed:
        outcome = "too little data"
        facts["k_needed"] = needed = _clean_cases(batch_size, allowed, alpha, k)
        text = (
            f"Too little data to show with {level} confidence that {claim}: "
            f"{counted(needed, 'case')} without an error would do, "
            f"{'a single one' if k == 1 else k} cannot."
        )
    else:
        outcome = "not shown"
        facts["errors_allowed"] = fewer = _last(
            lambda e: batch_errors(k, e, batch_size, alpha, "upper")[1] <= allowed, errors
        )
        text = (
            f"Not shown with {level} confidence that {claim}: with {seen} there may be {most}; at "
            f"most {counted(fewer, 'error')} among the {k} would have shown it."
        )
    why = (
        f"{most} is the largest number x of errors that {seen} leave possible: the tail of "
        f"Hypergeometric({k} + {batch_size}, {errors} + x, {batch_size}) at x exceeds alpha = "
        f"{number(float(exact_alpha(alpha)))}. The batch size is fixed beforehand."
    )
    facts["outcome"] = outcome
    return Decision(text, "guaranteed", EXCHANGEABLE, facts, why, outcome)


def decide_error_rate(
    results: Results, algorithm: str, batch_size: int, rate: Level, alpha: Level = 0.1
) -> Decision:
    """Is a candidate's error rate at most ``rate`` on the next cases? From trial 0's errors."""
    experiment = results.experiment
    if not experiment.measure.errors or experiment.algorithmic:
        raise ValueError(
            "The exact rule for error rates counts the errors of one trained model: choose the "
            f"zero-one loss and the variant candidate, not {experiment.measure.name} and "
            f"{experiment.variant}."
        )
    losses, about, label = independent_losses(results, algorithm)
    found = error_rate_of(losses, batch_size, rate, alpha, about, label)
    return replace(found, text=f"{label}: {found.text}")


def error_rate_of(
    losses: NDArray, batch_size: int, rate: Level, alpha: Level, about: About, label: str
) -> Decision:
    """The same for losses (k,) that are 1 for an error and 0 for a correct answer."""
    found = error_rate_at_most(len(losses), int(losses.sum()), batch_size, rate, alpha)
    facts = found.facts | {"algorithm": label, "n_algorithms": about.n_algorithms}
    return replace(found, facts=facts)


def _rate(rate: Level) -> Any:
    exact = to_fraction(rate, "rate")
    if not 0 <= exact <= 1:
        hint = f"; write {float(exact / 100):g} for {float(exact):g} %" if 1 < exact <= 100 else ""
        raise ValueError(f"The rate must lie between 0 and 1, but {rate!r} was given{hint}.")
    return exact


def _last(holds: Any, stop: int) -> int:
    """The last of 0..stop - 1 at which a condition holds that holds at 0 and turns false once."""
    start = 0
    while stop - start > 1:
        middle = (start + stop) // 2
        start, stop = (middle, stop) if holds(middle) else (start, middle)
    return start


def _clean_cases(batch_size: int, allowed: int, alpha: Level, k: int) -> int:
    """How few cases without an error would show that at most ``allowed`` errors follow."""

    def short(n: int) -> bool:
        return batch_errors(check_count(n + k, "k"), 0, batch_size, alpha, "upper")[1] > allowed

    beyond = 1
    while short(beyond):
        beyond *= 2
    return k + _last(short, beyond) + 1
