"""The best of several, without the mistake: chosen on one half, calibrated on the other.

Quoting the lowest of K bounds as if it were the only one loses the confidence; a bound from scores
that the choice never saw keeps it (docs/method.md, section 7).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.method.ranks import as_stored, scores_needed
from cpp_core.method.splits import equal_parts
from cpp_core.trials.readings import NumericLosses
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import About, about_results, check_numeric, check_scores, first_trial
from cpp_core.verdicts.bounds import bound_verdict, expected_loss
from cpp_core.verdicts.language import clause, confidence, counted
from cpp_core.verdicts.next_errors import NEXT_CASES, errors_ahead_of
from cpp_core.verdicts.verdict import EXCHANGEABLE, Brief, Verdict

SPLIT_SEED = 0
"""Seeds the two halves, fixed beforehand like trial 0."""


def selection_safe(results: Results, alpha: Level = 0.1) -> Verdict:
    """The algorithm with the smallest bound on one half, with the bound from the other half.

    Both halves are of trial 0's calibration scores; the choice never sees the second. Where sets
    move with the case, the smallest mean bound over the cases of the first half chooses: the case
    that is quoted must not.
    """
    check_numeric(results, "bound to choose by")
    names, about, row = results.algorithms, about_results(results), first_trial(results)
    if len(names) == 1:
        return expected_loss(results, names[0], alpha)
    arrays = {ALGORITHMS[name].label: results.arrays[name] for name in names}
    if results.experiment.modulation is None:
        columns = {label: own["calibration"][row] for label, own in arrays.items()}
        return winner_of(columns, alpha, about)

    def bound(label: str, rows: NDArray, choosing: bool) -> float:
        own = {name: arrays[label][name][row : row + 1] for name in arrays[label]}
        part = {name: own[name][:, rows] for name in ("calibration", "calibration_ends")}
        part["test"] = part["calibration"]
        part["test_ends"] = part["calibration_ends"] if choosing else own["test_ends"][:, :1]
        reader = NumericLosses(part, results.experiment)
        sets = reader.sets(alpha, "upper")
        upper = np.ravel(sets.upper if reader.sign > 0 else -sets.lower)
        at_least = np.maximum(upper, reader.low)
        return (
            float(at_least.mean())
            if choosing
            else as_stored(reader.low, at_least[0], reader.calibration.dtype)[1]
        )

    return _winner(list(arrays), results.experiment.sizes.k, bound, alpha, about, at_case=True)


def winner_of(columns: Mapping[str, Any], alpha: Level, about: About) -> Verdict:
    """The selection-safe winner among columns of losses on the same cases, as shown."""
    losses = {label: check_scores(own) for label, own in columns.items()}
    lengths = {len(own) for own in losses.values()}
    if len(lengths) != 1:
        raise ValueError(f"Columns of {sorted(lengths)} losses: all must be on the same cases.")

    if about.errors and min(lengths) > 1 and all(own.ndim == 1 for own in losses.values()):
        return _fewest_errors(losses, lengths.pop(), alpha, about)

    def bound(label: str, rows: NDArray, choosing: bool) -> float:
        return about.sign * about.bound_from(losses[label][rows], alpha)[1]

    return _winner(list(losses), lengths.pop(), bound, alpha, about)


def _fewest_errors(losses: Mapping[str, NDArray], k: int, alpha: Level, about: About) -> Verdict:
    """The one with the fewest errors on one half, with those to expect by the other half."""
    half, K, right = k // 2, len(losses), about.greater_is_better
    choose, calibrate = equal_parts(k, 2, np.random.default_rng(SPLIT_SEED))
    errors = {label: int((own[choose] != right).sum()) for label, own in losses.items()}
    best = min(errors, key=lambda label: errors[label])
    inner = errors_ahead_of(losses[best][calibrate], alpha, about, best)
    text = (
        f"{_chosen(K, half, about)}, {best}: {clause(inner.text)} Quote this if "
        f"you picked {best} here; the number from all {k:,} only for a model fixed beforehand; "
        "never the smaller of the two."
    )
    why = (
        f"{_leads(best, errors)} the fewest errors of {K} on one random half of the {k:,} "
        f"calibration scores of {about.source}; what is quoted comes from the other {half:,}, so "
        f"that the choice costs no confidence. {inner.why}"
    )
    facts = inner.facts | {"n_algorithms": K, "chosen": best, "errors_on_first_half": errors}
    rest = f"if you picked it here: chosen on {half:,}, calibrated on {half:,} more"
    brief = replace(inner.brief, rest=f"among the next {NEXT_CASES} cases {rest}")
    return replace(inner, text=text, facts=facts, why=why, brief=brief)


def _chosen(K: int, half: int, about: About) -> str:
    """On what was chosen and on what is calibrated."""
    others = counted(half, "other")
    return (
        f"Chosen among {K} on {counted(half, f'calibration {about.held_out}')}, calibrated on "
        f"{others} that the choice never saw"
    )


def _leads(best: str, numbers: Mapping[str, float]) -> str:
    """Whether the best has the least number alone; of several the first one is chosen."""
    several = list(numbers.values()).count(numbers[best])
    return f"{best} has" if several == 1 else f"{best} is the first of {several} with"


def _winner(
    labels: list[str],
    k: int,
    bound: Callable[[str, NDArray, bool], float],
    alpha: Level,
    about: About,
    at_case: bool = False,
) -> Verdict:
    """The choice; ``bound`` gives that of a label, smaller better, from some of the k scores."""
    half, K, needed = k // 2, len(labels), scores_needed(alpha, "upper")
    if half < needed:
        text = (
            "Too little data to choose on one half and calibrate on the other with "
            f"{confidence(alpha, 'up')} confidence: {about.more(2 * needed - k)} would do."
        )
        why = f"Each half needs {counted(needed, 'score')}; {about.source} has {k:,} in all."
        facts = about.facts(alpha, k, outcome="too little data", k_needed=2 * needed)
        missing = f": {about.missing(2 * needed - k)} would do"
        brief = Brief("", "too little data", missing, "open")
        return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why, brief)
    choose, calibrate = equal_parts(k, 2, np.random.default_rng(SPLIT_SEED))
    bounds = {label: bound(label, choose, True) for label in labels}
    best = min(bounds, key=lambda label: bounds[label])
    why = (
        f"{_leads(best, bounds)} the best bound of {K} on one random half of the {k:,} "
        f"calibration scores of {about.source}; its own bound comes from the other {half:,}, so "
        f"that the choice costs no confidence. Quoting the best of {K} bounds from all {k:,} would "
        f"cost some; asking for alpha / {K} of each is the other safe way."
    )
    found = about.turned(about.turned(about.low, about.high)[0], bound(best, calibrate, False))
    inner = bound_verdict(half, found, why, alpha, about, best, at_case)
    text = f"{_chosen(K, half, about)}, {best}: {clause(inner.text)}"
    if inner.facts["outcome"] == "bound":
        text += (
            f" Quote this bound if you picked {best} here; the one from all {k:,} only for a model "
            f"fixed beforehand; never the {'larger' if about.greater_is_better else 'smaller'} of "
            "the two."
        )
    on_first_half = {label: about.sign * value for label, value in bounds.items()}
    facts = inner.facts | {"n_algorithms": K, "chosen": best, "bounds_on_first_half": on_first_half}
    rest = f"if you picked it here: chosen on {half:,}, calibrated on {half:,} more"
    own = inner.brief
    brief = replace(own, rest=rest) if inner.facts["outcome"] == "bound" and not at_case else own
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why, brief)
