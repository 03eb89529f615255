"""Reads rules as a person would, and tells which rows they hold for.

It shares no code with the package: text in, True or False out. A column is known by its name and
by a ``Kind``: how the text of a value is read, and how values are compared.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

MISSING = None

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
}
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_COMPARISON = re.compile(
    rf"(?:(?P<low>{_QUOTED}|[^<\"]*?) < )?(?P<name>{_QUOTED}|[^<>=\"]+?) "
    r"(?P<sign>not in|in(?= \{)|!=|<=|=|<|>) "
)


@dataclass(frozen=True)
class Kind:
    """Both functions lead to something that can be compared."""

    read: Callable[[str], Any]
    value: Callable[[Any], Any] = lambda value: value
    knows: Callable[[Any], bool] = lambda value: True


def _number(text: str) -> Any:
    if text in ("inf", "-inf"):
        return float(text)
    return Fraction(text)


def _exact(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return value
    return Fraction(value)


def _words(text: str) -> str:
    return json.loads(text) if text.startswith('"') else text


def _datetime(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def _duration(text: str) -> dt.timedelta:
    match = re.fullmatch(r"(-?)(?:(\d+) d )?(\d\d):(\d\d):(\d\d)(?:\.(\d+))?", text)
    assert match, text
    sign, days, hours, minutes, seconds, part = match.groups(default="0")
    whole = dt.timedelta(
        days=int(days),
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=int(part.ljust(6, "0")[:6]),
    )
    return -whole if sign == "-" else whole


NUMBER = Kind(_number, _exact)
TEXT = Kind(_words)
BOOLEAN = Kind({"True": True, "False": False, "1": True, "0": False}.__getitem__)
DATE = Kind(dt.date.fromisoformat)
DATETIME = Kind(_datetime)
TIME = Kind(dt.time.fromisoformat)
DURATION = Kind(_duration)


def ordered(*categories: str) -> Kind:
    """Categories from the least to the greatest."""
    return Kind(
        lambda text: categories.index(_words(text)), categories.index, categories.__contains__
    )


def holds(rule: str, row: Mapping[str, Any], kinds: Mapping[str, Kind]) -> bool:
    """Tell whether the condition of a rule holds for a row; what is missing is None."""
    condition = _split(rule, "  ->  ")[0]
    if condition == "always":
        return True
    parts = _split(condition, " and ")
    for part in parts:
        inside = part[1:-1] if part.startswith("(") else part
        simple, *others = _split(inside, " or ")
        assert bool(others) == (inside != part) or len(parts) == 1, f"{rule}: parentheses"
        assert others in ([], ["missing"], ["unknown"], ["unknown", "missing"]), part
        if not _simple(simple, others, row, kinds):
            return False
    return True


def _split(text: str, separator: str) -> list[str]:
    """Split outside of quotes."""
    parts, start, i, quoted = [], 0, 0, False
    while i < len(text):
        if text[i] == "\\" and quoted:
            i += 2
            continue
        if text[i] == '"':
            quoted = not quoted
        elif not quoted and text.startswith(separator, i):
            parts.append(text[start:i])
            i += len(separator)
            start = i
            continue
        i += 1
    return [*parts, text[start:]]


def _simple(
    text: str, others: list[str], row: Mapping[str, Any], kinds: Mapping[str, Kind]
) -> bool:
    if text.endswith(" is not missing"):
        assert not others
        return row[_words(text.removesuffix(" is not missing"))] is not MISSING
    if text.endswith(" is missing"):
        assert not others
        return row[_words(text.removesuffix(" is missing"))] is MISSING
    match = _COMPARISON.match(text)
    assert match, text
    name, sign, rest = _words(match["name"]), match["sign"], text[match.end() :]
    if row[name] is MISSING:
        return "missing" in others
    kind = kinds[name]
    if sign not in ("!=", "not in") and not kind.knows(row[name]):
        return "unknown" in others
    value = kind.value(row[name])
    if match["low"] is not None and not kind.read(match["low"]) < value:
        return False
    if sign in ("in", "not in"):
        listed = [kind.read(word) for word in _split(rest[1:-1], ", ")]
        assert len(listed) > 1
        return (value in listed) == (sign == "in")
    return _COMPARE[sign](value, kind.read(rest))
