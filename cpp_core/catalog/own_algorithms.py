"""Algorithms of one's own: any estimator, with a colour, known by its name in this process.

Losses are stored under a digest of the estimator: its class, the version of its package, its
settings. Where that cannot be told for sure, such as for a class that is being written, the digest
is never used twice: the same name with other settings finds no old numbers.

A Python file of one's own is read only where somebody at the keyboard names it.
"""

import hashlib
import inspect
import os
import re
import sys
import sysconfig
import uuid
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle
import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from cpp_core.catalog.algorithms import ALGORITHMS, Algorithm, Task

VARIABLE = "CPP_CORE_ALGORITHMS"
"""Names a Python file of algorithms, for the dashboard and its workers."""

LOOKS = (
    *(("#332288", "diamond", "+"), ("#44AA99", "hexagram", "|"), ("#882255", "octagon", ".")),
    *(("#117733", "star-square", "/"), ("#CC6677", "triangle-left", "\\")),
    *(("#AA4499", "triangle-right", "x"), ("#6699CC", "diamond-tall", "-")),
    *(("#997700", "star-diamond", "+"), ("#004488", "pentagon", "|"), ("#994455", "square", ".")),
)
"""Colours, markers and hatches beyond those of the registered ones: Paul Tol's, safe for
colour-blind eyes. They start again where there are more algorithms."""


def add_algorithm(
    name: str, estimator: Any, label: str | None = None, description: str | None = None
) -> Algorithm:
    """Register an untrained estimator under a name, with a colour of its own.

    A name that another algorithm has gets a suffix; the same estimator has the same name again.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> stump = add_algorithm("stump", DecisionTreeClassifier(max_depth=1))
    >>> stump.name, stump.tasks, add_algorithm("stump", DecisionTreeClassifier()).name == "stump"
    ('stump', ('classification',), False)
    """
    if inspect.isclass(estimator) or not hasattr(estimator, "fit"):
        raise ValueError(
            f"The algorithm {name!r} is {estimator!r}, which cannot be trained; give an estimator "
            "such as RandomForestClassifier()."
        )
    if is_trained(estimator):
        raise ValueError(
            f"The algorithm {name!r} holds a model that stays as it was trained, and may know the "
            "cases it is judged at. Give an untrained estimator; CandidateCPP(model, prefit=True) "
            "judges a trained one, at cases that it has not seen."
        )
    digest, kept = digest_of(estimator)
    label = str(name).strip() if label is None else label
    plain = re.sub(r"\s+", "-", str(name).strip()) or "algorithm"
    for free in (plain, f"{plain}-{digest[:8]}"):
        known = ALGORITHMS.get(free)
        if known is None or (known.digest == digest and known.label == label):
            break
    if known is None:
        color, marker, hatch = LOOKS[sum(own.own for own in ALGORITHMS.values()) % len(LOOKS)]
        about = description or " ".join(repr(estimator).split())[:200]
        known = Algorithm(
            *(free, label, about, color, marker, hatch),
            makers=dict.fromkeys(_tasks(estimator), partial(_made, estimator)),
            own=True,
            digest=digest,
            kept=kept,
            prepares=prepares(estimator),
        )
        ALGORITHMS[free] = known
    return known


def is_trained(estimator: Any) -> bool:
    """Whether some model in it would not be trained anew in each training run.

    >>> from sklearn.frozen import FrozenEstimator
    >>> from sklearn.svm import SVC
    >>> is_trained(SVC().fit([[0], [1]], [0, 1])), is_trained(FrozenEstimator(SVC()))
    (False, True)
    """
    parts = [estimator]
    if hasattr(estimator, "get_params"):
        parts += estimator.get_params(deep=True).values()
    return any(isinstance(part, FrozenEstimator) for part in parts)


def _made(estimator: Any, **settings: Any) -> Any:
    fresh = clone(estimator, safe=False)
    return fresh.set_params(**settings) if settings else fresh


def _tasks(estimator: Any) -> tuple[Task, ...]:
    """What it can do by its own word; both where it does not say."""
    if is_classifier(estimator):
        return ("classification",)
    return ("regression",) if is_regressor(estimator) else ("classification", "regression")


