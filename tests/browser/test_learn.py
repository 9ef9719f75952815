"""Learn in a real browser: the whole shelf is played, at laptop and phone width, light and dark."""

import contextlib
import os
import re

import pytest

from cpp_core.lessons import LESSONS
from cpp_core.lessons.plan import PLAN
from cpp_core.report.sheets import exercises_html, plan_html, summary_html
from tests.browser.visits import CHROMIUM, Visit

if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no chromium on this machine", allow_module_level=True)

from playwright.sync_api import TimeoutError as PlaywrightTimeout
from playwright.sync_api import expect

pytestmark = pytest.mark.slow

TITLES = [f"{i}. {lesson.title}" for i, lesson in enumerate(LESSONS.values(), 1)]
LAPTOP, PHONE = (1280, 720), (390, 844)
SCREENS = ((*LAPTOP, "light"), (*LAPTOP, "dark"), (*PHONE, "dark"), (*PHONE, "light"))
PLAYED = {
    "guess-the-bound",
    "quantile-lemma",
    "coverage-is-random",
    "overlap-trap",
    "break-it",
    "why-two-numbers",
}
"""Lessons with a picture that plays to an end."""


COUNT_REQUESTS = """() => {
  window.asked = 0;
  if (window.sends) return;
  window.sends = WebSocket.prototype.send;
  WebSocket.prototype.send = function (...sent) {
    window.asked++;
    return window.sends.apply(this, sent);
  };
}"""
"""What counts, in the browser, all that it sends to the server."""


HURRY = """() => {
  for (const plot of document.querySelectorAll('.js-plotly-plot')) {
    const frames = plot._transitionData._frames.map(frame => frame.layout);
    for (const layout of [plot.layout, plot._fullLayout, ...frames])
      for (const menu of layout.updatemenus ?? [])
        for (const button of menu.buttons) button.args[1].frame.duration = 0;
  }
}"""
"""What shows the steps of a film as fast as the browser can draw them."""

CAME_ON = """(before) => [...document.querySelectorAll('.updatemenu-button')]
    .some(own => own.textContent.includes('Again')
        || (own.textContent.includes('▶') && own.textContent !== before))"""


def play(page):
    """Press "play" until the picture has come to its end, and go back to its start.

    Some stop in between, and a busy machine takes its time to draw. The server is not asked.
    """
    page.evaluate(COUNT_REQUESTS)
    again = page.locator(".updatemenu-button", has_text="Again")
    onwards = page.locator(".updatemenu-button", has_text="▶")
    for _ in range(5):
        before = onwards.text_content()
        onwards.click()
        with contextlib.suppress(PlaywrightTimeout):
            page.wait_for_function(CAME_ON, arg=before, timeout=20_000)
        if again.is_visible():
            break
    again.click()
    expect(onwards).to_be_visible(timeout=30_000)
    assert page.evaluate("window.asked") == 0


