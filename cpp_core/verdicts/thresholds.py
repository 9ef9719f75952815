"""How sure it is that the next loss stays at or under a threshold (docs/method.md, section 6).

The losses are independent, and the threshold is fixed before anybody looks at them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, exact_alpha
from cpp_core.method.counts import share_interval
from cpp_core.method.ranks import as_limit
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About, about_results, check_numeric, check_scores, first_trial
from cpp_core.verdicts.language import (
    about_percent,
    confidence,
    counted,
    number,
    percent,
    plural,
    sentence,
    with_unit,
)
from cpp_core.verdicts.verdict import INDEPENDENT, Brief, Verdict


def beyond_limit(shown: NDArray, threshold: float, about: About) -> int | None:
    """How many losses (k,) as shown are worse than a threshold; None where none can be."""
    if not np.isfinite(threshold):
        raise ValueError(f"The threshold must be a number, but {threshold!r} was given.")
    limit = about.sign * as_limit(threshold, shown.dtype, about.sign)
    if limit >= about.sign * shown.dtype.type(about.worst):
        return None
    return int((about.sign * shown > limit).sum())


def exceedance_of(losses: Any, threshold: float, alpha: Level, about: About, label: str) -> Verdict:
    """How sure it is that the loss stays at or under a threshold, from independent losses (k,).

    P(loss > t) is about (1 + #{s > t}) / (k + 1), and at most the exact binomial bound.
    """
    shown = check_scores(losses)
    k, found = len(shown), beyond_limit(shown, threshold, about)
    beyond = found or 0
    estimate, (_, high) = (1 + beyond) / (k + 1), share_interval(beyond, k, alpha, "upper")
    at = with_unit(number(threshold, digits=17), about.unit)
    exceeds, above = ("falls below", "below") if about.greater_is_better else ("exceeds", "above")
    subject, level = f"the {about.loss} of {about.of(label)}", confidence(alpha)
    if found is None:
        text = f"{sentence(subject)} never {exceeds} {at}: {about.range_end}."
        brief = Brief(label, f"never {above} {at}", f": {about.range_end}")
        estimate = high = 0.0
    else:
        lead = f"{about_percent(estimate)}, at most {percent(high, 'up')}"
        rest = f"of new {plural(about.new)} {above} {at}, with {level} confidence"
        brief = Brief(label, lead, rest)
        text = (
            f"{about.lead(label)}, {subject} {exceeds} {at} with probability "
            f"{about_percent(estimate)}, and at most {percent(high, 'up')} with {level} "
            f"confidence: {beyond:,} of {counted(k, f'calibration {about.held_out}')} "
            f"{'is' if beyond == 1 else 'are'} {above} it."
        )
        if about.no_error(threshold):
            right = 1 - estimate, 1 - high
            text += (
                f" So it answers a {about.next} correctly with probability "
                f"{about_percent(right[0])}, and at least {percent(right[1], 'down')} with {level} "
                "confidence."
            )
    why = (
        f"(1 + {beyond:,}) / (k + 1) with the k = {k:,} calibration losses of {about.source}; the "
        f"upper bound is Clopper and Pearson's at alpha = {number(float(exact_alpha(alpha)))}. The "
        "threshold must be fixed before looking at the losses."
    )
    facts = about.facts(alpha, k, algorithm=label, threshold=threshold, beyond=beyond)
    facts |= {"estimate": estimate, "upper": high}
    why += about.separately(alpha)
    return Verdict(text, "guaranteed", INDEPENDENT, facts, why, brief)


def independent_losses(results: Results, algorithm: str) -> tuple[NDArray, About, str]:
    """Calibration losses (k,) of trial 0, as shown, one of each group; of what, and of whom."""
    results.reader(algorithm)
    check_numeric(results, "threshold")
    losses = results.arrays[algorithm]["calibration"][first_trial(results)]
    losses = losses if losses.ndim == 1 else losses[:, 0]
    return losses, about_results(results), ALGORITHMS[algorithm].label


def under_threshold(
    results: Results, algorithm: str, threshold: float, alpha: Level = 0.1
) -> Verdict:
    """How sure it is that the next loss stays under a threshold: trial 0, guaranteed (iid)."""
    losses, about, label = independent_losses(results, algorithm)
    return exceedance_of(losses, threshold, alpha, about, label)
