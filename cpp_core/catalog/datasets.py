"""The data that a user can pick: finite tables and simulators behind one interface."""

import hashlib
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from cpp_core.catalog.algorithms import Task
from cpp_core.catalog.bundled import BUNDLED, cases_of
from cpp_core.catalog.settings import Setting
from cpp_core.checks import check_count, lookup

if TYPE_CHECKING:
    from cpp_core.catalog.columns import Column
    from cpp_core.learners.table_encoder import TableEncoder

Draw = Callable[[int, np.random.Generator], tuple[NDArray, NDArray]]

MOST_INPUTS = 100_000
"""Of a simulated case."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Cases to draw from: a table, without replacement, or a simulator, without end.

    Attributes
    ----------
    name, label, description : str
    task : "classification" or "regression"
    draw : callable
        ``draw(n, rng)`` gives n exchangeable cases (X, y).
    load : callable or None
        Gives all cases (X, y) of a finite table, the ``table``; None for a simulator.
    size : int or None
        How many cases there are, None for a simulator. What is said here of a bundled table is
        known without its cases, which load slowly.
    classes : tuple
        Labels of a classification, empty for a regression.
    feature_names : tuple of str
    feature_map : callable, transformer or None
        Suggested inputs for regressing a loss on a case; a transformer learns them from the cases
        that the regression is fitted to.
    unit : str
        Unit of y in a regression.
    picture : callable or None
        Turns the inputs of a case into a picture: grey values of 0 to 255, dark ink on light paper.
    kernel : str or None
        Compiled code that computes whole trials on it, of the algorithms that have it too.
    own : bool
        Whether it is a user's own table, which this process alone knows.
    columns : tuple of Column
        What the inputs of a user's own table hold.
    encoder : TableEncoder or None
        What turns such inputs into numbers inside each training run, where they are mixed.
    frame : DataFrame or None
        The same inputs as they were given, for algorithms that prepare them themselves.
    groups : Categorical or None
        The group of each case of a user's own table, as texts; none where it is not known.
    """

    name: str
    label: str
    description: str
    task: Task
    draw: Draw
    load: Callable[[], tuple[NDArray, NDArray]] | None = None
    size: int | None = None
    classes: tuple[Any, ...] = ()
    feature_names: tuple[str, ...] = ()
    feature_map: Any = None
    unit: str = ""
    picture: Callable[[NDArray], NDArray] | None = None
    kernel: str | None = None
    own: bool = False
    columns: "tuple[Column, ...]" = ()
    encoder: "TableEncoder | None" = None
    frame: Any = None
    groups: Any = None

    @property
    def table(self) -> tuple[NDArray, NDArray] | None:
        """All cases (X, y) of a finite table; None for a simulator."""
        return None if self.load is None else self.load()

    @property
    def n_inputs(self) -> int:
        """How many inputs a case has."""
        return len(self.feature_names) or (0 if self.table is None else self.table[0].shape[1])

    def shown(self, x: NDArray, most: int | None = None) -> list[str]:
        """The inputs of a case as their owner knows them: words of categories, dates, gaps."""
        if not self.columns:
            return [f"{value:.4g}" for value in np.asarray(x[:most], dtype=np.float64)]
        return [own.shown(float(v)) for own, v in zip(self.columns[:most], x[:most], strict=True)]


def table_dataset(
    name: str, label: str, X: NDArray, y: NDArray, task: Task, **about: Any
) -> Dataset:
    """A finite table as a Dataset."""
    classes = tuple(np.unique(y).tolist()) if task == "classification" else ()
    about.setdefault("description", described(len(y), X.shape[1], classes))
    load = partial(_held, (X, y))
    draw = partial(_drawn, label, load)
    return Dataset(
        name, label, task=task, draw=draw, load=load, size=len(y), classes=classes, **about
    )


def _held(cases: tuple[NDArray, NDArray]) -> tuple[NDArray, NDArray]:
    """The cases of a table that is in memory."""
    return cases


def described(size: int, n_inputs: int, classes: Sequence[Any]) -> str:
    """The shape of a table, in words."""
    kind = f"{len(classes)} classes" if classes else "a numeric target"
    return f"{size:,} cases, {n_inputs} inputs, {kind}"


