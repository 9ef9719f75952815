"""The server is closed: to other sites, and to other machines until somebody opens it."""

import asyncio
import tomllib

import pytest
from streamlit.config import get_option

from pages.parts import room, serving
from pages.parts.serving import Guarded
from tests.pages.test_serving import ROOT


def sent_for(scope, headers=()):
    """What goes out, and whether the application was reached."""
    sent, reached = [], []

    async def app(scope, receive, send):
        reached.append(scope)
        await send({"type": "http.response.start", "status": 200, "headers": list(headers)})

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "websocket.connect"}

    asyncio.run(Guarded(app)({"headers": [], **scope}, receive, send))
    return sent, bool(reached)


def test_the_server_listens_on_this_machine_alone():
    config = tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))
    assert config["server"]["address"] == "127.0.0.1"
    assert config["browser"]["gatherUsageStats"] is False


def test_every_answer_refuses_frames_of_other_sites():
    given = [(b"content-type", b"text/html"), (b"X-Frame-Options", b"ALLOWALL")]
    (start,), _ = sent_for({"type": "http", "path": "/"}, given)
    assert (b"content-type", b"text/html") in start["headers"]
    found = [(name.lower(), value) for name, value in start["headers"]]
    assert [value for name, value in found if name == b"x-frame-options"] == [b"SAMEORIGIN"]
    assert dict(found)[b"content-security-policy"] == b"frame-ancestors 'self'"
    assert dict(found)[b"x-content-type-options"] == b"nosniff"
    assert dict(found)[b"referrer-policy"] == b"same-origin"


@pytest.mark.parametrize(
    ("origin", "host", "reached"),
    [
        (None, b"127.0.0.1:8501", True),
        (b"http://localhost:8501", b"localhost:8501", True),
        (b"https://evil.example", b"evil.example", False),
        (b"https://evil.example", b"127.0.0.1:8501", False),
        (b"null", b"127.0.0.1:8501", False),
        (b"http://[", b"127.0.0.1:8501", False),
        (b"", b"", False),
    ],
)
def test_sessions_that_another_site_asks_for_are_refused(origin, host, reached):
    headers = [(b"host", host)] + ([] if origin is None else [(b"origin", origin)])
    sent, found = sent_for({"type": "websocket", "path": "/", "headers": headers})
    assert found is reached
    assert reached or sent == [{"type": "websocket.close", "code": 1008}]


def test_a_server_that_is_open_to_others_has_the_name_that_it_is_asked_by(monkeypatch):
    headers = [(b"host", b"models.example"), (b"origin", b"https://models.example")]
    scope = {"type": "websocket", "path": "/", "headers": headers}
    assert not sent_for(scope)[1]
    options = {"server.address": "0.0.0.0"}
    monkeypatch.setattr(serving, "get_option", lambda name: options.get(name) or get_option(name))
    assert sent_for(scope)[1]
    options = {"browser.serverAddress": "models.example"}
    assert sent_for(scope)[1]


def test_files_that_are_sent_have_no_more_room_than_the_budget(monkeypatch):
    monkeypatch.setenv("CPP_CORE_MEMORY", str(300 / 1024))
    put = {"type": "http", "method": "PUT", "path": "/_stcore/upload_file/a/b"}
    for size, fits in ((b"1000", True), (b"314572801", False), (b"x", True), (b"9" * 40, True)):
        sent, reached = sent_for(put | {"headers": [(b"content-length", size)]})
        assert reached is fits
        assert reached or sent[0]["status"] == 507
    uploads = room.Uploads()
    with uploads.sent(200 * 2**20) as first, uploads.sent(200 * 2**20) as second:
        assert (first, second) == (True, False)
    with uploads.sent(200 * 2**20) as again:
        assert again


def test_a_file_that_trickles_is_refused_and_leaves_its_room(monkeypatch):
    monkeypatch.setattr(serving, "SLOW_SECONDS", 0.3)
    monkeypatch.setattr(serving, "SLOWEST", 1000)

    def sent(pause, size, parts=3):
        """How a file ends of which a part comes after each pause."""
        answers, left = [], [parts]

        async def receive():
            await asyncio.sleep(pause)
            left[0] -= 1
            return {"type": "http.request", "body": b"x" * size, "more_body": left[0] > 0}

        async def app(scope, receive, send):
            while (await receive())["more_body"]:
                pass
            await asyncio.sleep(0.4)  # what is done with it is no part of it
            await send({"type": "http.response.start", "status": 204, "headers": []})

        async def send(message):
            answers.append(message)

        guarded = Guarded(app)
        scope = {"type": "http", "method": "PUT", "headers": [(b"content-length", b"1000")]}
        asyncio.run(guarded(scope, receive, send))
        assert guarded.uploads._under_way == 0
        return answers[0]["status"]

    assert sent(0.0, 10) == 204
    assert sent(0.2, 10**6) == 204
    assert sent(0.2, 10) == 413


def test_a_file_that_is_too_large_alone_is_told_apart_from_a_full_server(monkeypatch):
    monkeypatch.setenv("CPP_CORE_MEMORY", str(100 / 1024))
    with pytest.raises(ValueError, match=r"would take about .* are allowed"):
        room.take_room("test", 101 * 2**20)
    others = room.Weight(60 * 2**20)
    room._weights.add(others)
    with pytest.raises(ValueError, match="try again later"):
        room.take_room("test", 50 * 2**20)
    del others
    assert 0 < room.reading_bytes() < 2**29
