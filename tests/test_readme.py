"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

import cpp_core
from cpp_core import ALGORITHMS, DATASETS, LOSSES

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_is_shown():
    code, shown = re.search(r"```python\n(.*?)```\s+```text\n(.*?)```", README, re.S).groups()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == shown
    assert done.stderr == ""
    assert len(code.strip().splitlines()) == 10


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
    for module, name in re.findall(r"`(\w+)\.(\w+)`", rows):
        owner = getattr(cpp_core, module, None) or next(
            own
            for path, own in sys.modules.items()
            if re.fullmatch(rf"cpp_core\.\w+\.{module}", path)
        )
        assert hasattr(owner, name), (module, name)
