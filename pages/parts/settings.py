"""What a loss costs, and how algorithms are set: for the sidebar and for Your data."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from cpp_core import ALGORITHMS
from cpp_core.catalog.costs import MOST_LABELS, UNIT, costs_of, grid_text, read_grid
from cpp_core.catalog.losses import settings_of
from cpp_core.catalog.settings import ALGORITHM_SETTINGS, LOSS_SETTINGS, settings_said
from cpp_core.report.export import harmless_names
from cpp_core.verdicts.language import counted
from pages.parts import door
from pages.parts.door import control
from pages.parts.entries import ENTRIES

GRID = "_cost_grid"
"""In the session: the grid that a widget began with, what it shows, and its number."""

_TUNED = [setting.key for own in ALGORITHM_SETTINGS.values() for setting in own]
KEYS = frozenset([*(LOSS_SETTINGS.keys() & ENTRIES.keys()), *_TUNED])
"""All that is asked of losses and algorithms, by its key in a link."""


def loss_settings(loss: str | None, classes: Sequence[Any]) -> dict[str, Any]:
    """Ask for what a loss takes: costs, a quantile, a unit."""
    usual, found = settings_of(loss or ""), dict[str, Any]()
    if "costs" in usual:
        found["costs"] = _costs(classes)
    for name, own in LOSS_SETTINGS.items():
        if own.label and name in usual:
            told = control(name, float(usual[name]))
            found[name] = st.number_input(own.label, own.low, own.high, format="%g", **told)
    if "unit" in usual:
        start = control("unit", "")
        found["unit"] = st.text_input("Unit", placeholder="such as EUR", max_chars=12, **start)
        found["unit"] = found["unit"] if UNIT.fullmatch(found["unit"]) else ""
    return {name: value for name, value in found.items() if value != usual[name] and value != {}}


def _costs(classes: Sequence[Any]) -> dict[str, dict[str, float]]:
    """Ask what each kind of error costs, in a grid; a link says it by position."""
    size = len(classes)
    if size > MOST_LABELS:
        st.caption(f"Every error costs 1: costs can be typed for up to {MOST_LABELS} classes.")
        return {}
    usual = grid_text(read_grid(None, size))
    text = grid_text(read_grid(door.shown("costs", None), size))
    base, last, number = st.session_state.get(GRID, (text, text, 0))
    if text != last:  # it was changed elsewhere: the widget begins anew
        base, number = text, number + 1
    names = harmless_names(classes)  # the browser offers the grid as CSV
    st.caption("What each prediction costs: true labels in rows, predicted ones in columns.")
    edited = st.data_editor(
        pd.DataFrame(read_grid(base, size), index=names, columns=names),
        key=f"costs-{size}-{number}",
        column_config={
            name: st.column_config.NumberColumn(
                min_value=-1e8, max_value=1e8, format="%g", width=72
            )
            for name in names
        },
        width="stretch",
    )
    rows = edited.fillna(0.0).to_numpy().round(6).tolist()
    shown = grid_text(rows)
    st.session_state[GRID] = base, shown, number
    if shown != text:
        door.tell("costs", None if shown == usual else shown)
    if shown == usual:
        return {}
    if len({cost for row in rows for cost in row}) < 2:
        st.caption("All costs are equal: nothing can be lost. Every error costs 1 instead.")
        return {}
    return costs_of(classes, rows)


def algorithm_settings(rivals: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Ask for the main settings of the algorithms that compete; those that are not usual."""
    offered = {name: ALGORITHM_SETTINGS[name] for name in rivals if name in ALGORITHM_SETTINGS}
    if not offered:
        return {}
    keys = [setting.key for settings in offered.values() for setting in settings]
    changed = sum(map(len, settings_said(door.known(keys)).values()))
    title = "Algorithm settings"
    with st.expander(f"{title} ({counted(changed, 'change')})" if changed else title):
        values = {}
        for name, settings in offered.items():
            st.caption(f"**{ALGORITHMS[name].label}**")
            for setting in settings:
                told = control(setting.key, setting.default)
                decimal: Any = {} if isinstance(setting.default, int) else {"format": "%g"}
                values[setting.key] = st.number_input(
                    setting.label, setting.low, setting.high, step=setting.step, **decimal, **told
                )
    return settings_said(values)
