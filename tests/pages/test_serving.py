"""What the server does beside running pages."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit
from streamlit.web.server.app_discovery import discover_asgi_app

from cpp_core.verdicts.strip import Strip
from cpp_core.verdicts.strip_cards import Card
from cpp_core.verdicts.verdict import Brief, Verdict
from pages.parts import serving, show
from pages.parts.keeping import DRAWN
from tests.builders import unmarked
from tests.pages.test_pages import open_page

ROOT = Path(__file__).parents[2]
HTML = (b"content-type", b"text/html; charset=utf-8")
PAGE = b"<html><head></head><body>\xc3\xa4</body></html>"


def answered(headers, status=200):
    """The headers and the content that a browser gets, sent in two parts."""
    sent, asked = [], {}

    async def app(scope, receive, send):
        asked.update(scope)
        size = (b"content-length", str(len(PAGE)).encode())
        start = {"type": "http.response.start", "status": status, "headers": [*headers, size]}
        await send(start)
        await send({"type": "http.response.body", "body": PAGE[:20], "more_body": True})
        await send({"type": "http.response.body", "body": PAGE[20:]})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": "/compare", "headers": [(b"accept-encoding", b"gzip")]}
    asyncio.run(serving.PreparePage(app)(scope, None, send))
    assert asked["headers"] == []  # a compressed page could not be added to
    content = b"".join(message["body"] for message in sent[1:])
    assert dict(sent[0]["headers"])[b"content-length"] == str(len(content)).encode()
    return content


def test_pages_come_with_their_look_and_name_the_scripts_that_they_need():
    content = answered([HTML])
    look = re.search(rb"<style>.*</style>", content, re.S)[0]
    assert serving.style().encode() == look
    link = rb'<link rel="modulepreload" crossorigin href="\./static/js/([^"]+)">'
    names = [name.decode() for name in re.findall(link, content)]
    assert re.sub(link, b"", content.replace(look, b"")) == PAGE
    static = Path(streamlit.__file__).parent / "static"
    page = (static / "index.html").read_text(encoding="utf-8")
    assert len(set(names)) == len(names)
    assert {"Slider", "Html", "PageLink"} <= {name.split(".")[0] for name in names}
    assert not [name for name in names if name in page]  # the browser knows of these already
    for name in names:  # nothing that one of them needs is missing, and nothing does not exist
        script = (static / "static/js" / name).read_text(encoding="utf-8")
        needed = re.findall(r'(?:from|import)"\./([^"]+)"', script)
        assert [own for own in needed if own not in names and own not in page] == []
    assert not [name for name in names if name.startswith("PlotlyChart")]  # it is busy for long


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"content-type", b"application/json")], 200),
        ([HTML, (b"content-encoding", b"gzip")], 200),
        ([HTML], 404),
    ],
)
def test_other_answers_stay_as_they_are(headers, status):
    assert answered(headers, status) == PAGE


def test_the_server_starts_the_application_and_not_only_a_script():
    found = discover_asgi_app(ROOT / "app.py")
    assert found.is_asgi_app
    assert found.import_string == "app:app"


@pytest.mark.slow
def test_the_first_view_is_drawn_beforehand(monkeypatch):
    DRAWN.clear()
    serving.warm()
    drawn = len(DRAWN)
    at = open_page()
    made, found = DRAWN.made, DRAWN.found
    at.switch_page("pages/compare.py").run()
    assert DRAWN.made == made  # nothing of Compare was missing
    assert DRAWN.found - found == drawn - 1  # all but the bars, which are the Overview's
    DRAWN.clear()
    monkeypatch.setattr(serving, "stored_trials", lambda keys, trials: 0)
    serving.warm()
    assert len(DRAWN) == 0


def test_percentages_and_dollars_stay_whole():
    assert show.as_markdown("90 % of $5") == "90\u00a0% of \\$5"
    assert show.as_markdown(r"90 \% of \$5") == "90\u00a0\\% of \\$5"  # escaped already


def verdict_html(verdict, on_dark):
    return unmarked(show.verdict_html(verdict, on_dark))


def strip_html(strip, on_dark):
    return unmarked(show.strip_html(strip, on_dark))


def test_terms_are_explained_where_they_stand_first():
    brief = Brief("bound", "the loss", "is small")
    verdict = Verdict("the loss", "guaranteed", "no drift", {}, "a rank", brief)
    card = Card("loss", "0.1", "a rank", "yes", "exact", (verdict,))
    html = show.strip_html(Strip("Use it", "The loss", (), (card, card)), on_dark=False)
    outside = re.sub("<details.*?</details>", "", html)
    assert outside.count('class="term"') == 2  # loss and rank, once for both cards
    assert html.count('class="term"') == 2 + 2 * 3  # and each fold has its own
    assert show.verdict_html(verdict, on_dark=False).count('class="term"') == 2 + 3


def test_a_verdict_is_one_line_of_html():
    brief = Brief("<i>", "wins 5 %", "of <b>")
    verdict = Verdict("a <b> wins 5 % & more", "guaranteed", "no drift", {}, "rank 1 < 2", brief)
    line = verdict_html(verdict, on_dark=False)
    assert "\n" not in line
    assert "<p>&lt;i&gt;: wins 5\u00a0% of &lt;b&gt;.</p>" in line
    assert "a &lt;b&gt; wins 5\u00a0% &amp; more" in line
    assert "✓ exact guarantee" in line
    assert "rank 1 &lt; 2" in line
    assert "Assumes no drift." in line
    assert verdict_html(verdict, on_dark=True) != line
    open_ = replace(verdict, brief=replace(brief, claim="open"))
    assert "○ not decided" in verdict_html(open_, on_dark=False)
    assert "exact guarantee" not in verdict_html(open_, on_dark=False)
    card = Card("<topic>", "<text>", "<detail>", "yes", "exact", (verdict,))
    strip = strip_html(Strip("<title>", "<text>", ("svm-rbf",), (card,)), on_dark=False)
    for said in ("topic", "text", "detail", "title"):
        assert f"&lt;{said}&gt;" in strip
    assert "text-decoration-color:#1186D8" in strip  # the colour of whom it names
