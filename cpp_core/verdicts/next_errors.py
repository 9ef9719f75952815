"""How many of the next cases will be errors, where a loss is 1 for an error and 0 for none.

Exact, by the hypergeometric rule of ``batch_errors``; the number of cases is fixed beforehand.
"""

from collections.abc import Sequence
from typing import Any

from cpp_core.checks import Level, exact_alpha
from cpp_core.method.counts import batch_errors
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About, check_scores
from cpp_core.verdicts.bounds import bound_of, expected_loss
from cpp_core.verdicts.language import (
    among_next,
    confidence,
    counted,
    next_of,
    number,
    sentence,
)
from cpp_core.verdicts.thresholds import independent_losses
from cpp_core.verdicts.verdict import EXCHANGEABLE, Brief, Claim, Verdict

NEXT_CASES = 100
"""Among how many next cases errors are counted, where nobody says another number beforehand."""


def errors_words(fewest: int, most: int, size: int, side: str = "upper") -> str:
    """How many errors there may be among so many next cases.

    >>> errors_words(0, 1, 100), errors_words(2, 9, 100, "two-sided"), errors_words(0, 100, 100)
    ('at most 1 error', '2 to 9 errors', 'any number of errors')
    """
    if (fewest, most) == (0, size):
        return "any number of errors"
    many = counted(most, "error")
    return f"at most {many}" if side == "upper" else f"{fewest:,} to {many}"


def errors_ahead_of(
    losses: Any,
    alpha: Level,
    about: About,
    label: str,
    side: str = "upper",
    size: int = NEXT_CASES,
) -> Verdict:
    """How many of the next cases will be errors, from losses (k,) of 0 and 1: guaranteed."""
    scores = check_scores(losses)
    k, wrong = len(scores), int((scores != about.greater_is_better).sum())
    fewest, most = batch_errors(k, wrong, size, alpha, side)
    outcome = "top" if (fewest, most) == (0, size) else "bound"
    claim: Claim = "no" if outcome == "top" else "yes"
    phrase = errors_words(fewest, most, size, side)
    ahead, retrained = among_next(size, "case"), about.each_retrained
    lead = f"{sentence(ahead)} drawn like the calibration data{retrained}{',' * bool(retrained)} "
    text = (
        f"{lead}{about.of(label)} makes {phrase} with probability at least {confidence(alpha)}, "
        f"over the calibration draw and the next {'case' if size == 1 else 'cases'} together."
    )
    if outcome == "top":
        text = f"{lead}{about.of(label)} may make {phrase}: none is ruled out with "
        text += f"{confidence(alpha, 'up')} confidence."
    why = (
        f"{wrong:,} of the {k:,} calibration cases of {about.source} are errors; errors among the "
        f"next ones are a hypergeometric share of all errors, and {most:,} is the largest number "
        f"that alpha{'' if side == 'upper' else ' / 2 on each side'} leaves possible (alpha = "
        f"{number(float(exact_alpha(alpha)))})."
    )
    facts = about.facts(alpha, k, algorithm=label, errors=wrong, fewest=fewest, most=most)
    facts |= {"batch_size": size, "outcome": outcome, "side": side}
    facts["quoted"] = counted(most, "error")
    why += about.separately(alpha)
    brief = Brief(label, phrase, f"{ahead}{retrained}", claim)
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why, brief)


def errors_ahead(
    results: Results, algorithm: str, alpha: Level = 0.1, side: str = "upper"
) -> Verdict:
    """The same for the zero-one losses of trial 0; of a group one loss counts."""
    losses, about, label = independent_losses(results, algorithm)
    return errors_ahead_of(losses, alpha, about, label, side)


def ahead_of(losses: Any, alpha: Level, about: About, label: str) -> Verdict:
    """What is ahead: where errors are counted those among the next cases, else the next loss."""
    return (errors_ahead_of if about.errors else bound_of)(losses, alpha, about, label)


def ahead(results: Results, algorithm: str, alpha: Level = 0.1, side: str = "upper") -> Verdict:
    """The same for trial 0; kinds of error are neither counted nor bounded."""
    experiment = results.experiment
    by_count = experiment.criterion.errors and not experiment.kind.symbolic
    return (errors_ahead if by_count else expected_loss)(results, algorithm, alpha, side)


def errors_reading(verdict: Verdict) -> str:
    """How many errors one makes, as a part of a title."""
    own = verdict.facts
    words = errors_words(own["fewest"], own["most"], own["batch_size"], own["side"])
    return f"{own['algorithm']} {words}"


def errors_title(found: Sequence[Verdict]) -> str:
    """How many errors each of several makes on the same number of cases."""
    size, level = found[0].facts["batch_size"], confidence(found[0].facts["alpha"])
    each, told = " each" if len(found) > 1 else "", ", ".join(map(errors_reading, found))
    return f"On {next_of(size, 'case')}, with {level} confidence{each}: {told}"
