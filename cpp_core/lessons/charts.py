"""What the charts of lessons share: axes of shares, and pictures that are played."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from textwrap import wrap
from typing import Any

import numpy as np

from cpp_core.figures.sketch import Settings, Sketch, axis_id, merged
from cpp_core.verdicts.language import percent

PROMISE = 0.9
ALPHA = 0.1
"""The promise of most lessons, and the misses that it accepts."""


def shares(title: str, low: float = 0.0, high: float = 1.0) -> Settings:
    """An axis of shares between two of them, in percent."""
    step = 0.1 if high - low < 0.65 else 0.2
    ticks = [round(low + i * step, 2) for i in range(round((high - low) / step) + 1)]
    return {
        "range": [low, high],
        "title": {"text": lines(title)},
        "tickvals": ticks,
        "ticktext": [percent(tick) for tick in ticks],
        "zeroline": False,
        "automargin": True,
    }


def lines(text: str, most: int = 44) -> str:
    """A title in lines that fit on a phone."""
    return "<br>".join(wrap(text, most))


ROOM = {"l": 66}
"""The margin of an axis of counts. One that grew with its numbers would move the axes under marks
that a film does not draw again."""


def counts(title: str, most: float) -> Settings:
    """A vertical axis of counts from 0, in a frame that has ``ROOM`` for it."""
    return {
        "range": [0, most],
        "title": {"text": title},
        "rangemode": "tozero",
        "showgrid": False,
        "zeroline": False,
        "automargin": False,  # which the theme of the page turns on
    }


def growth(most: int) -> list[int]:
    """Sizes of a pile that grows: one by one, then ever faster.

    >>> growth(100)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 50, 100]
    """
    round_ones = [*range(1, 11), 15, 20, 50, 100, 200, 500, 1000, 2000, 5000]
    return [n for n in round_ones if n < most] + [most]


def words(text: str, x: float, y: float, row: int = 1, **more: Any) -> Settings:
    """Words at a place of a chart, in shares of its width and height."""
    place = {"xref": f"{axis_id('x', row)} domain", "yref": f"{axis_id('y', row)} domain"}
    return {"text": text, "showarrow": False, "font": {"size": 15}, **place, "x": x, "y": y, **more}


def count_line(text: str, row: int = 1) -> Settings:
    """Words above the left corner of a chart, under its buttons: what is counted so far."""
    return words(text, 0, 1, row, xanchor="left", yanchor="bottom")


def stepped(
    sketch: Sketch,
    steps: Sequence[Settings],
    stops: Iterable[int] | Mapping[int, str],
    labels: Sequence[str],
) -> None:
    """Buttons that go through steps in the browser, with a line of words under them.

    ``labels`` is what the buttons say: one more, play, and at the end the way back to the start.
    """
    sketch.layout = merged(sketch.layout, steps[0]["layout"])
    sketch.film(steps, stops, labels)
    sketch.layout["updatemenus"][0] |= {"pad": {"b": 28, "t": 0, "l": 0, "r": 0}}
    sketch.layout["margin"] |= {"t": 62}


def grown(sketch: Sketch, steps: Sequence[Settings], labels: Sequence[str]) -> None:
    """Buttons that replay how a figure came to be; it starts as its last step is."""
    stepped(sketch, [steps[-1], *steps], (len(steps),), labels)


LARGE = 1.3
"""How much larger type is on a beamer."""
AXIS_TYPE, LEGEND_TYPE = 16, 17


def large(sketch: Sketch) -> Sketch:
    """The same figure in the type of a beamer."""
    found = copy(sketch)
    found.data, found.frames = _larger(sketch.data), _larger(sketch.frames)
    layout = _larger(sketch.layout)
    for name in [name for name in layout if name[1:].startswith("axis")]:
        type_ = {"tickfont": {"size": AXIS_TYPE}, "title": {"font": {"size": AXIS_TYPE}}}
        layout[name] = merged(layout[name], type_)
    top = {"t": round(LARGE * layout["margin"]["t"]), "r": max(34, layout["margin"]["r"])}
    found.layout = merged(layout, {"legend": {"font": {"size": LEGEND_TYPE}}, "margin": top})
    for menu in found.layout.get("updatemenus", []):
        menu["pad"] = menu["pad"] | {"b": round(LARGE * menu["pad"]["b"])}
    return found


def _larger(value: Any) -> Any:
    """Settings in which every type that is told is larger."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [_larger(own) for own in value]
    if not isinstance(value, dict):
        return value
    found = {key: _larger(own) for key, own in value.items()}
    for key in {"font", "textfont"} & found.keys():
        if "size" in found[key]:
            found[key] = found[key] | {"size": round(LARGE * found[key]["size"])}
    return found


def binned(values: Any, edges: Any) -> list[int]:
    """How many values lie in each bin; those beyond the ends count in the last bins."""
    inside = np.clip(np.asarray(values, dtype=float), edges[0], edges[-1])
    return np.histogram(inside, edges)[0].tolist()
