"""A set in words: what is quoted holds whenever the set does, whatever is missing."""

import math

import pytest

from cpp_core.verdicts.about import About
from cpp_core.verdicts.set_words import has_words, set_words

NATS, SHARE = About(unit="nats", low=0.0, high=36.04), About(low=0, high=1, greater_is_better=True)
PLAIN = About()
INF = math.inf


@pytest.mark.parametrize(
    ("about", "lower", "upper", "side", "said"),
    [
        (NATS, 0.01234, 0.30001, "two-sided", "between 0.0123 and 0.301 nats"),
        (NATS, 0.0, 0.30001, "upper", "at most 0.301 nats"),
        (SHARE, 0.87654, 1.0, "upper", "at least 0.876"),
        (SHARE, 0.87654, 0.95, "two-sided", "between 0.876 and 0.95"),
        (PLAIN, 1.0, INF, "two-sided", "at least 1"),
        (PLAIN, -INF, 1.0, "two-sided", "at most 1"),
        (PLAIN, -INF, INF, "two-sided", "no finite bound"),
        (About(low=0), 0.0, INF, "two-sided", "no finite bound"),
        (PLAIN, -INF, INF, "upper", "no finite bound"),
        (PLAIN, 2.0, 1.0, "upper", "an empty set"),
        (PLAIN, 2.0, 1.0, "two-sided", "an empty set"),
    ],
)
def test_every_kind_of_set(about, lower, upper, side, said):
    assert set_words(about, lower, upper, side) == said
    lacking = said.startswith(("no ", "an "))
    shown = f"has {said}" if lacking else said.removesuffix(" nats")
    assert has_words(about, lower, upper, side) == shown
    if not lacking:
        in_unit = has_words(about, lower, upper, side, "kEUR")
        assert in_unit == f"{shown} kEUR"
