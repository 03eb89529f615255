"""Columns of a file as numbers: a target, or an exposure.

Numbers are those of the file's types, and text in which people write numbers: $125,000 or
1.234,50 EUR. Text of plain numbers, which only files with types have, is read where it is certain
that numbers are meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from maptree.cli.files import Source
from maptree.cli.mistakes import Refusal
from maptree.tables.written_numbers import (
    MARKS,
    find_currencies,
    find_numbers,
    find_unit,
    read_numbers,
)

_PLAIN = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2019": "'", "\u2212": "-"})
_LARGEST = 2.0**1020  # as in tables/numbers.py


@dataclass(frozen=True, eq=False)
class ReadNumbers:
    """A column of numbers, as an array with NaN where one is missing."""

    name: str
    values: NDArray[np.float64]
    note: str = ""  # how text was read

    @cached_property
    def present(self) -> NDArray[np.float64]:
        """The numbers that are not missing."""
        return self.values[~np.isnan(self.values)]

    @cached_property
    def n_different(self) -> int:
        """How many different numbers there are."""
        return len(np.unique(self.present))

    @property
    def least(self) -> float:
        """The least number."""
        return float(self.present.min())

    @property
    def most(self) -> float:
        """The largest number."""
        return float(self.present.max())

    @cached_property
    def whole(self) -> bool:
        """Whether all numbers are whole."""
        return bool((self.present == np.floor(self.present)).all())

    def refuse_infinite(self, what: str) -> None:
        """Refuse numbers that are not finite, or too large; ``what`` they are opens a sentence."""
        bad = np.abs(self.values) > _LARGEST  # not NaN
        if bad.any():
            row = int(np.argmax(bad))
            raise Refusal(
                f"{what} {self.name!r} has {self.values[row]:g} in row {row + 1:,}, which is not a "
                "finite number below 1e307: correct it, or leave the cell empty."
            )


def _floats(column: Any) -> NDArray[np.float64]:
    """Return a column of numbers, NaN where one is missing.

    From its memory: conversions of pyarrow import pandas, which takes longer than to refuse a
    target.
    """
    parts = [np.empty(0)]
    floats = column.cast(pa.float64(), safe=False)
    for chunk in floats.chunks if isinstance(floats, pa.ChunkedArray) else [floats]:
        if len(chunk) == 0:
            continue
        _, values = chunk.buffers()
        numbers = np.frombuffer(values, np.float64, len(chunk), 8 * chunk.offset).copy()
        if chunk.null_count:
            missing = chunk.is_null().cast(pa.uint8())
            numbers[np.frombuffer(missing.buffers()[1], np.uint8, len(chunk)) != 0] = np.nan
        parts.append(numbers)
    return np.concatenate(parts)


def find_measured(source: Source, name: str, certain: bool = False) -> ReadNumbers | None:
    """Return a column as numbers; None if it has others than numbers.

    ``certain``: numbers are meant, so that text may be plain numbers, too.
    """
    column = source.infer(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_null(kind):
        return None
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return ReadNumbers(name, _floats(column) + 0.0)  # not -0.0
    if not is_text(kind):
        return None
    encoded = _encoded(column)
    texts = [_read_form(text) for text in encoded.dictionary.to_pylist()]
    found = _written(texts, source.decimal, certain)
    if found is None:
        return None
    numbers, note = found
    codes = encoded.indices.fill_null(len(texts)).to_numpy()
    return ReadNumbers(name, np.append(numbers, np.nan)[codes] + 0.0, note)


def is_text(kind: Any) -> bool:
    """Return whether a type of Arrow is text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def need_measured(source: Source, name: str, what: str, remedy: str = "") -> ReadNumbers:
    """Return a column as numbers; refuse one that has others, and say which."""
    found = find_measured(source, name, certain=True)
    if found is not None and len(found.present):
        found.refuse_infinite(what)
        return found
    column = source.infer(name)
    if column.null_count == len(column) or found is not None:
        raise Refusal(f"{what} {name!r} is missing in every row: name another column.")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not is_text(column.type):
        raise Refusal(
            f"{what} {name!r} has {_kind(column.type)}, not numbers, such as "
            f"{column.drop_null()[0].as_py()}. Name another column{remedy}."
        )
    raise Refusal(f"{what} {name!r} {_first_fault(column, source.decimal)}{remedy}.")


def _kind(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "true and false"
    return "dates or times" if pa.types.is_temporal(kind) else "values of another kind"


def _encoded(column: Any) -> Any:
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return whole.dictionary_encode()


def _read_form(text: str) -> str:
    return (text if text.isascii() else text.translate(_PLAIN)).strip()


def _written(
    texts: list[str], decimal: str | None, certain: bool
) -> tuple[NDArray[np.float64], str] | None:
    """Read different texts as numbers; return a note on how, too."""
    found = find_numbers([texts], decimal)
    if found is not None:
        note = f"text such as {found.example} is read as {found.value}"
        if found.other is not None:
            note += f": pass --decimal , if it is {found.other}"
        return found.numbers.astype(np.float64), note
    plain = read_numbers(texts, decimal or ".", "") if certain else None
    return None if plain is None else (plain.astype(np.float64), "")


def is_number(text: str, decimal: str | None = None) -> bool:
    """Return whether one text is a number as people write it.

    >>> is_number("1.234,50 EUR"), is_number("1.5"), is_number("unknown")
    (True, True, False)
    """
    form = _read_form(text)
    marks = (decimal,) if decimal else MARKS
    return any(read_numbers([form], mark, find_unit(form)) is not None for mark in marks)


def _first_fault(column: Any, decimal: str | None) -> str:
    """Return what keeps text from being numbers, for a sentence."""
    encoded = _encoded(column)
    texts = encoded.dictionary.to_pylist()
    for code, text in enumerate(texts):
        if not is_number(text, decimal):
            row = int(pc.index(encoded.indices, code).as_py())
            return (
                f"has {text!r} in row {row + 1:,}, which is not a number. Correct it; if it stands "
                f"for a missing value, pass --missing {text.strip() or 'WORD'!r}"
            )
    currencies = find_currencies([[_read_form(text) for text in texts]])
    if len(currencies) > 1:
        return f"has money in several currencies ({', '.join(currencies)}): convert it to one"
    return (
        f"has numbers that are not all written alike, such as {texts[0]!r} and {texts[-1]!r}: "
        "write them in one way"
    )
