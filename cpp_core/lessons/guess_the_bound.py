"""Lesson 1: a share of the dots is not the chance for the next one.

Losses are exp(N(0, 1)), so that a bound b covers Phi(ln b) of all new ones.
"""

import math
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.figures.panels import Panel, faded, stroke
from cpp_core.figures.panels import ink as known_ink
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.lessons.charts import (
    ALPHA,
    PROMISE,
    ROOM,
    binned,
    count_line,
    counts,
    grown,
    shares,
    stepped,
    words,
)
from cpp_core.lessons.drawing import BLUE, MAGENTA, Drawing, cover, mark
from cpp_core.lessons.lesson import Again, Check, Lesson, Pick, Shown, Slider, Values
from cpp_core.method.ranks import conformal_ranks, coverage_law
from cpp_core.verdicts.language import counted, number, ordinal, percent

K = 10
"""Dots of one deal."""
EDGE = 8.0
"""Where the picture ends; larger losses are counted at the edge."""
DEALS = 200
BINS = np.linspace(0, EDGE, 33)
DROPS = (*range(21), 50, 100, 200, 500, 1000)
"""How many new cases have fallen at each step."""
RANK = conformal_ranks(K, ALPHA, "upper")[1]
"""The dot that is the conformal bound: the tenth of ten."""
NINE = round(PROMISE * K)
"""The dot below which nine of ten lie, with itself."""


def covered(bound: float) -> float:
    """The share of all new losses up to a bound."""
    return NormalDist().cdf(math.log(bound))


def deal(seed: int, size: int = K) -> NDArray:
    """Losses in ascending order."""
    return np.sort(np.exp(np.random.default_rng([1, seed]).standard_normal(size)))


def deals(size: int = DEALS) -> NDArray:
    """What nine dots of ten cover, and what the conformal bound covers, in deal after deal."""
    drawn = np.sort(np.random.default_rng(11).standard_normal((size, K)), axis=1)
    cdf = np.vectorize(NormalDist().cdf)
    return cdf(drawn[:, [NINE - 1, RANK - 1]])


def drops(seed: int, bound: float) -> tuple[list[list[int]], list[list[int]], list[int]]:
    """New cases at each step: counts of each bin below and above the bound, and how many below."""
    new = np.exp(np.random.default_rng([2, seed]).standard_normal(DROPS[-1]))
    below, above, kept = [], [], []
    for n in DROPS:
        inside = new[:n] <= bound
        below.append(binned(new[:n][inside], BINS))
        above.append(binned(new[:n][~inside], BINS))
        kept.append(int(inside.sum()))
    return below, above, kept


def _dealt(values: Values, dark: bool) -> Panel:
    """Ten dots, the line, and new cases that fall onto them."""
    bound, dots = values["line"], deal(values["deal"])
    revealed = values["stage"] == "answer"
    below, above, kept = drops(values["deal"], bound)
    middles = (BINS[:-1] + BINS[1:]) / 2
    chart = Sketch(2, spacing=0.06, shared=True)
    for own, color in ((below, BLUE), (above, MAGENTA)):
        chart.bar(middles, own[0], {"color": color}, "%{y} new cases", name="")
        chart.data[-1] |= {"showlegend": False, "width": [BINS[1]] * len(middles)}
    dot = {"size": 13, "color": faded(known_ink(dark), 0.75)}
    chart.marks(np.minimum(dots, EDGE), [0] * K, dot, "loss %{customdata}", row=2)
    chart.data[-1] |= {"customdata": [number(own) for own in dots], "cliponaxis": False}
    chart.vline(bound, {"color": mark(dark), "width": 4}, rows=(1, 2))
    chart.note("your line", x=bound, y=1, yref="y domain", yanchor="top", xanchor="left", xshift=6)
    chart.layout["annotations"][-1]["font"] = {"color": mark(dark), "size": 15}
    if revealed:
        chart.vline(dots[RANK - 1], stroke(dark, "dash"), rows=(1, 2))
        chart.note("the conformal bound", x=dots[RANK - 1], y=0.75, yref="y domain")
        chart.layout["annotations"][-1] |= {"xanchor": "left", "xshift": 6, "font": {"size": 15}}
    fixed = chart.layout["annotations"]
    x = {"range": [0, EDGE], "title": {"text": "loss"}, "zeroline": False}
    chart.frame(330, xaxis2=x, margin=ROOM)
    chart.axis("x", {"range": [0, EDGE], "zeroline": False})
    chart.axis("y", {"domain": [0.22, 1], **counts("new cases", 4)}, 1)
    hidden: Settings = {"visible": False, "range": [-1, 1], "domain": [0, 0.18]}
    chart.axis("y", hidden, 2)
    steps = []
    for i, n in enumerate(DROPS):
        said = (
            f"{kept[i]:,} of {counted(n, 'new case')} below: {percent(kept[i] / n)}"
            if n
            else "no new case yet"
        )
        told = count_line(said)
        most = max(4, 1.25 * max(map(max, (below[i], above[i]))))
        layout = {"annotations": [*fixed, told], "yaxis": {"range": [0, most]}}
        bars = [{"y": below[i]}, {"y": above[i]}]
        steps.append({"data": bars, "traces": [0, 1], "layout": layout})
    ends = {20: "20", len(DROPS) - 1: f"{DROPS[-1]:,}"}
    stepped(chart, steps, ends, ("Drop a case", "▶ Drop {}", "↺ Again"))
    n_below = int((dots <= bound).sum())
    title = f"{n_below} of the {K} dots lie below the line at {number(bound)}"
    caption = (
        "Dots: ten losses that you may look at. Bars: losses of new cases, blue below the line "
        f"and magenta above. Beyond {EDGE:g} they stand at the edge."
    )
    alt = f"{title}. Of {DROPS[-1]:,} new cases, {kept[-1]:,} stay below it."
    data = pd.DataFrame({"dropped": DROPS, "below": kept})
    return Panel("guess", title, chart, caption, alt, data)


