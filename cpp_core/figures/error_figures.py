"""Errors among the next cases: where a loss is an error or none, its bound says little."""

import pandas as pd

from cpp_core.checks import Level
from cpp_core.figures.panels import Axis, Panel, SetChart, SetMark, look
from cpp_core.trials.results import Results
from cpp_core.verdicts.about import about_results
from cpp_core.verdicts.bounds import NEXT_CASES, errors_ahead
from cpp_core.verdicts.held_out import average_of, held_out_losses
from cpp_core.verdicts.language import confidence, listed, percent


def errors_bars(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """A bar per algorithm: the errors among the next cases that trial 0 leaves possible."""
    if not about_results(results).errors:
        raise ValueError("Errors are counted where the loss is 1 for an error: use next_loss.")
    rows, readings = [], []
    for name in results.algorithms:
        verdict = errors_ahead(results, name, alpha, side)
        rate = average_of(held_out_losses(results, name))
        rows.append((name, verdict.facts["fewest"], verdict.facts["most"], NEXT_CASES * rate))
        readings.append(f"{look(name).label} {verdict.brief.lead}")
    data = pd.DataFrame(rows, columns=["algorithm", "fewest", "most", "at_this_rate"])
    chart = SetChart(Axis.around(data[["fewest", "most", "at_this_rate"]], log=False, zero=True))
    for row, (name, fewest, most, _) in enumerate(data.itertuples(index=False)):
        chart.set(row, SetMark(fewest, most, look(name).color, readings[row]))
        chart.note(str(most), x=most, y=row, xanchor="left", xshift=6, font={"size": 13})
    labels = [look(name).label for name in results.algorithms]
    chart.averages(labels, data["at_this_rate"].tolist(), "at the error rate seen")
    chart.frame_sets(f"errors among the next {NEXT_CASES} cases", labels, 90, 58)
    each = " each" if len(rows) > 1 else ""
    title = f"With {confidence(alpha)} confidence{each}: {listed(readings)} in {NEXT_CASES} cases"
    rates = [
        f"{label} {percent(rate / NEXT_CASES)}"
        for label, rate in zip(labels, data["at_this_rate"], strict=True)
    ]
    caption = (
        f"Bar: how many of the next {NEXT_CASES} cases may be wrong, exactly, from the errors of "
        f"this split's calibration cases. Grey: what the error rate of its held-out cases gives "
        f"({listed(rates)})."
    )
    alt = f"One bar per algorithm: {listed(readings)} among the next {NEXT_CASES} cases."
    return Panel("errors-ahead", title, chart, caption, alt, data)
