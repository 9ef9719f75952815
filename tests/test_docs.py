"""What the documents name is there, and what they compute is right."""

import ast
import doctest
import re
import tomllib
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = (
    "docs/method.md",
    "docs/architecture.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "README.md",
)
REFERRING = ("docs/method.md", "docs/architecture.md")
SECTIONS = {
    "words": "1 Words",
    "ranks": "2 Ranks",
    "constructions": "3 Constructions",
    "losses": "4 Losses",
    "experiments": "5 The paper's experiments",
    "statements": "6 What may be said",
    "beyond": "7 Beyond the paper",
}

NOT_YET: set[str] = set()
"""References to what is still being written; a name that exists by now must leave this list."""


def text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


@lru_cache
def names_in(path: str) -> frozenset[str]:
    """Functions, classes with their members, and constants that a module defines."""
    if not (ROOT / path).exists():
        return frozenset()

    def within(body: list[ast.stmt], prefix: str = "") -> set[str]:
        names = set()
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                names |= within(node.body, f"{prefix}{node.name}.")
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", 0)]
            names |= {prefix + target.id for target in targets if isinstance(target, ast.Name)}
        return names

    return frozenset(within(ast.parse(text(path)).body))


def defined(path: str, name: str) -> bool:
    return name in names_in(path)


def references(document: str) -> set[tuple[str, str]]:
    """What is written as `path/to/module.py: name`."""
    return set(re.findall(r"`([\w/]+\.py):\s+([\w.]+)`", text(document)))


def test_every_function_that_is_named_exists():
    found = set().union(*(references(document) for document in REFERRING))
    assert all(len(references(document)) > 20 for document in REFERRING)
    missing = {f"{path}: {name}" for path, name in found if not defined(path, name)}
    assert missing - NOT_YET == set(), "these are named but not defined"
    assert NOT_YET - missing == set(), "these are defined by now, or nowhere named: take them out"


def test_what_is_not_defined_would_be_noticed():
    assert defined("cpp_core/method/ranks.py", "conformal_ranks")
    assert defined("cpp_core/trials/results.py", "Results.at")
    assert defined("cpp_core/catalog/losses.py", "LOSSES")
    assert not defined("cpp_core/method/ranks.py", "conformal_rank")
    assert not defined("cpp_core/method/rank.py", "conformal_ranks")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_and_link_leads_somewhere(document):
    coming = {reference.split(":")[0] for reference in NOT_YET}
    written = re.findall(r"`([\w.]+/[\w./]*|\w+\.(?:py|md|toml|txt))[`:]", text(document))
    for path in {path for path in written if not path.startswith("/")} - coming:
        assert (ROOT / path).exists() or (ROOT / document).with_name(path).exists(), path
    for target, anchor in re.findall(r"\]\((?!http)([^)#]*)#?([^)]*)\)", text(document)):
        file = (ROOT / document).parent / target if target else ROOT / document
        assert file.exists(), target
        assert not anchor or f'<a id="{anchor}"></a>' in file.read_text(encoding="utf-8"), anchor


def test_the_sections_of_the_method_stay_where_they_are():
    found = re.findall(r'<a id="(\w+)"></a>\n\n## (.+)\n', text("docs/method.md"))
    assert dict(found) == SECTIONS
    assert re.findall(r"^## (.+)$", text("docs/method.md"), re.M) == list(SECTIONS.values())


def test_docstrings_point_to_sections_that_exist():
    pointers = r"docs/method\.md(?:#(\w+)|,?\s+(?:section\s+)?(\d+))"
    for path in (ROOT / "cpp_core").rglob("*.py"):
        for anchor, number in re.findall(pointers, path.read_text(encoding="utf-8")):
            known = anchor in SECTIONS if anchor else 1 <= int(number) <= len(SECTIONS)
            assert known, (path, anchor, number)


@pytest.mark.parametrize("document", REFERRING)
def test_the_examples_give_what_is_shown(document):
    blocks = re.findall(r"```python\n(>>>.*?)```", text(document), re.S)
    assert blocks or document != "docs/method.md"
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, document, document, 0)
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_rooms_are_those_of_the_import_contract():
    contracts = tomllib.loads(text("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rooms = re.findall(r"^\| `cpp_core/(\w+)(?:/|\.py)` \|", text("docs/architecture.md"), re.M)
    top, *inner = layers
    assert top == "__main__"
    assert rooms == [layer.split(" | ")[0] for layer in inner[::-1]]


def test_adding_something_takes_ten_lines():
    how = re.search(r"## How to add\n(.*?)\n## ", text("docs/architecture.md"), re.S).group(1)
    parts = re.split(r"^### ", how, flags=re.M)[1:]
    assert [part.splitlines()[0] for part in parts] == [
        *("A loss", "An algorithm", "A dataset", "A variant", "A panel", "A lesson", "A page"),
    ]
    for part in parts:
        assert len([line for line in part.splitlines()[1:] if line]) <= 10, part


LONGEST_FUNCTION, LONGEST_MODULE = 60, 450


def functions_in(tree: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


def test_functions_and_modules_are_as_short_as_contributing_says():
    assert f"at most {LONGEST_FUNCTION} lines" in text("CONTRIBUTING.md")
    files = [file for room in ("cpp_core", "pages") for file in (ROOT / room).rglob("*.py")]
    assert len(files) > 100
    long = []
    for file in files:
        source, name = file.read_text(encoding="utf-8"), str(file.relative_to(ROOT))
        if len(source.splitlines()) > LONGEST_MODULE:
            long.append(name)
        functions = functions_in(ast.parse(source))
        long += [f"{name}: {f.name}" for f in functions if lines_of(f) > LONGEST_FUNCTION]
    assert not long, "split these along a line of the method"


def test_a_function_that_is_too_long_would_be_noticed():
    body = "    x = 1\n" * LONGEST_FUNCTION
    (function,) = functions_in(ast.parse(f"class A:\n  def f():\n{body}"))
    assert lines_of(function) == LONGEST_FUNCTION + 1
