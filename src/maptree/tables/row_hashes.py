"""Rows as numbers: equal rows have equal hashes, whatever kind of table they come from.

A row's hash is a sum of one term per column, so that columns can be read one at a time, in any
order. Terms depend on values, not on their types: 3, 3.0 and Decimal("3") are equal, and so are a
date and that day's midnight. Numbers are compared as floats; whole numbers that floats cannot hold
are not rounded. Hashes identify rows; they are no protection against somebody who makes up rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.tables.clock import DAY
from maptree.tables.values import Categories, Values

Hashes = NDArray[np.uint64]

# Rows and texts hashed at a time: few enough for the cache, and for a look at the clock in between.
_BLOCK = 1 << 12
# Columns of a 0/1 matrix that are hashed at a time, and how many such parts keep their terms.
_COLUMNS = 64
_MOST_KEPT = 64
_MASK = (1 << 64) - 1
# What the terms of texts, times, missing values and labels begin with; numbers are their own bits.
_TEXT, _TIME, _MISSING, _LABEL = (np.uint64(k * 0x9E3779B97F4A7C15 & _MASK) for k in (1, 2, 3, 5))
_SPREAD = np.uint64(0xD1B54A32D192ED03)  # so that sums of bits and a small number differ
_TIMES = ("date", "datetime", "time", "duration")
_LARGEST_EXACT = 1 << 53


def mixed(numbers: Hashes) -> Hashes:
    """Return numbers that look random, different ones for different numbers (splitmix64)."""
    out = numbers + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        out ^= out >> np.uint64(shift)
        out *= np.uint64(factor)
    out ^= out >> np.uint64(31)
    return out


class RowHashes:
    """The hashes of a table's rows, as far as its columns were added.

    After ``deadline``, in ``time.perf_counter`` seconds, ``complete`` is false and nothing more is
    computed. Between two pieces of work the clock is read, but not for the first.
    """

    def __init__(self, n_rows: int, deadline: float = np.inf) -> None:
        self.complete = True
        self._n_rows = n_rows
        self._deadline = deadline
        self._sums: Hashes | None = None
        self._binary: _BinaryHashes | None = None

    def add(self, column: int, values: Values, only_missing: bool = False) -> None:
        """Add a column, or only where its values are missing."""
        self._combine(np.add, column, values, only_missing)

    def remove(self, column: int, values: Values) -> None:
        """Undo ``add``."""
        self._combine(np.subtract, column, values, False)

    def add_binary(self, matrix: NDArray[Any]) -> None:
        """Add all columns of a 0/1 matrix: the same as one by one, but faster and later.

        The matrix is not copied: its rows are hashed when they are needed.
        """
        self._binary = _BinaryHashes(matrix)

    def add_zeros(self, n_columns: int) -> None:
        """Add columns that are 0 in every row; ``add_ones`` then makes some values 1."""
        zeros = sum(
            int(terms.sum(dtype=np.uint64))
            for first in range(0, n_columns, _BLOCK)
            for terms in _binary_terms(np.arange(first, min(first + _BLOCK, n_columns)))[:1]
        )
        if self._sums is None:
            self._sums = np.zeros(self._n_rows, dtype=np.uint64)
        self._sums += np.uint64(zeros & _MASK)

    def add_ones(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> bool:
        """Make values of columns that are 0 so far 1; return whether there is time for more."""
        assert self._sums is not None
        no, yes = _binary_terms(columns)
        np.add.at(self._sums, rows, yes - no)
        return not self._is_late()

    def blocks(self, codes: NDArray[Any]) -> Iterator[tuple[slice, Hashes]]:
        """Yield the hashes of rows with these class numbers, 48 bits each, some rows at a time.

        ``complete`` is false if they are not all of them.
        """
        for first in range(0, self._n_rows, _BLOCK):
            if not self.complete or (first and self._is_late()):
                return
            rows = slice(first, min(first + _BLOCK, self._n_rows))
            hashes = mixed(codes[rows].astype(np.int64).view(np.uint64) + _LABEL)
            if self._sums is not None:
                hashes += self._sums[rows]
            if self._binary is not None:
                sums = self._binary.sums(rows, self._is_late)
                if sums is None:
                    return
                hashes += sums
            yield rows, mixed(hashes) >> np.uint64(16)

    def keep(self, rows: NDArray[np.intp]) -> RowHashes:
        """Return the hashes of some rows."""
        kept = RowHashes(len(rows), self._deadline)
        kept.complete = self.complete
        kept._sums = None if self._sums is None else self._sums[rows]
        kept._binary = None if self._binary is None else _BinaryHashes(self._binary.matrix[rows])
        return kept

    def _combine(self, ufunc: np.ufunc, column: int, values: Values, only_missing: bool) -> None:
        key = _column_keys(np.array([column]))
        terms = None
        if not only_missing and len(values.categories):
            terms = self._terms_of_categories(values.categories, key)
            if terms is None:
                return
        if self._sums is None:
            self._sums = np.zeros(self._n_rows, dtype=np.uint64)
        for first in range(0, len(values), _BLOCK):
            if first and self._is_late():
                return
            part = values.keep(slice(first, first + _BLOCK))
            missing = part.is_missing()
            if terms is not None:
                found = terms.take(np.where(missing, -1, part.data))
            elif only_missing or values.kind == "nothing":
                found = mixed(np.where(missing, _MISSING, np.uint64(0)) ^ key)
            else:
                found = mixed(np.where(missing, _MISSING, _bits(part)) ^ key)
            sums = self._sums[first : first + _BLOCK]
            ufunc(sums, found, out=sums)

    def _terms_of_categories(self, categories: Categories, key: Hashes) -> Hashes | None:
        """Return the term of each category, and that of a missing value; None: too late."""
        hashes = []
        for first in range(0, len(categories), _BLOCK):
            if first and self._is_late():
                return None
            hashes.append(_category_bits(categories[first : first + _BLOCK]))
        return mixed(np.concatenate([*hashes, np.array([_MISSING])]) ^ key)

    def _is_late(self) -> bool:
        self.complete = self.complete and time.perf_counter() <= self._deadline
        return not self.complete


class _BinaryHashes:
    """Sums of the terms of a 0/1 matrix, eight columns at a time."""

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.matrix = matrix
        self._kept: dict[int, tuple[Hashes, np.uint64]] = {}  # of the first columns

    def sums(self, rows: slice, is_late: Callable[[], bool]) -> Hashes | None:
        """Return the sums of some rows; None: too late. The clock is read between columns."""
        out = np.zeros(rows.stop - rows.start, dtype=np.uint64)
        for first in range(0, self.matrix.shape[1], _COLUMNS):
            if first and is_late():
                return None
            added, least = self._terms(first)
            out += least
            packed = np.packbits(self.matrix[rows, first : first + _COLUMNS] != 0, axis=1)
            for of_byte, byte in zip(added, packed.T, strict=True):
                out += of_byte.take(byte)
        return out

    def _terms(self, first: int) -> tuple[Hashes, np.uint64]:
        """Return what each byte of eight packed values adds to a sum, and what zeros add."""
        if first in self._kept:
            return self._kept[first]
        columns = np.arange(first, min(first + _COLUMNS, self.matrix.shape[1]))
        no, yes = _binary_terms(columns)
        more = np.zeros(-(-len(columns) // 8) * 8, dtype=np.uint64)
        more[: len(columns)] = yes - no
        bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1)
        terms = more.reshape(-1, 8) @ bits.T.astype(np.uint64), no.sum(dtype=np.uint64)
        if len(self._kept) < _MOST_KEPT:
            self._kept[first] = terms
        return terms


def _column_keys(columns: NDArray[np.intp]) -> Hashes:
    return mixed(columns.astype(np.uint64) << np.uint64(32))


def _binary_terms(columns: NDArray[np.intp]) -> tuple[Hashes, Hashes]:
    """Return the terms of 0 and of 1 in columns."""
    keys = _column_keys(columns)
    no, yes = (mixed(_number_bits(np.array([v], dtype=np.float64)) ^ keys) for v in (0, 1))
    return no, yes


def _bits(values: Values) -> Hashes:
    """Return 64 bits per value, equal for equal values; missing values have any."""
    data = values.data
    if values.kind in _TIMES:
        per_value = int(1 / values.per_unit) * (DAY if values.kind == "date" else 1)
        nanoseconds = data.astype(np.int64).view(np.uint64) * np.uint64(per_value & _MASK)
        return mixed(nanoseconds) ^ _TIME
    if data.dtype.kind == "O":
        return np.array([_object_bits(v) for v in data.tolist()], dtype=np.uint64)
    floats = data.astype(np.float64)
    if values.per_unit != 1:
        floats /= float(values.per_unit)
    elif data.dtype.kind in "iu" and data.dtype.itemsize == 8:
        return _number_bits(floats) + _rounding(data, floats) * _SPREAD
    return _number_bits(floats)


def _number_bits(floats: NDArray[np.float64]) -> Hashes:
    return (floats + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0


def _rounding(whole: NDArray[Any], floats: NDArray[np.float64]) -> Hashes:
    """Return by how much floats differ from the whole numbers that they round, modulo 2**64."""
    large = np.abs(floats) >= _LARGEST_EXACT
    errors = np.zeros(len(whole), dtype=np.uint64)
    if large.any():
        exact = [(v - int(float(v))) & _MASK for v in whole[large].tolist()]
        errors[large] = np.array(exact, dtype=np.uint64)
    return errors


def _object_bits(value: Any) -> int:
    if not isinstance(value, (bool, int, float, Decimal)):
        return 0  # missing
    try:
        rounded = float(value)
    except OverflowError:
        rounded = np.inf if value > 0 else -np.inf
    bits = int(_number_bits(np.array([rounded], dtype=np.float64))[0])
    if isinstance(value, int):
        bits += (value - int(rounded) if np.isfinite(rounded) else value) * int(_SPREAD)
    return bits & _MASK


def _category_bits(categories: list[Any]) -> Hashes:
    """Return 64 bits per category: of texts by their characters, of numbers as in other columns."""
    texts = [str(c).encode("utf-8", "surrogatepass") for c in categories]
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    ends = lengths.cumsum()
    letters = np.frombuffer(b"".join(texts), dtype=np.uint8).astype(np.uint64)
    place = np.arange(len(letters)) - np.repeat(ends - lengths, lengths)
    sums = np.zeros(len(letters) + 1, dtype=np.uint64)
    mixed(letters + (place.astype(np.uint64) << np.uint64(8))).cumsum(out=sums[1:])
    bits: Hashes = mixed(sums[ends] - sums[ends - lengths]) ^ _TEXT
    for i, category in enumerate(categories):
        if not isinstance(category, str):
            bits[i] = _object_bits(category)
    return bits