def prepares(estimator: Any) -> bool:
    """Whether it prepares its columns itself, so that it is given a frame as it is."""
    parts = [estimator]
    if hasattr(estimator, "get_params"):
        parts += estimator.get_params(deep=True).values()
    return any(isinstance(part, Pipeline | ColumnTransformer) for part in parts)


# What the numbers of an estimator depend on


class _UnsureError(Exception):
    """That two estimators of this kind are equal cannot be told."""


def digest_of(estimator: Any) -> tuple[str, bool]:
    """A digest of class, version and settings, and whether it may be found again.

    >>> from sklearn.svm import SVC
    >>> digest_of(SVC(C=2)) == digest_of(SVC(C=2)), digest_of(SVC()) == digest_of(SVC(C=2))
    (True, False)
    """
    try:
        return hashlib.sha256(_described(estimator).encode()).hexdigest()[:16], True
    except _UnsureError:
        return uuid.uuid4().hex[:16], False


def _described(value: Any) -> str:
    """Everything that the numbers depend on, as text; seeds are set anew for each training run."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({','.join(map(_described, value))})"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{_described(k)}:{_described(v)}' for k, v in value.items())}}}"
    if inspect.isclass(value) or inspect.isfunction(value) or isinstance(value, np.ufunc):
        return _home(value)
    if hasattr(value, "get_params") and not inspect.isclass(value):
        settings = value.get_params(deep=False)
        settings = {name: own for name, own in settings.items() if name != "random_state"}
        return f"{_home(type(value))}{_described(settings)}"
    raise _UnsureError


def _home(made: Any) -> str:
    """The full name of a class or function of an installed package, with its version."""
    module = sys.modules.get(getattr(made, "__module__", None) or "numpy")
    name = getattr(made, "__qualname__", made.__name__)
    file, text = getattr(module, "__file__", None), getattr(module, "__digest__", "")
    if text:  # a file of one's own, which was read whole
        return f"{text}.{name}"
    if module is None or file is None or "<" in name:  # typed at a prompt, or without a name
        raise _UnsureError
    top = sys.modules[module.__name__.partition(".")[0]]
    installed = {sysconfig.get_paths()[kind] for kind in ("purelib", "platlib")}
    inside = any(Path(file).is_relative_to(folder) for folder in installed)
    if not (inside or top.__name__ == "cpp_core"):
        raise _UnsureError
    return f"{module.__name__}.{name} {getattr(top, '__version__', '')}"


# A Python file of one's own


def read_algorithms(path: str | Path) -> list[Algorithm]:
    """Register what a Python file holds: its ``ALGORITHMS``, estimators by name.

    The file is executed. Nothing but a person at the keyboard may name it.
    """
    file = Path(path)
    try:
        source = file.read_bytes()
    except OSError as error:
        raise ValueError(f"{file} cannot be read ({error.strerror}); name a Python file.") from None
    digest = hashlib.sha256(source).hexdigest()
    module = ModuleType(f"cpp_core_own_{digest[:16]}")
    module.__file__, module.__dict__["__digest__"] = str(file), digest
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, str(file), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:  # a file must not end the program that reads it
        del sys.modules[module.__name__]
        raise ValueError(
            f"{file} cannot be executed ({type(error).__name__}: {error}); mend it, then try again."
        ) from error
    offered = getattr(module, "ALGORITHMS", None)
    if not isinstance(offered, Mapping) or not offered:
        raise ValueError(
            f'{file} has no algorithms; write ALGORITHMS = {{"forest": RandomForestClassifier()}}.'
        )
    cloudpickle.register_pickle_by_value(module)  # no other process can import it
    return [add_algorithm(name, estimator) for name, estimator in offered.items()]


def read_from_environment() -> None:
    """Register what the file that ``CPP_CORE_ALGORITHMS`` names holds; else warn."""
    path = os.environ.get(VARIABLE)
    if path:
        try:
            read_algorithms(path)
        except ValueError as error:
            warnings.warn(f"{VARIABLE}: {error}", stacklevel=2)
