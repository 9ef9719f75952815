"""Your data: drop a table, see it understood and checked, and ask which algorithm to use."""

from typing import Any

import streamlit as st

from cpp_core import ALGORITHMS, LOSSES, Experiment, Results
from cpp_core.catalog.algorithms import prepares
from cpp_core.catalog.checkups import Finding, checkups, still_open, warnings_of
from cpp_core.catalog.datasets import Dataset
from cpp_core.catalog.example_tables import EXAMPLE_TABLES
from cpp_core.catalog.losses import USUAL_OF_TABLES, suits
from cpp_core.catalog.roles import Roles, Source, roles_text
from cpp_core.catalog.tables import Table, Typed, dataset_of
from cpp_core.trials.budget import BudgetError, check_budget
from cpp_core.trials.experiment_checks import MAX_ALGORITHMS
from cpp_core.trials.latest import latest_held_out
from cpp_core.trials.own import own_of, packed
from cpp_core.trials.watching import Watched
from cpp_core.verdicts.drift import NO_PROMISE, latest_only, latest_table
from cpp_core.verdicts.loss_words import loss_choice
from cpp_core.verdicts.spending import enough, needs_table
from cpp_core.verdicts.table_words import understood
from cpp_core.verdicts.tour_words import EXAMPLE
from pages.parts import brought, controls, door, own, settings, tour
from pages.parts.brought import FILE, READ, STYLE, remembered
from pages.parts.first_run import show_run, trials_of, usual_of
from pages.parts.live import awaited, jobs
from pages.parts.shell import page
from pages.parts.show import as_html, literal, show_table

ALPHA = 0.1
"""The level of the hold-out in time."""
STAYS = (
    "Stays in memory, for you alone; a reload asks for the file again. "
    f"Forgotten {own.MINUTES} minutes after you leave."
)


def take_tour() -> None:
    """Begin the tour, with its example."""
    tour.begin()
    example = EXAMPLE_TABLES[EXAMPLE]
    brought.start(example.file, example.content, example.name)


