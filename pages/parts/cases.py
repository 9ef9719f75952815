"""Which test case a visitor looks at: the gallery with its order and filter, the link, the case."""

import zlib
from collections.abc import Callable
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from cpp_core.trials.case_study import Study
from cpp_core.trials.gallery import Gallery, orders
from cpp_core.verdicts import case_sentences as said
from cpp_core.verdicts.language import counted, sentence
from cpp_core.verdicts.loss_words import in_parentheses
from pages.parts import door
from pages.parts.own import class_ids
from pages.parts.show import show_frame
from pages.parts.wall import COLUMNS, SHOWN, picture_uri, row_name, wall

CASE, ALL = "_case", "all labels"


def asked_case(n_cases: int) -> int | None:
    """The case that the link names, with a word where there is no such case."""
    text = st.query_params.get("case", "")
    if text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < n_cases:
        return int(text)
    if text:
        st.info(f"There is no test case {text[:20]!r}: they are numbered 0 to {n_cases - 1}.")
    return None


def choose(case: int) -> None:
    """Look at another case."""
    st.query_params["case"] = str(case)


def chosen_case(study: Study, shown: Gallery, label: str) -> int:
    """The case in the link; the first one once the order, the label or the data are others."""
    context = shown.by, label, zlib.crc32(study.X.tobytes())
    before, last = st.session_state.get(CASE, (context, None))
    if before != context:
        asked: int | None = int(shown.cases[0])
    elif "case" in st.query_params:
        asked = asked_case(len(study.y))
    else:
        asked = last  # looked at before another page was
    case = int(shown.cases[0]) if asked is None or asked not in shown.cases else asked
    if asked is not None:
        choose(case)
    st.session_state[CASE] = context, case
    return case


def choose_from(study: Study, side: str, arrange: Callable[[str, Any], Gallery]) -> int | None:
    """The gallery, with its order and a filter; the chosen case, None where there is none."""
    offered, classes = orders(study, side), class_ids(study.experiment.data)
    by, label = one_of("Order", offered, "order", offered[0], label_visibility="collapsed"), ALL
    with st.container(horizontal=True, vertical_alignment="center"):
        title = st.container()
        if classes:
            words = {ALL: ALL} | {name: str(own) for name, own in classes.items()}
            hidden: Any = {"label_visibility": "collapsed", "width": 120}
            told = door.own("label", list(words), ALL)
            label = st.selectbox(
                "Label", list(words), format_func=words.__getitem__, **hidden, **told
            )
    shown = arrange(by, classes.get(label))
    heading = said.wall_heading(study, shown)
    title.markdown(f"**{heading}**")
    if not len(shown.cases):
        total = counted(len(study.y), "test case")
        st.info(f"None of the {total} has this label; choose another one, or a smaller n.")
        return None
    case = chosen_case(study, shown, label)
    wall(study, shown, heading, case, choose)
    st.caption(said.wall_caption(study, shown, min(SHOWN, len(shown.cases))))
    return case


def one_of(words: str, options: tuple[str, ...], key: str, start: str, **more: Any) -> str:
    """A switch with a few positions."""
    told = door.own(key, options, start)
    return st.segmented_control(words, options, required=True, **more, **told)


def show_case(study: Study, case: int) -> None:
    """The case itself: its picture, or its inputs."""
    data, one = study.experiment.data, sentence(said.noun(study.experiment))
    unit, what = in_parentheses(data.unit), said.label_noun(study.experiment)
    drawn = ""
    if data.picture is not None:
        uri, style = picture_uri(data.picture(study.X[case])), "image-rendering:pixelated"
        drawn = f'<img src="{uri}" alt="" style="width:100%;max-width:9rem;{style}">'
    label = f"{what} <b>{escape(said.label_of(study, case))}</b>{unit}"
    named = row_name(study, case)
    called = f"{one} {case}" + (f": {escape(named)}" if named else "")
    st.html(f'{drawn}<div style="font-size:.9rem"><b>{called}</b>, {label}</div>')
    if data.picture is None and len(data.feature_names) > COLUMNS:
        with st.expander(f"All {len(data.feature_names)} inputs"):
            inputs = pd.DataFrame({"input": data.feature_names, "value": data.shown(study.X[case])})
            show_frame(inputs)
