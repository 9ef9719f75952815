"""One case in a real browser: the wall is clicked, tapped and reached with keys."""

import os
import re

import pytest

from tests.browser.visits import CHROMIUM, Visit

if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no chromium on this machine", allow_module_level=True)

from playwright.sync_api import expect

pytestmark = pytest.mark.slow
TILES = "[data-testid=stMain] .wall button"
ROWS = "[data-testid=stMain] .wall tbody tr"


def opened(browser, address, query="", **how):
    """The page with its wall and its bars."""
    visit = Visit(browser, address, f"case?{query}", **how)
    expect(visit.page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    expect(visit.page.locator(".js-plotly-plot").first).to_contain_text(
        "retrained models stayed inside", timeout=60_000
    )
    visit.idle().page.wait_for_timeout(500)  # as long as nobody takes to click
    return visit


def shows(visit, case, kind="Image"):
    """Wait until the page is about a case: its outline, its name, its link."""
    page = visit.page
    expect(page.locator("[data-testid=stMain]")).to_contain_text(f"{kind} {case},", timeout=30_000)
    expect(page).to_have_url(re.compile(rf"[?&]case={case}(&|$)"), timeout=30_000)
    marked = page.locator(".wall :is([aria-pressed=true], [aria-selected=true])")
    expect(marked).to_have_attribute("data-case", str(case))
    visit.idle()


def finding(visit):
    return visit.page.locator("[data-testid=stMain] h2").first.inner_text()


@pytest.mark.parametrize(
    ("width", "height", "scheme"), [(1400, 900, "light"), (1280, 720, "dark"), (390, 844, "light")]
)
def test_the_wall_can_be_clicked(browser, shared, width, height, scheme):
    narrow = width < 640
    visit = opened(browser, shared, width=width, height=height, scheme=scheme, has_touch=narrow)
    page = visit.page
    expect(page.locator(TILES)).to_have_count(60, timeout=30_000)
    tops = page.locator(TILES).evaluate_all(
        "tiles => tiles.slice(0, 20).map(tile => tile.getBoundingClientRect().top)"
    )
    columns = tops.count(tops[0])
    assert (5 <= columns <= 9) if narrow else columns >= 7
    said = finding(visit)
    dark_tile = page.locator(TILES).filter(has_text="36.04").first
    case = dark_tile.get_attribute("data-case")
    dark_tile.tap() if narrow else dark_tile.click()
    shows(visit, case)
    assert finding(visit) != said
    assert "At this 8" in finding(visit)
    wide = page.evaluate(
        "document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth"
    )
    assert wide <= 2
    again = opened(browser, shared, page.url.partition("?")[2], width=width, height=height)
    shows(again, case)
    assert finding(again) == finding(visit)
    again.close()
    visit.close()


def test_keys_choose_too(browser, shared):
    visit = opened(browser, shared)
    tile, beside = (visit.page.locator(TILES).nth(number) for number in (4, 5))
    case, other = tile.get_attribute("data-case"), beside.get_attribute("data-case")
    tile.focus()
    visit.page.keyboard.press("Enter")
    shows(visit, case)
    assert f"case={case}" in visit.page.url
    visit.page.keyboard.press("Tab")  # the focus has stayed where it was
    visit.page.keyboard.press("Enter")
    shows(visit, other)
    assert case != other
    assert f"case={other}" in visit.page.url
    visit.close()


def test_another_order_begins_with_its_first(browser, shared):
    visit = opened(browser, shared, "case=17")
    shows(visit, 17)
    visit.page.get_by_role("button", name="hardest").or_(
        visit.page.get_by_role("radio", name="hardest")
    ).first.click()
    expect(visit.page).to_have_url(re.compile("order=hardest"), timeout=30_000)
    first = visit.page.locator(TILES).first
    expect(first).to_contain_text("36.04", timeout=30_000)
    expect(first).to_have_attribute("aria-pressed", "true", timeout=30_000)
    shows(visit, first.get_attribute("data-case"))
    visit.close()


@pytest.mark.parametrize("width", [1400, 390])
def test_rows_of_a_table_can_be_clicked(browser, shared, width):
    query = "dataset=diabetes&algorithms=ridge&order=hardest"
    visit = opened(browser, shared, query, width=width, has_touch=width < 640)
    row = visit.page.locator(ROWS).nth(3)
    case = row.get_attribute("data-case")
    row.tap() if width < 640 else row.click()
    shows(visit, case, "Case")
    assert f"At case {case} (target " in finding(visit)
    visit.close()
