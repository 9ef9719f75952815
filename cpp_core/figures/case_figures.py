"""Figures of single cases: one set, one class, one difference, one kind of error at a time."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level, exact_alpha
from cpp_core.figures.panels import (
    Axis,
    Panel,
    SetChart,
    SetMark,
    bound_words,
    diamond,
    faded,
    fill,
    finite,
    ink,
    look,
    percent_axis,
    rows_layout,
    stroke,
)
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.verdicts.about import About
from cpp_core.verdicts.language import confidence, counted, listed, percent

PLAIN = About()
NO_LOSSES = "no fresh candidate to compare with"
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

    @property
    def inside(self) -> int:
        """How many of the losses lie in the set."""
        losses = np.asarray(self.losses, dtype=float)
        return int(((self.lower <= losses) & (losses <= self.upper)).sum())

    @property
    def share(self) -> str:
        """The same in percent."""
        return percent(self.inside / len(self.losses)) if len(self.losses) else "unknown"


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

    @property
    def share(self) -> str:
        """The share covered, in percent."""
        return "none tested" if math.isnan(self.covered) else percent(self.covered)


def case_bars(
    bars: Sequence[CaseBar],
    unit: str = "",
    dark: bool = False,
    fresh: bool = True,
    side: str = "two-sided",
    about: About = PLAIN,
) -> Panel:
    """One case: a bar for each set, diamonds for what freshly trained candidates really lost.

    ``unit`` is the title of the axis, such as ``loss_label(experiment)``. Without ``fresh`` sets
    and losses are those of the one model that was trained. ``side`` is that of the sets, ``about``
    says what the losses are.
    """
    if not bars:
        raise ValueError("There is no set to draw; give at least one CaseBar.")
    axis = _axis_of([*bar.losses, bar.lower, bar.upper] for bar in bars)
    constructions = list(dict.fromkeys(bar.construction for bar in bars))
    figure, rows, names, readings, sets = SetChart(axis), [], [], [], []
    for row, bar in enumerate(bars):
        shown, n = look(bar.algorithm), len(bar.losses)
        name = shown.label + (f" ({bar.construction})" if len(constructions) > 1 else "")
        inside = f"{bar.inside} of {n} inside ({bar.share})" if n else NO_LOSSES
        words = bound_words(about, bar.lower, bar.upper, side)
        names.append(name)
        readings.append(f"{name}: {inside}")
        sets.append(f"{shown.label} {words}")
        note = "no finite bound" if math.inf in (bar.upper, -bar.lower) else ""
        # The second construction is hatched.
        hatch = shown.hatch if constructions.index(bar.construction) % 2 else ""
        ends = float(bar.lower), float(bar.upper)
        figure.set(row, SetMark(*ends, shown.color, f"{name} {words}", note, 0.34, hatch))
        _draw_losses(figure, row, np.asarray(bar.losses, dtype=float), dark, fresh)
        at: Settings = {"x": 0, "y": row - 0.2, "xanchor": "left", "yanchor": "bottom"}
        figure.note(f"<b>{name}</b>: {inside}", xref="paper", **at)
        kept = {key: value for key, value in vars(bar).items() if key != "losses"}
        rows.append({**kept, "inside": bar.inside, "candidates": n})
    y = {"showticklabels": False, "range": [len(bars) - 0.4, -0.7]}
    y = {**rows_layout([""] * len(bars)), **y}
    figure.frame(80 + 76 * len(bars), xaxis=axis.layout(unit), yaxis=y)
    title = _case_title(bars, names)
    diamonds = "Diamonds: losses that freshly trained candidates really had here."
    if not fresh:
        title = f"The trained model at this case: {listed(sets)}"
        diamonds = "Diamond: the loss that the trained model really had here."
    caption = (
        f"Bar: the set at this case. {diamonds} The promise holds over cases drawn at random, not "
        "for this one."
    )
    alt = f"One bar per set with diamonds for losses. {'; '.join(readings)}."
    return Panel("case", title, figure, caption, alt, pd.DataFrame(rows))


def _axis_of(values: Iterable[Any]) -> Axis:
    """An axis for losses, which begins at zero where none is negative."""
    pooled = np.concatenate([finite(own) for own in values])
    return Axis.around(pooled, zero=bool((pooled >= 0).all()))


def _draw_losses(figure: SetChart, row: int, losses: NDArray, dark: bool, fresh: bool) -> None:
    """A diamond wherever losses lie, an infinite one at the axis's end."""
    axis = figure.along
    clipped = np.clip(losses, axis.low, axis.high)
    scale = np.log10 if axis.log else np.asarray
    low, high = scale(axis.low), scale(axis.high)
    cells = np.round((scale(clipped) - low) / (high - low) * PLACES).astype(int)
    unique, counts = np.unique(cells, return_counts=True)
    figure.marks(
        np.array([np.median(clipped[cells == cell]) for cell in unique]),
        [row] * len(unique),
        {**diamond(dark, 9), "opacity": 0.75},
        "%{customdata} about %{x:.3g}",
        name=f"what {'fresh candidates' if fresh else 'the trained model'} lost",
        customdata=[f"{counted(n, 'candidate')} lost" for n in counts.tolist()],
        showlegend=row == 0,
    )


