"""Lesson 5: three bounds that all cover 90 %, and miss in different places.

x ~ U(0, 3), y = sin 2x + noise of standard deviation .95 (1 - g) + g (.05 + .6 x). A polynomial of
degree 5 is fitted to 200 cases; lines for the absolute error are fitted to 200 others, and 200 more
calibrate. Given these, coverage at any x is known exactly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy.special import ndtr
from sklearn.linear_model import LinearRegression, QuantileRegressor

from cpp_core.figures.panels import GREY, Panel, faded, stroke
from cpp_core.figures.panels import ink as known_ink
from cpp_core.figures.sketch import Sketch
from cpp_core.lessons.charts import ALPHA, PROMISE, count_line, shares
from cpp_core.lessons.drawing import BLUE, MAGENTA, Drawing, cover, layout, rows_of
from cpp_core.lessons.lesson import Again, Check, Lesson, Pick, Shown, Values
from cpp_core.lessons.stored import Average, Kept, average, stored
from cpp_core.method.constructions import modulated
from cpp_core.method.modulation import fit_loss_model, modulated_scores, modulated_sets
from cpp_core.method.ranks import Ranked
from cpp_core.verdicts.language import percent

N, END, DEGREE = 200, 3.0, 5
TENTHS = 10
GROWTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
GRID = (np.arange(TENTHS * 20) + 0.5) * END / (TENTHS * 20)
LABELS = {"constant": "one constant", "fixed": "fixed width", "variable": "variable width"}


def noise(x: NDArray, growth: float) -> NDArray:
    """The standard deviation of the noise at x."""
    return 0.95 * (1 - growth) + growth * (0.05 + 0.6 * x)


@dataclass(frozen=True)
class Table:
    """The bounds of one simulated table along the grid, and where its calibration losses lie."""

    x: NDArray
    losses: NDArray
    bounds: Mapping[str, NDArray]
    covers: Mapping[str, NDArray]


def bounds_of(x: NDArray, own: NDArray, cases: NDArray, losses: NDArray) -> dict[str, NDArray]:
    """The three bounds along the grid: lines fitted to (x, own), calibrated by (cases, losses)."""
    rng, found = np.random.default_rng(0), {}
    top = Ranked.of(losses).ends(ALPHA, "upper")[1]
    found["constant"] = np.full(GRID.shape, top)
    kinds: dict[str, tuple[Any, Any]] = {
        "fixed": ("regression", LinearRegression()),
        "variable": ("quantile", QuantileRegressor(alpha=0, solver="highs")),
    }
    for name, (modulation, regressor) in kinds.items():
        model = fit_loss_model(modulation, regressor, x[:, None], own, rng)
        scores = modulated_scores(losses, *model.ends(cases[:, None], ALPHA, "upper"), "upper")
        score = Ranked.of(scores).ends(ALPHA, "upper")[1]
        ends = model.ends(GRID[:, None], ALPHA, "upper")
        found[name] = modulated_sets(*ends, score, "upper", 0.0, np.inf)[:, 1]
    return found


@lru_cache(maxsize=64)
def table(growth: float, seed: int) -> Table:
    """One simulated table: three times 200 cases, the bounds, and what each covers at every x."""
    rng = np.random.default_rng([5, seed])
    x = rng.uniform(0, END, (3, N))
    y = np.sin(2 * x) + noise(x, growth) * rng.standard_normal((3, N))
    model = Polynomial.fit(x[0], y[0], DEGREE)
    losses = np.abs(y - model(x))
    bounds = bounds_of(x[1], losses[1], x[2], losses[2])
    bias, sd = model(GRID) - np.sin(2 * GRID), noise(GRID, growth)
    covers = {
        name: np.where(b > 0, ndtr((b - bias) / sd) - ndtr((-b - bias) / sd), 0.0)
        for name, b in bounds.items()
    }
    return Table(x[2], losses[2], bounds, covers)


def over_tables(size: int, seed: int) -> Mapping[str, Average]:
    """Coverage of each bound in each tenth of x, and overall, over tables."""
    found: dict[str, Average] = {}
    for growth in GROWTHS:
        own = [table.__wrapped__(growth, 1_000_000 * (seed + 1) + i).covers for i in range(size)]
        for name in LABELS:
            tenths = np.array([covers[name].reshape(TENTHS, -1).mean(axis=1) for covers in own])
            found |= {f"{growth}-{name}-{i}": average(tenths[:, i]) for i in range(TENTHS)}
            found[f"{growth}-{name}"] = average(tenths.mean(axis=1))
    return found


MEASURES: dict[str, Kept] = {"fixed-or-variable": Kept(over_tables, 2000, 12)}


def tenths(growth: float, name: str) -> list[float]:
    """Coverage of a bound in each tenth of x, on average over tables."""
    kept = stored("fixed-or-variable")
    return [kept[f"{growth}-{name}-{i}"].mean for i in range(TENTHS)]


def _curves(growth: float, seed: int, dark: bool) -> Panel:
    """Losses and the three bounds above, what each catches in every tenth below."""
    own = table(growth, seed)
    colors = {"constant": known_ink(dark), "fixed": BLUE, "variable": MAGENTA}
    chart = Sketch(2, shared=True)
    point = {"size": 5, "color": faded(GREY, 0.7)}
    chart.marks(own.x, own.losses, point, "", row=1)
    middles = (np.arange(TENTHS) + 0.5) * END / TENTHS
    rows = []
    for name, label in LABELS.items():
        line = {"color": colors[name], "width": 3}
        chart.line(GRID[::4], own.bounds[name][::4], line, f"{label}: %{{y:.2f}}", name=label)
        covers = tenths(growth, name)
        symbol = {"size": 9, "color": colors[name]}
        hover = f"{label}: %{{y:.1%}} here"
        chart.trace("scatter", middles, covers, hover, 2, mode="lines+markers", marker=symbol)
        chart.data[-1] |= {"line": {"color": colors[name], "width": 2}}
        rows += [{"bound": name, "tenth": i, "coverage": c} for i, c in enumerate(covers)]
    chart.line([0, END], [PROMISE] * 2, stroke(dark, "dash"), "", row=2)
    axis = {"range": [0, END], "zeroline": False, "automargin": True}
    told = [count_line("caught in each tenth, over 2,000 tables", row=2)]
    x2 = {**axis, "title": {"text": "x"}}
    chart.frame(365, xaxis=axis, xaxis2=x2, annotations=told, margin={"t": 34})
    loss = {"title": {"text": "absolute error"}, "range": [0, 4.2], "automargin": True}
    chart.axis("y", {**loss, "zeroline": False, "domain": [0.5, 1]}, 1)
    chart.axis("y", {**shares("", 0.6, 1.0), "range": [0.64, 1.02], "domain": [0, 0.36]}, 2)
    where = ", but not everywhere" if growth else ", and about 90 % everywhere"
    title = f"All three catch 90 % overall{where}"
    caption = (
        "Dots: 200 calibration losses of one simulated table. Curves: three bounds of that table. "
        "Below: what each catches in every tenth of x, averaged over 2,000 tables."
    )
    return Panel(
        "widths", title, chart, caption, f"Curves above lines. {title}.", pd.DataFrame(rows)
    )


def scene(values: Values, dark: bool) -> Shown:
    """The three bounds at one growth of the noise."""
    growth, seed = values["growth"], values["table"]
    facts: dict[str, float] = {}
    for name in LABELS:
        covers = tenths(growth, name)
        facts |= {f"{name}_right": covers[-1], f"{name}_left": covers[0]}
        facts[f"{name}_overall"] = stored("fixed-or-variable")[f"{growth}-{name}"].mean
    finding = percent(facts["constant_right"])
    if growth == 0:
        said = (
            "of cases at the right stay below the constant bound: noise that is the same "
            "everywhere needs no more. Let it grow with x."
        )
    else:
        said = (
            "of cases at the right stay below the constant bound, though it catches 90 % overall. "
            f"Fixed width: {percent(facts['fixed_right'])}, variable width: "
            f"{percent(facts['variable_right'])}."
        )
    caption = "Row one: losses that the curve is fitted to. Row two: losses that set its height."
    seen = layout(rows_of(modulated(24)), 24, dark, caption)
    code = _CODE.format(growth=growth)
    return Shown(finding, said, (_curves(growth, seed, dark),), code, facts, (seen,))


_CODE = """\
from cpp_core.lessons.fixed_or_variable import tenths

