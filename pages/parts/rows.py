"""The figures of each algorithm in a row."""

import streamlit as st

from cpp_core import ALGORITHMS, Results
from cpp_core.verdicts.language import counted
from cpp_core.verdicts.summary import Table, figures_table
from pages.parts.choices import Choice
from pages.parts.show import as_markdown, explained, kept


def table_html(table: Table) -> str:
    """The table with a colour for each algorithm; what stands in parentheses is small."""

    def cell(text: str) -> str:
        figure, _, more = text.rstrip(")").partition(" (")
        return f"<td>{figure}<small>{more}</small></td>" if more else f"<td>{figure}</td>"

    seen: set[str] = set()
    top = "".join(f"<th>{explained(text, seen)}</th>" for text in ["", *table.head[1:]])
    rows = []
    for name, (label, *cells) in zip(table.names, table.rows, strict=True):
        mark = f'<td><span style="color:{ALGORITHMS[name].color}">■</span> {label}</td>'
        rows.append(f"<tr>{mark}{''.join(map(cell, cells))}</tr>")
    return f'<div class="figures"><table><tr>{top}</tr>{"".join(rows)}</table></div>'


def show_figures(results: Results, choice: Choice) -> None:
    """One row of figures per algorithm, and what went wrong in training.

    Of one algorithm alone the strip has said them.
    """
    if len(results.algorithms) > 1 or results.experiment.kind.symbolic:
        table = kept(figures_table, results, choice.alpha, choice.side)
        with st.container(border=True):
            st.html(table_html(table))
            st.caption(as_markdown(table.caption))
    for name in results.algorithms:
        arrays = results.arrays[name]
        failed, label = int(arrays["failed"].sum()), ALGORITHMS[name].label
        undefined = int(arrays["undefined"].sum()) if "undefined" in arrays else 0
        if failed:
            st.caption(f"{label}: {counted(failed, 'training run')} raised an error: worst loss.")
        if undefined:
            st.caption(
                f"{label}: the metric was undefined on {counted(undefined, 'batch')}: worst value."
            )
