"""The dashboard in a real browser: first requests, links, live runs, widths, themes."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium")
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

if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no chromium on this machine", allow_module_level=True)

from playwright.sync_api import expect, sync_playwright  # noqa: E402

from cpp_core import Experiment, run  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server for the tests that need no fresh one."""
    with serving(tmp_path_factory.mktemp("shared")) as address:
        yield address


@pytest.fixture
def server(tmp_path):
    """A fresh server with an empty store; gives its address."""
    with serving(tmp_path) as address:
        yield address


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


class Visit:
    """A page, with everything that went wrong on it."""

    def __init__(self, browser, address, path="", width=1400, scheme="light", settled=True):
        self.faults = []
        self.page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=scheme)
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

    def close(self):
        exceptions = self.page.locator("[data-testid=stException]").count()
        self.page.close()
        assert not exceptions
        assert not self.faults


@pytest.mark.parametrize("path", ["", "compare", "case", "report"])
def test_first_request_of_a_fresh_server(browser, server, path):
    visit = Visit(browser, server, path)
    expect(visit.page.locator("[data-testid=stSidebar]")).to_contain_text("Algorithms")
    heading = {
        "": "What will the next loss be?",
        "compare": "Compare",
        "case": "One case",
        "report": "Report",
    }[path]
    expect(visit.page.locator("[data-testid=stMain]")).to_contain_text(heading, timeout=60_000)
    if path != "report":
        expect(visit.page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    assert "Page not found" not in visit.page.inner_text("body")
    visit.close()


def test_alpha_moves_the_charts_and_the_link_reopens_the_view(browser, shared):
    visit = Visit(browser, shared, "compare")
    page = visit.page
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    before = visit.words()
    slider = page.get_by_role("slider", name="Alpha")
    slider.focus()
    for _ in range(5):
        slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("alpha=0.15"), timeout=60_000)
    said = re.compile("85.% confidence")
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text(said)
    visit.idle()
    page.wait_for_timeout(500)
    after = visit.words()
    assert after != before
    again = Visit(browser, shared, page.url.removeprefix(shared + "/"))
    expect(again.page.locator("[data-testid=stSidebar]")).to_contain_text(
        re.compile("85.% confidence")
    )
    again.page.wait_for_timeout(500)
    assert again.words() == after
    again.close()
    visit.close()


def test_run_cancel_resume(browser, shared):
    query = "dataset=digits&algorithms=random-forest&trials=300"
    visit = Visit(browser, shared, f"compare?{query}")
    page = visit.page
    run = page.get_by_role("button", name=re.compile("Run|Go on"))
    run.click(timeout=60_000)
    progress = page.locator("[data-testid=stProgress]")
    expect(progress).to_contain_text(re.compile(r"\d+ of 300 trials"), timeout=30_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    start = time.time()
    page.get_by_role("button", name="Cancel").click()
    resume = page.get_by_role("button", name="Go on")
    expect(resume).to_be_visible(timeout=10_000)
    assert time.time() - start < 10
    page.wait_for_timeout(2000)
    expect(resume).to_be_visible()  # the rerun after Cancel has not started it again
    resume.click()
    expect(progress).to_contain_text("of 300 trials", timeout=30_000)
    second = Visit(browser, shared, f"compare?{query}")
    expect(second.page.locator("[data-testid=stProgress]")).to_contain_text(
        "of 300 trials", timeout=30_000
    )
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="Watch")).to_be_visible(timeout=10_000)
    stop = second.page.get_by_role("button", name="Cancel")
    expect(stop).to_be_visible()  # goes on for the second visitor
    page.wait_for_timeout(4000)
    stop.click()
    expect(second.page.get_by_role("button", name="Go on")).to_be_visible(timeout=10_000)
    second.close()
    visit.close()


@pytest.mark.parametrize("path", ["", "compare", "case"])
def test_phone_width_and_dark_theme(browser, shared, path):
    for width, scheme in ((400, "light"), (1400, "dark")):
        visit = Visit(browser, shared, path, width, scheme)
        expect(visit.page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
        visit.page.wait_for_timeout(500)
        wide = visit.page.evaluate(
            "document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth"
        )
        assert wide <= 2
        visit.close()


COUNTS = """chart => [
    [...chart.querySelectorAll('.annotation-text')].map(t => t.textContent)
        .filter(t => t.endsWith('kept')).sort(),
    chart.querySelectorAll('.barlayer .point').length,
]"""


def test_new_cases_are_drawn_in_the_browser(browser, shared):
    results = run(Experiment.preset("digits-candidate"), 1)  # trial 0 is what the page draws

    def counts(alpha, drawn):
        ends = results.at(alpha, "upper").set_index("algorithm")["upper"]
        new = {name: results.arrays[name]["test"][0, :drawn] for name in results.algorithms}
        return sorted(f"{int((new[name] <= ends[name]).sum())} of {drawn} kept" for name in new)

    for width, scheme in ((1280, "light"), (390, "dark")):
        visit = Visit(browser, shared, "?trials=1000&alpha=0.1", width, scheme)
        button = visit.page.locator(".updatemenu-button")
        chart = visit.page.locator(".js-plotly-plot").filter(has=button).first
        one, several = (chart.locator(".updatemenu-button").nth(i) for i in range(2))
        expect(one).to_be_visible(timeout=60_000)

        def shows(drawn, alpha=0.1, chart=chart, page=visit.page):
            for _ in range(100):
                told, bars = chart.evaluate(COUNTS)
                assert bars == 6  # none of them vanishes while cases are drawn
                if told == (counts(alpha, drawn) if drawn else []):
                    return
                page.wait_for_timeout(100)
            pytest.fail(f"after {drawn} cases: {told}")

        shows(0)
        for pressed in (1, 2, 3):
            one.click()
            shows(pressed)
        several.click()
        shows(20)
        one.click()
        shows(21)
        several.click()
        shows(40)
        expect(one).to_have_text("All 40 stored cases drawn: start again")
        one.click()
        shows(0)
        one.click()
        shows(1)
        if width > 1000:  # another alpha starts anew, also while cases are being drawn
            several.click()
            slider = visit.page.locator("[data-testid=stSidebar] [data-testid=stSlider] input")
            slider.first.focus()
            visit.page.keyboard.press("ArrowRight")
            expect(visit.page).to_have_url(re.compile("alpha=0.1[1-9]"), timeout=30_000)
            visit.idle().page.wait_for_timeout(500)
            alpha = float(re.search("alpha=([0-9.]+)", visit.page.url)[1])
            shows(0, alpha)
            one.click()
            shows(1, alpha)
        visit.close()


def test_pages_keep_the_choice(browser, server):
    query = "?dataset=quadnoise&algorithms=gd&algorithms=sgd&trials=20"
    visit = Visit(browser, server, query, settled=False)  # at once: nothing is computed yet
    visit.page.get_by_role("link", name="Compare").first.click(timeout=60_000)
    expect(visit.page).to_have_url(re.compile("/compare"), timeout=60_000)
    expect(visit.page.locator("[data-testid=stSidebar]")).to_contain_text(
        "Simulated", timeout=60_000
    )
    expect(visit.page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    for page in ("Compare", "Overview"):
        visit.idle().page.get_by_role("link", name=page).first.click()
        expect(visit.page).to_have_url(re.compile("dataset=quadnoise&trials=20"), timeout=60_000)
        expect(visit.page.locator("[data-testid=stSidebar]")).to_contain_text("Simulated")
    visit.close()
