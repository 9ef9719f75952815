"""Files of losses: what is read, what is guessed and told, what is refused and why."""

import hashlib
import io
import pickle

import numpy as np
import pandas as pd
import pytest

from cpp_core.catalog.loss_files import column_names, read_losses

PLAIN = b"a,b\n0.1,1\n0.25,2e-3\n.5,-3\n"


def test_plain_csv_from_path_bytes_and_file(tmp_path):
    path = tmp_path / "losses.csv"
    path.write_bytes(PLAIN)
    with path.open("rb") as opened:
        tables = [
            read_losses(path),
            read_losses(str(path)),
            read_losses(PLAIN),
            read_losses(opened),
        ]
    for table in tables:
        assert list(table.columns) == ["a", "b"]
        np.testing.assert_array_equal(table.columns["a"], [0.1, 0.25, 0.5])
        np.testing.assert_array_equal(table.columns["b"], [1, 2e-3, -3])
        assert table.columns["a"].dtype == np.float64
        assert table.notes == (
            "Taken as losses, smaller is better, because the column names say nothing else; say "
            "--greater-is-better if not.",
        )
        assert table.size == 3
        assert table.sha256 == hashlib.sha256(PLAIN).hexdigest()
    assert [table.name for table in tables] == [*["losses.csv"] * 2, "the file", "losses.csv"]


@pytest.mark.parametrize(
    "content",
    [
        "a;ü\n0,5;1\n1e-1;2\n".encode(),
        "a;ü\r\n0,5;1\r\n\r\n1e-1;2\r\n".encode(),
        "\ufeffa;ü\n0,5;1\n1e-1;2\n".encode(),
        "a;ü\n0,5;1\n1e-1;2\n".encode("latin-1"),
        "a;ü\n0,5;1\n1e-1;2\n".encode("utf-16"),
        "a\tü\n0,5\t1\n1e-1\t2\n".encode(),
        'a,ü\n"0.5",1\n 1e-1 , 2\n'.encode(),
    ],
)
def test_encodings_and_separators(content):
    table = read_losses(content)
    np.testing.assert_array_equal(table.columns["a"], [0.5, 0.1])
    np.testing.assert_array_equal(table.columns["ü"], [1, 2])
    notes = " ".join(table.notes)
    assert ("decimal points" in notes) == (b'"' not in content)
    assert ("Latin-1" in notes) == (content[2:3] == b"\xfc")


def test_numbers_are_the_nearest_floats_and_one_column_may_have_decimal_commas():
    rng = np.random.default_rng(0)
    exact = rng.exponential(size=200) * 10.0 ** rng.integers(-12, 12, 200)
    lines = "\n".join(map(repr, exact.tolist()))
    np.testing.assert_array_equal(read_losses(f"x\n{lines}".encode()).columns["x"], exact)
    commas = lines.replace(".", ",")
    np.testing.assert_array_equal(read_losses(f"x\n{commas}".encode()).columns["x"], exact)


def test_parquet(tmp_path):
    frame = pd.DataFrame(
        {"a": [0.1, 0.2], "n": [1, 2], "who": ["x", "y"], "single": np.float32([0.5, 0.1])}
    )
    path = tmp_path / "losses.parquet"
    frame.to_parquet(path)
    table = read_losses(path, case="who")
    assert list(table.columns) == ["a", "n", "single"]
    for name, own in table.columns.items():
        np.testing.assert_array_equal(own, frame[name].astype(float))
    assert list(table.cases) == ["x", "y"]
    frame.loc[1, "a"] = np.nan
    frame.to_parquet(path)
    with pytest.raises(ValueError, match=r"1 of 2 losses missing or infinite, the first in row 2"):
        read_losses(path)
    frame[:0].to_parquet(path)
    with pytest.raises(ValueError, match="no rows"):
        read_losses(path)
    with pytest.raises(ValueError, match="begins like a Parquet file but cannot be read"):
        read_losses(b"PAR1 and then nothing")


def test_what_is_left_out_is_told():
    content = b",row,id,a,kind,b\n9,1,x,0.5,big,1\n8,2,y,0.6,small,2\n7,3,z,0.7,big,4\n"
    table = read_losses(content, case="id", group="kind")
    assert list(table.columns) == ["a", "b"]
    assert list(table.cases) == ["x", "y", "z"]
    assert list(table.groups) == ["big", "small", "big"]
    assert "without a name" in table.notes[0]
    assert "'row' numbers the rows" in table.notes[1]
    assert "not numbers: 'id', 'kind'" in read_losses(content).notes[2]
    asked = read_losses(content, columns=["row"])
    np.testing.assert_array_equal(asked.columns["row"], [1, 2, 3])
    assert list(read_losses(content, ["b", "a", "b"]).columns) == ["b", "a"]
    assert read_losses(b"a\n1\n").notes[0] == "There is one case only."


