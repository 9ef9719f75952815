"""The errors to come: the exact rule, and one wording for results and for files."""

import numpy as np
import pytest

from cpp_core import batch_errors
from cpp_core.verdicts.about import about_numbers
from cpp_core.verdicts.bounds import bound_of, expected_loss
from cpp_core.verdicts.next_errors import (
    ahead,
    ahead_of,
    errors_ahead,
    errors_ahead_of,
    errors_reading,
    errors_title,
)
from tests.builders import results_of, symbolic

ABOUT = about_numbers(errors=True)


def told(errors, k=200, **more):
    return errors_ahead_of(np.repeat([1.0, 0.0], [errors, k - errors]), 0.1, ABOUT, "a", **more)


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("side", ["upper", "two-sided"])
def test_any_number_of_next_cases(size, side):
    for errors in (0, 10, 100):
        facts = told(errors, side=side, size=size).facts
        fewest, most = batch_errors(200, errors, size, 0.1, side)
        assert (facts["fewest"], facts["most"], facts["batch_size"]) == (fewest, most, size)
    cases = "On the next case" if size == 1 else f"Among the next {size} cases"
    found = told(0, side=side, size=size)
    assert found.text.startswith(f"{cases} drawn like the calibration data")
    assert found.brief.rest == cases[0].lower() + cases[1:]


def test_one_title_for_all():
    few, some, any_ = told(0), told(10, side="two-sided"), told(5, k=5)
    most, span = few.facts["most"], (some.facts["fewest"], some.facts["most"])
    assert errors_reading(few) == f"a at most {most} error{'s' * (most != 1)}"
    assert errors_reading(some) == f"a {span[0]} to {span[1]} errors"
    assert errors_reading(any_) == "a any number of errors"
    start = "On the next 100 cases, with 90 % confidence"
    assert errors_title([few]) == f"{start}: {errors_reading(few)}"
    assert errors_title([few, some]) == (
        f"{start} each: {errors_reading(few)}, {errors_reading(some)}"
    )
    assert errors_title([told(0, size=1)]).startswith("On the next case, with 90 % confidence: a ")


def test_what_is_ahead_are_errors_where_they_are_counted():
    wrong = np.repeat([[1.0, 0.0]], [10, 89], axis=1)
    for loss, what in (("zero_one", errors_ahead), ("brier", expected_loss)):
        results = results_of([wrong], loss=loss)
        assert ahead(results, "logistic", 0.1) == what(results, "logistic", 0.1)
    kinds = symbolic(20)
    assert ahead(kinds, "logistic", 0.1) == expected_loss(kinds, "logistic", 0.1)
    assert ahead_of(wrong[0], 0.1, ABOUT, "a") == errors_ahead_of(wrong[0], 0.1, ABOUT, "a")
    plain = about_numbers()
    assert ahead_of(wrong[0], 0.1, plain, "a") == bound_of(wrong[0], 0.1, plain, "a")
