"""Averages over many simulated tables, which take too long for a slider: kept in a file.

``python -c "from cpp_core.lessons.stored import main; main()"`` computes them again, in about a
minute; a test compares them with averages from other seeds.
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cpp_core.lessons.charts import growth
from cpp_core.verdicts.language import percent

FILE = Path(__file__).with_name("stored.json")
MEASURED = ("breaks", "fixed_or_variable", "marginal", "two_numbers")
"""Modules with ``MEASURES``: functions of a size and a seed, by name."""


class Average(NamedTuple):
    """A mean over independent repetitions, with its standard error.

    Where it is shown how the mean came to be, ``way`` is what it was after as many repetitions as
    ``growth`` says.
    """

    mean: float
    error: float
    way: tuple[float, ...] = ()


Measure = Callable[[int, int], Mapping[str, Average]]
"""What takes a number of repetitions and a seed, and gives averages by name."""


class Kept(NamedTuple):
    """A measure, the repetitions whose averages are kept, and those of a quick comparison."""

    measure: Measure
    size: int
    again: int


def average(values: ArrayLike, way: bool = False) -> Average:
    """The mean of independent values, on demand with the way to it."""
    known = np.asarray(values, dtype=float)
    error = known.std(ddof=1) / np.sqrt(known.size)
    means = tuple(float(known[:n].mean()) for n in growth(known.size)) if way else ()
    return Average(float(known.mean()), float(error), means)


@lru_cache(maxsize=1)
def _all() -> dict[str, dict[str, Average]]:
    kept = json.loads(FILE.read_text())
    return {
        name: {key: Average(mean, error, tuple(way)) for key, (mean, error, *way) in found.items()}
        for name, found in kept.items()
    }


def stored(name: str) -> dict[str, Average]:
    """The averages of a measure."""
    return _all()[name]


def filled(text: str) -> str:
    """The text with averages for what stands in braces, as ``{break-cv/cv-right}``."""
    return re.sub(r"\{([\w-]+)/([\w.-]+)\}", lambda own: percent(stored(own[1])[own[2]].mean), text)


def measures() -> dict[str, Kept]:
    """Every measure by name."""
    found: dict[str, Kept] = {}
    for module in MEASURED:
        found |= import_module(f"cpp_core.lessons.{module}").MEASURES
    return found


def main(only: str = "") -> None:
    """Compute those whose names begin so, or all, and write the file."""
    kept = json.loads(FILE.read_text()) if only else {}
    for name, own in measures().items():
        if not name.startswith(only):
            continue
        found = own.measure(own.size, 0)
        kept[name] = {
            key: [float(f"{v:.6g}") for v in (one.mean, one.error, *one.way)]
            for key, one in found.items()
        }
        print(name, kept[name])
    lines = (f"{json.dumps(name)}: {json.dumps(found)}" for name, found in kept.items())
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
