"""Workers end with a parent that is killed, also while they still load what they need."""

import os
import subprocess
import sys
import time
from collections.abc import Callable

import psutil
import pytest

SLOW = """
import os, time
from pathlib import Path
if os.environ.get("PARENT_OF_SLOW") == str(os.getppid()):
    Path(os.environ["LOADING"]).touch()
    time.sleep(60)
ALGORITHMS = {}
"""
STARTS = {
    "a child over pipes": "from cpp_core.trials.children import Child; kept = Child()",
    "a pool of a script": (
        "from cpp_core.trials.helpers import taken_pool, load; "
        "kept = taken_pool(1).executor.submit(load, None, None)"
    ),
}


def until(true: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert true()


@pytest.mark.slow
@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_worker_that_still_loads_ends_with_its_parent(start, tmp_path):
    """A user's own file takes a minute in the worker; who starts it has read it long before."""
    slow, loading = tmp_path / "slow.py", tmp_path / "loading"
    slow.write_text(SLOW)
    code = (
        f"import os, time; import cpp_core; {start.split(';')[0]}\n"
        f"os.environ['PARENT_OF_SLOW'] = str(os.getpid())\n{start}\ntime.sleep(60)"
    )
    own = {"CPP_CORE_ALGORITHMS": str(slow), "LOADING": str(loading)}
    with subprocess.Popen([sys.executable, "-c", code], env=os.environ | own) as parent:
        until(loading.exists, 60)
        workers = psutil.Process(parent.pid).children(recursive=True)
        parent.kill()
    assert workers
    until(lambda: not any(worker.is_running() for worker in workers), 5)


def test_what_a_worker_has_started_ends_too():
    code = (
        "import subprocess, sys, time\nfrom cpp_core.method.parent import command\n"
        "more = 'import subprocess, sys, time; '\n"
        'more += \'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]); \'\n'
        "more += 'print(1, flush=True); time.sleep(60)'\n"
        "kept = subprocess.Popen(command(more))\ntime.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"1\n"
        started = psutil.Process(parent.pid).children(recursive=True)
        parent.kill()
        until(lambda: not any(own.is_running() for own in started), 5)
    assert len(started) == 2
