"""Before a run on a user's table: what it will do, how long it takes, and the button."""

from functools import partial
from html import escape

import streamlit as st

from cpp_core import Experiment
from cpp_core.catalog.datasets import Dataset
from cpp_core.catalog.tables import Table
from cpp_core.trials.budget import BudgetError, most_trials, usual_algorithms
from cpp_core.trials.experiment import USUAL_ALGORITHMS
from cpp_core.trials.jobs import Job
from cpp_core.verdicts.language import unbroken
from cpp_core.verdicts.table_words import (
    allowed_words,
    asked_words,
    cost_words,
    seen_words,
    spent_parts,
)
from cpp_core.verdicts.texts import spent_words
from pages.parts import brought, controls, door
from pages.parts.brought import STYLE, remembered
from pages.parts.live import UNASKED_SECONDS, jobs, visitor
from pages.parts.show import literal

OFFERED = (100, 20, 5, 1)
"""Trials, of which there are as many as the memory allows."""
REFUSED = "_data_refused"
"""In the session: why nothing can be computed, until it is told."""
SHADES = {
    "train": ("#ABD4F1", "#000"),
    "regress losses": ("#7FB8E6", "#000"),
    "calibrate": ("#1F7FC4", "#fff"),
    "test": ("#C2C2C2", "#000"),
}


def usual_of(data: Dataset) -> tuple[str, ...]:
    """Who competes on a table where nobody said who."""
    make = partial(usual_algorithms, data.name, OFFERED, jobs().n_jobs)
    return remembered("usual", (data.name,), make)


def bar_html(experiment: Experiment) -> str:
    """How the cases are spent, as a bar."""
    pieces = "".join(
        f'<div style="flex:{part.cases};background:{SHADES[part.role][0]};'
        f'color:{SHADES[part.role][1]}">{escape(part.words)}</div>'
        for part in spent_parts(experiment)
    )
    return f'{STYLE}<div class="spent">{pieces}</div>'


def trials_of(experiment: Experiment) -> int:
    """As many of the usual trials as the memory allows; at least one, which may be refused."""
    return most_trials(experiment, OFFERED, jobs().n_jobs) or min(OFFERED)


def show_run(experiment: Experiment, table: Table, told: str) -> None:
    """What will be done, what it costs, and the button; why not, where nothing can be computed."""
    trials = trials_of(experiment)
    job = first_trials(experiment, trials)
    st.markdown(f"#### {literal(asked_words(experiment, table))}")
    st.html(bar_html(experiment))
    words = seen_words(experiment) if experiment.algorithmic else spent_words(experiment)
    st.caption(unbroken(words))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Which one should I use?", type="primary", key="go", on_click=go,
            args=(experiment, trials, told), disabled=job is None,
        )  # fmt: skip
        if job is not None:
            with st.container(width="stretch"):
                show_cost(experiment, trials, job)
    refused = st.session_state.pop(REFUSED, None)
    if refused:
        st.warning(f"Nothing can be computed. {refused}")
        return
    usual, light = USUAL_ALGORITHMS[table.task], usual_of(experiment.data)
    instead = light if set(light) == set(experiment.algorithms) else usual
    fewer = allowed_words(trials, max(OFFERED), instead, usual)
    if fewer:
        st.caption(fewer)


def go(experiment: Experiment, trials: int, told: str) -> None:
    """Compute, and open Overview with the table; or leave word why not."""
    job = jobs().find(experiment, trials, 0)
    known = job is not None and job.seconds_left is not None  # the visitor has seen how long
    try:
        jobs().start(experiment, trials, 0, None if known else UNASKED_SECONDS)
    except BudgetError as error:
        st.session_state[REFUSED] = str(error)
        return
    values = door.known(brought.ASKED) | {
        "roles": told,
        "dataset": experiment.dataset,
        "algorithms": list(experiment.algorithms),
        "loss": experiment.loss,
        "trials": trials,
    }
    st.session_state.pop(controls.INSTEAD, None)  # nobody chose the loss of the table before
    door.start_anew(values, "overview")


def first_trials(experiment: Experiment, trials: int) -> Job | None:
    """The first trials, which tell how long the rest takes, and are kept.

    None above the budget, of a run or of all that go on; why is left to be told.
    """
    try:
        job = jobs().find(experiment, trials, 0)
        if job is None or job.abandoned:
            job = jobs().start(experiment, trials, 0, 0.0)
    except BudgetError as error:
        st.session_state[REFUSED] = str(error)
        return None
    return job


def show_cost(experiment: Experiment, trials: int, job: Job) -> None:
    """How much the run is; how long it takes, as soon as its first trials tell."""

    def tell() -> None:
        job.renew(visitor())
        if job.state == "failed":
            st.caption(f"The first trials stopped: {literal(job.error or '')}")
            return
        seconds = job.seconds_left
        words = cost_words(experiment, trials, seconds, jobs().n_jobs)
        waits = job.state == "running" and seconds is None
        st.caption(unbroken(words + (", timing the first ..." if waits else "")))
        if not waits and waiting:
            st.rerun()

    waiting = job.state == "running" and job.seconds_left is None
    (st.fragment(run_every=1.0)(tell) if waiting else tell)()
