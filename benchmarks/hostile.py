"""Files that no reader likes: damaged, mislabelled, ambiguous, or far larger than they look."""

import gzip
import io
import pickle
import zipfile
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    "{rows}</sheetData>{more}</worksheet>"
)
PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
    'officeDocument" Target="xl/workbook.xml"/></Relationships>',
}
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def cell(where: str, value: object) -> str:
    """A cell of a sheet."""
    if isinstance(value, str):
        return f'<c r="{where}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{where}"><v>{value}</v></c>'


def rows_of(table: list[list[object]]) -> str:
    """The rows of a small sheet."""
    return "".join(
        f'<row r="{i}">'
        + "".join(cell(f"{chr(64 + j)}{i}", own) for j, own in enumerate(row, 1) if own is not None)
        + "</row>"
        for i, row in enumerate(table, 1)
    )


def xlsx(**sheets: str) -> bytes:
    """A workbook of sheets, each the XML of its rows and what follows them after a bar."""
    names = list(sheets)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="s{i}"/>' for i, name in enumerate(names, 1)
    )
    related = "".join(
        f'<Relationship Id="s{i}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{i}.xml"/>'
        for i in range(1, len(names) + 1)
    )
    parts = PARTS | {
        "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/'
        f'main" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/'
        f'package/2006/relationships">{related}</Relationships>',
    }
    for i, rows in enumerate(sheets.values(), 1):
        own, _, more = rows.partition("|")
        parts[f"xl/worksheets/sheet{i}.xml"] = SHEET.format(rows=own, more=more)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return made.getvalue()


def parquet(table: pa.Table, **settings: object) -> bytes:
    """A Parquet file."""
    made = io.BytesIO()
    pq.write_table(table, made, **settings)
    return made.getvalue()


def losses(rng: np.random.Generator, rows: int = 20) -> str:
    """An ordinary file."""
    numbers = rng.exponential(size=(rows, 2)).round(3)
    return "case,a,b\n" + "".join(f"c{i},{x},{y}\n" for i, (x, y) in enumerate(numbers.tolist()))


def _encodings(rng: np.random.Generator) -> bytes:
    text = losses(rng).replace("case", "Größe €").replace("c1", "naïve")
    kinds = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "cp037", "cp1251")
    kind = kinds[rng.integers(len(kinds))]
    return text.encode(kind, errors="replace")


def _truncated(rng: np.random.Generator) -> bytes:
    table = pa.table({"a": rng.random(50), "b": ["x"] * 50})
    text = losses(rng).encode()
    whole = [text, gzip.compress(text), parquet(table), xlsx(s=rows_of([["a"], [1.5], [2]]))]
    content = whole[rng.integers(4)]
    return content[: rng.integers(1, len(content))]


def _flipped(rng: np.random.Generator) -> bytes:
    content = bytearray(parquet(pa.table({"a": rng.random(50), "b": ["x"] * 50})))
    if rng.random() < 0.3:
        content = bytearray(xlsx(s=rows_of([["a", "b"], [1, "x"], [2, "y"]])))
    elif rng.random() < 0.3:
        content = bytearray(gzip.compress(losses(rng).encode()))
    for i in rng.integers(4, len(content), rng.integers(1, 30)):
        content[i] = rng.integers(256)
    return bytes(content)


def _noise(rng: np.random.Generator) -> bytes:
    starts = (b"", b"PAR1", b"PK\x03\x04", b"\x1f\x8b\x08", b"%PDF-1.7", b"\x89PNG", b"\x80\x04")
    return starts[rng.integers(len(starts))] + rng.bytes(rng.integers(1, 5000))


def _alphabet(rng: np.random.Generator) -> bytes:
    marks = list(",;\t|\"'\n\r.-+eE0123456789 ab\x0b\u202e\u00a0\ufeff?=")
    return "".join(rng.choice(marks, rng.integers(1, 3000))).encode()


def _gzip_bomb(rng: np.random.Generator) -> bytes:
    size = int(rng.integers(400, 900)) << 20
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=1) as packed:
        packed.write(b"a,b\n")
        for _ in range(size >> 20):
            packed.write(b"1,2\n" * (1 << 18))
    return made.getvalue()


def _dictionary_bomb(rng: np.random.Generator) -> bytes:
    rows = int(rng.integers(1000, 1900)) * 1000
    index = pa.array(np.zeros(rows, np.int32))
    column = pa.DictionaryArray.from_arrays(index, pa.array(["x" * int(rng.integers(4000, 9000))]))
    return parquet(pa.table({"a": column}), compression="zstd")


def _many_rows(rng: np.random.Generator) -> bytes:
    zeros = pa.array(np.zeros(int(rng.integers(3, 9)) * 10**6))
    return parquet(pa.table({"a": zeros}), compression="zstd")


def _far_corner(rng: np.random.Generator) -> bytes:
    row = int(rng.integers(900_000, 1_048_576))
    far = f'<row r="{row}">{cell(f"XFD{row}", 1)}</row>'
    return xlsx(s=rows_of([["a", "b"], [1, 2]]) + far)


def _sheet_bomb(rng: np.random.Generator) -> bytes:
    count = int(rng.integers(100, 300)) * 1000
    return xlsx(s=rows_of([["a", "b"]]) + f"<row>{cell('A2', 'x' * 100)}</row>" * count)


