"""How the columns of a table were used, as text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from maptree.schema.columns import Column

_WIDTH = 79
_NAME = 24  # longer names are shortened


def report(schema: Sequence[Column]) -> str:
    """Return a line for every column: kind, number of tests, and notes on how it was used.

    >>> print(report([
    ...     Column("age", "number", "int64", thresholds=(45.5,), has_missing=True),
    ...     Column("id", "identifier", "str", note="9 different values in 9 rows: no test")]))
    Column  Kind        Tests  Note
    age     number          2  some values are missing
    id      identifier      0  9 different values in 9 rows: no test
    """
    names = [_short(column.name) for column in schema]
    width = max(map(len, ["Column", *names]))
    lines = [f"{'Column':<{width}}  {'Kind':<10}  {'Tests':>5}  Note"]
    for name, column in zip(names, schema, strict=True):
        note = "; ".join(
            part for part in ("some values are missing" * column.has_missing, column.note) if part
        )
        start = f"{name:<{width}}  {column.kind:<10}  {len(column.tests):>5,}  "
        lines += wrap(note, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start)) or [
            start.rstrip()
        ]
    return "\n".join(lines)


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 3]}..."
