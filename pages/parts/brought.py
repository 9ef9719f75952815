"""A table that a visitor brings: its file, what was understood, what its columns are for."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from cpp_core import Experiment, Results
from cpp_core.catalog.columns import WHY_LEFT_OUT
from cpp_core.catalog.example_tables import EXAMPLE_TABLES
from cpp_core.catalog.files import FileRead, read_frame
from cpp_core.catalog.reading.limits import FILE_BYTES, MEGABYTE
from cpp_core.catalog.roles import TASKS, Roles, Source, read_answers, read_roles
from cpp_core.catalog.tables import KIND_WORDS, Typed, type_frame
from cpp_core.verdicts.drift import latest_words
from pages.parts import door, own, room, settings
from pages.parts.show import as_html, literal

FILE, READ, TAKEN, BEGUN = "_data_file", "_data_read", "_data_taken", "_data_begun"
"""In the session: the file, what was made of it, the upload it came from, how many there were."""

TYPES = ["csv", "tsv", "txt", "parquet", "xlsx", "gz"]
ROWS, CELL = 3, 24
"""Rows of a preview, and letters of a cell in it."""

TASK_WORDS = {"classification": "classes", "regression": "a number"}
ASKED = settings.KEYS | {
    *("roles", "dataset", "algorithms", "loss", "variant", "retrained", "n", "k", "share", "b"),
    *("regressor", "positive"),
}
"""What is asked about a table, by its key in a link."""

STYLE = """<style>
.st-key-file-title h1 {font-size: clamp(1.35rem, 2.6vw, 1.9rem); padding: .3rem 0}
.preview {overflow-x: auto} .preview table {border-collapse: collapse; font-size: .85rem}
@keyframes cut {0%, 97% {mask-image: linear-gradient(to right, #000 80%, transparent)}
  100% {mask-image: none}}
.preview {animation: cut linear both; animation-timeline: scroll(self inline)}
.preview::-webkit-scrollbar {height: 8px; width: 8px}
.preview::-webkit-scrollbar-thumb {background: rgba(128, 128, 128, .6); border-radius: 4px}
.preview::-webkit-scrollbar-track {background: rgba(128, 128, 128, .15); border-radius: 4px}
.preview th, .preview td {padding: .3rem .9rem .3rem 0; text-align: left; white-space: nowrap}
.preview th small {display: block; font-weight: 400; opacity: .7}
.preview tr + tr {border-top: 1px solid rgba(128, 128, 128, .3)}
.preview i {opacity: .55}
.spent {display: flex; gap: 3px; margin: .2rem 0 .4rem}
.spent div {padding: .35rem .2rem; text-align: center; font-size: .85rem; min-width: 4.5rem}
.finding {border: 1px solid rgba(128, 128, 128, .3); border-radius: .6rem; padding: .5rem .8rem;
  margin: 0 0 .5rem; font-size: .9rem}
.finding code {opacity: .7; font-size: .75rem; background: none; padding: 0}
.finding span {opacity: .8}
</style>"""
TO_TOP = """
let last
export default function ({ data }) {
  if (data.begun !== last) document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0)
  last = data.begun
}
"""
_to_top = st.components.v2.component("to_top", js=TO_TOP)
T = TypeVar("T")


def remembered(what: str, key: tuple[Any, ...], make: Callable[[], T]) -> T:
    """What was made of the file last, in this session alone, while its key stays the same."""
    return room.remembered(READ, what, key, make)


# The file


def take() -> None:
    """Keep what was uploaded, in this session alone.

    A browser that is slow tells of the same upload again with the next click: it is taken once.
    """
    given = st.session_state["data-file"]
    if given is not None and st.session_state.get(TAKEN) != given.file_id:
        st.session_state[TAKEN] = given.file_id
        start(given.name, given.getvalue())


def start(name: str, content: bytes, example: str | None = None) -> None:
    """Begin with a file; nothing of an older one remains, but for what a link asked for."""
    if example or not own.absent(door.value_of("dataset", None)):
        door.forget(ASKED)
    let_go()
    st.session_state[FILE] = name, content, example
    st.session_state[BEGUN] = st.session_state.get(BEGUN, 0) + 1
    if example:
        for key, value in EXAMPLE_TABLES[example].costs.items():
            door.tell(key, value)


def leave() -> None:
    """Forget the file, and what was asked about it."""
    door.forget(ASKED)
    let_go()


def let_go() -> None:
    """Forget the file."""
    st.session_state.pop(FILE, None)
    st.session_state.pop(READ, None)
    room.leave_room("data")
    own.let_go()


def refuse(name: str, why: ValueError, example: str | None) -> None:
    """Keep nothing of a file that cannot be used but the reason: it is read once."""
    let_go()
    st.session_state[FILE] = name, ValueError(str(why)), example


def uploader() -> None:
    """A place to drop a file."""
    st.file_uploader(
        "A table",
        type=TYPES,
        key="data-file",
        on_change=take,
        max_upload_size=FILE_BYTES // MEGABYTE,
        label_visibility="collapsed",
    )


def from_the_top() -> None:
    """Show the top of the page once for each file: a phone would stay at the examples."""
    with st.container(key="to-top"):
        _to_top(key="to-top-of", data={"begun": st.session_state.get(BEGUN, 0)})


def digest_of(content: bytes) -> str:
    """A name for a file, in the keys of controls; made once, while its bytes are there."""
    return remembered("digest", (), lambda: sha256(content).hexdigest()[:16])


def _answers(read: FileRead, digest: str) -> dict[str, Any]:
    """What was answered to what the file does not tell, or a link answers, or was taken."""
    linked, found = read_answers(door.value_of("roles", None)), {}
    for i, question in enumerate(read.questions):
        options = [value for value, _ in question.answers]
        said = linked[i] if i < len(linked) else len(options)
        usual = options[said] if said < len(options) else question.taken
        found[question.argument] = st.session_state.get(f"ask-{question.argument}-{digest}", usual)
    return found


def ask(read: FileRead, digest: str) -> list[int]:
    """Ask what the file does not tell; which answers were chosen, by position."""
    found, chosen = _answers(read, digest), []
    for question in read.questions:
        options = [value for value, _ in question.answers]
        words = dict(question.answers)
        answer = st.segmented_control(
            literal(question.text),
            options,
            default=found[question.argument],
            format_func=words.__getitem__,
            required=True,
            key=f"ask-{question.argument}-{digest}",
            persist_state="session",
        )
        chosen.append(options.index(answer))
    return chosen


def said(read: FileRead, answers: list[int]) -> tuple[tuple[str, Any], ...]:
    """Answers that are others than what was taken, as arguments of the reader."""
    given = zip(read.questions, answers, strict=True)
    told = [(question, question.answers[i][0]) for question, i in given]
    return tuple((own.argument, value) for own, value in told if value != own.taken)


def understand(name: str, content: bytes, digest: str) -> tuple[FileRead, Typed]:
    """Read the file and type its columns, once for each content and answer."""

    def read_file() -> FileRead:
        room.take_room("data", len(content))
        read = read_frame(content, name=name, memory=room.reading_bytes())
        room.take_room("data", len(content) + room.COPIES * read.table.nbytes)
        return read

    first = remembered("file", (digest,), read_file)
    given = _answers(first, digest)
    taken = {question.argument: question.taken for question in first.questions}
    key = digest, tuple(given.items())
    read = first
    if not first.questions:
        _let_bytes_go(first)
    if given != taken:
        memory = room.reading_bytes()
        read = remembered(
            "answered", key, lambda: read_frame(content, name=name, memory=memory, **given)
        )
    return first, remembered("typed", key, lambda: type_frame(read.frame))


def _let_bytes_go(read: FileRead) -> None:
    """Keep a file as it was read alone: nothing is asked about it, so that it is read once."""
    name, content, example = st.session_state[FILE]
    if content:
        st.session_state[FILE] = name, b"", example
        room.take_room("data", room.COPIES * read.table.nbytes)


def held_out(experiment: Experiment) -> Results | None:
    """The latest rows held out, where the visitor asked for that and it is done."""
    key, study = st.session_state.get(READ, {}).get("latest", (None, None))
    if key is None or key[0] != experiment or not study.pending.done():
        return None
    if study.pending.exception() is not None:
        return None
    found: Results = study.pending.result()
    return found


def source_told(experiment: Experiment, alpha: float, side: str) -> Source | None:
    """The file of a visitor's table, with what the latest rows have shown among its warnings."""
    source, latest = own.source_of(experiment.dataset), held_out(experiment)
    if source is None or latest is None:
        return source
    return source._replace(warnings=(*source.warnings, latest_words(latest, alpha, side)))


# What the columns are


def roles(typed: Typed, guess: str, digest: str, example: str | None) -> Roles:
    """Ask for the target and the task, and for columns that are no inputs."""
    names = list(typed.columns)
    usual = read_roles(door.value_of("roles", None), names)
    if usual is None and example:
        told = EXAMPLE_TABLES[example]
        task = typed.guess_task(told.target)
        usual = Roles(told.target, task, told.group, told.time, told.id)
    if usual is None:
        ids = [own.name for own in typed.columns.values() if own.kind == "id"]
        usual = Roles(guess, typed.guess_task(guess), id=next(iter(ids), None))
    left, right = st.columns([2, 1])
    target = left.selectbox(
        "Predict", names, names.index(usual.target), key=f"target-{digest}", persist_state="session"
    )
    task = right.segmented_control(
        "which is",
        list(TASKS.values()),
        default=usual.task if target == usual.target else typed.guess_task(target),
        format_func=TASK_WORDS.__getitem__,
        required=True,
        key=f"task-{digest}-{target}",
        persist_state="session",
    )
    others = [name for name in names if name != target]
    with st.expander("Groups, times, names of the rows, columns left out"):
        asked = {}
        for place, role, words in zip(
            st.columns(3),
            ("group", "time", "id"),
            ("Groups", "Time", "Names of the rows"),
            strict=True,
        ):
            start = getattr(usual, role)
            asked[role] = place.selectbox(
                words,
                others,
                others.index(start) if start in others else None,
                placeholder="none",
                key=f"{role}-{digest}",
                persist_state="session",
            )
        free = [name for name in others if name not in asked.values()]
        drop = st.multiselect(
            "Left out",
            free,
            [name for name in usual.drop if name in free],
            placeholder="none",
            key=f"drop-{digest}",
            persist_state="session",
        )
    _say_unused(typed, (target, *asked.values(), *drop))
    return Roles(target, task, asked["group"], asked["time"], asked["id"], tuple(drop))


def _say_unused(typed: Typed, spoken_of: tuple[str | None, ...]) -> None:
    """Which columns are no inputs though nobody said so, and why."""
    said = typed.left_out(spoken_of)
    if said:
        st.caption(literal(" ".join(said)))


def preview(typed: Typed, roles: Roles) -> str:
    """The first rows, with what each column holds; the target first."""
    marks = {roles.target: " ★", roles.group: " (group)", roles.time: " (time)", roles.id: " (id)"}
    names = [roles.target, *(name for name in typed.columns if name != roles.target)]
    columns = [typed.columns[name] for name in names]
    head = "".join(
        f"<th>{as_html(one.name + marks.get(one.name, ''))}"
        f"<small>{KIND_WORDS.get(one.kind, WHY_LEFT_OUT.get(one.kind, one.kind))}"
        f"{f', {one.missing:,} missing' if one.missing else ''}</small></th>"
        for one in columns
    )

    def cell(value: Any) -> str:
        if pd.isna(value):
            return "<td><i>missing</i></td>"
        whole_day = isinstance(value, pd.Timestamp) and value == value.normalize()
        text = str(value.date() if whole_day else value)
        return f"<td>{as_html(text if len(text) <= CELL else text[: CELL - 1] + '…')}</td>"

    rows = typed.frame[names].head(ROWS).itertuples(index=False)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    return f'{STYLE}<div class="preview"><table><tr>{head}</tr>{body}</table></div>'
