"""The dashboard in a real browser: first requests, links, live runs, widths, themes."""

import os
import re
import time

import pytest

from tests.browser.visits import CHROMIUM, Visit

if CHROMIUM is None and os.environ.get("CI") != "true":
    pytest.skip("no chromium on this machine", allow_module_level=True)

from playwright.sync_api import expect

from cpp_core import Experiment, run

pytestmark = pytest.mark.slow
expect.set_options(timeout=30_000)  # a busy machine takes its time to load the parts of a page


@pytest.mark.parametrize("path", ["", "compare", "case", "report"])
def test_first_request_of_a_fresh_server(browser, server, path):
    visit = Visit(browser, server, path)
    expect(visit.page.locator("[data-testid=stSidebar]")).to_contain_text("Algorithms")
    heading = {"case": "At this ", "report": "Reproduce it"}.get(path, "Use SVM-rbf.")
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
    slider = visit.confidence()
    slider.focus()
    for _ in range(5):
        slider.press("ArrowLeft")  # at once: no move may be lost
    expect(page).to_have_url(re.compile("alpha=0.15"), timeout=60_000)
    expect(page.locator(".chosen")).to_contain_text(re.compile("85.% confidence"))
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text("alpha 0.15")
    visit.idle()
    page.wait_for_timeout(500)
    after = visit.words()
    assert after != before
    again = Visit(browser, shared, page.url.removeprefix(shared + "/"))
    expect(again.page.locator("[data-testid=stSidebar]")).to_contain_text("alpha 0.15")
    expect(again.page.locator(".chosen")).to_contain_text(re.compile("85.% confidence"))
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
            expect(visit.page).to_have_url(re.compile(r"alpha=0\.\d\d"), timeout=30_000)
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


QUICK = "algorithms=naive-bayes&algorithms=dummy&trials=20"
OLD = f"dataset=iris&{QUICK}&variant=candidate&loss=zero_one&side=upper&alpha=0.2"


def test_an_old_link_shows_labels_and_a_choice_writes_ids(browser, shared):
    visit = Visit(browser, shared, f"compare?{OLD}")
    page = visit.page
    expect(visit.control("Data")).to_have_value("Iris")
    expect(visit.control("Loss")).to_have_value("zero-one loss (0 is perfect)")
    expect(visit.control("Question")).to_have_value("The model I have")
    expect(visit.control("Bound")).to_have_value("upper only")
    tags = page.locator("[data-testid=stSidebar] [data-tag]:visible")
    expect(tags).to_have_text(["Naive Bayes", "Dummy"])
    assert tags.first.evaluate("tag => getComputedStyle(tag).backgroundColor") == "rgb(213, 94, 0)"
    assert page.url.endswith(OLD)
    visit.pick("Bound", "both sides")
    expect(page).to_have_url(re.compile("side=two-sided"))
    visit.pick("Data", "Wine")
    expect(page).to_have_url(re.compile("dataset=wine"))
    expect(visit.control("Loss")).to_have_value("zero-one loss (0 is perfect)")
    page.reload()
    visit.idle()
    expect(visit.control("Data")).to_have_value("Wine")
    expect(visit.control("Bound")).to_have_value("both sides")
    visit.close()


def test_back_and_forward_show_what_was_there(browser, shared):
    visit = Visit(browser, shared, f"compare?dataset=iris&{QUICK}")
    page = visit.page
    visit.pick("Loss", "Brier loss (0 is perfect)")
    expect(page).to_have_url(re.compile("loss=brier"))
    visit.idle().page.get_by_role("link", name="Overview").first.click()
    expect(page).to_have_url(re.compile(r"/\?dataset=iris.*loss=brier"), timeout=60_000)
    expect(page.locator(".strip h1")).to_be_visible(timeout=60_000)
    page.go_back()
    expect(page).to_have_url(re.compile("/compare.*loss=brier"), timeout=60_000)
    expect(visit.control("Loss")).to_have_value("Brier loss (0 is perfect)")
    page.go_back()
    expect(visit.control("Loss")).to_have_value("log loss (0 is perfect)", timeout=60_000)
    expect(visit.control("Data")).to_have_value("Iris")
    page.go_forward()
    expect(visit.control("Loss")).to_have_value("Brier loss (0 is perfect)", timeout=60_000)
    visit.close()


def test_a_start_sets_every_control_and_opens_its_page(browser, shared):
    visit = Visit(browser, shared, f"report?dataset=iris&{QUICK}&alpha=0.2&seed=7&limit=1")
    page = visit.page
    page.get_by_role("button", name="Digits: one image").click()
    expect(page).to_have_url(re.compile("/case"), timeout=60_000)
    expect(page.locator("[data-testid=stMain]")).to_contain_text("At this ", timeout=60_000)
    expect(page.locator(".chosen")).to_contain_text("Digits: one image · at one case")
    expect(page.locator(".st-key-active-start")).to_contain_text("Digits: one image")
    expect(visit.control("Data")).to_have_value("Digits")
    expect(page).to_have_url(re.compile(r"/case\?(?!.*(seed|limit|alpha)=).*variant=z-variable"))
    visit.idle().page.wait_for_timeout(2000)  # what the browser knew of the old controls is gone
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text("alpha 0.10")
    visit.close()


def on_screen(page, place):
    """Whether something is seen without scrolling."""
    box = page.locator(place).first.bounding_box()
    size = page.viewport_size
    inside = box["x"] >= 0 and box["x"] + box["width"] <= size["width"] + 1
    return box is not None and inside and box["y"] + box["height"] <= size["height"]


