"""What every room needs: levels read exactly, counts, sides, and names that are looked up."""

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational, Real
from typing import Literal, TypeVar, cast

import numpy as np

Side = Literal["two-sided", "upper"]
Level = float | Decimal | Fraction

MOST = 10**15
"""The greatest count: beyond it arrays of 64-bit numbers could not tell two counts apart."""

DELTA = 0.05
"""How often a decision may be wrong unless somebody says otherwise: 95 % confidence."""

DECIMALS = 12
"""A float is read as the decimal with this many places that it was typed as."""


def to_fraction(value: Level, name: str) -> Fraction:
    """Read a number as the decimal fraction that its author meant.

    >>> to_fraction(0.1, "alpha")
    Fraction(1, 10)
    """
    if isinstance(value, Rational):
        return Fraction(value)
    if isinstance(value, Decimal) and value.is_finite():
        return Fraction(value)
    if isinstance(value, Real) and math.isfinite(value):
        return Fraction(f"{float(value):.{DECIMALS}f}")
    raise ValueError(f"{name} must be a number strictly between 0 and 1, but {value!r} was given.")


def probability(value: Level, name: str) -> Fraction:
    if isinstance(value, bool):
        raise ValueError(f"{name} must be a number, but {value!r} was given.")
    fraction = to_fraction(value, name)
    if 0 < fraction < 1:
        return fraction
    hint = f"write {name}=0.1 for one in ten"
    if 1 < fraction < 100:
        hint = f"if you mean {float(value):g} %, write {name}={float(fraction / 100):.12g}"
    elif 0 < value < 1:
        hint = f"it is nearer to 0 or 1 than the {DECIMALS} decimals that are read; use a Fraction"
    raise ValueError(f"{name} must lie strictly between 0 and 1, but {value!r} was given; {hint}.")


@lru_cache(maxsize=1024)
def exact_alpha(alpha: Level) -> Fraction:
    """Alpha as an exact fraction strictly between 0 and 1."""
    return probability(alpha, "alpha")


@lru_cache(maxsize=1024)
def alpha_of(confidence_level: Level) -> Fraction:
    """The alpha that belongs to a confidence level, without the rounding of ``1 - 0.9``.

    >>> alpha_of(0.9)
    Fraction(1, 10)
    """
    return 1 - probability(confidence_level, "confidence_level")


def alphas_of(confidence_level: Level | Sequence[Level]) -> tuple[list[Fraction], bool]:
    """The alphas of one confidence level or of several, and whether several were given."""
    if isinstance(confidence_level, Sequence | np.ndarray) and not isinstance(
        confidence_level, str
    ):
        if not len(confidence_level):
            raise ValueError("confidence_level is an empty list; give at least one level.")
        return [alpha_of(level) for level in confidence_level], True
    return [alpha_of(confidence_level)], False


def check_side(side: str) -> Side:
    """Refuse a side that does not exist."""
    if side not in ("two-sided", "upper"):
        raise ValueError(f"side must be 'two-sided' or 'upper', but {side!r} was given.")
    return cast(Side, side)


def check_count(value: int, name: str, least: int = 1, most: int = MOST) -> int:
    """A whole number from ``least`` to ``most``, as a Python int."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    if value > most:
        raise ValueError(
            f"{name} must be at most {most:,}, but {Decimal(int(value)):.4g} was given."
        )
    return int(value)


T = TypeVar("T")


def lookup(name: str, registry: Mapping[str, T], kind: str) -> T:
    """An entry by name; an unknown name is answered with the nearest known one."""
    if name in registry:
        return registry[name]
    near = get_close_matches(str(name), registry, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(registry)}."
    raise ValueError(f"There is no {kind} called {name!r}; {hint}")
