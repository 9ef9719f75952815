"""What to run, as a frozen description that checks itself before anything is computed."""

import hashlib
import json
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from cpp_core.catalog.algorithms import ALGORITHMS, Task, prepares
from cpp_core.catalog.costs import among
from cpp_core.catalog.datasets import Dataset, load_dataset
from cpp_core.catalog.losses import make_loss
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.settings import LOSS_SETTINGS
from cpp_core.catalog.variants import VARIANTS, Variant
from cpp_core.checks import lookup
from cpp_core.method.constructions import Part, with_test
from cpp_core.method.evaluation import Loss
from cpp_core.method.modulation import Modulation
from cpp_core.method.splits import HALF, check_training_size, group_counts, part_sizes
from cpp_core.trials.experiment_checks import check_experiment, fill

if TYPE_CHECKING:
    from cpp_core.catalog.tables import Table

USUAL_ALGORITHMS: dict[Task, tuple[str, ...]] = {
    "classification": ("logistic", "random-forest"),
    "regression": ("ridge", "random-forest"),
}
"""What competes on a user's table where nobody says what: a linear model and trees."""

LIGHT_ALGORITHMS: dict[Task, tuple[str, ...]] = {
    "classification": ("logistic", "boosting"),
    "regression": ("ridge", "boosting"),
}
"""The same with trees that take little memory, for a table that is too large for the others."""

MINUS = " minus "
"""Between the names of a pair."""

NUMBERS_VERSION = 2
"""Raised whenever the same experiment and seed would give other numbers than before."""

Settings = tuple[tuple[str, Any], ...]


def _frozen(settings: Any) -> Settings:
    """A mapping, nested ones too, as sorted pairs."""
    items = settings.items() if isinstance(settings, Mapping) else settings
    return tuple(
        sorted(
            (str(name), _frozen(value) if isinstance(value, Mapping) else value)
            for name, value in items
        )
    )


def pair_name(first: str, second: str) -> str:
    """The name of a pair of algorithms, whichever comes first.

    >>> pair_name("svm-rbf", "gd")
    'gd minus svm-rbf'
    """
    return MINUS.join(sorted((first, second)))


def check_algorithm(experiment: "Experiment", algorithm: str) -> str:
    """An algorithm that competes."""
    if algorithm not in experiment.algorithms:
        raise ValueError(
            f"{algorithm!r} is not among the algorithms {', '.join(experiment.algorithms)}."
        )
    return algorithm


