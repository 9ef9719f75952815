"""Lesson 2: a new loss falls into each of the k + 1 gaps between k losses equally often.

Losses are exp(N(0, 1)); the lemma asks only that they are exchangeable and do not tie.
"""

import itertools
import math
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.figures.panels import Panel, diamond, faded, stroke
from cpp_core.figures.panels import ink as known_ink
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.lessons.charts import ROOM, count_line, counts, grown, growth
from cpp_core.lessons.drawing import BLUE, MAGENTA, Drawing, cover, mark
from cpp_core.lessons.lesson import Check, Lesson, Pick, Shown, Slider, Values
from cpp_core.method.ranks import conformal_ranks, scores_needed
from cpp_core.verdicts.language import counted, ordinal, percent

REDRAWS = 1000
LOW, HIGH = 0.02, 50.0
"""The part of the losses that is drawn, on a log axis."""
MOST = 30


@lru_cache(maxsize=64)
def redraws(k: int, size: int = REDRAWS) -> tuple[NDArray, NDArray, NDArray]:
    """Sorted losses (size, k), a new loss of each draw, and the bucket 0..k into which it falls."""
    drawn = np.exp(np.random.default_rng([2, k]).standard_normal((size, k + 1)))
    losses, new = np.sort(drawn[:, :k], axis=1), drawn[:, k]
    return losses, new, (losses < new[:, None]).sum(axis=1)


def _buckets(k: int, hi: int, level: str, dark: bool) -> Panel:
    """The ruler of one draw after the other above, and what each bucket has caught below."""
    losses, new, caught = redraws(k)
    numbers = np.arange(1, k + 2)
    chart = Sketch(2, spacing=0.2)
    cut = {"symbol": "line-ns", "size": 44, "line": {"width": 2, "color": known_ink(dark)}}
    chart.marks(losses[-1], [0] * k, cut, "a loss: %{x:.2f}")
    chart.marks([new[-1]], [0], diamond(dark, 14), "the new loss: %{x:.2f}")
    end = min(hi, k)  # where there is no bound, the largest is drawn and not called one
    bound: Settings = {"color": mark(dark), "width": 5, "dash": "solid" if hi <= k else "dot"}
    chart.line([losses[-1][end - 1]] * 2, [-1, 1], bound, "")
    colors = [BLUE if i <= end else MAGENTA for i in numbers]
    filled = np.bincount(caught, minlength=k + 1)
    chart.bar(
        numbers, filled, {"color": colors}, "bucket %{x}: %{y}", row=2, width=[0.86] * (k + 1)
    )
    chart.line([0.4, k + 1.6], [REDRAWS / (k + 1)] * 2, stroke(dark, "dash"), "", row=2)
    steps = []
    for n in growth(REDRAWS):
        own, fallen = losses[n - 1], np.bincount(caught[:n], minlength=k + 1)
        even = n / (k + 1)
        line = {"x": [float(own[end - 1])] * 2}
        data = [{"x": own.tolist()}, {"x": [float(new[n - 1])]}, line]
        data += [{"y": fallen.tolist()}, {"y": [even, even]}]
        told = _notes(k, hi, level, n, dark)
        most = 1.3 * max(3, int(fallen.max()))
        steps.append(
            {
                "data": data,
                "traces": [0, 1, 2, 3, 4],
                "layout": {"annotations": told, "yaxis2": {"range": [0, most]}},
            }
        )
    chart.shape("rect", LOW, HIGH, fillcolor=faded(BLUE, 0.12), line={"width": 0}, layer="below")
    x = {"type": "log", "range": [math.log10(LOW), math.log10(HIGH)], "automargin": True}
    x |= {"title": {"text": "loss (log scale)", "standoff": 2}, "tickvals": [0.1, 1, 10]}
    chart.frame(345, xaxis=x, margin=ROOM)
    chart.axis("y", {"visible": False, "range": [-1, 1], "domain": [0.74, 1]}, 1)
    below = {"title": {"text": "bucket, from the lowest to the highest"}, "range": [0.4, k + 1.6]}
    chart.axis("x", {**below, "dtick": 1 if k < 16 else 5, "zeroline": False}, 2)
    chart.axis("y", {**counts("caught", 1), "domain": [0, 0.46]}, 2)
    grown(chart, steps, ("One draw", f"▶ Play {REDRAWS:,}", "↺ Again"))
    share = f"1 of {k + 1}"
    title = f"{k + 1} buckets, each catches {share} new losses"
    caption = (
        f"Strip, cut by {counted(k, 'loss')} into {k + 1} buckets; diamond: a new loss. Both "
        "are drawn anew each time. Bars: what each bucket has caught; magenta lies beyond the line."
    )
    table = pd.DataFrame({"bucket": numbers, "caught": filled})
    return Panel("buckets", title, chart, caption, f"A ruler above bars. {title}.", table)


