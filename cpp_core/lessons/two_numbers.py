"""Lesson 9: re-splitting one table gives many bounds; the promise is of one chosen beforehand.

A table has 40 cases with two inputs, y = x1 + x2 + N(0, 1). Least squares is trained on one half,
the other calibrates its absolute errors, so that a bound q of weights w covers exactly
2 Phi(q / sqrt(1 + |w - w*|^2)) - 1 of all new cases.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from cpp_core.figures.panels import Panel, faded, stroke
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.lessons.charts import ALPHA, PROMISE, count_line, grown, shares
from cpp_core.lessons.drawing import (
    BLUE,
    MAGENTA,
    Drawing,
    cover,
    layout,
    mark,
    rows_of,
)
from cpp_core.lessons.lesson import Again, Check, Lesson, Pick, Shown, Values
from cpp_core.lessons.stored import Average, Kept, average, stored
from cpp_core.method.constructions import dealt, plain
from cpp_core.method.ranks import Ranked
from cpp_core.verdicts.language import counted, number, percent

N, D, SPLITS = 40, 2, 200
LOOKS = (1, 2, 5, 10, 20, 50, 100, 200)
TRUTH = np.ones(D)
TABLE = 208
"""The table that is shown first: a typical one."""


def table(seed: int) -> tuple[NDArray, NDArray]:
    """The inputs and targets of one table."""
    rng = np.random.default_rng([9, seed])
    X = rng.standard_normal((N, D))
    return X, X @ TRUTH + rng.standard_normal(N)


def orders(seed: int, size: int = SPLITS) -> NDArray:
    """The random order of the cases in each split."""
    return np.random.default_rng([99, seed]).permuted(np.tile(np.arange(N), (size, 1)), axis=1)


def splits(X: NDArray, y: NDArray, order: NDArray) -> tuple[NDArray, NDArray]:
    """The bound of each split of a table, and the share of all new cases that it covers."""
    (part,) = plain(N)
    train, judge = order[:, part.training], order[:, part.at.ravel()]
    A, b = X[train], y[train]
    moments = np.swapaxes(A, 1, 2)
    w = np.linalg.solve(moments @ A, moments @ b[..., None])[..., 0]
    losses = np.abs(y[judge] - np.einsum("skd,sd->sk", X[judge], w))
    bounds = Ranked.of(losses).ends(ALPHA, "upper")[1]
    spread = np.sqrt(1 + ((w - TRUTH) ** 2).sum(axis=1))
    return bounds, 2 * ndtr(bounds / spread) - 1


@lru_cache(maxsize=32)
def found(seed: int) -> tuple[NDArray, NDArray]:
    """Bounds and coverages of the splits of one table."""
    return splits(*table(seed), orders(seed))


def over_tables(size: int, seed: int) -> Mapping[str, Average]:
    """The coverage of the lowest bound among the first so many splits, over tables."""
    lowest: dict[int, list[float]] = {looks: [] for looks in LOOKS}
    ratios = []
    for i in range(size):
        own = 1_000_000 * (seed + 1) + i
        bounds, covers = splits(*table(own), orders(own))
        for looks in LOOKS:
            lowest[looks].append(covers[bounds[:looks].argmin()])
        ratios.append(bounds.max() / bounds.min())
    return {str(looks): average(values) for looks, values in lowest.items()} | {
        "ratio": average(ratios)
    }


MEASURES: dict[str, Kept] = {"two-numbers": Kept(over_tables, 4000, 200)}


def _strip(bounds: NDArray, looks: int, dark: bool) -> Panel:
    """The bounds so far as ticks; below, what the first and the lowest catch over tables."""
    chart, kept = Sketch(2), stored("two-numbers")
    tick = {"symbol": "line-ns", "size": 34, "line": {"width": 2, "color": faded(BLUE, 0.6)}}
    own = {"symbol": "line-ns", "size": 54, "line": {"width": 5, "color": mark(dark)}}
    low = {"symbol": "diamond", "size": 14, "color": MAGENTA}
    chart.marks(bounds[:looks], [0] * looks, tick, "bound %{x:.2f}", cliponaxis=False)
    chart.marks(bounds[:1], [0], own, "the first: %{x:.2f}")
    chart.marks([bounds[:looks].min()], [0], low, "the lowest: %{x:.2f}")
    bar: Settings = {"orientation": "h", "width": [0.7, 0.7], "textposition": "inside"}
    bar |= {"insidetextanchor": "start", "textfont": {"color": "#FFFFFF", "size": 16}}
    bar |= {"constraintext": "none"}  # else Plotly writes as small as a bar is thin
    chart.bar([0, 0], [0, 1], {"color": [mark(dark), MAGENTA]}, "", row=2, **bar)
    steps = []
    for n in (n for n in LOOKS if n <= looks):
        both = [kept["1"].mean, kept[str(n)].mean]
        data: list[Settings] = [{"x": bounds[:n].tolist()}, {"x": [float(bounds[:n].min())]}]
        data.append({"x": both, "text": [percent(share) for share in both]})
        told = [count_line(f"{counted(n, 'split')} of one table")]
        told.append(count_line("caught of new cases, average over tables", row=2))
        steps.append({"data": data, "traces": [0, 2, 3], "layout": {"annotations": told}})
    chart.data[3] |= data[2]
    chart.vline(PROMISE, stroke(dark, "dash"), rows=(2,))
    ends = [0.95 * float(bounds.min()), 1.04 * float(bounds.max())]
    title = {"text": "bound on the absolute error", "standoff": 4}
    chart.frame(350, xaxis={"title": title, "range": ends, "zeroline": False})
    chart.axis("y", {"visible": False, "range": [-1, 1], "domain": [0.74, 1]}, 1)
    chart.axis("x", shares("", 0, 1), 2)
    rows = {"tickvals": [0, 1], "ticktext": ["the first", "the lowest"], "range": [1.5, -0.5]}
    chart.axis("y", {**rows, "domain": [0, 0.31], "showgrid": False, "automargin": True}, 2)
    grown(chart, steps, ("Step by step", f"▶ Play {looks}", "↺ Again"))
    least, most = (number(float(end)) for end in (bounds[:looks].min(), bounds[:looks].max()))
    ends_told = f"bounds from {least} to {most}" if looks > 1 else f"a bound of {least}"
    told_title = f"{counted(looks, 'split')} of one table: {ends_told}"
    caption = (
        "Ticks: bounds of one table, each from another random half. Violet: the first split, "
        "chosen beforehand, which carries the promise. Magenta: the lowest so far."
    )
    alt = f"{told_title}. The lowest catches {percent(both[1])} of new cases, averaged over tables."
    columns = {"split": np.arange(looks), "bound": bounds[:looks]}
    return Panel("splits", told_title, chart, caption, alt, pd.DataFrame(columns))


def scene(values: Values, dark: bool) -> Shown:
    """The bounds of the splits looked at, and what the lowest of them is worth."""
    looks, seed = values["looks"], values["table"]
    bounds, covers = found(seed)
    kept = stored("two-numbers")
    least = int(bounds[:looks].argmin())
    facts = {
        "first": kept["1"].mean,
        "lowest": kept[str(looks)].mean,
        "first_bound": float(bounds[0]),
        "lowest_bound": float(bounds[least]),
        "largest_bound": float(bounds[:looks].max()),
        "first_here": float(covers[0]),
        "lowest_here": float(covers[least]),
        "ratio": float(bounds[:looks].max() / bounds[least]),
        "typical_ratio": kept["ratio"].mean,
    }
    finding = percent(facts["lowest"])
    if looks == 1:
        said = (
            "of new cases stay below the bound of one split, on average over tables. Now look at "
            "other splits of the same table."
        )
    else:
        said = (
            f"of new cases stay below the lowest of {looks} bounds, on average over tables. Same "
            f"data, same method: here the largest is {number(facts['ratio'], digits=2)} times the "
            "lowest."
        )
    rows = [row for order in orders(seed)[:6] for row in rows_of(dealt(plain(N), order))]
    seen = layout(rows, N, dark, "Each row is another split of the same 40 cases.")
    code = _CODE.format(seed=seed, looks=looks)
    return Shown(finding, said, (_strip(bounds, looks, dark),), code, facts, (seen,))


_CODE = """\
from cpp_core.lessons.stored import stored
from cpp_core.lessons.two_numbers import orders, splits, table

