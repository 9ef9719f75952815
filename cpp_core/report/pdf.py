"""Printing a report, through a Chromium."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from threading import Event, Lock

from cpp_core.method.parent import end_tree
from cpp_core.report.export import written

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PDF_SECONDS, WAIT_SECONDS = 120, 60
"""How long printing may take, and how long one waits for others to have printed."""
_sandboxed, _printing = Event(), Lock()
"""One at a time: each Chromium takes some hundred MB."""


def find_browser() -> str | None:
    """A Chromium on this machine, None where there is none."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def report_pdf(page: str, path: str | Path) -> None:
    """Print an HTML document to a PDF file, through a Chromium.

    Raises
    ------
    ValueError
        Where there is no Chromium, or it did not print.
    """
    browser = find_browser()
    if browser is None:
        raise ValueError(
            "A PDF needs Chromium or Chrome on this machine, and none was found; install one, or "
            "open the HTML file in any browser and print it."
        )
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise ValueError(f"The folder of {path} does not exist; make it first.")
    with tempfile.TemporaryDirectory() as folder:
        source, printed = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_text(page, encoding="utf-8")
        command = [browser, "--headless", "--disable-gpu", "--no-first-run"]
        command += [f"--user-data-dir={folder}/profile", "--no-pdf-header-footer"]
        command += ["--virtual-time-budget=10000", f"--print-to-pdf={printed}", source.as_uri()]
        try:
            _in_turn(command)
            content = printed.read_bytes()
        except (OSError, subprocess.SubprocessError) as error:
            raise ValueError(
                f"{browser} could not print the report ({type(error).__name__}); open the HTML "
                "file in a browser and print it there."
            ) from error
    with written(target):
        target.write_bytes(content)


def _in_turn(command: list[str]) -> None:
    """Print when it is this one's turn, which comes soon or not at all."""
    if not _printing.acquire(timeout=WAIT_SECONDS):
        raise ValueError(
            "Others are printing reports at present: try again in a minute, or open the HTML file "
            "in a browser and print it there."
        )
    try:
        _print(command)
    finally:
        _printing.release()


def _print(command: list[str]) -> None:
    """Print with Chromium's sandbox; without it where there can be none.

    Root, and most containers, have none. The document may make no request either way. Where the
    sandbox has worked once, whatever fails is not tried again without it.
    """
    try:
        _run(command)
        _sandboxed.set()
    except subprocess.CalledProcessError:
        if _sandboxed.is_set():
            raise
        _run([command[0], "--no-sandbox", *command[1:]])


def _run(command: list[str]) -> None:
    """Run a command to its end; where its time is over first, all that it started ends with it."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        code = process.wait(PDF_SECONDS)
    finally:
        if process.poll() is None:
            end_tree(process.pid)
            process.wait()
    if code:
        raise subprocess.CalledProcessError(code, command)
