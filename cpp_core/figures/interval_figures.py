"""Where the sets are and how wide, as panels whose title states the finding."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level, check_side, lookup
from cpp_core.figures.histograms import (
    Columns,
    bin_edges,
    columns,
    frame_rows,
    histogram,
    histogram_data,
    left_out,
    say_nothing,
    smallest,
    stacked,
)
from cpp_core.figures.panels import (
    CUT,
    GREY,
    Axis,
    Panel,
    bound_words,
    draw_fade,
    draw_set,
    draw_span,
    faded,
    fill,
    framed,
    in_trials,
    ink,
    look,
    loss_label,
    loss_unit,
    numeric,
    plain,
    rows_layout,
    too_few,
    wants_log,
)
from cpp_core.figures.sketch import Sketch
from cpp_core.method.counts import share_interval
from cpp_core.trials.experiment import Experiment
from cpp_core.trials.results import INTERVAL_CONFIDENCE, Results, median
from cpp_core.verdicts.about import about_results
from cpp_core.verdicts.language import (
    confidence,
    counted,
    listed,
    number,
    percent,
    plural,
    possessive,
)


def overview_bars(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", log: bool | None = None
) -> Panel:
    """A bar per algorithm: the set of the first trial, which carries the promise.

    Where sets move with the case the bar is typical instead: the medians of the ends over the
    trials. The spread of the ends over the trials is a fade, the average test loss a grey tick.
    """
    numeric(results)
    found, measure = columns(results, alpha, side), results.experiment.measure
    moves = results.experiment.modulation is not None
    rows = []
    for name, own in found.items():
        lower, upper = (own[end] for end in ("lower", "upper"))
        pick = median if moves else _first
        mean = float(own["mean_test_loss"].mean())
        spread = {
            f"{end}_{low * 100:g}": _quantile(values, low)
            for end, values in (("lower", lower), ("upper", upper))
            for low in (0.05, 0.25, 0.75, 0.95)
        }
        rows.append(
            {
                "algorithm": name,
                "lower": pick(lower),
                "upper": pick(upper),
                "mean_test_loss": mean,
                **spread,
            }
        )
    data = pd.DataFrame(rows)
    ends = data.drop(columns="algorithm").to_numpy(dtype=float)
    if side == "upper" and measure.sign > 0:  # the other end is that of the range
        ends = data.filter(regex="upper|mean").to_numpy(dtype=float)
    axis = Axis.around(ends, log, zero=measure.low == 0 and measure.sign > 0)
    figure, note = Sketch(), too_few(results, alpha, side)
    readings = []
    for row, (name, own) in enumerate(found.items()):
        shown, low, high = look(name), float(data["lower"][row]), float(data["upper"][row])
        reading = f"{shown.label} {bound_words(low, high, side, measure.sign)}"
        readings.append(reading)
        for end in ("lower", "upper"):
            draw_fade(figure, axis, row, own[end], shown.color)
        missing = note
        if not note and math.inf in (high, -low):
            missing = "no finite bound: failed training runs count as infinite losses"
        draw_set(figure, axis, row, (low, high), shown.color, reading, missing)
    ticks = data[np.isfinite(data["mean_test_loss"])]
    figure.scatter(
        x=plain(ticks["mean_test_loss"]),
        y=ticks.index.tolist(),
        mode="markers",
        marker={"symbol": "line-ns", "size": 34, "line": {"color": GREY, "width": 4}},
        name="average test loss",
        customdata=[f"{look(n).label}: {number(v)}" for n, v in _pairs(ticks, "mean_test_loss")],
        hovertemplate="average test loss of %{customdata}<extra></extra>",
        showlegend=True,
    )
    labels = [look(name).label for name in found]
    framed(figure, 90 + (92 if note else 62) * len(found))
    figure.set(xaxis=axis.layout(loss_label(results.experiment)))
    figure.set(yaxis=rows_layout(labels))
    number_of, first = len(results.trials), results.trials[0]
    carries = (
        f"the median ends over {counted(number_of, 'trial')}, at one random case each"
        if moves
        else f"the set of trial {first}, "
        + ("until trial 0 is there" if first else "which carries the promise")
    )
    if moves:
        start = "Typically"
    else:
        start = f"With {confidence(alpha)} confidence" + (" each" if len(found) > 1 else "")
    if len(found) > 3:
        bad = data["upper" if measure.sign > 0 else "lower"]
        title = (
            f"{start}: {len(found)} bounds from {number(bad.min())} to {number(bad.max())}"
            if np.isfinite(bad).all()
            else f"{start}: no finite bound for {int(np.isinf(bad).sum())} of {len(found)}"
        )
    else:
        title = f"{start}: {', '.join(readings)}"
    tested = plural(about_results(results).new)
    caption = (
        f"Bar: {carries}. Fade: where the ends lie in 90 % and in 50 % of the trials. "
        f"Grey: average {results.experiment.measure.label} of the test {tested}."
    )
    if note:
        caption += f" There is {note}."
    alt = f"One horizontal bar per algorithm: {', '.join(readings)}."
    return Panel("overview", title, figure, caption, alt, data)


def _first(values: NDArray) -> float:
    return float(values[0])


def _quantile(values: NDArray, level: float) -> float:
    return float(np.quantile(values, level, method="nearest"))


def _pairs(frame: pd.DataFrame, column: str) -> list[tuple[str, float]]:
    return list(zip(frame["algorithm"], frame[column], strict=True))


def interval_histograms(
    results: Results,
    alpha: Level = 0.1,
    side: str = "two-sided",
    log: bool | None = None,
    dark: bool = False,
) -> Panel:
    """Where the intervals are: average test losses, lower and upper ends over the trials."""
    numeric(results)
    found, sign = columns(results, alpha, side), results.experiment.measure.sign
    bad = "upper" if sign > 0 else "lower"
    ends = ["lower", "upper"] if side == "two-sided" else [bad]
    quantities = ["mean_test_loss", *ends]
    series = {(a, q): own[q] for a, own in found.items() for q in quantities}
    is_log = wants_log(np.concatenate(list(series.values())), log)
    edges = bin_edges(list(series.values()), is_log)
    figure = stacked(len(found))
    names = {
        "mean_test_loss": "average test loss",
        "lower": "lower ends",
        "upper": "upper ends (hatched)",
    }
    for quantity in quantities:
        key = {"color": faded(GREY, 0.75), "line": {"color": GREY, "width": 1}}
        if quantity != "mean_test_loss":
            # One key for all algorithms, in no algorithm's colour.
            hatch = {"shape": "/", "fillmode": "replace", "size": 6, "fgcolor": ink(dark)}
            clear = {"color": "rgba(0,0,0,0)", "line": {"color": ink(dark), "width": 1}}
            key = {**clear, "pattern": hatch if quantity == "upper" else {}}
        figure.bar(
            x=plain(edges[:1]),
            y=[0],
            width=plain((edges[1:2] - edges[:1]) / 1000),
            marker=key,
            name=names[quantity],
            legendgroup=quantity,
        )
    infinite = outside = 0
    tops: dict[str, int] = {}
    for row, name in enumerate(found, start=1):
        for quantity in quantities:
            values = series[name, quantity]
            grey = {"color": faded(GREY, 0.75), "line": {"color": GREY, "width": 1}}
            marker = grey if quantity == "mean_test_loss" else fill(name, quantity == "upper")
            what = f"{look(name).label}: {names[quantity].removesuffix(' (hatched)')}"
            style = {"marker": marker, "showlegend": False, "legendgroup": quantity}
            bar, beyond = histogram(values, edges, is_log, what, **style)
            figure.bar(row, **bar)
            infinite, outside = infinite + int(np.isinf(values).sum()), outside + beyond
            tops[quantity] = max([tops.get(quantity, 1), *bar["y"]])
    drawn = Axis.around(edges, is_log)
    # A quantity that hardly varies must not flatten the others.
    top = min(max(tops.values()), 3 * min(tops.values()))
    cut = frame_rows(figure, list(found), drawn.layout(loss_label(results.experiment)), top)
    n, bounds = len(results.trials), {a: sign * own[bad] for a, own in found.items()}
    leader, share, ties = smallest(bounds)
    best = "lowest" if sign > 0 else "highest"
    medians = {a: [median(own[end]) for end in ends] for a, own in found.items()}
    if all(np.isinf(own).all() for own in bounds.values()):
        title = f"There is {too_few(results, alpha, side) or 'no finite bound'}"
    elif len(found) == 1:
        a, b = (_quantile(found[leader][bad], q) for q in (0.25, 0.75))
        title = f"Half of {possessive(look(leader).label)} {bad} ends {_lie(a, b)}"
    elif ties >= share:
        title = f"The {best} {bad} end is shared {in_trials(ties, n)}"
    else:
        title = f"{look(leader).label} has the {best} {bad} end {in_trials(share, n)}"
    readings = listed(
        f"{look(a).label} {' to '.join(number(v) for v in own)}" for a, own in medians.items()
    )
    cut_words = CUT if cut else ""
    moves = ", at one random case of each" if results.experiment.modulation else ""
    caption = (
        f"Counts over {counted(n, 'trial')}{moves}, same bins for all.{cut_words} "
        f"Median {'ends' if len(ends) == 2 else bad + ' end'}: {readings}."
        + left_out(infinite, outside, "value")
    )
    alt = f"Histograms, one row per algorithm. {title}. Medians: {readings}."
    return Panel("intervals", title, figure, caption, alt, histogram_data(series, edges))


def width_histograms(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", log: bool | None = None
) -> Panel:
    """How wide the sets are: overlaid histograms of the mean width of each trial."""
    found = columns(results, alpha, side)
    widths = {name: own["mean_width"] for name, own in found.items()}
    series = {(name, "width"): values for name, values in widths.items()}
    pooled = np.concatenate(list(widths.values()))
    is_log = wants_log(pooled, log)
    edges = bin_edges(list(widths.values()), is_log)
    figure, outside = Sketch(), 0
    for name, values in widths.items():
        shown = look(name)
        marker = fill(name, opacity=0.45)
        marker["pattern"] = {"shape": shown.hatch, "fgcolor": shown.color, "size": 8}
        bar, beyond = histogram(
            values, edges, is_log, f"{shown.label}: widths", marker=marker, name=shown.label
        )
        figure.bar(**bar)
        outside += beyond
    symbolic = results.experiment.kind.symbolic
    label = "symbols in a set" if symbolic else _width_label(results.experiment)
    framed(figure, 320, showlegend=True)
    figure.set(xaxis=Axis.around(edges, is_log).layout(label))
    figure.set(yaxis={"title": {"text": "trials"}, "automargin": True})
    if np.isinf(pooled).all():
        say_nothing(figure, results, alpha, side)
    n = len(results.trials)
    leader, share, ties = smallest(widths)
    medians = listed(f"{look(a).label} {number(median(v))}" for a, v in widths.items())
    if np.isinf(pooled).all():
        title = f"There is {too_few(results, alpha, side) or 'no finite bound'}"
    elif len(found) == 1:
        a, b = (_quantile(widths[leader], q) for q in (0.25, 0.75))
        title = f"Half of {possessive(look(leader).label)} widths {_lie(a, b)}"
    elif ties >= share:
        title = f"The narrowest sets are a tie {in_trials(ties, n)}"
    elif len(found) == 2:
        title = f"Median width: {medians}"
    else:
        title = f"{possessive(look(leader).label)} sets are the narrowest {in_trials(share, n)}"
    told = "" if title.startswith("Median") else f" Median: {medians}."
    caption = (
        f"Mean width of the sets in each of {counted(n, 'trial')}.{told} A width says how far "
        "losses spread, not how good they are."
        + left_out(int(np.isinf(pooled).sum()), outside, "width")
    )
    alt = f"Overlaid histograms of widths. {title}. Medians: {medians}."
    return Panel("widths", title, figure, caption, alt, histogram_data(series, edges))


def _lie(low: float, high: float) -> str:
    """Where values lie, of which many may be equal.

    >>> _lie(0.51, 0.74), _lie(0.5111, 0.5112)
    ('lie between 0.51 and 0.74', 'are about 0.511')
    """
    if number(low) == number(high):
        return f"are about {number(low)}"
    return f"lie between {number(low)} and {number(high)}"


def _width_label(experiment: Experiment, what: str = "width") -> str:
    unit = loss_unit(experiment)
    return f"{what} in {experiment.measure.label}" + (f" ({unit})" if unit else "")


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
    a, b = (_column(found, name, "mean_width") for name in (first, second))
    both = np.isinf(a) & np.isinf(b)
    d = a[~both] - b[~both]
    edges = bin_edges([d], False, zero=True)
    figure = Sketch()
    one, two = look(first), look(second)
    outside = 0
    for name, own in ((first, d[d < 0]), (second, d[d > 0])):
        what = f"{look(name).label} narrower: differences"
        bar, beyond = histogram(
            own, edges, False, what, marker=fill(name), name=f"{look(name).label} narrower"
        )
        outside += beyond
        figure.bar(**bar)
    n, ties = len(a), int((d == 0).sum())
    if ties:
        figure.bar(
            x=[0],
            y=[ties],
            width=plain([(edges[1] - edges[0]) / 4]),
            marker={"color": faded(ink(dark), 0.15), "line": {"color": ink(dark), "width": 1}},
            name="equally wide",
            hovertemplate="equally wide: %{y} trials<extra></extra>",
        )
    framed(figure, 280, showlegend=True)
    label = _width_label(results.experiment, f"width of {one.label} minus {two.label}")
    if results.experiment.kind.symbolic:
        label = f"symbols in a set, {one.label} minus {two.label}"
    figure.set(xaxis=Axis.around(edges, False).layout(label))
    figure.set(yaxis={"title": {"text": "trials"}, "automargin": True})
    if both.all():
        say_nothing(figure, results, alpha, side)
    shares = {first: (d < 0).sum() / n, second: (d > 0).sum() / n}
    leader = max(shares, key=lambda name: shares[name])
    if both.all():
        title = f"There is {too_few(results, alpha, side) or 'no finite bound'}"
    elif ties / n >= shares[leader]:
        title = f"The sets are equally wide {in_trials(ties / n, n)}"
    else:
        title = f"{possessive(look(leader).label)} sets are narrower {in_trials(shares[leader], n)}"
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


def _column(found: Columns, name: str, column: str) -> NDArray:
    return lookup(name, found, "competing algorithm")[column]


def paired_difference(
    results: Results,
    first: str,
    second: str,
    alpha: Level = 0.1,
    side: str = "two-sided",
    dark: bool = False,
) -> Panel:
    """Who is better on the next case: the interval of the difference, and the shares of wins.

    The bar is the set of the first trial (medians over the trials where sets move with the case),
    in the colour of whom it favours on each side of zero.
    """
    frame = results.paired(first, second, alpha, check_side(side))
    measure, one, two = results.experiment.measure, look(first), look(second)
    new = about_results(results).new
    tested = f"test {plural(new)}"
    moves = results.experiment.modulation is not None
    every = {end: frame[end].to_numpy(dtype=float) for end in ("lower", "upper")}
    lower, upper = (median(own) if moves else float(own[0]) for own in every.values())
    d = results.paired_reader(first, second).test[0]  # smaller is better
    counts = {"wins": int((d < 0).sum()), "ties": int((d == 0).sum()), "losses": int((d > 0).sum())}
    wins = share_interval(counts["wins"], len(d), 1 - INTERVAL_CONFIDENCE)
    if side == "upper":  # the other end is that of the range: nobody asked for it
        open_end, away = ("lower", -math.inf) if measure.sign > 0 else ("upper", math.inf)
        every[open_end] = np.full(len(frame), away)
        lower, upper = (away, upper) if measure.sign > 0 else (lower, away)
    spread = [np.quantile(own, [0.05, 0.95], method="nearest") for own in every.values()]
    axis = Axis.around(np.concatenate([[lower, upper], *spread]), log=False, zero=True)
    # Zero stays inside, with room on both sides for open ends.
    room = 0.08 * (axis.high - axis.low)
    axis = Axis(min(axis.low, -room), max(axis.high, room))
    figure = Sketch(2, 0.42)
    for own in every.values():
        draw_fade(figure, axis, 0, own, ink(dark))
    unit = loss_unit(results.experiment)
    reading = f"difference {bound_words(lower, upper, side, measure.sign, unit)}"
    missing = too_few(results, alpha, side)
    left, right = (one, two) if measure.sign > 0 else (two, one)
    parts = [(lower, min(upper, 0.0), left), (max(lower, 0.0), upper, right)]
    drawn = [part for part in parts if part[0] < part[1]] or [(lower, upper, left)]
    for i, (a, b, shown) in enumerate(drawn):
        note = missing if i == 0 else ""
        draw_set(figure, axis, 0, (a, b), shown.color, reading, note)
    figure.vline(0, {"color": ink(dark), "width": 1.5})
    names = {"wins": f"{one.label} better", "ties": "equal", "losses": f"{two.label} better"}
    markers = {
        "wins": fill(first),
        "ties": {"color": faded(ink(dark), 0.12), "line": {"color": ink(dark), "width": 1}},
        "losses": fill(second),
    }
    start = 0.0
    whole = Axis(0, 100)
    for outcome, count in counts.items():
        share = 100 * count / len(d)
        text = f"{names[outcome]}: {count} of {len(d)}"
        draw_span(
            figure,
            whole,
            0,
            (start, start + share),
            0.5,
            row=2,
            marker=markers[outcome],
            name=text,
            showlegend=True,
            hovertemplate=f"{text} {tested} ({percent(share / 100)})<extra></extra>",
        )
        start += share
    framed(figure, 340 if missing else 300)
    better = "below" if measure.sign > 0 else "above"
    title = f"{one.label} minus {two.label}: {results.experiment.measure.label}"
    title += (f" ({unit})" if unit else "") + f"<br>{better} 0: {one.label} is better"
    figure.axis("x", axis.layout(title), 1)
    shares_axis = whole.layout(f"share of the {tested} of one trial")
    figure.axis("x", {**shares_axis, "ticksuffix": " %", "dtick": 25}, 2)
    figure.axis("y", {**rows_layout([""]), "showticklabels": False})
    shares = {name: count / len(d) for name, count in counts.items()}
    trial = f"trial {results.trials[0]}"
    exact = (
        f"{one.label} is better at {percent(shares['wins'])} of the {tested} of {trial} (exact "
        f"{percent(INTERVAL_CONFIDENCE)} interval {percent(wins[0])} to {percent(wins[1])}), "
        f"equal at {percent(shares['ties'])}"
    )
    ends = (lower, upper) if measure.sign > 0 else (-upper, -lower)
    leader, other = (one, two) if counts["wins"] >= counts["losses"] else (two, one)
    most = max(counts["wins"], counts["losses"])
    how = f"{leader.label} is better at {most} of {len(d)} {tested}; the next may go either way"
    if counts["wins"] == counts["losses"]:
        how = f"Neither is better more often: {most} of {len(d)} {tested} each"
    if not moves and (ends[1] <= 0 or ends[0] >= 0):
        leader, other = (one, two) if ends[1] <= 0 else (two, one)
        much = "better than" if ends[1] < 0 or ends[0] > 0 else "at least as good as"
        much = "exactly as good as" if ends == (0, 0) else much
        how = f"{leader.label} will be {much} {other.label} on the next {new}"
        how += f", with {confidence(alpha)} confidence"
    bar_words = "Bar: typical ends over the trials" if moves else f"Bar: the set of {trial}"
    caption = f"{bar_words}: {reading}. Fade: its ends over the trials. {exact}."
    caption += f" There is {missing}." if missing else ""
    alt = f"A bar for the {reading}, and a bar of wins. {exact}."
    data = frame.drop(columns=["test_coverage"])
    return Panel("paired", how, figure, caption, alt, data)
