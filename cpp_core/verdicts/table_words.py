"""A user's table before a run, in words: what was understood, what is asked, how it is spent."""

from collections.abc import Sequence
from typing import NamedTuple

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.catalog.roles import Source
from cpp_core.catalog.tables import Table
from cpp_core.trials.experiment import Experiment
from cpp_core.verdicts.language import counted, duration, listed


class Spent(NamedTuple):
    """Cases that are spent on one thing."""

    role: str
    cases: int

    @property
    def words(self) -> str:
        """What stands on its piece of the bar."""
        return f"{self.cases:,} {self.role}"


def understood(name: str, rows: int, columns: int) -> str:
    """The headline of a table that was read.

    >>> understood("wine.csv", 1178, 7)
    'wine.csv: 1,178 rows, 7 columns, understood'
    """
    return f"{name}: {counted(rows, 'row')}, {counted(columns, 'column')}, understood"


def check_lines(source: Source | None) -> tuple[str, ...]:
    """What the checks of a file found that may mislead, for whoever sees the result alone.

    >>> from cpp_core.catalog.roles import Roles
    >>> check_lines(Source("a.csv", Roles("y", "regression"), (), ("Ids stand twice.",)))
    ('A check of the file: Ids stand twice.',)
    """
    return () if source is None else tuple(f"A check of the file: {own}" for own in source.warnings)


def asked_words(experiment: Experiment, table: Table) -> str:
    """What will be predicted, with what, and how it is judged."""
    of = f"{len(experiment.data.classes)} classes" if experiment.data.classes else "a number"
    rivals = listed([ALGORITHMS[name].label for name in experiment.algorithms])
    return f"Predict {table.target}, {of}, with {rivals}, by {experiment.criterion.label}"


def spent_parts(experiment: Experiment) -> tuple[Spent, ...]:
    """The cases of one trial, by what they are spent on.

    >>> [part.words for part in spent_parts(Experiment(variant="z-free"))]
    ['1,311 train', '19 calibrate', '420 test']
    """
    sizes = experiment.sizes
    test = Spent("test", sizes.test_cases)
    if not experiment.algorithmic:
        return (
            Spent("train", sizes.m),
            Spent("calibrate", sizes.k * (experiment.batch_size or 1)),
            test,
        )
    runs = sizes.fits - sizes.n_test
    judged = experiment.batch_size or experiment.n_evaluations
    parts = [Spent("train", runs * sizes.m), Spent("calibrate", sizes.k * judged), test]
    if runs > sizes.k:
        parts.insert(1, Spent("regress losses", (runs - sizes.k) * judged))
    return tuple(parts)


def seen_words(experiment: Experiment) -> str:
    """What m means: how much of the table a model sees.

    >>> seen_words(Experiment(variant="z-free")), seen_words(Experiment())
    ('Each retraining sees 69 of 1,797 rows.', 'Each model sees 673 of 1,797 rows.')
    """
    of = "retraining" if experiment.algorithmic else "model"
    size = experiment.data.size
    total = "" if size is None else f" of {size:,} rows"
    return f"Each {of} sees {experiment.sizes.m:,}{total}."


def allowed_words(trials: int, usual: int, light: Sequence[str], heavy: Sequence[str]) -> str:
    """What a large table takes less of than usual, and why; empty where it takes nothing less.

    >>> allowed_words(20, 100, ("logistic", "boosting"), ("logistic", "random-forest"))
    'By the memory allowed: 20 splits instead of 100, Gradient boosting instead of Random forest.'
    >>> allowed_words(100, 100, ("knn",), ("knn",))
    ''
    """
    told = [f"{counted(trials, 'split')} instead of {usual}"] if trials < usual else []
    told += [
        f"{ALGORITHMS[one].label} instead of {ALGORITHMS[other].label}"
        for one, other in zip(light, heavy, strict=True)
        if one != other
    ]
    return f"By the memory allowed: {', '.join(told)}." if told else ""


def cost_words(
    experiment: Experiment, trials: int, seconds: float | None = None, workers: int = 1
) -> str:
    """How much a run is, and how long it takes where that is known.

    >>> cost_words(Experiment(), 100)
    '100 random splits, 200 fits'
    >>> cost_words(Experiment(), 100, 8.6, 2)
    '100 random splits, 200 fits, about 9 s on 2 cores'
    """
    fits = experiment.sizes.fits * trials * len(experiment.algorithms)
    told = f"{counted(trials, 'random split')}, {counted(fits, 'fit')}"
    if seconds is None:
        return told
    if not seconds:
        return f"{told}, all stored"
    return f"{told}, about {duration(seconds)} on {counted(workers, 'core')}"
