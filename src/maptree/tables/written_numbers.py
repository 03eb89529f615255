"""Numbers as people write them: 4,321 and 1.234.567, decimal commas, money, percent.

A value is a number under a decimal mark, the point or the comma. Thousands are groups of exactly
three digits, separated by the other mark, a space or an apostrophe. Money has a currency sign or
code before or after the number, percent a sign: the *unit*, which all values of a column share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

MARKS = (".", ",")
# What separates thousands, by decimal mark.
_GROUPS = {".": (",", " ", "'"), ",": (".", " ", "'")}

_SIGNS = "$\u00a3\u00a5\u20a0-\u20c0"  # dollar, pound, yen, and the block that has the euro
# The most traded currencies. Any three letters would make numbers of flights and of parts.
_CODES = """
    AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KES KRW
    MAD MXN MYR NGN NOK NZD PEN PHP PKR PLN QAR RON RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR
"""
_UNIT = re.compile(rf"%|(?:[A-Z]{{1,2}})?[{_SIGNS}]|{'|'.join(_CODES.split())}")
# Something that a plain number does not have.
_MARKED = re.compile(r"[ ',]|\.[0-9]*\.")


@dataclass(frozen=True)
class NumberWriting:
    """How the numbers of a text column are written.

    >>> NumberWriting(",", "EUR").shown("12.5"), NumberWriting(".", "$", True).shown("12.5")
    ('12.5 EUR', '$12.5')
    """

    decimal: str
    unit: str = ""
    unit_first: bool = False

    def shown(self, number: str) -> str:
        """Return a number in words, with its unit."""
        if not self.unit:
            return number
        gap = " " if self.unit[-1].isalpha() or not self.unit_first else ""
        return f"{self.unit}{gap}{number}" if self.unit_first else f"{number}{gap}{self.unit}"


def is_unit(text: str) -> bool:
    """Return whether text is a unit that is recognised, or empty."""
    return not text or _UNIT.fullmatch(text) is not None


def find_unit(text: str) -> str:
    """Return the unit of a number, or empty text.

    >>> find_unit("1.234,50 EUR"), find_unit("12 %"), find_unit("-US$3"), find_unit("4,321")
    ('EUR', '%', 'US$', '')
    """
    found = _UNIT.search(text)
    return "" if found is None else found[0]


@cache
def _pattern(decimal: str, unit: str, unit_needed: bool) -> re.Pattern[str]:
    mark, unit = re.escape(decimal), re.escape(unit)
    groups = "|".join(f"(?:{re.escape(group)}[0-9]{{3}})+" for group in _GROUPS[decimal])
    whole = f"(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:{groups}))"
    # Digits may be missing behind the mark, as in "5.", which is a number everywhere else, too.
    number = f"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?"
    forms = []
    if unit:
        forms += [
            f"[+-]? ?{unit} ?{number}",
            f"{unit} ?[+-]{number}",
            f"[+-]?{number} ?{unit}",
            rf"\({unit} ?{number}\)",  # as accountants write what is below 0
            rf"\({number} ?{unit}\)",
        ]
    if not unit or not unit_needed:
        forms.append(f"[+-]?{number}")
    return re.compile("|".join(forms))


def read_numbers(
    texts: list[str], decimal: str, unit: str, unit_needed: bool = True
) -> NDArray[Any] | None:
    """Read numbers: whole ones if all are whole and 64 bits hold them; None if one is not a number.

    >>> read_numbers(["4,321", "-12"], ".", "")
    array([4321,  -12])
    >>> read_numbers(["1.234,50 EUR", "(3 EUR)"], ",", "EUR")
    array([1234.5,   -3. ])
    """
    if not all(map(_pattern(decimal, unit, unit_needed).fullmatch, texts)):
        return None
    joined = "\n".join(texts)
    for dropped in (*([unit] if unit else ()), *_GROUPS[decimal], ")"):
        joined = joined.replace(dropped, "")
    parts = joined.replace("(", "-").replace(decimal, ".").split("\n")
    if not any(sign in joined for sign in (decimal, "e", "E")):
        try:
            return np.array(list(map(int, parts)), dtype=np.int64)
        except OverflowError:
            pass
    return np.array(list(map(float, parts)), dtype=np.float64)


@dataclass(frozen=True)
class FoundNumbers:
    """The numbers of a text column, how they are written, and an example.

    ``other`` is what the example is under the other decimal mark, if all values could be read under
    that one as well; otherwise None.
    """

    numbers: NDArray[Any]
    writing: NumberWriting
    example: str
    value: str
    other: str | None


def find_numbers(blocks: Iterable[list[str]], decimal: str | None) -> FoundNumbers | None:
    """Find out how the numbers of a text column are written; None if they are not numbers.

    Text in which every number is plain is left as it is: it may be a code that is meant as a
    category. Where both decimal marks are possible, it is the point.
    """
    alive: dict[str, list[NDArray[Any]]] = {mark: [] for mark in ([decimal] if decimal else MARKS)}
    unit = ""
    # The last in the order of texts, so that nothing depends on the order of the rows.
    last = marked = telling = None
    for number, texts in enumerate(blocks):
        if number == 0:
            unit = find_unit(texts[0])
        for mark in tuple(alive):
            read = read_numbers(texts, mark, unit)
            if read is None:
                del alive[mark]
            else:
                alive[mark].append(read)
        if not alive:
            return None
        last = _last(last, texts)
        marked = _last(marked, filter(_MARKED.search, texts))
        telling = _last(telling, (text for text in texts if "," in text or "." in text))
    if not unit and marked is None and not (decimal == "," and telling):
        return None
    example = telling if len(alive) == 2 or not marked else marked
    example = example or marked or last
    assert example is not None
    first = bool(unit) and not re.search(f"[0-9].*{re.escape(unit)}", example)
    value, *other = (_shown(read_numbers([example], mark, unit)) for mark in alive)
    return FoundNumbers(
        np.concatenate(next(iter(alive.values()))),  # floats, if one block has floats
        NumberWriting(next(iter(alive)), unit, first),
        example,
        value,
        other[0] if other and telling else None,
    )


def _last(known: str | None, texts: Iterable[str]) -> str | None:
    return max(texts if known is None else (known, *texts), default=None)


def _shown(number: NDArray[Any] | None) -> str:
    assert number is not None
    return repr(number.tolist()[0]).removesuffix(".0")


def find_currencies(blocks: Iterable[list[str]]) -> list[str]:
    """Return the currencies of a column in which every value is money; otherwise nothing.

    >>> find_currencies([["$3", "4 EUR"]]), find_currencies([["$3", "four"]])
    (['$', 'EUR'], [])
    """
    units: set[str] = set()
    for texts in blocks:
        for text in texts:
            unit = find_unit(text)
            forms = (_pattern(mark, unit, True) for mark in MARKS)
            if unit in ("", "%") or not any(form.fullmatch(text) for form in forms):
                return []
            units.add(unit)
    return sorted(units)
