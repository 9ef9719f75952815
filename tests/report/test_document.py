"""The templates of the report: every text stays a text, a slip fails, all is in the one file."""

import re
from html.parser import HTMLParser
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest
from jinja2 import UndefinedError

from cpp_core import Experiment
from cpp_core.catalog.loss_files import read_losses
from cpp_core.report import losses_report_html, report_html
from cpp_core.report.document import Section, Table, prose, render
from cpp_core.trials.one_trial import run_block
from cpp_core.trials.results import Results
from cpp_core.verdicts.terms import TERMS

TEMPLATES = files("cpp_core.report") / "templates"
MARKUP = ["<script>alert(1)</script>", "{{ 7*7 }}", "{% raw %}", "{# gone #}", "&lt;", "\"'"]


class Shown(HTMLParser):
    """The texts that a browser would show, by the tag before them, and all tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, list[str]] = {}
        self.tags: list[tuple[str, dict]] = []
        self.feed(page)
        for texts in self.texts.values():
            texts[:] = [text.replace("\N{NO-BREAK SPACE}", " ").strip() for text in texts]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")

    def handle_data(self, data):
        if self.tags:
            self.texts[self.tags[-1][0]][-1] += data


@pytest.fixture(scope="module")
def block():
    experiment = Experiment(dataset="iris", algorithms=("dummy",))
    return experiment, run_block(experiment, 0, range(2))[0]


@pytest.mark.parametrize("evil", MARKUP)
def test_texts_of_a_report_of_results_are_shown_as_they_are(block, evil):
    experiment, arrays = block
    message = np.full(2, evil.encode(), dtype="S200")
    broken = {"dummy": arrays["dummy"] | {"failed": np.array([1, 1]), "failure": message}}
    results = Results(experiment, 0, np.arange(2), broken, 2)
    shown = Shown(report_html(results, title=evil, note=evil, sections=["numbers"]))
    assert shown.texts["title"] == [evil]
    assert shown.texts["h1"] == [evil]
    assert shown.texts["p"].count(evil) == 1
    assert shown.texts["td"].count(evil) == 2
    assert sum(tag == "script" for tag, _ in shown.tags) == 2  # Plotly and draw.js


@pytest.mark.parametrize("evil", MARKUP)
def test_names_in_a_file_of_losses_are_shown_as_they_are(evil):
    name = '"' + evil.replace('"', '""') + '"'
    rows = [f"{i / 40},{i / 30},{name}" for i in range(40)]
    content = "\n".join([f"{name},other,site", *rows]).encode()
    table = read_losses(content, [evil, "other"], group="site")
    page = losses_report_html(table, 0.1, audience="analyst")
    shown = Shown(page)
    # Twice as the group, in its own row, in its row of the numbers.
    assert shown.texts["td"].count(evil) == 4
    assert any(repr(evil) in text for text in shown.texts["p"])  # where a bound comes from
    assert any(f"[{evil!r}, 'other']" in text for text in shown.texts["pre"])
    labels = [attrs["aria-label"] for _, attrs in shown.tags if "aria-label" in attrs]
    assert any(evil in label for label in labels)
    places = [attrs["data-figure"] for _, attrs in shown.tags if "data-figure" in attrs]
    assert len(set(places)) == len(places) == 3
    charts = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)
    assert len(charts) == 3
    assert not any(set("<>&'") & set(chart) for chart in charts)


def test_a_number_stays_beside_its_percent_sign():
    assert str(prose("<90 %>")) == "&lt;90&nbsp;%&gt;"
    section = Section("5 %", bullets=["6 %"], text="7 %", table=Table((), [["8 %"]], "9 %"))
    page = render("t", "", "4 %", "2026-01-31", {"answer": section}, analyst=False)
    for value in (4, 6, 7, 9):
        assert f"{value}&nbsp;%" in page


def test_the_words_of_a_report_are_explained_in_it():
    section = Section("A title", bullets=["The 90 % bound of a trial."], code="margin = drift")
    page = render("t", "", "f", "2026-01-31", {"answer": section}, analyst=False)
    words = re.findall(r'<dt data-words="(.*?)">(.*?)</dt><dd>(.*?)</dd>', page)
    assert [name for _, name, _ in words] == ["bound", "trial"]
    for forms, name, means in words:
        assert forms == "|".join(TERMS[name].spellings)
        assert means == TERMS[name].definition
    assert "<dt" not in render("t", "", "f", "2026-01-31", {}, analyst=False)


def test_a_template_that_names_what_is_not_there_fails():
    with pytest.raises(UndefinedError, match="strip"):
        render("t", "", "f", "d", {"answer": SimpleNamespace(title="t")}, analyst=False)


def test_style_and_script_are_inside_and_nothing_is_fetched():
    page = render("t", "", "f", "2026-01-31", {}, analyst=False)
    assert f"<style>{(TEMPLATES / 'style.css').read_text(encoding='utf-8')}</style>" in page
    assert f"<script>{(TEMPLATES / 'draw.js').read_text(encoding='utf-8')}</script>" in page
    shown = Shown(page)
    policies = [attrs["content"] for _, attrs in shown.tags if "http-equiv" in attrs]
    assert len(policies) == 1
    assert policies[0].startswith("default-src 'none'; script-src 'unsafe-inline'; ")
    asked = [attrs.get("src", attrs.get("href", "data:,")) for _, attrs in shown.tags]
    assert set(asked) == {"data:,"}
