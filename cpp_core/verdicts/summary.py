"""The figures of each algorithm in a row: one table for pages, report and command line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cpp_core.catalog.algorithms import ALGORITHMS
from cpp_core.checks import Level
from cpp_core.trials.results import INTERVAL_CONFIDENCE, Results
from cpp_core.verdicts.about import About, End, about_results
from cpp_core.verdicts.language import confidence, counted, number, percent


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
    """Medians of the ends, means of width, loss and coverage, cover rates with exact intervals.

    Ends are rounded like every bound, outwards.
    """
    symbolic, about = results.experiment.kind.symbolic, about_results(results)
    ends = about.ends(side)
    found, n = results.summary(alpha, side), len(results.trials)
    unit = f" ({about.unit})" if about.unit else ""
    rows, cells = [], {}
    for name, own in found.items():
        if symbolic:
            cells = {"Symbols in a set": number(own["width_mean"])}
        else:
            cells = {f"{end.capitalize()} end{unit}": _end(own, end, n, about) for end in ends}
            if side == "two-sided":
                cells[f"Width{unit}"] = number(own["width_mean"])
            cells[f"Average test loss{unit}"] = number(own["mean_test_loss"])
        cells["Test losses covered"] = percent(own["test_coverage_mean"])
        low, high = own["new_loss_cover_low"], own["new_loss_cover_high"]
        between = f"({percent(low, 'down')} to {percent(high, 'up')})"
        cells["New loss covered"] = f"{percent(own['new_loss_cover_rate'])} {between}"
        rows.append((ALGORITHMS[name].label, *cells.values()))
    told = "Means over" if symbolic else "Medians of the ends and means over"
    caption = (
        f"{told} {counted(n, 'trial')}. New loss covered: the share of the trials whose one new "
        f"loss was covered, with its exact {percent(INTERVAL_CONFIDENCE)} interval; promised is at "
        f"least {confidence(alpha)}."
    )
    return Table(("Algorithm", *cells), rows, caption, names=tuple(found))


def _end(found: Mapping[str, Any], end: End, n: int, about: About) -> str:
    infinite = found[f"{end}_infinite"]
    more = f" ({infinite:,} of {n:,} not finite)" if infinite else ""
    return about.rounded(end, found[f"{end}_median"]) + more
