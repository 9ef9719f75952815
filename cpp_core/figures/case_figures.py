"""Figures of single cases: one set, one class, one difference, one kind of error at a time."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level, exact_alpha
from cpp_core.figures.panels import (
    Axis,
    Panel,
    bound_words,
    diamond,
    draw_set,
    faded,
    fill,
    finite,
    framed,
    ink,
    look,
    percent_axis,
    plain,
    rows_layout,
)
from cpp_core.figures.sketch import Sketch
from cpp_core.verdicts.language import confidence, counted, listed, number, percent

PLACES = 150
"""Losses that differ by less than this part of the axis are drawn as one diamond."""


@dataclass(frozen=True)
class CaseBar:
    """One algorithm's set at one case, with the losses that fresh candidates had there."""

    algorithm: str
    construction: str
    lower: float
    upper: float
    losses: NDArray


@dataclass(frozen=True)
class ClassBar:
    """One algorithm's sets in one class: median ends, the share covered, the class's own bound.

    ``group_upper`` is calibrated with the class's own ``k_group`` scores; None where there is none.
    """

    label: str
    algorithm: str
    lower: float
    upper: float
    covered: float
    group_upper: float | None
    k_group: int


def case_bars(
    bars: Sequence[CaseBar],
    unit: str = "",
    dark: bool = False,
    log: bool | None = None,
    fresh: bool = True,
    side: str = "two-sided",
) -> Panel:
    """One case: a bar for each set, diamonds for what freshly trained candidates really lost.

    ``unit`` is the title of the axis, such as ``loss_label(experiment)``. Without ``fresh`` sets
    and losses are those of the one model that was trained. ``side`` is that of the sets.
    """
    if not bars:
        raise ValueError("There is no set to draw; give at least one CaseBar.")
    values = [np.append(finite(bar.losses), finite([bar.lower, bar.upper])) for bar in bars]
    pooled = np.concatenate(values)
    axis = Axis.around(pooled, log, zero=bool((pooled >= 0).all()))
    constructions = list(dict.fromkeys(bar.construction for bar in bars))
    figure, rows, readings = Sketch(), [], []
    for row, bar in enumerate(bars):
        shown, losses = look(bar.algorithm), np.asarray(bar.losses, dtype=float)
        inside = int(((bar.lower <= losses) & (losses <= bar.upper)).sum())
        name = shown.label + (f" ({bar.construction})" if len(constructions) > 1 else "")
        share = (
            f"{inside} of {len(losses)} inside ({percent(inside / len(losses))})"
            if len(losses)
            else "no fresh candidate to compare with"
        )
        readings.append(f"{name}: {share}")
        ends = (float(bar.lower), float(bar.upper))
        hover = f"{name} {bound_words(*ends, side)}"
        note = "no finite bound" if math.inf in (ends[1], -ends[0]) else ""
        # The second construction is hatched.
        hatch = shown.hatch if constructions.index(bar.construction) % 2 else ""
        draw_set(figure, axis, row, ends, shown.color, hover, note, 0.34, hatch)
        places, counts = _places(losses, axis)
        figure.scatter(
            x=plain(places),
            y=[row] * len(places),
            mode="markers",
            marker={**diamond(dark, 9), "opacity": 0.75},
            name=f"what {'fresh candidates' if fresh else 'the trained model'} lost",
            customdata=[f"{n} candidate{'s' * (n > 1)} lost" for n in counts],
            hovertemplate="%{customdata} about %{x:.3g}<extra></extra>",
            showlegend=row == 0,
        )
        figure.note(
            f"<b>{name}</b>: {share}",
            xref="paper",
            x=0,
            xanchor="left",
            y=row - 0.2,
            yanchor="bottom",
        )
        rows.append(
            {**{k: v for k, v in asdict(bar).items() if k != "losses"}, "inside": inside}
            | {"candidates": len(losses)}
        )
    framed(figure, 80 + 76 * len(bars), xaxis=axis.layout(unit))
    figure.set(yaxis={**rows_layout([""] * len(bars)), "showticklabels": False})
    figure.axis("y", {"range": [len(bars) - 0.4, -0.7]})
    counted_in = [(r["inside"], r["candidates"]) for r in rows]
    total, of = sum(a for a, _ in counted_in), sum(b for _, b in counted_in)
    if not fresh:
        ends_of = (
            f"{look(bar.algorithm).label} {bound_words(bar.lower, bar.upper, side)}" for bar in bars
        )
        title = f"The trained model at this case: {listed(ends_of)}"
    elif not of:
        title = "No fresh candidate was trained for this case"
    elif len(bars) <= 3:
        names = [reading.split(": ")[0] for reading in readings]
        shares = (
            f"{name} {percent(a / b) if b else 'unknown'}"
            for name, (a, b) in zip(names, counted_in, strict=True)
        )
        title = f"Fresh losses inside the bar at this case: {listed(shares)}"
    else:
        title = f"{percent(total / of)} of the fresh losses lie inside their bars at this case"
    diamonds = "Diamonds: losses that freshly trained candidates really had here."
    if not fresh:
        diamonds = "Diamond: the loss that the trained model really had here."
    caption = (
        f"Bar: the set at this case. {diamonds} The promise holds over cases drawn at random, not "
        "for this one."
    )
    alt = f"One bar per set with diamonds for losses. {'; '.join(readings)}."
    return Panel("case", title, figure, caption, alt, pd.DataFrame(rows))


