"""The figures of each algorithm in a row: one table for pages, report and command line."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level, check_side
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import LEAST_TRIALS, About, about_results, first_trial, is_stored
from cpp_core.verdicts.held_out import (
    average_of,
    average_words,
    held_out_losses,
    over_what,
    this_one,
)
from cpp_core.verdicts.language import clause, number, percent, sentence
from cpp_core.verdicts.loss_words import in_parentheses
from cpp_core.verdicts.next_errors import NEXT_CASES, errors_ahead
from cpp_core.verdicts.set_words import bare_words


@dataclass(frozen=True)
class Table:
    """Rows under a head, and how to read them; without a head the first column names the rows.

    ``names`` are the algorithms of the rows, where they have one. In a table of ``figures`` a cell
    is a number; what belongs to it follows in parentheses.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    figures: bool = True
    names: Sequence[str] = ()


def figures_table(results: Results, alpha: Level = 0.1, side: str = "two-sided") -> Table:
    """The bound of the split that carries the promise, the typical one beside it, the average.

    The bound is trial 0's, the typical one the median over all trials; both are rounded like every
    bound, outwards. The average is of trial 0's held-out losses. Of errors, whose bound
    could only be 0 or 1, there are the rate and those of the next cases instead. Few trials show
    nothing typical.
    """
    if results.experiment.kind.symbolic:
        return _symbol_table(results, alpha, side)
    about, found = about_results(results), results.summary(alpha, side)
    n, rows = len(results.trials), []
    cells: dict[str, str] = {}
    unit = in_parentheses(about.unit)
    what = "Interval" if check_side(side) == "two-sided" else "Bound"
    moves, promised = results.experiment.kind.moves, 0 in results.trials
    for name, own in found.items():
        cells = {}
        if about.errors and promised:
            cells["Error rate"] = percent(average_of(held_out_losses(results, name)))
            ahead = errors_ahead(results, name, alpha, side)
            cells[f"Next {NEXT_CASES} cases"] = ahead.brief.lead
            rows.append((ALGORITHMS[name].label, *cells.values()))
            continue
        if promised and not moves:
            read = results.reader(name).read(alpha, side)
            row = first_trial(results)
            two = read.lower[row], read.upper[row]
            shown = bare_words(about, *two, side) + _trivial(two, about)
            cells[f"{what} of {this_one(results.experiment)}{unit}"] = shown
        infinite = max(own[f"{end}_infinite"] for end in about.ends(side))
        more = f" ({infinite:,} of {n:,} not finite)" if infinite else ""
        if n >= LEAST_TRIALS or moves or not promised:
            medians = own["lower_median"], own["upper_median"]
            usual = bare_words(about, *medians, side) + more
            cells[f"Typical {clause(what)}{unit}"] = usual
        if promised:
            average = average_of(held_out_losses(results, name))
            beyond = not moves and about.worse(average, two[about.bad_end == "upper"])
            cells[f"Average{unit}"] = average_words(average) + " (beyond the bound)" * beyond
        rows.append((ALGORITHMS[name].label, *cells.values()))
    caption = _caption(results, about)
    return Table(("Algorithm", *cells), rows, caption, names=tuple(found))


def _trivial(two: tuple[float, float], about: About) -> str:
    """A word where the end on the bad side is that of the range, which every loss keeps."""
    bad = two[about.bad_end == "upper"]
    top = math.isfinite(bad) and is_stored(bad, about.worst)
    return " (the end of the range)" if top else ""


def _caption(results: Results, about: About) -> str:
    this, promised = sentence(this_one(results.experiment)), 0 in results.trials
    carries = f"{this} was fixed beforehand and carries the promise."
    if about.errors and promised:
        return carries
    said = f"Typical: the median of {over_what(results)}"
    if results.experiment.kind.moves:
        return f"{said}, at one random case of each."
    if not promised:
        return f"{said}."
    return carries if len(results.trials) < LEAST_TRIALS else f"{carries} {said}."


def _symbol_table(results: Results, alpha: Level, side: str) -> Table:
    """How many kinds of answer a set holds, and how often it holds what happened."""
    found = results.summary(alpha, side)
    rows = [
        (ALGORITHMS[name].label, number(own["width_mean"]), percent(own["test_coverage_mean"]))
        for name, own in found.items()
    ]
    head = "Algorithm", "Kinds of answer in a set", "Test cases covered"
    caption = f"Means over {over_what(results)}."
    return Table(head, rows, caption, names=tuple(found))
