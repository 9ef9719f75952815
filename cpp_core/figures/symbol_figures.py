"""Figures of kinds of error: how often each is left, and which are left at one case."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cpp_core.checks import Level
from cpp_core.figures.panels import Panel, diamond, fill, framed, look, plain, rows_layout, too_few
from cpp_core.figures.sketch import Sketch
from cpp_core.trials.results import Results, SymbolicLosses
from cpp_core.verdicts.language import confidence, counted, listed, number, percent

LABELS = {"FP": "FP<br>(false positive)", "FN": "FN<br>(false negative)"}


def symbol_bars(results: Results, alpha: Level = 0.1) -> Panel:
    """For kinds of error: in which share of the test cases the set holds each symbol."""
    if not results.experiment.kind.symbolic:
        raise ValueError("These results are numbers, not symbols; use interval_histograms.")
    figure, rows, alone, readings = Sketch(), [], [], []
    for name in results.algorithms:
        reader, shown = results.reader(name), look(name)
        assert isinstance(reader, SymbolicLosses)
        sets = reader.sets(alpha)
        happened = reader.arrays["test_symbol"].astype(int)
        held = sets.mean(axis=(0, 1))
        size = float(sets.sum(axis=2).mean())
        covered = float(np.take_along_axis(sets, happened[..., None], axis=2).mean())
        reading = f"{shown.label}: {number(size)} symbols on average, {percent(covered)} covered"
        readings.append(reading)
        alone.append((shown.label, float((sets[..., 0] & (sets.sum(axis=2) == 1)).mean())))
        for symbol, share, real in zip(
            reader.symbols, held, _frequencies(happened, len(reader.symbols)), strict=True
        ):
            rows.append(
                {
                    "algorithm": name,
                    "symbol": symbol,
                    "share_of_sets": float(share),
                    "share_happened": real,
                    "mean_set_size": size,
                    "coverage": covered,
                }
            )
        figure.bar(
            x=[LABELS.get(symbol, symbol) for symbol in reader.symbols],
            y=plain(100 * held),
            marker={**fill(name), "pattern": {"shape": shown.hatch, "size": 8}},
            name=f"{shown.label}: {number(size)} on average",
            customdata=[percent(float(share)) for share in held],
            hovertemplate=f"{shown.label}: %{{x}} is in %{{customdata}} of the sets<extra></extra>",
        )
    framed(figure, 340, showlegend=True, barmode="group", bargap=0.2)
    figure.set(
        xaxis={"automargin": True, "type": "category"},
        yaxis={
            "title": {"text": "sets that hold the symbol"},
            "ticksuffix": " %",
            "range": [0, 103],
            "automargin": True,
        },
    )
    data = pd.DataFrame(rows)
    title = "Nothing but Correct is left: " + listed(
        f"{label} in {percent(share)}" for label, share in alone
    )
    title += " of the sets"
    missing = too_few(results, alpha, "upper")
    caption = (
        f"Over the test cases of {counted(len(results.trials), 'trial')}, promised "
        f"{confidence(alpha)}. {'; '.join(readings)}."
    )
    caption += f" All possible symbols are kept: there is {missing}." if missing else ""
    alt = f"Grouped bars per symbol. {title}."
    return Panel("symbols", title, figure, caption, alt, data)


def _frequencies(happened: NDArray, count: int) -> list[float]:
    return (np.bincount(happened.ravel(), minlength=count) / happened.size).tolist()


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
    figure, rows, readings, covered = Sketch(), [], [], []
    x = [LABELS.get(symbol, symbol) for symbol in symbols]
    for row, (name, held) in enumerate(sets.items()):
        shown, seen = look(name), [int((happened[name] == symbol).sum()) for symbol in symbols]
        kept = [symbol for symbol, there in zip(symbols, held, strict=True) if there]
        inside = sum(n for n, there in zip(seen, held, strict=True) if there)
        readings.append(f"{shown.label} {' or '.join(kept)}")
        covered.append(f"{shown.label} {inside} of {sum(seen)}")
        words = ["in the set" if there else "ruled out" for there in held]
        figure.scatter(
            x=x,
            y=[row] * len(x),
            mode="markers",
            marker={
                "symbol": ["square" if there else "square-open" for there in held],
                "size": 38,
                "color": [shown.color if there else "#8a8a8a" for there in held],
                "opacity": [1.0 if there else 0.5 for there in held],
            },
            customdata=words,
            hovertemplate=f"{shown.label}: %{{x}} is %{{customdata}}<extra></extra>",
            showlegend=False,
        )
        real = [i for i, n in enumerate(seen) if n]
        figure.scatter(
            x=[x[i] for i in real],
            y=[row] * len(real),
            mode="markers+text",
            marker=diamond(dark, 11),
            text=[f"{seen[i]} ×" for i in real],
            textposition="middle right",
            texttemplate="\u2003\u2003%{text}",
            name="what happened",
            hovertemplate=f"{shown.label}: %{{x}}, %{{text}}<extra></extra>",
            showlegend=row == 0,
        )
        rows += [
            {"algorithm": name, "symbol": symbol, "in_set": bool(there), "happened": n}
            for symbol, there, n in zip(symbols, held, seen, strict=True)
        ]
    framed(figure, 110 + 64 * len(sets), showlegend=True)
    figure.set(
        xaxis={"type": "category", "categoryarray": x, "automargin": True, "showgrid": False},
        yaxis=rows_layout([look(name).label for name in sets]),
    )
    figure.axis("x", {"range": [-0.5, len(x) - 0.5]})
    title = f"Left at this case: {', '.join(readings)}"
    caption = (
        f"Full squares: the set at this case; open ones are ruled out. Diamonds: what happened, in "
        f"the set for {listed(covered)}. The promise holds over cases drawn at random, not for "
        "this one."
    )
    return Panel("case-symbols", title, figure, caption, f"Squares. {title}.", pd.DataFrame(rows))
