"""Rows of sorted losses with the bounds that they give, onto which new losses can be dropped."""

import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cpp_core.figures.panels import (
    GREY,
    Axis,
    SetChart,
    SetMark,
    chart_text,
    diamond,
    faded,
    finite,
    ink,
    look,
    wants_log,
)
from cpp_core.figures.sketch import Settings, plain
from cpp_core.trials.results import median
from cpp_core.verdicts.about import LEAST_TRIALS, About, End
from cpp_core.verdicts.inside import Held, within
from cpp_core.verdicts.language import number, plural
from cpp_core.verdicts.over_trials import quantile
from cpp_core.verdicts.set_words import has_words

Sets = Mapping[str, list[Any]]
"""By name, a value for each algorithm: its ends, their quantiles over the trials, its average."""
NEW_CASES, PAUSE = 40, 20
"""How many new cases can be drawn, and after how many the drawing pauses.

Where there are more rows than ``FEW`` it ends at the first pause.
"""
FEW, PLACES, ALL_PLACES = 2, 300, 900
"""What few rows are, and how many places there are for ticks in a row and in all."""
STRETCH, ROOM = 2.5, 1.55
"""The axis reaches so many times as far as the largest bound: larger losses are counted.

Where that is possible it reaches so many times as far as the fades, with room for words.
"""
POWERS = 8
"""A log axis has so many powers of ten at most."""
LABELS, TICKS, BAR, FADE = -0.42, -0.21, 0.06, 0.3
"""Where the lanes of a row are, from its middle down; a row is 1 high."""
DIAMOND, LEFT, RIGHT = 2, 7, 8
"""Plotly's numbers of its symbols, which are shorter than their names."""
THICK, ROW = 0.3, 84
"""The height of a bar, and in pixels that of a row."""


# The axis


def _axis(data: Sets, cut: Sequence[Held], about: About) -> Axis:
    """The losses among which the bounds can be read: from the best on, the largest left out."""
    sign, bad = about.sign, about.bad_end
    bounds = sign * finite(data[bad])
    losses = sign * np.concatenate([finite(own.losses) for own in cut] or [np.empty(0)])
    rest = sign * finite([values for name, values in data.items() if name != "algorithm"])
    every = np.concatenate([losses, rest])
    if not every.size:
        return Axis(0.0, 1.0)
    most, worst = float(every.max()), sign * about.worst
    best = sign * (about.high if sign < 0 else about.low)
    good = best if math.isfinite(best) else float(every.min())
    reach = float(bounds.max()) if bounds.size else quantile(losses if losses.size else every, 0.9)
    middles = [float(np.median(own.losses)) for own in cut]
    if good >= 0 and wants_log([x for x in (*bounds, *middles) if x > 0], None):
        low = max(float(every[every > 0].min()), reach / 10.0**POWERS)
        return Axis(low / 1.05, 1.05 * min(reach * (reach / low) ** 0.25, most), log=True)
    widest = good + STRETCH * (reach - good)
    ends = sign * finite([data[f"{bad}_5"], data[f"{bad}_95"]])
    usual = [end for end in ends.tolist() if end <= widest]
    far = max(min(widest, most), min(good + ROOM * (max(usual, default=good) - good), worst))
    if far <= good:  # the bounds are the best that there is
        far = most if most > good else worst if math.isfinite(worst) else good + 1.0
    low, high = sorted((sign * good, sign * far))
    # Few digits, outwards: Plotly hides what it reads as outside.
    scale = 10.0 ** (3 - math.floor(math.log10(high - low)))
    return Axis(math.floor(low * scale) / scale, math.ceil(high * scale) / scale)


# The drawing


def upright(height: float, line: Settings) -> Settings:
    """A vertical line of so many rows; Plotly draws it 1.4 times its size."""
    return {"symbol": "line-ns", "size": round(height * ROW / 1.4), "line": line}


class Look(NamedTuple):
    """How a row is shown."""

    label: str
    color: str


