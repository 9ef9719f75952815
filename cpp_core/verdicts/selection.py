"""The best of several, without the mistake: chosen on one half, calibrated on the other.

Quoting the lowest of K bounds as if it were the only one loses the confidence; a bound from scores
that the choice never saw keeps it (docs/method.md, section 7).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.method.ranks import as_stored, ends, scores_needed
from cpp_core.method.splits import equal_parts
from cpp_core.trials.results import NumericLosses, Results
from cpp_core.verdicts.about import (
    EXCHANGEABLE,
    About,
    Verdict,
    about_results,
    check_numeric,
    check_scores,
    first_trial,
)
from cpp_core.verdicts.bounds import bound_verdict, expected_loss
from cpp_core.verdicts.language import clause, confidence, counted, plural

SPLIT_SEED = 0
"""Seeds the two halves, fixed beforehand like trial 0."""


def selection_safe(results: Results, alpha: Level = 0.1) -> Verdict:
    """The algorithm with the smallest bound on one half, with the bound from the other half.

    Both halves are of trial 0's calibration scores; the choice never sees the second. Where sets
    move with the case, the smallest mean bound over the cases of the first half chooses: the case
    that is quoted must not.
    """
    check_numeric(results, "bound to choose by")
    about, row = about_results(results), first_trial(results)
    if len(results.algorithms) == 1:
        return expected_loss(results, results.algorithms[0], alpha)
    readers = {name: results.reader(name) for name in results.algorithms}
    k = next(iter(readers.values())).k
    short = _too_short(k, alpha, about)
    if short is not None:
        return short
    choose, calibrate = _halves(k)
    bounds, ends_ = {}, {}
    for name, reader in readers.items():
        assert isinstance(reader, NumericLosses)
        arrays = {key: values[row : row + 1] for key, values in reader.arrays.items()}
        bounds[name] = _half_bound(results, arrays, choose, alpha, own_cases=True)
        ends_[name] = _half_bound(results, arrays, calibrate, alpha, own_cases=False)
    labelled = {ALGORITHMS[name].label: value for name, value in bounds.items()}
    best = min(bounds, key=lambda name: bounds[name])
    label = ALGORITHMS[best].label
    at_case = results.experiment.modulation is not None
    return _winner_verdict(labelled, label, about.sign * ends_[best], k, alpha, about, at_case)


def _half_bound(
    results: Results, arrays: Mapping[str, NDArray], rows: NDArray, alpha: Level, own_cases: bool
) -> float:
    """The bound, smaller better, from some calibration scores; at those cases, or the test case."""
    part = {
        name: arrays[name][:, rows]
        for name in ("calibration", "calibration_ends")
        if name in arrays
    }
    for name in ("test", "test_ends"):
        if name in arrays:
            source = part[name.replace("test", "calibration")] if own_cases else arrays[name][:, :1]
            part[name] = source if source.ndim < 3 or "ends" in name else source[:, :, 0]
    reader = NumericLosses(part, results.experiment)
    sets = reader.sets(alpha, "upper")
    upper = np.ravel(sets.upper if reader.sign > 0 else -sets.lower)
    at_least = np.maximum(upper, upper.dtype.type(reader.low))
    return at_least.mean(dtype=np.float64) if own_cases else as_stored(reader.low, at_least[0])[1]


def _halves(k: int) -> tuple[NDArray, NDArray]:
    choose, calibrate = equal_parts(k, 2, np.random.default_rng(SPLIT_SEED))
    return choose, calibrate


def _too_short(k: int, alpha: Level, about: About) -> Verdict | None:
    """What is said when halves of k scores give no bound."""
    needed = 2 * scores_needed(alpha, "upper")
    if k >= needed:
        return None
    text = (
        "Too little data to choose on one half and calibrate on the other with "
        f"{confidence(alpha)} confidence: {about.more(needed - k)} would do."
    )
    why = f"Each half needs {counted(needed // 2, 'score')}; {about.source} has {k} in all."
    facts = about.facts(alpha, k, outcome="too little data", k_needed=needed)
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why)


def winner_of(columns: Mapping[str, Any], alpha: Level, about: About) -> Verdict:
    """The selection-safe winner among columns of losses on the same cases, as shown."""
    scores = {label: about.sign * check_scores(losses) for label, losses in columns.items()}
    lengths = {len(own) for own in scores.values()}
    if len(lengths) != 1:
        raise ValueError(f"Columns of {sorted(lengths)} losses: all must be on the same cases.")
    k = lengths.pop()
    short = _too_short(k, alpha, about)
    if short is not None:
        return short
    choose, calibrate = _halves(k)
    low, high = sorted((about.sign * about.low, about.sign * about.high))
    bounds, ends_ = (
        {label: ends(own[rows], alpha, "upper", low, high)[3] for label, own in scores.items()}
        for rows in (choose, calibrate)
    )
    best = min(bounds, key=lambda label: bounds[label])
    return _winner_verdict(bounds, best, about.sign * ends_[best], k, alpha, about)


def _winner_verdict(
    bounds: Mapping[str, float],
    best: str,
    end: float,
    k: int,
    alpha: Level,
    about: About,
    at_case: bool = False,
) -> Verdict:
    half, K = k // 2, len(bounds)
    why = (
        f"{best} has the best bound of {K} on one random half of the {k} calibration scores of "
        f"{about.source}; its own bound comes from the other {half}, so that the choice costs no "
        f"confidence. Quoting the best of {K} bounds from all {k} would cost some; asking for "
        f"alpha / {K} of each is the other safe way."
    )
    inner = bound_verdict(half, end, why, alpha, about, best, at_case)
    text = (
        f"Chosen among {K} on {half} calibration {plural(about.held_out)}, calibrated on {half} "
        f"others that the choice never saw, {best}: {clause(inner.text)}"
    )
    facts = inner.facts | {
        "k": half,
        "n_algorithms": K,
        "chosen": best,
        "bounds_on_first_half": {label: about.sign * value for label, value in bounds.items()},
    }
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts, why)
