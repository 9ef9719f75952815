"""A server, and visits to its pages in a real browser."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
"""The first is the same browser without a frame to draw, for two thirds of the work."""

IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"
OPTIONS = ["--server.headless=true", "--server.address=127.0.0.1"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def serving(folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", *OPTIONS, f"--server.port={port}"],
        cwd=ROOT,
        env={**os.environ, "CPP_CORE_STORE": str(folder / "store")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(200):
        try:
            urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
            break
        except OSError:
            time.sleep(0.1)
    try:
        yield address
    finally:
        process.terminate()
        process.wait(10)


@cache
def everybody(browser):
    """The visitor that all tests share."""
    context = browser.new_context()
    context.add_init_script("localStorage.clear()")
    return context


def opened(browser, width, height, scheme, **more):
    """A page of ``everybody``, who has loaded the scripts already.

    Nothing else is remembered. Another kind of device is a visitor of its own.
    """
    size = {"width": width, "height": height}
    if more:
        return browser.new_page(viewport=size, color_scheme=scheme, **more)
    page = everybody(browser).new_page()
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    return page


class Visit:
    """A page, with everything that went wrong on it."""

    def __init__(
        self,
        browser,
        address,
        path="",
        width=1400,
        scheme="light",
        settled=True,
        height=1000,
        **more,
    ):
        self.faults = []
        self.page = opened(browser, width, height, scheme, **more)
        own = (address, address.replace("http", "ws"), "data:", "blob:")
        self.page.on("console", self._console)
        self.page.on(
            "request",
            lambda r: None if r.url.startswith(own) else self.faults.append(f"asks {r.url}"),
        )
        self.page.goto(f"{address}/{path}")
        if settled:
            self.idle()

    def _console(self, message):
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(message.text)

    def idle(self):
        self.page.wait_for_selector(IDLE, timeout=60_000)
        return self

    def text(self):
        return self.page.locator("[data-testid=stMain]").inner_text()

    def words(self):
        """What is said, without the ticks of the axes."""
        kinds = ":is([data-testid=stMarkdown], [data-testid=stHtml])"
        return self.page.locator(f"[data-testid=stMain] {kinds}").all_inner_texts()

    def confidence(self, place="[data-testid=stSidebar]"):
        return self.page.locator(place).get_by_role("slider", name="Confidence").first

    def control(self, label):
        """A control of the sidebar that offers several things."""
        sidebar = self.page.locator("[data-testid=stSidebar]")
        return sidebar.get_by_role("combobox", name=label).first

    def pick(self, label, option):
        from playwright.sync_api import expect

        self.control(label).click()
        self.page.get_by_role("option", name=option).first.click()
        expect(self.control(label)).to_have_value(option, timeout=60_000)

    def close(self):
        exceptions = self.page.locator("[data-testid=stException]").count()
        self.page.close()
        assert not exceptions
        assert not self.faults
