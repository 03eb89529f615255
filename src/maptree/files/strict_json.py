"""Strict JSON: safe to parse from any source, and readable when written.

Python's parser accepts duplicate names, NaN, infinities and numbers that overflow; it recurses, and
short text can become many objects. All of this is refused here; size and depth even before parsing.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from typing import Any, NoReturn

from maptree.files.controls import json_escaped
from maptree.files.json_values import repeated, show

# A model of 10,000 columns takes some 10 MB and a million values.
MOST_BYTES = 1 << 26
MOST_BRACKETS = 1_000_000
MOST_COMMAS = 5_000_000
MOST_QUOTES = 10_000_000
MOST_DEPTH = 16
MOST_DIGITS = 4_000

# Strings are skipped, including one that never ends: searching for its end from every later quote
# would take quadratic time.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_TOO_LARGE = "it is too large for a model file"


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Read a file, but at most as much as a model file may have."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode) and found.st_size > MOST_BYTES:
            raise ValueError(f"{_TOO_LARGE}: {found.st_size:,} bytes, at most {MOST_BYTES:,}.")
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"{_TOO_LARGE}: more than {MOST_BYTES:,} bytes.")
    return content


def parse(content: bytes) -> Any:
    """Return the values of JSON text; a ValueError says what is wrong with it.

    >>> parse(b'{"a": [1, 2.5, "x"]}')
    {'a': [1, 2.5, 'x']}
    >>> parse(b"[NaN]")
    Traceback (most recent call last):
    ValueError: it has NaN, which is not JSON.
    """
    if not content.strip():
        raise ValueError("it is empty.")
    _refuse_size(content)
    _refuse_depth(content)
    try:
        text = content.decode("utf-8-sig")  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not valid UTF-8 text (byte {error.start:,}).") from None
    try:
        return json.loads(
            text,
            object_pairs_hook=_unique,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_short,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ValueError(
            f"it is not JSON, or truncated: {error.msg.removesuffix(' at')} at {place}, of "
            f"{len(text):,} characters."
        ) from None


def _refuse_size(content: bytes) -> None:
    # Those inside strings are counted, too, because that is faster.
    for most, what, count in (
        (MOST_BYTES, "bytes", len(content)),
        (MOST_BRACKETS, "brackets", content.count(b"[") + content.count(b"{")),
        (MOST_COMMAS, "commas", content.count(b",")),
        (MOST_QUOTES, "quotes", content.count(b'"')),
    ):
        if count > most:
            raise ValueError(f"{_TOO_LARGE}: {count:,} {what}, at most {most:,}.")


def _refuse_depth(content: bytes) -> None:
    depth = 0
    for token in _TOKEN.finditer(content):
        first = content[token.start()]
        if first in b"[{":
            depth += 1
            if depth > MOST_DEPTH:
                raise ValueError(
                    f"brackets are nested more than {MOST_DEPTH} deep at byte {token.start():,}."
                )
        elif first in b"]}":
            depth -= 1


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        twice = repeated(name for name, _ in pairs)
        raise ValueError(f"it has the field {show(twice)} twice in one object.")
    return values


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"it has {text}, which is not JSON.")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"it has the number {text[:60]}, which is too large for a float.")
    return value


def _short(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"it has a number of {len(text):,} digits; at most {MOST_DIGITS:,}.")
    return int(text)


def dump(values: Any) -> bytes:
    """Write values as JSON, one line for each list or object that holds no other.

    >>> print(dump({"a": {"b": [1, 2], "c": "ä"}, "d": []}).decode(), end="")
    {
      "a": {
        "b": [1, 2],
        "c": "ä"
      },
      "d": []
    }
    """
    return (json_escaped(_lay_out(values, "\n")) + "\n").encode()


def _lay_out(values: Any, newline: str) -> str:
    inner = values.values() if isinstance(values, dict) else values
    if not isinstance(values, (dict, list)) or not any(isinstance(v, (dict, list)) for v in inner):
        return json.dumps(values, ensure_ascii=False, allow_nan=False)
    below = f"{newline}  "
    if isinstance(values, dict):
        lines = [
            f"{json.dumps(k, ensure_ascii=False)}: {_lay_out(v, below)}" for k, v in values.items()
        ]
    else:
        lines = [_lay_out(value, below) for value in values]
    start, end = "{}" if isinstance(values, dict) else "[]"
    return f"{start}{below}{f',{below}'.join(lines)}{newline}{end}"
