"""Two algorithms trial by trial: whose sets are narrower, and how often."""

import numpy as np

from cpp_core.checks import Level, lookup
from cpp_core.figures.histograms import (
    bin_edges,
    columns,
    histogram,
    histogram_data,
    left_out,
    say_nothing,
)
from cpp_core.figures.interval_figures import width_label
from cpp_core.figures.panels import TRIALS, Axis, Panel, clear, fill, framed, in_trials, look, plain
from cpp_core.figures.sketch import Sketch
from cpp_core.trials.results import Results
from cpp_core.verdicts.coverage import too_few
from cpp_core.verdicts.language import listed, possessive


def width_differences(
    results: Results,
    first: str,
    second: str,
    alpha: Level = 0.1,
    side: str = "two-sided",
    dark: bool = False,
) -> Panel:
    """Trial by trial, the width of the first minus the width of the second."""
    found = columns(results, alpha, side)
    a, b = (lookup(x, found, "competing algorithm")["mean_width"] for x in (first, second))
    both, n = np.isinf(a) & np.isinf(b), len(a)
    d = a[~both] - b[~both]
    edges = bin_edges([d], False, zero=True)
    figure, outside = Sketch(), 0
    for name, own in ((first, d[d < 0]), (second, d[d > 0])):
        narrower = f"{look(name).label} narrower"
        style = {"marker": fill(name), "name": narrower}
        bar, beyond = histogram(own, edges, False, f"{narrower}: differences", **style)
        outside += beyond
        figure.bar(**bar)
    ties = int((d == 0).sum())
    if ties:
        figure.bar(
            x=[0],
            y=[ties],
            width=plain([(edges[1] - edges[0]) / 4]),
            marker=clear(dark, 0.15),
            name="equally wide",
            hovertemplate="equally wide: %{y} trials<extra></extra>",
        )
    framed(figure, 280, showlegend=True)
    label = width_label(results.experiment, f"{look(first).label} minus {look(second).label}")
    figure.update(xaxis=Axis.around(edges, False).layout(label), yaxis=TRIALS)
    shares = {first: (d < 0).sum() / n, second: (d > 0).sum() / n}
    leader = max(shares, key=lambda name: shares[name])
    title = f"{possessive(look(leader).label)} sets are narrower {in_trials(shares[leader], n)}"
    if both.all():
        say_nothing(figure, results, alpha, side)
        title = f"There is {too_few(results, alpha, side) or 'no finite bound'}"
    elif ties / n >= shares[leader]:
        title = f"The sets are equally wide {in_trials(ties / n, n)}"
    readings = listed(
        f"{look(name).label} narrower {in_trials(share, n)}" for name, share in shares.items()
    )
    caption = (
        f"{readings}; equal {in_trials(ties / n, n)}. Both see the same cases in a trial. Narrower "
        f"is not better by itself.{left_out(int(np.isinf(d).sum()), outside, 'difference')}"
        + (f" Both are infinite {in_trials(both.mean(), n)}." if both.any() else "")
    )
    alt = f"Histogram of width differences around zero. {readings}."
    data = histogram_data({(f"{first} minus {second}", "width difference"): d}, edges)
    return Panel("width-differences", title, figure, caption, alt, data)
