"""Lesson 6: 90 % of all cases is not 90 % of every group.

Digits: logistic regression on 673 images, 673 others calibrate its log losses, 451 test; re-splits
of the bundled table. Simulated: a share pi = .1 of the cases is hard, with losses s |N(0, 1)|, and
the bound q solves (1 - pi) F(q) + pi F(q / s) = .9 with F(q) = 2 Phi(q) - 1.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from cpp_core.catalog.losses import LOSSES
from cpp_core.figures.panels import Panel, stroke
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.lessons.charts import ALPHA, PROMISE, count_line, shares
from cpp_core.lessons.drawing import BLUE, MAGENTA, Drawing, cover, layout, rows_of
from cpp_core.lessons.lesson import Check, Lesson, Pick, Shown, Slider, Values
from cpp_core.lessons.stored import Average, Kept, average, stored
from cpp_core.method.constructions import plain
from cpp_core.method.ranks import Ranked, scores_needed
from cpp_core.verdicts.language import percent

TRAIN = CALIBRATE = 673
DIGITS = range(10)
HARD = 0.1
"""Share of the hard cases."""
KINDS = {"all": "One bound for all", "each": "One bound per digit"}


@lru_cache(maxsize=1)
def _images() -> tuple[NDArray, NDArray]:
    X, y = load_digits(return_X_y=True)
    return X / 16, y


def one_split(rng: np.random.Generator) -> dict[str, NDArray]:
    """What a bound for all, and bounds for each digit, catch in one re-split.

    For each digit and, last, overall.
    """
    X, y = _images()
    order = rng.permutation(len(y))
    train, calibrate, test = np.split(order, [TRAIN, TRAIN + CALIBRATE])
    model = LogisticRegression(C=0.1, max_iter=60).fit(X[train], y[train])
    loss = LOSSES["log_loss"].function
    own, new = (loss(model, X[rows], y[rows]) for rows in (calibrate, test))
    bounds = {"all": np.full(len(DIGITS), Ranked.of(own).ends(ALPHA, "upper")[1])}
    groups = [own[y[calibrate] == digit] for digit in DIGITS]
    bounds["each"] = np.array([Ranked.of(group).ends(ALPHA, "upper")[1] for group in groups])
    caught = {kind: new <= ends[y[test]] for kind, ends in bounds.items()}
    return {
        kind: np.array([*(hits[y[test] == digit].mean() for digit in DIGITS), hits.mean()])
        for kind, hits in caught.items()
    }


def over_splits(size: int, seed: int) -> Mapping[str, Average]:
    """Coverage of each digit, and overall, over re-splits of the table."""
    rng = np.random.default_rng([6, seed])
    found = [one_split(rng) for _ in range(size)]
    names = [*map(str, DIGITS), "overall"]
    return {
        f"{kind}-{name}": average([own[kind][i] for own in found])
        for kind in KINDS
        for i, name in enumerate(names)
    }


MEASURES: dict[str, Kept] = {"marginal": Kept(over_splits, 2000, 16)}


def simulated(spread: float) -> dict[str, float]:
    """What one bound catches of the easy and of the hard cases, exactly."""

    def within(q: float) -> float:
        return float(2 * ndtr(q) - 1)

    def short(q: float) -> float:
        return (1 - HARD) * within(q) + HARD * within(q / spread) - PROMISE

    q = float(brentq(short, 0.1, 50.0, xtol=1e-12))
    return {"bound": q, "easy": within(q), "hard": within(q / spread)}


def _bars(labels: list[str], covers: list[float], title: str, caption: str, dark: bool) -> Panel:
    """A bar for each group, the lowest in another colour, and the promise."""
    chart = Sketch()
    lowest = int(np.argmin(covers))
    colors = [MAGENTA if i == lowest and covers[i] < PROMISE else BLUE for i in range(len(covers))]
    more: Settings = {"text": [percent(share) for share in covers], "textposition": "inside"}
    more |= {"insidetextanchor": "start", "textangle": 0 if len(covers) < 5 else -90}
    more |= {"textfont": {"size": 14, "color": "#FFFFFF"}, "constraintext": "none"}
    chart.bar(np.arange(len(covers)), covers, {"color": colors}, "%{y:.1%}", **more)
    chart.line([-0.6, len(covers) - 0.4], [PROMISE] * 2, stroke(dark, "dash"), "")
    ticks = {"tickvals": list(range(len(labels))), "ticktext": labels, "zeroline": False}
    told = [count_line("caught of each group; dashed: the promise")]
    x = {**ticks, "range": [-0.6, len(covers) - 0.4], "automargin": True}
    y = {**shares("", 0, 1), "range": [0, 1.02]}
    chart.frame(320, xaxis=x, yaxis=y, bargap=0.25, annotations=told)
    table = pd.DataFrame({"group": labels, "coverage": covers})
    return Panel("groups", title, chart, caption, f"A bar for each group. {title}.", table)


def scene(values: Values, dark: bool) -> Shown:
    """Digits or the simulation."""
    return _digits(values["kind"], dark) if values["data"] == "digits" else _hard(values, dark)


def _digits(kind: str, dark: bool) -> Shown:
    kept = stored("marginal")
    covers = [kept[f"{kind}-{digit}"].mean for digit in DIGITS]
    lowest, highest = int(np.argmin(covers)), int(np.argmax(covers))
    overall = kept[f"{kind}-overall"].mean
    facts = {str(digit): share for digit, share in zip(DIGITS, covers, strict=True)}
    facts |= {"lowest": covers[lowest], "highest": covers[highest], "overall": overall}
    finding = percent(covers[lowest])
    if kind == "all":
        said = (
            f"of images of an {lowest} stay below the bound that {percent(overall)} of all images "
            f"keep. Images of a {highest}: {percent(covers[highest])}."
        )
    else:
        said = (
            f"is the lowest now: with a calibration of its own, every digit catches between "
            f"{percent(covers[lowest])} and {percent(covers[highest])}."
        )
    caption = "Averages over 2,000 re-splits of the bundled images of digits; logistic regression."
    title = f"Between {percent(covers[lowest])} and {percent(covers[highest])} of each digit caught"
    panel = _bars([str(digit) for digit in DIGITS], covers, title, caption, dark)
    told = "One model; the other half calibrates" + ("." if kind == "all" else ", digit by digit.")
    seen = layout(rows_of(plain(24)), 24, dark, told)
    return Shown(finding, said, (panel,), _CODE.format(kind=kind), facts, (seen,))


def _hard(values: Values, dark: bool) -> Shown:
    spread = values["spread"]
    facts = simulated(spread)
    harder = f"with losses {spread:g} times as large."
    if spread == 1:
        harder = "and not harder than the others yet. Let their losses grow."
    said = (
        "of the hard cases stay below a bound that 90 % of all cases keep. They are a tenth of "
        f"all, {harder}"
    )
    labels = ["easy: 90 % of cases", "hard: 10 % of cases"]
    title = f"Caught: {percent(facts['easy'])} of easy and {percent(facts['hard'])} of hard cases"
    caption = "Exact figures for losses that are Normal without their sign."
    panel = _bars(labels, [facts["easy"], facts["hard"]], title, caption, dark)
    code = _CODE_HARD.format(spread=spread)
    return Shown(percent(facts["hard"]), said, (panel,), code, facts)


_CODE = """\
from cpp_core.lessons.stored import stored