@dataclass(frozen=True)
class Sizes:
    """How the cases of one trial are spent.

    ``k`` calibration scores behind the ranks (of ``n_evaluations`` losses each), candidates trained
    on ``m`` cases, ``n_test`` test losses, ``fits`` training runs of each algorithm, and
    ``test_cases`` that the test losses use up.
    """

    k: int
    m: int
    n_test: int
    fits: int
    test_cases: int


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Which data, which algorithms, which loss, which construction, at which sizes.

    Hashable and serialisable (``to_dict``, ``from_dict``). What cannot work is refused here, with
    the reason. Sizes that are left out get sensible values: 75 % of a table for training and
    calibration, the rest for testing.

    Parameters
    ----------
    dataset, dataset_settings : str, mapping
        A registered dataset, and settings of a simulated one.
    algorithms, algorithm_settings : tuple of str, mapping
        One to six registered algorithms; settings by algorithm name.
    loss, loss_settings : str, mapping
        A registered loss (not for ``symbolic``), and its settings such as the clip of log losses.
    variant : str
        ``candidate``, ``z-free``, ``z-fixed``, ``z-variable``, ``symbolic`` or ``batch``.
    n, test_size : int
        Cases for training and calibration, and for testing. For the algorithm constructions on
        simulated data ``test_size`` counts test losses, each with its own fresh training sample; on
        a table they share ``test_size`` cases in disjoint groups.
    n_sets : int
        k of the algorithm constructions, by default 19 or, on a small sample, as many as leave 5
        training cases to each (``usual_sets``); left out for ``symbolic`` and ``batch`` it means
        that they are about one candidate.
    calibration_share : float
        From 0.1 to 0.9: what calibration has of the cases that it shares with the part before it,
        which trains the candidate, or regresses losses. Half is the paper's.
    n_evaluations : int
        Evaluation points of each training subset, for ``z-free``.
    batch_size : int
        Cases of one batch, for ``batch``.
    regressor : str
        What regresses the loss on the case, for ``z-fixed`` and ``z-variable``.
    positive_class : label
        For ``symbolic``.

    Examples
    --------
    >>> experiment = Experiment.preset("digits-candidate")
    >>> experiment.sizes
    Sizes(k=673, m=673, n_test=450, fits=1, test_cases=450)
    >>> Experiment(dataset="iris", algorithms=("gd",))
    Traceback (most recent call last):
        ...
    ValueError: GD does regression, but Iris is a classification; pick another algorithm or dataset.
    """

    dataset: str = "digits"
    dataset_settings: Any = ()
    algorithms: tuple[str, ...] = ("svm-lin", "svm-rbf")
    algorithm_settings: Any = ()
    loss: str | None = None
    loss_settings: Any = ()
    variant: str = "candidate"
    n: int | None = None
    n_sets: int | None = None
    n_evaluations: int = 1
    batch_size: int | None = None
    test_size: int | None = None
    regressor: str | None = None
    positive_class: Any = None
    calibration_share: float = HALF

    def __post_init__(self) -> None:
        for name in ("dataset_settings", "algorithm_settings", "loss_settings"):
            fill(self, name, _frozen(getattr(self, name)))
        fill(self, "algorithms", tuple(self.algorithms))
        check_experiment(self)

    # What it is made of

    @property
    def kind(self) -> Variant:
        """The variant itself."""
        return VARIANTS[self.variant]

    @property
    def data(self) -> Dataset:
        """The dataset itself."""
        return load_dataset(self.dataset, **dict(self.dataset_settings))

    @property
    def criterion(self) -> Loss:
        """The loss by which cases are judged.

        For symbolic sets it is the zero-one loss, whose mean is the error rate.
        """
        loss = make_loss(self.loss or "zero_one", **dict(self.loss_settings))
        return among(loss, self.data.classes) if loss.labels else loss

    @property
    def algorithmic(self) -> bool:
        """Whether the promise is about retraining rather than about one trained candidate."""
        return self.n_sets is not None

    @property
    def modulation(self) -> Modulation | None:
        """How the set moves with the case, if it does."""
        return self.kind.modulation

    def make_algorithm(self, name: str) -> Any:
        """One of the competing algorithms, untrained; mixed columns it encodes itself."""
        settings, data = dict(dict(self.algorithm_settings).get(name, ())), self.data
        algorithm = lookup(name, ALGORITHMS, "algorithm")
        made = algorithm.make(data.task, **settings)
        if data.encoder is None or (algorithm.prepares and data.frame is not None):
            return made
        from sklearn.base import clone
        from sklearn.pipeline import Pipeline

        return Pipeline([("table", clone(data.encoder)), ("algorithm", made)])

    @cached_property
    def sizes(self) -> Sizes:
        """How the cases of one trial are spent."""
        n, test_size = self.n or 0, self.test_size or 0
        b, n_parts = self.batch_size or 1, self.kind.n_parts
        if not self.algorithmic:
            parts = part_sizes(n, n_parts + 1, self.calibration_share)
            return Sizes(parts[-1] // b, parts[0], test_size // b, 1, test_size)
        k, share = self.n_sets or 1, self.calibration_share
        m = check_training_size(n, k, self.batch_size or self.n_evaluations, n_parts, share)
        n_test = test_size if self.data.size is None else test_size // (m + b)
        fits = sum(group_counts(part_sizes(n, n_parts, share), k))
        return Sizes(k, m, n_test, fits + n_test, n_test * (m + b))

    @property
    def entries(self) -> tuple[str, ...]:
        """Whose numbers a trial has: the algorithms, and pairs of them where sets move.

        The difference of two losses is then regressed on the case by itself, which makes narrower
        sets than two regressions apart; elsewhere it can be read off the losses.
        """
        pairs = combinations(self.algorithms, 2) if self.modulation else ()
        return *self.algorithms, *(pair_name(*pair) for pair in pairs)

    def layout(self) -> tuple[Part, ...]:
        """Who trains on which rows of a trial's cases, and who is judged where."""
        held_out, sizes = self.batch_size or self.n_evaluations, self.sizes
        parts = self.kind.layout(self.n or 0, self.n_sets, held_out, self.calibration_share)
        return with_test(parts, self.n or 0, sizes.n_test, self.batch_size or 1)

    # Names

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able description, from which ``from_dict`` makes the same experiment."""

        def plain(value: Any) -> Any:
            if isinstance(value, tuple) and all(isinstance(v, tuple) for v in value):
                return {name: plain(v) for name, v in value}
            return list(value) if isinstance(value, tuple) else value

        described = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        if described["calibration_share"] == HALF:  # numbers that were stored before keep their key
            del described["calibration_share"]
        return described

    def without_cells(self) -> dict[str, Any]:
        """The same, without what a user typed: labels of an own table, in costs and as a class."""
        described = self.to_dict()
        if self.data.own:
            said = described["loss_settings"].items()
            quoted = {name for name, own in LOSS_SETTINGS.items() if own.quotes}
            described["loss_settings"] = {k: v for k, v in said if k not in quoted}
            described["positive_class"] = None
        return described

    @classmethod
    def from_dict(cls, described: Mapping[str, Any]) -> "Experiment":
        """The experiment that ``to_dict`` described."""
        known = {field.name: field.name for field in fields(cls)}
        for name in described:
            lookup(name, known, "field of an experiment")
        return cls(**described)

    def key(self, entry: str, seed: int) -> str:
        """Name of the numbers of one algorithm, or of a pair: a hash of all that they depend on.

        Other competing algorithms are not part of it: they never change these numbers.
        """
        names = tuple(entry.split(MINUS))
        chosen = dict(self.algorithm_settings)
        settings = tuple((name, chosen.get(name, ())) for name in names)
        alone = replace(self, algorithms=names, algorithm_settings=settings).to_dict()
        for name in (name for name, own in LOSS_SETTINGS.items() if not own.counts):
            alone["loss_settings"].pop(name, None)
        content = {"experiment": alone, "seed": seed, "numbers": NUMBERS_VERSION}
        own = [ALGORITHMS[name].digest for name in names]
        content |= {"own": own} if any(own) else {}
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @classmethod
    def preset(cls, name: str, **changes: Any) -> "Experiment":
        """One of the paper's four runs, with changes if any."""
        return cls(**{**lookup(name, PRESETS, "preset").settings, **changes})

    @classmethod
    def from_table(
        cls,
        frame: Any,
        target: str | None = None,
        task: Task | None = None,
        *,
        group: str | None = None,
        time: str | None = None,
        id: str | None = None,
        drop: Iterable[str] = (),
        label: str = "Your table",
        **settings: Any,
    ) -> "Experiment":
        """An experiment on a user's own table: a pandas or polars frame, a row for each case.

        Target and task are guessed where they are not said (``type_frame``); columns in ``drop``,
        ``time`` and ``id`` are no inputs. Mixed columns and missing values become numbers inside
        each training run, but for algorithms that prepare their columns themselves (a ``Pipeline``
        of one's own): those read the same columns as they are. Free text, names of the rows and
        empty columns are left out, with a warning. ``algorithms`` are names, or estimators by
        name. The same content has the same name, by which stored losses are found.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"size": range(60), "city": ["Oslo", "Rome"] * 30})
        >>> frame["price"] = frame["size"] ** 1.5
        >>> experiment = Experiment.from_table(frame, target="price")
        >>> experiment.data.feature_names, experiment.algorithms
        (('size', 'city'), ('ridge', 'random-forest'))
        """
        from cpp_core.catalog.tables import type_frame

        table = type_frame(frame).table(target, task, group=group, time=time, id=id, drop=drop)
        if table.left_out:
            warnings.warn(f"{' '.join(table.left_out)} Say drop=[...] for silence.", stacklevel=2)
        return cls.on(table, label, **settings)

    @classmethod
    def on(cls, table: "Table", label: str = "Your table", **settings: Any) -> "Experiment":
        """An experiment on a table that was understood already (``Typed.table``)."""
        from cpp_core.catalog.tables import dataset_of

        given = settings.pop("algorithms", USUAL_ALGORITHMS[table.task])
        if isinstance(given, Mapping):
            from cpp_core.catalog.own_algorithms import add_algorithm

            given = [add_algorithm(name, estimator).name for name, estimator in given.items()]
        data = dataset_of(table, label, prepares(given))
        return cls(dataset=data.name, algorithms=tuple(given), **settings)
