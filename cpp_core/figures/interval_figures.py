"""Where the sets are and how wide, as panels whose title states the finding."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.figures.histograms import Bins, frame_rows, say_nothing, stacked
from cpp_core.figures.panels import (
    CUT,
    GREY,
    TRIALS,
    Axis,
    Panel,
    SetChart,
    SetMark,
    clear,
    faded,
    fill,
    ink,
    look,
    rows_layout,
    stroke,
)
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.trials.results import Results, median
from cpp_core.verdicts.about import LEAST_TRIALS, About, about_results, check_numeric
from cpp_core.verdicts.coverage import too_few
from cpp_core.verdicts.duel import duel, duel_title, wins_words
from cpp_core.verdicts.language import (
    counted,
    percent,
    plural,
)
from cpp_core.verdicts.loss_words import loss_label, loss_unit, width_label
from cpp_core.verdicts.over_trials import (
    columns,
    ends_spread,
    ends_title,
    median_widths,
    medians_words,
    narrower,
    narrower_title,
    narrower_words,
    quantile,
    widths_spread,
    widths_title,
)
from cpp_core.verdicts.set_words import has_words

NO_SYMBOLS = "ends to draw", "use symbol_bars for them"


# Ends over the trials

QUANTITIES = {"mean_test_loss": "average test loss", "lower": "lower ends", "upper": "upper ends"}
GREY_BAR: Settings = {"color": faded(GREY, 0.75), "line": {"color": GREY, "width": 1}}


def interval_histograms(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """Where the intervals are: average test losses, lower and upper ends over the trials."""
    check_numeric(results, *NO_SYMBOLS)
    found, about = columns(results, alpha, side), about_results(results)
    ends = about.ends(side)
    quantities = ["mean_test_loss", *ends]
    series = {(a, q): own[q] for a, own in found.items() for q in quantities}
    bins, figure = Bins.of(list(series.values())), stacked(len(found))
    # In the legend one key for all algorithms, in no algorithm's colour.
    hatched = {"shape": "/", "fillmode": "replace", "size": 6, "fgcolor": ink(dark)}
    at, width = bins.edges[:1], np.diff(bins.edges[:2]) / 1000
    for quantity in quantities:
        own = {**clear(dark), "pattern": hatched if quantity == "upper" else {}}
        marker = GREY_BAR if quantity == "mean_test_loss" else own
        key = QUANTITIES[quantity] + (" (hatched)" if quantity == "upper" else "")
        figure.bar(at, [0], marker, "", width=width, name=key, legendgroup=quantity)
    tops = dict.fromkeys(quantities, 1)
    for row, name in enumerate(found, start=1):
        for quantity in quantities:
            own = fill(name, quantity == "upper")
            marker = GREY_BAR if quantity == "mean_test_loss" else own
            what = f"{look(name).label}: {QUANTITIES[quantity]}"
            place: Settings = {"row": row, "legendgroup": quantity}
            top = bins.draw(figure, series[name, quantity], what, marker, **place)
            tops[quantity] = max(tops[quantity], top)
    # A quantity that hardly varies must not flatten the others.
    top = min(max(tops.values()), 3 * min(tops.values()))
    cut = frame_rows(figure, list(found), bins.axis(loss_label(results.experiment)), top)
    title = ends_title(ends_spread(results, alpha, side))
    readings = medians_words(results, alpha, side)
    moves = ", at one random case of each" if results.experiment.modulation else ""
    caption = (
        f"Counts over {counted(len(results.trials), 'trial')}{moves}, same bins for all."
        f"{CUT if cut else ''} Median {'ends' if len(ends) == 2 else ends[0] + ' end'}: {readings}."
        + bins.left_out(series.values(), "value")
    )
    alt = f"Histograms, one row per algorithm. {title}. Medians: {readings}."
    return Panel("intervals", title, figure, caption, alt, bins.data(series))


# Widths over the trials


def width_histograms(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """How wide the sets are: overlaid histograms of the mean width of each trial."""
    found = columns(results, alpha, side)
    widths = {name: own["mean_width"] for name, own in found.items()}
    bins, figure = Bins.of(list(widths.values())), Sketch()
    for name, values in widths.items():
        shown = look(name)
        hatch = {"shape": shown.hatch, "fgcolor": shown.color, "size": 8}
        marker = {**fill(name, opacity=0.45), "pattern": hatch}
        bins.draw(figure, values, f"{shown.label}: widths", marker, name=shown.label)
    layout = bins.axis(width_label(results.experiment))
    figure.frame(320, showlegend=True, xaxis=layout, yaxis=TRIALS)
    spread = widths_spread(results, alpha, side)
    if spread.lacking:
        say_nothing(figure, spread.lacking)
    title, medians = widths_title(spread), median_widths(spread)
    told = "" if spread.by_medians else f" Median: {medians}."
    caption = (
        f"Mean width of the sets in each of {counted(spread.n, 'trial')}.{told} A width says how "
        f"far losses spread, not how good they are.{bins.left_out(widths.values(), 'width')}"
    )
    alt = f"Overlaid histograms of widths. {title}. Medians: {medians}."
    data = bins.data({(name, "width"): values for name, values in widths.items()})
    return Panel("widths", title, figure, caption, alt, data)


# Two algorithms, trial by trial and on the next case


def width_differences(
    results: Results,
    first: str,
    second: str,
    alpha: Level = 0.1,
    side: str = "two-sided",
    dark: bool = False,
) -> Panel:
    """Trial by trial, the width of the first minus the width of the second."""
    found = narrower(results, (first, second), alpha, side)
    d, n = found.differences, found.n
    bins, figure = Bins.of([d], False, zero=True), Sketch()
    for name, own in ((first, d[d < 0]), (second, d[d > 0])):
        whose = f"{look(name).label} narrower"
        bins.draw(figure, own, f"{whose}: differences", fill(name), name=whose)
    ties = int((d == 0).sum())
    if ties:
        width, name = (bins.edges[1] - bins.edges[0]) / 4, "equally wide"
        hover = f"{name}: %{{y}} trials"
        figure.bar([0], [ties], clear(dark, 0.15), hover, width=[width], name=name)
    label = width_label(results.experiment, f"{look(first).label} minus {look(second).label}")
    figure.frame(280, showlegend=True, xaxis=bins.axis(label), yaxis=TRIALS)
    if found.lacking:
        say_nothing(figure, found.lacking)
    readings = narrower_words(found)
    caption = (
        f"{readings}. Both see the same cases in each of {counted(n, 'trial')}. Narrower is not "
        f"better by itself.{bins.left_out([d], 'difference')}"
    )
    alt = f"Histogram of width differences around zero. {readings}."
    data = bins.data({(f"{first} minus {second}", "width difference"): d})
    return Panel("width-differences", narrower_title(found), figure, caption, alt, data)


def paired_difference(
    results: Results,
    first: str,
    second: str,
    alpha: Level = 0.1,
    side: str = "two-sided",
    dark: bool = False,
) -> Panel:
    """Who is better on the next case: the set of the difference, and the shares of wins.

    Both are those of the verdicts on trial 0, over the number of pairs: the difference at alpha,
    wins at alpha / 2 as in the decision. A difference is judged on both sides, whatever the
    ``side`` of the other panels.
    """
    about, found = about_results(results), duel(results, first, second, alpha)
    each, unit, next_ = about.each_pair(alpha), loss_unit(results.experiment), found.next
    frame, missing = results.paired(first, second, each), too_few(results, each, "two-sided")
    reading = has_words(about.difference, next_["lower"], next_["upper"], unit=unit)
    left, right = (look(name).color for name in (first, second)[:: about.sign])
    mark = SetMark(next_["lower"], next_["upper"], left, f"difference {reading}", missing)
    every = [frame[end].to_numpy(dtype=float) for end in ("lower", "upper")]
    spread = [quantile(own, level) for own in every for level in (0.05, 0.95)]
    figure = SetChart(Axis.around_zero([mark.lower, mark.upper, *spread]), 2, 0.42)
    for own in every:
        figure.fade(0, own, ink(dark), about.difference)
    figure.difference(0, mark, right)
    _typical_words(figure, every, about)
    figure.vline(0, stroke(dark))
    figure.frame(380 if missing else 340)
    _draw_wins(figure, found.wins, (first, second), about, dark)
    words = f"{next_['first']} minus {next_['second']}: {about.loss}"
    better = "above" if about.greater_is_better else "below"
    words += (f" ({unit})" if unit else "") + f"<br>{better} 0: {next_['first']} is better"
    figure.axis("x", figure.along.layout(words), 1)
    figure.axis("y", {**rows_layout([""]), "showticklabels": False})
    at = "at the one random test case " if next_["at_case"] else ""
    shares = wins_words(found)
    fade = " Fade: its ends over the trials." if len(frame) >= LEAST_TRIALS else ""
    caption = f"Bar: the set {at}of trial 0.{fade} {shares}."
    if about.n_pairs > 1:
        caption += f" Judged for all {about.n_pairs} pairs jointly."
    alt = f"A bar for the {mark.hover}, and a bar of wins. {shares}."
    data = frame.drop(columns=["test_coverage"])
    return Panel("paired", duel_title(found), figure, caption, alt, data)


def _typical_words(figure: SetChart, ends: Sequence[NDArray], about: About) -> None:
    """The medians of the two ends in words above the fades, where there are enough trials."""
    low, high = map(median, ends)
    if len(ends[0]) < LEAST_TRIALS or not np.isfinite([low, high]).all():
        return
    right = figure.along.place(high) < 0.6
    left = not right and figure.along.place(low) > 0.4
    place: Settings = {"x": high if right else low if left else figure.along.high}
    place |= {"y": -0.45, "xanchor": "left" if right else "right", "font": {"size": 11}}
    figure.note(f"typical: {has_words(about.difference, low, high)}", **place)


def _draw_wins(
    figure: Sketch, wins: dict[str, Any], pair: tuple[str, str], about: About, dark: bool
) -> None:
    """One bar in the second row: the shares that the first wins, ties and loses."""
    held_out, start = f"held-out {plural(about.held_out)}", 0.0
    place: Settings = {"row": 2, "width": [0.5], "orientation": "h", "showlegend": True}
    for outcome, name, marker in (
        ("wins", f"{wins['first']} better", fill(pair[0])),
        ("ties", "equal", clear(dark, 0.12)),
        ("losses", f"{wins['second']} better", fill(pair[1])),
    ):
        share, text = wins[outcome] / wins["k"], f"{name}: {wins[outcome]:,} of {wins['k']:,}"
        hover = f"{text} {held_out} ({percent(share)})"
        figure.bar([100 * share], [0], marker, hover, base=[start], name=text, **place)
        start += 100 * share
    layout = Axis(0, 100).layout(f"share of the {held_out} of trial 0")
    figure.axis("x", {**layout, "ticksuffix": " %", "dtick": 25}, 2)