def _notes(k: int, hi: int, level: str, n: int, dark: bool) -> list[Settings]:
    """What is written into the picture after so many draws."""
    said = f"the {level} bound" if hi <= k else f"the largest: no {level} bound"
    above = count_line(said) | {"font": {"color": mark(dark), "size": 15}}
    return [above, count_line(counted(n, "draw"), row=2)]


def scene(values: Values, dark: bool) -> Shown:
    """The buckets of k losses, and the bound at one alpha."""
    k, alpha = values["k"], values["alpha"]
    _, hi = conformal_ranks(k, alpha, "upper")
    needed, level = scores_needed(alpha, "upper"), percent(1 - alpha)
    facts = {"beyond_largest": 1 / (k + 1), "rank": hi, "inside": hi / (k + 1), "needed": needed}
    if hi > k:
        finding = f"1 in {k + 1}"
        said = (
            f"new losses exceeds the largest of {k}: even the largest is a bound for only "
            f"{percent(k / (k + 1))}. {counted(needed - k, 'more loss')} would give a finite "
            f"{level} bound."
        )
    else:
        finding = f"{ordinal(hi)} of {k}"
        said = (
            f"is the {level} bound: {hi} of {k + 1} buckets lie below it, so it catches "
            f"{percent(hi / (k + 1))} of new losses."
        )
    panel = _buckets(k, hi, level, dark)
    return Shown(finding, said, (panel,), _CODE.format(k=k, alpha=alpha), facts)


_CODE = """\
from cpp_core import conformal_ranks, scores_needed

k, alpha = {k}, {alpha}
_, hi = conformal_ranks(k, alpha, side="upper")  # k + 1 stands for infinity
print(1 / (k + 1))  # a new loss exceeds the largest of k
print(hi, hi / (k + 1))  # rank of the bound, and how often it holds
print(scores_needed(alpha, side="upper"))  # losses that a finite bound needs
"""


def _cover(dark: bool) -> Drawing:
    """A ruler whose buckets hold the same number of dots."""
    sheet = cover(dark)
    losses = np.log(redraws(9)[0][4])
    cuts = 8 + 184 * (losses - losses[0] + 0.4) / (losses[-1] - losses[0] + 0.8)
    sheet.rect(8, 24, 184, 48, BLUE, opacity=0.2)
    ends = [8.0, *cuts, 192.0]
    for a, b in itertools.pairwise(ends):
        for row in range(4):
            sheet.dot((a + b) / 2, 33.0 + 10 * row, sheet.ink, 2.4)
    for x in cuts:
        sheet.line([(x, 24), (x, 72)], sheet.ink, stroke_width=1)
    return sheet.drawing("Ten buckets of different widths that each hold four dots")


LESSON = Lesson(
    name="quantile-lemma",
    title="The quantile lemma",
    question="Is the largest of five a 90 % bound?",
    opening=(
        "k losses cut a ruler into k + 1 buckets, some wide and some narrow. Into which one will a "
        "new loss fall?"
    ),
    controls=(
        Slider("k", "Losses (k)", 1, MOST, 5),
        Pick("alpha", "Promise", {0.2: "80 %", 0.1: "90 %", 0.05: "95 %"}, 0.1),
    ),
    scene=scene,
    cover=_cover,
    words=(
        "Mix the new loss among the k others. If their order does not matter, it is equally likely "
        "to be the smallest, the second smallest, and so on up to the largest: k + 1 places, "
        "1/(k + 1) each. Wide buckets catch no more than narrow ones, because the losses that cut "
        "them are drawn anew as well. A bound that should hold 9 times in 10 needs 9 of 10 places "
        "below it. With 8 losses there are only 9 places, and the largest loss has 8 of them "
        "below: not enough. The bound is then infinite, and saying so is the honest answer."
    ),
    formula=(
        r"$P(s_{(j)} < \text{new} \le s_{(j+1)}) = \dfrac{1}{k+1}$ for $j = 0, \dots, k$ with "
        r"$s_{(0)} = -\infty$ and $s_{(k+1)} = \infty$. The bound is $s_{(r)}$ with "
        r"$r = \lceil (k+1)(1-\alpha) \rceil$, finite when $k \ge 1/\alpha - 1$."
    ),
    check=Check(
        "How many losses does a finite 99 % bound need?",
        "99: with k losses the largest has k of k + 1 places below it, and 99/100 = 99 %. A lower "
        "and an upper end together need 199.",
    ),
    caveat=(
        "The buckets catch equally often over redrawn losses. For one fixed set of buckets "
        "they do not: each then has a chance of its own. Among 9 such losses the widest gap is "
        "typically about 70 times the narrowest; that figure belongs to these losses."
    ),
)