def _case_title(bars: Sequence[CaseBar], names: Sequence[str]) -> str:
    """Which share of the fresh losses the bars hold."""
    inside, total = sum(bar.inside for bar in bars), sum(len(bar.losses) for bar in bars)
    if not total:
        return "No fresh candidate was trained for this case"
    if len(bars) > 3:
        return f"{percent(inside / total)} of the fresh losses lie inside their bars at this case"
    shares = listed(f"{name} {bar.share}" for name, bar in zip(names, bars, strict=True))
    return f"Fresh losses inside the bar at this case: {shares}"


def class_bars(
    rows: Sequence[ClassBar], unit: str = "", dark: bool = False, about: About = PLAIN
) -> Panel:
    """Per class and algorithm: median ends with the share covered, and the class's own bound."""
    if not rows:
        raise ValueError("There is no class to draw; give at least one ClassBar.")
    data = pd.DataFrame([asdict(row) for row in rows])
    data["group_upper"] = data["group_upper"].astype(float)
    labels, algorithms = (list(dict.fromkeys(data[name])) for name in ("label", "algorithm"))
    axis = _axis_of(data[name] for name in ("lower", "upper", "group_upper"))
    # To the right of the bars, a column for the shares.
    edge = axis.high + 0.2 * (axis.high - axis.low)
    if axis.log:
        edge = axis.high * (axis.high / axis.low) ** 0.2
    figure, thickness = SetChart(axis), 0.8 / len(algorithms)
    for i, name in enumerate(algorithms):
        own = [row for row in rows if row.algorithm == name]
        at = [labels.index(row.label) + (i + 0.5) * thickness - 0.4 for row in own]
        _draw_classes(figure, own, at, thickness * 0.9, about)
        text = [f"{'empty, ' * (row.lower > row.upper)}{row.share}" for row in own]
        at_left: Settings = {"textposition": "middle left", "hoverinfo": "skip"}
        figure.trace("scatter", [edge] * len(own), at, "", mode="text", text=text, **at_left)
        _draw_class_bounds(figure, own, at, about, dark)
    height = 110 + len(labels) * (14 + 17 * len(algorithms))
    y = {**rows_layout(labels), "ticks": "outside", "type": "linear"}
    figure.frame(height, xaxis=Axis(axis.low, edge, axis.log).layout(unit), yaxis=y)
    covered = _class_words(data)
    caption = (
        "Bars: median ends over the class's test cases, with the share covered, which is no "
        "guarantee per class. Markers: the upper bound calibrated within the class, which is one."
    )
    unbounded = int(np.isinf(data["group_upper"]).sum())
    if unbounded:
        caption += f" {counted(unbounded, 'class bound')} not finite: too few scores in the class."
    alt = f"Bars per class and algorithm. {covered}."
    return Panel("classes", f"{covered}: no guarantee per class", figure, caption, alt, data)


def _draw_classes(
    figure: SetChart, own: Sequence[ClassBar], at: list[float], thickness: float, about: About
) -> None:
    """One algorithm's bars, one for each class; an empty set has no length."""
    clip, name = figure.along.clip, own[0].algorithm
    left = np.array([clip(row.lower) for row in own])
    right = np.array([clip(max(row.upper, row.lower)) for row in own])
    said = [f"{row.label} {bound_words(about, row.lower, row.upper)}, {row.share}" for row in own]
    hover = f"{look(name).label}, class %{{customdata}} covered"
    place: Settings = {"base": left, "width": [thickness] * len(own), "orientation": "h"}
    place |= {"name": look(name).label, "customdata": said}
    figure.bar(right - left, at, fill(name, opacity=0.7), hover, **place)


def _draw_class_bounds(
    figure: SetChart, own: Sequence[ClassBar], at: list[float], about: About, dark: bool
) -> None:
    """One algorithm's bounds that are calibrated within a class."""
    shown, x, y, symbols, said = look(own[0].algorithm), [], [], [], []
    for row, place in zip(own, at, strict=True):
        if row.group_upper is not None:
            x.append(figure.along.clip(row.group_upper))
            y.append(place)
            symbols.append("triangle-right" if math.isinf(row.group_upper) else shown.marker)
            words = bound_words(about, -math.inf, row.group_upper, "upper")
            said.append(f"class {row.label} {words}, from {counted(row.k_group, 'score')}")
    line = {"color": ink(dark), "width": 1.5}
    marker = {"symbol": symbols, "size": 11, "color": shown.color, "line": line}
    name, hover = f"{shown.label}: the class's own bound", f"{shown.label}, %{{customdata}}"
    figure.marks(x, y, marker, hover, name=name, customdata=said)