def _deals(dark: bool) -> Panel:
    """What two rules catch in deal after deal."""
    found = deals()
    edges = np.linspace(0.4, 1, 31)
    chart = Sketch(2, spacing=0.16, shared=True)
    names = ("the ninth of ten dots", "the largest dot: conformal")
    exact = (NINE / (K + 1), coverage_law(K, ALPHA, "upper")[0] / (K + 1))
    for row, (name, color) in enumerate(zip(names, (MAGENTA, BLUE), strict=True), 1):
        full = binned(found[:, row - 1], edges)
        middles = (edges[:-1] + edges[1:]) / 2
        chart.bar(middles, full, {"color": color}, "%{y} deals cover about %{x}", row)
        chart.vline(PROMISE, stroke(dark, "dash"), rows=(row,))
        chart.vline(exact[row - 1], {"color": mark(dark), "width": 4}, rows=(row,))
        said = f"<b>{name}</b><br>{percent(exact[row - 1])} on average"
        told = words(said, 0, 1, row, xanchor="left", yanchor="top", align="left")
        chart.layout.setdefault("annotations", []).append(told)
    steps = []
    for n in (*range(1, 11), 20, 50, 100, DEALS):
        bars = [{"y": binned(found[:n, i], edges)} for i in range(2)]
        steps.append({"data": bars, "traces": [0, 1], "layout": {}})
    axis = shares("share of all new cases that the bound of one deal catches", 0.4, 1.0)
    chart.frame(360, xaxis=shares("", 0.4, 1.0), xaxis2=axis, margin=ROOM)
    most = 1.3 * max(max(own["y"]) for own in chart.data)
    chart.axis("y", counts("deals", most))
    grown(chart, steps, ("One deal", f"▶ Play {DEALS} deals", "↺ Again"))
    title = f"Over all deals the two rules catch {percent(exact[0])} and {percent(exact[1])}"
    caption = (
        f"{DEALS} deals of ten dots each. Dashed: the promise of 90 %. Line: the average over all "
        "deals, known exactly."
    )
    data = pd.DataFrame(found, columns=["nine_of_ten", "conformal"])
    return Panel("deals", title, chart, caption, f"Two histograms. {title}.", data)