for bound in ("constant", "fixed", "variable"):
    covered = tenths({growth}, bound)  # of each tenth of x, over 2,000 tables
    print(covered[0], covered[-1])

# With data of your own:
# cpp = CandidateCPP(model, loss="absolute_error", modulation="quantile")
# cpp.fit(X_train, y_train).conformalize(X_cal, y_cal)
# cpp.predict_interval(X_new, confidence_level=0.9, side="upper")
"""


def _cover(dark: bool) -> Drawing:
    """Losses that grow, a level line and a rising one."""
    sheet, own = cover(dark), table(1.0, TABLE)

    def place(x: float, loss: float) -> tuple[float, float]:
        return 8 + 184 * x / END, 86 - 78 * min(loss / 3.6, 1.0)

    for x, loss in zip(own.x[:90], own.losses[:90], strict=True):
        sheet.dot(*place(x, loss), sheet.ink, 1.8, opacity=0.5)
    for name, color in (("constant", BLUE), ("variable", MAGENTA)):
        ends = own.bounds[name]
        sheet.line([place(0, ends[0]), place(END, ends[-1])], color, stroke_width=3)
    return sheet.drawing("Dots that spread to the right, a level line and a rising one")


TABLE = 0
"""The table that is shown first."""


def _at_right(name: str) -> float:
    """What a bound catches in the right tenth where the noise grows most, in percent."""
    return 100 * tenths(GROWTHS[-1], name)[-1]


LESSON = Lesson(
    name="fixed-or-variable-width",
    title="Fixed or variable width",
    question="All cover 90 %. Where do they miss?",
    opening=(
        "A model predicts y from x, and its errors may grow with x. Three bounds all catch 90 % of "
        "new cases. Where are the other 10 %?"
    ),
    controls=(
        Pick(
            "growth",
            "How much the noise grows with x",
            {g: percent(g) if g else "not at all" for g in GROWTHS},
            1.0,
            "steps",
        ),
        Again("table", "Another table", TABLE),
    ),
    scene=scene,
    cover=_cover,
    words=(
        "Where errors grow, one constant bound is too high where they are small and too low where "
        "they are large: its misses gather at the right. *Fixed width* follows the average error "
        "and adds the same amount everywhere, which helps a little. *Variable width* follows the "
        "90 % line of the errors themselves, so that misses are spread almost evenly. All three "
        "are calibrated afterwards, so each keeps 90 % overall, however bad its line is: the line "
        "decides only where the misses are."
    ),
    formula=(
        r"Constant: $s_{(r)}$ of the losses. Fixed width: $f(x) + s_{(r)}$ with scores "
        r"$\ell_i - f(x_i)$. Variable width: $q(x) + s_{(r)}$ with scores $\ell_i - q(x_i)$, where "
        r"$q$ estimates the $1-\alpha$ quantile of the loss at $x$. The line is fitted on "
        r"cases that calibration never sees."
    ),
    check=Check(
        "You care most for cases at the right. Which of the three bounds?",
        f"Variable width: it catches about {_at_right('variable'):.0f} % there; the others miss "
        f"{100 - _at_right('fixed'):.0f} to {100 - _at_right('constant'):.0f} % of such cases. A "
        "promise there needs a calibration with such cases alone.",
    ),
    caveat=(
        "Sizes belong to this setting, at its strongest growth. Variable width is only as good as "
        "its line: at the left it catches about 86 %. What is promised is the average over all x."
    ),
)
