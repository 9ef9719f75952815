"""What the columns of a user's table are for, and how a link says it without their names."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from cpp_core.catalog.algorithms import Task

FORM = re.compile(r"\d{1,5}\.[cr](\.(\d{1,5}|x)){3}(\.\d{1,5}){0,200}(~\d{0,9})?")
"""Positions of columns, by what they are for; then which answers were given to what a file does
not tell, by position too."""

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
    """
    place = {name: str(i) for i, name in enumerate(names)}
    parts = [place[roles.target], roles.task[0]]
    parts += [place.get(name or "", "x") for name in (roles.group, roles.time, roles.id)]
    text = ".".join([*parts, *(place[name] for name in roles.drop)])
    return text + (f"~{''.join(map(str, answers))}" if answers else "")


def read_roles(text: str | None, names: Sequence[str]) -> Roles | None:
    """The roles that a link says of these columns; None where it says none of them.

    >>> read_roles("2.r.x.1.x.0~10", ["a", "day", "y"])
    Roles(target='y', task='regression', group=None, time='day', id=None, drop=('a',))
    >>> read_roles("2.r.x.1.x", ["a"])
    """
    if not text or not FORM.fullmatch(text):
        return None
    target, task, *others = text.partition("~")[0].split(".")
    try:
        group, time, id = (None if one == "x" else names[int(one)] for one in others[:3])
        drop = tuple(names[int(one)] for one in others[3:])
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
