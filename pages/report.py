"""Report: one file to forward, from the current choice."""

import json
import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from pathlib import Path

import streamlit as st

from cpp_core import Results
from cpp_core.report import AUDIENCES, SECTIONS
from cpp_core.report.export import csv_text, results_name, to_json
from cpp_core.report.pages import Look, report_html
from cpp_core.report.pdf import find_browser, report_pdf
from cpp_core.report.reproduce import NO_COMMAND, command_line, python_lines
from pages.parts import door, own
from pages.parts.choices import Choice
from pages.parts.keeping import REPORTS, name_of
from pages.parts.live import live
from pages.parts.shell import page

Make = Callable[[], str | bytes]

PREVIEW_HEIGHT = 800
LETTERS = 5000
"""Of a title or a note, at most: what is printed for one keeps others waiting."""
PROBLEMS = "_problems_of_printing"
"""In the session: why the report could not be printed."""


def wishes() -> Look:
    """Ask for audience, title, note and sections; all have a start, so they are folded away."""
    with st.popover("For whom, title, sections"):
        audience = st.segmented_control(
            "For",
            list(AUDIENCES),
            required=True,
            help="; ".join(f"{name}: {words}" for name, words in AUDIENCES.items()),
            **door.own("audience", AUDIENCES, "decision-maker"),
        )
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
    return Look(title[:LETTERS], note[:LETTERS], tuple(sections), audience)


def results_page(choice: Choice, wanted: Look, results: Results) -> str:
    """The report of results, written once for whoever wants the same words on the same day."""
    asked, day = wanted._asdict() | choice.asked, date.today()
    source = own.source_of(results.experiment.dataset)
    key = name_of(results), source, choice.alpha, choice.side, choice.question, wanted, day

    def write() -> str:
        with st.spinner("Writing the report ..."):
            return report_html(results, choice.alpha, choice.side, day=day, source=source, **asked)

    return REPORTS.get(key, write)


def as_pdf(content: str, problems: list[str]) -> bytes:
    """The report as the bytes of a PDF; why there is none is left for the next run of the page."""
    problems.clear()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.pdf")
        try:
            report_pdf(content, path)
        except ValueError as error:
            problems.append(str(error))
            raise
        return path.read_bytes()


def downloads(content: str, name: str, others: Mapping[str, tuple[str, Make]]) -> None:
    """Buttons for the report and its data, each made when it is clicked."""
    html, pdf = f"{name}.html", f"{name}.pdf"
    st.download_button("HTML", lambda: content, html, "text/html", key="html", type="primary")
    if find_browser():
        told = "Printed here; this takes some seconds."
        make = partial(as_pdf, content, st.session_state.setdefault(PROBLEMS, []))
        st.download_button("PDF", make, pdf, "application/pdf", key="pdf", help=told)
    with st.popover("Data"):
        for kind, (mime, make_data) in others.items():
            st.download_button(kind, make_data, f"{name}.{kind.lower()}", mime, key=kind)


def body(choice: Choice) -> None:
    experiment, alpha, side = choice.experiment, choice.alpha, choice.side
    line = st.container(horizontal=True, vertical_alignment="center")
    with line:
        wanted = wishes()

    def answer(results: Results) -> None:
        if len(results.trials) < results.asked:
            st.info("The report is written once all trials are there.")
            return
        content = results_page(choice, wanted, results)

        def as_text() -> str:
            return json.dumps(to_json(results, alpha, side, **choice.asked), indent=2)

        def as_parquet() -> bytes:
            return results.at(alpha, side).to_parquet(index=False)

        data: dict[str, tuple[str, Make]] = {
            "CSV": ("text/csv", lambda: csv_text(results.at(alpha, side))),
            "JSON": ("application/json", as_text),
            "Parquet": ("application/vnd.apache.parquet", as_parquet),
        }
        with line:
            downloads(content, results_name(results, alpha), data)
        for problem in st.session_state.get(PROBLEMS, ()):
            st.error(problem)
        if not find_browser():
            st.caption("No PDF here: it needs Chromium. Open the HTML in a browser and print it.")
        st.iframe(content, height=PREVIEW_HEIGHT, alt="Preview of the report")
        st.caption("The HTML file needs no network; send it as it is.")
        st.subheader("Reproduce it")
        asked = wanted._asdict() | choice.asked
        source = own.source_of(experiment.dataset)
        st.code(python_lines(results, alpha, side, asked, source), language="python")
        trials, seed = choice.trials, choice.seed
        command = command_line(experiment, trials, seed, alpha, side, choice.asked, source)
        if command:
            st.code(command, language="bash", wrap_lines=True)
        else:
            st.caption(NO_COMMAND)

    live(experiment, choice.trials, choice.seed, answer, "report")
    st.page_link("pages/losses.py", label="Models that were trained elsewhere: a file of losses →")


page(body)