def look(page, width, height, scheme):
    """Let the same page be seen on another screen, light or dark."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)


def seen(page, name):
    """The chart and the figure are there, nothing sticks out, and a film plays to its end."""
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    expect(page.locator(".finding")).to_be_visible()
    wide = "document.querySelector('[data-testid=stMain]').scrollWidth - window.innerWidth"
    assert page.evaluate(wide) <= 2
    if name in PLAYED:
        page.evaluate(HURRY)
        play(page)


def move(visit, back=False):
    """Move the first slider, or press the second button of a row; the link follows."""
    page, before = visit.page, visit.page.url
    sliders = page.locator("[data-testid=stMain]").get_by_role("slider")
    if sliders.count():
        left = ("break-it" in before or "width" in before) != back  # those start at the right
        sliders.first.focus()
        sliders.first.press("ArrowLeft" if left else "ArrowRight")
    else:
        page.locator("[data-testid=stButtonGroup] button").nth(1).click()
    expect(page).not_to_have_url(before, timeout=30_000)
    visit.idle()


def open_all(page):
    """Open words, formula, code and the question, and its answer."""
    for part, found in (
        ("Why?", ".words"),
        ("The formula", ".katex, [data-testid=stMarkdownContainer] em"),
        ("In Python", "[data-testid=stCode]"),
        ("Check yourself", "details summary"),
    ):
        page.get_by_role("button", name=part).or_(page.get_by_text(part, exact=True)).first.click()
        expect(page.locator(f"[data-testid=stMain] {found}").first).to_be_visible(timeout=30_000)
    page.get_by_text("Show the answer").click()
    expect(page.locator("details[open] p")).to_be_visible()


@pytest.mark.parametrize("half", [0, 1])
def test_the_whole_shelf_is_played(browser, shared, half):
    """From lesson to lesson on one page: a laptop and a phone, each light and dark."""
    visit = Visit(browser, shared, "learn", width=LAPTOP[0], height=LAPTOP[1])
    page, names, screens = visit.page, list(LESSONS)[5 * half : 5 * half + 5], [*SCREENS]
    expect(page.locator("[class*=st-key-card-] img")).to_have_count(len(LESSONS), timeout=60_000)
    for name in names:
        title = TITLES[list(LESSONS).index(name)]
        page.get_by_role("link", name=title).click()
        expect(page.locator("h1")).to_have_text(title, timeout=60_000)
        expect(page).to_have_url(re.compile(f"lesson={name}"))
        visit.idle()
        seen(page, name)
        if name == "break-it":  # its bar falls from the promise when it is drawn anew
            bar = page.locator("[class*=st-key-gauge-] .barlayer .trace path").nth(1)
            assert bar.evaluate("bar => getComputedStyle(bar).animationName") == "fell"
        open_all(page)
        for i, screen in enumerate(screens[1:]):
            look(page, *screen)
            move(visit, back=i % 2 == 1)
            seen(page, name)
            expect(page.get_by_text("Show the answer")).to_be_visible()
        screens.reverse()  # the next lesson begins where this one ends
    visit.close()


def test_a_link_opens_the_same_view_and_back_leads_back(browser, shared):
    visit = Visit(browser, shared, "learn?lesson=coverage-is-random&k=99")
    page = visit.page
    expect(page.locator(".finding")).to_have_text(re.compile("84.7.% to 94.4.%"), timeout=60_000)
    slider = page.locator("[data-testid=stMain]").get_by_role("slider").first
    slider.focus()
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile("k=199"), timeout=30_000)
    again = Visit(browser, shared, page.url.removeprefix(shared + "/"))
    expect(again.page.locator(".finding")).to_have_text(page.inner_text(".finding"))
    again.close()
    page.go_back()
    expect(page.locator(".finding")).to_have_text(re.compile("84.7.% to 94.4.%"), timeout=30_000)
    visit.close()


def test_the_first_request_of_a_fresh_server(browser, server):
    visit = Visit(browser, server, "learn?lesson=overlap-trap&rho=1.0")
    expect(visit.page.locator(".finding")).to_have_text(re.compile("100.%"), timeout=60_000)
    expect(visit.page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    visit.page.get_by_role("link", name="Learn").first.click()
    expect(visit.page.locator("h1")).to_have_text("Learn it by playing", timeout=30_000)
    visit.close()


def test_a_lecture_goes_on_by_keys(browser, shared):
    visit = Visit(browser, shared, "learn?lesson=quantile-lemma&lecture=1", width=1280, height=720)
    page = visit.page
    expect(page.locator(".finding")).to_be_visible(timeout=60_000)
    page.locator("h1").click()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("h1")).to_have_text("1. Guess the bound", timeout=30_000)
    visit.idle()
    expect(page).to_have_url(re.compile("stage=deals"))  # where the lesson ends
    page.evaluate(COUNT_REQUESTS)
    again = page.locator(".updatemenu-button", has_text="Again")
    page.keyboard.press("p")  # plays the picture, then goes back to its start
    expect(again).to_be_visible(timeout=30_000)
    page.keyboard.press("p")
    expect(page.locator(".updatemenu-button", has_text="▶")).to_be_visible(timeout=30_000)
    assert page.evaluate("window.asked") == 0
    for stage in ("answer", "guess"):
        page.keyboard.press("ArrowLeft")
        expect(page).to_have_url(re.compile(f"stage={stage}"), timeout=30_000)
        visit.idle()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("h1")).to_have_text("Learn it by playing", timeout=30_000)
    visit.idle()
    page.keyboard.press("ArrowRight")
    expect(page.locator("h1")).to_have_text(TITLES[0], timeout=30_000)
    visit.idle()
    for stage in ("answer", "deals"):
        page.keyboard.press("ArrowRight")
        expect(page).to_have_url(re.compile(f"stage={stage}"), timeout=30_000)
        visit.idle()
    page.keyboard.press("ArrowRight")
    expect(page.locator("h1")).to_have_text(TITLES[1], timeout=30_000)
    visit.idle()
    page.keyboard.press("PageDown")
    expect(page.locator("h1")).to_have_text("3. Coverage is random too", timeout=30_000)
    visit.idle()
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")  # moves the slider, and goes nowhere
    expect(page).to_have_url(re.compile("k=29"), timeout=30_000)
    expect(page.locator("h1")).to_have_text("3. Coverage is random too")
    page.get_by_text("QR for the class").click()
    expect(page.locator("img.qr")).to_be_visible()
    assert page.locator("img.qr").bounding_box()["width"] > 330  # read from the last row
    expect(page.get_by_text("this machine alone")).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_have_count(0)
    page.keyboard.press("Escape")
    navigation = page.locator(".st-key-pages")
    expect(navigation).to_be_hidden()
    look(page, *PHONE, "light")  # a student who was sent the lecturer's link
    expect(navigation).to_be_visible()
    page.get_by_role("button", name="Leave lecturer's mode").click()
    expect(page).not_to_have_url(re.compile("lecture"), timeout=30_000)
    visit.close()


def test_pages_to_print(browser):
    """The summary fits on one sheet; the others on a few."""
    page = browser.new_page()
    long = {step.name: f"https://class.example:8501/learn?lesson={'x' * 120}" for step in PLAN}
    for html, most in ((summary_html(), 1), (exercises_html(False), 2), (plan_html(long), 3)):
        page.set_content(html)
        pages = len(
            re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True))
        )
        assert 1 <= pages <= most
    page.close()


def test_words_of_two_charts_leave_each_other_room_in_large_type(browser, shared):
    """On a phone in lecturer's mode: an axis's title above, what is counted in the chart below."""
    visit = Visit(browser, shared, "learn?lesson=overlap-trap&lecture=1", width=390, height=844)
    expect(visit.page.locator(".xtitle")).to_be_visible(timeout=60_000)
    visit.idle()
    boxes = [
        visit.page.locator(found).evaluate("own => own.getBoundingClientRect().toJSON()")
        for found in (".xtitle", ".annotation-text >> text=90 % range of the difference")
    ]
    assert boxes[0]["bottom"] <= boxes[1]["top"]
    visit.close()
