"""Every check finds what it is for, and nothing on a clean table; the docs list every code."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cpp_core.catalog.checkups import CODES, checkups, warnings_of
from cpp_core.catalog.example_tables import EXAMPLE_TABLES
from cpp_core.catalog.files import read_frame
from cpp_core.catalog.tables import type_frame

DOCS = Path(__file__).parents[2] / "docs/checks.md"


def clean(n=300):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.choice(["u", "v", "w"], n)})
    frame["y"] = frame["a"] + rng.normal(size=n)
    return frame


def codes_of(frame, target="y", **roles):
    return [finding.code for finding in checkups(type_frame(frame).table(target, **roles))]


def test_what_is_done_is_not_asked_for_again():
    """A column that is the time already is not to be named so."""
    typed = type_frame(clean().assign(day=pd.date_range("2024-01-01", periods=300)))
    asked = {}
    for time in (None, "day"):
        (found,) = [own for own in checkups(typed.table("y", time=time)) if own.code == "T2"]
        asked[time] = found.todo
    assert asked[None] == "Name it as the time, hold out the latest quarter too, and compare."
    assert asked["day"] == "Hold out the latest quarter too, and compare."


def test_several_columns_say_when():
    days = pd.date_range("2024-01-01", periods=300)
    found = checkups(type_frame(clean().assign(day=days, due=days[::-1])).table("y", time="day"))
    assert "“due”, “day” say when a row was taken." in [own.text for own in found]


def test_a_clean_table_has_no_findings():
    frame = clean()
    assert codes_of(frame) == []
    frame["y"] = np.where(frame["y"] > 0, "yes", "no")
    assert codes_of(frame) == []


def changed(**columns):
    return clean().assign(**columns)


CLASSES = np.where(clean()["y"] > 0, "yes", "no")
RARE = np.array(["no"] * 295 + ["yes"] * 5)
FAR_OUT = clean()["y"].where(np.arange(300) > 0, 1e6)


@pytest.mark.parametrize(
    ("code", "frame", "roles"),
    [
        ("D1", pd.concat([clean(), clean().head(2)]), {}),
        ("D2", changed(who=np.arange(300) // 2), {"id": "who"}),
        ("D3", changed(site=[f"s{i % 9}" for i in range(300)]), {"group": "site"}),
        ("T1", clean().sort_values("y"), {}),
        ("T1", changed(y=np.sort(CLASSES)), {}),
        ("T2", changed(day=pd.date_range("2024-01-01", periods=300)), {}),
        ("T2", changed(day=pd.date_range("2024-01-01", periods=300)), {"time": "day"}),
        ("C1", changed(c=1.5), {}),
        ("L1", changed(leak=3 * clean()["y"] + 1), {}),
        ("L1", changed(y=CLASSES, leak=clean()["y"]), {}),
        ("L1", changed(y=CLASSES, leak=np.where(CLASSES == "yes", "p", "q")), {}),
        ("K1", changed(y=np.random.default_rng(1).permutation(RARE)), {}),
        ("K2", changed(y=np.random.default_rng(1).permutation(RARE)), {}),
        ("H1", changed(y=FAR_OUT), {}),
        ("M1", changed(a=clean()["a"].where(np.arange(300) > 20)), {}),
        ("M2", changed(y=clean()["y"].where(np.arange(300) > 3)), {}),
        ("N1", changed(age=[str(20 + i % 50) if i % 9 else "not said" for i in range(300)]), {}),
    ],
)
def test_each_check_finds_what_it_is_for(code, frame, roles):
    assert code in codes_of(frame, **roles)


def test_words_that_are_usual_are_no_numbers_gone_wrong():
    assert "N1" not in codes_of(changed(level=[("low", "high", "3")[i % 3] for i in range(300)]))
    ages = "age,y\n" + "".join(f"{20 + i % 50 if i % 9 else 'k.A.'},{i % 7}\n" for i in range(300))
    table = type_frame(read_frame(ages.encode(), name="ages.csv").frame).table("y")
    assert [(own.kind, own.missing) for own in table.inputs] == [("number", 34)]


def test_what_a_report_is_told_quotes_no_cell():
    odd = changed(y=RARE, age=[str(20 + i % 50) if i % 9 else "secret" for i in range(300)])
    found = checkups(
        type_frame(odd.assign(day=pd.date_range("2024-01-01", periods=300))).table("y")
    )
    assert {"K1", "N1", "T2"} <= {own.code for own in found}
    told = " ".join(warnings_of(found))
    assert "“day” says when a row was taken. Random splits hide drift" in told
    assert "Numbers with words among them. " in told
    assert "Tiny classes. " in told
    assert not any(cell in told for cell in ("secret", "yes", "“no”"))


def test_the_docs_list_every_code():
    rows = [line.split(" | ") for line in DOCS.read_text().splitlines() if line.startswith("| ")]
    told = {cells[0].strip("| `"): [cell.strip(" |") for cell in cells[1:]] for cells in rows[2:]}
    assert told == {code: [own.title, own.why, own.todo] for code, own in CODES.items()}


@pytest.mark.parametrize("name", EXAMPLE_TABLES)
def test_the_examples_are_understood(name):
    example = EXAMPLE_TABLES[name]
    read = read_frame(example.content, name=example.file)
    typed = type_frame(read.frame)
    assert not read.questions
    assert typed.guess_target() == example.target
    assert len(example.content) < 300_000
    table = typed.table(example.target, group=example.group, time=example.time, id=example.id)
    found = {finding.code for finding in checkups(table)}
    assert "L1" not in found
    assert ("T2" in found) == (example.time is not None)
    assert ("D3" in found) == (example.group is not None)


def test_the_examples_are_what_their_script_makes(tmp_path, monkeypatch):
    from data import make_tables

    monkeypatch.setattr(make_tables, "HERE", tmp_path)
    make_tables.main()
    for example in EXAMPLE_TABLES.values():
        assert (tmp_path / example.file).read_bytes() == example.content


def test_copies_are_rows_with_the_same_inputs_and_target():
    frame = pd.concat([clean(), clean().head(2)]).assign(who=np.arange(302))
    (found,) = checkups(type_frame(frame).table("y", id="who"))
    assert found.text.startswith("2 rows repeat an earlier one in every input and the target. 2 of")
    assert "differ in “who”: perhaps other cases" in found.text
    frame["who"] = [*range(300), 0, 1]
    text = checkups(type_frame(frame).table("y", id="who"))[0].text
    assert text == "2 rows repeat an earlier one in every input and the target."


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e300])
def test_leaks_at_any_size(size):
    frame = clean().assign(leak=3.0 * clean()["y"] - 1)
    frame["y"] *= size
    (found,) = checkups(type_frame(frame).table("y"))
    assert found.text == "“leak” gives “y” away."


def test_a_class_may_be_called_none():
    words = [("none", "mild", "NA", "")[i % 4] for i in range(200)]
    text = "x,n,severity\n" + "".join(
        f"{i},{'none' if i % 5 else i},{word}\n" for i, word in enumerate(words)
    )
    read = read_frame(text.encode(), name="severity.csv")
    table = type_frame(read.frame).table("severity")
    assert sorted(set(table.y)) == ["NA", "mild", "none"]
    assert table.dropped == 50
    assert any("taken as a word, not as missing: 'severity'" in note for note in read.notes)
    kinds = {own.name: (own.kind, own.missing) for own in table.inputs}
    assert kinds["n"][0] == "number"  # among numbers it is a gap