bounds, covers = splits(*table({seed}), orders({seed}))  # 200 splits of one table
looked_at = bounds[:{looks}]
print(looked_at.min(), looked_at.max(), looked_at.max() / looked_at.min())
print(covers[0], covers[looked_at.argmin()])  # the first, the lowest, on this table
print(stored("two-numbers")["{looks}"].mean)  # the lowest, over 4,000 tables
"""


def _cover(dark: bool) -> Drawing:
    """The strip of bounds, the first marked."""
    sheet, (bounds, _) = cover(dark), found(TABLE)
    shown = bounds[:60]
    place = 12 + 176 * (shown - shown.min()) / (shown.max() - shown.min())
    for x in place:
        sheet.line([(x, 34), (x, 64)], BLUE, stroke_width=1.6, opacity=0.7)
    sheet.line([(place[0], 20), (place[0], 78)], sheet.mark, stroke_width=4)
    sheet.diamond(place.min(), 49.0, MAGENTA, 6.0)
    return sheet.drawing("Ticks along a line, one of them marked")


LESSON = Lesson(
    name="why-two-numbers",
    title="Why two numbers?",
    question="Same data, same method: how far apart are the bounds?",
    opening=(
        "A table of 40 cases is split at random: one half trains a model, the other half gives the "
        "bound. Another split gives another bound. Which one counts?"
    ),
    controls=(
        Pick("looks", "Splits looked at", {n: f"{n}" for n in LOOKS}, 20, "steps"),
        Again("table", "Another table", TABLE),
    ),
    scene=scene,
    cover=_cover,
    words=(
        "Every split gives an honest bound, if it was fixed before looking. The lowest of "
        "many is low mostly because its calibration half happened to be easy, and hardly because "
        "its model is better: it misses more new cases than it admits. So the product quotes the "
        "bound of one split, fixed before looking, and tells where the bounds of other splits lie. "
        "The first carries the promise, the second shows how lucky the first was."
    ),
    formula=(
        r"$P(\text{new loss} \le q_1) \ge 1-\alpha$ for the split fixed beforehand. For the lowest "
        r"$q_{\min} = \min_j q_j$, only $P(\text{new loss} > q_{\min}) \le \sum_j \alpha$ is sure: "
        r"with $\alpha/K$ for each of $K$ splits the lowest keeps $1-\alpha$."
    ),
    check=Check(
        "Is the average of all the bounds safe?",
        "Not in general. Let a loss be 1 with chance 12 %, else anywhere from 0 to 0.2, and "
        "k = 20: one bound catches 94.9 % of new cases, the average bound only 88 %. In this "
        "lesson's setting averaging does no harm, but nothing promises that.",
    ),
    caveat=(
        "Sizes belong to this setting: 40 cases, two inputs, least squares. Averages are over "
        "4,000 simulated tables. One table may show more or less."
    ),
)
