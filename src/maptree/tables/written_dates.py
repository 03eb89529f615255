"""Dates and times as people write them: 31.12.2020, 12/31/2020, Jan 01, 2020, 2:30 PM.

Years have four digits; names of months are English, in upper or lower case, whole or shortened. A
date may be followed by a time of day, and the time by Z or an offset from UTC. A column has one
*form*, which is named by an example: the last day of 2021.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.tables.clock import DAY, SECOND
from maptree.tables.values import Values

ORDERS = ("dmy", "mdy")
ISO, CLOCK = "2021-12-31", "12:30"

_MICROSECOND = 1000  # nanoseconds
_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number + 1 for number, name in enumerate(_NAMES)}
_NAME = (
    "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR, _PART = "([0-9]{4})", "([0-9]{1,2})"
_TIME = r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?(?: ?([ap])\.?m\.?)?"
_ZONE = "(?: ?(Z|[+-][0-9]{2}:?[0-9]{2}))?"
_FLAGS = re.IGNORECASE | re.MULTILINE | re.ASCII


@dataclass(frozen=True)
class DateWriting:
    """How the dates or times of a text column are written: a form, by its example."""

    form: str


def _forms() -> dict[str, tuple[str, re.Pattern[str]]]:
    """Return the forms: the order of year, month and day, and the pattern."""
    dates = {"Dec 31, 2021": ("mdy", f"{_NAME} {_PART},? {_YEAR}")}
    dates["31 Dec 2021"] = "dmy", rf"{_PART}\.?[ -]?{_NAME},?[ -]?{_YEAR}"
    for mark in "-/.":
        between = re.escape(mark)
        dates[f"2021{mark}12{mark}31"] = "ymd", between.join((_YEAR, _PART, _PART))
        last = between.join((_PART, _PART, _YEAR))
        dates[f"31{mark}12{mark}2021"] = "dmy", last
        dates[f"12{mark}31{mark}2021"] = "mdy", last
    return {
        form: (order, re.compile(f"^{date}(?:(?:[T ]|, ?){_TIME}{_ZONE})?$", _FLAGS))
        for form, (order, date) in dates.items()
    } | {CLOCK: ("", re.compile(f"^()()(){_TIME}()$", _FLAGS))}


FORMS = _forms()


@dataclass(frozen=True)
class Moments:
    """Dates and times that were read; every array has an entry per text."""

    days: NDArray[np.int64]  # since 1970-01-01
    micros: NDArray[np.int64]  # microseconds since midnight, in UTC where there is a zone
    timed: NDArray[np.bool_]  # whether there is a time of day
    zoned: NDArray[np.bool_]  # whether there is a time zone

    def kind(self) -> tuple[bool, bool] | None:
        """Return whether all have a time and a zone; None if only some have."""
        kinds = set(zip(self.timed.tolist(), self.zoned.tolist(), strict=True))
        return kinds.pop() if len(kinds) == 1 else None


def read_moments(texts: list[str], form: str) -> Moments | None:
    """Read dates and times of one form; None if one of them is not.

    >>> read_moments(["31.12.2020", "1.1.1970"], "31.12.2021").days
    array([18627,     0])
    >>> read_moments(["Feb 30, 2020"], "Dec 31, 2021") is None
    True
    """
    order, pattern = FORMS[form]
    joined = "\n".join(texts)
    found = pattern.findall(joined)
    if len(found) < len(texts) or joined.count("\n") >= len(texts):
        return None
    *date, hours, minutes, seconds, fractions, halves, zones = zip(*found, strict=True)
    valid = np.ones(len(texts), dtype=bool)
    days = np.zeros(len(texts), dtype=np.int64)
    if order:
        year, month, day = (_numbers(date[order.index(part)]) for part in "ymd")
        months = (year - 1970) * 12 + month - 1
        start = months.astype("M8[M]").astype("M8[D]")
        length = (months + 1).astype("M8[M]").astype("M8[D]") - start
        valid &= (month >= 1) & (month <= 12) & (day >= 1) & (day <= length.astype(np.int64))
        days = start.astype(np.int64) + day - 1
    timed = np.array([hour != "" for hour in hours])
    zoned = np.array([zone != "" for zone in zones])
    micros = np.zeros(len(texts), dtype=np.int64)
    if timed.any():
        half = np.array([half.lower() for half in halves])
        hour, minute, second = _numbers(hours), _numbers(minutes), _numbers(seconds)
        valid &= (minute < 60) & (second < 60)
        valid &= np.where(half == "", hour < 24, (hour >= 1) & (hour <= 12))
        hour = np.where(half == "", hour, hour % 12 + 12 * (half == "p"))
        micros = ((hour * 60 + minute) * 60 + second) * (SECOND // _MICROSECOND)
        if any(fractions):
            micros += _numbers([fraction.ljust(6, "0") for fraction in fractions])
    if zoned.any():
        ahead = [_offset(zone) for zone in zones]
        valid &= np.array([minutes is not None for minutes in ahead])
        micros -= np.array([m or 0 for m in ahead]) * (60 * SECOND // _MICROSECOND)
    return Moments(days, micros, timed, zoned) if valid.all() else None


def _numbers(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return whole numbers, and those of months that are named; 0 for empty text."""
    try:
        parts = list(map(int, texts))
    except ValueError:
        parts = [_MONTHS[t[:3].lower()] if t.isalpha() else int(t or 0) for t in texts]
    return np.array(parts, dtype=np.int64)


def _offset(zone: str) -> int | None:
    """Return the minutes that a zone is ahead of UTC; None if it is not an offset."""
    if zone in ("", "Z", "z"):
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        return None
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)


def join_moments(blocks: list[Moments]) -> Moments:
    """Return blocks as one."""
    names = ("days", "micros", "timed", "zoned")
    parts: dict[str, Any] = {
        name: np.concatenate([getattr(block, name) for block in blocks]) for name in names
    }
    return Moments(**parts)


def as_values(moments: Moments, form: str, dtype: str) -> Values:
    """Return moments as values: dates if none of them has a time of day."""
    if form == CLOCK:
        return Values("time", dtype, moments.micros, per_unit=Fraction(1, _MICROSECOND))
    if not moments.timed.any():
        return Values("date", dtype, moments.days)
    whole = moments.days * (DAY // _MICROSECOND) + moments.micros
    zone = "UTC" if moments.zoned.any() else None
    return Values("datetime", dtype, whole, per_unit=Fraction(1, _MICROSECOND), zone=zone)


@dataclass(frozen=True)
class FoundDates:
    """The dates of a text column and their form; no form if day and month cannot be told apart."""

    moments: Moments
    form: str | None
    example: str


def find_dates(blocks: Iterable[list[str]], dates: str | None) -> FoundDates | None:
    """Find out how the dates of a text column are written; None if they are not dates.

    ``dates`` decides between day first and month first where all values could be either.
    """
    alive: dict[str, list[Moments]] = {form: [] for form in FORMS}
    example = ""
    for texts in blocks:
        for form in tuple(alive):
            read = read_moments(texts, form)
            if read is None:
                del alive[form]
            else:
                alive[form].append(read)
        if not alive:
            return None
        example = max(example, *texts)
    whole = {form: join_moments(read) for form, read in alive.items() if read}
    if not whole or next(iter(whole.values())).kind() is None:
        return None
    chosen = next(iter(whole)) if len(whole) == 1 else None
    for form in whole:
        if FORMS[form][0] == dates:
            chosen = form
    return FoundDates(whole[chosen or next(iter(whole))], chosen, example)
