"""Losses: which model to use, from a file of what each lost; nothing is trained."""

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from cpp_core.catalog.costs import UNIT
from cpp_core.catalog.directions import zero_one
from cpp_core.catalog.example_losses import (
    EXAMPLE_NAME,
    EXAMPLE_STORY,
    EXAMPLE_UNIT,
    example_losses,
)
from cpp_core.catalog.files import FileRead
from cpp_core.catalog.loss_files import LossTable, column_names, open_losses, raw_table, read_losses
from cpp_core.catalog.reading.limits import FILE_BYTES, MEGABYTE
from cpp_core.figures.loss_figures import Columns, color_of, loss_picture
from cpp_core.report.export import file_name, losses_json
from cpp_core.report.pages import losses_report_html
from cpp_core.report.reproduce import asked_of, losses_command_line
from cpp_core.trials.experiment_checks import MAX_ALGORITHMS
from cpp_core.verdicts.answers import Answers, answers_of
from cpp_core.verdicts.file_lines import (
    assumed_line,
    group_table,
    losses_table,
    pair_lines,
)
from cpp_core.verdicts.language import counted
from cpp_core.verdicts.next_errors import NEXT_CASES
from cpp_core.verdicts.summary import Table
from pages.parts import room
from pages.parts.controls import checked_with, confidence_control
from pages.parts.named import show_named
from pages.parts.shell import page
from pages.parts.show import dark, literal, show_panel, show_strip, show_verdict

FILE, READ, TAKEN = "_losses_file", "_losses_read", "_losses_taken"
DIGEST = 16
"""How much of a file's hash is in the keys of controls."""
KINDS = {"guess": None, "losses": False, "scores": True}
TYPES = ["csv", "tsv", "txt", "parquet", "xlsx", "gz"]
MEGABYTES = FILE_BYTES // MEGABYTE
MOST_CASES = 300_000
"""Cases of a file: six models of so many are judged in about a second."""
SAMPLE = "case,model_a,model_b\nA-17,0.12,0.30\nA-18,0.05,0.08\n..."
T = TypeVar("T")


def on_page(error: ValueError) -> str:
    """What is wrong, with the words of the page where the command line has its own."""
    said = str(error).replace("say --greater-is-better or --smaller-is-better", "choose one above")
    return literal(said.replace("name their columns with --column", "pick them under Columns"))


# The file


def take(key: str) -> None:
    """Keep what was uploaded, in this session alone.

    What asked for it gives way to an empty one, which has nothing of an older file to take back.
    """
    given = st.session_state[key]
    if given is not None:
        st.session_state[FILE] = given.name, given.getvalue()
        st.session_state[TAKEN] = st.session_state.get(TAKEN, 0) + 1


def leave() -> None:
    """Forget the file."""
    st.session_state.pop(FILE, None)
    st.session_state.pop(READ, None)
    room.leave_room("losses")


def named(content: bytes, name: str) -> BytesIO:
    """The content as a file with its name."""
    file = BytesIO(content)
    file.name = name
    return file


def take_example() -> None:
    """Keep the example as if it had been uploaded."""
    st.session_state[FILE] = open_losses(named(example_losses(), EXAMPLE_NAME))


def opened(held: tuple[str, bytes] | FileRead | ValueError) -> FileRead:
    """The file that was uploaded, read once; its bytes are then forgotten."""
    if isinstance(held, tuple):
        name, content = held
        with st.spinner(f"Reading {literal(name)}"):
            try:
                room.take_room("losses", len(content))
                held = open_losses(named(content, name), False, room.reading_bytes())
                check_cases(held)
                room.take_room("losses", 2 * held.table.nbytes)  # as read, and as numbers
            except ValueError as error:
                held = ValueError(str(error))  # the sentence alone: what was read goes
        st.session_state[FILE] = held
    if isinstance(held, ValueError):
        raise ValueError(str(held))  # anew: one that is raised again keeps all frames
    return held


def check_cases(file: FileRead) -> None:
    """Refuse a file whose every question would keep other visitors waiting."""
    if file.table.num_rows > MOST_CASES:
        raise ValueError(
            f"{file.name} has {file.table.num_rows:,} cases; on this page at most {MOST_CASES:,} "
            "can be judged: bring a random part, or use python -m cpp_core check."
        )


def uploader() -> None:
    """Ask for a file."""
    key = f"losses-file-{st.session_state.get(TAKEN, 0)}"
    st.file_uploader(
        "A file of losses",
        type=TYPES,
        key=key,
        on_change=take,
        args=(key,),
        max_upload_size=MEGABYTES,
        label_visibility="collapsed",
    )


