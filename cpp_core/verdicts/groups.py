"""A bound within each group of cases: ranks among the group's own calibration losses.

Guaranteed for a new case of the group, where the groups were fixed beforehand (docs/method.md).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.loss_files import MOST_GROUPS
from cpp_core.checks import Level
from cpp_core.trials.results import Results
from cpp_core.trials.trial_entry import calibration_rows
from cpp_core.verdicts.about import About, about_results, first_trial
from cpp_core.verdicts.bounds import bound_of, bound_verdict
from cpp_core.verdicts.language import clause
from cpp_core.verdicts.verdict import Verdict

GROUPS_BEFORE = (
    "Each bound holds separately, for a new case of its group, if the groups were fixed before "
    "looking at the losses."
)


def in_group(
    group: str, name: str, losses: NDArray, alpha: Level, about: About, label: str
) -> Verdict:
    """The bound of a model from its losses on the cases of one group, for new cases of it."""
    own = replace(about, n_algorithms=1, source=f"group {group!r} in {about.source}")
    if len(losses):
        found = bound_of(losses, alpha, own, label)
    else:  # a group that is known, of which no case calibrates
        found = bound_verdict(0, (own.low, own.high), "", alpha, own, label)
    text = f"Within group {group!r}: {clause(found.text)}"
    average = float(losses.mean(dtype=np.float64)) if len(losses) else None
    facts = found.facts | {"group": group, "column": name, "average": average}
    return replace(found, text=text, facts=facts, why=f"{found.why} {GROUPS_BEFORE}")


def no_group_bounds(results: Results) -> str:
    """Why groups that were named get no bounds of their own; empty where they do, or none were."""
    experiment, groups = results.experiment, results.experiment.data.groups
    if groups is None:
        return ""
    if not experiment.kind.holds_out:
        return "A bound for each group needs the question about the model at hand."
    if not len(groups.categories):
        return "No case has a known group."
    if len(groups.categories) > MOST_GROUPS:
        return (
            f"{len(groups.categories):,} groups are too many for a bound each: at most "
            f"{MOST_GROUPS} can be judged."
        )
    return ""


def group_bounds(results: Results, alpha: Level) -> tuple[Verdict, ...]:
    """For each known group and algorithm the bound that trial 0's cases of the group give."""
    experiment, groups = results.experiment, results.experiment.data.groups
    if groups is None or no_group_bounds(results):
        return ()
    codes = groups.codes[calibration_rows(experiment, results.seed)]
    row, about = first_trial(results), about_results(results)
    labels = {name: ALGORITHMS[name].label for name in results.algorithms}
    return tuple(
        in_group(
            *(group, label, results.arrays[name]["calibration"][row][codes == i]),
            *(alpha, about, label),
        )
        for i, group in enumerate(groups.categories)
        for name, label in labels.items()
    )
