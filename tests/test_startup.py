"""What starts without what: nobody waits for learners who trains nothing."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import cpp_core

TRAINING = ("numba", "sklearn", "scipy.stats", "joblib", "plotly")
LEARNERS = ("cpp_core.learners.svm", "cpp_core.learners.compiled")
AFTER = "import sys, cpp_core.cli.commands as c\ntry: c.main({!r})\nfinally: print(*sys.modules)"


def loaded_by(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["--help"], ["check", "--help"], ["run", "--help"]])
def test_help_loads_nothing_slow(words):
    loaded = loaded_by(AFTER.format(words))
    assert "cpp_core.cli.commands" in loaded
    assert not loaded & {*TRAINING, "pandas", "pyarrow", "scipy"}


def test_judging_a_file_loads_nothing_that_trains(tmp_path):
    file = tmp_path / "losses.csv"
    file.write_text("a,b\n" + "".join(f"{i / 40},{i % 7 / 7}\n" for i in range(40)))
    loaded = loaded_by(AFTER.format(["check", str(file), "--all", "--at-most", "0.9", "--why"]))
    assert "cpp_core.verdicts.answers" in loaded
    assert not loaded & {*TRAINING, "cpp_core.learners.svm"}


def test_a_list_of_what_there_is_loads_none_of_it():
    loaded = loaded_by(AFTER.format(["list"]))
    assert "cpp_core.cli.list_command" in loaded
    assert not loaded & {*TRAINING, *LEARNERS}


def test_a_run_that_is_stored_loads_nothing_that_trains():
    """The paper's runs come with their losses; joblib is there, which would find workers."""
    stored = loaded_by(AFTER.format(["run", "--preset", "digits-candidate", "--trials", "20"]))
    assert {"cpp_core.trials.running", "cpp_core.verdicts.summary"} <= stored
    assert not stored & {*TRAINING, *LEARNERS} - {"joblib"}


def test_the_package_alone_loads_nothing():
    assert not loaded_by("import sys, cpp_core; print(*sys.modules)") & {*TRAINING, "numpy"}


def test_public_names_are_those_that_types_know():
    tree = ast.parse(Path(inspect.getfile(cpp_core)).read_text(encoding="utf-8"))
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {(own.module, name.name) for own in branch.body for name in own.names}
    assert {name for _, name in typed} | {"__version__"} == set(cpp_core.__all__)
    for module, name in typed:
        assert getattr(cpp_core, name) is getattr(sys.modules[module], name)
    assert set(cpp_core.__all__) <= set(dir(cpp_core))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cpp_core.nothing
