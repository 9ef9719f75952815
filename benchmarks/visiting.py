"""A server of the dashboard, and sessions without a browser: the messages that one would send."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

ROOT = Path(__file__).parents[1]
APP = ROOT / "app.py"
OPTIONS = [
    "--server.headless=true",
    "--server.address=127.0.0.1",
    "--server.fileWatcherType=none",
    "--browser.gatherUsageStats=false",
    "--client.toolbarMode=minimal",
]
PATIENCE, START_PATIENCE = 60.0, 240.0
ENDS = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
PROTOCOLS = [Subprotocol("streamlit")]


@dataclass(frozen=True)
class Server:
    """A server: where it listens, its process, and what it writes."""

    address: str
    process: psutil.Process
    log: Path

    @property
    def resident(self) -> "Resident":
        """What the server has in memory, and what all that it has started has.

        A page that several of them share, as those of libraries, counts once in all: where the
        system tells it so (Linux), by proportional shares.
        """
        found = []
        for process in (self.process, *self.process.children(recursive=True)):
            try:
                memory = process.memory_full_info()
            except psutil.NoSuchProcess:
                continue
            found.append(getattr(memory, "pss", memory.rss))
        return Resident(sum(found), tuple(found))


class Resident(NamedTuple):
    """Bytes in memory: of all, of the server, and of each process that it has started."""

    all: int
    each: tuple[int, ...]

    def __str__(self) -> str:
        server, *children = (f"{own / 2**20:.0f}" for own in self.each)
        return f"{self.all / 2**20:.0f} MiB (server {server}, processes {', '.join(children)})"


@contextmanager
def server(script: Path = APP, store: Path | None = None) -> Iterator[Server]:
    """A server of a script, idle so far, with an empty store of its own, or a given one."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [sys.executable, "-m", "streamlit", "run", str(script), *OPTIONS]
    with tempfile.TemporaryDirectory() as folder, open(Path(folder, "log"), "wb") as log:
        process = subprocess.Popen(
            [*command, f"--server.port={port}"],
            cwd=script.parent,
            env={**os.environ, "CPP_CORE_STORE": str(store or Path(folder, "store"))},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline = time.monotonic() + START_PATIENCE
            while True:
                try:
                    urllib.request.urlopen(f"{address}/_stcore/health", timeout=1)
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
            yield Server(address, psutil.Process(process.pid), Path(folder, "log"))
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Visitor:
    """A session on one page: what it shows now, and what went wrong."""

    def __init__(self, address: str, page: str = "compare", query: str = "") -> None:
        self.address = address.replace("http", "ws") + "/_stcore/stream"
        self.page, self.query = page, query
        self.slider = self.fragment = self.own = ""
        self.charts: dict[str, str] = {}
        self.buttons: dict[str, str] = {}
        self.said: list[str] = []
        self.errors: list[str] = []
        self.socket: Any = None

    @asynccontextmanager
    async def there(self) -> AsyncIterator["Visitor"]:
        """Connected, as long as this lasts."""
        async with connect(self.address, subprotocols=PROTOCOLS, max_size=None) as self.socket:
            yield self

    async def rerun(
        self, percent: float | None = None, press: str = "", fragment: str = ""
    ) -> float:
        """Ask for a run of the script, at a confidence, with a button pressed, or of a fragment.

        Gives the seconds until its last answer has arrived.
        """
        message = BackMsg()
        message.rerun_script.page_name = self.page
        message.rerun_script.query_string = self.query
        message.rerun_script.fragment_id = fragment
        if percent is not None:
            state = message.rerun_script.widget_states.widgets.add()
            state.id = self.slider
            state.double_array_value.data.append(percent)
            message.rerun_script.fragment_id = self.own
        if press:
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.trigger_value = self.buttons[press], True
        if not fragment:
            self.buttons, self.said, self.fragment = {}, [], ""
        start = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(await asyncio.wait_for(self.socket.recv(), PATIENCE))
            kind = answer.WhichOneof("type")
            if kind == "delta":
                self._note(answer.delta)
            elif kind == "page_info_changed":
                self.query = answer.page_info_changed.query_string
            elif kind == "auto_rerun":
                self.fragment = answer.auto_rerun.fragment_id
            elif kind == "script_finished" and answer.script_finished in ENDS:
                return time.perf_counter() - start
            elif answer.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self.errors.append("a script could not be compiled")
                return time.perf_counter() - start

    def _note(self, delta: Any) -> None:
        """Keep the slider's name and fragment, buttons, charts and what is said; and errors."""
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "slider" and element.slider.label == "Confidence" and not self.slider:
            self.slider, self.own = element.slider.id, delta.fragment_id
        elif kind == "plotly_chart":
            self.charts[element.plotly_chart.id] = element.plotly_chart.spec
        elif kind == "button":
            self.buttons[element.button.label] = element.button.id
        elif kind in ("alert", "markdown"):
            self.said.append(getattr(element, kind).body)
        elif kind == "exception":
            self.errors.append(f"{element.exception.type}: {element.exception.message}")
