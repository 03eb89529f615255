"""Files that never were model files: tables that were named in place of one."""

from __future__ import annotations

import os
import re

_START = 4096  # bytes that show what a file is
_BINARY = (b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", b"\x1f\x8b", b"PK\x03\x04")
_EXTENSIONS = (".csv", ".tsv", ".tab", ".parquet", ".feather", ".arrow", ".jsonl", ".ndjson")
# A header: two or more names on the first line, which is not the beginning of JSON.
_HEADER = re.compile(rb"(?:\xef\xbb\xbf)?[^\[{,;\t|\r\n][^,;\t|\r\n]*[,;\t|][^\r\n]*[\r\n]")


def refuse_table(path: str | os.PathLike[str]) -> None:
    """Refuse a file that looks like a table: there is no model in it to restore."""
    name = os.fspath(path)
    if not os.path.isfile(path):  # a pipe cannot be read twice
        return
    with open(path, "rb") as file:
        start = file.read(_START)
    table = start.startswith(_BINARY) or _HEADER.match(start) is not None
    if start.strip() and (table or name.lower().endswith(_EXTENSIONS)):
        raise ValueError(
            f"{name} is not a model file: it looks like a table. Name the file that maptree fit, "
            "or save, has written."
        )
