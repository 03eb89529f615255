"""Text columns whose values are numbers, dates or times, and how these are written.

A column is read only if all its values agree on one way of writing and the reading is certain, or
as certain as the options make it. The decision depends on the set of values alone: not on their
order, the container or the file. It is made once, in ``fit`` (``read_text``), and kept in the
schema; later tables are read in the same way (``read_as_written``).

Each different text is read once, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.tables.deadline import check_deadline
from maptree.tables.values import Category, Values, none_if_empty, nothing
from maptree.tables.written_dates import (
    CLOCK,
    FORMS,
    ISO,
    DateWriting,
    FoundDates,
    Moments,
    as_values,
    find_dates,
    join_moments,
    read_moments,
)
from maptree.tables.written_numbers import (
    FoundNumbers,
    NumberWriting,
    find_currencies,
    find_numbers,
    read_numbers,
)

Writing = NumberWriting | DateWriting

# Texts that are read together: between two blocks the clock is looked at.
_BLOCK = 1 << 13
_LONGEST = 64  # characters of a value that is read
# Spaces, apostrophes and minus signs as typesetters write them, and as keyboards have them.
_PLAIN = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2212": "-"})


_FIRST = {"dmy": ", day first", "mdy": ", month first"}


class UnreadableTextError(ValueError):
    """A text that is not written like the column that was fitted."""

    def __init__(self, text: str, row: int, where: str, writing: Writing) -> None:
        super().__init__(
            f"X has {text!r} at row {row}, {where}, but it held {called(writing)} when fitted: "
            "fix the value, or pass None if it is missing."
        )
        self.text, self.row, self.where, self.writing = text, row, where, writing

    def __reduce__(self) -> tuple[object, ...]:
        # Through the constructor: an error may cross processes, as in a parallel grid search.
        return type(self), (self.text, self.row, self.where, self.writing)


@dataclass(frozen=True)
class TextOptions:
    """What decides where text can be read in two ways; None: nothing does.

    ``dates`` is "dmy" or "mdy", ``decimal`` the decimal mark.
    """

    dates: str | None = None
    decimal: str | None = None


@dataclass(frozen=True)
class Reading:
    """A column as it was read: unchanged, if ``writing`` is None. The note says what was found."""

    values: Values
    writing: Writing | None = None
    note: str = ""


def read_text(
    values: Values,
    counted: NDArray[np.bool_] | None = None,
    options: TextOptions | None = None,
) -> Reading:
    """Read a text column as numbers, dates or times if that is what its values are.

    Only the rows that count decide; in others, what cannot be read is missing.

    >>> from maptree.tables.objects import read_objects
    >>> column = np.array(["4,321", None, "12"], dtype=object)
    >>> reading = read_text(read_objects(column, "object", "column 0"))
    >>> reading.values.data, reading.writing
    (array([4321,    0,   12]), NumberWriting(decimal='.', unit='', unit_first=False))
    >>> reading.note
    'text such as 4,321 is read as 4321: set decimal to a comma if it is 4.321'
    """
    options = options or TextOptions()
    texts = _Texts(values, counted)
    if len(texts) == 0:
        return Reading(values)
    dates = find_dates(texts.blocks(), options.dates)
    if dates is not None:
        return _with_dates(values, texts, dates)
    numbers = find_numbers(texts.blocks(), options.decimal)
    if numbers is not None:
        read = Values("number", values.dtype, numbers.numbers)
        return Reading(texts.spread(read), numbers.writing, _about_numbers(numbers))
    currencies = find_currencies(texts.blocks())
    if len(currencies) > 1:
        listed = ", ".join(currencies)
        return Reading(values, note=f"money in several currencies ({listed}) is not read")
    return Reading(values)


def _with_dates(values: Values, texts: _Texts, found: FoundDates) -> Reading:
    if found.form is None:
        note = (
            f"dates such as {found.example} are not read, because day and month cannot be told "
            "apart: set dates to dmy or mdy"
        )
        return Reading(values, note=note)
    read = texts.spread(as_values(found.moments, found.form, values.dtype))
    named = any(map(str.isalpha, found.form))
    order = "" if named else _FIRST.get(FORMS[found.form][0], "")
    what = "times" if found.form == CLOCK else "dates"
    note = f"text such as {found.example} is read as {what}{order}"
    return Reading(read, DateWriting(found.form), note)


def _about_numbers(found: FoundNumbers) -> str:
    note = f"text such as {found.example} is read as {found.value}"
    if found.other is None:
        return note
    return f"{note}: set decimal to a comma if it is {found.other}"


def called(writing: Writing) -> str:
    """Return what messages call the values of a column.

    >>> called(DateWriting("31.12.2021")), called(NumberWriting(",", "EUR"))
    ('dates such as 31.12.2021', 'numbers such as 1.234,5 EUR')
    """
    if isinstance(writing, DateWriting):
        return f"{'times' if writing.form == CLOCK else 'dates'} such as {writing.form}"
    return f"numbers such as {writing.shown('1.234,5' if writing.decimal == ',' else '1,234.5')}"


def read_as_written(
    values: Values, writing: Writing, zoned: bool, where: str, strict: bool = True
) -> Values:
    """Read text that is written like a fitted column; ``where`` names the column in messages.

    Numbers may have no unit, and dates may be written as in ISO 8601. Other text is refused or,
    unless ``strict``, missing.
    """
    texts = _Texts(values)
    blocks: list[Any] = []
    readable: list[bool] = []
    for block in texts.blocks():
        read = _read_block(block, writing, zoned)
        each = [read] if read is not None else [_read_block([t], writing, zoned) for t in block]
        blocks += [part for part in each if part is not None]
        readable += [True] * len(block) if read is not None else [p is not None for p in each]
    if strict and not all(readable):
        raise UnreadableTextError(*texts.first_row(np.array(readable)), where, writing)
    if not blocks:
        return nothing(len(values), values.dtype)
    if isinstance(writing, NumberWriting):
        whole = Values("number", values.dtype, np.concatenate(blocks))
    else:
        whole = as_values(join_moments(blocks), writing.form, values.dtype)
    return texts.spread(whole, np.array(readable))


def _read_block(texts: list[str], writing: Writing, zoned: bool) -> NDArray[Any] | Moments | None:
    if isinstance(writing, NumberWriting):
        return read_numbers(texts, writing.decimal, writing.unit, unit_needed=False)
    for form in (writing.form,) if writing.form == CLOCK else dict.fromkeys((writing.form, ISO)):
        moments = read_moments(texts, form)
        if moments is not None and (moments.zoned == zoned).all():
            return moments
    return None


class _Texts:
    """The different texts of the rows that count."""

    def __init__(self, values: Values, counted: NDArray[np.bool_] | None = None) -> None:
        self._values = values
        seen = np.zeros(len(values.categories) + 1, dtype=bool)
        seen[values.data if counted is None else values.data[counted]] = True
        self._seen = seen[:-1]  # the last entry is for missing values, at position -1
        self._positions = np.flatnonzero(self._seen)

    def __len__(self) -> int:
        return len(self._positions)

    def blocks(self) -> Iterator[list[str]]:
        """Return the texts in blocks. The first is one text: most columns end with it."""
        first = int(self._positions[0])
        yield [self._text(self._values.categories[first])]
        for start in range(first + 1, len(self._seen), _BLOCK):
            check_deadline()
            seen = self._seen[start : start + _BLOCK]
            if seen.any():
                listed = self._values.categories[start : start + _BLOCK]
                kept = zip(listed, seen.tolist(), strict=True)
                yield [self._text(text) for text, there in kept if there]

    def _text(self, text: Category) -> str:
        """Return a text in the form in which it is read; empty if it cannot be read."""
        if not isinstance(text, str) or len(text) > _LONGEST:
            return ""
        return (text if text.isascii() else text.translate(_PLAIN)).strip()

    def spread(self, read: Values, readable: NDArray[np.bool_] | None = None) -> Values:
        """Return the values of all rows; those of other texts are missing."""
        data = np.zeros(len(self._seen) + 1, dtype=read.data.dtype)
        missing = np.ones(len(data), dtype=bool)
        positions = self._positions if readable is None else self._positions[readable]
        data[positions], missing[positions] = read.data, False
        if data.dtype.kind == "f":
            data[missing] = np.nan
        codes = self._values.data
        return replace(read, data=data[codes], missing=none_if_empty(missing[codes]))

    def first_row(self, readable: NDArray[np.bool_]) -> tuple[str, int]:
        """Return the text and the row of the first that cannot be read."""
        wrong = np.zeros(len(self._seen) + 1, dtype=bool)
        wrong[self._positions] = ~readable
        row = int(np.argmax(wrong[self._values.data]))
        return str(self._values.categories[int(self._values.data[row])]), row
