"""What is said beside the sets at single cases."""

from collections.abc import Iterable

import numpy as np

from cpp_core.case_figures import CaseBar
from cpp_core.cases import CaseStudy, Study
from cpp_core.experiment import Experiment
from cpp_core.ranks import Level, grouped_ranks
from cpp_core.sentences import EXCHANGEABLE, Verdict, confidence, counted, ordinal, percent


def training_sizes(experiment: Experiment) -> tuple[str, str]:
    """How many cases a training sees, in large type, and why it is not all of them."""
    k, m, n = experiment.sizes.k, experiment.sizes.m, experiment.n
    if not experiment.algorithmic:
        why = f"One model of each algorithm; {counted(k, 'other case')} calibrate the sets."
        return f"The training saw m = {m:,} cases", why
    return f"Each retraining sees m = {m:,} cases", (
        f"Not the n = {n:,} cases of the trial: {counted(k, 'training run')} on {m:,} cases each "
        "calibrate the sets, so the promise is for candidates trained on that many."
    )


def promise(study: Study, alpha: Level) -> Verdict:
    """What the sets promise, over new cases."""
    experiment, level, k, m = study.experiment, confidence(alpha), study.k, study.m
    symbolic, several = experiment.variant == "symbolic", len(experiment.algorithms) > 1
    held = "the kind of the outcome" if symbolic else "the loss"
    new = ", after retraining on fresh ones," if experiment.algorithmic else ""
    more = study.more_needed(alpha)
    each = ", separately for each algorithm" if several else ""
    if more:
        text = (
            f"No set leaves anything out at {level} confidence: {counted(more, 'more score')} for "
            "calibration would allow it. Raise alpha, or change the sizes."
        )
        why = f"It takes k of at least 1/alpha - 1 = {k + more} calibration scores; there are {k}."
    else:
        text = f"At a new case{new} {held} is in its set with {level} confidence{each}."
        hi = grouped_ranks(k, 1, alpha, "upper")[1]
        drawn = ["the calibration draw", *(["the fresh training cases"] if new else [])]
        why = (
            f"What was predicted at the case is moved by the {ordinal(hi)} smallest of the {k} "
            f"calibration scores. The probability is over {', '.join(drawn)} and the new case "
            "together."
        )
    facts = {"k": k, "m": m, "alpha": float(alpha), "n_algorithms": len(experiment.algorithms)}
    return Verdict(text, "guaranteed", EXCHANGEABLE, facts | {"more_needed": more}, why)


def end_of_range(study: CaseStudy, bars: Iterable[CaseBar], alpha: Level) -> str:
    """Why bars reach the end of the loss's range, and what helps.

    Empty where none does, and where there are too few scores, which ``promise`` tells.
    """
    worst = np.float32(study.experiment.measure.worst)
    names = {bar.algorithm for bar in bars if bar.upper >= worst}
    if not names or not np.isfinite(worst) or study.more_needed(alpha):
        return ""
    shares = [float(np.mean(study.calibration[name] >= worst)) for name in names]
    if not min(shares):
        return (
            "A bar that reaches the end of the loss's range: what is predicted here, and what "
            "calibration adds to it, go beyond the greatest possible loss. A greater alpha or more "
            "cases lower the bars."
        )
    return (
        f"A bar that reaches the end of the loss's range: {percent(min(shares), 'down')} or more "
        f"of its calibration losses are the worst possible one. With {study.m:,} training cases "
        "that happens often, for example where a class was never seen. Fewer training subsets (k, "
        "under Sizes and details) give each more cases; a greater alpha or a clip also lowers the "
        "bars."
    )