def scene(values: Values, dark: bool) -> Shown:
    """Guess, then the answer, then deal after deal."""
    bound, dots = values["line"], deal(values["deal"])
    exact = {"nine": NINE / (K + 1), "conformal": RANK / (K + 1)}
    own = {
        "line": covered(bound),
        "here": covered(float(dots[-1])),
        "below": int((dots <= bound).sum()),
    }
    if values["stage"] == "guess":
        finding = f"{own['below']} of {K}"
        said = "dots lie below your line. Move it until you believe in 90 %, then drop new cases."
        code = _CODE_LINE.format(bound=bound)
    elif values["stage"] == "answer":
        finding = percent(own["line"])
        said = (
            f"of all new cases stay below your line. The {ordinal(RANK)} dot, the conformal bound, "
            f"catches {percent(own['here'])} in this deal and {percent(exact['conformal'])} on "
            "average over deals."
        )
        code = _CODE_LINE.format(bound=bound)
    else:
        finding = percent(exact["nine"])
        said = (
            "of new cases stay below a line at the ninth of ten dots, on average over deals. The "
            f"largest dot catches {percent(exact['conformal'])}."
        )
        code = _CODE_DEALS
    panel = _deals(dark) if values["stage"] == "deals" else _dealt(values, dark)
    caveat = _GUESSING if values["stage"] == "guess" else ""
    return Shown(finding, said, (panel,), code, exact | own, caveat=caveat)


_CODE_LINE = """\
from math import log
from statistics import NormalDist

line = {bound}
print(NormalDist().cdf(log(line)))  # share of losses exp(N(0, 1)) below the line
"""
_CODE_DEALS = """\
from cpp_core import conformal_ranks

k = 10
_, hi = conformal_ranks(k, 0.1, side="upper")
print(9 / (k + 1))  # a new case is below the 9th of 10 dots
print(hi / (k + 1))  # below the conformal bound, the 10th
"""


def _cover(dark: bool) -> Drawing:
    """The dots, the line, and a case that fell beyond the ninth."""
    sheet, dots = cover(dark), deal(13)
    place = [12 + 172 * min(own / dots[-1], 1) for own in dots]
    sheet.line([(4, 66), (196, 66)], sheet.ink, stroke_width=1)
    for x in place:
        sheet.dot(x, 66.0, sheet.ink, 4.0)
    sheet.line([(place[-1], 22), (place[-1], 78)], sheet.mark, stroke_width=3)
    sheet.diamond((place[-1] + place[-2]) / 2, 36.0, sheet.ink)
    return sheet.drawing("Ten dots on a line, and a bound at the largest of them")


_GUESSING = "Ten losses are few: the next deal looks different. Commit yourself before you go on."
_STAGES = {"guess": "Guess", "answer": "Answer", "deals": f"{DEALS} deals"}
_DEALT = "stage", ("guess", "answer")

LESSON = Lesson(
    name="guess-the-bound",
    title="Guess the bound",
    question="Where will 9 of 10 new losses stay below?",
    opening=(
        "Ten losses are dealt: numbers that say how wrong a model was, smaller is better. Place a "
        "line that 90 % of new ones will stay below."
    ),
    controls=(
        Pick("stage", "Step", _STAGES, "guess", "stages"),
        Slider("line", "Your line", 0.1, EDGE, 2.3, 0.1, when=_DEALT),
        Again("deal", "Deal ten others", default=13, when=_DEALT),
    ),
    scene=scene,
    cover=_cover,
    words=(
        "A line at the ninth of ten dots was chosen *with* these dots: it fits them better than it "
        "fits new ones. A new loss is an eleventh dot, and each of the eleven "
        "places in the order is equally likely for it. Below the ninth dot are nine of eleven "
        "places, which is 81.8 %; below the largest are ten of eleven, 90.9 %. So the 90 % bound "
        "is the largest dot. No shape of the losses enters into this."
    ),
    formula=(
        r"$P(\text{new} \le s_{(r)}) = \dfrac{r}{k+1}$, so take the smallest rank $r$ with "
        r"$\dfrac{r}{k+1} \ge 1-\alpha$: $\quad r = \lceil (k+1)(1-\alpha) \rceil$. "
        r"Here $k = 10$, $\alpha = 0.1$: $r = \lceil 9.9 \rceil = 10$."
    ),
    check=Check(
        "You have 20 losses. Which one is the 90 % bound?",
        "The 19th: ceil(21 × 0.9) = ceil(18.9) = 19, and 19/21 = 90.5 %.",
    ),
    caveat=(
        "90.9 % is the average over deals. One deal may be lucky or not: with the largest dot, "
        "nine of ten deals end between 74.1 % and 99.5 %. Other losses give other lines, but "
        "the same 81.8 % and 90.9 %."
    ),
)