@pytest.mark.parametrize(
    ("names", "greater", "because"),
    [
        ("accuracy", True, "because of the column name 'accuracy'"),
        ("a,val_acc", True, "because of the column name 'val_acc'"),
        ("rocAUC", True, "because of the column name 'rocAUC'"),
        ("F1,R2", True, "because of the column name 'F1'"),
        ("hit,correct,right,reward,gain", True, "because of the column name 'hit'"),
        ("svm score", True, "because of the column name 'svm score'"),
        ("neg_log_loss", True, "because of the column name 'neg_log_loss'"),
        ("brier_score", False, "because of the column name 'brier_score'"),
        ("logloss1", False, "because of the column name 'logloss1'"),
        ("squaredError,cost", False, "because of the column name 'squaredError'"),
        ("MSE,mae,rmse,regret,wrong,err", False, "because of the column name 'MSE'"),
        ("terrier,account,white,Bright", False, "because the column names say nothing else"),
    ],
)
def test_the_direction_is_guessed_from_names_and_told(names, greater, because):
    row = ",".join(["0.5"] * len(names.split(",")))
    table = read_losses(f"{names}\n{row}\n{row}\n".encode())
    assert table.greater_is_better == greater
    kind, other = ("scores, greater", "smaller") if greater else ("losses, smaller", "greater")
    assert (
        table.notes[-1] == f"Taken as {kind} is better, {because}; say --{other}-is-better if not."
    )
    said = read_losses(f"{names}\n{row}\n".encode(), greater_is_better=not greater)
    assert said.greater_is_better != greater
    assert said.notes[-1].endswith("is better, as was said.")


def test_the_direction_is_guessed_from_values_where_names_say_nothing():
    unknown = read_losses(b"a,b\n0,1\n1,1\n")
    assert not unknown.greater_is_better
    assert "which 0 and 1 cannot tell, nor the column names; say --" in unknown.notes[-1]
    below = read_losses(b"a,b\n-0.5,-1\n0,-2\n")
    assert below.greater_is_better
    assert "because no number is above 0" in below.notes[-1]
    for names in ("accuracy,loss", "accuracy_loss,a"):
        content = f"{names}\n0.5,0.5\n".encode()
        with pytest.raises(ValueError, match="say --greater-is-better or --smaller-is-better"):
            read_losses(content)
        assert read_losses(content, greater_is_better=True).greater_is_better
    assert not read_losses(b"accuracy,loss\n0.5,0.5\n", ["loss"]).greater_is_better


@pytest.mark.parametrize(
    ("content", "settings", "says"),
    [
        (b"", {}, "the file is empty; needed is a CSV or Parquet file"),
        (b" \n\n", {}, "is empty"),
        (b"\xef\xbb\xbf", {}, "is empty"),
        (b",,\n,,\n", {}, "is empty"),
        (b"x", {}, "holds next to nothing; needed is"),
        (b"a,b\n", {}, "has a header but no rows"),
        (b"name,kind\nx,y\n", {}, r"no column of losses \(its columns: 'name', 'kind'\)"),
        (b"id,a\nx,1\ny,2\nz,3\n", {}, "no column of losses .* 'a' numbers the rows"),
        (b"a\n1\nnan\n\n2\n-inf\n", {}, r"'a' has 2 of 4 losses .* first in line 3 \(nan\)"),
        (b"a,b\n1,\n2,3\n", {"columns": ["b"]}, r"1 of 2 .* line 2 \(an empty cell\)"),
        (b"a\n1\n1e999\n", {}, r"infinite, the first in line 3 \(1e999\)"),
        (b"a\n1\n-1e308\n", {}, r"'-1e308' in line 3; losses beyond 1e\+150 cannot be added"),
        (b"a\n1\n2\nabout 3\n", {}, "'a' has 'about 3' in line 4; losses must be plain numbers"),
        (b"a,b\n1,True\n2,False\n", {"columns": ["b"]}, "'b' has 'True' in line 2"),
        (b"a,b\n1,1_0\n2,1_1\n", {"columns": ["b"]}, "'b' has '1_0' in line 2"),
        (b"id,a\nx,1\ny,2\nx,4\n", {"case": "id"}, "'x' twice, in line 2 and line 4"),
        (b"id,a\nx,1\n,2\n", {"case": "id"}, "names no case in line 3"),
        (b"g,a\nx,1\n,2\n", {"group": "g"}, "names no group in line 3"),
        (PLAIN, {"columns": ["losses_a"]}, "no column called 'losses_a'; known: a, b"),
        (b"log_loss\n1\n", {"columns": ["logloss"]}, "did you mean 'log_loss'"),
        (PLAIN, {"case": "id"}, "no column called 'id'"),
        (PLAIN, {"columns": []}, "name at least one column"),
        (b"a,a\n1,2\n", {}, "Two columns named 'a'"),
        (b"a,,\n1,2,3\n", {}, "Several columns without a name"),
        (b"0.5,0.7\n1,2\n", {}, r"begins with numbers \(0.5, 0.7\); the first line must name"),
        (b"a,b\n1,2\n3\n", {}, r"Line 3 of the file has 1 cells, but the header has 2"),
        (b'a,b\n1,"2\n', {}, "cannot be read as CSV"),
        (b"PK\x03\x04rest", {}, "an Excel workbook or another zip archive; .* save it as CSV"),
        (b"\x89PNG\r\n\x00\x01", {}, "neither text nor Parquet"),
        (pickle.dumps([1.0]), {}, "a Python pickle, which is never opened"),
        ("no/such.csv", {}, "cannot be read: No such file"),
    ],
)
def test_bad_input(content, settings, says):
    with pytest.raises(ValueError, match=says):
        read_losses(content, **settings)


def test_text_files_are_read_too():
    assert read_losses(io.StringIO("a\n1\n2\n")).size == 2


def test_a_line_break_in_a_name():
    assert column_names(b'"a\nb",c\n1,2\n3,5\n') == (["a\nb", "c"], ["a\nb", "c"])
