"""Report: one file to forward, from the current choice."""

import json
import tempfile
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from urllib.parse import clear_cache  # type: ignore[attr-defined]

import streamlit as st
from plotly.offline import get_plotlyjs

from cpp_core import Results
from cpp_core.report import AUDIENCES, SECTIONS
from cpp_core.report.export import csv_text, results_name, to_json
from cpp_core.report.pages import Look, report_html
from cpp_core.report.pdf import find_browser, report_pdf
from cpp_core.report.reproduce import NO_COMMAND, command_line, python_lines
from pages.parts import door, own
from pages.parts.brought import source_told
from pages.parts.choices import Choice
from pages.parts.keeping import REPORTS, name_of
from pages.parts.live import found_again, live
from pages.parts.shell import link_to, page

Make = Callable[[], str | bytes]
Slim = tuple[str, ...]
"""A report without the library that draws its charts, which is nearly all of it: what stands before
and after. What a session may ask for is held until some time after it has left."""

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


def complete(content: Slim) -> str:
    """The report as one file."""
    return get_plotlyjs().join(content)


def results_page(choice: Choice, wanted: Look, results: Results) -> Slim:
    """The report of results, written once for whoever wants the same words on the same day."""
    asked, day = wanted._asdict() | choice.asked, date.today()
    source = source_told(results.experiment, choice.alpha, choice.side)
    key = name_of(results), source, choice.alpha, choice.side, choice.question, wanted, day

    def write() -> Slim:
        with st.spinner("Writing the report ..."):
            text = report_html(results, choice.alpha, choice.side, day=day, source=source, **asked)
            return tuple(text.split(get_plotlyjs()))

    return REPORTS.get(key, write)


def as_pdf(content: Slim, problems: list[str]) -> bytes:
    """The report as the bytes of a PDF; why there is none is left for the next run of the page."""
    problems.clear()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "report.pdf")
        try:
            report_pdf(complete(content), path)
        except ValueError as error:
            problems.append(str(error))
            raise
        return path.read_bytes()


def downloads(content: Slim, name: str, others: Mapping[str, tuple[str, Make]]) -> None:
    """Buttons for the report and its data, each made when it is clicked."""
    html, pdf, whole = f"{name}.html", f"{name}.pdf", partial(complete, content)
    st.download_button("HTML", whole, html, "text/html", key="html", type="primary")
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
        content, found = results_page(choice, wanted, results), found_again(results)

        def as_text() -> str:
            return json.dumps(to_json(found(), alpha, side, **choice.asked), indent=2)

        def as_parquet() -> bytes:
            return found().at(alpha, side).to_parquet(index=False)

        data: dict[str, tuple[str, Make]] = {
            "CSV": ("text/csv", lambda: csv_text(found().at(alpha, side))),
            "JSON": ("application/json", as_text),
            "Parquet": ("application/vnd.apache.parquet", as_parquet),
        }
        with line:
            downloads(content, results_name(results, alpha), data)
        for problem in st.session_state.get(PROBLEMS, ()):
            st.error(problem)
        if not find_browser():
            st.caption("No PDF here: it needs Chromium. Open the HTML in a browser and print it.")
        st.iframe(complete(content), height=PREVIEW_HEIGHT, alt="Preview of the report")
        # Streamlit asks whether the text is an address, and Python would remember 128 such texts.
        clear_cache()
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
    link_to("losses", "Models that were trained elsewhere: a file of losses →")


page(body)