def _drawn(
    label: str, load: Callable[[], tuple[NDArray, NDArray]], n: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    X, y = load()
    if check_count(n, "n") > len(y):
        raise ValueError(f"{label} has {len(y)} cases, but {n} were asked for; ask for fewer.")
    rows = rng.permutation(len(y))[:n]
    return X[rows], y[rows]


def digits_features(X: Any) -> NDArray:
    """Four numbers of an 8 x 8 image: vertical and horizontal symmetry, mean, standard deviation.

    Pixels are scaled from 0..16 to the unit interval; a symmetry is minus the mean absolute
    difference between the image and its mirror image (upside down, then left to right).
    """
    images = np.asarray(X, dtype=np.float64).reshape(-1, 8, 8) / 16
    upside_down = np.abs(images - images[:, ::-1, :]).mean(axis=(1, 2))
    left_right = np.abs(images - images[:, :, ::-1]).mean(axis=(1, 2))
    return np.column_stack(
        [-upside_down, -left_right, images.mean(axis=(1, 2)), images.std(axis=(1, 2))]
    )


def _digit_picture(pixels: NDArray) -> NDArray:
    return (255 - pixels.reshape(8, 8) / 16 * 255).astype(np.uint8)


def _bundled(name: str) -> Dataset:
    """A table that comes with scikit-learn; its cases are loaded where they are used."""
    own = BUNDLED[name]
    load = partial(cases_of, name)
    about: dict[str, Any] = {
        "description": described(own.size, len(own.inputs), own.classes),
        "unit": own.unit,
    }
    about |= _PICTURES.get(name, {})
    return Dataset(
        *(name, own.label),
        task="classification" if own.classes else "regression",
        draw=partial(_drawn, own.label, load),
        load=load,
        size=own.size,
        classes=own.classes,
        feature_names=own.inputs,
        **about,
    )


def _quadnoise(d: int = 2, noise: str = "normal", scale: float = 2.2, df: float = 2.1) -> Dataset:
    """Y = <w*, X> + e with w* = (1, ..., 1), X ~ N(0, I_d); e Normal or Student-t."""
    check_count(d, "d", most=MOST_INPUTS)
    if noise not in ("normal", "student"):
        raise ValueError(f"noise must be 'normal' or 'student', but {noise!r} was given.")
    if not (math.isfinite(scale) and scale > 0 and math.isfinite(df) and df > 0):
        raise ValueError(f"scale and df must be positive, but {scale!r} and {df!r} were given.")

    def draw(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        X = rng.standard_normal((check_count(n, "n"), d))
        normal = noise == "normal"
        e = scale * rng.standard_normal(n) if normal else rng.standard_t(df, n)
        return X, X.sum(axis=1) + e

    law = f"Normal noise of sd {scale:g}" if noise == "normal" else f"Student-t noise, {df:g} df"
    return Dataset(
        "quadnoise",
        "Linear model with noise",
        f"Simulated: y is the sum of {d} Normal inputs plus {law}",
        "regression",
        draw,
        feature_names=tuple(f"x{j + 1}" for j in range(d)),
        kernel="descent",
    )


def _two_classes(bayes_error: float = 0.1, d: int = 2) -> Dataset:
    """Two Normal clouds whose best possible classifier errs with probability bayes_error."""
    check_count(d, "d", most=MOST_INPUTS)
    if not 0 < bayes_error < 0.5:
        raise ValueError(f"bayes_error must lie between 0 and 0.5, but {bayes_error!r} was given.")
    shift = -special.ndtri(bayes_error)

    def draw(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        y = rng.integers(2, size=check_count(n, "n"))
        X = rng.standard_normal((n, d))
        X[:, 0] += shift * (2 * y - 1)
        return X, y

    return Dataset(
        "two-classes",
        "Two classes",
        f"Simulated: two Normal clouds; no classifier errs less often than {bayes_error:.3g}",
        "classification",
        draw,
        classes=(0, 1),
        feature_names=tuple(f"x{j + 1}" for j in range(d)),
    )


def _growing_noise(spread: float = 1.0) -> Dataset:
    """A curve whose noise grows with x: narrow sets on the left, wide ones on the right."""
    if not (math.isfinite(spread) and spread > 0):
        raise ValueError(f"spread must be a positive number, but {spread!r} was given.")

    def draw(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        x = rng.uniform(0, 3, check_count(n, "n"))
        return x[:, None], np.sin(2 * x) + spread * (0.05 + 0.6 * x) * rng.standard_normal(n)

    return Dataset(
        "growing-noise",
        "Growing noise",
        "Simulated: a curve of one input on [0, 3] whose noise grows from left to right",
        "regression",
        draw,
        feature_names=("x",),
    )


_PICTURES: dict[str, dict[str, Any]] = {
    "digits": {
        "description": "1,797 images, 10 classes",
        "feature_map": digits_features,
        "picture": _digit_picture,
    },
}
DATASETS: dict[str, Callable[..., Dataset]] = {
    "digits": partial(_bundled, "digits"),
    "quadnoise": _quadnoise,
    **{name: partial(_bundled, name) for name in BUNDLED},
    "two-classes": _two_classes,
    "growing-noise": _growing_noise,
}
"""What makes each registered dataset, by name."""


def usual_settings(name: str) -> dict[str, Any]:
    """The settings that a dataset takes, with their usual values.

    >>> usual_settings("growing-noise"), usual_settings("iris")
    ({'spread': 1.0}, {})
    """
    return {n: p.default for n, p in inspect.signature(DATASETS[name]).parameters.items()}


_USUAL = {name: usual_settings(name) for name in ("quadnoise", "two-classes", "growing-noise")}
_NOISES = {"normal": "Normal", "student": "Student-t: rare large errors"}
SETTINGS: dict[str, tuple[Setting, ...]] = {
    "quadnoise": (
        Setting("noise", "Noise", "noise", _USUAL["quadnoise"]["noise"], _NOISES),
        Setting("d", "Inputs (d)", "d", _USUAL["quadnoise"]["d"], low=1, high=50, step=1),
    ),
    "two-classes": (
        Setting(
            *("bayes_error", "Errors of the best classifier", "bayes"),
            _USUAL["two-classes"]["bayes_error"],
            low=0.01,
            high=0.45,
            step=0.01,
        ),
    ),
    "growing-noise": (
        Setting(
            "spread",
            "Noise at the right end",
            "spread",
            _USUAL["growing-noise"]["spread"],
            low=0.1,
            high=3.0,
            step=0.1,
        ),
    ),
}
"""What a page offers to change in a simulation, by dataset."""


def array_bytes(values: NDArray) -> bytes:
    """The content of an array, of labels that are text too."""
    if values.dtype.kind in "fiub":
        return values.tobytes()
    return "\0".join(map(str, values)).encode()


OWN: dict[str, Dataset] = {}
"""Tables of users, by name; they are in no list that others see."""


DIGITS = 32
"""Of a digest in a name: nobody can make two tables with the same one, to be taken for each other.
"""


def add_table(
    X: Any,
    y: Any,
    task: Task,
    label: str = "Your table",
    columns: "Sequence[Column]" = (),
    groups: "pd.Series | None" = None,
    **about: Any,
) -> Dataset:
    """Register a user's own table; its name is a digest of its content.

    The same content gets the same name, so that stored losses are found again. ``columns`` say what
    X holds where it was typed from a frame (``type_frame``): mixed columns, and missing values,
    become numbers inside each training run. ``groups`` are the cases' own, which change no loss but
    what is told of the losses.
    """
    X, y = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y)
    content = hashlib.sha256(X.tobytes())
    content.update(str((X.shape, y.dtype, task)).encode())
    content.update(array_bytes(y))
    if columns:
        content.update(repr([(own.name, own.kind, own.levels) for own in columns]).encode())
        about.setdefault("feature_names", tuple(own.name for own in columns))
    if about.get("frame") is not None:
        content.update(pd.util.hash_pandas_object(about["frame"].map(repr)).to_numpy().tobytes())
    if groups is not None:
        about["groups"] = named = pd.Categorical(groups.map(_group_name, na_action="ignore"))
        content.update(named.codes.tobytes() + "\0".join(named.categories).encode())
    if any(own.encoded for own in columns) or np.isnan(X).any():
        from cpp_core.learners.table_encoder import TableEncoder  # with scikit-learn: where needed

        codes = tuple(j for j, own in enumerate(columns) if own.kind == "category")
        about["encoder"] = about["feature_map"] = TableEncoder(codes)
    name = f"table-{content.hexdigest()[:DIGITS]}"
    dataset = table_dataset(name, label, X, y, task, own=True, columns=tuple(columns), **about)
    register(dataset)
    return dataset


def _group_name(value: Any) -> str:
    """A group as its owner knows it."""
    if isinstance(value, float) and value.is_integer():  # beside gaps a whole number is a float
        return str(int(value))
    whole_day = isinstance(value, pd.Timestamp) and value == value.normalize()
    return str(value.date() if whole_day else value)


def register(dataset: Dataset) -> None:
    """Make a user's table known by its name, in this process."""
    OWN[dataset.name] = dataset


def forget(name: str) -> None:
    """Forget a user's table."""
    OWN.pop(name, None)


def load_dataset(name: str, **settings: Any) -> Dataset:
    """A registered dataset, with settings where it is simulated; or a user's table by its digest.

    >>> load_dataset("quadnoise", noise="student").draw(3, np.random.default_rng(0))[0].shape
    (3, 2)
    """
    return OWN[name] if name in OWN and not settings else _loaded(name, **settings)


@lru_cache(maxsize=32)
def _loaded(name: str, **settings: Any) -> Dataset:
    maker = lookup(name, DATASETS, "dataset")
    try:
        return maker(**settings)
    except TypeError as error:
        raise ValueError(f"The dataset {name!r} does not take these settings: {error}.") from error
