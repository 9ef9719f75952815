"""Lesson 10: more losses do not make a shortfall rarer, only smaller; a tolerance bound does."""

import numpy as np
import pandas as pd
from scipy import stats

from cpp_core.figures.panels import Panel, faded, stroke
from cpp_core.figures.panels import ink as known_ink
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.lessons.charts import ALPHA, count_line, shares, words
from cpp_core.lessons.drawing import BLUE, MAGENTA, Drawing, cover, mark
from cpp_core.lessons.lesson import Check, Lesson, Pick, Shown, Values
from cpp_core.method.counts import cases_needed, tolerance_rank
from cpp_core.method.ranks import conformal_ranks, coverage_law, scores_needed
from cpp_core.verdicts.language import counted, ordinal, percent

SIZES = (9, 15, 19, 28, 29, 50, 79, 100, 200, 500, 1000, 2000, 5000, 10000)
LOW = 0.6
"""Where the picture begins."""
TICKS = 500
"""More losses than this are drawn as a band."""


def facts_at(k: int, alpha: float, delta: float) -> dict[str, float]:
    """What both bounds promise with k losses: how often they fall short, and by how much."""
    _, hi = conformal_ranks(k, alpha, "upper")
    rank = tolerance_rank(k, alpha, delta)
    found = {"rank": float(hi), "tolerance_rank": float(rank), "needed": cases_needed(alpha, delta)}
    if hi <= k:
        law = stats.beta(*coverage_law(k, alpha, "upper"))
        found |= {"short": float(law.cdf(1 - alpha)), "low": float(law.ppf(0.05))}
        found |= {"mean": float(law.mean())}
    if rank <= k:
        law = stats.beta(rank, k + 1 - rank)
        found |= {"tolerance_short": float(law.cdf(1 - alpha)), "tolerance_mean": float(law.mean())}
    return found


def _curves(k: int, alpha: float, facts: dict[str, float], dark: bool) -> Panel:
    """The law of the coverage of both bounds, and their places among the sorted losses."""
    chart = Sketch(2, spacing=0.1, shared=True)
    promise = 1 - alpha
    grid = np.unique(np.r_[np.linspace(LOW, 1, 400), np.linspace(promise - 0.02, 1, 400), promise])
    ranks = {"conformal": ("rank", BLUE), "tolerance": ("tolerance_rank", mark(dark))}
    table = []
    for name, (key, color) in ranks.items():
        rank = int(facts[key])
        if rank > k:
            continue
        law = stats.beta(rank, k + 1 - rank)
        curve = law.pdf(grid) / law.pdf(min((rank - 1) / (k - 1), grid[-2]) if k > rank else 1.0)
        chart.line(grid, curve, {"color": color, "width": 3}, "", name=f"{name} bound")
        short = grid <= promise
        shade: Settings = {
            "fill": "tozeroy",
            "fillcolor": faded(MAGENTA if name == "conformal" else color, 0.35),
        }
        chart.line(grid[short], curve[short], {"color": color, "width": 0}, "", **shade)
        own = {"symbol": "line-ns", "size": 30, "line": {"width": 5, "color": color}}
        chart.marks([rank / (k + 1)], [0], own, f"{name}: {ordinal(rank)} of {k:,}", row=2)
        table.append({"bound": name, "rank": rank, "short": float(law.cdf(promise))})
    losses = np.arange(1, k + 1) / (k + 1)
    dot = {
        "symbol": "line-ns",
        "size": 14,
        "line": {"width": 1.4, "color": faded(known_ink(dark), 0.6)},
    }
    if k <= TICKS:
        chart.marks(losses[losses >= LOW], [0] * int((losses >= LOW).sum()), dot, "", row=2)
    else:
        band = {"color": faded(known_ink(dark), 0.5), "width": 12}
        chart.line([LOW, k / (k + 1)], [0, 0], band, "", row=2)
    chart.vline(promise, stroke(dark, "dash"), rows=(1, 2))
    told = [words("promised", promise, 1, xref="x", yanchor="bottom")]
    told.append(count_line(f"{k:,} sorted losses, and the ranks of the bounds", row=2))
    if not table:
        told.append(words(f"no bound: {k} losses are too few", 0.5, 0.5, font={"size": 18}))
    low, high = shares("", LOW, 1), shares("share of all new cases caught", LOW, 1)
    chart.frame(340, xaxis=low, xaxis2=high, annotations=told, margin={"t": 50})
    chart.layout["legend"] |= {"y": 1.1}
    chart.axis("y", {"visible": False, "range": [0, 1.1], "domain": [0.36, 1]}, 1)
    chart.axis("y", {"visible": False, "range": [-1, 1], "domain": [0, 0.16]}, 2)
    rank = int(facts["rank"])
    bound = f"the conformal bound has rank {rank:,}" if rank <= k else "no bound is finite"
    title = f"With {k:,} losses {bound}"
    caption = (
        "Curves: how the shares caught spread over calibrations, scaled to one height. Magenta: "
        "calibrations that catch less than promised. Below: each loss at its average share, from "
        f"{percent(LOW)} on."
    )
    if not table:
        caption = f"Below: each loss at its average share, from {percent(LOW)} on."
    return Panel("enough", title, chart, caption, f"Two curves. {title}.", pd.DataFrame(table))