for digit in range(10):
    print(stored("marginal")[f"{kind}-{{digit}}"].mean)  # over 2,000 re-splits

# With data of your own, one bound per group:
# cpp = CandidateCPP(model).fit(X_train, y_train).conformalize(X_cal, y_cal, groups=g_cal)
# cpp.predict_interval(groups=g_new, confidence_level=0.9, side="upper")
"""
_CODE_HARD = """\
from scipy.optimize import brentq
from scipy.stats import halfnorm

hard, spread = 0.1, {spread}
q = brentq(lambda q: (1 - hard) * halfnorm.cdf(q) + hard * halfnorm.cdf(q / spread) - 0.9, 0.1, 50)
print(halfnorm.cdf(q), halfnorm.cdf(q / spread))  # easy and hard cases below the bound
"""


def _cover(dark: bool) -> Drawing:
    """Ten bars and the promise."""
    sheet, kept = cover(dark), stored("marginal")
    covers = [kept[f"all-{digit}"].mean for digit in DIGITS]
    for i, share in enumerate(covers):
        height = 150 * (share - 0.5)
        color = MAGENTA if share == min(covers) else BLUE
        sheet.rect(10 + 18 * i, 88 - height, 14, height, color, opacity=0.85)
    level = 88 - 150 * (PROMISE - 0.5)
    sheet.line([(4, level), (196, level)], sheet.ink, stroke_dasharray="5 4")
    return sheet.drawing("Ten bars of different heights and a dashed line")


_DIGITS, _SIMULATED = ("data", ("digits",)), ("data", ("simulated",))
LEAST = scores_needed(ALPHA, "upper")

LESSON = Lesson(
    name="marginal-is-not-conditional",
    title="Marginal is not conditional",
    question="Overall 90 %. And the eights?",
    opening=(
        "A model reads digits. Of all new images, 90 % stay below its bound. You care for one "
        "digit: how many of those do?"
    ),
    controls=(
        Pick("data", "Cases", {"digits": "Digits", "simulated": "A hard tenth"}, "digits"),
        Pick("kind", "Calibration", KINDS, "all", when=_DIGITS),
        Slider("spread", "Losses of the hard cases, times", 1.0, 10.0, 3.0, 0.5, when=_SIMULATED),
    ),
    scene=scene,
    cover=_cover,
    words=(
        "The promise counts over all new cases together (it is *marginal*). Misses gather where "
        "losses are large, here at the eights. Nothing is broken, the 90 % hold. If each group "
        "must have its own 90 %, calibrate within each group: its losses alone set its bound. That "
        f"needs at least {LEAST} calibration cases in every group, groups that were fixed before "
        "looking, and it gives hard groups a larger bound."
    ),
    formula=(
        r"$P(\text{new} \le q) \ge 1-\alpha$ does not give "
        r"$P(\text{new} \le q \mid g) \ge 1-\alpha$ for a group $g$ of share $\pi$; all that "
        r"follows is at least $\max(0, 1 - \alpha/\pi)$. Group-calibrated: $q_g = s_{(r_g)}$ with "
        r"$r_g = \lceil (k_g+1)(1-\alpha) \rceil$ among the $k_g$ losses of $g$."
    ),
    check=Check(
        "A group has 5 % of the cases. How low may its coverage be under a 90 % bound?",
        "0: all its cases are 5 %, and 10 % may be missed. The floor is 1 − 0.1/0.05, or 0 where "
        "that is negative.",
    ),
    caveat=(
        "Figures of the digits are averages over re-splits of this one table; another table or "
        "model has other weak groups. Sizes belong to these settings."
    ),
)
