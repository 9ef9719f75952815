"""Figures of kinds of error: how often each is left, and which are left at one case."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.figures.panels import GREY, Panel, diamond, fill, look, rows_layout
from cpp_core.figures.sketch import Settings, Sketch
from cpp_core.trials.results import Results
from cpp_core.verdicts.coverage import too_few
from cpp_core.verdicts.language import confidence, counted, number, percent
from cpp_core.verdicts.symbols_left import (
    covered_words,
    happened_words,
    left_title,
    symbols_at,
    symbols_seen,
    symbols_title,
)

LABELS = {"FP": "FP<br>(false positive)", "FN": "FN<br>(false negative)"}


def symbol_bars(
    results: Results, alpha: Level = 0.1, side: str = "upper", dark: bool = False
) -> Panel:
    """For kinds of error: in which share of the test cases the set holds each symbol.

    A set of symbols has no ``side``, and nothing in its chart is ``dark``.
    """
    if not results.experiment.kind.symbolic:
        raise ValueError("These results are numbers, not symbols; use interval_histograms.")
    figure, frames, found = Sketch(), [], symbols_seen(results, alpha)
    for name, seen in found.items():
        shown, shares = look(name), {"share_of_sets": seen.held, "share_happened": seen.happened}
        frame = pd.DataFrame({"algorithm": name, "symbol": seen.symbols, **shares})
        frames.append(frame.assign(mean_set_size=seen.size, coverage=seen.covered))
        marker = {**fill(name), "pattern": {"shape": shown.hatch, "size": 8}}
        hover = f"{shown.label}: %{{x}} is in %{{customdata}} of the sets"
        more: Settings = {"name": f"{shown.label}: {number(seen.size)} on average"}
        more |= {"customdata": [percent(float(share)) for share in seen.held]}
        figure.bar(_symbol_labels(seen.symbols), 100 * seen.held, marker, hover, **more)
    x = {"automargin": True, "type": "category"}
    y: Settings = {"automargin": True, "title": {"text": "sets that hold the symbol"}}
    y |= {"ticksuffix": " %", "range": [0, 103]}
    figure.frame(340, showlegend=True, barmode="group", bargap=0.2, xaxis=x, yaxis=y)
    n, every = len(results.trials), list(found.values())
    title = symbols_title(every, n)
    caption = (
        f"The test cases of all {counted(n, 'trial')}. What happened is in {covered_words(every)}: "
        f"promised are {confidence(alpha)}. In the legend: symbols in a set."
    )
    missing = too_few(results, alpha, "upper")
    caption += f" All possible symbols are kept: there is {missing}." if missing else ""
    alt = f"Grouped bars per symbol. {title}."
    data = pd.concat(frames, ignore_index=True)
    return Panel("symbols", title, figure, caption, alt, data)


def symbol_grid(
    symbols: Sequence[str],
    sets: Mapping[str, NDArray],
    happened: Mapping[str, NDArray],
    dark: bool = False,
) -> Panel:
    """One case: squares for the symbols of each algorithm's set, diamonds for what happened.

    By algorithm, ``sets`` says which of the ``symbols`` are held, ``happened`` lists the symbols
    that trained candidates gave at the case.
    """
    if not sets:
        raise ValueError("There is no set to draw; give at least one algorithm.")
    figure, rows, found = Sketch(), [], symbols_at(symbols, sets, happened)
    for row, (name, held) in enumerate(sets.items()):
        seen = list(found[name].seen.values())
        own = pd.DataFrame({"algorithm": name, "symbol": symbols, "in_set": held, "happened": seen})
        rows.append(own)
        _draw_symbols(figure, row, own)
        _draw_seen(figure, row, own[own["happened"] > 0], look(name).label, dark)
    x = {"type": "category", "categoryarray": _symbol_labels(symbols), "automargin": True}
    x |= {"showgrid": False, "range": [-0.5, len(symbols) - 0.5]}
    y = rows_layout([look(name).label for name in sets])
    figure.frame(110 + 64 * len(sets), showlegend=True, xaxis=x, yaxis=y)
    every = list(found.values())
    title = left_title(every)
    caption = (
        "Full squares: the set at this case; open ones are ruled out. Diamonds: what happened, in "
        f"the set for {happened_words(every)}. The promise holds over cases drawn at random, not "
        "for this one."
    )
    data = pd.concat(rows, ignore_index=True)
    return Panel("case-symbols", title, figure, caption, f"Squares. {title}.", data)


def _symbol_labels(symbols: Iterable[str]) -> list[str]:
    return [LABELS.get(symbol, symbol) for symbol in symbols]


def _draw_symbols(figure: Sketch, row: int, own: pd.DataFrame) -> None:
    """A square for each symbol, full where it is in the set."""
    shown, held = look(own["algorithm"][0]), own["in_set"]
    marker = {
        "symbol": ["square" if there else "square-open" for there in held],
        "size": 38,
        "color": [shown.color if there else GREY for there in held],
        "opacity": [1.0 if there else 0.5 for there in held],
    }
    said = ["in the set" if there else "ruled out" for there in held]
    hover, y = f"{shown.label}: %{{x}} is %{{customdata}}", [row] * len(own)
    figure.marks(_symbol_labels(own["symbol"]), y, marker, hover, customdata=said)


def _draw_seen(figure: Sketch, row: int, real: pd.DataFrame, label: str, dark: bool) -> None:
    """A diamond with a count for each symbol that happened."""
    figure.marks(
        _symbol_labels(real["symbol"]),
        [row] * len(real),
        diamond(dark, 11),
        f"{label}: %{{x}}, %{{text}}",
        mode="markers+text",
        text=[f"{n} ×" for n in real["happened"]],
        textposition="middle right",
        texttemplate="\u2003\u2003%{text}",
        name="what happened",
        showlegend=row == 0,
    )
