"""The cases of a trial by class: sets there, and a bound that is calibrated within each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.method.ranks import Ranked, scores_needed
from cpp_core.method.sets import Sets
from cpp_core.trials.case_study import CaseStudy, check_classes, check_modulated
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.one_trial import one_thread, run_trial, trial_sample


@dataclass(frozen=True, eq=False)
class ClassStudy:
    """Z-free groups of m training cases and one held-out case: the labels and losses of the latter.

    All n cases of the trial are dealt anew into as many groups as there can be with the same m.
    """

    experiment: Experiment
    m: int
    labels: NDArray
    losses: Mapping[str, NDArray]


def n_groups(experiment: Experiment) -> int:
    """How many groups of m training cases and one held-out case the trial's n cases make."""
    return (experiment.n or 0) // (experiment.sizes.m + 1)


@one_thread()
def class_study(experiment: Experiment, seed: int = 0, trial: int = 0) -> ClassStudy:
    """Losses of retrained candidates that a bound for each class is read from."""
    check_modulated(experiment)
    check_classes(experiment)
    m, n_sets = experiment.sizes.m, n_groups(experiment)
    regrouped = replace(
        experiment,
        variant="z-free",
        regressor=None,
        n=n_sets * (m + 1),
        n_sets=n_sets,
        test_size=1 if experiment.data.table is None else m + 1,
    )
    held_out = np.arange(0, n_sets * (m + 1), m + 1)
    labels = trial_sample(regrouped, seed, trial)[1][held_out]
    arrays = run_trial(regrouped, seed, trial)
    return ClassStudy(
        regrouped, m, labels, {name: own["calibration"] for name, own in arrays.items()}
    )


def class_bounds(
    study: CaseStudy,
    groups: ClassStudy,
    alpha: Level = 0.1,
    side: str = "two-sided",
    construction: str = "variable",
) -> pd.DataFrame:
    """One row per algorithm and class: what moving sets look like there, and a bound for the class.

    ``lower`` and ``upper`` are median ends over the class's ``cases``, and ``covered`` counts, of
    the ``tested`` ones, those whose loss was inside: a description, promised for no class. The
    ``bound`` is promised: after retraining on m fresh cases, the loss at a new case of this class
    is at most that with probability at least 1 - alpha. It has the upper-bound rank among the
    class's own ``k`` losses; where ``more`` of them are needed it is the end of the loss's range.
    """
    needed, classes = scores_needed(alpha, "upper"), check_classes(study.experiment)
    range_ = study.experiment.measure.low, study.experiment.measure.high
    rows = []
    for name in study.experiment.algorithms:
        sets = study.sets(name, construction, alpha, side)
        held = Sets(*sets[study.tested].T).holds(study.losses[name])
        for label in classes:
            own, tested = study.y == label, study.y[study.tested] == label
            scores = groups.losses[name][groups.labels == label]
            bound = Ranked.of(scores, *range_).ends(alpha, "upper")[1]
            ends = np.median(sets[own], axis=0) if own.any() else np.full(2, np.nan)
            rows.append(
                {
                    "algorithm": name,
                    "label": label,
                    "cases": int(own.sum()),
                    "lower": ends[0],
                    "upper": ends[1],
                    "tested": int(tested.sum()),
                    "covered": int(held[tested].sum()),
                    "k": len(scores),
                    "bound": float(bound),
                    "more": max(needed - len(scores), 0),
                }
            )
    return pd.DataFrame(rows)
