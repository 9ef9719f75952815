"""Files for other programs: nothing in them is executed."""

import io
import subprocess
import threading
import time

import pandas as pd
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


@pytest.fixture
def chromium(monkeypatch):
    """A browser that notes what it is asked, and how many print at once."""
    calls, at_once = [], []

    def started(command, **limits):
        calls.append(command)
        at_once.append(1)
        most.append(len(at_once))
        time.sleep(0.02)
        at_once.pop()
        if refuses and "--no-sandbox" not in command:
            raise subprocess.CalledProcessError(1, command)
        (path,) = (text.partition("=")[2] for text in command if text.startswith("--print-to"))
        open(path, "wb").close()

    refuses, most = [], []
    monkeypatch.setattr(pdf, "find_browser", lambda: "chromium")
    monkeypatch.setattr("cpp_core.report.pdf.subprocess.run", started)
    return calls, refuses, most


def test_chromium_prints_with_its_sandbox_where_it_can(chromium, tmp_path):
    calls, refuses, _ = chromium
    pdf.report_pdf("<p>x", tmp_path / "x.pdf")
    assert ["--no-sandbox" in command for command in calls] == [False]
    calls.clear()
    refuses.append(True)
    pdf.report_pdf("<p>x", tmp_path / "x.pdf")
    assert ["--no-sandbox" in command for command in calls] == [False, True]


def test_one_pdf_is_printed_at_a_time(chromium, tmp_path):
    threads = [
        threading.Thread(target=pdf.report_pdf, args=("<p>x", tmp_path / f"{i}.pdf"))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert chromium[2] == [1] * 4
