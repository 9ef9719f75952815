"""Studies of a trial's test cases: computed once for everybody, awaited on the page."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from cpp_core import Experiment
from cpp_core.trials import case_study as cases
from cpp_core.trials import class_study as class_cases
from cpp_core.trials import symbol_study as symbol_cases
from cpp_core.trials.watching import Watched
from pages.parts.live import MOMENT, awaited, students

STUDIES: dict[str, tuple[Callable[..., Any], Callable[[Experiment], int]]] = {
    "sets": (cases.case_study, lambda experiment: experiment.sizes.fits),
    "symbols": (symbol_cases.symbol_study, lambda experiment: experiment.sizes.fits),
    "before the label": (cases.x_study, lambda experiment: 1),
    "classes": (class_cases.class_study, class_cases.n_groups),
    "losses at this case": (cases.case_losses, cases.fits_per_case),
    "outcomes at this case": (symbol_cases.case_symbols, cases.fits_per_case),
}
"""What can be asked of a trial's test cases, and the training runs of one algorithm for it."""

PATIENCE = 2.0
"""Seconds that a page waits for sets before it shows progress: without them it has nothing."""


@st.cache_resource(max_entries=64, show_spinner=False)
def _studied(of: str, key: str, args: tuple[int, ...], _experiment: Experiment) -> Watched[Any]:
    """What one trial's test cases show that does not depend on alpha, on its way."""
    return Watched(students(), STUDIES[of][0], _experiment, *args)


def study_of(of: str, experiment: Experiment, *args: int) -> Any:
    """What a study with these arguments (seed, trial, case) finds; None while it is on its way."""
    key = "-".join(experiment.key(name, args[0]) for name in experiment.algorithms)
    asked = of, key, args, experiment
    fits = STUDIES[of][1](experiment) * len(experiment.algorithms)
    moment = PATIENCE if of in ("sets", "symbols") else MOMENT
    study = _studied(*asked)
    return awaited(study, lambda: _studied.clear(*asked), of.capitalize(), fits, of, moment)
