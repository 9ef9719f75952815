"""What the columns of a user's table are for, and how a link says it without their names."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from cpp_core.catalog.algorithms import Task

FORM = re.compile(r"\d{1,5}\.[cr](\.(\d{1,5}|x)){3}(\.\d{1,5}(-\d{1,5})?){0,2000}(~\d{0,9})?")
"""Positions of columns, by what they are for, neighbours that are left out as a range; then which
answers were given to what a file does not tell, by position too."""

TASKS: dict[str, Task] = {"c": "classification", "r": "regression"}


class Roles(NamedTuple):
    """What a visitor says about the columns."""

    target: str
    task: Task
    group: str | None = None
    time: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()


class Source(NamedTuple):
    """The file of a user's table: its name, what its columns are for, how it was read.

    ``how`` has the arguments of ``read_frame`` that say what the file does not tell, ``warnings``
    what the checks found that a reader of a report must know.
    """

    file: str
    roles: Roles
    how: tuple[tuple[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()


def roles_text(roles: Roles, names: Sequence[str], answers: Sequence[int] = ()) -> str:
    """Roles as a link says them, by position alone: names are the user's own.

    >>> roles_text(Roles("y", "regression", time="day", drop=("a",)), ["a", "day", "y"], [1, 0])
    '2.r.x.1.x.0~10'
    >>> roles_text(Roles("d", "regression", drop=("a", "b", "c")), ["a", "b", "c", "d"])
    '3.r.x.x.x.0-2'
    """
    place = {name: i for i, name in enumerate(names)}
    parts = [str(place[roles.target]), roles.task[0]]
    parts += [str(place.get(name or "", "x")) for name in (roles.group, roles.time, roles.id)]
    text = ".".join([*parts, *_ranges(sorted(place[name] for name in roles.drop))])
    return text + (f"~{''.join(map(str, answers))}" if answers else "")


def _ranges(places: Sequence[int]) -> list[str]:
    """Ascending positions in few words."""
    runs: list[list[int]] = []
    for one in places:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]


def _places(text: str, size: int) -> range:
    """The positions of a range, or of one column; an IndexError where there are fewer columns."""
    first, _, last = text.partition("-")
    places = range(int(first), int(last or first) + 1)
    if not places or places[-1] >= size:
        raise IndexError(text)
    return places


def read_roles(text: str | None, names: Sequence[str]) -> Roles | None:
    """The roles that a link says of these columns; None where it says none of them.

    >>> read_roles("2.r.x.1.x.0~10", ["a", "day", "y"])
    Roles(target='y', task='regression', group=None, time='day', id=None, drop=('a',))
    >>> read_roles("3.r.x.x.x.0-2", ["a", "b", "c", "d"]).drop
    ('a', 'b', 'c')
    >>> read_roles("2.r.x.1.x", ["a"])
    """
    if not text or not FORM.fullmatch(text):
        return None
    target, task, *others = text.partition("~")[0].split(".")
    try:
        group, time, id = (None if one == "x" else names[int(one)] for one in others[:3])
        spans = [_places(one, len(names)) for one in others[3:]]
        if sum(map(len, spans)) > len(names):  # written by nobody but who wants much of little
            return None
        drop = tuple(dict.fromkeys(names[i] for span in spans for i in span))
        return Roles(names[int(target)], TASKS[task], group, time, id, drop)
    except IndexError:
        return None


def read_answers(text: str | None) -> list[int]:
    """Which answers a link gives to what a file does not tell.

    >>> read_answers("2.r.x.1.x~10"), read_answers(None)
    ([1, 0], [])
    """
    known = text is not None and FORM.fullmatch(text) is not None
    return [int(digit) for digit in (text or "").partition("~")[2]] if known else []
