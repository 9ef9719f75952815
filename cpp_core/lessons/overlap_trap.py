"""Lesson 7: two ranges of losses overlap while one model wins on almost every case.

Losses are A = exp(z) and B = 1.5 exp(u) with Normal z and u whose correlation rho is moved: the
range of neither changes, but A wins Phi(ln 1.5 / sqrt(2 (1 - rho))) of all cases.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from cpp_core.catalog.losses import LOSSES
from cpp_core.figures.panels import Axis, Panel, faded, stroke
from cpp_core.figures.panels import ink as known_ink
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.lessons.charts import ALPHA, count_line, stepped
from cpp_core.lessons.drawing import BLUE, MAGENTA, Drawing, cover, layout, mark, rows_of
from cpp_core.lessons.lesson import Check, Lesson, Pick, Shown, Values
from cpp_core.method.constructions import plain
from cpp_core.method.ranks import interval
from cpp_core.verdicts.language import percent

FACTOR = 1.5
K = 99
"""Cases on which both are judged."""
HEIGHT = 420
"""Room for an axis and its words between the two charts, in a lecturer's type too."""
DRAWN = 30
"""Cases whose losses are joined by a line."""
Pair = tuple[NDArray, NDArray]
"""Losses of two models on the same cases."""
Span = tuple[float, float]
CORRELATIONS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)
DIGITS, STRENGTHS, HALF = (6, 7), (1.0, 0.3), 180


def wins(rho: float) -> float:
    """The share of all cases on which A loses less."""
    gap = math.log(FACTOR)
    return 1.0 if rho == 1 else NormalDist().cdf(gap / math.sqrt(2 * (1 - rho)))


def ranges() -> tuple[Span, Span]:
    """The middle 90 % of the losses of A and of B, whatever the correlation."""
    z = NormalDist().inv_cdf(1 - ALPHA / 2)
    return (math.exp(-z), math.exp(z)), (FACTOR * math.exp(-z), FACTOR * math.exp(z))


def simulated(rho: float, seed: int = 7) -> Pair:
    """Losses of A and of B on the same cases; the draws are the same at every rho."""
    z, e = np.random.default_rng(seed).standard_normal((2, K))
    return np.exp(z), FACTOR * np.exp(rho * z + math.sqrt(1 - rho**2) * e)


@lru_cache(maxsize=4)
def real(seed: int = 0) -> Pair:
    """Log losses of two logistic regressions on the same 180 images of a 6 or a 7.

    They are trained on the other half, with a light and a strong regularisation (C = 1 and 0.3).
    """
    X, y = load_digits(return_X_y=True)
    known = np.isin(y, DIGITS)
    order = np.random.default_rng([7, seed]).permutation(np.flatnonzero(known))
    train, judge = order[:HALF], order[HALF : 2 * HALF]
    loss = LOSSES["log_loss"].function
    models = [LogisticRegression(C=C, max_iter=500).fit(X[train] / 16, y[train]) for C in STRENGTHS]
    first, second = (loss(model, X[judge] / 16, y[judge]) for model in models)
    return first, second


def range_of(losses: NDArray) -> Span:
    """The conformal range of the next one, with both ends."""
    low, high = interval(losses, ALPHA)
    return float(low), float(high)


def overlap(first: Span, second: Span) -> float:
    """The part of the first range that the second one overlaps, on the log scale of the picture."""
    (low, high), (other_low, other_high) = np.log(first), np.log(second)
    common = min(high, other_high) - max(low, other_low)
    return float(max(common, 0.0) / (high - low))


def joined(losses: Pair) -> list[float | None]:
    """The two losses of one case after the other, with gaps between the cases."""
    cases = zip(losses[0][:DRAWN], losses[1][:DRAWN], strict=True)
    return [x for a, b in cases for x in (float(a), float(b), None)]


def _axes(every: Sequence[Pair], spans: tuple[Span, Span], labels: tuple[str, str]) -> Settings:
    """Axes on which all of these have room: what stands still must not seem to move."""
    drawn = [own[:DRAWN] for losses in every for own in losses]
    top = Axis.around(np.concatenate([*spans, *drawn]), log=True)
    below = Axis.around_zero([range_of(a - b) for a, b in every])
    difference = f"loss of {labels[0]} minus loss of {labels[1]}, same case"
    return {"xaxis": top.layout("loss (log scale)"), "xaxis2": below.layout(difference)}


