"""Report: one file to forward, from the current choice or from a file of losses."""

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from cpp_core import Results
from cpp_core.catalog.loss_files import DIRECTIONS, LossTable, column_names, read_losses
from cpp_core.figures.loss_figures import bound_bars, difference_bars
from cpp_core.figures.panels import Panel
from cpp_core.report import AUDIENCES, SECTIONS
from cpp_core.report.export import losses_json, to_json
from cpp_core.report.pages import BY_GROUP, Look, losses_report_html, report_html
from cpp_core.report.pdf import find_browser, report_pdf
from cpp_core.report.reproduce import (
    NO_COMMAND,
    asked_of,
    command_line,
    losses_command_line,
    python_lines,
)
from cpp_core.trials.experiment import MAX_ALGORITHMS
from cpp_core.verdicts.answers import Answers, answers_of
from cpp_core.verdicts.language import plural
from cpp_core.verdicts.loss_lines import group_table
from pages.parts.choices import Choice, checked_with
from pages.parts.live import live
from pages.parts.shell import page
from pages.parts.show import show_panel, show_verdict

PREVIEW_HEIGHT = 800
KINDS = {"guess": None, **{words: greater for greater, words in DIRECTIONS.items()}}
EXAMPLE = "model_a,model_b\n0.12,0.30\n0.05,0.08\n..."


def wishes() -> Look:
    """Ask for title, note, sections and audience."""
    left, right = st.columns(2)
    with left:
        title = st.text_input("Title", key="title", placeholder="What will the next loss be?")
        note = st.text_area("Note", key="note", placeholder="Why this report, and for whom")
    with right:
        sections = st.multiselect("Sections", list(SECTIONS), list(SECTIONS), key="sections")
        st.caption("Always in it: the answer, what it assumes, what it does not say.")
        audience = st.segmented_control(
            "Audience",
            list(AUDIENCES),
            default="decision-maker",
            required=True,
            key="audience",
            bind="query-params",
        )
        st.caption(AUDIENCES[audience].capitalize() + ".")
    return Look(title, note, tuple(sections), audience)


@st.cache_data(max_entries=8, show_spinner="Writing the report ...")
def results_page(
    keys: tuple[str, ...],
    trials: int,
    choice: str,
    wanted: Look,
    _choice: Choice,
    _results: Results,
) -> str:
    """The report of results; the keys and the choice name all that these depend on."""
    asked = wanted._asdict() | _choice.asked
    return report_html(_results, _choice.alpha, _choice.side, **asked)


@st.cache_data(max_entries=8, show_spinner="Writing the report ...")
def losses_page(
    sha256: str, columns: tuple[str, ...], question: str, wanted: Look, _table: LossTable
) -> str:
    """The report of a file of losses; the hash names its content."""
    return losses_report_html(_table, **json.loads(question), **wanted._asdict())


def as_pdf(content: str) -> bytes:
    """The report as the bytes of a PDF."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.pdf")
        report_pdf(content, path)
        return path.read_bytes()


def offer_pdf(content: str, place: str) -> None:
    """Print the report, and offer the file or say why there is none."""
    try:
        with st.spinner("Printing ..."):
            printed = as_pdf(content)
    except ValueError as error:
        st.error(str(error))
        return
    st.download_button(
        "Save the PDF", printed, "report.pdf", "application/pdf", key=f"pdf-{place}", type="primary"
    )


def downloads(content: str, place: str, **others: tuple[str, Callable[[], str | bytes]]) -> None:
    """Buttons for the report and its data, each made when it is clicked; then the preview."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "HTML", lambda: content, "report.html", "text/html", key=f"html-{place}", type="primary"
        )
        printing = bool(find_browser()) and st.button("Print to PDF", key=f"print-{place}")
        for kind, (mime, make) in others.items():
            st.download_button(
                kind.upper(), make, f"report.{kind}", mime, key=f"{kind}-file-{place}"
            )
    if printing:
        offer_pdf(content, place)
    if not find_browser():
        st.caption("No PDF here: it needs Chromium. Open the HTML file in a browser and print it.")
    st.caption("The HTML file needs no network; send it as it is.")
    st.iframe(content, height=PREVIEW_HEIGHT, alt="Preview of the report")


def from_results(choice: Choice, wanted: Look) -> None:
    """The report of the current choice."""
    experiment, alpha, side = choice.experiment, choice.alpha, choice.side

    def answer(results: Results) -> None:
        if len(results.trials) < results.asked:
            st.info("The report is written once all trials are there.")
            return
        keys = tuple(experiment.key(name, choice.seed) for name in experiment.algorithms)
        look = repr((alpha, side, choice.question))
        content = results_page(keys, choice.trials, look, wanted, choice, results)

        def as_text() -> str:
            return json.dumps(to_json(results, alpha, side, **choice.asked), indent=2)

        def as_parquet() -> bytes:
            return results.at(alpha, side).to_parquet(index=False)

        downloads(
            content,
            "results",
            csv=("text/csv", lambda: results.at(alpha, side).to_csv(index=False)),
            json=("application/json", as_text),
            parquet=("application/vnd.apache.parquet", as_parquet),
        )
        st.subheader("Reproduce it")
        asked = wanted._asdict() | choice.asked
        st.code(python_lines(results, alpha, side, asked), language="python")
        command = command_line(experiment, choice.trials, choice.seed, alpha, side, choice.asked)
        if command:
            st.code(command, language="bash", wrap_lines=True)
        else:
            st.caption(NO_COMMAND)

    live(experiment, choice.trials, choice.seed, answer, "report")