def _class_words(data: pd.DataFrame) -> str:
    """Between which shares the classes are covered."""
    tested = data.dropna(subset="covered").sort_values("covered", kind="stable")
    if tested.empty:
        return "No class has a tested case"
    low, high = tested.iloc[0], tested.iloc[-1]
    if low["covered"] == high["covered"]:
        return f"Every tested class is covered in {percent(low['covered'])} of its cases"
    least, most = (
        f"{percent(own['covered'])} ({look(own['algorithm']).label}, {own['label']})"
        for own in (low, high)
    )
    return f"Between {least} and {most} of a class are covered"


def alpha_sweep(
    curves: Mapping[str, tuple[NDArray, NDArray, NDArray]],
    alpha: Level,
    unit: str = "",
    dark: bool = False,
    side: str = "two-sided",
    about: About = PLAIN,
) -> Panel:
    """How one case's set moves with the confidence: a band per algorithm.

    ``curves`` holds alphas, lower and upper ends by algorithm; the band has a gap where the set is
    empty and reaches the end of the axis where an end is infinite.
    """
    if not curves:
        raise ValueError("There is no curve to draw; give at least one algorithm.")
    level, frames = float(exact_alpha(alpha)), []
    for name, (alphas, lower, upper) in curves.items():
        frame = pd.DataFrame({"algorithm": name, "alpha": alphas, "lower": lower, "upper": upper})
        frames.append(frame.sort_values("alpha", ascending=False, ignore_index=True))
    data = pd.concat(frames, ignore_index=True)
    axis = _axis_of([data["lower"], data["upper"]])
    figure, readings = Sketch(), []
    for name, frame in zip(curves, frames, strict=True):
        near = frame.iloc[int((frame["alpha"] - level).abs().argmin())]
        if not math.isclose(near["alpha"], level):
            raise ValueError(f"alpha = {level:g} is not among the alphas of {name}; include it.")
        shown, ends = look(name), (near["lower"], near["upper"])
        readings.append(f"{shown.label} {bound_words(about, *ends, side)}")
        _draw_band(figure, axis, frame, about)
        if ends[0] <= ends[1]:
            marker = {"symbol": shown.marker, "size": 12, "color": shown.color}
            x, y = [100 * (1 - near["alpha"])] * 2, [axis.clip(end) for end in ends]
            figure.marks(x, y, marker, readings[-1])
    figure.vline(100 * float(1 - exact_alpha(alpha)), stroke(dark, "dot"))
    x_axis = percent_axis(100 * (1 - data["alpha"].to_numpy()), "confidence")
    figure.frame(340, showlegend=True, xaxis=x_axis, yaxis=axis.layout(unit))
    title = (
        f"The set of this case, by the rule for {confidence(alpha)} of cases: {', '.join(readings)}"
    )
    caption = (
        "Band: the set at each confidence; the dotted line marks the chosen one. A confidence "
        "picked after looking at this chart loses its promise."
    )
    empties = int((data["lower"] > data["upper"]).sum())
    caption += f" The set is empty at {counted(empties, 'place')}." if empties else ""
    if np.isinf(data[["lower", "upper"]].to_numpy()).any():
        caption += " Where a band touches the end of the axis, there is no finite bound."
    alt = f"Bands of the set against the confidence. {title}."
    return Panel("sweep", title, figure, caption, alt, data)


def _draw_band(figure: Sketch, axis: Axis, frame: pd.DataFrame, about: About) -> None:
    """One algorithm's sets against the confidence, in pieces between the empty ones."""
    name, full = frame["algorithm"][0], (frame["lower"] <= frame["upper"]).to_numpy()
    shown, x = look(name), 100 * (1 - frame["alpha"].to_numpy())
    pieces = np.split(np.arange(len(x)), np.flatnonzero(np.diff(full)) + 1)
    for i, piece in enumerate(piece for piece in pieces if full[piece[0]]):
        low, high = frame["lower"][piece][::-1], frame["upper"][piece]
        figure.line(
            [*x[piece], *x[piece][::-1]],
            np.clip([*high, *low], axis.low, axis.high),
            {"color": shown.color, "width": 2},
            f"{shown.label} at %{{x:.3g}} %: %{{customdata}}",
            customdata=[*map(about.upper_end, high), *map(about.lower_end, low)],
            fill="toself",
            fillcolor=faded(shown.color, 0.25),
            name=shown.label,
            legendgroup=name,
            showlegend=i == 0,
            hoveron="points",
        )