def test_confidence_comes_first_on_a_projector(browser, shared):
    visit = Visit(browser, shared, "", width=1280, height=720)
    page = visit.page
    expect(page.locator(".chosen")).to_contain_text("Digits: which SVM? · the model I have")
    for place in (".st-key-first", ".st-key-starts", ".chosen", "h1", ".st-key-pages"):
        assert on_screen(page, place), place
    assert page.locator(".strip h1").bounding_box()["y"] < 150
    expect(page.locator(".st-key-phone")).to_be_hidden()
    visit.close()


def test_all_six_algorithms_are_seen_in_the_sidebar(browser, shared):
    names = ("svm-lin", "svm-rbf", "knn", "logistic", "random-forest", "dummy")
    query = "&".join(f"algorithms={name}" for name in names)
    visit = Visit(browser, shared, f"?dataset=iris&variant=candidate&trials=20&{query}", width=1280)
    chosen = visit.page.get_by_test_id("stMultiSelectTagsContainer")
    expect(chosen).to_be_visible()
    assert chosen.evaluate("own => own.scrollHeight <= own.clientHeight")
    visit.close()


def test_a_phone_has_the_pages_and_the_confidence_on_its_first_screen(browser, shared):
    visit = Visit(browser, shared, f"?dataset=iris&{QUICK}", width=390, height=844)
    page = visit.page
    expect(page.locator(".st-key-phone")).to_be_visible()
    assert page.locator(".strip h1").bounding_box()["y"] < 160
    for link in page.locator(".st-key-pages").get_by_role("link").all():  # each, unmoved
        box = link.bounding_box()
        assert box["y"] + box["height"] < 60
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
    mine = visit.confidence(".st-key-phone")
    mine.focus()
    for _ in range(3):
        mine.press("ArrowLeft")
    expect(page).to_have_url(re.compile("alpha=0.13"), timeout=60_000)
    page.get_by_test_id("stExpandSidebarButton").click()
    drawer = visit.confidence()
    expect(drawer).to_have_attribute("aria-valuetext", "87 %")
    drawer.press("ArrowRight")
    expect(page).to_have_url(re.compile("alpha=0.12"), timeout=60_000)
    expect(visit.confidence(".st-key-phone")).to_have_attribute("aria-valuetext", "88 %")
    visit.close()


def test_a_move_of_the_confidence_is_one_run(browser, shared):
    visit = Visit(browser, shared, f"report?dataset=iris&{QUICK}", settled=False)
    sent = []
    visit.page.on(
        "websocket", lambda socket: socket.on("framesent", lambda data: sent.append(data))
    )
    visit.page.reload()
    visit.idle().page.wait_for_timeout(3000)
    before = len(sent)
    visit.confidence().press("ArrowLeft")
    expect(visit.page).to_have_url(re.compile("alpha=0.11"), timeout=60_000)
    visit.idle().page.wait_for_timeout(3000)
    assert before
    assert len(sent) == before + 1
    visit.close()


@pytest.mark.parametrize("path", ["", "compare", "report"])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_first_screen_answers_a_newcomer(browser, shared, path, width, height):
    """Which to use, the average, the bound and the confidence, without scrolling."""
    visit = Visit(browser, shared, path, width, height=height)
    page = visit.page
    place = page.frame_locator("[data-testid=stIFrame]") if path == "report" else page
    figures, title = place.locator(".card .figure"), place.locator("h1").first
    expect(title).to_have_text(re.compile(r"Use SVM-rbf\.?"), timeout=60_000)
    expect(figures).to_have_count(3)
    expect(figures.nth(0)).to_have_text(re.compile(r"[\d.]+ to [\d.]+ nats less"))
    expect(figures.nth(2)).to_have_text(re.compile(r"at most [\d.]+ nats"))
    slider = visit.confidence() if width > 700 else visit.confidence("[data-testid=stMain]")
    for seen in (title, figures.nth(0), figures.nth(2)):
        box = seen.bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= height
        assert 0 <= box["x"] < box["x"] + box["width"] <= width
    thumb = slider.bounding_box()  # which reaches beyond what is seen of it
    assert 0 <= thumb["y"] < thumb["y"] + thumb["height"] <= height
    assert 0 <= thumb["x"] < width


def test_a_browser_that_loads_slowly_keeps_the_link(browser, server):
    """The controls load after the run that set them is over, and another one followed it."""
    link = f"compare?dataset=iris&{QUICK}&n=60&loss=brier"
    first = Visit(browser, server, link)  # its trials are stored: whoever loads slowly has them
    expect(first.page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    first.close()
    visit = Visit(browser, server, "report?trials=20", settled=False)
    page, held = visit.page, []
    page.route(re.compile("(NumberInput|Selectbox)[^/]*[.]js"), lambda route: held.append(route))
    page.goto(f"{server}/{link}")
    expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=60_000)
    visit.idle().page.wait_for_timeout(2000)
    assert held
    for request in held:
        request.continue_()
    expect(visit.control("Loss")).to_have_value("Brier loss (0 is perfect)")
    visit.confidence().press("ArrowLeft")
    expect(page).to_have_url(re.compile("alpha=0.11"), timeout=60_000)
    visit.idle()
    expect(visit.control("Loss")).to_have_value("Brier loss (0 is perfect)")
    assert {"dataset=iris", "n=60", "loss=brier"} <= set(page.url.split("?")[1].split("&"))
    visit.close()
