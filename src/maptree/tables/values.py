"""A column of any table as one array that sorts like its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

# A category keeps its type. Equal numbers are one category, as in a Python dict.
Category = str | bool | int | float

# Categories that are converted to Python objects at a time.
_BLOCK = 1 << 16


@dataclass(frozen=True)
class Categories(Sequence[Category]):
    """The categories of a column, converted to Python objects only on demand.

    A column of ten million different strings has as many categories, but only their number is
    needed.

    >>> categories = Categories.of(["red", "blue"])
    >>> len(categories), categories[1], list(categories)
    (2, 'blue', ['red', 'blue'])
    """

    size: int
    block: Callable[[int, int], list[Any]]  # start, stop

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
    """Return a category as a Python object; anything but text and numbers becomes text.

    This is how the intervals of ``pandas.cut`` become categories.
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
        "nothing" for a column without a type, because all its values are missing.
    dtype : str
        The type, as the table calls it.
    data : array (rows,)
        Numbers of any type, or Python objects where no type holds them exactly; booleans;
        positions in ``categories`` (-1 where missing); whole numbers for dates and times.
    missing : bool array (rows,) or None
        Where values are missing. None: only where ``data`` is NaN.
    per_unit : Fraction
        How much of ``data`` is one unit of the value: 100 if a decimal number is stored in cents.
        The unit of a date is a day, the unit of other times a nanosecond.
    categories : Categories
        Of a category or an ordered column.
    zone : str or None
        Time zone of a datetime.
    text : bool
        Whether these are categories only because the table has text, and did not declare them.
    """

    kind: str
    dtype: str
    data: NDArray[Any]
    missing: NDArray[np.bool_] | None = None
    per_unit: Fraction = Fraction(1)
    categories: Categories = field(default_factory=lambda: Categories.of(()))
    zone: str | None = None
    text: bool = False

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
