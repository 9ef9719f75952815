"""From the bytes of a file to a table: what kind of file it is, unpacking and decoding, bounded."""

import codecs
import zlib

from .columnar import columnar
from .delimited import delimited
from .limits import FILE_BYTES, TEXT_BYTES, Asked, FileError, Found, bytes_text, too_much
from .workbook import workbook

PARQUET, GZIP, ZIP = b"PAR1", b"\x1f\x8b", b"PK\x03\x04"
OTHER_FORMATS = {
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF": "a PDF",
    b"\x80\x02": "a Python pickle, which is never opened here",
    b"\x80\x03": "a Python pickle, which is never opened here",
    b"\x80\x04": "a Python pickle, which is never opened here",
    b"\x80\x05": "a Python pickle, which is never opened here",
    b"\x89PNG": "a picture, neither text nor Parquet nor an Excel workbook",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"ARROW1": "an Arrow file",
    b"SQLite format 3": "a database",
    b"BZh91AY": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
ENCODINGS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
PART = 1 << 22


def found_in(content: bytes, asked: Asked) -> Found:
    """The table in a file; what cannot be used is an ``FileError``."""
    if len(content) > FILE_BYTES:
        limit = bytes_text(FILE_BYTES)
        raise too_much(asked.name, bytes_text(len(content)), limit)
    if content.startswith(GZIP):
        content = unpacked(content, asked.name)
    if not content[:PART].strip() and not content.strip():
        raise FileError(f"{asked.name} is empty; needed is {asked.needed}.")
    if content.startswith(PARQUET):
        return columnar(content, asked)
    if content.startswith(ZIP):
        return workbook(content, asked)
    for start, kind in OTHER_FORMATS.items():
        if content.startswith(start):
            raise FileError(
                f"{asked.name} is {kind}; needed is {asked.needed}: export or save it as CSV."
            )
    notes: list[str] = []
    return delimited(utf8(content, asked, notes), asked, notes)


def unpacked(content: bytes, name: str) -> bytes:
    """What a gzip archive holds, all its members; no more than the limit is ever unpacked."""
    parts, size, rest = [], 0, content
    try:
        while rest.startswith(GZIP):
            member = zlib.decompressobj(wbits=31)
            while not member.eof:
                part = member.decompress(rest, PART)
                size += len(part)
                if size > TEXT_BYTES:
                    most = bytes_text(TEXT_BYTES)
                    raise too_much(name, f"more than {most} when unpacked", most)
                if not part and not member.unconsumed_tail and not member.eof:
                    raise FileError(f"{name} is a gzip archive that ends too early; pack it anew.")
                parts.append(part)
                rest = member.unconsumed_tail
            rest = member.unused_data
    except zlib.error as error:
        raise FileError(f"{name} is a damaged gzip archive ({error}); pack it anew.") from error
    unpacked = b"".join(parts)
    if unpacked.startswith(GZIP):
        raise FileError(f"{name} is a gzip archive within another; unpack it once.")
    return unpacked


def utf8(content: bytes, asked: Asked, notes: list[str]) -> bytes:
    """Text as UTF-8 without a mark at its start."""
    for mark, encoding in ENCODINGS.items():
        if content.startswith(mark):
            content = content[len(mark) :]
            if encoding != "utf-8":
                content = _recoded(content, encoding, "replace")
    if b"\x00" in content:
        raise FileError(
            f"{asked.name} is neither text nor Parquet nor an Excel workbook; needed is "
            f"{asked.needed}."
        )
    if not _decodes(content, "utf-8"):
        known = "cp1252" if _decodes(content, "cp1252") else "latin-1"
        content = _recoded(content, known, "strict")
        notes.append("The file is not UTF-8; it was read as Latin-1, so check accented letters.")
    if len(content) > TEXT_BYTES:
        most = bytes_text(TEXT_BYTES)
        raise too_much(asked.name, f"{bytes_text(len(content))} of text", most)
    return content


def _decodes(content: bytes, encoding: str) -> bool:
    """Whether the bytes are text in an encoding; part by part, because text takes more memory."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for start in range(0, len(content), PART):
            decoder.decode(content[start : start + PART])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _recoded(content: bytes, encoding: str, errors: str) -> bytes:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    parts = [
        decoder.decode(content[start : start + PART], start + PART >= len(content)).encode()
        for start in range(0, len(content), PART)
    ]
    return b"".join(parts)
