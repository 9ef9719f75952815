"""Small drawings as SVG: covers of lessons, and who trains on which cases."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from cpp_core.method.constructions import Part

BLUE, MAGENTA = "#1186D8", "#C2188F"
"""What trains or is caught; what is judged or misses."""


def ink(dark: bool) -> str:
    """The colour of lines and words."""
    return "#FAFAFA" if dark else "#31333F"


def mark(dark: bool) -> str:
    """The colour of the bound, and of what is moved."""
    return "#8E8CF0" if dark else "#5B5BD6"


@dataclass(frozen=True)
class Drawing:
    """A picture in SVG, with the same in words."""

    svg: str
    alt: str
    caption: str = ""

    @property
    def uri(self) -> str:
        """The picture as the source of an image, which needs no other file."""
        return f"data:image/svg+xml;base64,{b64encode(self.svg.encode()).decode()}"

    def _repr_svg_(self) -> str:
        return self.svg


class Canvas:
    """Shapes on a sheet of so many units, the first ones lowest."""

    def __init__(self, width: float, height: float, dark: bool) -> None:
        self.width, self.height = width, height
        self.ink, self.mark = ink(dark), mark(dark)
        self.shapes: list[str] = []

    def add(self, tag: str, text: str = "", **attributes: Any) -> None:
        """Add any shape; an underscore in a name stands for a dash."""
        known = "".join(
            f' {name.replace("_", "-")}="{value:.5g}"'
            if isinstance(value, float)
            else f' {name.replace("_", "-")}="{escape(str(value))}"'
            for name, value in attributes.items()
        )
        self.shapes.append(f"<{tag}{known}>{escape(text)}</{tag}>")

    def rect(self, x: float, y: float, width: float, height: float, fill: str, **more: Any) -> None:
        """Add a rectangle."""
        self.add("rect", x=x, y=y, width=width, height=height, fill=fill, **more)

    def dot(self, x: float, y: float, fill: str, r: float = 3.0, **more: Any) -> None:
        """Add a dot."""
        self.add("circle", cx=x, cy=y, r=r, fill=fill, **more)

    def diamond(self, x: float, y: float, fill: str, r: float = 5.0) -> None:
        """Add the mark of what happened."""
        corners = ((0, -r), (r, 0), (0, r), (-r, 0))
        self.add(
            "polygon", points=" ".join(f"{x + a:.5g},{y + b:.5g}" for a, b in corners), fill=fill
        )

    def line(self, points: Sequence[tuple[float, float]], stroke: str, **more: Any) -> None:
        """Add a line through points."""
        path = " ".join(f"{x:.5g},{y:.5g}" for x, y in points)
        style = {"stroke_width": 2, **more}
        self.add("polyline", points=path, fill="none", stroke=stroke, **style)

    def text(self, x: float, y: float, text: str, size: float = 12, **more: Any) -> None:
        """Add words."""
        style = {"fill": self.ink, "font_family": "sans-serif", **more}
        self.add("text", text, x=x, y=y, font_size=size, **style)

    def drawing(self, alt: str, caption: str = "") -> Drawing:
        """The sheet as it is now."""
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} height="{self.height:g}">'
        return Drawing(f"{head}{''.join(self.shapes)}</svg>", alt, caption)


COVER = (200, 92)
"""Width and height of a cover."""


def cover(dark: bool) -> Canvas:
    """An empty sheet for a cover."""
    return Canvas(*COVER, dark)


CELL = 13.0
"""Side of a case in a layout."""


def layout(
    rows: Sequence[tuple[Sequence[int], Sequence[int]]],
    n: int,
    dark: bool,
    caption: str,
    title: str = "Who trains, who is judged",
) -> Drawing:
    """Who trains on which of n cases and who is judged where: a row for each model.

    A row has the cases that train a model, which are blue, and those at which it is judged, which
    are magenta; the others are pale.
    """
    width, height = 22 * CELL, 30 + len(rows) * CELL
    sheet, size = Canvas(width, height, dark), width / n
    sheet.text(0, 15, title, 14, font_weight="bold")
    for row, (training, judged) in enumerate(rows):
        colors = dict.fromkeys(training, BLUE) | dict.fromkeys(judged, MAGENTA)
        for case in range(n):
            own = {"opacity": 1.0 if case in colors else 0.12}
            place = case * size, 26 + row * CELL
            fill = colors.get(case, sheet.ink)
            sheet.rect(*place, max(size - 1, 0.5 * size), CELL - 2, fill, **own)
    alt = f"{title}: {len(rows)} rows of {n} cases; blue ones train a model, magenta ones judge it."
    return sheet.drawing(alt, f"Blue trains, magenta is judged. {caption}")


def rows_of(parts: Sequence[Part]) -> list[tuple[list[int], list[int]]]:
    """The models of a construction: the cases that train each, and where it is judged."""
    found: list[tuple[list[int], list[int]]] = []
    for part in parts:
        if part.training.ndim == 1:
            found.append((part.training.tolist(), part.at.ravel().tolist()))
        else:
            both = zip(part.training.tolist(), part.at.tolist(), strict=True)
            found += [(training, judged) for training, judged in both]
    return found
