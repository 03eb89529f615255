"""Lists of columns, not longer than somebody reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from maptree.cli.new_rows import asked_columns
from maptree.cli.screen import columns_of, shown
from maptree.cli.words import columns_document, left_out
from maptree.encoding.report import report
from maptree.map_classifier import MAPTreeClassifier

_MOST = 20  # columns in a list
_WHOLE = 50  # a table of so many columns is shown whole
_ALIKE = 5  # more columns with the same reason are counted, not listed


def reasons(columns: Sequence[tuple[str, str]]) -> list[str]:
    """Return lines for columns that were left out, with the reason.

    >>> reasons([("id", "dropped"), *((f"x{j}", "one value in all rows") for j in range(4000))])
    ['id: dropped', "4,000 columns, such as 'x0': one value in all rows"]
    """
    n_with = Counter(why for _, why in columns)
    first = {why: name for name, why in reversed(columns)}
    lines = [f"{shown(name)}: {shown(why)}" for name, why in columns if n_with[why] <= _ALIKE]
    if len(lines) > _MOST:
        lines = [*lines[:_MOST], f"and {len(lines) - _MOST:,} more, which --json lists"]
    return lines + [
        f"{n:,} columns, such as {first[why]!r}: {shown(why)}"
        for why, n in n_with.items()
        if n > _ALIKE
    ]


def columns_text(model: MAPTreeClassifier) -> str:
    """Return what became of the columns; of many, those that the tree asks about come first."""
    asked = asked_columns(model)
    if model.encoder_ is None:
        names = [document["name"] for document in columns_document(model)]
        listed, n_more = _first(range(len(names)), asked, len(names))
        return columns_of([[names[j], "0 or 1"] for j in listed], left=2) + _and_more(n_more)
    schema = [replace(column, name=shown(column.name)) for column in model.encoder_.schema_]
    if len(schema) <= _WHOLE:
        return report(schema)
    with_tests = [j for j, column in enumerate(schema) if column.tests]
    listed, n_more = _first(with_tests, asked, len(schema))
    without = "".join(f"\n{line}" for line in reasons(left_out(model)))
    return report([schema[j] for j in listed]) + _and_more(n_more) + without


def _first(columns: Sequence[int], asked: Sequence[int], n_columns: int) -> tuple[list[int], int]:
    """Return the columns to list, in their order, and how many others there are."""
    most = len(columns) if n_columns <= _WHOLE else max(_MOST, len(asked))
    listed = sorted(sorted(columns, key=lambda j: j not in asked)[:most])
    return listed, len(columns) - len(listed)


def _and_more(n_more: int) -> str:
    return f"\nand {n_more:,} more, which the tree does not ask about" if n_more else ""
