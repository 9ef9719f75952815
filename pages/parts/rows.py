"""The figures of each algorithm in a row."""

import streamlit as st

from cpp_core import ALGORITHMS, Results
from cpp_core.verdicts.language import counted, number, percent
from pages.parts.choices import Choice
from pages.parts.show import as_markdown, kept

TABLE_STYLE = """<style>
.figures {overflow-x: auto}
.figures table {border-collapse: collapse; width: 100%}
.figures th {font-weight: 400; font-size: .85rem; opacity: .75; text-align: right}
.figures td {font-size: 1.5rem; text-align: right; white-space: nowrap}
.figures th, .figures td {padding: .3rem .6rem}
.figures td small {font-size: .8rem; opacity: .75; display: block}
.figures td:first-child {text-align: left; font-size: 1rem; font-weight: 600}
.figures tr + tr {border-top: 1px solid rgba(128, 128, 128, .3)}
</style>"""


def figures_table(results: Results, alpha: float, side: str) -> tuple[str, str]:
    """One row of figures per algorithm as HTML, and how to read it."""
    n, rows = len(results.trials), []
    symbolic, sign = results.experiment.kind.symbolic, results.experiment.measure.sign
    bad = "upper" if sign > 0 else "lower"
    names = {"two-sided": ["lower", "upper"], "upper": [bad]}[side]
    head = ["Symbols in a set"] if symbolic else [f"{name.capitalize()} end" for name in names]
    if not symbolic:
        head += ["Width", "Average test loss"] if side == "two-sided" else ["Average test loss"]
        unit = results.experiment.measure.unit
        head = [f"{name} ({unit})" if unit else name for name in head]
    for name, found in results.summary(alpha, side).items():
        look, cells = ALGORITHMS[name], []
        for end in [] if symbolic else names:
            infinite = found[f"{end}_infinite"]
            more = f"<small>{infinite:,} of {n:,} not finite</small>" if infinite else ""
            cells.append(number(found[f"{end}_median"]) + more)
        if symbolic or side == "two-sided":
            cells.append(number(found["width_mean"]))
        if not symbolic:
            cells.append(number(found["mean_test_loss"]))
        low, high = percent(found["new_loss_cover_low"]), percent(found["new_loss_cover_high"])
        cells.append(f"{percent(found['new_loss_cover_rate'])}<small>{low} to {high}</small>")
        mark = f'<span style="color:{look.color}">■</span> {look.label}'
        rows.append("".join(f"<td>{cell}</td>" for cell in [mark, *cells]))
    top = "".join(f"<th>{cell}</th>" for cell in ["", *head, "New loss covered"])
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    told = "means" if symbolic else "medians of the ends, means of the rest"
    caption = (
        f"Over {counted(n, 'trial')}: {told}. New loss covered: the share of the trials whose one "
        f"new loss was covered, with its exact 95 % interval; promised is at least "
        f"{percent(1 - alpha)}."
    )
    return f'<div class="figures"><table><tr>{top}</tr>{body}</table></div>', caption


def show_figures(results: Results, choice: Choice) -> None:
    """One row of figures per algorithm, and what went wrong in training."""
    content, caption = kept(figures_table, results, choice.alpha, choice.side)
    with st.container(border=True):
        st.html(TABLE_STYLE + content)
        st.caption(as_markdown(caption))
    for name in results.algorithms:
        arrays = results.arrays[name]
        failed, label = int(arrays["failed"].sum()), ALGORITHMS[name].label
        undefined = int(arrays["undefined"].sum()) if "undefined" in arrays else 0
        if failed:
            st.caption(f"{label}: {counted(failed, 'training run')} raised an error: worst loss.")
        if undefined:
            st.caption(f"{label}: the metric was undefined on {undefined:,} batches: worst value.")
