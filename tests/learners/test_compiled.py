"""Compiled code runs where no folder can be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = """
from cpp_core import Experiment, run
import numpy as np
from cpp_core.learners.gradient import gd_updates
gd_updates(np.ones((3, 2)), np.ones(3), np.zeros(2), 0.1, 5)
found = run(Experiment(dataset="iris", algorithms=("dummy",)), 2, n_jobs=1)
print(len(found.trials), found.problem)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions of folders are POSIX's")
def test_a_user_without_a_home_and_a_writable_package_gets_numbers_and_a_sentence(tmp_path):
    package = tmp_path / "cpp_core"
    shutil.copytree(ROOT / "cpp_core", package, ignore=lambda *_: {"__pycache__"})
    folders = [tmp_path, package, *(path for path in package.rglob("*") if path.is_dir())]
    for folder in folders:
        folder.chmod(0o500)
    home = tmp_path / "nonexistent"
    clean = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(tmp_path)}
    command = [*_without_privileges(), sys.executable, "-c", CODE]
    try:
        done = subprocess.run(command, env=clean, cwd="/", capture_output=True, text=True)
    finally:
        for folder in folders:
            folder.chmod(0o700)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"2 Writing to {home}/.cache/cpp_core failed")


def _without_privileges():
    """Root may write everywhere, unless that privilege is put down; it still owns its files."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv, to put root's privileges down")
    return ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
