"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cpp_core import ALGORITHMS, DATASETS, LOSSES
from cpp_core.catalog.example_losses import EXAMPLE_NAME, example_losses
from cpp_core.cli.commands import main
from tests.test_docs import NOT_YET, defined

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def executed(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )


@pytest.mark.slow
def test_the_example_prints_what_is_shown():
    code, shown = re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", README, re.S).groups()
    done = executed(code)
    assert done.stdout == shown
    assert done.stderr == ""
    assert len(code.strip().splitlines()) == 10


def test_the_table_of_a_file_is_what_is_printed(tmp_path, monkeypatch, capsys):
    command, shown = re.search(
        r"```bash\npython -m cpp_core (check minutes_off.*?)\n```\s+```text\n(.*?)```", README, re.S
    ).groups()
    monkeypatch.chdir(tmp_path)
    Path(EXAMPLE_NAME).write_bytes(example_losses())
    assert main(command.split()) == 1
    assert capsys.readouterr().out == shown


@pytest.mark.slow
def test_the_other_examples_run():
    others = re.findall(r"```python\n(.*?)```", README, re.S)[1:]
    assert others
    for code in others:
        assert executed(code).stderr == ""


def test_every_name_is_mentioned():
    for name in [*LOSSES, *ALGORITHMS, *DATASETS]:
        assert f"`{name}`" in README, name


def test_the_map_of_the_paper_is_complete_and_real():
    rows = re.search(r"\| in the paper.*?\n\n", README, re.S).group()
    numbered = set()
    for first, last in re.findall(r"\((\d+)\)(?:-\((\d+)\))?", rows):
        numbered |= set(range(int(first), int(last or first) + 1))
    assert numbered == set(range(1, 39))
    for statement in (
        *("Lemma 1", "Lemma 2", "Theorem 3", "Theorem 4", "Theorem 5", "Remark 6", "Remark 7"),
        *("Theorem 8", "Remark 9", "Theorem 10", "Remark 11", "Theorem 12"),
        *("Algorithm 1", "Algorithm 2", "Algorithm 3"),
    ):
        assert statement in rows
    named = re.findall(r"`(\w+)\.(\w+)\.(\w+)`", rows)
    assert len(named) > 8
    for room, module, name in named:
        reference = f"cpp_core/{room}/{module}.py", name
        assert defined(*reference) or ": ".join(reference) in NOT_YET, reference
    for room, module in re.findall(r"`(method|trials|catalog)\.(\w+)`", rows):
        assert (ROOT / f"cpp_core/{room}/{module}.py").exists(), (room, module)
