"""Figures of single cases: the sets at one, and how they move with the confidence."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    diamond,
    faded,
    finite,
    look,
    percent_axis,
    rows_layout,
    stroke,
)
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.verdicts.about import NO_BOUND, About
from cpp_core.verdicts.case_sentences import (
    lost_words,
    set_reading,
    stayed_inside,
    sweep_title,
    trained_title,
)
from cpp_core.verdicts.language import counted, with_unit

PLAIN = About()
PLACES = 150
"""Losses that differ by less than this part of the axis are drawn as one diamond."""


@dataclass(frozen=True)
class CaseBar:
    """One algorithm's set at one case, with the losses that fresh candidates had there.

    The losses are None as long as nobody has trained such candidates.
    """

    algorithm: str
    lower: float
    upper: float
    losses: NDArray | None = None

    @property
    def inside(self) -> int:
        """How many of the losses lie in the set."""
        losses = self.known
        return int(((self.lower <= losses) & (losses <= self.upper)).sum())

    @property
    def known(self) -> NDArray:
        """The losses that there are."""
        return np.asarray([] if self.losses is None else self.losses, dtype=float)


def case_bars(
    bars: Sequence[CaseBar],
    unit: str = "",
    dark: bool = False,
    fresh: bool = True,
    side: str = "two-sided",
    about: About = PLAIN,
    invented: bool = False,
) -> Panel:
    """One case: a bar for each set, diamonds for what freshly trained candidates really lost.

    ``unit`` is the title of the axis, such as ``loss_label(experiment)``. Without ``fresh`` sets
    and losses are those of the one model that was trained. ``side`` is that of the sets, ``about``
    says what the losses are. An ``invented`` case is one that never was.
    """
    if not bars:
        raise ValueError("There is no set to draw; give at least one CaseBar.")
    axis = axis_of([*bar.known, bar.lower, bar.upper] for bar in bars)
    figure, rows, readings = SetChart(axis), [], []
    for row, bar in enumerate(bars):
        ends, color = (float(bar.lower), float(bar.upper)), look(bar.algorithm).color
        words = set_reading(bar.algorithm, ends, about, side)
        note = NO_BOUND if math.inf in (bar.upper, -bar.lower) else ""
        figure.set(row, SetMark(*ends, color, words, note, 0.34))
        _draw_losses(figure, row, bar.known, dark)
        if not note and ends[0] <= ends[1]:
            _write_ends(figure, row, ends, side, about)
        below = stayed_inside(bar.inside, bar.losses) if fresh else lost_words(bar.known, about)
        at: Settings = {"x": 0, "y": row + 0.19, "xanchor": "left", "yanchor": "top"}
        figure.note(below, xref="paper", font={"size": 11}, **at)
        readings.append(f"{words}, {below}")
        inside = {"inside": bar.inside, "candidates": len(bar.known)}
        kept = {"algorithm": bar.algorithm, "lower": bar.lower, "upper": bar.upper}
        rows.append(kept | inside)
    labels = [look(bar.algorithm).label.replace(" ", "<br>") for bar in bars]
    y = {**rows_layout([f"<b>{label}</b>" for label in labels]), "range": [len(bars) - 0.4, -0.5]}
    x, room = axis.layout(titled(axis, unit)), {"t": 4}
    figure.frame(50 + 84 * len(bars), xaxis=x, yaxis=y, margin=room)
    seen = any(len(b.known) for b in bars)
    title = "What may happen" + (", and what did" if seen and not invented else "")
    others = "other cases" if about.m is None else counted(about.m, "other case")
    caption = f"Bar: the set at this case. Diamonds: losses here of models retrained on {others}."
    if not fresh:
        sets = {bar.algorithm: (float(bar.lower), float(bar.upper)) for bar in bars}
        title = trained_title(sets, about, side)
        caption = "Bar: the set at this case. Diamond: the loss that the trained model had here."
    alt = f"One bar per set with diamonds for losses. {'; '.join(readings)}."
    return Panel("case", title, figure, caption, alt, pd.DataFrame(rows))


def _write_ends(
    figure: SetChart, row: int, ends: tuple[float, float], side: str, about: About
) -> None:
    """The value of a bound above the end of its bar; of two sides both."""
    axis = figure.along
    text = with_unit(about.upper_end(ends[1]), about.unit)
    if side == "two-sided":
        text = f"{about.lower_end(ends[0])} to {text}"
    at = axis.clip(ends[1])
    # To the left of the end, unless there is no room.
    left = axis.place(at) < 0.3
    side_of_end = "left" if left else "right"
    place: Settings = {"x": axis.value(at), "xanchor": side_of_end, "yanchor": "bottom"}
    figure.note(f"<b>{text}</b>", y=row - 0.19, **place)


def titled(axis: Axis, unit: str) -> str:
    """The title of an axis, which says so where it is a log one."""
    return f"{unit}, log scale".removeprefix(", ") if axis.log else unit


def axis_of(values: Iterable[Any]) -> Axis:
    """An axis for losses, which begins at zero where none is negative."""
    pooled = np.concatenate([finite(own) for own in values])
    return Axis.around(pooled, zero=bool((pooled >= 0).all()))


def _draw_losses(figure: SetChart, row: int, losses: NDArray, dark: bool) -> None:
    """A diamond wherever losses lie, an infinite one at the axis's end."""
    axis = figure.along
    clipped = np.clip(losses, axis.low, axis.high)
    cells = np.array([round(axis.place(loss) * PLACES) for loss in clipped], dtype=int)
    unique, counts = np.unique(cells, return_counts=True)
    figure.marks(
        np.array([np.median(clipped[cells == cell]) for cell in unique]),
        [row] * len(unique),
        {**diamond(dark, 9), "opacity": 0.75},
        "%{customdata} about %{x:.3g}",
        customdata=[f"{counted(n, 'candidate')} lost" for n in counts.tolist()],
    )


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
    axis = axis_of([data["lower"], data["upper"]])
    figure, sets = Sketch(), {}
    for name, frame in zip(curves, frames, strict=True):
        near = frame.iloc[int((frame["alpha"] - level).abs().argmin())]
        if not math.isclose(near["alpha"], level):
            raise ValueError(f"alpha = {level:g} is not among the alphas of {name}; include it.")
        shown, ends = look(name), (near["lower"], near["upper"])
        sets[name] = ends
        _draw_band(figure, axis, frame, about)
        if ends[0] <= ends[1]:
            marker = {"symbol": shown.marker, "size": 12, "color": shown.color}
            x, y = [100 * (1 - near["alpha"])] * 2, [axis.clip(end) for end in ends]
            figure.marks(x, y, marker, set_reading(name, ends, about, side))
    figure.vline(100 * float(1 - exact_alpha(alpha)), stroke(dark, "dot"))
    x_axis = percent_axis(100 * (1 - data["alpha"].to_numpy()), "confidence")
    figure.frame(340, showlegend=True, xaxis=x_axis, yaxis=axis.layout(titled(axis, unit)))
    title = sweep_title(sets, about, side, alpha)
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
