"""JSON lines: one object a line, whose values are no objects themselves."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from maptree.cli.refusal import Refusal


def read_json_lines(content: bytes, where: str) -> pa.Table:
    """Return the table of a file of JSON lines."""
    import pyarrow.json

    try:
        table = pyarrow.json.read_json(pa.BufferReader(content))
    except pa.ArrowInvalid as error:
        _refuse_lines(content, where)
        said = str(error).splitlines()[0][:300]
        raise Refusal(f"{where} cannot be read as jsonl: {said}") from None
    if any(pa.types.is_nested(field.type) for field in table.schema):
        _refuse_lines(content, where)
    return table


def _refuse_lines(content: bytes, where: str) -> None:
    """Refuse the first line that does not fit, in words that name it."""
    first: dict[str, tuple[str, int]] = {}  # what a column holds, and since which line
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        place = f"{where}, line {number:,}"
        for name, value in _record(line, place).items():
            kind = _KINDS[type(value)]
            if kind in _NESTED:
                raise Refusal(
                    f"{place}: {name!r} is {kind}, with values of its own. Write these as columns."
                )
            known, since = first.setdefault(name, (kind, number)) if kind else (kind, number)
            if known != kind:
                raise Refusal(
                    f"{place}: {name!r} is {kind}, and in line {since:,} it is {known}. Write all "
                    "values of a column in the same way; null is a missing one."
                )


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "",
}
_NESTED = ("an object", "a list")


def _record(line: bytes, place: str) -> dict[str, Any]:
    remedy = "Write one JSON object a line, not a list and no commas between them."
    try:
        value = json.loads(line)
    except UnicodeDecodeError:
        raise Refusal(f"{place} is not text in UTF-8. Save the file as UTF-8.") from None
    except (json.JSONDecodeError, RecursionError) as error:
        said = getattr(error, "msg", "it is nested too deep")
        said = "" if line.lstrip().startswith(b"[") else f" ({said})"
        raise Refusal(f"{place} is not a JSON object{said}. {remedy}") from None
    if not isinstance(value, dict):
        raise Refusal(f"{place} is {_KINDS[type(value)] or 'null'}. {remedy}")
    return value
