"""A figure only draws: what its title says was worded by a function of the verdicts."""

import ast
from pathlib import Path

import cpp_core.figures

FILES = sorted(Path(cpp_core.figures.__file__).parent.glob("*.py"))


def titles(tree):
    """What panels of a module have as titles: the expressions behind their names."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        values = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                target, value = node.targets[0], node.value
                paired = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                pairs = zip(target.elts, value.elts, strict=True) if paired else [(target, value)]
                for name, own in pairs:
                    if isinstance(name, ast.Name):
                        values.setdefault(name.id, []).append(own)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Panel":
                title = node.args[1]
                yield from values[title.id] if isinstance(title, ast.Name) else [title]


def worded_here(source):
    """Titles with a number in them that the figure wrote itself, as their code."""
    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("cpp_core.verdicts")
        for alias in node.names
    }
    found = []
    for title in titles(tree):
        calls = [node for node in ast.walk(title) if isinstance(node, ast.Call)]
        known = isinstance(title, ast.Call) and getattr(title.func, "id", "") in imported
        plain = not calls and not any(isinstance(n, ast.JoinedStr) for n in ast.walk(title))
        found += [] if known or plain else [ast.unparse(title)]
    return found


def test_titles_are_sentences_of_verdicts():
    sources = [path.read_text(encoding="utf-8") for path in FILES]
    assert sum(len(list(titles(ast.parse(source)))) for source in sources) > 15
    assert [title for source in sources for title in worded_here(source)] == []


def test_the_test_sees_what_it_looks_for():
    start = "from cpp_core.verdicts.duel import duel_title\n"
    made = "def f():\n    title = {}\n    return Panel('key', title, figure)\n"
    assert worded_here(start + made.format("duel_title(found)")) == []
    assert worded_here(start + made.format("'What may happen'")) == []
    for own in ("f'{n} of {k} lie above'", "_title(found)", "'wins: ' + str(wins)"):
        assert len(worded_here(start + made.format(own))) == 1
    direct = "def f():\n    return Panel('key', f'{n} wins', figure)\n"
    assert len(worded_here(start + direct)) == 1
