"""Whether the sets keep their promise: coverage beside its exact law."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from cpp_core.checks import Level, exact_alpha
from cpp_core.figures.histograms import frame_rows, stacked
from cpp_core.figures.panels import (
    BINS,
    CUT,
    Panel,
    faded,
    fill,
    ink,
    look,
    percent_axis,
    rows_layout,
    stroke,
)
from cpp_core.figures.sketch import Settings, Sketch, plain
from cpp_core.trials.results import INTERVAL_CONFIDENCE, Results
from cpp_core.verdicts.coverage import coverage_facts
from cpp_core.verdicts.language import confidence, counted, listed, percent
from cpp_core.verdicts.over_trials import columns
from cpp_core.verdicts.promise import (
    cover_rates_of,
    coverage_title,
    curve_title,
    mean_coverage,
    rates_title,
    shares_words,
    shortfall,
)

# The one new loss of each trial


def cover_rates(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """The share of trials whose one new loss was covered, with its exact interval, against p."""
    found = cover_rates_of(results, alpha, side)
    known, rates = found.known, dict(zip(results.algorithms, found.rates.values(), strict=True))
    rows = [(name, *vars(own).values()) for name, own in rates.items()]
    data = pd.DataFrame(rows, columns=["algorithm", "cover_rate", "low", "high"])
    figure, count = Sketch(), len(data)
    lines = [(known.promised, "dash", f"promised: at least {confidence(alpha)}")]
    whose = "exact:" if known.exact else "at least"
    lines += [] if known.p is None else [(known.p, "solid", f"{whose} {percent(known.p)}")]
    for x, dash, name in lines:
        figure.line([100 * x] * 2, [-0.5, count - 0.5], stroke(dark, dash), name, name=name)
    for row, (name, own) in enumerate(rates.items()):
        shown, rate = look(name), own.rate
        hover = f"{shown.label} {percent(rate)}, exact interval {percent(own.low, 'down')} to "
        hover += percent(own.high, "up")
        error: Settings = {"array": plain([100 * (own.high - rate)]), "thickness": 3, "width": 8}
        error["arrayminus"] = plain([100 * (rate - own.low)])
        marker = {"color": shown.color, "symbol": shown.marker, "size": 14}
        figure.marks([100 * rate], [row], marker, hover, error_x=error)
    readings = shares_words({label: own.rate for label, own in found.rates.items()})
    reach = 100 * np.append(data[["low", "high"]].to_numpy(), [x for x, *_ in lines])
    share = percent_axis(reach, "share of trials whose new loss is covered")
    labels = rows_layout(list(found.rates))
    figure.frame(110 + 46 * count, xaxis=share, yaxis=labels)
    title = rates_title(found)
    caption = (
        f"One new loss in each of {counted(len(results.trials), 'trial')}: {readings}. Bars: exact "
        f"{percent(INTERVAL_CONFIDENCE)} intervals, each for itself; one in 20 may miss by chance. "
        f"{known.words}"
    )
    alt = f"A dot with an interval per algorithm: {readings}. {title}."
    return Panel("cover-rates", title, figure, caption, alt, data)


# All test losses of each trial


def count_bins(
    hits: NDArray, n_test: int, law: tuple[int, int] | None, trials: int
) -> tuple[NDArray, NDArray | None]:
    """Edges of bins of whole numbers of covered losses, the same number of them in each.

    With them, how many of the trials a Beta-binomial law expects in each, None without a law.
    """
    # Summed here: the law's own cdf sums anew for each number, 38 ms instead of 0.1 for 450.
    density = None if law is None else stats.betabinom.pmf(np.arange(n_test + 1), n_test, *law)
    cdf = None if density is None else np.cumsum(density)
    reach = hits if cdf is None else np.append(hits, np.searchsorted(cdf, [0.001, 0.999]))
    low, high = int(reach.min()), int(reach.max())
    size = math.ceil((high - low + 1) / BINS)
    edges = np.arange(low, high + size + 1, size)
    if cdf is None:
        return edges, None
    up_to = np.append(0.0, cdf)  # up_to[i]: fewer than i are covered
    return edges, trials * np.diff(up_to[np.minimum(edges, n_test + 1)])


def coverage_histograms(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """Test loss coverage of each trial, under the counts that its exact law expects."""
    found, known = columns(results, alpha, side), coverage_facts(results, alpha, side)
    n_test, n = results.experiment.sizes.n_test, len(results.trials)
    coverage = {name: own["test_coverage"] for name, own in found.items()}
    hits = {name: (own * n_test).round().astype(int) for name, own in coverage.items()}
    edges, expected = count_bins(np.concatenate(list(hits.values())), n_test, known.law, n)
    law_name = "expected by the exact law" if known.exact else "law without ties, a lower bound"
    figure, frames = stacked(len(found)), []
    fewest, most = edges[:-1], edges[1:] - 1
    for row, (name, own) in enumerate(hits.items(), start=1):
        counts = np.histogram(own, edges - 0.5)[0]
        frame = pd.DataFrame({"algorithm": name, "fewest": fewest, "most": most, "trials": counts})
        frames.append(frame.assign(expected=np.nan if expected is None else expected))
        _draw_counts(figure, row, frame[counts > 0], n_test)
        if expected is not None:
            middles, style = 50 * (fewest + most) / n_test, {**stroke(dark), "shape": "hvh"}
            hover, key = "expected: %{y:.1f} trials", {"name": law_name, "showlegend": row == 1}
            figure.line(middles, expected.round(2), style, hover, row, **key)
    band = _draw_band(figure, results, alpha, side, dark)
    # Shapes do not widen a range by themselves.
    reach = 100 * (edges[[0, -1]] - 0.5) / n_test
    axis = percent_axis([*reach, *band], "test losses covered in a trial")
    # One algorithm whose coverage hardly varies must not flatten the others.
    tops = [float(frame["trials"].max()) for frame in frames]
    top = max([min(max(tops), 3 * min(tops)), *([] if expected is None else expected)])
    cut = frame_rows(figure, list(found), axis, top)
    seen = mean_coverage(results, alpha, side)
    readings, title = shares_words(seen.means), coverage_title(seen)
    drawn = "No curve is drawn." if expected is None else f"Line: {law_name}."
    caption = (
        f"Share of {counted(n_test, 'test loss')} covered in each of {counted(n, 'trial')}. "
        f"{drawn}{CUT if cut else ''}"
    )
    if len(band) > 1:
        shaded = listed(percent(edge / 100) for edge in band)
        caption += f" Shaded: between {shaded}, where the law's mean lies."
    alt = f"Histograms of coverage, one row per algorithm. Means: {readings}. {known.words}"
    data = pd.concat(frames, ignore_index=True)
    return Panel("coverage", title, figure, f"{caption} {known.words}", alt, data)


def _draw_counts(figure: Sketch, row: int, filled: pd.DataFrame, n_test: int) -> None:
    """One algorithm's histogram of coverage, from its filled bins."""
    name, fewest, most = filled["algorithm"].iloc[0], filled["fewest"], filled["most"]
    texts = [
        f"{a if a == b else f'{a} to {min(b, n_test)}'} of {n_test} covered in"
        for a, b in zip(fewest, most, strict=True)
    ]
    hover = f"{look(name).label}: %{{customdata}} %{{y}} trials"
    size = {"width": 100 * (most + 1 - fewest) / n_test, "customdata": texts}
    middles, marker = 50 * (fewest + most) / n_test, fill(name, opacity=0.6)
    figure.bar(middles, filled["trials"], marker, hover, row, **size)


