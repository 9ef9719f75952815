"""How many losses lie beyond their bound: plain counts, every branch of the title."""

import numpy as np
import pytest

from cpp_core.verdicts.about import About
from cpp_core.verdicts.beyond import Beyond, beyond_bound, beyond_title
from tests.builders import PLAIN

GREATER = About("score", greater_is_better=True)


@pytest.mark.parametrize("about", [PLAIN, GREATER])
def test_the_count_is_a_plain_one(about):
    rng = np.random.default_rng(0)
    for k in (9, 20, 200):
        losses = np.round(rng.exponential(size=k), 1)
        found = beyond_bound(losses, 0.1, about, "a")
        worse = [x < found.bound if about.greater_is_better else x > found.bound for x in losses]
        assert (found.k, found.beyond, found.bounded) == (k, sum(worse), True)
        assert found.beyond <= k / 10
    assert not beyond_bound(np.ones(5), 0.1, about, "a").bounded


def test_the_end_of_a_range_is_no_bound():
    """Of losses in [0, 1] the bound is 1 where there are too few, or too many at the end."""
    shares = About("share", low=0.0, high=1.0)
    few = beyond_bound(np.arange(1, 6) / 10, 0.1, shares, "few")
    worst = beyond_bound(np.ones(30), 0.1, shares, "worst")
    enough = beyond_bound(np.arange(30) / 100, 0.1, shares, "enough")
    assert [own.bounded for own in (few, worst, enough)] == [False, False, True]
    assert beyond_title([few, worst, enough], shares) == (
        "2 of 30 shares of enough lie above the bound; few and worst have no bound below the top "
        "of the range"
    )
    scores = About("score", low=0.0, high=1.0, greater_is_better=True)
    none = beyond_bound(np.zeros(30), 0.1, scores, "none")
    assert beyond_title([none], scores) == "none has no bound above the bottom of the range"


def test_titles():
    one, many, none = (
        Beyond("a", 20, 1.0, 1),
        Beyond("b", 2000, 2.0, 199),
        Beyond("c", 5, np.inf, 0),
    )
    assert beyond_title([one], PLAIN) == "1 of 20 losses of a lies above the bound"
    assert beyond_title([many], GREATER) == "199 of 2,000 scores of b lie below the bound"
    assert beyond_title([one, many, none], PLAIN) == (
        "1 of 20 losses of a and 199 of 2,000 losses of b lie above the bound; c has no finite "
        "bound"
    )
    both = beyond_title([none, Beyond("d", 4, -np.inf, 0)], PLAIN)
    assert both == "c and d have no finite bound"
