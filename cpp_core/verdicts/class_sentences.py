"""What is said about classes: where the median bound is highest, and whose promise is its own."""

import numpy as np
import pandas as pd

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.verdicts.about import About, is_stored
from cpp_core.verdicts.language import counted, listed

MOST_NAMED = 3
"""Labels that a title names."""


def class_finding(frame: pd.DataFrame, about: About) -> str:
    """In which class the median bound is highest, and where it is lowest.

    ``frame`` is what ``class_bounds`` gives.
    """
    known = frame.dropna(subset="upper")
    if known.empty:
        return "No class has a test case"
    ends = known["upper"].min(), known["upper"].max()
    least, most = (_those_at(known, end, about) for end in ends)
    bounds = [about.end(end) for end in ends]
    if np.isfinite(ends[1]) and is_stored(ends[1], about.high):
        bounds[1] += ", the top of the range"
    if about.end(ends[0]) == about.end(ends[1]):
        return f"The median bound is {bounds[1]}{',' * (',' in bounds[1])} in every class"
    return (
        f"By label, the median bound is highest for {most} ({bounds[1]}), lowest for {least} "
        f"({bounds[0]})"
    )


def _those_at(known: pd.DataFrame, end: float, about: About) -> str:
    """The labels with a median bound that is quoted like this one, and of which algorithms."""
    same = known[[about.end(upper) == about.end(end) for upper in known["upper"]]]
    whose: dict[str, list[str]] = {}
    for label, rows in same.groupby("label", sort=False):
        names = listed(ALGORITHMS[name].label for name in rows["algorithm"])
        whose.setdefault(names, []).append(str(label))
    told = [f"{_some(labels)} with {names}" for names, labels in whose.items()]
    return listed(told)


def _some(labels: list[str]) -> str:
    """Labels in a title, the first of them where there are many."""
    others = len(labels) - MOST_NAMED
    shown = labels if others < 2 else [*labels[:MOST_NAMED], f"{others:,} others"]
    return listed(shown)


def own_promise(frame: pd.DataFrame) -> str:
    """From how many scores the bounds come that are calibrated within a class."""
    scores, lacking = frame["k"], frame[frame["more"] > 0]
    few = list(dict.fromkeys(map(str, lacking["label"])))
    most = counted(int(scores.max()), "score")
    span = f"{scores.min():,} to {most}" if scores.nunique() > 1 else most
    told = f"Hatched: a bound with a promise of its own for each class, from {span} each."
    if few:
        needed = (lacking["k"] + lacking["more"]).iloc[0]
        told += f" None for {listed(few)}: that takes {counted(int(needed), 'score')}."
    return told
