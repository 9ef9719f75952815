"""The dashboard's speed in a real browser (Debian's chromium) and with forty visitors.

A move of the confidence on Compare, a change of page and a first request stand beside the same on a
bare Streamlit page with as many charts, of the same sizes, with as many bars; the two take turns,
so that whatever else the machine does slows both. Neither the time of starting a server nor that of
compiling is counted.
"""

import asyncio
import json
import os
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import crowd
from benchmarks.visiting import APP, PATIENCE, Visitor, server

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
MOVES, SERVERS = 20, 3
CHANGES, PICKS = 8, 6
LIMIT_MOVE, LIMIT_FRESH, LIMIT_CHANGE = 1.25, 1.15, 1.3
LIMIT_PICK, LIMIT_COLD = 1.5, 3.0

BARE = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st

st.set_page_config(layout="wide")


def shown(title, seed):
    st.title(title)
    rng = np.random.default_rng(seed)
    for number, (size, traces) in enumerate({shapes}):
        figure = go.Figure()
        for kind, count in traces:
            x, y = list(range(count)), rng.integers(1, 100, count).tolist()
            figure.add_trace(go.Bar(x=x, y=y) if kind == "bar" else go.Scatter(x=x, y=y))
        figure.update_layout(**size, barmode="overlay", bargap=0)
        st.plotly_chart(figure, key=f"chart-{{title}}-{{number}}")


def overview():
    shown("Overview", confidence)


def compare():
    shown("Compare", confidence + 100)


pages = [st.Page(compare, title="Compare", default=True), st.Page(overview, title="Overview")]
current = st.navigation(pages, position="top")
confidence = st.sidebar.slider("Confidence", 50, 99, 90)
current.run()
"""
"""The bare pages: a slider, a title, and charts with random counts."""

WATCH = """() => {
    const seen = window.seen = {start: 0, last: 0, charts: new Set()};
    const app = document.querySelector('[data-testid=stApp]');
    for (const kind of ['keydown', 'pointerdown']) document.addEventListener(kind, () => {
        Object.assign(seen, {start: performance.now(), last: 0});
        seen.charts.clear();
    }, true);
    new MutationObserver(() => { seen.last = performance.now(); })
        .observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
    new MutationObserver(records => {
        for (const record of records) {
            const node = record.target, element = node.closest ? node : node.parentElement;
            const chart = element && element.closest('.js-plotly-plot');
            if (chart) { seen.last = performance.now(); seen.charts.add(chart); }
        }
    }).observe(document.body, {subtree: true, childList: true, attributes: true,
                               characterData: true});
}"""
"""Notes a key or a click, and when the script last started or ended or a chart changed."""

QUIET = """() =>
    document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'
    && seen.charts.size && performance.now() - seen.last > 400
"""
FOUND = """() => [
    (seen.last - seen.start) / 1000,
    [...seen.charts].filter(chart => chart.isConnected).length,
]"""
DRAWN = """(charts) =>
    document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'
    && [...document.querySelectorAll('.js-plotly-plot')]
        .filter(chart => chart.querySelector('.trace')).length === charts
