"""The header of a text file: its encoding, its delimiter and the names of its columns.

It is read separately because that needs no slow import: a target that does not exist is refused
at once.
"""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from pathlib import Path

# In upper or lower case, with or without spaces around it.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "None", "?")
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# The first bytes of files that are not CSV, and what such a file is.
FOREIGN = {
    b"PAR1": "a Parquet file: name it .parquet, or pass --format parquet",
    b"ARROW1": "a Feather file: name it .feather, or pass --format feather",
    b"PK\x03\x04": "a workbook or a zip archive: save the table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save the table as CSV",
    b"\x1f\x8b": "a gzip file: name it .csv.gz",
    b"%PDF": "a PDF: save the table as CSV",
    b"{": "JSON: name it .jsonl, or pass --format jsonl",
}
_START = 1 << 16  # bytes that hold the whole header


@dataclass(frozen=True)
class Dialect:
    """How a text file is written; None: detected from the file."""

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = MISSING
    decimal: str | None = None


def find_encoding(content: bytes) -> str:
    """Return the encoding that the first bytes indicate, or UTF-8."""
    return next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")


def first_line(content: bytes, encoding: str) -> str:
    """Return the first line that is not empty."""
    start = content[:_START].decode(encoding, errors="replace").lstrip("\ufeff\r\n")
    return start.splitlines()[0] if start else ""


def find_delimiter(header: str) -> str:
    """Return the delimiter that occurs most often in the header, outside quotes."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_DELIMITERS, key=lambda mark: (bare.count(mark), -_DELIMITERS.index(mark)))


def name_columns(names: list[str]) -> list[str]:
    """Return the names without surrounding spaces; columns without a name are numbered."""
    return [name.strip() or f"column_{j + 1}" for j, name in enumerate(names)]


def quick_names(path: str, dialect: Dialect) -> list[str] | None:
    """Return the column names of a text file; None if the whole file has to be read."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(_START)
        encoding = dialect.encoding or find_encoding(content)
        header = first_line(content, encoding)
    except (OSError, LookupError, UnicodeError):
        return None
    foreign = not content.strip() or content.startswith(tuple(FOREIGN))
    # A name may contain a line break, and a file of another kind any bytes.
    plain = header.replace("\t", " ").isprintable() and "\ufffd" not in header
    if foreign or not plain or header.count('"') % 2 or len(header) >= _START // 4:
        return None
    delimiter = dialect.delimiter or find_delimiter(header)
    return name_columns(next(csv.reader([header], delimiter=delimiter), []))
