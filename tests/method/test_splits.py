"""Partitions are disjoint, of the promised sizes, and uniformly random."""

import numpy as np
import pytest
from scipy import stats

from cpp_core.method.splits import check_training_size, equal_parts, training_groups, training_size


@pytest.mark.parametrize(("n", "n_parts"), [(7, 2), (10, 3), (3, 3)])
def test_equal_parts(n, n_parts):
    parts = equal_parts(n, n_parts, np.random.default_rng(0))
    assert [len(part) for part in parts] == [n // n_parts] * n_parts
    together = np.concatenate(parts)
    assert len(set(together)) == len(together)
    assert set(together) <= set(range(n))


def test_what_is_discarded_is_random():
    rng = np.random.default_rng(0)
    left_out = [({0, 1, 2} - set(np.concatenate(equal_parts(3, 2, rng)))).pop() for _ in range(900)]
    assert stats.chisquare(np.bincount(left_out)).pvalue > 1e-3


@pytest.mark.parametrize(("n", "k", "b"), [(75000, 1000, 1), (673, 50, 1), (10, 5, 1), (40, 4, 3)])
def test_training_groups(n, k, b):
    training, held_out = training_groups(np.random.default_rng(0).permutation(n), k, b)
    m = (n - k * b) // k
    assert training.shape == (k, m)
    assert held_out.shape == (k, b)
    together = np.concatenate([training.ravel(), held_out.ravel()])
    assert len(set(together)) == len(together) == k * (m + b)
    assert training_size(n, k, b) == m


def test_too_few_points_say_how_many_would_do():
    with pytest.raises(ValueError, match=r"at least 100 points are needed, or at most n_sets = 15"):
        check_training_size(31, 50)
    with pytest.raises(ValueError, match=r"each of 2 parts; at least 200 points"):
        check_training_size(199, 50, n_parts=2)
    assert check_training_size(200, 50, n_parts=2) == 1
    with pytest.raises(ValueError, match=r"at least 200 points are needed\."):
        check_training_size(1, 50, n_parts=2)
    with pytest.raises(ValueError, match="at least 3 are needed"):
        equal_parts(2, 3, np.random.default_rng(0))
    with pytest.raises(ValueError, match="n_sets must be a whole number"):
        training_size(10, 0)
