"""Report: one file to forward, from the current choice."""

import json
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import streamlit as st

from cpp_core import Results
from cpp_core.report import AUDIENCES, SECTIONS
from cpp_core.report.export import to_json
from cpp_core.report.pages import Look, report_html
from cpp_core.report.pdf import find_browser, report_pdf
from cpp_core.report.reproduce import NO_COMMAND, command_line, python_lines
from pages.parts.choices import Choice
from pages.parts.live import live
from pages.parts.shell import page

PREVIEW_HEIGHT = 800


def wishes() -> Look:
    """Ask for title, note, sections and audience; all have a start, so they are folded away."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        audience = st.segmented_control(
            "For",
            list(AUDIENCES),
            default="decision-maker",
            required=True,
            key="audience",
            help="; ".join(f"{name}: {words}" for name, words in AUDIENCES.items()),
            bind="query-params",
        )
        with st.popover("Title, note, sections"):
            title = st.text_input("Title", key="title", placeholder="the decision")
            note = st.text_area("Note", key="note", placeholder="Why this report, and for whom")
            sections = st.multiselect(
                "Sections",
                list(SECTIONS),
                list(SECTIONS),
                key="sections",
                format_func=lambda name: SECTIONS[name],
                help="Always in it: the answer, what it assumes, what it does not say.",
            )
    return Look(title, note, tuple(sections), audience)


@st.cache_data(max_entries=8, show_spinner="Writing the report ...")
def results_page(
    keys: tuple[str, ...],
    trials: int,
    choice: str,
    wanted: Look,
    day: date,
    _choice: Choice,
    _results: Results,
) -> str:
    """The report of results; the keys and the choice name all that these depend on."""
    asked = wanted._asdict() | _choice.asked
    return report_html(_results, _choice.alpha, _choice.side, day=day, **asked)


def as_pdf(content: str) -> bytes:
    """The report as the bytes of a PDF."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.pdf")
        report_pdf(content, path)
        return path.read_bytes()


def offer_pdf(content: str) -> None:
    """Print the report, and offer the file or say why there is none."""
    try:
        with st.spinner("Printing ..."):
            printed = as_pdf(content)
    except ValueError as error:
        st.error(str(error))
        return
    st.download_button(
        "Save the PDF", printed, "report.pdf", "application/pdf", key="pdf-results", type="primary"
    )


def downloads(content: str, **others: tuple[str, Callable[[], str | bytes]]) -> None:
    """Buttons for the report and its data, each made when it is clicked; then the preview."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.download_button(
            "HTML", lambda: content, "report.html", "text/html", key="html-results", type="primary"
        )
        printing = bool(find_browser()) and st.button("Print to PDF", key="print-results")
        for kind, (mime, make) in others.items():
            st.download_button(kind.upper(), make, f"report.{kind}", mime, key=f"{kind}-results")
    if printing:
        offer_pdf(content)
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
        content = results_page(keys, choice.trials, look, wanted, date.today(), choice, results)

        def as_text() -> str:
            return json.dumps(to_json(results, alpha, side, **choice.asked), indent=2)

        def as_parquet() -> bytes:
            return results.at(alpha, side).to_parquet(index=False)

        downloads(
            content,
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


def body(choice: Choice) -> None:
    st.title("Report")
    wanted = wishes()
    from_results(choice, wanted)
    st.page_link("pages/losses.py", label="Models that were trained elsewhere: a file of losses →")


page(body)
