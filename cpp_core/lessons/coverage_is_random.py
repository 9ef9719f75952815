"""Lesson 3: the share that one bound catches differs from calibration to calibration.

Losses are Uniform(0, 1), so that a bound covers just its own value; any continuous loss gives the
same law, Beta(hi, k + 1 - hi).
"""

from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from cpp_core.figures.panels import Panel, stroke
from cpp_core.figures.sketch import Sketch
from cpp_core.lessons.charts import (
    ALPHA,
    PROMISE,
    ROOM,
    binned,
    count_line,
    counts,
    grown,
    growth,
    shares,
    words,
)
from cpp_core.lessons.drawing import BLUE, Drawing, cover
from cpp_core.lessons.lesson import Check, Lesson, Pick, Shown, Values
from cpp_core.method.ranks import Ranked, coverage_law
from cpp_core.verdicts.language import counted, percent

SIZES = (9, 19, 29, 49, 79, 99, 199, 499, 999)
CALIBRATIONS = 2000
LOW = 0.8
"""A coverage that would disappoint."""
EDGES = np.linspace(0.5, 1, 51)


@lru_cache(maxsize=16)
def coverages(k: int, size: int = CALIBRATIONS) -> NDArray:
    """What the bound covers in calibration after calibration: the rank alpha cuts, of k losses."""
    losses = np.random.default_rng([3, k]).random((size, k))
    return Ranked.of(losses).ends(ALPHA, "upper")[1]


def law(k: int) -> dict[str, float]:
    """The exact law: 5 and 95 % points, spread, and how often coverage is low."""
    known = stats.beta(*coverage_law(k, ALPHA, "upper"))
    return {
        "low": float(known.ppf(0.05)),
        "high": float(known.ppf(0.95)),
        "sd": float(known.std()),
        "mean": float(known.mean()),
        "under": float(known.cdf(LOW)),
    }


def _pile(k: int, dark: bool) -> Panel:
    """Calibrations dropped at their coverage, one by one, and the law that they follow."""
    found, facts = coverages(k), law(k)
    expected = np.diff(stats.beta(*coverage_law(k, ALPHA, "upper")).cdf(EDGES))
    middles = (EDGES[:-1] + EDGES[1:]) / 2
    chart = Sketch()
    chart.bar(middles, binned(found, EDGES), {"color": BLUE}, "%{y} calibrations at about %{x}")
    chart.data[-1] |= {"opacity": 0.6, "width": [EDGES[1] - EDGES[0]] * len(middles)}
    chart.line(middles, expected * len(found), {**stroke(dark), "shape": "spline", "width": 3}, "")
    chart.shape(
        "rect", facts["low"], facts["high"], fillcolor=BLUE, opacity=0.08, line={"width": 0}
    )
    chart.vline(PROMISE, stroke(dark, "dash"))
    steps = []
    for n in growth(CALIBRATIONS):
        bars, curve = binned(found[:n], EDGES), expected * n
        most = 1.2 * max(4, max(bars), curve.max())
        told = [count_line(counted(n, "calibration"))]
        told += [words("promised", PROMISE, 1, xref="x", yanchor="bottom")]
        layout = {"annotations": told, "yaxis": {"range": [0, most]}}
        data = [{"y": bars}, {"y": curve.tolist()}]
        steps.append({"data": data, "traces": [0, 1], "layout": layout})
    axis = shares("share of all new cases that the bound of one calibration catches", 0.5, 1.0)
    chart.frame(340, xaxis=axis, yaxis=counts("calibrations", 1), margin=ROOM)
    grown(chart, steps, ("One calibration", f"▶ Play {CALIBRATIONS:,}", "↺ Again"))
    ends = f"{percent(facts['low'])} and {percent(facts['high'])}"
    title = f"With {k} losses, nine of ten calibrations catch between {ends}"
    caption = (
        f"Each calibration sorts {k} fresh losses and drops a block at the share that its bound "
        "catches. Curve: the exact law. Shaded: where 90 % of calibrations end."
    )
    table = pd.DataFrame({"coverage": middles, "calibrations": binned(found, EDGES)})
    return Panel("coverage-pile", title, chart, caption, f"A histogram. {title}.", table)


def scene(values: Values, dark: bool) -> Shown:
    """The law at one k."""
    k = values["k"]
    facts = law(k)
    finding = f"{percent(facts['low'])} to {percent(facts['high'])}"
    said = (
        f"of new cases is what nine of ten calibrations with {k} losses catch; the promise of 90 % "
        f"is about all of them together. {percent(facts['under'])} catch less than {percent(LOW)}."
    )
    return Shown(finding, said, (_pile(k, dark),), _CODE.format(k=k), facts)


_CODE = """\
from scipy import stats
from cpp_core import coverage_law

a, b = coverage_law({k}, 0.1, side="upper")
print(*stats.beta(a, b).ppf([0.05, 0.95]))
print(stats.beta(a, b).cdf(0.8))  # how often a calibration catches under 80 %
"""


def _cover(dark: bool) -> Drawing:
    """The pile and its curve."""
    sheet = cover(dark)
    edges = np.linspace(0.6, 1, 25)
    bars = np.array(binned(coverages(19)[coverages(19) > 0.6], edges))
    law_ = np.diff(stats.beta(*coverage_law(19, ALPHA, "upper")).cdf(edges)) * CALIBRATIONS
    width, scale = 184 / len(bars), 70 / max(bars.max(), law_.max())
    for i, bar in enumerate(bars):
        sheet.rect(8 + i * width, 84 - scale * bar, width - 1, scale * bar, BLUE, opacity=0.5)
    curve = [(8 + (i + 0.5) * width, 84 - scale * own) for i, own in enumerate(law_)]
    sheet.line(curve, sheet.ink)
    return sheet.drawing("A histogram of coverages under its curve")


LESSON = Lesson(
    name="coverage-is-random",
    title="Coverage is random too",
    question="How low may one calibration end?",
    opening=(
        "A 90 % bound is read off k losses. Sort k other losses and you get another bound. How "
        "many new cases does each of them catch?"
    ),
    controls=(
        Pick("k", "Losses in each calibration (k)", {k: f"{k}" for k in SIZES}, 19, "steps"),
    ),
    scene=scene,
    cover=_cover,
    words=(
        "The promise of 90 % counts over the calibration *and* the new case together. Once the "
        "losses are sorted, the bound is a fixed number, and the share of new cases below it is "
        "what it is: with 19 losses perhaps 84 % for one calibration, 97 % for the next. Nobody "
        "knows which one they have. What is known is how these shares spread, whatever the model "
        "and the data are: the curve. More losses make it narrower, around 90 %."
    ),
    formula=(
        r"Without ties, coverage given the calibration $\sim \mathrm{Beta}(r,\; k+1-r)$ with "
        r"$r = \lceil (k+1)(1-\alpha) \rceil$. Its mean is $p = \dfrac{r}{k+1}$, its standard "
        r"deviation $\sqrt{p(1-p)/(k+2)}$."
    ),
    check=Check(
        "k goes from 19 to 79. What happens to the spread?",
        "It halves: the standard deviation goes from 6.5 to 3.3 points.",
    ),
    caveat=(
        "The curve is exact for independent losses without ties. With ties, as for losses of 0 and "
        "1, it can only be higher."
    ),
)
