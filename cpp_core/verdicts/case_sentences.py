"""What is said beside the sets at single cases."""

from collections.abc import Iterable

import numpy as np

from cpp_core.checks import Level
from cpp_core.method.ranks import grouped_ranks
from cpp_core.trials.case_study import CaseStudy, Study
from cpp_core.trials.experiment import Experiment
from cpp_core.verdicts.about import EXCHANGEABLE, Verdict, about_experiment
from cpp_core.verdicts.language import confidence, counted, ordinal, percent


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
    about, level, k = about_experiment(study.experiment), confidence(alpha), study.k
    held = "the kind of the outcome" if study.experiment.kind.symbolic else "the loss"
    more = study.more_needed(alpha)
    if more:
        text = (
            f"No set leaves anything out at {level} confidence: {about.more(more)} would allow it. "
            "Raise alpha, or change the sizes."
        )
        why = f"It takes k of at least 1/alpha - 1 = {k + more} calibration scores; there are {k}."
    else:
        new = "" if about.m is None else ", after retraining on fresh ones,"
        each = ", separately for each algorithm" if about.n_algorithms > 1 else ""
        text = f"At a new case{new} {held} is in its set with {level} confidence{each}."
        hi = grouped_ranks(k, 1, alpha, "upper")[1]
        why = (
            f"What was predicted at the case is moved by the {ordinal(hi)} smallest of the {k} "
            f"calibration scores. The probability is {about.together}."
        )
    return Verdict(text, "guaranteed", EXCHANGEABLE, about.facts(alpha, k, more_needed=more), why)


def end_of_range(study: CaseStudy, ends: Iterable[tuple[str, float]], alpha: Level) -> str:
    """Why bars reach the end of the loss's range, and what helps.

    ``ends`` are algorithms with upper ends of their bars. Empty where none reaches it, and where
    there are too few scores, which ``promise`` tells.
    """
    worst = np.float32(study.experiment.measure.worst)
    names = {name for name, upper in ends if upper >= worst}
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
        "under How the cases are spent) give each more cases; a greater alpha or a clip also "
        "lowers the bars."
    )
