"""What the server does before its first visitor, and tells every browser first."""

from pathlib import Path

import streamlit
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cpp_core import ALGORITHMS, Experiment
from cpp_core.figures.compare import WHO_WINS, first_picture, panels_of
from cpp_core.verdicts.answers import compared
from cpp_core.verdicts.coverage import promise_kept
from cpp_core.verdicts.strip import asked_strip
from cpp_core.verdicts.summary import figures_table
from cpp_core.verdicts.terms import STYLE
from pages.parts.live import keys_of, stored_results, stored_trials
from pages.parts.show import kept


class PreparePage:
    """Lets a browser know with the page what it would learn too late from the first answer.

    How the frame looks: without it, a page is drawn in another shape first, and jumps. And Plotly:
    every page has charts, and they are the last to come.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        scripts = Path(streamlit.__file__).parent.glob("static/static/js/PlotlyChart.*.js")
        lines = [f'<script type="module">import("./static/js/{p.name}")</script>' for p in scripts]
        self.head = "".join([style(), *lines]).encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and "." not in scope["path"].rsplit("/", 1)[-1]:
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


def warm() -> None:
    """Load and draw what the first visitor will see, before there is one."""
    experiment, trials = Experiment.preset("digits-candidate"), 1000
    keys = keys_of(experiment, 0)
    if stored_trials(keys, trials) < trials:
        return
    results = stored_results(keys, trials, 0, experiment)
    alpha, side = 0.1, "upper"
    kept(asked_strip, results, alpha, side)
    kept(first_picture, results, alpha, side, dark=False)
    kept(figures_table, results, alpha, side)
    kept(promise_kept, results, alpha, side)
    kept(compared, results, alpha, None)
    for kind in panels_of(results, side)[WHO_WINS]:
        kept(kind.draw, results, *kind.arguments(results.algorithms, alpha, side), dark=False)
