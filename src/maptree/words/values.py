"""Values in words: numbers, dates and categories as the tests and rules write them."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

from maptree.schema.columns import Column, Threshold
from maptree.tables.clock import date_text, datetime_text, duration_text, time_text
from maptree.tables.values import Category
from maptree.tables.written_numbers import NumberWriting

# Text that could be mistaken for part of the rule around it, or that is invisible, is quoted.
_PLAIN = re.compile(r'[^\s",{}()]+(?: [^\s",{}()]+)*')
_WORDS = re.compile(r"(?<!\S)(and|or|in|not|is|missing)(?!\S)|->|[<>=]")
# Names often have several words: they need quotes only where a rule would become ambiguous.
_PARTS = re.compile(
    r'(?<!\S)(and|or|not in|missing)(?!\S)|(?<!\S)in (\{|a set of |sets of )|->|[<>="]|^\(|  |^ | $'
)


def number_text(value: int | float | Decimal) -> str:
    """Write a number so that it reads back the same, without a needless ".0".

    >>> number_text(45.5), number_text(60.0), number_text(Decimal("0.10"))
    ('45.5', '60', '0.10')
    """
    if isinstance(value, float):
        return repr(float(value)).removesuffix(".0")
    return str(value)


def category_text(category: Category) -> str:
    """Write a category, in quotes where it could be misread.

    >>> category_text("red"), category_text("New York"), category_text(" red"), category_text(3)
    ('red', 'New York', '" red"', '3')
    >>> category_text("not-in-family"), category_text("red or blue")
    ('not-in-family', '"red or blue"')
    """
    if not isinstance(category, str):
        return str(category) if isinstance(category, bool) else number_text(category)
    plain = _PLAIN.fullmatch(category) and not _WORDS.search(category) and category.isprintable()
    return category if plain else _quoted(category)


def name_text(name: str) -> str:
    """Write the name of a column, in quotes where it could be misread.

    >>> print(name_text("age"), name_text("petal length (cm)"), name_text("a and b <= 3"))
    age petal length (cm) "a and b <= 3"
    """
    plain = name and not _PARTS.search(name) and name.isprintable()
    return name if plain else _quoted(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())


def threshold_text(column: Column, threshold: Threshold) -> str:
    """Write the threshold of a column's test.

    >>> threshold_text(Column("joined", "date", "date32[day]"), 18690)
    '2021-03-04'
    >>> threshold_text(Column("price", "number", "str", writing=NumberWriting(",", "EUR")), 12.5)
    '12.5 EUR'
    """
    texts: dict[str, Any] = {
        "date": date_text,
        "datetime": lambda t: datetime_text(t, column.zone),
        "time": time_text,
        "duration": duration_text,
        "ordered": lambda t: category_text(column.categories[t]),
        "sets": lambda t: category_text(column.categories[t]),
    }
    text: str = texts.get(column.kind, number_text)(threshold)
    return column.writing.shown(text) if isinstance(column.writing, NumberWriting) else text


def count(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> count(1, "leaf", "leaves"), count(2000, "row")
    ('1 leaf', '2,000 rows')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def seconds_text(seconds: float) -> str:
    """Return a time with its unit.

    >>> seconds_text(0.0123), seconds_text(9.96), seconds_text(432)
    ('0.012 s', '10 s', '7 min 12 s')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes / 60:.1f} h"
