"""The header of a file of text: its encoding, its delimiter and the names of its columns.

Read by itself, because it needs nothing that is slow to import: a target that is not there is
refused at once.
"""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from pathlib import Path

# In any case of letters, with spaces around it or not.
MISSING = ("", "NA", "N/A", "#N/A", "<NA>", "NaN", "NaT", "null", "None", "?")
_DELIMITERS = (",", ";", "\t", "|")
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# How files begin that are no text, and what they look like.
FOREIGN = {
    b"PAR1": "a Parquet file: name it .parquet, or pass --format parquet",
    b"ARROW1": "a Feather file: name it .feather, or pass --format feather",
    b"PK\x03\x04": "a workbook or a zip archive: save the table as CSV",
    b"\xd0\xcf\x11\xe0": "a workbook of an old Excel: save the table as CSV",
    b"\x1f\x8b": "compressed: name it .csv.gz",
    b"%PDF": "a PDF",
    b"{": "JSON: name it .jsonl, or pass --format jsonl",
}
_START = 1 << 16  # bytes in which a header ends


@dataclass(frozen=True)
class Dialect:
    """How a file of text is written; None: found out from the file."""

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = MISSING
    decimal: str = "."


def find_encoding(content: bytes) -> str:
    """Return the encoding that the first bytes tell, or UTF-8."""
    return next((name for mark, name in _MARKS.items() if content.startswith(mark)), "utf-8")


def first_line(content: bytes, encoding: str) -> str:
    """Return the first line that is not empty."""
    start = content[:_START].decode(encoding, errors="replace").lstrip("\ufeff\r\n")
    return start.splitlines()[0] if start else ""


def find_delimiter(header: str) -> str:
    """Return the delimiter that the header has most of, outside of quotes."""
    bare = re.sub(r'"[^"]*"', "", header)
    return max(_DELIMITERS, key=lambda mark: (bare.count(mark), -_DELIMITERS.index(mark)))


def name_columns(names: list[str]) -> list[str]:
    """Return the names without spaces around them; those without a name are numbered."""
    return [name.strip() or f"column_{j + 1}" for j, name in enumerate(names)]


def quick_names(path: str, dialect: Dialect) -> list[str] | None:
    """Return the names of the columns of a file of text; None if only a full reading can tell."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(_START)
        encoding = dialect.encoding or find_encoding(content)
        header = first_line(content, encoding)
    except (OSError, LookupError, UnicodeError):
        return None
    foreign = not content.strip() or content.startswith(tuple(FOREIGN))
    # A name may hold a line break, and a file of another kind any bytes.
    plain = header.replace("\t", " ").isprintable() and "\ufffd" not in header
    if foreign or not plain or header.count('"') % 2 or len(header) >= _START // 4:
        return None
    delimiter = dialect.delimiter or find_delimiter(header)
    return name_columns(next(csv.reader([header], delimiter=delimiter), []))
