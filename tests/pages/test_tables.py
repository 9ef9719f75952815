"""Tables on pages: the browser offers each as CSV, cell by cell, which no spreadsheet executes."""

from pathlib import Path

import pandas as pd
from streamlit.testing.v1 import AppTest

from cpp_core.report.export import FORMULA_STARTS

PAGES = Path(__file__).parents[2] / "pages"
EVIL = ["=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "\t=1", "＝1", "fine"]


def texts(frame):
    """All that a CSV of a shown table has, but for numbers."""
    cells = [cell for name in frame for cell in frame[name] if isinstance(cell, str)]
    return [*map(str, frame.columns), *map(str, frame.index), *cells]


def test_no_cell_of_a_shown_table_begins_like_a_formula():
    def page(evil):
        import pandas as pd

        from pages.parts.show import show_frame

        when = pd.to_datetime(["2026-01-01"] * len(evil))
        frame = pd.DataFrame({"=name": evil, "x": -1.5, "kind": pd.Categorical(evil), "when": when})
        show_frame(frame)

    at = AppTest.from_function(page, args=(EVIL,)).run()
    assert not at.exception
    shown = at.dataframe[0].value
    assert not [text for text in texts(shown) if text.startswith(FORMULA_STARTS)]
    assert list(shown["'=name"]) == [f"'{text}" for text in EVIL[:-1]] + ["fine"]
    assert list(shown["x"]) == [-1.5] * len(EVIL)
    assert shown["when"][0] == pd.Timestamp("2026-01-01")


def test_no_label_of_the_grid_of_costs_begins_like_a_formula():
    def page(labels):
        import streamlit as st

        from pages.parts.door import KNOWN, SHOWN
        from pages.parts.settings import _costs

        st.session_state[SHOWN] = st.session_state[KNOWN] = {}
        _costs(labels)

    for labels in (EVIL[:3], ["=1", "'=1"], [1, 2]):
        at = AppTest.from_function(page, args=(labels,)).run()
        assert not at.exception
        shown = at.dataframe[0].value if len(at.dataframe) else at.get("arrow_data_frame")[0].value
        assert shown.shape == (len(labels), len(labels))
        assert not [text for text in texts(shown) if text.startswith(FORMULA_STARTS)]


def test_tables_are_shown_in_one_way():
    shown = [
        (path.name, line.strip())
        for path in PAGES.rglob("*.py")
        for line in path.read_text().splitlines()
        if "st.dataframe(" in line or "st.table(" in line or "st.data_editor(" in line
    ]
    assert [name for name, line in shown if "editor" not in line] == ["show.py"]
    assert [name for name, line in shown if "editor" in line] == ["settings.py"]