"""


def bare_page(charts: list[dict[str, Any]]) -> str:
    """A script with charts of the same sizes and as many bars or points in as many traces."""
    shapes = [
        (
            {name: chart["layout"][name] for name in ("height", "margin")},
            [(trace["type"], len(trace["x"])) for trace in chart["data"]],
        )
        for chart in charts
    ]
    return BARE.format(shapes=shapes)


def opened(browser: Browser, address: str, charts: int) -> tuple[Page, float]:
    """A page with all its charts, and the seconds from its request until its headline is there."""
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    start = time.perf_counter()
    page.goto(address)
    page.locator("[data-testid=stMain] h1").first.wait_for(timeout=1000 * PATIENCE)
    seconds = time.perf_counter() - start
    page.wait_for_function(DRAWN, arg=charts, timeout=1000 * PATIENCE, polling=20)
    return page, seconds


def waited(page: Page) -> tuple[float, int]:
    """Seconds from the key or click until the script is idle and all drawn; charts redrawn."""
    page.wait_for_function(QUIET, timeout=1000 * PATIENCE, polling=50)
    seconds, charts = page.evaluate(FOUND)
    return float(seconds), int(charts)


def move(page: Page) -> tuple[float, int]:
    """Another confidence."""
    page.get_by_test_id("stSidebar").get_by_role("slider").first.press("ArrowLeft")
    return waited(page)


def change(page: Page, name: str) -> tuple[float, int]:
    """Another page."""
    page.get_by_role("link", name=name).first.click()
    return waited(page)


def changes(browser: Browser, bare: str, ours: str, charts: int) -> dict[str, Any]:
    """From Compare to Overview and back, on both servers in turns."""
    pages = [opened(browser, address, charts)[0] for address in (bare, f"{ours}/compare")]
    names = ["Overview", "Compare"] * (CHANGES // 2)
    for page in pages:
        page.evaluate(WATCH)
        for name in names[:2]:
            change(page, name)
    found = np.array([[change(page, name)[0] for page in pages] for name in names])
    for page in pages:
        page.close()
    reference, seconds = np.median(found, axis=0)
    return {
        "work": "a change of page, Compare to Overview and back, until the charts are drawn; the "
        "reference has two bare pages",
        "reference_seconds": float(reference),
        "ours_seconds": float(seconds),
        "ratio": float(reference / seconds),
        "agreement": f"medians of {CHANGES} changes each, in turns; ours takes "
        f"{seconds / reference:.2f} times as long (at most {LIMIT_CHANGE:g})",
    }


def cases(browser: Browser) -> list[dict[str, Any]]:
    """One case of the digits: opened on a fresh server, then others picked from its wall."""
    with server() as own:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(f"{own.address}/report")  # a visitor is there, nothing of the case is computed
        page.wait_for_selector("[data-testid=stIFrame]", timeout=1000 * PATIENCE)
        start = time.perf_counter()
        page.get_by_role("link", name="One case").first.click()
        page.locator(".js-plotly-plot .trace").first.wait_for(timeout=1000 * PATIENCE)
        cold = time.perf_counter() - start
        page.wait_for_timeout(8000)
        page.evaluate(WATCH)
        taken = []
        for number in range(1, PICKS + 1):
            page.locator(".wall [data-case]").nth(number).click()
            taken.append(waited(page)[0])
        page.close()
    picked = float(np.median(taken))
    none: dict[str, Any] = {"reference_seconds": None, "ratio": None}
    return [
        none
        | {
            "work": "One case of the digits, from the click on its page to its bars, cold",
            "ours_seconds": cold,
            "agreement": f"{cold:.2f} s (at most {LIMIT_COLD:g})",
        },
        none
        | {
            "work": "a case picked on the wall, from the click to all charts drawn",
            "ours_seconds": picked,
            "agreement": f"median of {PICKS}, the slowest {max(taken):.2f} s (at most "
            f"{LIMIT_PICK:g})",
        },
    ]


def moves(browser: Browser, bare: str, ours: str, charts: int) -> dict[str, Any]:
    """The same moves on both pages, in turns."""
    pages = [opened(browser, address, charts)[0] for address in (bare, f"{ours}/compare")]
    for page in pages:
        page.evaluate(WATCH)
        move(page)
    found = np.array([[move(page) for page in pages] for _ in range(MOVES)])
    errors = pages[1].locator("[data-testid=stException]").count()
    for page in pages:
        page.close()
    reference, seconds = np.median(found[:, :, 0], axis=0)
    within = np.mean(found[:, 1, 0] <= LIMIT_MOVE * reference)
    redrawn = found[:, :, 1].min(axis=0).astype(int)
    return {
        "work": f"a move of alpha on Compare, from the key to {charts} drawn charts; the reference "
        "is a bare page with such charts",
        "reference_seconds": float(reference),
        "ours_seconds": float(seconds),
        "ratio": float(reference / seconds),
        "agreement": f"medians of {MOVES} moves each, in turns; ours takes "
        f"{seconds / reference:.2f} times as long, {within:.0%} of its moves within {LIMIT_MOVE} "
        f"times (at least half); 95 % under {np.quantile(found[:, 1, 0], 0.95):.2f} s; at least "
        f"{redrawn[1]} charts redrawn (bare: {redrawn[0]}), {errors} errors",
    }


def fresh(browser: Browser, script: Path, charts: int) -> dict[str, Any]:
    """The first request of servers that nobody has visited, of both pages in turns."""
    seconds: dict[str, list[float]] = {"": [], "compare": []}
    for _ in range(SERVERS):
        for path, of in (("", script), ("compare", APP)):
            with server(of) as own:
                page, taken = opened(browser, f"{own.address}/{path}", charts)
                page.close()
            seconds[path].append(taken)
    reference, ours = (float(np.median(taken)) for taken in seconds.values())
    return {
        "work": "a fresh server's first request: Compare, 1000 stored digits trials, until its "
        "headline is there; the reference is the bare page",
        "reference_seconds": reference,
        "ours_seconds": ours,
        "ratio": reference / ours,
        "agreement": f"medians of {SERVERS} servers each, in turns; our slowest "
        f"{max(seconds['compare']):.2f} s; ours takes {ours / reference:.2f} times as long (at "
        f"most {LIMIT_FRESH:g})",
    }


async def charts_of(address: str) -> list[dict[str, Any]]:
    """The charts of the Compare page, in its order."""
    visitor = Visitor(address)
    async with visitor.there():
        await visitor.rerun()
    return [json.loads(spec) for spec in visitor.charts.values()]


def rows() -> list[dict[str, Any]]:
    """Moves of alpha, first requests and many sessions."""
    load = f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        with server() as own:
            # Playwright has an event loop in this thread.
            with ThreadPoolExecutor(1) as pool:
                charts = pool.submit(asyncio.run, charts_of(own.address)).result()
            script = Path(folder) / "bare.py"
            script.write_text(bare_page(charts), encoding="utf-8")
            with server(script) as bare:
                addresses = bare.address, own.address
                measured = [moves(browser, *addresses, len(charts))]
                measured.append(changes(browser, *addresses, len(charts)))
        measured.append(fresh(browser, script, len(charts)))
        measured += cases(browser)
        browser.close()
    measured += crowd.rows()
    for row in measured:
        row["agreement"] += f"; {load}"
    return measured


if __name__ == "__main__":
    for found in rows():
        said = {name: value for name, value in found.items() if value is not None}
        print("; ".join(f"{k}: {v:.4g}" if isinstance(v, float) else v for k, v in said.items()))
