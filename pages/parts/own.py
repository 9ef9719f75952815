"""A visitor's own tables: in the memory of this session alone, and forgotten after it.

The server knows a table by the hash of its content while a session holds it. A session that does
not hold it cannot choose it, whatever its link says. Nothing is written to a disk, a log or a link
but that hash.
"""

import re
import time
from threading import Lock, Thread
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from cpp_core.catalog.datasets import DIGITS, OWN, Dataset, forget, register
from cpp_core.catalog.roles import Source
from cpp_core.trials.budget import budget
from pages.parts.keeping import DRAWN, REPORTS, STUDIED

HELD = "_own_tables"
"""In the session: what is held, by the table's name."""


class Held(NamedTuple):
    """A table, with what only its visitor knows of it: its file, and names of its rows."""

    data: Dataset
    source: Source
    names: pd.Series | None = None


NAME = re.compile(rf"table-[0-9a-f]{{{DIGITS}}}")
MINUTES = 30
"""So long after the last click of a visitor a table is forgotten."""

WANTED = "_wanted_page"
"""In the session: the page of a link about a table that was not there."""

_seen: dict[str, float] = {}
_changing = Lock()


def held() -> dict[str, Held]:
    """The tables of this session, which are known to the server from now on."""
    tables: dict[str, Held] = st.session_state.get(HELD, {})
    for name, own in tables.items():
        with _changing:
            register(own.data)
            _seen[name] = time.monotonic()
    return tables


def source_of(name: str) -> Source | None:
    """The file of a table that this session holds."""
    tables: dict[str, Held] = st.session_state.get(HELD, {})
    return tables[name].source if name in tables else None


def row_names(name: str) -> pd.Series | None:
    """The names of a table's rows, where its visitor said which column has them."""
    tables: dict[str, Held] = st.session_state.get(HELD, {})
    return tables[name].names if name in tables else None


def hold(data: Dataset, source: Source, names: pd.Series | None = None) -> None:
    """Keep a table in this session, instead of any other."""
    if data.name not in st.session_state.get(HELD, {}):
        let_go()
    st.session_state[HELD] = {data.name: Held(data, source, names)}
    held()
    trim()
    _watch()


def let_go() -> None:
    """Hold no table any more; the server forgets it soon, unless others use the same."""
    for name in st.session_state.pop(HELD, {}):
        with _changing:
            _seen[name] = time.monotonic() - 60 * (MINUTES - 1)


def trim() -> None:
    """Know no more tables than there is room for: those that were not used for longest go first.

    A session that holds one makes it known again when it is used.
    """
    with _changing:
        total = sum(map(_size, OWN.values()))
        for name in sorted(_seen, key=lambda own: _seen[own])[:-1]:
            if total > budget() and name in OWN:
                total -= _size(OWN[name])
                del _seen[name]
                forget(name)


def _size(data: Dataset) -> int:
    return sum(own.nbytes for own in data.table or ())


def sweep(now: float) -> None:
    """Forget what no session has used for half an hour."""
    with _changing:
        over = [name for name, last in _seen.items() if now - last > 60 * MINUTES]
        for name in over:
            del _seen[name]
            forget(name)
    if over:  # what was made of them may show names and rows; of others it is made again
        for kept in (STUDIED, DRAWN, REPORTS):
            kept.let_go()


def class_ids(data: Dataset) -> dict[str, Any]:
    """Labels by what a link calls them: those of a user's table are its cells, and have places."""
    return {f"c{i}" if data.own else str(label): label for i, label in enumerate(data.classes)}


def absent(name: str | None) -> bool:
    """Whether this names a user's table that the session does not hold."""
    return bool(name and NAME.fullmatch(name)) and name not in held()


@st.cache_resource(show_spinner=False)
def _watch() -> Thread:
    """One thread for the server that forgets tables in time."""

    def go_on() -> None:
        while True:
            time.sleep(60)
            sweep(time.monotonic())

    thread = Thread(target=go_on, name="forget-tables", daemon=True)
    thread.start()
    return thread
