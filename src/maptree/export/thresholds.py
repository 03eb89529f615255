"""Thresholds as other languages write them.

Thresholds of dates are in days, thresholds of times in nanoseconds (see ``Column``). Most languages
only have microseconds. No value of such a type lies between a threshold and the microsecond below
it, so rounding down changes no answer.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from maptree.schema.columns import Column, Threshold
from maptree.tables.clock import DAY, date_text, time_text

MICROSECOND = 1000
# Different decimal numbers of up to this many digits are different floats.
_DIGITS = 15


def day_text(column: Column, days: int) -> str:
    """Write a day of the years 1 to 9999 as 2021-03-04; refuse others.

    >>> day_text(Column("joined", "date", "date32"), 18690)
    '2021-03-04'
    """
    text = date_text(days)
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text) or text.startswith("0000"):
        raise ValueError(
            f"Column {column.name!r} is compared with the day {text}: only years from 1 to 9999 "
            "can be exported."
        )
    return text


def moment_text(column: Column, nanoseconds: int) -> str:
    """Write a point in time (in UTC, if there is a time zone).

    >>> moment_text(Column("seen", "datetime", "M8[ns]"), 18690 * DAY + 1)
    '2021-03-04 00:00:00.000000001'
    """
    days, rest = divmod(nanoseconds, DAY)
    return f"{day_text(column, days)} {time_text(rest, seconds=True)}"


def iso_end(column: Column, threshold: Any) -> str:
    """Return the text for which ``x < text`` is the test, where x is ISO 8601 text.

    ISO text may omit seconds or their fraction, or have a time of day in a column of dates, so
    equal times may differ as text. But every text for a time sorts before those for the next
    nanosecond, and every text for a day before those for the next day.

    >>> iso_end(Column("joined", "date", "date32"), 18690)
    '2021-03-05'
    >>> iso_end(Column("at", "time", "time64"), 45_000 * 10**9)
    '12:30:00.000000001'
    """
    if column.kind == "date":
        return day_text(column, threshold + 1)
    if column.kind == "datetime":
        return moment_text(column, threshold + 1)
    return time_text(threshold + 1, seconds=True)


def nearest_float(column: Column, threshold: Threshold, target: str) -> float:
    """Return a threshold as a float, for a column of decimal numbers that is passed as floats.

    Rounding keeps the order and keeps decimals of up to 15 digits distinct, so d <= t and
    float(d) <= float(t) have the same answer.

    >>> from decimal import Decimal
    >>> nearest_float(Column("price", "number", "object"), Decimal("0.125"), "C")
    0.125
    """
    if isinstance(threshold, Decimal) and len(threshold.normalize().as_tuple().digits) > _DIGITS:
        raise ValueError(
            f"Column {column.name!r} is compared with {threshold}, but {target} has no decimal "
            f"numbers, and floats hold only {_DIGITS} digits: convert the column to floats or to "
            "whole numbers before fit."
        )
    return float(threshold)
