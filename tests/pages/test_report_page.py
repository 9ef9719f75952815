"""The Report page, as a visitor meets it (without a browser)."""

import gc
from datetime import date
from threading import Event
from urllib.parse import SplitResult

import pytest

from cpp_core.report import pdf
from pages.report import PROBLEMS, as_pdf
from tests.pages.test_pages import open_page, settle, text_of

EVIL = "<script>alert(1)</script>"
QUICK = {"dataset": "iris", "algorithms": ["naive-bayes", "dummy"], "trials": "20"}


def opened(**query):
    return settle(open_page("report", **(QUICK | query)))


def previews(at):
    return [frame.proto.srcdoc for frame in at.get("iframe")]


def test_the_preview_follows_title_audience_sections_and_alpha():
    at = opened()
    (first,) = previews(at)
    assert "<h1>Use Naive Bayes</h1>" in first
    assert f'<time datetime="{date.today().isoformat()}">' in first
    assert "90&nbsp;% confidence" in first
    at.text_input(key="title").set_value(EVIL).run()
    at.text_area(key="note").set_value("For the board").run()
    at.segmented_control(key="audience").set_value("analyst").run()
    at.multiselect(key="sections").set_value(["picture"]).run()
    at.slider(key="confidence").set_value(80).run()
    assert not at.exception
    (page,) = previews(at)
    assert "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>" in page
    assert "For the board" in page
    assert '<details class="why" open>' in page
    assert "How to reproduce it" not in page
    assert "80&nbsp;% confidence" in page
    read_as_addresses = [own for own in gc.get_objects() if isinstance(own, SplitResult)]
    assert not any(sum(map(len, own)) > len(page) / 2 for own in read_as_addresses)


def test_downloads_and_the_lines_that_reproduce_it(monkeypatch):
    at = opened()
    labels = [button.label for button in at.get("download_button")]
    assert {"HTML", "CSV", "JSON", "Parquet"} <= set(labels)
    code = [block.value for block in at.code]
    assert any("Experiment.from_dict" in lines for lines in code)
    assert any("--dataset iris --algorithms naive-bayes dummy" in lines for lines in code)
    monkeypatch.setattr(pdf.shutil, "which", lambda name: None)
    at.run()
    assert "PDF" not in [button.label for button in at.get("download_button")]
    assert "No PDF here: it needs Chromium" in text_of(at)


PRINTS = """#!/bin/sh
for word; do case $word in --print-to-pdf=*) printf %%PDF >"${word#*=}";; esac; done
"""
"""A browser that prints little, and at once."""


def test_a_pdf_takes_one_click_or_a_sentence_says_why_not(monkeypatch, tmp_path):
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    browser.chmod(0o755)
    monkeypatch.setattr(pdf, "find_browser", lambda: str(browser))
    monkeypatch.setattr(pdf, "_sandboxed", Event())  # another browser has its own
    monkeypatch.setattr("pages.report.find_browser", lambda: str(browser))
    at = opened()
    assert "PDF" in [button.label for button in at.get("download_button")]
    problems = at.session_state[PROBLEMS]
    with pytest.raises(ValueError, match="could not print the report"):
        as_pdf(("<p>",), problems)  # what a click does
    at.run()
    assert "could not print the report" in at.error[0].value
    browser.write_text(PRINTS, encoding="utf-8")
    assert as_pdf(("<p>",), problems) == b"%PDF"
    assert not at.run().error


def test_limits_of_the_sidebar_are_in_the_report():
    at = opened(limit="30", margin="0.5")
    (page,) = previews(at)
    assert page.index("hown") < page.index("What this assumes")
    code = [block.value for block in at.code]
    for way in (
        ("at_most=30.0", "delta=0.05", "margin=0.5"),
        ("--at-most=30", "--delta=0.05", "--margin=0.5"),
    ):
        assert any(all(words in lines for words in way) for lines in code)
    at.slider(key="sure").set_value(0.99).run()
    assert "with 99&nbsp;% confidence" in previews(at)[0]
    assert any("--delta=0.01" in block.value for block in at.code)
