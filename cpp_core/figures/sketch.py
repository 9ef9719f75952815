"""A figure as plain dictionaries, which Plotly checks only where it is asked to.

Plotly's own figures check every step of their making, which takes ten times as long; a page with
many charts would follow the slider late.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

Settings = dict[str, Any]

LEGEND = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}
FRAME: Settings = {
    "margin": {"l": 8, "r": 16, "t": 28, "b": 8},
    "legend": {**LEGEND, "title": {"text": ""}},
    "barmode": "overlay",
    "bargap": 0,
    "hovermode": "closest",
}
BUTTONS: Settings = {
    "type": "buttons",
    "direction": "right",
    "showactive": False,
    "x": 1,
    "xanchor": "right",
    "y": 1,
    "yanchor": "bottom",
    "pad": {"b": 6, "t": 0, "l": 0, "r": 0},
    # Plotly's colour under the pointer is light and fixed: the words are read on it and on dark.
    "bgcolor": "rgba(128, 128, 128, 0.1)",
    "bordercolor": "#5B5BD6",
    "font": {"color": "#6765DD", "size": 13},
}
"""Buttons above the right corner, where they have room on a phone too."""
PLAYED_MS = 140
"""How long each step is seen where several are played."""


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> Settings:
    """Settings with newer ones over them, at every depth.

    >>> merged({"x": {"a": 1, "b": 2}}, {"x": {"b": 3}})
    {'x': {'a': 1, 'b': 3}}
    """
    result = dict(old)
    for name, value in new.items():
        before = result.get(name)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        result[name] = merged(before, value) if both else value  # type: ignore[arg-type]
    return result


def axis_id(letter: str, row: int) -> str:
    """The name of a chart's axis: "x" in the first row, "x2" in the second.

    >>> axis_id("x", 1), axis_id("y", 3)
    ('x', 'y3')
    """
    return letter if row == 1 else f"{letter}{row}"


def plain(values: Any) -> list[Any]:
    """Values for a figure, short in JSON; float32 losses have seven digits."""
    known = np.asarray(values)
    return [float(f"{v:.8g}") for v in known] if known.dtype.kind == "f" else known.tolist()


class Sketch:
    """Charts one above the other, as Plotly's JSON has them; the first is at the top.

    ``spacing`` is the share of the height between two of them; where they are ``shared`` they have
    one horizontal axis, labelled below the last.
    """

    def __init__(self, rows: int = 1, spacing: float = 0.0, shared: bool = False) -> None:
        self.rows = rows
        self.data: list[Settings] = []
        self.frames: list[Settings] = []
        self.layout: Settings = {}
        height = (1 - spacing * (rows - 1)) / rows
        for row in range(1, rows + 1):
            top = 1 - (row - 1) * (height + spacing)
            x: Settings = {"anchor": axis_id("y", row)}
            if shared:
                x |= {"matches": axis_id("x", rows)} if row < rows else {}
                x |= {"showticklabels": row == rows}
            self.axis("x", x, row)
            y = {"anchor": axis_id("x", row), "domain": [max(top - height, 0.0), top]}
            self.axis("y", y, row)

    def trace(self, kind: str, x: Any, y: Any, hover: str, row: int = 1, **more: Any) -> None:
        """Add a trace of this kind; without a name it has no key in the legend."""
        axes = {f"{letter}axis": axis_id(letter, row) for letter in "xy"}
        own = {"type": kind, **axes, "x": x, **({} if y is None else {"y": y}), **more}
        own |= {key: plain(own[key]) for key in ("x", "y", "base", "width") if key in own}
        own |= {"hovertemplate": f"{hover}<extra></extra>"} if hover else {}
        self.data.append(own if "name" in own else {"showlegend": False, **own})

    def bar(self, x: Any, y: Any, marker: Settings, hover: str, row: int = 1, **more: Any) -> None:
        """Add bars."""
        self.trace("bar", x, y, hover, row, marker=marker, **more)

    def marks(self, x: Any, y: Any, marker: Settings, hover: str, **more: Any) -> None:
        """Add points."""
        self.trace("scatter", x, y, hover, **{"mode": "markers", "marker": marker, **more})

    def ticks_at(self, x: Any, y: float, marker: Settings) -> None:
        """Add many points at one height, which is sent once; nothing is said of them."""
        self.trace("scatter", x, None, "", mode="markers", marker=marker, y0=y, dy=1e-9)
        self.data[-1] |= {"hoverinfo": "skip", "cliponaxis": False}

    def line(self, x: Any, y: Any, line: Settings, hover: str, row: int = 1, **more: Any) -> None:
        """Add a line."""
        self.trace("scatter", x, y, hover, row, **{"mode": "lines", "line": line, **more})

    def note(self, text: str, row: int = 1, xref: str = "x", yref: str = "y", **at: Any) -> None:
        """Add words at a place, in the units of the axes or of what the references say."""
        refs = {"xref": xref.replace("x", axis_id("x", row), 1)}
        refs |= {"yref": yref.replace("y", axis_id("y", row), 1)}
        words = {"text": text, "showarrow": False, **refs, **at}
        self.layout.setdefault("annotations", []).append(words)

    def shape(self, kind: str, x0: float, x1: float, row: int = 1, **settings: Any) -> None:
        """Add a vertical line or a band from the bottom to the top of a chart."""
        place = {"x0": x0, "x1": x1, "y0": 0, "y1": 1}
        refs = {"xref": axis_id("x", row), "yref": f"{axis_id('y', row)} domain"}
        shapes = self.layout.setdefault("shapes", [])
        shapes.append({"type": kind, **place, **refs, **settings})

    def vline(self, x: float, line: Settings, rows: Iterable[int] = (1,)) -> None:
        """Add a vertical line to some of the charts."""
        for row in rows:
            self.shape("line", x, x, row, line=line)

    def frame(self, height: int, **settings: Any) -> None:
        """The frame of all figures: small margins, a legend above that wraps, no title inside."""
        self.layout = merged(merged(self.layout, FRAME), {"height": height, **settings})

    def axis(self, letter: str, settings: Settings, row: int | None = None) -> None:
        """Change the axis of one chart, or of all."""
        for place in range(1, self.rows + 1) if row is None else [row]:
            name = axis_id(f"{letter}axis", place)
            self.layout[name] = merged(self.layout.get(name, {}), settings)

    def film(
        self,
        steps: Sequence[Settings],
        stops: Iterable[int] | Mapping[int, str],
        words: Sequence[str],
    ) -> None:
        """Buttons that go through steps in the browser, without asking the server.

        Step 0 is the figure as it is; a step is a frame of Plotly's with what it changes. The first
        button goes to the next one, the second plays on to the next of the ``stops``, of which the
        last step is one; a button that goes back to the beginning is all that is left there.
        ``words`` is what the three say; a ``{}`` in the second becomes the stop, or its name where
        ``stops`` has names. Plotly knows no button that goes one step: here every step brings the
        buttons that lead on from it.
        """
        ends = dict(sorted(stops.items() if isinstance(stops, Mapping) else _named(stops)))
        # Between two steps Plotly takes away all bars that the next one does not name.
        bars = [i for i, trace in enumerate(self.data) if trace["type"] == "bar"]
        for i, step in enumerate(steps):
            layout = merged(step["layout"], {"updatemenus": [{"buttons": _leads(i, ends, words)}]})
            data = step["data"] + [{"type": "bar"}] * len(bars)
            frame = {"data": data, "traces": step["traces"] + bars}
            self.frames.append({"name": str(i), **frame, "layout": layout})
        self.layout["updatemenus"] = [{**BUTTONS, "buttons": _leads(0, ends, words)}]


def _named(stops: Iterable[int]) -> list[tuple[int, str]]:
    return [(stop, str(stop)) for stop in stops]


def _leads(step: int, stops: Mapping[int, str], words: Sequence[str]) -> list[Settings]:
    """The buttons at one step of a film."""

    def button(text: str, to: Iterable[int], duration: int) -> Settings:
        how: Settings = {"mode": "immediate", "frame": {"duration": duration}}
        if duration:  # a transition never takes longer than its frame
            how["transition"] = {"duration": 0}
        return {"label": text, "method": "animate", "args": [[str(i) for i in to], how]}

    on, up_to, again = words
    stop = next((end for end in stops if end > step), None)
    if stop is None:
        return [button(again, [0], 0)]
    several = range(step + 1, stop + 1)
    return [button(on, [step + 1], 0), button(up_to.format(stops[stop]), several, PLAYED_MS)]