def _step(losses: Pair, said: str) -> Settings:
    """What changes in the picture with the losses."""
    data = [{"x": joined(losses)}, {"x": list(range_of(losses[0] - losses[1]))}]
    told = [count_line(said), count_line("90 % range of the difference", row=2)]
    return {"data": data, "traces": [2, 3], "layout": {"annotations": told}}


def _picture(
    losses: Pair,
    spans: tuple[Span, Span],
    labels: tuple[str, str],
    dark: bool,
    every: Sequence[Pair] = (),
) -> tuple[Panel, Sketch]:
    """Two ranges, the losses of each case joined by a line; below, the paired difference.

    The axes have room for ``every`` pair of losses.
    """
    chart = Sketch(2)
    for y, span, color in zip((1, 0), spans, (BLUE, MAGENTA), strict=True):
        chart.line(span, [y, y], {"color": color, "width": 22}, "%{x:.3g}")
    thin = {"color": faded(known_ink(dark), 0.55), "width": 1.3}
    chart.trace("scatter", [0], [0], "", mode="lines", line=thin)
    chart.data[-1] |= {"x": joined(losses), "y": [1, 0, None] * DRAWN, "hoverinfo": "skip"}
    difference = losses[0] - losses[1]
    low, high = range_of(difference)
    chart.line([low, high], [0, 0], {"color": mark(dark), "width": 22}, "%{x:.3g}", row=2)
    chart.vline(0, stroke(dark, "dash"), rows=(2,))
    ticks = {"tickvals": [1, 0], "ticktext": list(labels), "range": [-0.5, 1.5]}
    rows: Settings = {**ticks, "showgrid": False, "zeroline": False, "automargin": True}
    chart.frame(
        HEIGHT, **_axes(every or [losses], spans, labels), yaxis={**rows, "domain": [0.56, 1]}
    )
    chart.axis("y", {"visible": False, "range": [-1, 1], "domain": [0, 0.16]}, 2)
    chart.layout |= _step(losses, "90 % ranges, and each case's two losses")["layout"]
    chart.layout["margin"] |= {"t": 34}
    side = "below" if high < 0 else "above" if low > 0 else "on both sides of"
    title = f"The paired difference lies {side} zero"
    caption = (
        "Bars: the middle 90 % of each model's losses. Thin lines join the two losses of one case. "
        f"Below: the 90 % range of the difference, from {len(difference)} cases; left of zero "
        f"{labels[0]} loses less."
    )
    table = pd.DataFrame({"first": losses[0], "second": losses[1], "difference": difference})
    alt = f"Two bars that overlap. {title}."
    return Panel("overlap", title, chart, caption, alt, table), chart


def scene(values: Values, dark: bool) -> Shown:
    """The ranges and the share of wins, simulated or real."""
    if values["data"] == "real":
        return _real(dark)
    rho = values["rho"]
    spans, losses = ranges(), simulated(rho)
    low, high = range_of(losses[0] - losses[1])
    facts = {"wins": wins(rho), "overlap": overlap(*spans), "low": low, "high": high}
    said = (
        f"of new cases are won by A. The two ranges stand still, and as drawn B's overlaps "
        f"{percent(facts['overlap'])} of A's."
    )
    if high < 0:
        said += " But the range of the difference on the same case lies below zero."
    every = [simulated(other) for other in CORRELATIONS]
    panel, chart = _picture(losses, spans, ("A", "B"), dark, every)
    steps = [
        _step(own, f"correlation {other:g}: A wins {percent(wins(other))}")
        for other, own in zip(CORRELATIONS, every, strict=True)
        if other >= rho
    ]
    if len(steps) > 1:  # on from where the slider is
        stepped(chart, steps, (len(steps) - 1,), ("More alike", "▶ Play", "↺ Again"))
    code = _CODE.format(rho=rho)
    return Shown(percent(facts["wins"]), said, (panel,), code, facts, _layouts(dark))


