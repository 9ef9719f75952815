"""What an experiment costs, known before anything is drawn, and what it may: memory, and fits."""

import math
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.datasets import load_dataset
from cpp_core.checks import check_count
from cpp_core.method.modulation import LEVELS
from cpp_core.trials.block_files import TRIALS
from cpp_core.trials.experiment import LIGHT_ALGORITHMS, USUAL_ALGORITHMS, Experiment

GIB = 2**30
MIB = 2**20
SHARE = 1 / 4
"""Of the machine's memory: what a run may take where nobody says how much."""

COPIES = 3
"""How often the cases of a trial are in memory: drawn, joined, sampled, and as a fit holds them."""

VIEWS = 4
"""How often the losses of all trials are: as stored, sorted, and in what is drawn from them."""


FITS = 100_000_000
"""Training runs of one experiment, where nobody says how many: hours of the fastest ones."""


class BudgetError(ValueError):
    """An experiment would take more than it may: a sentence, and nothing is computed."""


@dataclass(frozen=True)
class Cost:
    """What a run takes at most, about.

    ``trial`` bytes while one trial is computed, ``results`` bytes for the losses of all trials, and
    ``fits`` training runs of all algorithms.
    """

    trial: int
    results: int
    fits: int


def most_trials(experiment: Experiment, offered: Sequence[int], workers: int = 1) -> int:
    """The most trials of those on offer that the budget allows; 0 where it allows none."""
    for trials in sorted(offered, reverse=True):
        with suppress(BudgetError):
            check_budget(experiment, trials, workers)
            return trials
    return 0


def usual_algorithms(dataset: str, offered: Sequence[int], workers: int = 1) -> tuple[str, ...]:
    """What competes where nobody says what: trees that take little memory, where with others fewer
    of the trials on offer are within the budget."""
    task = load_dataset(dataset).task

    def allowed(names: tuple[str, ...]) -> int:
        return most_trials(Experiment(dataset=dataset, algorithms=names), offered, workers)

    try:
        return max(USUAL_ALGORITHMS[task], LIGHT_ALGORITHMS[task], key=allowed)
    except ValueError:  # no experiment at all: a table that is too small
        return USUAL_ALGORITHMS[task]


