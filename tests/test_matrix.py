"""The script that runs the suite on several Pythons: what is absent is no success."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci/matrix"
PYTHON = """#!/bin/sh
case "$*" in
"-V") echo Python x;;
"-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$0" "$3/bin/pip";;
"-m pytest fails") exit 1;;
esac
"""

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="a script for bash"
)


@pytest.mark.parametrize(
    ("versions", "arguments", "code", "says"),
    [
        ("3.97", [], 0, "Ran on: 3.97. Absent: none."),
        ("3.97 3.14", [], 0, "Ran on: 3.97. Absent: 3.14."),
        ("3.97 3.98", [], 1, "Ran on: 3.97. Absent: 3.98."),
        ("3.98", [], 1, "Ran on: none. Absent: 3.98."),
        ("3.14", [], 1, "Ran on: none. Absent: 3.14."),
        ("3.97", ["fails"], 1, "Ran on: 3.97. Absent: none."),
    ],
)
def test_what_is_absent_is_told_and_counts(tmp_path, versions, arguments, code, says):
    python = tmp_path / "versions/3.97.1/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    (tmp_path / "bin").mkdir()
    for name in ("bash", "ls", "sort", "tail", "grep", "mktemp", "rm", "mkdir", "cp", "dirname"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    path = str(tmp_path / "bin")  # no other Python
    done = subprocess.run(
        [str(shutil.which("bash")), str(SCRIPT), *arguments],
        env={**os.environ, "PATH": path, "PYENV_ROOT": str(tmp_path), "VERSIONS": versions},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[-1] == says
    assert done.returncode == code, done.stderr