def _real(dark: bool) -> Shown:
    """Two models of digits, one of which wins everywhere."""
    losses = real()
    a, b = (range_of(own) for own in losses)
    low, high = range_of(losses[0] - losses[1])
    won = int((losses[0] < losses[1]).sum())
    facts = {"wins": won, "cases": HALF, "low": low, "high": high}
    facts |= {"overlap": overlap(a, b), "a_low": a[0], "a_high": a[1]}
    facts |= {"b_low": b[0], "b_high": b[1]}
    said = (
        "held-out images of a 6 or a 7 are won by the lightly regularised model. As drawn, the "
        f"other range overlaps {percent(facts['overlap'])} of its own."
    )
    panel, _ = _picture(losses, (a, b), ("light", "strong"), dark)
    return Shown(f"{won} of {HALF}", said, (panel,), _CODE_REAL, facts, _layouts(dark))


def _layouts(dark: bool) -> tuple[Drawing, ...]:
    """Two models that are trained on the same cases and judged at the same cases."""
    rows = rows_of(plain(24)) * 2
    return (layout(rows, 24, dark, "Both models train on the same cases, and meet the same."),)


_CODE = """\
from cpp_core import interval
from cpp_core.lessons.overlap_trap import simulated, wins

rho = {rho}
a, b = simulated(rho)  # losses of both models on the same 99 cases
print(wins(rho))  # exact share of cases that A wins
print(*interval(a - b, 0.1))  # 90 % range of the paired difference
"""
_CODE_REAL = """\
from cpp_core import interval
from cpp_core.lessons.overlap_trap import real

a, b = real()  # log losses of both models on the same 180 images
print((a < b).sum())
print(*interval(a, 0.1), *interval(b, 0.1), *interval(a - b, 0.1))
"""


def _cover(dark: bool) -> Drawing:
    """Two bars that overlap, with parallel lines between them."""
    sheet, (a, b), spans = cover(dark), simulated(0.99), ranges()

    def place(loss: float) -> float:
        return 100 + 42 * math.log(loss / math.sqrt(FACTOR))

    for y, (low, high), color in ((12, spans[0], BLUE), (70, spans[1], MAGENTA)):
        sheet.rect(place(low), y, place(high) - place(low), 10, color)
    for one, other in zip(a[:14], b[:14], strict=True):
        sheet.line([(place(one), 22), (place(other), 70)], sheet.ink, stroke_width=1)
    return sheet.drawing("Two bars that overlap, joined by parallel lines")


LESSON = Lesson(
    name="overlap-trap",
    title="Overlap trap",
    question="The ranges overlap. Who wins the next case?",
    opening=(
        "Two models are judged on the same cases, and their ranges of losses overlap. Is there a "
        "difference?"
    ),
    controls=(
        Pick("data", "Data", {"simulated": "Simulated", "real": "Real: 6 or 7"}, "simulated"),
        Pick(
            "rho",
            "How alike the two models find the cases (correlation)",
            {rho: f"{rho:g}" for rho in CORRELATIONS},
            0.0,
            "steps",
            when=("data", ("simulated",)),
        ),
    ),
    scene=scene,
    cover=_cover,
    words=(
        "A range says how much losses differ from case to case, which may be far more than two "
        "models differ on one case. Who is better on the *same* case is another question, and two "
        "ranges cannot answer it: slide the correlation, and they stand still while A goes from "
        "winning 61 % of cases to winning all. So subtract the two losses case "
        "by case, and look at the difference."
    ),
    formula=(
        r"$d_i = \ell(A; z_i) - \ell(B; z_i)$ is a loss like any other; its conformal range is "
        r"$[d_{(lo)}, d_{(hi)}]$. Here $P(A \text{ wins}) = "
        r"\Phi\!\left(\ln 1.5 \,/ \sqrt{2(1-\rho)}\right)$, while neither range depends on $\rho$."
    ),
    check=Check(
        "Can the share of wins be read off two ranges?",
        "No. The same two ranges go with 61 % and with 100 % of wins. Only losses on the same "
        "cases can tell.",
    ),
    caveat=(
        "Winning always is not winning by much: with the digits, nine of ten differences are "
        "smaller than 0.06. Sizes belong to these settings; the real figures are of one split of "
        "360 images."
    ),
)
