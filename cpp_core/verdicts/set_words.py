"""A set in a few words, its ends rounded outwards, as charts and sentences quote it."""

import math
from dataclasses import replace

from cpp_core.verdicts.about import NO_BOUND, About

EMPTY = "an empty set"


def set_words(about: About, lower: float, upper: float, side: str = "two-sided") -> str:
    """A set with its unit: "at most 0.31 nats", "an empty set", "no finite bound".

    >>> set_words(About(unit="nats"), 0.0104, 0.31)
    'between 0.0104 and 0.31 nats'
    """
    if lower > upper:
        return EMPTY
    if side != "upper":
        return about.between(lower, upper)
    return about.bound(lower if about.greater_is_better else upper)


def has_words(
    about: About, lower: float, upper: float, side: str = "two-sided", unit: str = ""
) -> str:
    """The same behind a name, in another unit or in none: "SVM-rbf has no finite bound".

    >>> about = About()
    >>> has_words(about, 0, 0.31, "upper"), has_words(about, 0, math.inf, "upper")
    ('at most 0.31', 'has no finite bound')
    """
    bad = lower if about.greater_is_better else upper
    endless = math.isinf(bad) if side == "upper" else about.unbounded(lower, upper)
    lacking = EMPTY if lower > upper else NO_BOUND if endless else ""
    return f"has {lacking}" if lacking else set_words(replace(about, unit=unit), lower, upper, side)


def bare_words(about: About, lower: float, upper: float, side: str = "two-sided") -> str:
    """The ends that count on this side, without a unit, as a table or a list has them.

    >>> about = About(low=0)
    >>> bare_words(about, 0.1, 2, "upper"), bare_words(about, 0.1, 2)
    ('2', '0.1 to 2')
    >>> bare_words(about, 0.1, math.inf), bare_words(about, math.inf, math.inf)
    ('0.1 or more', 'no finite bound')
    """
    ends = {"lower": lower, "upper": upper}
    if side == "two-sided":
        if about.unbounded(lower, upper):
            return NO_BOUND
        if math.isinf(upper):
            return f"{about.lower_end(lower)} or more"
        if math.isinf(lower):
            return f"{about.upper_end(upper)} or less"
    return " to ".join(about.rounded(end, ends[end]) for end in about.ends(side))
