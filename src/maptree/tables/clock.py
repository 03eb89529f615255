"""Dates, times and durations as whole numbers, and as text that reads back the same.

Days count from 1970-01-01; everything else is in nanoseconds. Python's own types end at the year
9999 and at microseconds, so the numbers are converted to text here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np

SECOND = 10**9
DAY = 24 * 60 * 60 * SECOND
# Nanoseconds in the units of numpy and arrow that have a fixed length.
UNITS = {"W": 7 * DAY, "D": DAY, "h": 3600 * SECOND, "m": 60 * SECOND, "s": SECOND}
UNITS |= {"ms": 10**6, "us": 10**3, "ns": 1}

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d\d):?(\d\d)")
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")
_DURATION = re.compile(r"(-?)PT(\d+)(?:\.(\d{1,9}))?S")


def date_text(days: int) -> str:
    """Write a day.

    >>> date_text(0), date_text(18690)
    ('1970-01-01', '2021-03-04')
    """
    return str(np.datetime64(days, "D"))


def read_date(text: str) -> int:
    """Read what ``date_text`` writes."""
    if not re.fullmatch(r"[+-]?\d{3,}-\d\d-\d\d", text):
        raise ValueError(f"{text!r} is not a date such as 2021-03-04")
    return int(np.datetime64(text, "D").astype(np.int64))


def time_text(nanoseconds: int, seconds: bool = False) -> str:
    """Write a time of day; with seconds only if they are not 0 or if requested.

    >>> time_text(45_000 * SECOND), time_text(45_000 * SECOND + 10**6)
    ('12:30', '12:30:00.001')
    """
    whole, rest = divmod(nanoseconds, SECOND)
    text = f"{whole // 3600:02d}:{whole // 60 % 60:02d}"
    if whole % 60 or rest or seconds:
        text += f":{whole % 60:02d}"
    return text + _fraction_text(rest)


def read_time(text: str) -> int:
    """Read what ``time_text`` writes."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time of day such as 12:30:00")
    hours, minutes, seconds, fraction = match.groups(default="0")
    if int(hours) > 23 or int(minutes) > 59 or int(seconds) > 59:
        raise ValueError(f"{text!r} is not a time of day: the last one is 23:59:59")
    whole = int(hours) * 3600 + int(minutes) * 60 + int(seconds)
    return whole * SECOND + int(fraction.ljust(9, "0"))


def datetime_text(nanoseconds: int, zone: str | None, separator: str = " ") -> str:
    """Write a point in time, with its offset from UTC if there is a time zone.

    >>> datetime_text(18690 * DAY, None), datetime_text(18690 * DAY, "Europe/Berlin")
    ('2021-03-04 00:00', '2021-03-04 01:00+01:00')
    """
    ahead = zone_offset(zone)(nanoseconds)
    days, rest = divmod(nanoseconds + ahead, DAY)
    text = f"{date_text(days)}{separator}{time_text(rest)}"
    if zone is None:
        return text
    sign = "-" if ahead < 0 else "+"
    return f"{text}{sign}{time_text(abs(ahead))}"


def read_datetime(text: str) -> int:
    """Read what ``datetime_text`` writes without a time zone."""
    date, separator, time = text.replace("T", " ").partition(" ")
    if not separator:
        raise ValueError(f"{text!r} is not a point in time such as 2021-03-04T12:30:00")
    return read_date(date) * DAY + read_time(time)


def duration_text(nanoseconds: int) -> str:
    """Write a duration.

    >>> duration_text(9_000 * SECOND), duration_text(-(DAY + 9_000 * SECOND))
    ('02:30:00', '-1 d 02:30:00')
    """
    days, rest = divmod(abs(nanoseconds), DAY)
    sign = "-" if nanoseconds < 0 else ""
    return f"{sign}{f'{days} d ' if days else ''}{time_text(rest, seconds=True)}"


def iso_duration(nanoseconds: int) -> str:
    """Write a duration in ISO 8601, in seconds.

    >>> iso_duration(9_000 * SECOND + 5 * 10**8)
    'PT9000.500S'
    """
    whole, rest = divmod(abs(nanoseconds), SECOND)
    return f"{'-' if nanoseconds < 0 else ''}PT{whole}{_fraction_text(rest)}S"


def read_duration(text: str) -> int:
    """Read what ``iso_duration`` writes."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration such as PT9000S")
    sign, whole, fraction = match.groups(default="0")
    nanoseconds = int(whole) * SECOND + int(fraction.ljust(9, "0"))
    return -nanoseconds if sign == "-" else nanoseconds


def is_zone(name: str) -> bool:
    """Return whether text is the name of a time zone that this machine knows, or an offset.

    >>> is_zone("Europe/Berlin"), is_zone("UTC+05:30"), is_zone("Mars/Olympus")
    (True, True, False)
    """
    return _zone(name) is not None


def zone_offset(zone: str | None) -> Callable[[int], int]:
    """Return the function from a point in time to the zone's offset from UTC.

    A zone that this machine does not know is treated as UTC, which changes the text, not the test.
    """
    known = None if zone is None else _zone(zone)
    if known is None:
        return lambda _: 0

    def ahead(nanoseconds: int) -> int:
        try:
            there = datetime.fromtimestamp(nanoseconds // SECOND, known).utcoffset()
        except (OverflowError, OSError, ValueError):  # outside the years that Python supports
            return 0
        # Offsets are written in whole minutes; zones had others only before 1972.
        minutes = 0 if there is None else round(there / timedelta(minutes=1))
        return minutes * 60 * SECOND

    return ahead


def _zone(name: str) -> tzinfo | None:
    if name in ("UTC", "Z"):
        return UTC
    match = _OFFSET.fullmatch(name)
    try:
        if match is None:
            return ZoneInfo(name)
        sign, hours, minutes = match.groups()
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return timezone(-offset if sign == "-" else offset)
    except (KeyError, OSError, ValueError):  # not found, or not the name of a zone at all
        return None


def _fraction_text(nanoseconds: int) -> str:
    """Write the fraction of a second in three, six or nine digits; empty for 0."""
    if nanoseconds == 0:
        return ""
    digits = f"{nanoseconds:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}"
