"""A column of any table as one array whose order is that of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

# A category keeps its type. Numbers that are equal are one category, as in a Python dict.
Category = str | bool | int | float

# Categories that are turned into Python objects together.
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Categories(Sequence[Category]):
    """The categories of a column, made into Python objects only when they are asked for.

    A column of ten million different texts has as many categories, and all that is needed of them
    is their number.

    >>> categories = Categories.of(["red", "blue"])
    >>> len(categories), categories[1], list(categories)
    (2, 'blue', ['red', 'blue'])
    """

    size: int
    block: Callable[[int, int], list[Any]]  # from, to (not included)

    @classmethod
    def of(cls, values: Sequence[Any]) -> Categories:
        """Wrap a list."""
        return cls(len(values), lambda start, stop: list(values[start:stop]))

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, index: int) -> Category: ...
    @overload
    def __getitem__(self, index: slice) -> list[Category]: ...
    def __getitem__(self, index: int | slice) -> Category | list[Category]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self.size)
            return [_plain(value) for value in self.block(start, stop)][::step]
        return _plain(self.block(index, index + 1)[0])

    def __iter__(self) -> Iterator[Category]:
        for start in range(0, self.size, _BLOCK):
            yield from self[start : start + _BLOCK]


def _plain(value: Any) -> Category:
    """Return a category as a Python object; one that is neither text nor a number as its text.

    That is how the intervals that ``pandas.cut`` makes become categories.
    """
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (str, bool, int, float)) else str(value)


@dataclass(frozen=True)
class Values:
    """The values of one column.

    Attributes
    ----------
    kind : str
        "number", "boolean", "category", "ordered", "date", "datetime", "time", "duration", or
        "nothing" for a column that has no type because nothing is in it.
    dtype : str
        What the table calls the type.
    data : array (rows,)
        Numbers of any type, or Python objects where no type holds them exactly; booleans;
        positions in ``categories`` (-1 where missing); whole numbers for dates and times.
    missing : bool array (rows,) or None
        Where a value is missing. None: nowhere but at NaN in ``data``.
    per_unit : Fraction
        How much of ``data`` is one unit of the value: 100 for cents of a decimal number. The unit
        of a date is the day, that of other times a nanosecond.
    categories : Categories
        Of a category or an ordered column.
    zone : str or None
        Time zone of a datetime.
    """

    kind: str
    dtype: str
    data: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    per_unit: Fraction = Fraction(1)
    categories: Categories = field(default_factory=lambda: Categories.of(()))
    zone: str | None = None

    def __len__(self) -> int:
        return len(self.data)

    def is_missing(self) -> NDArray[np.bool_]:
        """Return where values are missing."""
        if self.missing is not None:
            return self.missing
        if self.data.dtype.kind == "f":
            nan: NDArray[np.bool_] = np.isnan(self.data)
            return nan
        return np.zeros(len(self.data), dtype=bool)

    def present(self, counted: NDArray[np.bool_] | None = None) -> NDArray[np.bool_] | None:
        """Return where there is a value, among the rows that count; None: everywhere."""
        mask: NDArray[np.bool_] | None = None
        if self.missing is not None:
            mask = ~self.missing
        elif self.data.dtype.kind == "f":
            nan = np.isnan(self.data)
            mask = ~nan if nan.any() else None
        if counted is None or mask is None:
            return counted if mask is None else mask
        return mask & counted

    def keep(self, rows: NDArray[Any] | slice | None) -> Values:
        """Return the values of some rows; None: of all."""
        if rows is None:
            return self
        missing = None if self.missing is None else self.missing[rows]
        return replace(self, data=self.data[rows], missing=missing)


def nothing(n_rows: int, dtype: str) -> Values:
    """Return a column in which every value is missing."""
    return Values("nothing", dtype, np.zeros(n_rows, dtype=np.int8), np.ones(n_rows, dtype=bool))


def none_if_empty(missing: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return a mask of missing values, or None where nothing is missing."""
    return missing if missing.any() else None
