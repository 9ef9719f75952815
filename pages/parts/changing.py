"""What if a case had other values? A form with its values, and what would be said then.

What a visitor types stays in the session: it is their own, and in no link.
"""

import math
from datetime import date
from typing import Any

import pandas as pd
import streamlit as st

from cpp_core.catalog.columns import Column
from cpp_core.trials.case_study import CaseStudy
from cpp_core.verdicts.case_sentences import label_noun
from cpp_core.verdicts.language import counted
from pages.parts import own

ASKED, MOST = "_what_if", 12
"""In the session: the values that were asked for; inputs that a form shows at once."""

GAP = "missing"
EPOCH, EARLIEST, LATEST = date(1970, 1, 1), date(1800, 1, 1), date(2200, 12, 31)


def _columns(study: CaseStudy) -> tuple[Column, ...]:
    """What the inputs hold; numbers where nobody typed them."""
    data = study.experiment.data
    return data.columns or tuple(Column(name, "number", 0) for name in data.feature_names)


def _input(column: Column, value: float, key: str) -> float:
    """A control for one value, whatever it holds."""
    if column.levels or column.kind == "boolean":
        texts = list(column.levels) or ["False", "True"]
        options = [*texts, *([GAP] if column.missing or math.isnan(value) else [])]
        start = len(options) - 1 if math.isnan(value) else int(value)
        chosen = st.selectbox(column.name, options, start, key=key)
        return math.nan if chosen == GAP and chosen not in texts else float(texts.index(chosen))
    if column.kind == "date":
        day = None if math.isnan(value) else EPOCH + pd.Timedelta(days=math.floor(value))
        picked = st.date_input(column.name, day, EARLIEST, LATEST, key=key)
        within = 0.0 if math.isnan(value) else value - math.floor(value)
        return math.nan if picked is None else (picked - EPOCH).days + within
    known = None if math.isnan(value) else float(value)
    given = st.number_input(column.name, value=known, format="%g", placeholder=GAP, key=key)
    return math.nan if given is None else float(given)


def _label(study: CaseStudy, case: int, key: str) -> Any:
    """The label, or the target of a regression."""
    source = own.source_of(study.experiment.dataset)
    words = label_noun(study.experiment).capitalize() if source is None else source.roles.target
    classes = study.experiment.data.classes
    if classes:
        texts = [str(label) for label in classes]
        start = texts.index(str(study.y[case]))
        return classes[texts.index(st.selectbox(words, texts, start, key=key))]
    return float(st.number_input(words, value=float(study.y[case]), format="%g", key=key))


def asked_values(study: CaseStudy, case: int) -> tuple[tuple[float, ...], Any] | None:
    """The inputs and the label that a visitor asks about; None where nothing was changed."""
    columns, context = _columns(study), (study.experiment.dataset, study.seed, case)
    start = [float(value) for value in study.X[case]]
    with st.expander("What if? Change its values"):
        names = [column.name for column in columns]
        chosen = names
        if len(names) > MOST:
            words = f"Which of {counted(len(names), 'input')}"
            chosen = st.multiselect(words, names, names[:3], key=f"which-{case}")
        with st.form(f"what-if-{case}", border=False):
            values, places = list(start), st.columns(3)
            for i, column in enumerate(columns):
                if column.name in chosen and column.kind != "constant":
                    with places[i % 3]:
                        values[i] = _input(column, start[i], f"what-{case}-{i}")
            with places[len(columns) % 3]:
                label = _label(study, case, f"what-{case}-label")
            sent = st.form_submit_button("What then?", type="primary")
    if sent:
        st.session_state[ASKED] = context, (tuple(values), label)
    before, asked = st.session_state.get(ASKED, (None, None))
    same = asked == (tuple(start), study.y[case])
    return asked if before == context and not same else None