def scene(values: Values, dark: bool) -> Shown:
    """Both bounds with k losses."""
    k, alpha, delta = values["k"], values["alpha"], values["delta"]
    facts = facts_at(k, alpha, delta)
    level, rank, needed = percent(1 - alpha), int(facts["tolerance_rank"]), int(facts["needed"])
    if "short" in facts:
        finding = percent(facts["short"])
        said = f"of calibrations with {k:,} losses catch less than {level} of new cases. "
        said += f"One in 20 catches less than {percent(facts['low'])}. "
    else:
        more = scores_needed(alpha, "upper") - k
        finding = "No finite bound"
        said = f"with {k} losses at {level}: {counted(more, 'more loss')} would give one. "
    if rank <= k:
        said += (
            f"The tolerance bound, rank {rank:,}, lets at most {percent(delta)} of them fall short."
        )
    else:
        said += f"A tolerance bound needs {needed:,} losses."
    panel = _curves(k, alpha, facts, dark)
    code = _CODE.format(k=k, alpha=alpha, delta=delta) + (_SHORT if "short" in facts else "")
    return Shown(finding, said, (panel,), code, facts)


_CODE = """\
from scipy import stats
from cpp_core import conformal_ranks, tolerance_rank

k, alpha, delta = {k}, {alpha}, {delta}
_, rank = conformal_ranks(k, alpha, side="upper")
print(rank, tolerance_rank(k, alpha, delta))  # k + 1 stands for infinity
"""
_SHORT = """\
print(stats.beta(rank, k + 1 - rank).cdf(1 - alpha))  # calibrations that fall short
print(stats.beta(rank, k + 1 - rank).ppf(0.05))  # one in 20 catches less than this
"""


def _cover(dark: bool) -> Drawing:
    """How the coverage spreads, ever narrower around the promise."""
    sheet = cover(dark)
    sizes = np.unique(np.geomspace(9, 1000, 40).astype(int) // 10 * 10 + 9)
    laws = [stats.beta(*coverage_law(int(k), ALPHA, "upper")) for k in sizes]
    x = 10 + 180 * np.log(sizes / sizes[0]) / np.log(sizes[-1] / sizes[0])
    ends = [[82 - 190 * (law.ppf(q) - 0.68) for law in laws] for q in (0.05, 0.95)]
    edge = [*zip(x, ends[0], strict=True), *list(zip(x, ends[1], strict=True))[::-1]]
    corners = " ".join(f"{a:.4g},{b:.4g}" for a, b in edge)
    sheet.add("polygon", points=corners, fill=BLUE, opacity=0.35)
    level = 82 - 190 * (1 - ALPHA - 0.68)
    sheet.line([(10, level), (190, level)], sheet.ink, stroke_dasharray="5 4")
    return sheet.drawing("A band that narrows around a dashed line")


LESSON = Lesson(
    name="how-many-are-enough",
    title="How many cases are enough?",
    question="Does more data make coverage under 90 % rarer?",
    opening=(
        "One calibration may catch less than 90 % of new cases. Collect more losses: how much "
        "rarer does that become?"
    ),
    controls=(
        Pick("k", "Losses (k)", {k: f"{k:,}" for k in SIZES}, 100, "steps"),
        Pick("alpha", "Promise", {0.2: "80 %", 0.1: "90 %", 0.05: "95 %"}, 0.1),
        Pick("delta", "Calibrations that may fail", {0.1: "10 %", 0.05: "5 %", 0.01: "1 %"}, 0.05),
    ),
    scene=scene,
    cover=_cover,
    words=(
        "The conformal bound aims at 90 % on average, so with many losses about every second "
        "calibration ends below 90 %, however many there are. What shrinks is the shortfall. "
        "Whoever wants nearly every calibration to reach 90 % must aim higher: the tolerance bound "
        "takes a larger loss as its bound, and fails in at most 5 % of calibrations, if that is "
        "what was asked. The price is a larger bound, and more losses before there is one: "
        "29 instead of 9 for 90 %. These are two promises, and neither is the better one: the "
        "first is about the calibration and the next case together, the second about how many "
        "calibrations fall short."
    ),
    formula=(
        r"Conformal: rank $r = \lceil (k+1)(1-\alpha) \rceil$, and "
        r"$P(\text{coverage} < 1-\alpha) = P(\mathrm{Beta}(r, k+1-r) < 1-\alpha)$. "
        r"Tolerance: the smallest $r$ with $P(\mathrm{Bin}(k, 1-\alpha) \le r-1) \ge 1-\delta$."
    ),
    check=Check(
        "You have 28 losses and ask for 90 %, missed in at most 5 % of calibrations. Which rank?",
        "None is enough: even the largest of 28 falls short with chance 0.9^28 = 5.2 %, more than "
        "5 %. With one more loss the largest will do.",
    ),
    caveat=(
        "Exact for independent losses without ties. The share of short calibrations rises to a "
        "half in a sawtooth, because ranks are whole numbers: for a promise of 90 %, k = 28 has "
        "21.5 % and k = 29 has 43.5 %."
    ),
)
