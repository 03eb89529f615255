"""The two formats that the CP4IM sets come in, each perhaps compressed by gzip.

Dense: one row a line, 0/1 separated by spaces, the label first. Item list: a header that names
each item (``@0: hair``), ``@data``, then a line a row with the numbers of the items that hold and
the label last. Either becomes the same matrix: the label, then the items by number.
"""

from __future__ import annotations

import gzip
import zlib

import numpy as np
from numpy.typing import NDArray

_GZIP = b"\x1f\x8b"


class FormatError(ValueError):
    """The bytes are in neither format."""


def parse(raw: bytes) -> NDArray[np.uint8]:
    """Return the matrix, the label in its first column.

    >>> parse(b"1 0 1\\n0 1 1\\n")
    array([[1, 0, 1],
           [0, 1, 1]], dtype=uint8)
    >>> parse(b"@relation two\\n@0: hair\\n@1: eggs\\n@class: kind\\n@data\\n1 1\\n0 1 0\\n")
    array([[1, 0, 1],
           [0, 1, 1]], dtype=uint8)
    """
    lines = _text(raw).splitlines()
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        raise FormatError("it is empty")
    return _parse_items(lines) if first.lstrip().startswith("@") else _parse_dense(lines)


def _text(raw: bytes) -> str:
    if raw.startswith(_GZIP):
        try:
            raw = gzip.decompress(raw)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"it is cut off or damaged: {error}") from error
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError("it is not text") from error


def _parse_dense(lines: list[str]) -> NDArray[np.uint8]:
    rows: list[bytes] = []
    width = 0
    for number, line in enumerate(lines, start=1):
        fields = line.split()
        if not fields:
            continue
        width = width or len(fields)
        digits = "".join(fields)
        if not width == len(fields) == len(digits) or digits.strip("01"):
            raise FormatError(f"line {number} is not {width} times 0 or 1: {line[:40]!r}")
        rows.append(digits.encode())
    table = np.frombuffer(b"".join(rows), dtype=np.uint8) - np.uint8(ord("0"))
    return table.reshape(len(rows), width)


def _parse_items(lines: list[str]) -> NDArray[np.uint8]:
    items: list[int] = []
    rows: list[tuple[int, list[str]]] = []
    in_data = False
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        if in_data:
            rows.append((number, line.split()))
        elif line.startswith("@data"):
            in_data = True
        elif line.startswith("@"):
            item = line[1:].partition(":")[0].strip()
            if item.isascii() and item.isdigit():  # otherwise @relation or @class
                items.append(int(item))
        else:
            raise FormatError(f"line {number} is before @data but has no @: {line[:40]!r}")
    if not in_data:
        raise FormatError("it has no line @data: it is cut off, or not a CP4IM file")

    column = {str(item): at for at, item in enumerate(sorted(set(items)), start=1)}
    table = np.zeros((len(rows), 1 + len(column)), dtype=np.uint8)
    for row, (number, (*held, label)) in zip(table, rows, strict=True):
        unknown = [item for item in held if item not in column]
        if unknown or label not in ("0", "1"):
            raise FormatError(
                f"line {number} ends with the label {label!r}, not 0 or 1"
                if not unknown
                else f"line {number} has an item {unknown[0]!r} that the header does not name"
            )
        row[0] = int(label)
        row[[column[item] for item in held]] = 1
    return table