def literal(text: str) -> str:
    """A user's text that Markdown shows as it is."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


def plain_panel(panel: Panel) -> Panel:
    """A panel with names from a file."""
    return replace(panel, title=literal(panel.title), caption=literal(panel.caption))


def question_of(alpha: float, greater_is_better: bool) -> dict[str, Any]:
    """What is asked about the losses; only what was filled in."""
    first, second, third, fourth, fifth = st.columns(5)
    noun, name = ("score", "at_least") if greater_is_better else ("loss", "at_most")
    words = f"Are new {plural(noun)} {name.replace('_', ' ')}"
    with first:
        limit = st.number_input(words, value=None, key=name.replace("_", "-"))
        delta = None if limit is None else checked_with("file-sure")
    asked = {
        name: limit,
        "delta": delta,
        "low": second.number_input(f"Least possible {noun}", value=None, key="low"),
        "high": third.number_input(f"Greatest possible {noun}", value=None, key="high"),
        "error_rate_at_most": fourth.number_input(
            "Or: is the error rate at most",
            *(0.0, 1.0, None),
            key="file-rate",
            help="Only where the numbers are 0 and 1",
        ),
        "batch_size": fifth.number_input("on the next cases", 1, 10**6, None, key="file-next"),
    }
    return {"alpha": alpha, **{name: value for name, value in asked.items() if value is not None}}


def margin_of(choice: Choice) -> dict[str, Any]:
    """The margin of the sidebar, which is about any losses."""
    return {name: value for name, value in choice.question if name == "margin"}


def from_losses(choice: Choice, wanted: Look) -> None:
    """Bounds and comparisons from a user's file; nothing is trained."""
    st.markdown(
        "A file with a column of losses for each model and a row for each case, on which none of "
        "the models was trained. CSV or Parquet; it is kept in memory and not stored."
    )
    uploaded = st.file_uploader("Losses", type=["csv", "tsv", "txt", "parquet"], key="losses-file")
    if uploaded is None:
        st.code(EXAMPLE, language=None)
        return
    try:
        uploaded.seek(0)
        names, likely = column_names(uploaded)
        left, middle, right = st.columns([2, 1, 1])
        chosen = left.multiselect(
            "Models", names, likely[:MAX_ALGORITHMS], max_selections=MAX_ALGORITHMS, key="models"
        )
        others = [name for name in names if name not in chosen]
        case = middle.selectbox("Names of the cases", others, None, key="case", placeholder="none")
        groups = [name for name in others if name != case]
        group = right.selectbox("Groups", groups, None, key="group", placeholder="none")
        kind = st.segmented_control(
            "These numbers are",
            list(KINDS),
            default="guess",
            required=True,
            key="direction",
            help="A guess goes by the names of the columns and by the values, and is told below.",
        )
        if not chosen:
            st.info(
                "Pick at least one model. Columns that count rows or have text are not proposed."
            )
            return
        uploaded.seek(0)
        table = read_losses(uploaded, chosen, case, group, KINDS[kind])
        question = question_of(choice.alpha, table.greater_is_better) | margin_of(choice)
        answers = answers_of(table.columns, **table.told, **question)
        used = *chosen, f"case {case}", f"group {group}", kind
        content = losses_page(table.sha256, used, json.dumps(question), wanted, table)
    except ValueError as error:
        st.error(literal(str(error)))
        return
    show_losses(table, answers, question)
    found = json.dumps(losses_json(table, answers, question), indent=2)
    downloads(content, "losses", json=("application/json", lambda: found))
    command = losses_command_line(table, asked_of(choice.alpha, question))
    st.code(command, language="bash", wrap_lines=True)


def show_losses(table: LossTable, answers: Answers, question: dict[str, Any]) -> None:
    """What was taken, what is said and the pictures of it, for a file of losses."""
    alpha = question["alpha"]
    for note in table.notes:
        st.caption(literal(re.sub(r"say --(\w+)-is-better", r"choose \1 is better", note)))
    for verdict in (*answers.answer, *answers.who_wins):
        show_verdict(verdict)
    ends: dict[str, Any] = {n: question[n] for n in ("low", "high") if n in question}
    ends["greater_is_better"] = table.greater_is_better
    limit = question.get("at_least" if table.greater_is_better else "at_most")
    left, right = st.columns(2)
    with left:
        bounds = bound_bars(table.columns, alpha, limit, **ends)
        show_panel(plain_panel(bounds), "file")
    with right:
        if len(table.columns) > 1:
            show_panel(plain_panel(difference_bars(table.columns, alpha, **ends)), "file")
    if answers.groups:
        st.markdown(f"**{BY_GROUP}**")
        by_group = group_table(table, answers, alpha)
        st.dataframe(pd.DataFrame(by_group.rows, columns=list(by_group.head)), hide_index=True)
        st.caption(by_group.caption)


def body(choice: Choice) -> None:
    st.title("Report")
    wanted = wishes()
    mine, file = st.tabs(["From the current choice", "I only have losses"])
    with mine:
        from_results(choice, wanted)
    with file:
        from_losses(choice, wanted)


page(body)
