"""The way on which a gauge comes to its figure: one repetition, then ever more of them."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpp_core.lessons import breaks
from cpp_core.lessons.charts import ALPHA, growth
from cpp_core.lessons.stored import average, stored
from cpp_core.method.ranks import coverage_law

TRIED = 2000
"""Repetitions of what is known exactly: they are seen to come near it."""


class Way(NamedTuple):
    """A share of new cases, and its means after so many repetitions, each called a ``unit``.

    An ``exact`` one is computed; any other is the mean of all repetitions.
    """

    share: float
    unit: str
    counts: list[int]
    means: tuple[float, ...]
    exact: bool


Drawn = Callable[[Any, np.random.Generator], NDArray]
"""What draws the shares of ``TRIED`` repetitions at a value of the control."""


def kept_way(measure: str, key: str, unit: str = "table") -> Callable[[Any], Way]:
    """What reads an average that is kept, with the way to it, by the value of a control."""
    size = breaks.MEASURES[measure].size

    def way(value: Any) -> Way:
        own = stored(measure)[key.format(value)]
        return Way(own.mean, unit, growth(size), own.way, exact=False)

    return way


def tried_way(exact: Callable[[Any], float], drawn: Drawn, unit: str) -> Callable[[Any], Way]:
    """What computes a share, and tries it."""

    @lru_cache(maxsize=16)
    def way(value: Any) -> Way:
        means = average(drawn(value, np.random.default_rng(80)), way=True).way
        return Way(exact(value), unit, growth(TRIED), means, exact=True)

    return way


def lowest(models: int, rng: np.random.Generator) -> NDArray:
    """What the lowest bound covers, each time that it is chosen among so many."""
    law = coverage_law(breaks.LOWEST_K, ALPHA, "upper")
    return rng.beta(*law, (TRIED, models)).min(axis=1)


def dropped(m: int, rng: np.random.Generator) -> NDArray:
    """What the bounds of runs that did not fail cover of all runs."""
    covers = rng.beta(*coverage_law(breaks.FAILED_K, ALPHA, "upper"), TRIED)
    return covers * breaks.succeeding(m)


def noisier(factor: float, rng: np.random.Generator) -> NDArray:
    """Whether each new case stays inside once the noise has grown."""
    return np.abs(factor * rng.standard_normal(TRIED)) <= breaks.EXACT_BOUND


def clipped(k: int, rng: np.random.Generator) -> NDArray:
    """What the largest of k losses covers."""
    return rng.random((TRIED, k)).max(axis=1)


SHIFT = kept_way("break-shift", "shift-{}")
NOISE = tried_way(breaks.noisier, noisier, "new case")


def drift(value: str) -> Way:
    """A change of the noise or of the inputs."""
    kind, size = value.split("-")
    return NOISE(float(size)) if kind == "noise" else SHIFT(size)
