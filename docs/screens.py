"""Take the README's pictures: ``python docs/screens.py`` (needs Debian's chromium)."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import sync_playwright

from cpp_core.catalog.example_tables import EXAMPLE_TABLES

DOCS = Path(__file__).parent
PAGES = {
    "overview": "",
    "compare": "compare?side=two-sided",
    "case": "case?variant=z-variable",
    "losses": "losses",
    "report": "report",
    "data": "data",
}
CONTENT = ".js-plotly-plot, [data-testid=stIFrame], .preview"
EXAMPLES = {"losses": "Try an example", "data": EXAMPLE_TABLES["churn"].label}
"""What is pressed on a page that is empty without a file."""

IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
OPTIONS = ["--server.headless=true", "--server.address=127.0.0.1"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


def main() -> None:
    """Start a server, open each page, save what is there."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", *OPTIONS, f"--server.port={port}"],
        cwd=DOCS.parent,
    )
    try:
        for _ in range(150):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
                break
            except OSError:
                time.sleep(0.2)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=FLAGS
            )
            for name, path in PAGES.items():
                page = browser.new_page(viewport={"width": 1400, "height": 900})
                page.goto(f"{address}/{path}")
                page.wait_for_selector(IDLE, timeout=60_000)
                if name in EXAMPLES:
                    page.get_by_role("button", name=EXAMPLES[name]).click()
                page.locator(CONTENT).first.wait_for(timeout=60_000)
                page.wait_for_timeout(4000)
                page.screenshot(path=str(DOCS / f"{name}.png"))
                page.close()
            browser.close()
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
