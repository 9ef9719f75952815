"""Awkward files: each is understood or gives a sentence, and the next one is read."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from benchmarks.hostile import HEAVY, KINDS, parquet, rows_of, xlsx
from cpp_core import Experiment
from cpp_core.catalog import files
from cpp_core.catalog.datasets import OWN
from cpp_core.catalog.files import NEEDED, read_frame
from cpp_core.catalog.reading import child
from cpp_core.catalog.reading.child import LINES, packed
from cpp_core.catalog.reading.contents import found_in
from cpp_core.catalog.reading.limits import Asked, FileError
from tests.catalog.awkward import LABELS, PACKED, PLAIN, SIZES, TEXTS, N

EMPTY, NO_ROWS, NO_INPUT = "is empty; needed", "but no rows; needed", "No column is left to predict"
NO_TARGET, NO_TABLE, NO_NAMES = "No column can be a target", "neither text nor", "must name the col"
SAYS = {
    **dict.fromkeys(("empty", "white space", "a mark of UTF-8 and nothing else"), EMPTY),
    **dict.fromkeys(("an empty workbook", "gzip of nothing"), EMPTY),
    **dict.fromkeys(("header only", "all missing", "a page of the web", "JSON"), NO_ROWS),
    **dict.fromkeys(("a sheet with names only", "Parquet of nothing"), NO_ROWS),
    **dict.fromkeys(("one row", "a title above the names", "a comment above the names"), NO_TARGET),
    **dict.fromkeys(("one column", "a target without values", "numbers with units"), NO_INPUT),
    **dict.fromkeys(("percentages", "money", "whole numbers beyond 64 bits"), NO_INPUT),
    **dict.fromkeys(("a line of 9 million letters", "only names of rows"), NO_INPUT),
    **dict.fromkeys(("only free text", "a class for each row", "mixed cells"), NO_INPUT),
    **dict.fromkeys(("a merged title above the names", "Parquet with lists"), NO_INPUT),
    **dict.fromkeys(("no header", "numbers as names", "numbers for names in a sheet"), NO_NAMES),
    **dict.fromkeys(("too many cells in a line", "too few cells in a line"), "Line 62 of"),
    **dict.fromkeys(("UTF-32", "bytes that are 0", "a picture renamed", "noise"), NO_TABLE),
    **dict.fromkeys(("an archive of two files", "an archive cut short"), "another zip archive"),
    **dict.fromkeys(("Parquet cut short", "Parquet by its first letters"), "like a Parquet file"),
    "a quotation mark that never ends": "every row needs a cell for each column",
    "a text without a table": "Line 2 of",
    "a name of 5000 letters": "has a name of 5,000 letters",
    "a document renamed": "is a PDF",
    "2,001 columns": "2,001 columns; at most 2,000",
    "gzip twice": "unpack it once",
    "gzip cut short": "ends too early",
    "gzip damaged": "is a damaged gzip archive",
}
"""What is said of those that cannot be used."""


@pytest.fixture(autouse=True)
def forgotten():
    """Tables of one test are unknown to the next."""
    yield
    OWN.clear()


def table_in(content, **asked):
    """The table in a file and how it was read, by the code of the reading process."""
    return packed(found_in(content, Asked("file", NEEDED, **asked)), "file")


def understood(frame):
    """What becomes of a table that was read: the cases that an experiment has."""
    return Experiment.from_table(frame, algorithms=("dummy",)).data.size


def check_sentence(error, name):
    said = str(error)
    assert SAYS[name] in said
    assert said[0].isupper() or said.startswith("file")
    assert said.endswith(".")
    assert len(said) < 400


def test_there_are_many():
    assert len(TEXTS) + len(PACKED) >= 60


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name):
    try:
        read = read_frame(TEXTS[name], name="file", own=True)
        assert name not in SAYS or SAYS[name] in (NO_TARGET, NO_INPUT)
        assert understood(read.frame) > 15 or name == "2,000 columns"
        assert name not in SAYS
    except ValueError as error:
        check_sentence(error, name)
    assert understood(read_frame(PLAIN.encode(), own=True).frame) == N


@pytest.mark.parametrize("name", PACKED)
def test_workbooks_archives_and_parquet(name):
    try:
        about, table = table_in(PACKED[name])
        assert name not in SAYS or SAYS[name] == NO_INPUT
        assert about["first"] >= 1
        assert understood(table.to_pandas()) >= N
        assert name not in SAYS
    except ValueError as error:
        check_sentence(error, name)


@pytest.mark.slow
def test_the_same_in_a_process_of_its_own():
    """And in the end the reader still reads."""
    chosen = ("a sheet", "gzip of a workbook", "Parquet with all types", "gzip damaged", "noise")
    for name in chosen:
        content = {**TEXTS, **PACKED}[name]
        if name in SAYS:
            with pytest.raises(ValueError, match=SAYS[name]):
                read_frame(content, name="file")
        else:
            about, table = table_in(content)
            read = read_frame(content, name="file")
            assert read.table.equals(table)
            assert read.notes == tuple(about["notes"])
    assert understood(read_frame(PLAIN.encode()).frame) == N


@pytest.mark.slow
def test_hostile_files_are_tables_or_sentences():
    """All kinds but the heaviest, each in a process of its own, and a good file after them."""
    said = []
    for turn, kind in enumerate(kind for kind in KINDS if kind not in HEAVY):
        content = KINDS[kind](np.random.default_rng([14, turn]))
        try:
            understood(read_frame(content, name="file").frame)
        except ValueError as error:
            said.append(str(error))
    assert len(said) > 5
    assert all(own.endswith(".") and "\n" not in own for own in said)
    assert understood(read_frame(PLAIN.encode()).frame) == N


def test_the_process_that_reads(monkeypatch):
    """Its two ends, without a process: what comes in, and what goes out."""

    class Ends:
        def __init__(self, content):
            self.buffer = io.BytesIO(content)

    monkeypatch.setattr(child, "bound", lambda: None)  # this process has no bounds

    def spoken(content, size=None):
        asked = {"name": "file", "needed": NEEDED, "size": len(content) if size is None else size}
        out = Ends(b"")
        monkeypatch.setattr("sys.stdin", Ends(json.dumps(asked).encode() + b"\n" + content))
        monkeypatch.setattr("sys.stdout", out)
        child.main()
        monkeypatch.undo()
        monkeypatch.setattr(child, "bound", lambda: None)
        return out.buffer.getvalue()

    about, _, stream = spoken(PLAIN.encode()).partition(b"\n")
    assert json.loads(about)["separator"] == ","
    assert pa.ipc.open_stream(stream).read_all().column_names == ["size", "y"]
    assert json.loads(spoken(b""))["error"].startswith("file is empty")
    assert spoken(PLAIN.encode(), size=10**6) == b""  # who asked is gone


def test_values_of_all_types_of_parquet():
    frame = table_in(PACKED["Parquet with all types"])[1].to_pandas()
    assert frame["small"].tolist()[0] == 1
    assert np.isnan(frame["small"][1])
    assert frame["large"][0] == float(2**64 - 1)
    assert frame["exact"].tolist()[:2] == [1.0, 2.0]
    assert frame["day"][1] == pd.Timestamp("1972-06-19")
    assert frame["took"].tolist()[:2] == [1.0, 0.0]
    assert frame["hour"].tolist()[:2] == ["01:00:00.000", "00:01:00.000"]
    assert frame["word"].tolist()[:2] == ["a", "b"]
    assert frame["wide"].tolist()[:2] == ["c", "d"]
    assert frame["none"].isna().all()
    assert "nested" not in frame


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (parquet(pa.table({"a": [[1]] * 3})), "no column that can be used"),
        (parquet(pa.table({"a": pa.nulls(2_000_001, pa.int8())})), "2,000,001 rows; at most"),
        (xlsx(s=rows_of([["a"], [1]]), t=rows_of([["b"], [2]])), None),
    ],
)
def test_limits_and_sheets(content, says):
    if says is not None:
        with pytest.raises(ValueError, match=says):
            table_in(content)
        return
    about, table = table_in(content)
    (question,) = about["questions"]
    assert (question["argument"], question["taken"]) == ("sheet", "s")
    assert table.column_names == ["a"]
    assert table_in(content, sheet="t")[1].column_names == ["b"]
    with pytest.raises(ValueError, match="no sheet called 'u'; its sheets: 's', 't'"):
        table_in(content, sheet="u")


def test_an_index_of_pandas_is_no_column():
    made = io.BytesIO()
    pd.DataFrame({"size": SIZES, "y": LABELS}).sort_values("size").to_parquet(made)
    assert table_in(made.getvalue())[1].column_names == ["size", "y"]


def test_cells_of_a_sheet():
    head = rows_of([["day", "truth", "whole", "number", "text", "void"]])
    cells = (
        ('t="d"', "2024-01-31T00:00:00", "2024-02-01T10:30:00"),
        ('t="b"', 1, 0),
        ("", 1, 2),
        ("", 0.5, 2),
        ('t="str"', "1,5", "2,25"),
    )
    rows = "".join(
        f'<row r="{row}">'
        + "".join(
            f'<c r="{letter}{row}" {kind}><v>{values[row > 2]}</v></c>'
            for letter, (kind, *values) in zip("ABCDE", cells, strict=True)
        )
        + "</row>"
        for row in (2, 4)
    )
    content = xlsx(s=head + rows)
    about, table = table_in(content)
    assert {own.name: str(own.type) for own in table.schema} == {
        **{"day": "timestamp[us]", "truth": "bool", "whole": "int64", "number": "double"},
        **{"text": "double", "void": "double", LINES: "int64"},
    }
    assert table.column("text").to_pylist() == [1.5, 2.25]
    assert table.column("day").to_pandas()[1] == pd.Timestamp("2024-02-01 10:30")
    assert (about["place"], table.column(LINES).to_pylist()) == ("row", [2, 4])
    assert table_in(content, parse=False)[1].column("text").to_pylist()[0] == "1,5"


@pytest.mark.parametrize(
    ("cells", "asked", "day"),
    [
        (["2024-02-03", "2024-2-4"], {}, "2024-02-03"),
        (["2024/02/03 10:30", "2024/02/04 9:05"], {}, "2024-02-03 10:30"),
        (["2024-02-03T10:30:15.25Z", "2024-02-04T00:00:00+02:00"], {}, "2024-02-03 10:30:15.25"),
        (["2024-02-03T01:30:00-0530", "2024-02-04"], {}, "2024-02-03 07:00"),
        (["03.02.2024", "04.02.2024"], {}, "2024-02-03"),
        (["13/02/2024", "04/02/2024"], {}, "2024-02-13"),
        (["02/13/2024", "02/04/2024"], {}, "2024-02-13"),
        (["03/02/2024", "04/02/2024"], {"day_first": True}, "2024-02-03"),
        (["03/02/2024", "04/02/2024"], {"day_first": False}, "2024-03-02"),
        (["02/02/2024", "03/03/2024"], {}, "2024-02-02"),
        (["2024-02-03", ""], {}, "2024-02-03"),
        (["2024-02-30", "2024-02-03"], {}, None),
        (["2024-02-03 25:00", "2024-02-03"], {}, None),
        (["2024-02-03 10:61", "2024-02-03"], {}, None),
        (["00.02.2024", "04.02.2024"], {}, None),
        (["31/31/2024", "04/02/2024"], {}, None),
        (["2024-02-03", "soon"], {}, None),
    ],
)
def test_dates(cells, asked, day):
    rows = "".join(f"{own},{i}\n" for i, own in enumerate(cells))
    about, table = table_in(f"when,y\n{rows}".encode(), **asked)
    found = table.column("when").to_pandas()
    assert not about["questions"]
    if day is None:
        assert found.tolist() == cells
    else:
        assert found[0] == pd.Timestamp(day)
        assert pd.isna(found[1]) == (cells[1] == "")


def test_a_date_with_two_readings_is_asked_for():
    about, table = table_in(b"when,y\n03/04/2024,1\n05/04/2024,2\n")
    (question,) = about["questions"]
    assert question["argument"] == "day_first"
    assert "3 April 2024 or 4 March 2024?" in question["text"]
    taken = pd.Timestamp("2024-04-03" if question["taken"] else "2024-03-04")
    assert table.column("when").to_pandas()[0] == taken


def test_a_process_that_takes_too_much_is_ended_by_who_started_it(monkeypatch):
    monkeypatch.setattr(files, "START_BYTES", -(2**40))  # where the system has no such bound
    with pytest.raises(FileError, match=r"needs more than .* of memory"):
        read_frame(PACKED["Parquet with all types"])


def test_reading_may_be_given_less_memory():
    many = b"a,b\n" + b"1.5,word\n" * 3_000_000
    with pytest.raises(FileError, match=r"needs more than 34 MB of memory"):
        read_frame(many, memory=2**25)
    assert len(read_frame(PLAIN.encode(), memory=2**29).frame)