def _draw_band(
    figure: Sketch, results: Results, alpha: Level, side: str, dark: bool
) -> list[float]:
    """A line at the promise, in percent, and a band from it to where the law's mean may lie."""
    promised, experiment = 100 * float(1 - exact_alpha(alpha)), results.experiment
    edges, rows = [promised], range(1, figure.rows + 1)
    if results.coverage_law(alpha, side) is not None:
        ends = 2 if side == "two-sided" and not experiment.kind.moves else 1
        edges.append(min(100.0, promised + 100 * ends / (experiment.sizes.k + 1)))
        style: Settings = {"fillcolor": faded(ink(dark), 0.18), "line": {"width": 0}}
        for row in rows:
            figure.shape("rect", edges[0], edges[1], row, **style, layer="below")
    figure.vline(promised, stroke(dark, "dash"), rows)
    return edges


# All confidences


def calibration_curve(
    results: Results, alpha: Level = 0.1, side: str = "two-sided", dark: bool = False
) -> Panel:
    """Mean test coverage against the promised 1 - alpha, from 50 to 99 %."""
    exact = exact_alpha(alpha)
    grid = sorted({exact, *(exact_alpha(step / 100) for step in range(1, 51))}, reverse=True)
    promised, here = np.array([float(1 - level) for level in grid]), grid.index(exact)
    curves = {
        name: own["test_coverage"].mean(axis=1) for name, own in results.curve(grid, side).items()
    }
    figure, shares = Sketch(), 100 * promised
    _draw_curves(figure, shares, curves, here)
    ends = shares[[0, -1]]
    figure.line(ends, ends, stroke(dark, "dash"), "promised: %{x} %", name="promised")
    figure.vline(float(shares[here]), stroke(dark, "dot"))
    reach = [shares, *(100 * coverage for coverage in curves.values())]
    x, y = percent_axis(shares, "promised confidence"), percent_axis(reach, "mean test coverage")
    figure.frame(380, showlegend=True, xaxis=x, yaxis=y, legend={"traceorder": "reversed"})
    title = curve_title(shortfall(promised, curves))
    readings = shares_words({look(name).label: float(own[here]) for name, own in curves.items()})
    caption = (
        f"Mean over {counted(len(results.trials), 'trial')}; the dotted line marks "
        f"{confidence(alpha)}: {readings}. All confidences read the same trials, so that "
        "neighbouring points move together."
    )
    alt = (
        f"Lines of mean coverage against the promise. {title}. At {confidence(alpha)}: {readings}."
    )
    frames = [
        pd.DataFrame({"algorithm": name, "promised": promised, "mean_coverage": coverage})
        for name, coverage in curves.items()
    ]
    data = pd.concat(frames, ignore_index=True)
    return Panel("calibration", title, figure, caption, alt, data)


def _draw_curves(figure: Sketch, shares: NDArray, curves: dict[str, NDArray], here: int) -> None:
    """A line for each algorithm, with a mark at the chosen confidence."""
    sizes = [12 if i == here else 0 for i in range(len(shares))]
    for below, (name, coverage) in enumerate(reversed(curves.items())):
        shown = look(name)
        # Lines that coincide stay visible: each is thinner than the one below it.
        line = {"color": shown.color, "width": 2 + len(curves) - 1 - below}
        marker = {"symbol": shown.marker, "size": sizes, "color": shown.color}
        hover = f"{shown.label} covers %{{y:.1f}} % where %{{x}} % are promised"
        style: Settings = {"mode": "lines+markers", "marker": marker, "name": shown.label}
        figure.line(shares, 100 * coverage.round(6), line, hover, **style)
