"""Studies of a trial's test cases: computed once for everybody, awaited on the page."""

from collections.abc import Callable, Hashable
from typing import Any

from cpp_core import Experiment
from cpp_core.trials import case_study as cases
from cpp_core.trials import class_study as class_cases
from cpp_core.trials import fresh_candidates as fresh
from cpp_core.trials import symbol_study as symbol_cases
from cpp_core.trials import what_if as changed
from cpp_core.trials.budget import check_budget
from cpp_core.trials.jobs import FIRST_SECONDS
from cpp_core.trials.own import own_of, packed
from cpp_core.trials.watching import Watched
from pages.parts.keeping import STUDIED
from pages.parts.live import MOMENT, awaited, jobs

STUDIES: dict[str, tuple[Callable[..., Any], Callable[[Experiment], int]]] = {
    "sets": (cases.case_study, lambda experiment: experiment.sizes.fits),
    "symbols": (symbol_cases.symbol_study, lambda experiment: experiment.sizes.fits),
    "before the label": (cases.x_study, lambda experiment: 1),
    "classes": (class_cases.class_study, class_cases.n_groups),
    "losses at this case": (fresh.case_losses, fresh.fits_per_case),
    "what if": (
        changed.what_if,
        lambda experiment: experiment.sizes.fits + fresh.fits_per_case(experiment),
    ),
    "outcomes at this case": (symbol_cases.case_symbols, fresh.fits_per_case),
}
"""What can be asked of a trial's test cases, and the training runs of one algorithm for it."""

PATIENCE = 2.0
"""Seconds that a page waits for sets before it shows progress: without them it has nothing."""


def _key(of: str, experiment: Experiment, *args: Any) -> Hashable:
    return of, tuple(experiment.key(name, args[0]) for name in experiment.algorithms), args


def begun(of: str, experiment: Experiment, *args: Any, limit: float | None) -> Watched[Any]:
    """A study with these arguments (seed, trial, case), which starts where there is none yet.

    It may take as long as the ``limit``, in seconds, where nobody asked for it.
    """

    def begin() -> Watched[Any]:
        own = packed(own_of(experiment))
        return Watched(jobs().crew, STUDIES[of][0], experiment, *args, own=own, limit=limit)

    return STUDIED.get(_key(of, experiment, *args), begin)


def begin_first() -> None:
    """Begin with the sets that One case shows to whoever has chosen nothing."""
    experiment = cases.case_experiment(Experiment.preset("digits-candidate"))
    begun("sets", experiment, 0, limit=FIRST_SECONDS)


def study_of(of: str, experiment: Experiment, *args: Any) -> Any:
    """What a study with these arguments (seed, trial, case) finds; None while it is on its way.

    It starts by itself; what takes longer than ``FIRST_SECONDS`` is asked for. BudgetError where it
    would take more than it may.
    """
    check_budget(experiment, workers=jobs().n_jobs, study=True)
    asked = _key(of, experiment, *args)

    def again(limit: float | None) -> None:
        if STUDIED.find(asked) is study:  # nobody else has asked for it meanwhile
            STUDIED.drop(asked)
            begun(of, experiment, *args, limit=limit)

    fits = STUDIES[of][1](experiment) * len(experiment.algorithms)
    moment = PATIENCE if of in ("sets", "symbols") else MOMENT
    study = begun(of, experiment, *args, limit=FIRST_SECONDS)
    return awaited(study, again, of.capitalize(), fits, of, moment)