def invite() -> None:
    """Say what to bring; four examples for those who have no file at hand."""
    st.title("Which algorithm suits your table?")
    st.markdown("Drop a table, name what to predict, and get a verdict with a stated guarantee.")
    if own.absent(door.value_of("dataset", None)):
        st.info("The link that you opened is about a table that is not here: drop the same file.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        brought.uploader()
        st.caption(STAYS)
    with right:
        st.markdown("**Bring** CSV, TSV, Parquet or Excel: a row per case, names above columns.")
        st.caption("Numbers, categories, dates, truth values and gaps are understood.")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Or try one of these** (simulated), or")
        st.button("take the tour of two minutes", key="tour", type="tertiary", on_click=take_tour)
    for place, example in zip(st.columns(4), EXAMPLE_TABLES.values(), strict=True):
        with place.container(border=True, height="stretch"):
            st.button(
                example.label,
                key=f"example-{example.name}",
                on_click=lambda one=example: brought.start(one.file, one.content, one.name),
                width="stretch",
            )
            st.caption(example.story)


# Before the run


def finding_html(finding: Finding) -> str:
    more = f"<span>{as_html(finding.about.why)} {as_html(finding.todo)}</span>"
    more = "" if finding.fine else more
    text = f"<code>{finding.code}</code> <b>{as_html(finding.text)}</b> {more}"
    return f'<div class="finding">{text}</div>'


def hold_out(digest: str, time: str) -> None:
    """Take a column for the time, and hold out the latest rows."""
    st.session_state[f"time-{digest}"] = time
    st.session_state[f"latest-{digest}"] = True


def show_findings(
    found: tuple[Finding, ...], experiment: Experiment | None, table: Table, digest: str
) -> None:
    """The checks, the most important first; a way to the latest rows where there are dates."""
    st.markdown("**Before you run**")
    judged = experiment is not None and experiment.kind.holds_out
    held_out = judged and bool(st.session_state.get(f"latest-{digest}"))
    told = still_open(found, table, held_out)
    told += [enough(experiment)] if experiment else []
    clear = (
        ""
        if {"D1", "L1"} & {one.code for one in found}
        else (
            '<div class="finding">✓ No duplicate rows, no column that gives the target away.</div>'
        )
    )
    st.html(STYLE + "".join(map(finding_html, told)) + clear)
    dates = [own.name for own in table.inputs if own.kind == "date"]
    if judged and table.times is None and dates:
        words = f"Hold out the latest quarter by {literal(dates[0])}"
        st.button(words, key="hold-out", on_click=hold_out, args=(digest, dates[0]))
    with st.popover("Rows that a confidence needs"):
        show_table(needs_table())


def rivals_key(table: Table, digest: str) -> str:
    return f"rivals-{digest}-{table.task}"


def registered(table: Table, key: tuple[Any, ...], source: Source) -> Dataset:
    """The table, known to this session; as it was given too, where who competes reads that."""
    linked = door.known(("algorithms",)).get("algorithms", [])
    reads = prepares(st.session_state.get(rivals_key(table, key[0]), linked))
    data = remembered("data", (key, reads), lambda: dataset_of(table, prepared=reads))
    own.hold(data, source, table.ids)
    wanted = door.value_of("dataset", None)
    if data.name == wanted and own.WANTED in st.session_state:
        door.go_to(st.session_state.pop(own.WANTED))
        st.rerun()
    if own.absent(wanted):
        st.info("The link is about another table: of another file, or with other columns.")
    return data


def asked_of(data: Dataset, table: Table, digest: str, example: str | None) -> dict[str, Any]:
    """Ask who competes and how it is judged."""
    task, linked = data.task, door.known(("algorithms", "loss"))
    options = [a.name for a in ALGORITHMS.values() if task in a.tasks]
    usual = [name for name in linked.get("algorithms", []) if name in options]
    left, right = st.columns([3, 2])
    rivals = left.multiselect(
        "with",
        options,
        usual or list(usual_of(data)),
        format_func=lambda name: ALGORITHMS[name].label,
        max_selections=MAX_ALGORITHMS,
        key=rivals_key(table, digest),
        persist_state="session",
    )
    losses = [name for name, loss in LOSSES.items() if suits(loss, task)]
    first = linked.get("loss") or (EXAMPLE_TABLES[example].loss if example else None)
    loss = right.selectbox(
        "by",
        losses,
        losses.index(first if first in losses else USUAL_OF_TABLES[task]),
        format_func=loss_choice,
        key=f"loss-{digest}-{task}",
        persist_state="session",
    )
    with right:
        costs = settings.loss_settings(loss, data.classes)
    with left:
        tuned = settings.algorithm_settings(rivals)
        with st.expander("How the cases are spent"):
            retrained, kind = controls.question(task), controls.asked_kind(task)
            sizes = controls.spending(kind, retrained, data, loss)
            place = st.empty()
    sizes["loss_settings"] = {**costs, **sizes.get("loss_settings", {})}
    if kind.symbolic or kind.batch:
        place.caption("Kinds of errors and batches are asked in the sidebar, after the first run.")
        return {}
    chosen = {name: value for name, value in sizes.items() if value is not None}
    about = {"loss": loss, "variant": kind.name, "algorithm_settings": tuned}
    return {"dataset": data.name, "algorithms": tuple(rivals), **about, **chosen}


def experiment_for(chosen: dict[str, Any]) -> Experiment | None:
    """The experiment that was asked for, or None with a sentence."""
    if not chosen.get("algorithms"):
        st.info("Pick at least one algorithm, and a question about single cases.")
        return None
    try:
        return Experiment(**chosen)
    except ValueError as error:
        st.warning(f"This cannot be computed: {literal(str(error).replace('n_sets', 'k'))}")
        return None


def show_latest(experiment: Experiment, table: Table, digest: str, key: tuple[Any, ...]) -> None:
    """The latest quarter held out beside random splits, where there is a time column."""
    if table.times is None or not experiment.kind.holds_out:
        return
    if not st.toggle(
        "Hold out the latest quarter too", key=f"latest-{digest}", persist_state="session"
    ):
        st.session_state[READ].pop("latest", None)  # a report tells of it no more
        st.caption(NO_PROMISE)
        return
    try:
        check_budget(experiment, workers=jobs().n_jobs, study=True)
    except BudgetError as error:
        st.warning(f"Nothing can be computed. {error}")
        return

    def begin() -> Watched[Results]:
        own_data = packed(own_of(experiment))
        return Watched(jobs().crew, latest_held_out, experiment, table.times, own=own_data)

    def again(_: float | None) -> None:
        st.session_state[READ].pop("latest", None)

    study = remembered("latest", (experiment, key), begin)
    fits, words = len(experiment.algorithms), "Training on the earlier rows"
    try:
        found = awaited(study, again, words, fits, "latest")
    except ValueError as error:  # times that are all the same, or too few
        st.warning(f"The latest rows cannot be held out. {literal(str(error))}")
        return
    job = jobs().find(experiment, trials_of(experiment), 0)
    if found is not None:
        seen = None if job is None else job.results
        beside = seen is not None and 0 in seen.trials
        shown = latest_table(seen, found, ALPHA) if beside and seen else latest_only(found, ALPHA)
        show_table(shown)


def key_of(chosen: Roles, digest: str) -> tuple[Any, ...]:
    """What a table depends on: the file, the answers about it, what its columns are for."""
    return digest, tuple(st.session_state[READ]["typed"][0]), chosen


def table_of(
    typed: Typed, chosen: Roles, key: tuple[Any, ...]
) -> tuple[Table, tuple[Finding, ...]]:
    """The table with these roles, and what the checks find; a sentence where there is none."""
    target, task, group, time, id, drop = chosen
    table = remembered(
        "table", key, lambda: typed.table(target, task, group=group, time=time, id=id, drop=drop)
    )
    return table, remembered("checks", key, lambda: checkups(table))


def show_file(name: str, content: bytes | ValueError, example: str | None) -> None:
    """A table that was brought: what was understood, what to ask, what it will cost.

    Of one that cannot be used nothing is kept but the reason.
    """
    brought.from_the_top()
    with st.container(key="file-title"):
        title, other = st.columns([5, 1], vertical_alignment="center")
    other.button("Another file", key="another", on_click=brought.leave, width="stretch")
    try:
        if isinstance(content, ValueError):
            raise ValueError(str(content))
        digest = brought.digest_of(content)
        with st.spinner(f"Reading {literal(name)}"):
            read, typed = brought.understand(name, content, digest)
            guess = typed.guess_target()
    except ValueError as error:
        brought.refuse(name, error, example)
        title.title("This file cannot be used")
        st.error(literal(str(error)))
        brought.uploader()
        return
    title.title(literal(understood(name, *typed.frame.shape)))
    st.caption(literal(" ".join([*read.notes, STAYS])))
    left, right = st.columns([3, 2], gap="large")
    with left:
        answers = brought.ask(read, digest)
        shown = st.empty()
        chosen = brought.roles(typed, guess, digest, example)
        shown.html(brought.preview(typed, chosen))
    try:
        key = key_of(chosen, digest)
        table, found = table_of(typed, chosen, key)
    except ValueError as error:
        left.error(literal(str(error)))
        return
    with left:
        source = Source(name, chosen, brought.said(read, answers), warnings_of(found))
        data, top = registered(table, key, source), st.container()
        asked = asked_of(data, table, digest, example)
        with top:
            experiment = experiment_for(asked)
            if experiment is not None:
                show_run(experiment, table, roles_text(chosen, list(typed.columns), answers))
    with right:
        show_findings(found, experiment, table, digest)
        if experiment is not None:
            show_latest(experiment, table, digest, key)


def body() -> None:
    given = st.session_state.get(FILE)
    if given is None:
        invite()
    else:
        show_file(*given)


page(body, sidebar=False)