def _formulas(rng: np.random.Generator) -> bytes:
    evil = ["=cmd|' /C calc'!A0", "@SUM(1+1)", "+1+1", "-2+3", '=HYPERLINK("http://x")']
    if rng.random() < 0.5:
        rows = '<row r="2"><c r="A2"><f>1/0</f></c><c r="B2" t="e"><v>#DIV/0!</v></c></row>'
        return xlsx(s=rows_of([["a", "b"]]) + rows + '<row r="3"><c r="A3"><v>1</v></c></row>')
    return ("a,b\n" + "".join(f'1,"{x.replace(chr(34), chr(34) * 2)}"\n' for x in evil)).encode()


def _merged(rng: np.random.Generator) -> bytes:
    rows = rows_of([["title", None, None], ["a", "b", "c"], [1, None, 2], [3, 4, None]])
    return xlsx(empty="", s=rows + '|<mergeCells><mergeCell ref="A1:C1"/></mergeCells>')


def _huge_line(rng: np.random.Generator) -> bytes:
    size = int(rng.integers(1, 20)) << 20
    return b"a,b\n1," + b"9" * size + b"\n2,3\n"


def _wide(rng: np.random.Generator) -> bytes:
    count = int(rng.integers(2, 100)) * 1000 + 1
    head = ",".join(f"c{i}" for i in range(count))
    return f"{head}\n{','.join(['1'] * count)}\n".encode()


def _slow_numbers(rng: np.random.Generator) -> bytes:
    digits = "1" * int(rng.integers(10_000, 60_000))
    tails = ("x", "e", "..", ",1,1", "e+", "-", " " * 1000 + "x", "\u00a01")
    rows = "".join(f"{digits}{tails[rng.integers(len(tails))]}\n" for _ in range(20))
    return f"loss\n0.5\n{rows}".encode()


def _slow_dates(rng: np.random.Generator) -> bytes:
    row = "2024-01-" + "1" * int(rng.integers(2, 40_000)) + "T" * int(rng.integers(1, 100))
    return ("when\n2024-01-02\n" + f"{row}\n" * 50).encode()


def _nuls(rng: np.random.Generator) -> bytes:
    return losses(rng).encode().replace(b"c1", b"\x00" * int(rng.integers(1, 5000)))


def _quotes(rng: np.random.Generator) -> bytes:
    marks = '"' * int(rng.integers(1, 200_000))
    return f'a,b\n1,{marks}\n"x\ny",2\n3,"{marks}\n'.encode()


def _names(rng: np.random.Generator) -> bytes:
    names = ["", "a", "a", "\x1b[2J", "=1+1", "x" * int(rng.integers(1, 3000)), "\u202e", "0", " "]
    head = [f'"{name}"' for name in rng.choice(names, 6)]
    return "\n".join([",".join(head), "1,2,3,4,5,6", "2,3,4,5,6,7", ""]).encode()


def _groups(rng: np.random.Generator) -> bytes:
    count = int(rng.integers(10, 40)) * 1000
    return ("g,loss\n" + "".join(f"g{i},{i % 7}\n" for i in range(count))).encode()


def _ragged(rng: np.random.Generator) -> bytes:
    rows = [",".join(["1"] * int(n)) for n in rng.integers(0, 6, 200)]
    return "\n".join(["a,b,c", *rows]).encode()


def _nested(rng: np.random.Generator) -> bytes:
    nested = [[[{"x": 1}]] for _ in range(5)]
    table = pa.table(
        {"a": nested, "b": [b"\x00\xff"] * 5, "c": pa.array([2**64 - 1] * 5, pa.uint64())}
    )
    return parquet(table if rng.random() < 0.5 else table.append_column("d", pa.array([0.5] * 5)))


def _pickle(rng: np.random.Generator) -> bytes:
    return pickle.dumps({"a": [1.0] * int(rng.integers(1, 99))}, protocol=int(rng.integers(2, 6)))


def _twice_packed(rng: np.random.Generator) -> bytes:
    content = losses(rng).encode()
    for _ in range(int(rng.integers(1, 5))):
        content = gzip.compress(content)
    return content


def _ambiguous(rng: np.random.Generator) -> bytes:
    numbers = rng.integers(1000, 9999, 30).tolist()
    rows = "".join(f"{n // 1000}.{n % 1000:03d};0{n % 9 + 1}/0{n % 7 + 1}/2024\n" for n in numbers)
    return f"price;when\n{rows}".encode()


def _plain(rng: np.random.Generator) -> bytes:
    return losses(rng, 200).replace(",", ",;|\t"[rng.integers(4)]).encode()


KINDS: dict[str, Callable[[np.random.Generator], bytes]] = {
    name.strip("_").replace("_", " "): make
    for name, make in list(globals().items())
    if name.startswith("_") and callable(make) and not name.startswith("__")
}
HEAVY = ("gzip bomb", "dictionary bomb", "many rows", "far corner", "sheet bomb", "wide")
"""Kinds of which a few files tell as much as many."""


def files(count: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Files of every kind in turn, the same for the same seed; the heavy ones less often."""
    made = turn = 0
    while made < count:
        for place, (kind, make) in enumerate(KINDS.items()):
            if made < count and (kind not in HEAVY or turn % 4 == 0):
                yield kind, make(np.random.default_rng([seed, turn, place]))
                made += 1
        turn += 1