def cost_of(experiment: Experiment, trials: int = 1, study: bool = False) -> Cost:
    """The cost of so many trials, from the sizes alone; or of a ``study`` of one trial's cases.

    A study looks at every test case, and trains one candidate on a third of the others.

    >>> small, large = (cost_of(Experiment(dataset="quadnoise", algorithms=("gd",), n=n), 10)
    ...                 for n in (10_000, 1_000_000))
    >>> small.fits == large.fits, large.trial > 50 * small.trial
    (True, True)
    """
    sizes, data, n = experiment.sizes, experiment.data, experiment.n or 0
    rows = n + max(sizes.test_cases, experiment.test_size or 0)
    columns = data.n_inputs + 3  # the label, the row's number, and where it stands in the layout
    tested = max(sizes.n_test, experiment.test_size or 0) if study else sizes.n_test
    judged = sizes.k * experiment.n_evaluations + tested
    at_once = 1 if experiment.algorithmic and not study else judged  # cases that one is judged at
    m = max(sizes.m, n // 3) if study else sizes.m
    held = max(
        m * a.case_bytes + m * (m + at_once) * a.pair_bytes
        for a in (ALGORITHMS[name] for name in experiment.algorithms)
    )
    losses = judged * 4 * _numbers_per_loss(experiment) * len(experiment.entries)
    return Cost(
        trial=8 * rows * columns * COPIES + held + VIEWS * losses,
        results=VIEWS * losses * trials,
        fits=sizes.fits * trials * len(experiment.algorithms),
    )


def _numbers_per_loss(experiment: Experiment) -> int:
    """What is kept beside a loss: the ends that a regression predicts there, and for each class."""
    kind = experiment.kind
    if not kind.moves:
        return 1
    ends = 1 if experiment.modulation == "regression" else len(LEVELS)
    return 1 + ends + 2 * len(experiment.data.classes) * kind.symbolic


def memory_words(size: int, whole: Callable[[float], int] = round) -> str:
    """Bytes as people say them; ``whole`` rounds tenths.

    >>> memory_words(4 * GIB), memory_words(3 * MIB + 1, math.ceil)
    ('4.0 GiB', '3.1 MiB')
    """
    unit, name = (GIB, "GiB") if size >= 0.1 * GIB else (MIB, "MiB")
    return f"{whole(10 * size / unit) / 10:,.1f} {name}"


def machine_memory() -> int:
    """Bytes of this machine's memory, or of the container's where it has less."""
    found = [psutil.virtual_memory().total]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            found.append(int(Path("/sys/fs/cgroup", name).read_text()))
        except (OSError, ValueError):  # no container, or one without a limit
            continue
    return min(found)


def budget() -> int:
    """Bytes that one run may take: ``CPP_CORE_MEMORY``, in GiB, else a share of the machine's."""
    given = os.environ.get("CPP_CORE_MEMORY")
    if not given:
        return int(machine_memory() * SHARE)
    try:
        gib = float(given)
    except ValueError:
        gib = 0.0
    if not 0 < gib < 2**30:
        raise BudgetError(
            f"CPP_CORE_MEMORY must be a number of GiB above 0, such as 4, but it is {given!r}."
        )
    return int(gib * GIB)


def most_fits() -> int:
    """Training runs that one experiment may take: ``CPP_CORE_FITS``, else ``FITS``."""
    given = os.environ.get("CPP_CORE_FITS")
    if not given:
        return FITS
    try:
        fits = float(given)
    except ValueError:
        fits = 0.0
    if not 1 <= fits < 2**63:
        raise BudgetError(
            "CPP_CORE_FITS must be a number of training runs, at least 1, such as 1000000, but it "
            f"is {given!r}."
        )
    return int(fits)


def share_of(workers: int) -> int:
    """What one of so many workers may take: its part of the budget, but a GiB where that is little.

    What they have loaded, and what nobody foresees of a fit, does not shrink with their number.
    """
    return max(budget() // workers, min(budget(), GIB))


def check_budget(
    experiment: Experiment,
    trials: int = 1,
    workers: int = 1,
    study: bool = False,
    each: int | None = None,
    left: Callable[[], int] | None = None,
) -> Cost:
    """The cost of a run on so many workers, or of a study on each; BudgetError above the budget.

    ``each`` are the bytes that a worker may take, where that is less than the whole budget.
    ``left`` counts the training runs that are not stored yet, which is asked for only where all of
    them would be too many.
    """
    if check_count(trials, "trials") > len(TRIALS):
        raise BudgetError(f"{trials:,} trials are too many; {len(TRIALS):,} are the most.")
    cost, may = cost_of(experiment, trials, study), budget()
    takes = cost.trial * (workers if study else min(workers, trials)) + cost.results
    if each is not None and takes <= may and cost.trial > each:
        takes, may = cost.trial, each
    if takes <= may:
        _check_fits(cost.fits, experiment, trials, study, left)
        return cost
    fewer = "smaller sizes" if cost.results * 2 < takes else "smaller sizes or fewer trials"
    raise BudgetError(
        f"This needs about {memory_words(takes, math.ceil)} of memory, and "
        f"{memory_words(may, math.floor)} are allowed: ask for {fewer}. Whoever runs the program "
        "can allow more with CPP_CORE_MEMORY, in GiB."
    )


def _check_fits(
    fits: int,
    experiment: Experiment,
    trials: int,
    study: bool,
    left: Callable[[], int] | None,
) -> None:
    """BudgetError where more training runs are left than are allowed."""
    most, sizes = most_fits(), experiment.sizes
    needed = left() if left is not None and fits > most else fits
    if needed <= most:
        return
    retrained = experiment.algorithmic
    less = ["fewer trials"] * (trials > 1) + ["a smaller k"] * (retrained and sizes.k > 1)
    less += ["fewer algorithms"] * (len(experiment.algorithms) > 1)
    less += ["fewer test losses"] * (retrained and sizes.n_test > 1 and not study)
    raise BudgetError(
        f"This needs {needed:,} training runs, and {most:,} are allowed: ask for "
        f"{' or '.join(less) or 'another experiment'}. Whoever runs the program can allow more "
        "with CPP_CORE_FITS."
    )
