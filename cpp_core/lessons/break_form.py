"""The form in which each way to break the promise is written down: what is told and drawn of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cpp_core.lessons.break_ways import Way
from cpp_core.lessons.charts import PROMISE
from cpp_core.lessons.lesson import Check

Rows = Sequence[tuple[Sequence[int], Sequence[int]]]
"""Who trains on which cases, and who is judged where."""


@dataclass(frozen=True, kw_only=True)
class Break:
    """One way to break the promise.

    ``values`` are what its control offers; ``way`` gives the share of new cases inside at one of
    them and how it came to be, ``promise`` what was claimed. ``rows`` draws who trains and who is
    judged, ``right_rows`` the same where it is done right. ``code`` prints the share at a
    ``{value}``. Where a value breaks nothing, ``kept`` says what is done in place of ``lead``.
    """

    name: str
    label: str
    lead: str
    control: str
    values: Mapping[Any, str]
    start: Any
    way: Callable[[Any], Way]
    setting: str
    why: str
    right: str
    check: Check
    code: str
    rows: Rows = ()
    rows_say: str = ""
    right_rows: Rows = ()
    promise: Callable[[Any], float] = lambda value: PROMISE
    kept: Mapping[Any, str] = field(default_factory=dict)
    caveat: str = ""

    def covers(self, value: Any) -> float:
        """The share of new cases inside."""
        return self.way(value).share


def listed_values(values: Sequence[Any]) -> dict[Any, str]:
    """Values that a control shows as they are."""
    return {value: f"{value}" for value in values}


def code_of(function: str, measure: str, key: str, size: int) -> str:
    """Lines that print an average, and how to compute it again."""
    return f"""\
from cpp_core.lessons.stored import stored

print(stored("{measure}")["{key}"].mean)  # the average that is kept

# The same again, from another seed and with a larger error:
# from cpp_core.lessons.breaks import {function}
# print({function}({size}, 1)["{key}"].mean)
"""
