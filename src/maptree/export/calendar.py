"""Thresholds of dates and times in the forms that other languages have for them.

A threshold is in days or nanoseconds (see ``Column``). Most languages stop at microseconds. No
value of such a type lies between a threshold and the microsecond below it, so rounding down
changes no answer.
"""

from __future__ import annotations

import re
from typing import Any

from maptree.encoding.schema import Column
from maptree.tables.clock import DAY, date_text, time_text

MICROSECOND = 1000


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
    """Return the text such that ``x < text`` is the test, for x an ISO 8601 text.

    Texts may leave out seconds or digits of them, or have a time of day where the column is one
    of dates, so equal times may differ as texts. But all texts of a time come before those of the
    next nanosecond, and those of a day before the next day.

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
