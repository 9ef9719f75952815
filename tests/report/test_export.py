"""Files for other programs: nothing in them is executed."""

import io
import threading
import time

import pandas as pd
import psutil
import pytest

from cpp_core.report import pdf
from cpp_core.report.export import csv_text

EVIL = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\n=1", "＝1"]


def test_no_cell_of_a_csv_begins_like_a_formula():
    frame = pd.DataFrame({"=name": EVIL, "kind": pd.Categorical(["=a", *"bcdefg"])})
    back = pd.read_csv(io.StringIO(csv_text(frame), newline=""), dtype=str)
    assert list(back.columns) == ["'=name", "kind"]
    assert list(back["'=name"]) == [f"'{text}" for text in EVIL]
    assert back["kind"][0] == "'=a"


@pytest.mark.parametrize("text", ["\r=1", "a\r=1", "a\r\n=1"])
def test_no_cell_begins_a_row_of_its_own(text):
    back = pd.read_csv(io.StringIO(csv_text(pd.DataFrame({"x": [text, "end"]})), newline=""))
    assert len(back) == 2
    assert not back["x"][0].startswith(("=", "\n", "\r"))


def test_numbers_names_and_gaps_stay_as_they_are():
    frame = pd.DataFrame(
        {"x": [-1.5, float("inf")], "text": ["-2e3", None], "name": ["svm-rbf", "a=b"]}
    )
    assert csv_text(frame) == frame.to_csv(index=False)
    twice = pd.DataFrame([["=a", 1], ["b", 2]], columns=["x", "x"])
    assert csv_text(twice) == "x,x\n'=a,1\nb,2\n"


BROWSER = """#!/bin/sh
echo "$@" >> {folder}/calls
mkdir {folder}/prints || echo both >> {folder}/calls
{first}
rmdir {folder}/prints
for word in "$@"; do case $word in --print-to-pdf=*) echo x > "${{word#*=}}";; esac; done
"""
NO_SANDBOX = "case $* in *--no-sandbox*) ;; *) rmdir {folder}/prints; exit 1;; esac"


@pytest.fixture
def chromium(monkeypatch, tmp_path):
    """A browser that notes what it is asked; it does something first, as root it has no sandbox."""
    path = tmp_path / "chromium"

    def make(first="sleep 0.05"):
        path.write_text(BROWSER.format(folder=tmp_path, first=first.format(folder=tmp_path)))
        path.chmod(0o755)

    def calls():
        found = (tmp_path / "calls").read_text().splitlines()
        (tmp_path / "calls").unlink()
        return found

    make()
    monkeypatch.setattr(pdf, "find_browser", lambda: str(path))
    monkeypatch.setattr(pdf, "_sandboxed", threading.Event())
    return make, calls


def test_chromium_prints_with_its_sandbox_where_it_can(chromium, tmp_path):
    make, calls = chromium
    make(NO_SANDBOX)
    pdf.report_pdf("<p>x", tmp_path / "x.pdf")
    assert ["--no-sandbox" in call for call in calls()] == [False, True]
    make()
    pdf.report_pdf("<p>x", tmp_path / "x.pdf")
    assert ["--no-sandbox" in call for call in calls()] == [False]
    make(NO_SANDBOX)  # it has worked: this is another failure
    with pytest.raises(ValueError, match="could not print the report"):
        pdf.report_pdf("<p>x", tmp_path / "x.pdf")
    assert ["--no-sandbox" in call for call in calls()] == [False]


def test_a_browser_that_hangs_ends_with_all_that_it_started(chromium, tmp_path, monkeypatch):
    make, _ = chromium
    make("sleep 300 & echo $! > {folder}/started; wait")
    monkeypatch.setattr(pdf, "PDF_SECONDS", 1.0)
    with pytest.raises(ValueError, match="could not print the report"):
        pdf.report_pdf("<p>x", tmp_path / "x.pdf")
    started = int((tmp_path / "started").read_text())
    deadline = time.monotonic() + 20
    while psutil.pid_exists(started) and psutil.Process(started).status() != "zombie":
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_who_waits_too_long_for_others_reads_that(chromium, tmp_path, monkeypatch):
    monkeypatch.setattr(pdf, "WAIT_SECONDS", 0.05)
    with pdf._printing, pytest.raises(ValueError, match="Others are printing reports"):
        pdf.report_pdf("<p>x", tmp_path / "x.pdf")
    pdf.report_pdf("<p>x", tmp_path / "x.pdf")


def test_one_pdf_is_printed_at_a_time(chromium, tmp_path):
    threads = [
        threading.Thread(target=pdf.report_pdf, args=("<p>x", tmp_path / f"{i}.pdf"))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _, calls = chromium
    found = calls()
    assert len(found) == 4
    assert "both" not in found
