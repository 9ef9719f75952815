"""What depends on which algorithm, dataset, loss or variant is an attribute of its entry.

A lesson is about certain ones, and may name them.
"""

import ast
from pathlib import Path

from cpp_core import ALGORITHMS, DATASETS, LOSSES
from cpp_core.catalog.presets import PRESETS
from cpp_core.catalog.variants import VARIANTS

ROOT = Path(__file__).parents[1]
NAMES = {*ALGORITHMS, *DATASETS, *LOSSES, *VARIANTS, *PRESETS}


def compared(tree):
    """Texts that a condition compares something with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                parts = side.elts if isinstance(side, ast.Set | ast.Tuple | ast.List) else [side]
                for part in parts:
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        yield part.lineno, part.value
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "startswith":
            for argument in node.args:
                if isinstance(argument, ast.Constant) and str(argument.value).endswith("-"):
                    yield argument.lineno, argument.value


def named(source):
    """Conditions on the name of something registered, or on how it begins."""
    starts = tuple(name.split("-")[0] + "-" for name in NAMES if "-" in name)
    return [
        (line, text)
        for line, text in compared(ast.parse(source))
        if text in NAMES or (text.endswith("-") and text in (*starts, "table-"))
    ]


def test_no_condition_names_what_is_registered():
    files = [path for room in ("cpp_core", "pages") for path in (ROOT / room).rglob("*.py")]
    files = [path for path in files if "lessons" not in path.parts]
    assert len(files) > 100
    found = {str(path.relative_to(ROOT)): named(path.read_text()) for path in files}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_the_test_sees_what_it_looks_for():
    told = 'if variant == "symbolic" or name in {"svm-lin", "x"} or name.startswith("table-"): pass'
    assert [text for _, text in named(told)] == ["symbolic", "svm-lin", "table-"]
    assert named('if side == "upper" and kind.symbolic: pass') == []
