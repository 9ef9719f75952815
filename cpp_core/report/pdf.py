"""Printing a report, through a Chromium."""

import shutil
import subprocess
import tempfile
from pathlib import Path
from threading import Lock
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
PDF_SECONDS = 120
_printing = Lock()
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
            with _printing:
                _print(command)
            target.write_bytes(printed.read_bytes())
        except (OSError, subprocess.SubprocessError) as error:
            raise ValueError(
                f"{browser} could not print the report ({type(error).__name__}); open the HTML "
                "file in a browser and print it there."
            ) from error


def _print(command: list[str]) -> None:
    """Print with Chromium's sandbox; without it where there can be none.

    Root, and most containers, have none. The document may make no request either way.
    """
    limits: Any = {"capture_output": True, "timeout": PDF_SECONDS, "check": True}
    try:
        subprocess.run(command, **limits)
    except subprocess.CalledProcessError:
        subprocess.run([command[0], "--no-sandbox", *command[1:]], **limits)
