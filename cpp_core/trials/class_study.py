"""The cases of a trial by class: sets there, and a bound that is calibrated within each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.method.ranks import Ranked, scores_needed
from cpp_core.method.sets import Sets
from cpp_core.method.splits import HALF
from cpp_core.method.threads import one_thread
from cpp_core.trials.case_study import CaseStudy, check_classes, check_modulated
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.one_trial import run_trial
from cpp_core.trials.trial_entry import trial_sample


@dataclass(frozen=True, eq=False)
class ClassStudy:
    """Z-free groups of m training cases, each judged at several held-out cases.

    ``labels`` (K, b) are those of the held-out cases, ``losses`` (K, b) by algorithm what the K
    candidates lost at them. All n cases of the trial are dealt anew, with the same m.
    """

    experiment: Experiment
    m: int
    labels: NDArray
    losses: Mapping[str, NDArray]

    def scores(self, algorithm: str, label: Any) -> NDArray:
        """The losses at the first held-out case of this class in each group that has one.

        One loss of each candidate. Which groups have such a case depends on the labels of held-out
        cases alone, so that these losses and that of a new candidate at a new case of the class are
        exchangeable: ranks among them are a promise for the class.
        """
        own = self.labels == label
        groups = np.flatnonzero(own.any(axis=1))
        return self.losses[algorithm][groups, own[groups].argmax(axis=1)]


def n_held_out(experiment: Experiment) -> int:
    """Held-out cases of a group: one for each class, where training has as many."""
    return min(len(experiment.data.classes), experiment.sizes.m + 1)


def n_groups(experiment: Experiment) -> int:
    """How many groups of m training cases and the held-out ones the trial's n cases make."""
    return (experiment.n or 0) // (experiment.sizes.m + n_held_out(experiment))


@one_thread()
def class_study(experiment: Experiment, seed: int = 0, trial: int = 0) -> ClassStudy:
    """Losses of retrained candidates that a bound for each class is read from."""
    check_modulated(experiment)
    check_classes(experiment)
    m, b, n_sets = experiment.sizes.m, n_held_out(experiment), n_groups(experiment)
    regrouped = replace(
        experiment,
        variant="z-free",
        regressor=None,
        n=n_sets * (m + b),
        n_sets=n_sets,
        n_evaluations=b,
        calibration_share=HALF,
        test_size=1 if experiment.data.size is None else m + 1,
    )
    labels = trial_sample(regrouped, seed, trial)[1][regrouped.layout()[0].at]
    arrays = run_trial(regrouped, seed, trial)
    losses = {name: own["calibration"].reshape(n_sets, b) for name, own in arrays.items()}
    return ClassStudy(regrouped, m, labels, losses)


def class_bounds(
    study: CaseStudy,
    groups: ClassStudy | None = None,
    alpha: Level = 0.1,
    side: str = "two-sided",
    construction: str = "variable",
) -> pd.DataFrame:
    """One row per algorithm and class: what moving sets look like there, and a bound for the class.

    ``lower`` and ``upper`` are median ends over the class's ``cases``, and ``covered`` counts, of
    the ``tested`` ones, those whose loss was inside: a description, promised for no class. With
    ``groups`` there is a ``bound`` that is promised: after retraining on m fresh cases, the loss at
    a new case of this class is at most that with probability at least 1 - alpha. It has the
    upper-bound rank among the class's own ``k`` losses; where ``more`` of them are needed it is the
    end of the loss's range.
    """
    classes, rows = check_classes(study.experiment), []
    for name in study.experiment.algorithms:
        sets = study.sets(name, construction, alpha, side)
        held = Sets(*sets[study.tested].T).holds(study.losses[name])
        for label in classes:
            own, tested = study.y == label, study.y[study.tested] == label
            ends = np.median(sets[own], axis=0) if own.any() else np.full(2, np.nan)
            row = {"algorithm": name, "label": label, "cases": int(own.sum())}
            row |= {"lower": ends[0], "upper": ends[1]}
            row |= {"tested": int(tested.sum()), "covered": int(held[tested].sum())}
            if groups is not None:
                row |= _own_bound(groups, name, label, alpha)
            rows.append(row)
    return pd.DataFrame(rows)


def _own_bound(groups: ClassStudy, name: str, label: Any, alpha: Level) -> dict[str, Any]:
    """The bound that is calibrated within a class, and from how many losses."""
    loss, scores = groups.experiment.criterion, groups.scores(name, label)
    bound = float(Ranked.of(scores, loss.low, loss.high).ends(alpha, "upper")[1])
    more = max(scores_needed(alpha, "upper") - len(scores), 0)
    return {"k": len(scores), "bound": bound, "more": more}
