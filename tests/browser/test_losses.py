"""A file of losses in a real browser: dropped, understood, judged, and followed by another."""

import os
import re

import numpy as np
import pytest

from tests.browser.visits import CHROMIUM, Visit

if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no chromium on this machine", allow_module_level=True)

from playwright.sync_api import expect

pytestmark = pytest.mark.slow

SIZES = [(1280, 720, "light"), (390, 844, "dark")]


def losses(names, k=80):
    rng = np.random.default_rng(0)
    hard, more = rng.exponential(size=k), 1 + 0.1 * rng.normal(size=k)
    rows = [f"{x},{x + y}" for x, y in zip(hard, more, strict=True)]
    return "\n".join([",".join(names), *rows]).encode()


def give(visit, name, content, another=False):
    """Hand a file to the uploader, as somebody who has one."""
    page = visit.page
    if another:
        page.get_by_role("button", name="Another file").click()
    file = {"name": name, "mimeType": "text/csv", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)
    return page.locator("[data-testid=stMain]")


def fits(visit):
    """Whether nothing is wider than the screen."""
    visit.page.wait_for_timeout(500)
    wide = "document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth"
    return visit.page.evaluate(wide) <= 2


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_a_file_is_judged_and_another_one_forgets_it(browser, shared, width, height, scheme):
    visit = Visit(browser, shared, "losses", width, scheme, height=height)
    page = visit.page
    expect(page.get_by_role("heading", name="Which model should you use?")).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_have_count(0)
    assert fits(visit)

    main = give(visit, "first.csv", losses(["good", "bad"]))
    headline = page.get_by_role("heading", name="Use good.")
    expect(headline).to_be_visible(timeout=30_000)
    assert headline.bounding_box()["y"] < height / 2  # on the first screen
    expect(main).to_contain_text("first.csv: 80 cases, 2 models. Taken as losses")
    expect(page.get_by_role("radio", name="scores")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=30_000)
    assert fits(visit)

    page.get_by_role("radio", name="scores").click()
    expect(page.get_by_role("heading", name="Use bad.")).to_be_visible(timeout=30_000)
    expect(main).to_contain_text("Taken as scores, greater is better, as was said.")

    main = give(visit, "second.csv", losses(["accuracy_x", "accuracy_y"]), another=True)
    expect(page.get_by_role("heading", name="Use accuracy_y.")).to_be_visible(timeout=30_000)
    expect(main).to_contain_text("because of the column name 'accuracy_x'")
    expect(main).not_to_contain_text("first.csv")
    expect(page.locator("input[type=file]")).to_have_count(0)  # what asked for it has closed
    assert fits(visit)
    visit.close()


def test_a_small_limit_is_shown_as_it_was_typed(browser, shared):
    visit = Visit(browser, shared, "losses")
    page = visit.page
    page.get_by_role("button", name="Try an example").click()
    page.get_by_text("Your limits").click()
    limit = page.get_by_role("spinbutton", name="Is a new loss at most")
    limit.fill("0.0042")
    limit.press("Enter")
    expect(page.locator("[data-testid=stMain]")).to_contain_text("--at-most=0.0042", timeout=30_000)
    expect(limit).to_have_value("0.0042")
    visit.close()


def test_a_bad_file_is_told_and_the_next_one_works(browser, shared):
    visit = Visit(browser, shared, "losses")
    main = give(visit, "bad.csv", b"a,b\n1,2\n3\n")
    expect(main).to_contain_text("Line 3 of bad.csv has 1 cells", timeout=30_000)
    main = give(visit, "good.csv", losses(["good", "bad"]))
    expect(visit.page.get_by_role("heading", name="Use good.")).to_be_visible(timeout=30_000)
    expect(main).not_to_contain_text("bad.csv")
    visit.close()


def test_the_confidence_is_in_the_link_and_the_file_is_not(browser, server):
    """The first request of a fresh server is this page; another visitor of it sees no file."""
    visit = Visit(browser, server, "losses?alpha=0.2")
    page = visit.page
    page.get_by_role("button", name="Try an example").click()
    main = page.locator("[data-testid=stMain]")
    expect(main).to_contain_text(re.compile("bound .80.%."), timeout=30_000)
    slider = page.get_by_role("slider", name="Confidence").first
    slider.focus()
    slider.press("ArrowRight")
    expect(main).to_contain_text(re.compile("bound .81.%."), timeout=30_000)
    expect(page).to_have_url(re.compile(r"/losses\?alpha=0.19$"))
    again = Visit(browser, server, page.url.removeprefix(server + "/"))
    expect(again.page.get_by_role("heading", name="Which model should you use?")).to_be_visible()
    expect(again.page.locator("[data-testid=stMain]")).to_contain_text(re.compile("81.%"))
    again.close()
    page.get_by_role("link", name="Report").first.click()
    expect(page.get_by_role("heading", name="Reproduce it")).to_be_visible(timeout=60_000)
    expect(page).to_have_url(re.compile("alpha=0.19"), timeout=60_000)
    page.get_by_role("link", name="Losses").first.click()
    expect(main).to_contain_text("minutes_off.csv: 300 cases, 3 models.", timeout=60_000)
    visit.close()


def test_the_report_of_a_file_is_downloaded(browser, shared, tmp_path):
    visit = Visit(browser, shared, "losses")
    page = visit.page
    page.get_by_role("button", name="Try an example").click()
    button = page.get_by_role("button", name="Report (HTML)")
    expect(button).to_be_visible(timeout=30_000)
    with page.expect_download(timeout=60_000) as download:
        button.click()
    path = tmp_path / "report.html"
    download.value.save_as(path)
    assert "<h1>Use boosted_trees</h1>" in path.read_text(encoding="utf-8")
    visit.close()
