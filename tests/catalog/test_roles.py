"""What a link says of the columns of a table, by position alone."""

import numpy as np
import pytest

from cpp_core.catalog.roles import FORM, Roles, read_answers, read_roles, roles_text

NAMES = [f"column {i}" for i in range(2000)]


@pytest.mark.parametrize("left_out", ["every other", "nearly all", "at random", "none"])
def test_columns_that_are_left_out_are_read_back_however_many(left_out):
    places = {
        "every other": np.arange(2, 2000, 2),
        "nearly all": np.arange(2, 1999),
        "at random": np.random.default_rng(0).permutation(np.arange(2, 2000))[:700],
        "none": np.arange(0),
    }[left_out]
    roles = Roles(NAMES[0], "regression", NAMES[1], drop=tuple(NAMES[i] for i in sorted(places)))
    text = roles_text(roles, NAMES, [1])
    assert FORM.fullmatch(text)
    assert read_roles(text, NAMES) == roles
    assert read_answers(text) == [1]
    assert "column" not in text


def test_links_that_name_each_column_still_read():
    assert read_roles("0.c.x.1.x.2.3.5", NAMES) == Roles(
        *(NAMES[0], "classification", None, NAMES[1], None),
        drop=(NAMES[2], NAMES[3], NAMES[5]),
    )


@pytest.mark.parametrize("text", ["0.c.x.x.x.3-1", "0.c.x.x.x.1-2000", "0.c.x.x.x.1-", "0.c.x.x"])
def test_ranges_that_are_none_say_nothing(text):
    assert read_roles(text, NAMES) is None


def test_the_same_columns_again_and_again_say_nothing():
    """A link of a few kB would name millions of columns."""
    assert read_roles("0.c.x.x.x" + f".1-{len(NAMES) - 1}" * 2, NAMES) is None
