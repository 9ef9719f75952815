"""The data that a user can pick: finite tables and simulators behind one interface."""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn import datasets as bundled

from cpp_core.catalog.algorithms import Task
from cpp_core.checks import check_count, lookup

Draw = Callable[[int, np.random.Generator], tuple[NDArray, NDArray]]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Cases to draw from: a table, without replacement, or a simulator, without end.

    Attributes
    ----------
    name, label, description : str
    task : "classification" or "regression"
    draw : callable
        ``draw(n, rng)`` gives n exchangeable cases (X, y).
    table : tuple of arrays or None
        All cases (X, y) of a finite table; None for a simulator.
    classes : tuple
        Labels of a classification, empty for a regression.
    feature_names : tuple of str
    feature_map : callable or None
        Suggested inputs for regressing a loss on a case.
    unit : str
        Unit of y in a regression.
    picture : callable or None
        Turns the inputs of a case into a picture: grey values of 0 to 255, dark ink on light paper.
    kernel : str or None
        Compiled code that computes whole trials on it, of the algorithms that have it too.
    own : bool
        Whether it is a user's own table, which this process alone knows.
    """

    name: str
    label: str
    description: str
    task: Task
    draw: Draw
    table: tuple[NDArray, NDArray] | None = None
    classes: tuple[Any, ...] = ()
    feature_names: tuple[str, ...] = ()
    feature_map: Callable[[Any], NDArray] | None = None
    unit: str = ""
    picture: Callable[[NDArray], NDArray] | None = None
    kernel: str | None = None
    own: bool = False

    @property
    def size(self) -> int | None:
        """How many cases there are, None for a simulator."""
        return None if self.table is None else len(self.table[1])


def table_dataset(
    name: str, label: str, X: NDArray, y: NDArray, task: Task, **about: Any
) -> Dataset:
    """A finite table as a Dataset."""

    def draw(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
        if check_count(n, "n") > len(y):
            raise ValueError(f"{label} has {len(y)} cases, but {n} were asked for; ask for fewer.")
        rows = rng.permutation(len(y))[:n]
        return X[rows], y[rows]

    classes = tuple(np.unique(y).tolist()) if task == "classification" else ()
    kind = f"{len(classes)} classes" if classes else "a numeric target"
    about.setdefault("description", f"{len(y):,} cases, {X.shape[1]} inputs, {kind}")
    return Dataset(name, label, task=task, draw=draw, table=(X, y), classes=classes, **about)


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


def _bundled(
    name: str, label: str, load: Callable[[], Any], task: Task, about: Mapping[str, Any], /
) -> Dataset:
    raw = load()
    y = raw.target_names[raw.target] if task == "classification" else raw.target
    names = tuple(map(str, raw.feature_names))
    return table_dataset(name, label, raw.data, y, task, feature_names=names, **about)


def _quadnoise(d: int = 2, noise: str = "normal", scale: float = 2.2, df: float = 2.1) -> Dataset:
    """Y = <w*, X> + e with w* = (1, ..., 1), X ~ N(0, I_d); e Normal or Student-t."""
    check_count(d, "d")
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
    check_count(d, "d")
    if not 0 < bayes_error < 0.5:
        raise ValueError(f"bayes_error must lie between 0 and 0.5, but {bayes_error!r} was given.")
    shift = -stats.norm.ppf(bayes_error)

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


_DIGITS = {
    "description": "1,797 images, 10 classes",
    "feature_map": digits_features,
    "picture": _digit_picture,
}
_DIABETES = {"unit": "progression score"}
_table = partial(partial, _bundled)
DATASETS: dict[str, Callable[..., Dataset]] = {
    "digits": _table("digits", "Digits", bundled.load_digits, "classification", _DIGITS),
    "quadnoise": _quadnoise,
    "breast-cancer": _table(
        "breast-cancer", "Breast cancer", bundled.load_breast_cancer, "classification", {}
    ),
    "wine": _table("wine", "Wine", bundled.load_wine, "classification", {}),
    "iris": _table("iris", "Iris", bundled.load_iris, "classification", {}),
    "diabetes": _table("diabetes", "Diabetes", bundled.load_diabetes, "regression", _DIABETES),
    "two-classes": _two_classes,
    "growing-noise": _growing_noise,
}
"""What makes each registered dataset, by name."""


@dataclass(frozen=True)
class Setting:
    """A setting of a simulated dataset that a page offers, with its name in a link.

    A choice among ``options``, which are labels by name, or a number from ``low`` to ``high`` in
    steps.
    """

    name: str
    label: str
    key: str
    default: Any
    options: Mapping[str, str] = field(default_factory=dict)
    low: float = 0
    high: float = 0
    step: float = 0


_NOISES = {"normal": "Normal", "student": "Student-t: rare large errors"}
SETTINGS: dict[str, tuple[Setting, ...]] = {
    "quadnoise": (
        Setting("noise", "Noise", "noise", "normal", _NOISES),
        Setting("d", "Inputs (d)", "d", 2, low=1, high=50, step=1),
    ),
    "two-classes": (
        Setting("bayes_error", "Errors of the best classifier", "bayes", 0.1, {}, 0.01, 0.45, 0.01),
    ),
    "growing-noise": (
        Setting("spread", "Noise at the right end", "spread", 1.0, low=0.1, high=3.0, step=0.1),
    ),
}
"""What a page offers to change in a simulation, by dataset."""


def array_bytes(values: NDArray) -> bytes:
    """The content of an array, of labels that are text too."""
    if values.dtype.kind in "fiub":
        return values.tobytes()
    return "\0".join(map(str, values)).encode()


def add_table(X: Any, y: Any, task: Task, label: str = "Your table", **about: Any) -> Dataset:
    """Register a user's own table; its name is a digest of its content.

    The same content gets the same name, so that stored losses are found again.
    """
    X, y = np.ascontiguousarray(X, dtype=np.float64), np.asarray(y)
    content = hashlib.sha256(X.tobytes())
    content.update(str((X.shape, y.dtype, task)).encode())
    content.update(array_bytes(y))
    name = f"table-{content.hexdigest()[:16]}"
    dataset = table_dataset(name, label, X, y, task, own=True, **about)
    register(dataset)
    return dataset


def register(dataset: Dataset) -> None:
    """Make a dataset known by its name, in this process."""
    DATASETS[dataset.name] = lambda: dataset


@lru_cache(maxsize=32)
def load_dataset(name: str, **settings: Any) -> Dataset:
    """A registered dataset, with settings where it is simulated.

    >>> load_dataset("quadnoise", noise="student").draw(3, np.random.default_rng(0))[0].shape
    (3, 2)
    """
    maker = lookup(name, DATASETS, "dataset")
    try:
        return maker(**settings)
    except TypeError as error:
        raise ValueError(f"The dataset {name!r} does not take these settings: {error}.") from error