def _places(losses: NDArray, axis: Axis) -> tuple[NDArray, list[int]]:
    """Where losses are drawn, and how many at each place; an infinite one at the axis's end."""
    clipped = np.clip(losses, axis.low, axis.high)
    scale = np.log10 if axis.log else np.asarray
    low, high = scale(axis.low), scale(axis.high)
    cells = np.round((scale(clipped) - low) / (high - low) * PLACES).astype(int)
    unique, counts = np.unique(cells, return_counts=True)
    return np.array([np.median(clipped[cells == cell]) for cell in unique]), counts.tolist()


def class_bars(
    rows: Sequence[ClassBar], unit: str = "", dark: bool = False, log: bool | None = None
) -> Panel:
    """Per class and algorithm: median ends with the share covered, and the class's own bound."""
    if not rows:
        raise ValueError("There is no class to draw; give at least one ClassBar.")
    data = pd.DataFrame([asdict(row) for row in rows])
    labels = list(dict.fromkeys(data["label"]))
    algorithms = list(dict.fromkeys(data["algorithm"]))
    own_bounds = data["group_upper"].astype(float)
    known = np.concatenate([data["lower"], data["upper"], own_bounds])
    axis = Axis.around(known, log, zero=bool((finite(known) >= 0).all()))
    # To the right of the bars, a column for the shares.
    edge = axis.high + 0.2 * (axis.high - axis.low)
    if axis.log:
        edge = axis.high * (axis.high / axis.low) ** 0.2
    figure, thickness = Sketch(), 0.8 / len(algorithms)
    for i, name in enumerate(algorithms):
        shown, own = look(name), data[data["algorithm"] == name].reset_index(drop=True)
        at = [labels.index(label) + (i + 0.5) * thickness - 0.4 for label in own["label"]]
        empty = own["lower"] > own["upper"]
        left = own["lower"].map(axis.clip)
        right = own["upper"].map(axis.clip).where(~empty, left)
        percents = [percent(share) if share == share else "none tested" for share in own["covered"]]
        figure.bar(
            base=plain(left),
            x=plain(right - left),
            y=plain(at),
            width=[thickness * 0.9] * len(own),
            orientation="h",
            marker=fill(name, opacity=0.7),
            name=shown.label,
            customdata=[
                f"{label} {bound_words(a, b)}, {share}"
                for label, a, b, share in zip(
                    own["label"], own["lower"], own["upper"], percents, strict=True
                )
            ],
            hovertemplate=f"{shown.label}, class %{{customdata}} covered<extra></extra>",
        )
        figure.scatter(
            x=plain([edge] * len(own)),
            y=plain(at),
            mode="text",
            text=[
                f"empty, {share}" if void else share
                for share, void in zip(percents, empty, strict=True)
            ],
            textposition="middle left",
            hoverinfo="skip",
            showlegend=False,
        )
        bounds = own["group_upper"].astype(float)
        has = bounds.notna()
        figure.scatter(
            x=plain(bounds[has].map(axis.clip)),
            y=plain(np.array(at)[has]),
            mode="markers",
            marker={
                "symbol": [
                    "triangle-right" if math.isinf(b) else shown.marker for b in bounds[has]
                ],
                "size": 11,
                "color": shown.color,
                "line": {"color": ink(dark), "width": 1.5},
            },
            name=f"{shown.label}: the class's own bound",
            customdata=[
                f"class {label}: {f'at most {number(b)}' if math.isfinite(b) else number(b)}, from "
                + counted(k, "score")
                for label, b, k in zip(
                    own["label"][has], bounds[has], own["k_group"][has], strict=True
                )
            ],
            hovertemplate=f"{shown.label}, %{{customdata}}<extra></extra>",
        )
    framed(
        figure,
        110 + len(labels) * (14 + 17 * len(algorithms)),
        xaxis=Axis(axis.low, edge, axis.log).layout(unit),
    )
    figure.set(yaxis={**rows_layout(labels), "ticks": "outside", "type": "linear"})
    by_share = data.dropna(subset="covered").sort_values("covered", kind="stable")
    low, high = (by_share.iloc[i] if len(by_share) else None for i in (0, -1))
    if low is None or high is None:
        covered = "No class has a tested case"
    elif low["covered"] == high["covered"]:
        covered = f"Every tested class is covered in {percent(low['covered'])} of its cases"
    else:
        covered = (
            f"Between {percent(low['covered'])} ({look(low['algorithm']).label}, {low['label']}) "
            f"and {percent(high['covered'])} ({look(high['algorithm']).label}, {high['label']}) of "
            "a class are covered"
        )
    title = f"{covered}: no guarantee per class"
    caption = (
        "Bars: median ends over the class's test cases, with the share covered, which is no "
        "guarantee per class. Markers: the upper bound calibrated within the class, which is one."
    )
    unbounded = int(np.isinf(own_bounds).sum())
    if unbounded:
        caption += f" {counted(unbounded, 'class bound')} not finite: too few scores in the class."
    alt = f"Bars per class and algorithm. {covered}."
    return Panel("classes", title, figure, caption, alt, data)


