"""The import contract of the rooms notices who breaks it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = "from importlinter.cli import lint_imports_command as main; main()"
OFFENDERS = {
    "cpp_core/method/offender.py": "from cpp_core.trials.results import Results",
    "cpp_core/figures/offender.py": "import streamlit",
    "pages/offender.py": "from cpp_core.cli.commands import main",
}


def test_offenders_are_named(tmp_path):
    """A copy of the tree, with one offender against each contract."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for package in ("cpp_core", "pages"):
        only = shutil.ignore_patterns("__pycache__", "*.css", "*.html", "*.js")
        shutil.copytree(ROOT / package, tmp_path / package, ignore=only)
    for path, line in OFFENDERS.items():
        (tmp_path / path).write_text(f'"""An offender."""\n\n{line}\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", COMMAND],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 1, done.stderr
    assert "Contracts: 0 kept, 3 broken." in done.stdout
    for path, line in OFFENDERS.items():
        asked = line.split()[1]
        name = path.removesuffix(".py").replace("/", ".")
        assert f"{name} -> {asked}" in done.stdout
    told = [said for said in done.stdout.splitlines() if " -> " in said]
    assert all("offender" in said for said in told)
