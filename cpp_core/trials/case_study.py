"""The test cases of one trial, each with its set of losses at any alpha.

A study is computed once and knows no alpha; its sets at any alpha are read off in microseconds, by
the same code as ``Results``. The cases are those of ``trial_sample``: all ``test_size`` of a table
(the first of each test group is the one that the trial tests), or the tested ones of a simulator.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpp_core.catalog.regressors import REGRESSORS
from cpp_core.catalog.variants import VARIANTS
from cpp_core.checks import Level, check_count, check_side, exact_alpha, lookup
from cpp_core.method.constructions import Part, modulated
from cpp_core.method.measuring import Measured, measure
from cpp_core.method.ranks import scores_needed
from cpp_core.method.sets import Sets
from cpp_core.method.threads import one_thread
from cpp_core.method.training import Failure
from cpp_core.trials.experiment import Experiment, check_algorithm
from cpp_core.trials.one_trial import moved_arrays
from cpp_core.trials.readings import NumericLosses, ends_at
from cpp_core.trials.trial_entry import Entry, entry_of, keyed_rng, trial_sample
from cpp_core.trials.usual_sizes import LEAST_TRAINING, USUAL_ALPHA, usual_sets

VARIANT_OF = {kind.width: kind.name for kind in VARIANTS.values() if kind.width}
"""The regressions behind sets that move with the case, and the variants that run them."""


class Construction(NamedTuple):
    """How sets move with the case: by which regression, from the ends of which alpha.

    Where ``start`` is None, it is the alpha that is asked for.
    """

    regressed: str
    start: Level | None = None


CONSTRUCTIONS = {
    "variable": Construction("variable"),
    "fixed": Construction("fixed"),
    "nested": Construction("variable", USUAL_ALPHA),
}
"""Sets that move with the case. Nested ones start from the quantiles of one alpha, whatever alpha
is asked for: a set at more confidence holds the one at less."""

MOST_REGRESSED = 1000
"""Cases that ``x_study`` regresses and calibrates with at most, each: more cost minutes."""


@dataclass(frozen=True, eq=False)
class Study:
    """Every test case of one trial, with its sets at any alpha.

    A set holds what happens at a new case with probability at least 1 - alpha over everything that
    was drawn, the case included: not for one case that was picked, nor for one class.

    Attributes
    ----------
    experiment, seed, trial
        What was run.
    X, y, rows : arrays
        The test cases, and their numbers in the table (-1 where they are simulated).
    k, m : int
        Calibration scores, and the cases that each candidate was trained on.
    """

    experiment: Experiment
    seed: int
    trial: int
    X: NDArray
    y: NDArray
    rows: NDArray
    k: int
    m: int

    def more_needed(self, alpha: Level) -> int:
        """How many more calibration scores would let sets leave something out; 0 where they do."""
        return max(scores_needed(alpha, "upper") - self.k, 0)


@dataclass(frozen=True, eq=False)
class CaseStudy(Study):
    """The sets of losses.

    Attributes
    ----------
    label_known : bool
        True: Z-modulated sets, for candidates retrained on m fresh cases. False: sets from X alone,
        for the one candidate that was trained (``x_study``).
    calibration : dict
        The k calibration losses of each algorithm.
    tested, losses : array, dict
        The cases at which the trial measured a loss, and each algorithm's losses there.
    failures : dict
        Each algorithm's training runs that raised; they count with the worst loss.
    readers : dict
        What reads the sets, by algorithm and regression.
    """

    label_known: bool
    calibration: Mapping[str, NDArray]
    tested: NDArray
    losses: Mapping[str, NDArray]
    failures: Mapping[str, list[Failure]]
    readers: Mapping[tuple[str, str], NumericLosses]

    def sets(
        self,
        algorithm: str,
        construction: str = "variable",
        alpha: Level = 0.1,
        side: str = "two-sided",
    ) -> NDArray:
        """Lower and upper ends at every test case, (n_cases, 2); crossed ends are the empty set."""
        reader, start = self._reader(algorithm, construction)
        found = reader.sets(alpha, check_side(side), start)
        return np.column_stack([found.lower[0], found.upper[0]])

    def curve(
        self,
        algorithm: str,
        construction: str,
        case: int,
        alphas: Sequence[Level],
        side: str = "two-sided",
    ) -> NDArray:
        """Ends at one test case for many alphas, (alphas, 2)."""
        case = check_case(case, len(self.y))
        return np.array([self.sets(algorithm, construction, a, side)[case] for a in alphas])

    def predicted(
        self,
        algorithm: str,
        construction: str = "variable",
        alpha: Level = 0.1,
        side: str = "two-sided",
    ) -> NDArray:
        """The regressed ends at every test case, before calibration moves them: (n_cases, 2)."""
        reader, start = self._reader(algorithm, construction)
        level = float(exact_alpha(alpha if start is None else start))
        ends = ends_at(reader.arrays, "test_ends", level, check_side(side))
        return np.column_stack([end[0] for end in ends])

    def _reader(self, algorithm: str, construction: str) -> tuple[NumericLosses, Level | None]:
        regressed, start = lookup(construction, CONSTRUCTIONS, "construction")
        return self.readers[check_algorithm(self.experiment, algorithm), regressed], start


def inside(ends: NDArray, losses: NDArray) -> NDArray[np.bool_]:
    """Which of the losses lie in the set with these two ends.

    >>> inside(np.array([0.0, 1.0]), np.array([0.5, 1.0, 2.0]))
    array([ True,  True, False])
    """
    return Sets(ends[:1], ends[1:]).holds(losses[None, :])[0]


# The data of a trial, as its cases


class Sample(NamedTuple):
    """A trial's cases, where the test cases stand among them, and which of those are tested."""

    X: NDArray
    y: NDArray
    rows: NDArray
    cases: NDArray
    tested: NDArray


