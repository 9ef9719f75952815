"""A table with names that are a visitor's own: they stay names, whatever letters they have."""

from collections.abc import Mapping
from html import escape

import streamlit as st

from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.summary import Table
from pages.parts.show import literal

MODELS = ("model", "algorithm")
"""The columns whose cells name what has a colour."""

STYLE = """<style>
.found {overflow-x: auto}
.found table {border-collapse: collapse; width: 100%}
.found th {font-weight: 400; font-size: .85rem; opacity: .75; text-align: left}
.found td {vertical-align: top}
.found td:last-child {min-width: 8rem}
.found td:not(:last-child), .found th {white-space: nowrap}
.found th, .found td {padding: .35rem .8rem .35rem 0}
.found tr + tr {border-top: 1px solid rgba(128, 128, 128, .3)}
@media (max-width: 640px) {
  .found td:not(:last-child), .found th {white-space: normal}
  .found th, .found td {padding-right: .4rem; font-size: .85rem}
  .found td:last-child {min-width: 5rem}
}
</style>"""


def table_html(table: Table, colors: Mapping[str, str]) -> str:
    """A table in HTML, with the colour of each model."""

    def cell(head: str, value: str) -> str:
        named = head in MODELS and value in colors  # a group may be called like a model
        mark = f'<span style="color:{colors[value]}">■</span> ' if named else ""
        return f"<td>{mark}{escape(unbroken(value))}</td>"

    head = "".join(f"<th>{escape(unbroken(name))}</th>" for name in table.head)
    rows = [
        "".join(cell(of, str(value)) for of, value in zip(table.head, row, strict=True))
        for row in table.rows
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="found"><table><tr>{head}</tr>{body}</table></div>'


def show_named(table: Table, colors: Mapping[str, str]) -> None:
    """The table, and how to read it; ``colors`` are those of the models."""
    st.html(STYLE + table_html(table, colors))
    st.caption(literal(table.caption))
