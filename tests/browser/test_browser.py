"""The dashboard in a real browser: first requests, links, live runs, widths, themes."""

import os
import re
import time

import pytest

from tests.browser.visits import CHROMIUM, Visit

if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no chromium on this machine", allow_module_level=True)

from playwright.sync_api import expect

pytestmark = pytest.mark.slow


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
