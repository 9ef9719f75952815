"""A tour of two minutes: one example table, from the file to a report."""

from typing import NamedTuple

EXAMPLE = "deliveries"
"""The example table that the tour goes through."""


class Stop(NamedTuple):
    """A page of the tour, what to look at there, and what the way on is called."""

    page: str
    text: str
    onward: str


STOPS = (
    Stop(
        "data",
        "A table of deliveries, understood; the target has a star. Right: what to know before a "
        "run. Below: what a minute costs. Now ask which one to use.",
        "See the verdict",
    ),
    Stop(
        "overview",
        "The decision first, then the three answers behind it, each with its strength. Move the "
        "confidence: nothing is trained again.",
        "See the comparison",
    ),
    Stop(
        "compare",
        "Who wins, by how much, and whether the promise was kept over all random splits.",
        "See one delivery",
    ),
    Stop(
        "case",
        "One delivery: what a retrained model may cost there. Change its values under “What if?”.",
        "See the report",
    ),
    Stop(
        "report",
        "One file to forward: the decision, what it assumes, and how to reproduce it. Names of "
        "columns can be left out. Now bring your own table.",
        "End the tour",
    ),
)
"""The stops, in their order."""


def stop_words(i: int) -> str:
    """What is said at a stop, with where it is.

    >>> stop_words(2)[:15]
    '**3 of 5** Who '
    """
    return f"**{i + 1} of {len(STOPS)}** {STOPS[i].text}"
