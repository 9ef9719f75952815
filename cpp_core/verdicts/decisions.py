"""Shown, not shown, or too little data: decision rules with a finite-sample guarantee.

A limit on the loss is *shown* wrongly in at most delta of the data sets. A limit on the errors of
the next batch is claimed and missed, over the data and the batch together, at most alpha often.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from cpp_core.checks import DELTA, Level, check_count, exact_alpha, to_fraction
from cpp_core.method.counts import batch_errors, cases_needed, tolerance_rank
from cpp_core.method.ranks import check_losses
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About
from cpp_core.verdicts.language import (
    among_next,
    counted,
    in_full,
    next_of,
    number,
    percent,
    plural,
    typed,
    with_article,
    with_unit,
)
from cpp_core.verdicts.thresholds import beyond_limit, independent_losses
from cpp_core.verdicts.verdict import EXCHANGEABLE, INDEPENDENT, Brief, Claim, Verdict

Outcome = Literal["shown", "not shown", "too little data"]
CLAIMS: dict[Outcome, Claim] = {"shown": "yes", "not shown": "no", "too little data": "open"}


@dataclass(frozen=True)
class Decision(Verdict):
    """A verdict with its outcome: shown, not shown or too little data."""

    outcome: Outcome


def loss_at_most(
    losses: ArrayLike,
    t: float,
    alpha: Level = 0.1,
    low: float = -math.inf,
    high: float = math.inf,
    delta: Level = DELTA,
) -> Decision:
    """Do at least 1 - alpha of new cases have a loss of at most t? By the exact binomial rule.

    Shown, with confidence 1 - delta, when the loss of rank ``tolerance_rank(k, alpha, delta)`` is
    at most t; too little data when not even k losses within t would show it, unless no loss can
    exceed t. For independent cases and a t fixed beforehand.

    >>> [loss_at_most(range(1, k + 1), 29, high=40).outcome for k in (28, 29, 30)]
    ['too little data', 'shown', 'not shown']
    """
    checked = check_losses(losses, low, high)
    return decision_of(checked, t, alpha, About(low=low, high=high), "model", delta)


def decide(
    results: Results, algorithm: str, threshold: float, alpha: Level = 0.1, delta: Level = DELTA
) -> Decision:
    """The same for trial 0 (a greater-is-better metric: at least t); of a group one loss counts."""
    losses, about, label = independent_losses(results, algorithm)
    found = decision_of(losses, threshold, alpha, about, label, delta)
    first = " Of each group the first loss counts: those of one group depend on each other."
    return replace(found, why=found.why + first * (results.experiment.n_evaluations > 1))


def decision_of(
    shown: NDArray, t: float, alpha: Level, about: About, label: str, delta: Level = DELTA
) -> Decision:
    """The same for independent losses (k,) as shown, with all the ways in which it is open."""
    k, beyond = len(shown), beyond_limit(shown, t, about)
    rank, needed = tolerance_rank(k, alpha, delta), cases_needed(alpha, delta)
    share, level = (in_full(1 - exact_alpha(own)) for own in (alpha, delta))
    allowed = k - rank
    noun, whom = f"calibration {about.held_out}", ""
    if about.m is not None:
        whom = f"for {label} retrained on {counted(about.m, 'fresh case')}, "
    elif label != "model" or about.n_algorithms > 1:
        whom = f"for {about.of(label)}, "
    no_error = " (no error)" if about.no_error(t) else ""
    of_size = f" of {counted(about.batch_size, 'case')}" if about.batch_size else ""
    claim = f"new {plural(about.new)}{of_size} have {with_article(about.loss)} of {about.at_most} "
    claim += with_unit(number(t, digits=17), about.unit) + no_error
    that = f"with {level} confidence that{',' if whom else ''} {whom}at least {share} of {claim}"
    why = (
        f"If fewer than {share} stayed within it, at least {rank:,} of {k:,} independent ones "
        f"would do so with probability at most {percent(exact_alpha(delta), 'up')}: the tail of "
        f"Binomial({k:,}, {typed(float(1 - exact_alpha(alpha)))}) at {rank:,}."
    )
    outcome: Outcome
    if beyond is None:
        outcome, beyond = "shown", 0
        text = f"Shown: {whom}all {claim}: {about.range_end}."
        rest = f": {about.range_end}"
        why = "No value of this loss lies beyond the threshold."
    elif k < needed:
        outcome = "too little data"
        rest = f": {counted(needed, noun)} would allow it, there {'is' if k == 1 else 'are'} {k:,}"
        text = f"Too little data to show {that}{rest}."
        why = f"Were it not so, all {k:,} might still stay within it with probability "
        why += f"{typed(float(1 - exact_alpha(alpha)))} to the power of {k:,}, which is more than "
        why += f"{typed(float(exact_alpha(delta)))}."
    elif beyond <= allowed:
        outcome = "shown"
        text = f"Shown: {whom}at least {share} of {claim}, with {level} confidence."
        rest = f": at least {share} of new {plural(about.new)} stay within it, with {level} "
        rest += "confidence"
    else:
        outcome = "not shown"
        verb = "fall" if about.greater_is_better else "exceed"
        does = f"{verb}{'s' if beyond == 1 else ''}{' below' if about.greater_is_better else ''} it"
        rest = f": {beyond:,} of {counted(k, noun)} {does}, "
        rest += f"{f'at most {allowed:,}' if allowed else 'none'} may"
        text = f"Not shown {that}{rest}."
    why += " The threshold must be fixed before looking at the losses."
    if about.m is not None:
        why += (
            f" Each new {about.new} comes with training anew on {about.m:,} cases, not {about.n:,}."
        )
    facts = about.facts(alpha, k, algorithm=label, threshold=t, beyond=beyond, delta=float(delta))
    facts |= {"allowed": max(allowed, 0), "outcome": outcome, "k_needed": needed}
    brief = Brief(label, outcome, rest, CLAIMS[outcome])
    return Decision(text, "guaranteed", INDEPENDENT, facts, why, brief, outcome)


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
    exact, level = _rate(rate), in_full(1 - exact_alpha(alpha))
    allowed = math.floor(exact * batch_size)
    asked = {"batch_size": batch_size, "rate": float(exact)}
    facts = About().facts(alpha, k, errors=errors, **asked, most=most)
    seen = f"{counted(errors, 'error')} among {counted(k, 'checked case')}"
    ahead = among_next(batch_size, "case")
    at = f"{in_full(exact)} ({counted(allowed, 'error')})"
    claim = f"the error rate on {next_of(batch_size, 'case')} is at most {at}"
    outcome: Outcome
    if most <= allowed:
        outcome = "shown"
        rest = f": at most {counted(allowed, 'error')} {ahead}"
        text = (
            f"Shown: {claim}. Over the checked and the next cases together, this rule makes a "
            f"wrong claim at most {percent(exact_alpha(alpha), 'up')} of the time."
        )
    elif batch_errors(k, 0, batch_size, alpha, side="upper")[1] > allowed:
        outcome = "too little data"
        facts["k_needed"] = needed = _clean_cases(batch_size, allowed, alpha, k)
        rest = f": {counted(needed, 'case')} without an error would do, there are {k:,}"
        text = (
            f"Too little data to show with {level} confidence that {claim}: "
            f"{counted(needed, 'case')} without an error would do, "
            f"{'a single one' if k == 1 else f'{k:,}'} cannot."
        )
    else:
        outcome = "not shown"
        facts["errors_allowed"] = fewer = _last(
            lambda e: batch_errors(k, e, batch_size, alpha, "upper")[1] <= allowed, errors
        )
        rest = f": {ahead} there may be {counted(most, 'error')}, "
        rest += f"{allowed:,} are allowed"
        text = (
            f"Not shown with {level} confidence that {claim}: with {seen} there may be {most:,}; "
            f"at most {counted(fewer, 'error')} among the {k:,} would have shown it."
        )
    why = (
        f"{most:,} is the largest number x of errors that {seen} leave possible: the tail of "
        f"Hypergeometric({k:,} + {batch_size:,}, {errors:,} + x, {batch_size:,}) at x exceeds "
        f"alpha = {number(float(exact_alpha(alpha)))}. The batch size is fixed beforehand. That "
        "the rule is seldom wrong counts all its uses, those without a claim too."
    )
    facts["outcome"] = outcome
    brief = Brief("", outcome, rest, CLAIMS[outcome])
    return Decision(text, "guaranteed", EXCHANGEABLE, facts, why, brief, outcome)


def decide_error_rate(
    results: Results, algorithm: str, batch_size: int, rate: Level, alpha: Level = 0.1
) -> Decision:
    """Is a candidate's error rate at most ``rate`` on the next cases? From trial 0's errors."""
    experiment = results.experiment
    if not experiment.criterion.errors or experiment.algorithmic:
        raise ValueError(
            "The exact rule for error rates counts the errors of one trained model: choose the "
            f"zero-one loss and the variant candidate, not {experiment.criterion.name} and "
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
    return replace(found, facts=facts, brief=replace(found.brief, subject=label))


def decisions_from(
    results: Results,
    alpha: Level = 0.1,
    at_most: float | None = None,
    error_rate_at_most: Level | None = None,
    batch_size: int | None = None,
    delta: Level = DELTA,
) -> tuple[Decision, ...]:
    """Whether what was asked is shown, for each algorithm; empty when nothing was asked."""
    check_rate(error_rate_at_most, batch_size)
    found: list[Decision] = []
    if error_rate_at_most is not None and batch_size is not None:
        rule = batch_size, error_rate_at_most, alpha
        found += [decide_error_rate(results, name, *rule) for name in results.algorithms]
    if at_most is not None:
        found += [decide(results, name, at_most, alpha, delta) for name in results.algorithms]
    return tuple(found)


def check_rate(rate: Level | None, batch_size: int | None) -> None:
    """Refuse a rate without the number of cases that it is about."""
    if (rate is None) != (batch_size is None):
        raise ValueError(
            "An error rate needs the number of cases that it is about, fixed beforehand: give both "
            "the rate and the batch size, or neither."
        )


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
