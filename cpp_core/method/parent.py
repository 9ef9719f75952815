"""A worker ends with its parent, which cannot tell it anything once it is killed.

This file is run by itself, before anything of this package is imported (``command``, ``watched``):
what a worker loads, a user's own file too, may take long, and it would go on without its parent.
"""

import os
import sys
import time
from contextlib import suppress
from threading import Thread
from typing import Any

import psutil

LOOK_SECONDS = 0.25
FIRST = """
import sys
from runpy import run_path
run_path(sys.argv[-2], {"PARENT": int(sys.argv[-1])})
"""


def watched() -> tuple[str, dict[str, Any]]:
    """What a worker of this process calls ``runpy.run_path`` with, first of all."""
    return __file__, {"PARENT": os.getpid()}


def command(code: str, *args: str) -> list[str]:
    """What starts a worker of this process that runs some code; its arguments are the first."""
    return [sys.executable, "-c", FIRST + code, *args, __file__, str(os.getpid())]


def gone(parent: int) -> bool:
    """Whether the process that started this one, or on Windows a launcher of it, has ended."""
    return not psutil.pid_exists(parent) if os.name == "nt" else os.getppid() != parent


def end_tree(pid: int, itself: bool = True) -> None:
    """End a process, unless it is this one, and all that it started."""
    with suppress(psutil.Error):
        top = psutil.Process(pid)
        for process in [*top.children(recursive=True), *([top] if itself else [])]:
            with suppress(psutil.Error):
                process.kill()


def end_with(parent: int) -> None:
    """Make this process, and all that it starts, end soon after its parent has."""

    def watch() -> None:
        while not gone(parent):
            time.sleep(LOOK_SECONDS)
        end_tree(os.getpid(), itself=False)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


if "PARENT" in globals():
    end_with(globals()["PARENT"])