def alpha_sweep(
    curves: Mapping[str, tuple[NDArray, NDArray, NDArray]],
    alpha: Level,
    unit: str = "",
    dark: bool = False,
    log: bool | None = None,
    side: str = "two-sided",
) -> Panel:
    """How one case's set moves with the confidence: a band per algorithm.

    ``curves`` holds alphas, lower and upper ends by algorithm; the band has a gap where the set is
    empty and reaches the end of the axis where an end is infinite.
    """
    if not curves:
        raise ValueError("There is no curve to draw; give at least one algorithm.")
    level = float(exact_alpha(alpha))
    pooled = np.concatenate([np.concatenate([low, high]) for _, low, high in curves.values()])
    axis = Axis.around(pooled, log, zero=bool((finite(pooled) >= 0).all()))
    figure, frames, readings, empties = Sketch(), [], [], 0
    for name, (alphas, lower, upper) in curves.items():
        shown = look(name)
        order = np.argsort(alphas)[::-1]
        levels, low, high = (np.asarray(v, dtype=float)[order] for v in (alphas, lower, upper))
        x, full = 100 * (1 - levels), low <= high
        empties += int((~full).sum())
        runs = np.split(np.arange(len(x)), np.flatnonzero(np.diff(full)) + 1)
        for i, run in enumerate(run for run in runs if full[run[0]]):
            a, b = (np.clip(v[run], axis.low, axis.high) for v in (low, high))
            figure.scatter(
                x=plain(np.concatenate([x[run], x[run][::-1]])),
                y=plain(np.concatenate([b, a[::-1]])),
                mode="lines",
                fill="toself",
                fillcolor=faded(shown.color, 0.25),
                line={"color": shown.color, "width": 2},
                name=shown.label,
                legendgroup=name,
                showlegend=i == 0,
                hoveron="points",
                hovertemplate=f"{shown.label} at %{{x:.3g}} %: %{{y:.3g}}<extra></extra>",
            )
        near = int(np.abs(levels - level).argmin())
        if not math.isclose(levels[near], level):
            raise ValueError(f"alpha = {level:g} is not among the alphas of {name}; include it.")
        reading = f"{shown.label} {bound_words(low[near], high[near], side)}"
        if full[near]:
            ends = [low[near], high[near]]
            figure.scatter(
                x=plain([x[near]] * 2),
                y=plain([axis.clip(end) for end in ends]),
                mode="markers",
                marker={"symbol": shown.marker, "size": 12, "color": shown.color},
                showlegend=False,
                hovertemplate=f"{reading}<extra></extra>",
            )
        readings.append(reading)
        frames.append(
            pd.DataFrame({"algorithm": name, "alpha": levels, "lower": low, "upper": high})
        )
    chosen = 100 * float(1 - exact_alpha(alpha))
    figure.vline(chosen, {"color": ink(dark), "dash": "dot", "width": 1.5})
    framed(figure, 340, showlegend=True)
    data = pd.concat(frames, ignore_index=True)
    xaxis = percent_axis(100 * (1 - data["alpha"].to_numpy()), "confidence")
    figure.set(xaxis=xaxis, yaxis=axis.layout(unit))
    title = f"At {confidence(alpha)} confidence: {', '.join(readings)}"
    caption = (
        "Band: the set at each confidence; the dotted line marks the chosen one. A confidence "
        "picked after looking at this chart loses its promise."
    )
    caption += f" The set is empty at {counted(empties, 'place')}." if empties else ""
    if np.isinf(pooled).any():
        caption += " Where a band touches the end of the axis, there is no finite bound."
    alt = f"Bands of the set against the confidence. {title}."
    return Panel("sweep", title, figure, caption, alt, data)
