"""Files that people really bring: damaged, mislabelled, ambiguous, nearly empty."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa

from benchmarks.hostile import cell, parquet, rows_of, xlsx

N = 60
RNG = np.random.default_rng(0)
SIZES = RNG.normal(size=N).round(3).tolist()
LABELS = ["yes", "no", "yes"] * (N // 3)


def rows(*columns, head="size,y", separator=","):
    """Columns as the text of a file; of whole lists, or of one value for all rows."""
    whole = [own if isinstance(own, list) else [own] * N for own in columns]
    lines = (separator.join(map(str, row)) for row in zip(*whole, strict=True))
    return "\n".join([head, *lines]) + "\n"


PLAIN = rows(SIZES, LABELS)
SHEET = [["size", "y"], *map(list, zip(SIZES, LABELS, strict=True))]
BLANK = [None] * 2


def _zip(**files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return made.getvalue()


def _written(**columns):
    made = io.BytesIO()
    pd.DataFrame(columns).to_parquet(made)
    return made.getvalue()


def _commas(values):
    return [str(own).replace(".", ",") for own in values]


TEXTS = {
    "empty": b"",
    "white space": b" \n\t\n  \n",
    "a mark of UTF-8 and nothing else": b"\xef\xbb\xbf",
    "header only": b"size,y\n",
    "one row": b"size,y\n1,yes\n",
    "one column": b"y\n" + b"1\n2\n" * 30,
    "one class": rows(SIZES, "yes").encode(),
    "all missing": rows("", "").encode(),
    "a target without values": rows(SIZES, "").encode(),
    "an input without values": rows(SIZES, "", LABELS, head="size,void,y").encode(),
    "missing values in words": rows(["NA", "null", "", "?"] * 15, LABELS).encode(),
    "half of the targets missing": rows(SIZES, ["a", "b", "", ""] * 15).encode(),
    "no header": rows(SIZES, SIZES, head="0.1,0.2").encode(),
    "numbers as names": rows(SIZES, LABELS, head="2023,2024").encode(),
    "names without letters": rows(SIZES, LABELS, head=",").encode(),
    "duplicate names": rows(SIZES, SIZES, LABELS, head="a,a,y").encode(),
    "three equal names": rows(SIZES, SIZES, LABELS, head="y,y,y").encode(),
    "a name with a line break": rows(SIZES, LABELS, head='"si\nze",y').encode(),
    "a name with control letters": rows(SIZES, LABELS, head="\x1b[2Jsize,y").encode(),
    "a name that is a formula": rows(SIZES, LABELS, head="=1+1,y").encode(),
    "a name of 5000 letters": rows(SIZES, LABELS, head="x" * 5000 + ",y").encode(),
    "semicolons and decimal commas": rows(
        *(_commas(SIZES), LABELS), head="size;y", separator=";"
    ).encode(),
    "tabs": PLAIN.replace(",", "\t").encode(),
    "bars": PLAIN.replace(",", "|").encode(),
    "spaces around all": PLAIN.replace(",", "  ,  ").encode(),
    "a last separator in each line": PLAIN.replace("\n", ",\n").encode(),
    "line ends of Windows": PLAIN.replace("\n", "\r\n").encode(),
    "line ends of old Macs": PLAIN.replace("\n", "\r").encode(),
    "no end of the last line": PLAIN.rstrip().encode(),
    "blank lines between": PLAIN.replace("\n", "\n\n").encode(),
    "a title above the names": b"Sales of 2024\n\n" + PLAIN.encode(),
    "a comment above the names": b"# made by hand\n" + PLAIN.encode(),
    "too many cells in a line": (PLAIN + "1,2,3,4\n").encode(),
    "too few cells in a line": (PLAIN + "1\n").encode(),
    "quoted line breaks": rows(SIZES, '"a\nb"', LABELS, head="size,note,y").encode(),
    "a quotation mark that never ends": (PLAIN + '"1,yes\n2,no\n').encode(),
    "quotation marks within words": rows(SIZES, 'a "b" c', LABELS, head="size,note,y").encode(),
    "UTF-8 with a mark": PLAIN.encode("utf-8-sig"),
    "UTF-16": PLAIN.encode("utf-16"),
    "UTF-32": PLAIN.encode("utf-32"),
    "Latin-1": PLAIN.replace("yes", "né").encode("latin-1"),
    "Windows' own letters": PLAIN.replace("yes", "5 €").encode("cp1252"),
    "mixed encodings": PLAIN.replace("yes", "né").encode() + "1,né\n".encode("latin-1"),
    "bytes that are 0": PLAIN.encode().replace(b"yes", b"\x00"),
    "numbers as text": rows([f'"{own}"' for own in SIZES], LABELS).encode(),
    "numbers with units": rows([f"{own} kg" for own in SIZES], LABELS).encode(),
    "percentages": rows([f"{own:.0f}%" for own in range(N)], LABELS).encode(),
    "money": rows([f"${own * 1000}" for own in range(N)], LABELS).encode(),
    "thousands": rows([f'"{own},000,123.5"' for own in range(1, N + 1)], LABELS).encode(),
    "a number with two readings": rows(
        *([f"{own}.{own * 7 % 999:03d}" for own in range(1, N + 1)], LABELS),
        head="size;y",
        separator=";",
    ).encode(),
    "leading zeros": rows([f"{own % 9:05d}" for own in range(N)], LABELS).encode(),
    "infinities": rows(["inf", "-inf", "1", "1e999", "2.5", "nan"] * 10, LABELS).encode(),
    "numbers beyond all bounds": rows(["1e308", "-1e308", "9" * 400] * 20, LABELS).encode(),
    "whole numbers beyond 64 bits": rows([f"{2**64 + own}" for own in range(N)], LABELS).encode(),
    "one number far out": rows([*SIZES[1:], 1e300], LABELS).encode(),
    "dates with two readings": rows(
        [f"0{own % 9 + 1}/0{own % 7 + 1}/2024" for own in range(N)], LABELS
    ).encode(),
    "dates that do not exist": rows(["2024-02-30", "2024-13-01"] * 30, LABELS).encode(),
    "dates and words": rows(["2024-02-28", "soon"] * 30, LABELS).encode(),
    "truth values in words": rows(["TRUE", "False", "true"] * 20, LABELS).encode(),
    "letters from right to left": rows(SIZES, ["כן", "לא"] * 30).encode(),
    "a picture renamed": b"\x89PNG\r\n\x1a\n" + RNG.bytes(500),
    "a document renamed": b"%PDF-1.7\n" + RNG.bytes(500),
    "a page of the web": b"<!doctype html><html><body><p>Not found</p></body></html>",
    "JSON": b'[{"size": 1, "y": "yes"}, {"size": 2, "y": "no"}]',
    "a text without a table": b"Dear all,\nplease find the numbers below.\nThank you, Ann\n",
    "noise": RNG.bytes(3000),
    "2,000 columns": (",".join(f"c{i}" for i in range(2000)) + "\n").encode()
    + (",".join(["1.5"] * 1999) + ",a\n" + ",".join(["2.5"] * 1999) + ",b\n").encode() * 10,
    "2,001 columns": (",".join(f"c{i}" for i in range(2001)) + "\n").encode() * 2,
    "a line of 9 million letters": b"size,y\n1," + b"9" * 9_000_000 + b"\n2,3\n",
    "every row the same": rows(1, ["yes", "no"] * 30).encode(),
    "only names of rows": rows([f"user{own}" for own in range(N)], LABELS).encode(),
    "only free text": rows(
        [f"a longer note about number {own}" for own in range(N)], LABELS
    ).encode(),
    "a class for each row": rows(SIZES, [f"c{own}" for own in range(N)]).encode(),
}  # fmt: skip
PACKED = {
    "a sheet": xlsx(s=rows_of(SHEET)),
    "an empty workbook": xlsx(s=""),
    "a sheet with names only": xlsx(s=rows_of(SHEET[:1])),
    "a merged title above the names": xlsx(
        s=rows_of([["Sales", None], *SHEET]) + '|<mergeCells><mergeCell ref="A1:B1"/></mergeCells>'
    ),
    "gaps in a sheet": xlsx(s=rows_of([BLANK, SHEET[0], BLANK, *SHEET[1:], [1.5, None]])),
    "numbers for names in a sheet": xlsx(s=rows_of([[1, 2], [3, 4]])),
    "errors in a sheet": xlsx(
        s=rows_of(SHEET) + '<row r="62"><c r="A62" t="e"><v>#DIV/0!</v></c></row>'
    ),
    "the second of three sheets": xlsx(empty="", table=rows_of(SHEET), more=rows_of([["a"], [1]])),
    "mixed cells": xlsx(
        s=rows_of([["mix", "y"], *([i if i % 2 else f"w{i}", "ab"[i % 3 > 0]] for i in range(N))])
    ),
    "a far corner": xlsx(s=rows_of(SHEET) + f'<row r="999">{cell("ZZ999", 1)}</row>'),
    "an archive of two files": _zip(a__csv=PLAIN, b__csv=PLAIN),
    "an archive cut short": xlsx(s=rows_of(SHEET))[:700],
    "gzip": gzip.compress(PLAIN.encode()),
    "gzip of nothing": gzip.compress(b""),
    "gzip twice": gzip.compress(gzip.compress(PLAIN.encode())),
    "gzip cut short": gzip.compress(PLAIN.encode())[:-30],
    "gzip damaged": gzip.compress(PLAIN.encode())[:40] + b"\xff" * 40,
    "gzip of a workbook": gzip.compress(xlsx(s=rows_of(SHEET))),
    "Parquet": _written(size=SIZES, y=LABELS),
    "Parquet of nothing": _written(size=[], y=[]),
    "Parquet cut short": _written(size=SIZES, y=LABELS)[:-20],
    "Parquet by its first letters": b"PAR1" + RNG.bytes(900) + b"PAR1",
    "Parquet with lists": parquet(pa.table({"a": [[1, 2]] * N, "y": LABELS})),
    "Parquet with all types": parquet(
        pa.table(
            {
                "small": pa.array([1, None] * 30, pa.int8()),
                "large": pa.array([2**64 - 1, 1] * 30, pa.uint64()),
                "half": pa.array([0.5, 1.5] * 30, pa.float32()),
                "exact": pa.array([1, 2] * 30, pa.decimal128(9, 2)),
                "day": pa.array([1, 900] * 30, pa.date32()),
                "took": pa.array([10**9, 5] * 30, pa.duration("ns")),
                "hour": pa.array([3600, 60] * 30, pa.time32("s")),
                "word": pa.array(["a", "b"] * 30).dictionary_encode(),
                "wide": pa.array(["c", "d"] * 30, pa.large_string()),
                "none": pa.nulls(N),
                "nested": pa.array([{"x": 1}] * N),
                "y": LABELS,
            }
        )
    ),
}  # fmt: skip
"""Those that are read in a process of their own."""
