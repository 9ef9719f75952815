"""The lessons in their order: a new one is a module and a line here."""

from cpp_core.lessons import (
    break_it,
    candidate_or_algorithm,
    coverage_is_random,
    enough_cases,
    fixed_or_variable,
    guess_the_bound,
    marginal,
    overlap_trap,
    quantile_lemma,
    two_numbers,
)
from cpp_core.lessons.lesson import Lesson

_SHELF = (
    guess_the_bound,
    quantile_lemma,
    coverage_is_random,
    candidate_or_algorithm,
    fixed_or_variable,
    marginal,
    overlap_trap,
    break_it,
    two_numbers,
    enough_cases,
)

LESSONS: dict[str, Lesson] = {module.LESSON.name: module.LESSON for module in _SHELF}
"""Every lesson by its name in a link, in their order on the shelf."""
