"""Whether the sets keep their promise: coverage beside its exact law."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from cpp_core.checks import Level, check_side, exact_alpha
from cpp_core.figures.histograms import columns, frame_rows, stacked
from cpp_core.figures.interval_figures import _pairs
from cpp_core.figures.panels import (
    BINS,
    CUT,
    Panel,
    faded,
    fill,
    framed,
    ink,
    look,
    percent_axis,
    plain,
    rows_layout,
    too_few,
)
from cpp_core.figures.sketch import Sketch
from cpp_core.trials.results import INTERVAL_CONFIDENCE, NumericLosses, Results
from cpp_core.verdicts.language import confidence, counted, listed, number, percent, possessive


def tied_share(results: Results, name: str, alpha: Level, side: str) -> float:
    """In which share of the trials an end ties with another score: there p is a lower bound."""
    reader = results.reader(name)
    assert isinstance(reader, NumericLosses)
    ranked = reader.scores(alpha, side)
    ordered, ranks = ranked.by_rank[1:-1], reader.ranks(alpha, side)
    count = len(ordered)
    tied = np.zeros(ordered.shape[1], dtype=bool)
    for rank in (rank for rank in ranks if 1 <= rank <= count):
        for other in (rank - 1, rank + 1):
            if 1 <= other <= count:
                tied |= ordered[rank - 1] == ordered[other - 1]
    return float(tied.mean())


def coverage_cdf(n_test: int, a: int, b: int) -> NDArray:
    """P(at most h of n_test new losses are covered), h = 0, ..., n_test: the Beta-binomial law."""
    hits = np.arange(n_test + 1)
    ways = -special.betaln(hits + 1, n_test - hits + 1) - math.log(n_test + 1)
    density = np.exp(ways + special.betaln(hits + a, n_test - hits + b) - special.betaln(a, b))
    return np.cumsum(density)


def _law(results: Results, alpha: Level, side: str) -> tuple[float | None, str]:
    """The exact probability of covering, None without one; and in words what is known."""
    law = results.coverage_law(alpha, check_side(side))
    if law is None:
        known = (
            f"The law is not known for {results.experiment.n_evaluations} losses per training "
            f"subset, only that {confidence(alpha)} are covered at least."
        )
        return None, known
    a, b = law
    if b == 0:
        return 1.0, f"Coverage is certain, because there is {too_few(results, alpha, side)}."
    p = a / (a + b)
    known = f"A new loss is covered with probability {a}/{a + b} = {percent(p)}"
    if results.experiment.kind.symbolic:
        return p, f"{known}; a lower bound, because an empty set gets its most likely symbol."
    shares = [tied_share(results, name, alpha, side) for name in results.algorithms]
    if max(shares) > 0:
        known += (
            "; a lower bound where scores tie (the ends tie with other scores in "
            f"{listed(percent(share) for share in shares)} of the trials)"
        )
    return p, known + "."


def cover_rates(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """The share of trials whose one new loss was covered, with its exact interval, against p."""
    summary, promised = results.summary(alpha, side), float(1 - exact_alpha(alpha))
    p, known = _law(results, alpha, side)
    data = pd.DataFrame(
        {
            "algorithm": list(summary),
            "cover_rate": [own["new_loss_cover_rate"] for own in summary.values()],
            "low": [own["new_loss_cover_low"] for own in summary.values()],
            "high": [own["new_loss_cover_high"] for own in summary.values()],
        }
    )
    figure, count = Sketch(), len(data)
    lines = [(promised, "dash", f"promised: at least {confidence(alpha)}")]
    lines += [] if p is None else [(p, "solid", f"exact: {percent(p)}")]
    for x, dash, name in lines:
        figure.scatter(
            x=plain([100 * x, 100 * x]),
            y=[-0.5, count - 0.5],
            mode="lines",
            line={"color": ink(dark), "dash": dash, "width": 1.5},
            name=name,
            hovertemplate=f"{name}<extra></extra>",
        )
    readings = []
    for row, (name, rate, low, high) in enumerate(data.itertuples(index=False)):
        shown = look(name)
        readings.append(f"{shown.label} {percent(rate)}")
        figure.scatter(
            x=plain([100 * rate]),
            y=[row],
            error_x={
                "array": plain([100 * (high - rate)]),
                "arrayminus": plain([100 * (rate - low)]),
                "thickness": 3,
                "width": 8,
            },
            mode="markers",
            marker={"color": shown.color, "symbol": shown.marker, "size": 14},
            hovertemplate=f"{readings[-1]}, exact interval {percent(low)} to {percent(high)}"
            "<extra></extra>",
            showlegend=False,
        )
    reach = 100 * np.append(data[["low", "high"]].to_numpy(), [x for x, *_ in lines])
    framed(figure, 110 + 46 * count, yaxis=rows_layout([look(name).label for name in summary]))
    n = len(results.trials)
    figure.set(xaxis=percent_axis(reach, "share of trials whose new loss is covered"))
    target = promised if p is None else p
    # Where p is only a lower bound, a rate above it agrees with it.
    bound = p is None or "lower bound" in known
    exact = f"{'at least ' if bound else 'the exact '}{percent(target)}"
    missed = data[(data["high"] < target) | ((data["low"] > target) & (not bound))]
    if missed.empty:
        who = {1: "The cover rate agrees", 2: "Both cover rates agree"}
        title = f"{who.get(count, f'All {count} cover rates agree')} with {exact}"
    else:
        rates = listed(
            f"{possessive(look(a).label)}, {percent(v)}," for a, v in _pairs(missed, "cover_rate")
        )
        title = f"{len(missed)} of {counted(count, 'cover rate')} disagree with {exact}: {rates}"
        title = title.rstrip(",")
    caption = (
        f"One new loss in each of {counted(n, 'trial')}: {listed(readings)}. Bars: exact "
        f"{percent(INTERVAL_CONFIDENCE)} intervals, each for itself; one in 20 may miss by chance. "
        f"{known}"
    )
    alt = f"A dot with an interval per algorithm: {listed(readings)}. {title}."
    return Panel("cover-rates", title, figure, caption, alt, data)


def coverage_histograms(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """Test loss coverage of each trial, under the counts that its exact law expects.

    Bins hold whole numbers of covered losses, the same number of them in each.
    """
    found = columns(results, alpha, side)
    sizes, n = results.experiment.sizes, len(results.trials)
    p, known = _law(results, alpha, side)
    law = results.coverage_law(alpha, side)
    symbolic = results.experiment.kind.symbolic
    drawable = law is not None and law[1] > 0 and not symbolic
    exact = coverage_cdf(sizes.n_test, *law) if law is not None and drawable else None
    bound = "lower bound" in known
    law_name = "law without ties, a lower bound" if bound else "expected by the exact law"
    hits = {
        name: (own["test_coverage"] * sizes.n_test).round().astype(int)
        for name, own in found.items()
    }
    reach = np.concatenate(list(hits.values()))
    if exact is not None:
        reach = np.append(reach, np.searchsorted(exact, [0.001, 0.999]))
    low, high = int(reach.min()), int(reach.max())
    size = math.ceil((high - low + 1) / BINS)
    starts = np.arange(low, high + 1, size)
    stops = starts + size  # the first number beyond each bin
    shares = 100 * (starts - 0.5) / sizes.n_test, 100 * (stops - 0.5) / sizes.n_test
    centres = (shares[0] + shares[1]) / 2
    expected = None
    if exact is not None:
        up_to = np.concatenate([[0.0], exact])  # up_to[i]: fewer than i are covered
        expected = n * np.diff(up_to[np.minimum(np.append(starts, stops[-1]), sizes.n_test + 1)])
    figure = stacked(len(found))
    frames = []
    edges = np.append(starts, stops[-1])
    for row, (name, own) in enumerate(hits.items(), start=1):
        counts = np.histogram(own, edges - 0.5)[0]
        filled = np.flatnonzero(counts)
        figure.bar(
            row,
            x=plain(centres[filled]),
            y=counts[filled].tolist(),
            width=plain((shares[1] - shares[0])[filled]),
            marker=fill(name, opacity=0.6),
            customdata=[_covered(starts[i], stops[i] - 1, sizes.n_test) for i in filled],
            hovertemplate=f"{look(name).label}: %{{customdata}} %{{y}} trials<extra></extra>",
            showlegend=False,
        )
        if expected is not None:
            figure.scatter(
                row,
                x=plain(centres),
                y=[round(float(value), 2) for value in expected],
                mode="lines",
                line={"shape": "hvh", "color": ink(dark), "width": 1.5},
                name=law_name,
                hovertemplate="expected: %{y:.1f} trials<extra></extra>",
                showlegend=row == 1,
            )
        frame = pd.DataFrame({"fewest": starts, "most": stops - 1, "trials": counts})
        frame.insert(0, "algorithm", name)
        frames.append(frame.assign(expected=np.nan if expected is None else expected))
    promised, rows = 100 * float(1 - exact_alpha(alpha)), range(1, len(found) + 1)
    edges_of_p = [promised]
    if law is not None:
        moves = symbolic or results.experiment.modulation is not None
        excess = (2 if side == "two-sided" and not moves else 1) / (sizes.k + 1)
        edges_of_p.append(min(100.0, promised + 100 * excess))
        style = {"fillcolor": faded(ink(dark), 0.18), "line": {"width": 0}, "layer": "below"}
        for row in rows:
            figure.shape("rect", edges_of_p[0], edges_of_p[1], row, **style)
    figure.vline(promised, {"color": ink(dark), "dash": "dash", "width": 1.5}, rows)
    # Shapes do not widen a range by themselves.
    widest = [shares[0][0], shares[1][-1], *edges_of_p]
    axis = percent_axis(widest, "test losses covered in a trial")
    # One algorithm whose coverage hardly varies must not flatten the others.
    tops = [float(frame["trials"].max()) for frame in frames]
    top = min(max(tops), 3 * min(tops))
    cut = frame_rows(figure, list(found), axis, max([top, *([] if expected is None else expected)]))
    means = {name: float(own["test_coverage"].mean()) for name, own in found.items()}
    readings = listed(f"{look(name).label} {percent(mean)}" for name, mean in means.items())
    short = readings if len(means) <= 3 else f"{percent(min(means.values()))} or more"
    if law is not None and law[1] == 0:
        title = f"Every test loss is covered, because there is {too_few(results, alpha, side)}"
    else:
        against = (
            f"promised {confidence(alpha)}"
            if p is None
            else f"expected {'at least ' * bound}{percent(p)}"
        )
        title = f"Covered on average: {short}; {against}"
    drawn = f"Line: {law_name}." if exact is not None else "No curve is drawn."
    shaded = listed(percent(edge / 100) for edge in edges_of_p)
    band = f" Shaded: between {shaded}, where the law's mean lies."
    caption = (
        f"Share of {counted(sizes.n_test, 'test loss')} covered in each "
        f"of {counted(n, 'trial')}. {drawn}{CUT if cut else ''}"
        f"{band if law is not None else ''} {known}"
    )
    alt = f"Histograms of coverage, one row per algorithm. Means: {readings}. {known}"
    return Panel("coverage", title, figure, caption, alt, pd.concat(frames, ignore_index=True))


def _covered(fewest: int, most: int, n_test: int) -> str:
    if fewest == most:
        return f"{fewest} of {n_test} covered in"
    return f"{fewest} to {min(most, n_test)} of {n_test} covered in"


def calibration_curve(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """Mean test coverage against the promised 1 - alpha, from 50 to 99 %."""
    exact = exact_alpha(alpha)
    grid = sorted({exact, *(exact_alpha(step / 100) for step in range(1, 51))}, reverse=True)
    promised = np.array([float(1 - level) for level in grid])
    curves = {
        name: own["test_coverage"].mean(axis=1) for name, own in results.curve(grid, side).items()
    }
    figure, here = Sketch(), grid.index(exact)
    for below, (name, coverage) in enumerate(reversed(curves.items())):
        shown = look(name)
        sizes = [12 if i == here else 0 for i in range(len(grid))]
        figure.scatter(
            x=plain(100 * promised),
            y=plain(100 * coverage.round(6)),
            mode="lines+markers",
            # Lines that coincide stay visible: each is thinner than the one below it.
            line={"color": shown.color, "width": 2 + len(curves) - 1 - below},
            marker={"symbol": shown.marker, "size": sizes, "color": shown.color},
            name=shown.label,
            hovertemplate=f"{shown.label} covers %{{y:.1f}} % where %{{x}} % are promised"
            "<extra></extra>",
        )
    ends = plain(100 * promised[[0, -1]])
    figure.scatter(
        x=ends,
        y=ends,
        mode="lines",
        line={"color": ink(dark), "dash": "dash", "width": 1.5},
        name="promised",
        hovertemplate="promised: %{x} %<extra></extra>",
    )
    chosen = 100 * float(promised[here])
    figure.vline(chosen, {"color": ink(dark), "dash": "dot", "width": 1.5})
    framed(figure, 380, showlegend=True)
    figure.set(
        xaxis=percent_axis(100 * promised, "promised confidence"),
        yaxis=percent_axis(100 * np.array([promised, *curves.values()]), "mean test coverage"),
        legend={"traceorder": "reversed"},
    )
    gaps = {name: promised - coverage for name, coverage in curves.items()}
    worst = max(gaps, key=lambda name: gaps[name].max())
    place = int(gaps[worst].argmax())
    gap = float(gaps[worst][place])
    span_words = f"{percent(promised[0])} to {percent(promised[-1])}"
    if gap <= 0:
        title = f"At every confidence from {span_words}, the mean coverage is at least the promise"
    else:
        title = (
            f"The mean coverage is at most {number(100 * gap)} percentage points below the promise "
            f"({look(worst).label} at {percent(promised[place])})"
        )
    readings = listed(f"{look(name).label} {percent(own[here])}" for name, own in curves.items())
    n = counted(len(results.trials), "trial")
    caption = (
        f"Mean over {n}; the dotted line marks {confidence(alpha)}: {readings}. All confidences "
        "read the same trials, so that neighbouring points move together."
    )
    alt = (
        f"Lines of mean coverage against the promise. {title}. At {confidence(alpha)}: {readings}."
    )
    data = pd.concat(
        [
            pd.DataFrame({"algorithm": name, "promised": promised, "mean_coverage": coverage})
            for name, coverage in curves.items()
        ],
        ignore_index=True,
    )
    return Panel("calibration", title, figure, caption, alt, data)
