"""What Learn shows: short lessons, each with its numbers and figures; no widgets.

>>> shown = LESSONS["coverage-is-random"].play(k=99)
>>> shown.finding
'84.7 % to 94.4 %'

``shown.panels[0].figure`` is its chart, for a notebook.
"""

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