def invite() -> None:
    """Say what to bring and what one gets; an example for those who have no file at hand."""
    st.title("Which model should you use?")
    st.markdown("Drop what each model lost on the same cases. Nothing is trained, nothing stored.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        uploader()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Try an example", on_click=take_example, type="primary", key="example")
            st.caption(EXAMPLE_STORY, width="stretch")
    with right:
        st.markdown("**Bring** CSV, TSV or Parquet, or Excel: a row per case, a column per model.")
        st.code(SAMPLE, language=None)
        st.markdown(
            "**Get** which to use and how sure that is; a bound on the next loss of each; how many "
            "more cases would decide; a report to forward."
        )
        st.caption("Only cases that no model was trained on. Losses, errors (0 or 1) or scores.")


def remembered(what: str, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What was made of the file last, in this session alone, while its key stays the same."""
    return room.remembered(READ, what, key, make)


def names_in(file: FileRead) -> tuple[list[str], list[str], str]:
    """The columns of a file, those that look like losses, and why it may hold none."""
    return remembered(
        "names", (file.sha256, file.name), lambda: (*column_names(file), raw_table(file))
    )


# Controls: their keys hold the file's digest, so that nothing of another file remains


def columns_of(file: FileRead, digest: str) -> tuple[list[str], str | None, str | None, str]:
    """Ask which columns are models, which names the cases and which their groups; the unit."""
    names, likely, raw = names_in(file)
    with st.expander("Columns: models, names of the cases, groups; unit"):
        left, middle, right = st.columns([2, 1, 1])
        models = left.multiselect(
            "Models",
            names,
            [] if raw else likely[:MAX_ALGORITHMS],
            max_selections=MAX_ALGORITHMS,
            key=f"models-{digest}",
            persist_state="session",
        )
        others = [own for own in names if own not in models]
        case = middle.selectbox(
            "Names of the cases",
            others,
            None,
            key=f"case-{digest}",
            placeholder="none",
            persist_state="session",
        )
        groups = [own for own in others if own != case]
        group = right.selectbox(
            "Groups",
            groups,
            None,
            key=f"group-{digest}",
            placeholder="none",
            persist_state="session",
            help="Each group gets a bound of its own. Fix them before looking at the losses.",
        )
        unit = left.text_input(
            "Unit",
            EXAMPLE_UNIT if file.name == EXAMPLE_NAME else "",
            key=f"unit-{digest}",
            placeholder="such as EUR",
            max_chars=12,
            persist_state="session",
        )
    return models, case, group, unit if UNIT.fullmatch(unit) else ""


def limits_of(table: LossTable, alpha: float, digest: str) -> dict[str, Any]:
    """What is asked about the losses; only what was filled in."""
    greater, errors = table.greater_is_better, zero_one(table.columns)
    noun = "score" if greater else "loss"

    def number(label: str, name: str, *limits: Any, format: str = "%g", **more: Any) -> Any:
        more |= {"key": f"{name}-{digest}", "persist_state": "session"}
        return st.number_input(label, *(limits or (None, None, None)), format=format, **more)

    asked: dict[str, Any] = {}
    with st.expander("Your limits"), st.container(horizontal=True, vertical_alignment="top"):
        if errors:
            rate = number("Is the error rate at most", "rate", 0.0, 1.0, None, placeholder="0.05")
            size = number("on the next ... cases", "next", 1, 10**6, NEXT_CASES, format="%d")
            asked |= {} if rate is None else {"error_rate_at_most": rate, "batch_size": size}
        else:
            name = "at_least" if greater else "at_most"
            words = f"Is a new {noun} {name.replace('_', ' ')}"
            asked[name] = number(words, name.replace("_", "-"), placeholder="no limit")
            if asked[name] is not None:
                with st.container(width=220):
                    asked["delta"] = checked_with(f"sure-{digest}")
            asked["low"] = number(f"Least possible {noun}", "low", placeholder="unknown")
            asked["high"] = number(f"Greatest possible {noun}", "high", placeholder="unknown")
        if len(table.columns) > 1:
            words = "Averages are equal if they differ by less than"
            asked["margin"] = number(words, "margin", placeholder="no margin")
    return {"alpha": alpha, **{name: value for name, value in asked.items() if value is not None}}


# What is found


def show_table(table: Table, columns: Columns) -> None:
    """A table with names from a file, and how to read it."""
    colors = {name: color_of(columns, name) for name in columns}
    show_named(table, colors)


def show_found(table: LossTable, answers: Answers, question: dict[str, Any]) -> None:
    """The decision, the picture and the table, what was asked, the groups."""
    alpha = question["alpha"]
    numbers: dict[str, Any] = {n: question[n] for n in ("low", "high") if n in question}
    show_strip(answers.strip, {name: color_of(table.columns, name) for name in table.columns})
    limit = question.get("at_least" if table.greater_is_better else "at_most")
    rate = question.get("error_rate_at_most"), question.get("batch_size")
    numbers |= {"greater_is_better": table.greater_is_better, "unit": table.unit}
    picture = loss_picture(table.columns, alpha, limit, *rate, dark(), **numbers)
    left, right = st.columns(2)
    with left:
        show_panel(picture, "file", beside=True)
    with right, st.container(border=True, height="stretch"):
        show_table(losses_table(table, answers, alpha, cases=False), table.columns)
        if len(table.columns) > 2:  # of two, the strip says it
            st.caption("\n".join(f"- {literal(line)}" for line in pair_lines(answers.strip)))
    if answers.groups:
        with st.container(border=True):
            st.markdown("**Within each group**")
            show_table(group_table(table, answers, alpha), table.columns)
    st.caption(literal(assumed_line(answers)))


def show_sentences(answers: Answers) -> None:
    """Every statement in a line with its strength; "why?" opens it in full."""
    parts = {
        "Each model": answers.each_model,
        "Who is better": answers.who_wins,
        "Pair by pair": answers.pairs,
        "Within each group": answers.groups,
    }
    with st.expander("Every statement in full, with what it assumes"):
        for title, verdicts in parts.items():
            if verdicts:
                st.markdown(f"**{title}**")
            for verdict in {own.text: own for own in verdicts}.values():  # each once
                show_verdict(verdict)


def show_downloads(table: LossTable, answers: Answers, question: dict[str, Any]) -> None:
    """The report and the data, made when clicked; the command that gives the same."""

    def html() -> str:
        return losses_report_html(table, **question)

    def as_json() -> str:
        return json.dumps(losses_json(table, answers, question), indent=2)

    name = file_name(Path(table.name).stem, *table.columns, alpha=question["alpha"])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "Report (HTML)", html, f"{name}.html", "text/html", key="html-losses", type="primary"
        )
        st.download_button("JSON", as_json, f"{name}.json", "application/json", key="json-losses")
    command = losses_command_line(table, asked_of(question["alpha"], question))
    st.code(command, language="bash", wrap_lines=True)


def asked_confidence() -> float:
    """Ask how sure it must be; gives alpha."""
    with st.container(width=300):
        return confidence_control("confidence-losses", words=False)


def header(digest: str) -> tuple[float, bool | None, Any]:
    """Confidence, what the numbers are, the file; and a place to tell how it was understood."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        alpha = asked_confidence()
        kind = st.segmented_control(
            "These numbers are",
            list(KINDS),
            default="guess",
            required=True,
            key=f"direction-{digest}",
            persist_state="session",
            help="Losses: smaller is better. Scores: greater is better.",
        )
        with st.popover("Another file", key=f"another-{digest}"):
            uploader()
            st.button("Forget this one", on_click=leave, key="forget-losses")
    return alpha, KINDS[kind], st.container()


def judge(file: FileRead) -> None:
    """Everything about one file; its columns can be read."""
    name, digest = file.name, file.sha256[:DIGEST]
    alpha, greater, told = header(digest)
    found = st.container()
    models, case, group, unit = columns_of(file, digest)
    raw = names_in(file)[-1]
    if not models and raw:
        found.warning(on_page(ValueError(raw)))
        found.page_link("pages/data.py", label="Your data →")
        return
    if not models:
        found.info("Pick a model under Columns; those that number rows or have text are not taken.")
        return

    def read() -> LossTable:
        return read_losses(file, models, case, group, greater, unit)

    key = digest, name, tuple(models), case, group, greater, unit
    try:
        table = remembered("table", key, read)
        counts = f"{counted(table.size, 'case')}, {counted(len(models), 'model')}"
        told.caption(literal(f"{name}: {counts}. {table.taken} {' '.join(table.notes[:-1])}"))
        question = limits_of(table, alpha, digest)
        answers = remembered(
            "answers",
            (*key, tuple(question.items())),
            lambda: answers_of(table.columns, **table.told, **question),
        )
        with found:
            show_found(table, answers, question)
    except ValueError as error:
        found.error(on_page(error))
        return
    show_sentences(answers)
    show_downloads(table, answers, question)


def body() -> None:
    held = st.session_state.get(FILE)
    if held is None:
        asked_confidence()
        invite()
        return
    try:
        file = opened(held)
    except ValueError as error:
        asked_confidence()
        st.error(on_page(error))
        invite()
        return
    judge(file)


page(body, sidebar=False)
