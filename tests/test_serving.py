"""What the server does beside running pages."""

import asyncio
from pathlib import Path

import streamlit
from streamlit.web.server.app_discovery import discover_asgi_app

from pages.parts import serving, show

ROOT = Path(__file__).parents[1]


def answered(content_type):
    """The headers that a browser gets for content of a type."""
    sent = []

    async def app(scope, receive, send):
        headers = [(b"content-type", content_type)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def send(message):
        sent.append(message)

    asyncio.run(serving.PreloadCharts(app)({"type": "http"}, None, send))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return sent[0]["headers"]


def test_pages_name_the_script_of_the_charts():
    (link,) = [value.decode() for name, value in answered(b"text/html; charset=utf-8")[1:]]
    name = link.split("/")[-1].split(">")[0]
    assert (Path(streamlit.__file__).parent / "static" / "static" / "js" / name).is_file()
    assert len(answered(b"application/json")) == 1


def test_the_server_starts_the_application_and_not_only_a_script():
    found = discover_asgi_app(ROOT / "app.py")
    assert found.is_asgi_app
    assert found.import_string == "app:app"


def test_the_first_view_is_drawn_beforehand(monkeypatch):
    show._kept.cache_clear()
    serving.warm()
    assert show._kept.cache_info().currsize == 6
    show._kept.cache_clear()
    monkeypatch.setattr(serving, "stored_trials", lambda keys, trials: 0)
    serving.warm()
    assert show._kept.cache_info().currsize == 0