class LossRows(SetChart):
    """Rows of sorted losses and bounds, onto which new cases can be dropped."""

    def __init__(
        self,
        data: Sets,
        cut: Mapping[str, Held],
        about: About,
        side: str,
        dark: bool,
        looks: Mapping[str, Look] | None = None,
    ) -> None:
        super().__init__(_axis(data, list(cut.values()), about))
        self.sets, self.cut = data, cut
        self.about, self.side, self.dark = about, side, dark
        self.names: list[str] = self.sets["algorithm"]
        self.readings: list[str] = []
        known = looks or {name: Look(look(name).label, look(name).color) for name in self.names}
        self.looks = [known[name] for name in self.names]
        # In lines that leave room on a phone.
        lines = [wrap(own.label, 11, break_long_words=False) for own in self.looks]
        self.labels = [f"<b>{'<br>'.join(map(chart_text, words))}</b>" for words in lines]

    def row(self, row: int, own: Mapping[str, NDArray]) -> None:
        """Everything of one algorithm but the new cases."""
        name, about = self.names[row], self.about
        shown, low, high = self.looks[row], self.sets["lower"][row], self.sets["upper"][row]
        self.readings.append(f"{shown.label} {has_words(about, low, high, self.side)}")
        for end in ("lower", "upper"):
            self.fade(row + FADE, own[end], shown.color, about, 0.1, 1.75)
        hover = chart_text(self.readings[-1])
        if name in self.cut:
            hover += f"<br>{within(self.cut[name], about)}"
            self.ticks(row, self.cut[name])
        self.set(row + BAR, SetMark(low, high, shown.color, hover, thickness=THICK))
        on_axis = self.average(row)
        if on_axis and name in self.cut and len(own["lower"]) >= LEAST_TRIALS:
            self.typical(row, own[about.bad_end])
        self.values(row, shown.color)

    @property
    def good(self) -> float:
        """The good end of the axis."""
        return self.along.low if self.about.sign > 0 else self.along.high

    def beyond(self, losses: NDArray) -> NDArray[np.bool_]:
        """Which losses are worse than all that is drawn."""
        edge = self.along.high if self.about.sign > 0 else self.along.low
        return self.about.sign * losses > self.about.sign * edge

    def places(self, losses: NDArray) -> NDArray:
        """Where losses are along the axis: 0 to 1."""
        axis = self.along
        at = np.clip(losses, axis.low, axis.high).astype(float)
        ends = np.array([axis.low, axis.high])
        at, (low, high) = (np.log(at), np.log(ends)) if axis.log else (at, ends)
        return (at - low) / (high - low)

    def drawn(self, losses: NDArray) -> list[float]:
        """Losses where they are drawn, in no more digits than can be seen."""
        axis, known = self.along, np.asarray(losses, dtype=float)
        if axis.log:  # a little inside, since the ends are sent as rounded powers of ten
            at = [float(f"{x:.4g}") for x in known.tolist()]
            return plain(np.clip(at, 1.0001 * axis.low, axis.high / 1.0001))
        digits = 3 - math.floor(math.log10(axis.high - axis.low))
        return plain(np.clip(np.round(known, digits), axis.low, axis.high))

    def ticks(self, row: int, own: Held) -> None:
        """The calibration losses, each place once; the longer ones are outside the set."""
        count = min(PLACES, ALL_PLACES // len(self.names))
        seen, inside = ~self.beyond(own.losses), own.holds(own.losses)
        weak, strong = (faded(ink(self.dark), opacity) for opacity in (0.22, 0.7))
        dense: Settings = {"colorscale": [[0, weak], [1, strong]], "cmin": 1, "cmax": 6, "width": 1}
        plain_line: Settings = {"color": ink(self.dark), "width": 2}
        told: list[tuple[float, int]] = []
        for part, height in ((inside, 0.17), (~inside, 0.25)):
            losses = own.losses[part & seen]
            at = np.rint(count * self.places(losses))
            _, first, many = np.unique(at, return_index=True, return_counts=True)
            x, line = self.drawn(losses[first]), plain_line
            if part is inside:
                line = {**dense, "color": many.tolist()}
            self.ticks_at(x, row + TICKS, upright(height, line))
            told += zip(x, many.tolist(), strict=True)
        self.counted(row, told)
        beyond = int((~seen).sum())
        if beyond:
            self.edge(row + LABELS, f"{beyond:,} of {own.losses.size:,} off the axis")

    def counted(self, row: int, told: Sequence[tuple[float, int]]) -> None:
        """How many losses there are at two or three far places, where darkness cannot tell."""
        places = self.places(np.array([x for x, _ in told]))
        if (
            max((many for _, many in told), default=0) > 1
            and np.diff(np.sort(places)).min(initial=1) > 0.45
        ):
            for (x, many), place in zip(told, places.tolist(), strict=True):
                self.beside(x, row + TICKS, f"{many:,} here", place < 0.8)

    def beside(self, x: float, y: float, text: str, right: bool, size: int = 11) -> None:
        """Words to the right or to the left of a place on the axis."""
        at = self.along.clip(x)
        place: Settings = {"x": math.log10(at) if self.along.log else at, "y": y}
        place |= {"xanchor": "left" if right else "right", "xshift": 4 if right else -4}
        self.note(text, **place, font={"size": size})

    def edge(self, y: float, text: str) -> None:
        """Words on what lies beyond the bad end of the axis."""
        right = self.about.sign > 0
        place: Settings = {"xref": "x domain", "x": int(right), "y": y}
        place |= {"xanchor": "right" if right else "left", "font": {"size": 11}}
        self.note(f"{text} →" if right else f"← {text}", **place)

    def average(self, row: int) -> bool:
        """A grey tick for the average loss, or words; whether it is on the axis."""
        value = self.sets["average"][row]
        size = number(value) if math.isfinite(value) else "infinite"
        if not math.isfinite(value) or self.beyond(np.array(value)):
            self.edge(row + FADE, f"average {size}")
            return False
        tick = upright(THICK, {"color": GREY, "width": 4})
        words = f"average {self.about.loss}: {size}"
        at = self.drawn(np.array([value])) if self.along.log else [value]
        self.marks(at, [row + BAR], tick, words, cliponaxis=False)
        return True

    def typical(self, row: int, bounds: NDArray) -> None:
        """The typical bound of the trials, in words beside the fade."""
        ends = np.array([self.sets[f"{self.about.bad_end}_{level}"][row] for level in (5, 95)])
        if not np.isfinite(ends).all():
            return
        a, b = self.places(ends).tolist()
        bound = float(self.places(np.array(self.sets[self.about.bad_end][row])))
        right = b < 0.66
        if not right and a - 0.33 < bound < a:  # the line would go through the words
            return
        text = f"typical {self.about.rounded(self.about.bad_end, median(bounds))}"
        self.beside(float(ends[int(right)]), row + FADE, text, right)

    def values(self, row: int, color: str) -> None:
        """A line at each end of a set, its number beside it, where nothing is drawn over it."""
        low, high = self.sets["lower"][row], self.sets["upper"][row]
        if low > high:
            return
        ends = {end: self.sets[end][row] for end in self.about.ends(self.side)}
        if math.isinf(ends[self.about.bad_end]):  # told at the good end: what is beyond has room
            text, right = "<b>no finite bound</b>", self.about.sign > 0
            self.beside(self.good, row + LABELS, text, right, 12)
        known = {end: shown for end, shown in ends.items() if math.isfinite(shown)}
        line = upright(FADE - LABELS + 0.12, {"color": color, "width": 3})
        y = [row + (FADE + LABELS) / 2] * len(known)
        x = self.drawn(np.array(list(known.values())))
        self.marks(x, y, line, "", hoverinfo="skip", cliponaxis=False)
        for end, shown in known.items():
            right = self._right(end, *self.places(np.array([low, high])))
            self.beside(shown, row + LABELS, f"<b>{self.about.rounded(end, shown)}</b>", right, 12)

    def _right(self, end: End, low: float, high: float) -> bool:
        """Whether a number stands to the right of its line; the ends are places on the axis.

        That of the bad end stands inside the set where there is room for it, and leaves the other
        side to what is beyond the axis; that of the other end stands outside, but not in a margin.
        """
        both = self.side != "upper"
        inside_too = both and self.about.greater_is_better and high > 0.85
        if end != self.about.bad_end:
            return end == "upper" and not inside_too
        room = high - low if both else high if end == "upper" else 1 - low
        inside = room > (0.45 if inside_too else 0.22) or (end == "upper" and high > 0.82)
        return inside == (end == "lower")

    def new_cases(self) -> int:
        """Buttons that drop the losses of new cases onto the rows; how many cases there are."""
        cut, rows = list(self.cut.values()), len(self.names)
        if not any(own.outcome == "bound" for own in cut):
            return 0
        count = min(NEW_CASES if rows <= FEW else PAUSE, len(cut[0].new))
        losses = np.stack([own.new[:count] for own in cut], axis=1)
        kept = np.stack([own.holds(own.new[:count]) for own in cut], axis=1).cumsum(axis=0)
        # One case is at the same height in each row, the next one at another.
        height = np.arange(count)[:, None] * 2 % 5 * 0.035 - 0.07
        x, y = self.drawn(losses.ravel()), plain((np.arange(rows) + BAR + height).ravel())
        drops = len(self.data)
        self.counters(self.labels)
        self.dropped(losses.ravel(), y)
        steps: list[Settings] = []
        for i in range(count + 1):
            last = slice(max(i - 1, 0) * rows, i * rows)
            marks = [{"x": x[: i * rows]}, {"x": x[last], "y": y[last]}]
            told = [f"{n} of {i} kept" for n in kept[i - 1].tolist()] if i else [" "] * rows
            layout = {"annotations": [{"text": text} for text in told]}
            steps.append({"data": marks, "traces": [drops, drops + 1], "layout": layout})
        new = self.about.new
        last_words = f"All {count} stored {plural(new)} drawn: start again"
        words = (f"Draw the next {new}", "Draw up to {}", last_words)
        self.film(steps, {*range(PAUSE, count, PAUSE), count}, words)
        return count

    def dropped(self, losses: NDArray, y: Sequence[float]) -> None:
        """The marks of new cases, none of them seen yet: a diamond each, and a ring for the newest.

        They have everything but the places along the axis, as many of which are drawn as there are.
        """
        far, arrow = self.beyond(losses), RIGHT if self.about.sign > 0 else LEFT
        marker = {**diamond(self.dark, 9), "opacity": 1}
        if far.any():
            marker["symbol"] = np.where(far, arrow, DIAMOND).tolist()
            marker["size"] = np.where(far, 14, 9).tolist()
        said = [number(v) if math.isfinite(v) else "infinite" for v in losses.tolist()]
        hover = f"new {self.about.new}: %{{customdata}}"
        self.marks([], y, marker, hover, customdata=said, cliponaxis=False)
        ring = {"symbol": "circle-open", "size": 20, "color": ink(self.dark), "line": {"width": 2}}
        self.marks([], [], ring, "", hoverinfo="skip", cliponaxis=False)

    def framed(self, title: str) -> None:
        """The frame around all rows, with room for buttons."""
        axis, top = self.along, 44 if self.frames else 8
        lines = wrap(title + (", log\u00a0axis" if axis.log else ""), 34)
        self.frame_sets("<br>".join(lines), self.labels, top + 46 + 20 * len(lines), ROW)
        self.layout["margin"] = {**self.layout["margin"], "t": top, "l": 90}
        self.axis("y", {"ticklabelstandoff": 10})
        if axis.log:  # no more powers of ten than fit on a phone
            self.axis("x", {"dtick": math.ceil(math.log10(axis.high / axis.low) / 4)})

    def counts(self, new: int) -> dict[str, list[int]]:
        """What is counted in each row: calibration losses, and new cases."""
        cut = list(self.cut.values())
        told = {
            "calibration_losses": [own.losses.size for own in cut],
            "calibration_inside": [own.inside for own in cut],
            "beyond_axis": [int(self.beyond(own.losses).sum()) for own in cut],
        }
        if new:
            told["new_cases"] = [new] * len(cut)
            told["new_kept"] = [int(own.holds(own.new[:new]).sum()) for own in cut]
        return told if cut else {}