def sample_of(experiment: Experiment, seed: int, trial: int) -> Sample:
    check_count(seed, "seed", least=0)
    check_count(trial, "trial", least=0)
    X, y, rows = trial_sample(experiment, seed, trial, whole=True)
    n, sizes = experiment.n or 0, experiment.sizes
    first_of_groups = np.arange(0, sizes.test_cases, sizes.test_cases // sizes.n_test)
    if experiment.data.size is None:
        return Sample(X, y, rows, n + first_of_groups, np.arange(sizes.n_test))
    return Sample(X, y, rows, np.arange(n, len(y)), first_of_groups)


def check_case(case: int, n_cases: int) -> int:
    """The number of a test case."""
    if isinstance(case, bool) or not isinstance(case, int | np.integer) or not 0 <= case < n_cases:
        raise ValueError(
            f"There is no test case {case!r}: the trial has {n_cases}, numbered 0 to {n_cases - 1}."
        )
    return int(case)


def check_modulated(experiment: Experiment) -> None:
    if experiment.modulation is None:
        raise ValueError(
            "Sets that move with the case need the variant z-fixed or z-variable, but this "
            f"experiment is of the variant {experiment.variant}; case_experiment gives one with "
            "the same data and algorithms."
        )


def check_classes(experiment: Experiment) -> tuple[Any, ...]:
    if not experiment.data.classes:
        raise ValueError(
            f"{experiment.data.label} is a regression, without classes; look at single cases, or "
            "choose a classification."
        )
    return experiment.data.classes


# Sets at every test case


Done = Mapping[str, tuple[Entry, Measured, np.random.Generator]]
"""By algorithm: who trained, what its candidates did, the seeds of the regression."""


def _regressed(
    experiment: Experiment, cases: NDArray, z: bool, done: Done
) -> dict[tuple[str, str], NumericLosses]:
    """What reads the sets, by algorithm and regression; each has the seeds of its own trial."""
    readers = {}
    for construction in VARIANT_OF:
        sibling = with_construction(experiment, construction)
        for name, (entry, measured, rng) in done.items():
            own, fresh = replace(entry, experiment=sibling), copy.deepcopy(rng)
            arrays = moved_arrays(own, measured, fresh, cases, with_label=z)
            one_trial = {array: values[None] for array, values in arrays.items()}
            readers[name, construction] = NumericLosses(one_trial, sibling)
    return readers


def with_sets(
    experiment: Experiment, seed: int, trial: int, sample: Sample, m: int, z: bool, done: Done
) -> CaseStudy:
    """Regress the losses, with fixed and with variable width, and predict at all test cases."""
    X, y, rows, cases, tested = sample
    readers = _regressed(experiment, cases, z, done)
    stored = {name: readers[name, "variable"].arrays for name in done}
    calibration_losses = {name: arrays["calibration"][0] for name, arrays in stored.items()}
    return CaseStudy(
        *(experiment, seed, trial, X[cases], y[cases], rows[cases]),
        k=len(calibration_losses[experiment.algorithms[0]]),
        m=m,
        label_known=z,
        calibration=calibration_losses,
        tested=tested if z else np.arange(len(cases)),
        losses={name: arrays["test"][0] for name, arrays in stored.items()},
        failures={name: measured.failures for name, (_, measured, _) in done.items()},
        readers=readers,
    )


def with_construction(experiment: Experiment, construction: str) -> Experiment:
    """The same experiment with sets of fixed or of variable width."""
    variant = lookup(construction, VARIANT_OF, "construction")
    if experiment.variant == variant:
        return experiment
    other = REGRESSORS[experiment.regressor or ""].counterpart
    return replace(experiment, variant=variant, regressor=other)


def usual_construction(experiment: Experiment) -> str:
    """The construction that an experiment asks for; a variable width where it asks for none."""
    return experiment.kind.width or "variable"


@one_thread()
def case_study(experiment: Experiment, seed: int = 0, trial: int = 0) -> CaseStudy:
    """Z-modulated sets at every test case, of all constructions from the same training runs.

    Losses and sets are those of ``run_trial`` for either variant.
    """
    check_modulated(experiment)
    sample = sample_of(experiment, seed, trial)
    done = {}
    for name in experiment.algorithms:
        entry = entry_of(experiment, name, seed, trial, sample[:3])
        done[name] = entry, entry.measured(), entry.rng.spawn(1)[0]
    return with_sets(experiment, seed, trial, sample, experiment.sizes.m, True, done)


@one_thread()
def x_study(experiment: Experiment, seed: int = 0, trial: int = 0) -> CaseStudy:
    """Sets at the same test cases from X alone, for when the label is not known yet.

    One third of the n cases trains a candidate, one regresses its loss on X, one calibrates (of
    either, 1000 cases at most). The promise is about THIS candidate, for a new case and the
    calibration draw together; ``losses`` has what it lost at every test case.
    """
    check_modulated(experiment)
    sample = sample_of(experiment, seed, trial)
    layout = modulated(experiment.n or 0)
    parts = [replace(part, at=part.at[:MOST_REGRESSED]) for part in layout]
    parts.append(Part("test", layout[0].training, sample.cases[:, None]))
    done = {}
    for name in experiment.algorithms:
        entry = entry_of(experiment, name, seed, trial, sample[:3])
        rng, loss = keyed_rng(seed, trial, 3, name), experiment.criterion
        measured = measure(entry.estimator, loss, entry.inputs, entry.y, parts, rng)
        done[name] = entry, measured, rng.spawn(1)[0]
    m = len(layout[0].training)
    return with_sets(experiment, seed, trial, sample, m, False, done)


# From any experiment


def case_experiment(experiment: Experiment) -> Experiment:
    """The z-variable experiment with the same data, algorithms and, where it is per case, loss.

    One that is Z-modulated already stays as it is. k is the usual one (``usual_sets``), and greater
    where the cases to test with are few, so that a training subset of m fits among them. A table
    that is too small for subsets of 5 cases is refused.
    """
    if experiment.modulation is not None:
        return experiment
    n, simulated = experiment.n or 0, experiment.data.size is None
    # Simulated test cases of one candidate are cheap, retrained ones are not: the default will do.
    test_size = None if simulated and not experiment.algorithmic else experiment.test_size
    half, least = n // 2, LEAST_TRAINING + 1
    most = half // least
    n_sets = usual_sets("z-variable", n) if most else 0
    if not simulated and n_sets and half // n_sets > (test_size or 0):
        n_sets = min(most, half // ((test_size or 0) + 1) + 1)
    if not n_sets or not (simulated or half // n_sets <= (test_size or 0)):
        raise ValueError(
            f"n = {n} cases of {experiment.data.label} and {experiment.test_size} to test with are "
            f"too few for looking at one case after retraining: at least {2 * least} and {least} "
            f"are needed for training subsets of {LEAST_TRAINING} cases."
        )
    kept = ["dataset", "dataset_settings", "algorithms", "algorithm_settings", "n"]
    if not (experiment.kind.batch or experiment.kind.symbolic):
        kept += ["loss", "loss_settings"]
    same = {name: getattr(experiment, name) for name in kept}
    return Experiment(**same, variant="z-variable", n_sets=n_sets, test_size=test_size)
