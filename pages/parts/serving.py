"""What the server does before its first visitor, and tells every browser first."""

import asyncio
import gc
import re
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.config import get_option

from cpp_core import ALGORITHMS, Experiment
from cpp_core.figures.compare import WHO_WINS, first_picture, panels_of
from cpp_core.trials.memory import give_back, share_places
from cpp_core.verdicts.answers import compared
from cpp_core.verdicts.promise import promise_kept
from cpp_core.verdicts.strip import asked_strip
from cpp_core.verdicts.summary import figures_table
from cpp_core.verdicts.terms import STYLE
from pages.parts.keeping import DRAWN, REPORTS, RESULTS, STUDIED
from pages.parts.live import jobs, keys_of, stored_results, stored_trials
from pages.parts.room import Uploads
from pages.parts.show import kept
from pages.parts.studies import begin_first

HEADERS = [
    (b"content-security-policy", b"frame-ancestors 'self'"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
]
"""What every answer says: no frame of another site, no guessed types, no link told to others."""


class Guarded:
    """Refuses frames and sessions of other sites, and files for which there is no room.

    A session that another site's page asks for is refused here: Streamlit, which would refuse it
    too, first asks the internet for the server's own address.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.uploads = app, Uploads()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and is_foreign(dict(scope["headers"])):
            await receive()
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http" and scope.get("method") == "PUT":
            with self.uploads.sent(declared(dict(scope["headers"]))) as fits:
                await (self.take if fits else self.refuse)(scope, receive, send)
            return
        await self.answer(scope, receive, send, self.app)

    async def refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Say that there is no room."""
        await self.answer(scope, receive, send, no_room)

    async def take(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take in a file that comes fast enough: its room is kept for it all the while."""
        arrived, begun = 0, False

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            late = begins + SLOW_SECONDS + arrived / SLOWEST
            limit.reschedule(late if message.get("more_body") else None)
            return message

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        begins = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout_at(begins + SLOW_SECONDS) as limit:
                await self.answer(scope, counted, noted, self.app)
        except TimeoutError:
            if begun or not limit.expired():
                raise
            await self.answer(scope, receive, send, too_slow)

    async def answer(self, scope: Scope, receive: Receive, send: Send, app: ASGIApp) -> None:
        """What the application says, with our headers."""

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in HEADERS}
                others = [(k, v) for k, v in message.get("headers", ()) if k.lower() not in own]
                message = {**message, "headers": [*others, *HEADERS]}
            await send(message)

        await app(scope, receive, send_guarded)


def declared(headers: dict[bytes, bytes]) -> int:
    """How many bytes a request says that it brings; the most that it may where it does not say."""
    said = headers.get(b"content-length", b"")
    return int(said) if said.isdigit() and len(said) < 16 else get_option(UPLOAD) * 2**20


async def too_slow(scope: Scope, receive: Receive, send: Send) -> None:
    """The answer to a file that trickles; one that a browser does not send again by itself."""
    await send({"type": "http.response.start", "status": 413, "headers": []})
    await send({"type": "http.response.body", "body": b"The file came too slowly."})


async def no_room(scope: Scope, receive: Receive, send: Send) -> None:
    """The answer to a file that cannot be held."""
    await send({"type": "http.response.start", "status": 507, "headers": []})
    await send({"type": "http.response.body", "body": b"No room for a file at present."})


def is_foreign(headers: dict[bytes, bytes]) -> bool:
    """Whether a page of another site asks: neither of this host nor one that the server allows.

    A server for this machine alone has no other name unless it was told: a site may give its own
    name this machine's address, and would then be of the same host.
    """
    origin = headers.get(b"origin")
    if origin is None:  # no browser
        return False
    options = [get_option("browser.serverAddress"), *get_option("server.corsAllowedOrigins")]
    allowed = {host_of(str(own)) for own in options} | LOCAL
    asked = {host_of(headers.get(name, b"").decode("latin-1")) for name in HOSTS}
    alone = get_option("server.address") in LOCAL
    return host_of(origin.decode("latin-1")) not in (allowed if alone else allowed | asked) - {None}


SLOW_SECONDS, SLOWEST = 30.0, 10_000
"""A file that is sent with fewer bytes in a second is refused after this time."""
UPLOAD, LOCAL = "server.maxUploadSize", {"localhost", "127.0.0.1", "::1"}
HOSTS = (b"host", b"x-forwarded-host")


def host_of(address: str) -> str | None:
    """The host in an address, with or without a scheme; None where there is none."""
    try:
        return urlsplit(address if "//" in address else f"//{address}").hostname
    except ValueError:
        return None


class PreparePage:
    """Lets a browser know with the page what it would learn too late from the first answer.

    How the frame looks: without it, a page is drawn in another shape first, and jumps. And which
    scripts it needs.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        ahead = '<link rel="modulepreload" crossorigin href="./static/js/{}">'
        lines = map(ahead.format, scripts_ahead())
        self.head = "".join([style(), *lines]).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "." not in scope["path"].rsplit("/", 1)[-1]:
            CALM.disturb()
            # A page, of a few kB: a compressed one could not be added to.
            asked = [(name, v) for name, v in scope["headers"] if name != b"accept-encoding"]
            scope = {**scope, "headers": asked}
        start: Message | None = None
        content = b""

        async def send_with_script(message: Message) -> None:
            nonlocal start, content
            if message["type"] == "http.response.start" and is_page(message):
                start = message
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                content += message.get("body", b"")
                if not message.get("more_body"):
                    content = content.replace(b"</head>", self.head + b"</head>", 1)
                    size = [(b"content-length", str(len(content)).encode())]
                    kept_ = [(k, v) for k, v in start["headers"] if k != b"content-length"]
                    await send({**start, "headers": kept_ + size})
                    await send({**message, "body": content})

        await self.app(scope, receive, send_with_script)


SCRIPTS = Path(streamlit.__file__).parent / "static/static/js"
KINDS = (
    *("Html", "PageLink", "Slider", "Selectbox", "Multiselect"),
    *("NumberInput", "ButtonGroup", "Button", "DownloadButton"),
)
"""Scripts of what stands on every page but the charts: Plotly's keeps a browser busy for so long
that the headline would wait for it."""
IMPORTED = re.compile(r"(?:from|import)\s*[\"']\./([\w.-]+\.js)")


def scripts_ahead() -> list[str]:
    """The scripts that a browser would ask for one after the other once the first answer is there.

    They are those of some kinds of elements, and all that these import; what Streamlit's page asks
    for by itself is left out.
    """
    asked = (SCRIPTS.parents[1] / "index.html").read_text(encoding="utf-8")
    todo = [path.name for kind in KINDS for path in SCRIPTS.glob(f"{kind}.*.js")]
    found: list[str] = []
    while todo:
        name = todo.pop(0)
        if name not in asked and name not in found:
            found.append(name)
            todo += IMPORTED.findall((SCRIPTS / name).read_text(encoding="utf-8"))
    return found


def style() -> str:
    """How the frame, marked terms and the tags of algorithms look, on every page."""
    frame = Path(__file__).with_name("frame.css").read_text(encoding="utf-8")
    tags = "\n".join(
        f'.stApp [data-tag][aria-label="{a.label}"] {{background: {a.color}; color: {a.ink}}}'
        for a in ALGORITHMS.values()
    )
    return f"<style>{frame}\n{STYLE}\n{tags}</style>"


def is_page(start: Message) -> bool:
    """Whether an answer is HTML that is there and not compressed."""
    headers = dict(start["headers"])
    html = headers.get(b"content-type", b"").startswith(b"text/html")
    return html and start["status"] == 200 and b"content-encoding" not in headers


READY_SECONDS = 10.0
"""The server opens when the first view is drawn, at the latest after this time."""

CALM_SECONDS, DISTURBED_SECONDS = 1.5, 15.0
"""A page is there so long after it was asked for; visitors put off what can wait for so long."""

TIDY_SECONDS = 30.0


class Calm:
    """Whether anybody waits for a page just now."""

    def __init__(self) -> None:
        self._asked = time.monotonic()

    def disturb(self) -> None:
        """Note that somebody asks for a page."""
        self._asked = time.monotonic()

    def wait(self) -> None:
        """Wait until nobody has asked for some time, but not for ever."""
        most = time.monotonic() + DISTURBED_SECONDS
        while (now := time.monotonic()) < min(self._asked + CALM_SECONDS, most):
            time.sleep(min(self._asked + CALM_SECONDS, most) - now)


CALM = Calm()


def prepare() -> None:
    """Be ready for the first visitor before the server opens; go on beside it with what is left."""
    ready = Event()
    Thread(target=look_after, args=(ready,), daemon=True).start()
    ready.wait(READY_SECONDS)


def look_after(ready: Event) -> None:
    """Be ready for visitors, then take back what they leave behind, again and again.

    The processes start when nobody waits for a page: each takes a core for seconds.
    """
    share_places()
    try:
        warm()
    finally:
        ready.set()
    CALM.disturb()
    CALM.wait()
    jobs().crew.start()
    with suppress(Exception):  # whoever asks for it is told why
        begin_first()
    while True:
        time.sleep(TIDY_SECONDS)
        with suppress(Exception):  # whatever fails once, it goes on
            tidy()


def tidy() -> None:
    """Let go of what nobody looks at, and give its memory back to the system."""
    jobs().tidy()
    for kept_values in (RESULTS, STUDIED, DRAWN, REPORTS):
        kept_values.tidy(time.monotonic())
    give_back()


def warm() -> None:
    """Load and draw what the first visitor will see, before there is one."""
    draw_first()
    # What is there now stays: looked through no more, it does not keep Python from looking for
    # what visitors have left behind, which would be hundreds of MB.
    gc.collect()
    gc.freeze()


def draw_first() -> None:
    """The pages that most visitors open first, where their trials are stored."""
    experiment, trials = Experiment.preset("digits-candidate"), 1000
    keys = keys_of(experiment, 0)
    if stored_trials(keys, trials) < trials:
        return
    results = stored_results(experiment, trials, 0)
    if results is None:
        return
    alpha, side = 0.1, "upper"
    kept(asked_strip, results, alpha, side)
    kept(first_picture, results, alpha, side, dark=False)
    kept(figures_table, results, alpha, side)
    kept(promise_kept, results, alpha, side)
    kept(compared, results, alpha, None)
    for kind in panels_of(results, side)[WHO_WINS]:
        kept(kind.draw, results, *kind.arguments(results.algorithms, alpha, side), dark=False)
