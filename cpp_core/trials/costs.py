"""What a run will take, from what is stored and a short pilot."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from time import perf_counter

from cpp_core.checks import check_count
from cpp_core.trials.experiment import MINUS, Experiment
from cpp_core.trials.one_trial import run_trial
from cpp_core.trials.running import workers
from cpp_core.trials.store import Store, default_store


@dataclass(frozen=True)
class Cost:
    """What a run will take.

    ``fits`` training runs for the trials that are not stored, ``k`` scores and training size ``m``
    of a trial, the smallest alphas with finite ends, how many trials are ``stored``, and about how
    many ``seconds`` the rest takes.
    """

    fits: int
    k: int
    m: int
    smallest_alpha_upper: Fraction
    smallest_alpha_two_sided: Fraction
    stored: int
    seconds: float


def cost(
    experiment: Experiment,
    trials: int = 200,
    seed: int = 0,
    n_jobs: int | None = None,
    store: Store | None = None,
) -> Cost:
    """Estimate a run from what is stored and a short pilot (one trial, twice if it is quick)."""
    check_count(trials, "trials")
    store = default_store() if store is None else store
    missing = dict.fromkeys(experiment.algorithms, 0)
    for entry in experiment.entries:  # the difference of a pair needs the losses of both
        stored = sum(t < trials for t in store.stored(experiment.key(entry, seed)))
        for name in entry.split(MINUS):
            missing[name] = max(missing[name], trials - stored)
    lacking = tuple(name for name, count in missing.items() if count)
    seconds = 0.0
    if lacking:
        part = replace(experiment, algorithms=lacking)
        per_trial = _pilot(part)
        if per_trial < 1:  # the first one may have compiled
            per_trial = _pilot(part)
        seconds = per_trial * ceil(max(missing.values()) / workers(n_jobs))
    sizes = experiment.sizes
    return Cost(
        sizes.fits * sum(missing.values()),
        sizes.k,
        sizes.m,
        experiment.smallest_alpha("upper"),
        experiment.smallest_alpha("two-sided"),
        trials - max(missing.values()),
        seconds,
    )


def _pilot(experiment: Experiment) -> float:
    start = perf_counter()
    run_trial(experiment, 0, 0)
    return perf_counter() - start
