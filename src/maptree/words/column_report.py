"""How the columns of a table were used, as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from maptree.schema.columns import Column
from maptree.words.html_parts import fragment, table

# How parts of notes begin that `fit` says at once: they may be about a mistake.
ROW_NUMBERS = "whole numbers that all differ and"
_READ = "text such as "
_MOST_FREQUENT = re.compile(r"the [\d,]+ most frequent of [\d,]+ categories")
_THINNED = re.compile(r"([\d,]+) of ([\d,]+) thresholds, by quantile")
_NOT_READ = ("dates such as ", "money in several ")
_IN_DOUBT = ": set decimal to "

_WIDTH = 79
_NAME = 24  # longer names are shortened
_LINES = 60  # columns that a notebook shows


class ColumnReport(str):
    """How the columns were used: text, and a table in a notebook."""

    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        cells = [("Column", "Kind", "Tests", "Note")]
        cells += [
            (_short(column.name), column.kind, f"{len(column.tests):,}", _note(column))
            for column in self.columns
        ]
        return fragment(table(cells, "Columns", words=(0, 1, 3), most=_LINES))


def report(schema: Sequence[Column]) -> ColumnReport:
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
    counts = [f"{len(column.tests):,}" for column in schema]
    digits = max(map(len, ["Tests", *counts]))
    lines = [f"{'Column':<{width}}  {'Kind':<10}  {'Tests':>{digits}}  Note"]
    for name, column, number in zip(names, schema, counts, strict=True):
        note = _note(column)
        start = f"{name:<{width}}  {column.kind:<10}  {number:>{digits}}  "
        lines += wrap(note, _WIDTH, initial_indent=start, subsequent_indent=" " * len(start)) or [
            start.rstrip()
        ]
    made = ColumnReport("\n".join(lines))
    made.columns = tuple(schema)
    return made


def _note(column: Column) -> str:
    parts = ("some values are missing" * column.has_missing, column.note)
    return "; ".join(part for part in parts if part)


def row_numbers(column: Column) -> list[str]:
    """Return what the note says about whole numbers that may only number the rows."""
    return [part for part in column.note.split("; ") if part.startswith(ROW_NUMBERS)]


def thinned(column: Column) -> tuple[int, int] | None:
    """Return how many thresholds a column has, and of how many; None if it has all of them.

    >>> thinned(Column("age", "number", "int64", note="16 of 1,234 thresholds, by quantile"))
    (16, 1234)
    """
    found = _THINNED.search(column.note)
    return None if found is None else (_whole(found[1]), _whole(found[2]))


def categories_tested(column: Column) -> str:
    """Return what the note says about categories without a test; "" if all have one.

    >>> categories_tested(Column("x", "category", "", note="the 2 most frequent of 9 categories"))
    'the 2 most frequent of 9 categories'
    """
    found = _MOST_FREQUENT.search(column.note)
    return "" if found is None else found[0]


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def text_in_doubt(column: Column) -> list[str]:
    """Return what the note says about text that could be read in several ways."""
    parts = column.note.split("; ")
    return [part for part in parts if part.startswith(_NOT_READ) or _IN_DOUBT in part]


def to_check(column: Column) -> list[str]:
    """Return what the note says that may be about a mistake."""
    read = text_read(column)
    doubt = [part for part in text_in_doubt(column) if part not in read]
    return [*read, *doubt, *row_numbers(column)]


def text_read(column: Column) -> list[str]:
    """Return what the note says about text that was read as numbers, dates or times."""
    return [part for part in column.note.split("; ") if part.startswith(_READ)]


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 3]}..."
