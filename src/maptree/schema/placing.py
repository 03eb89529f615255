"""Where thresholds lie: in the gap between two neighbouring values of a column.

A threshold is near the middle of its gap and so that its text is short and exact: for floats
(``float_thresholds``), for decimal numbers and whole numbers too large for floats
(``exact_threshold``), for days (``day_threshold``) and for times (``time_threshold``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from maptree.schema.columns import Threshold
from maptree.schema.on_demand import OnDemand
from maptree.tables.clock import DAY, SECOND, zone_offset

# Every whole number up to this one is exact as a float.
_FLOATS = 2**53
# Nanoseconds in a day, an hour, a minute, a second, and so on down to one.
_ROUND_TIMES = (DAY, 3_600 * SECOND, 60 * SECOND, SECOND, 10**6, 10**3, 1)


@dataclass(frozen=True, eq=False, repr=False)
class EveryThreshold(OnDemand[Threshold]):
    """A threshold between every two neighbouring values of a column, placed when it is looked at.

    ``values`` are the distinct values of the column, increasing, in its own type; ``per_unit`` of
    them are one unit, as in ``Values``.

    >>> EveryThreshold("number", np.array([30, 45, 46]))
    (37.5, 45.5)
    """

    kind: str
    values: NDArray[Any]
    per_unit: Fraction = Fraction(1)
    zone: str | None = None

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    def __len__(self) -> int:
        return len(self.values) - 1

    def _block(self, start: int, stop: int) -> list[Threshold]:
        values = in_units(self.values[start : stop + 1], self.per_unit)
        return list(place(self.kind, self.zone, values[:-1], values[1:], self.as_floats))

    @cached_property
    def as_floats(self) -> bool:
        """Whether floats hold the values: of all, so that thresholds do not depend on others."""
        if self.kind != "number" or self.per_unit != 1:
            return False
        some = self.values if self.values.dtype.kind == "O" else self.values[[0, -1]]
        return fit_floats(some.tolist())


@dataclass(frozen=True, eq=False, repr=False)
class ReadAgain(OnDemand[Threshold]):
    """A threshold between every two neighbouring numbers of a column, whose values are not kept.

    ``read`` returns them again, row by row: the caller holds the table while it is fitted.
    ``digest`` tells whether they are the same (``digest_of``).

    >>> column = np.array([45, 30, 46, 30])
    >>> thresholds = ReadAgain(lambda: column, 2, True, digest_of(column))
    >>> thresholds, thresholds.beside([(3, 0)])
    ((37.5, 45.5), [37.5])
    """

    read: Callable[[], NDArray[Any]]
    size: int
    as_floats: bool
    digest: int

    def __len__(self) -> int:
        return self.size

    def _block(self, start: int, stop: int) -> list[Threshold]:
        return list(self._all[start:stop])

    @cached_property
    def _all(self) -> EveryThreshold:
        values = self._values()
        return EveryThreshold("number", np.unique(values[values == values]))  # not NaN

    def _values(self) -> NDArray[Any]:
        values = self.read()
        if digest_of(values) != self.digest:
            raise ValueError(
                "X was changed while it was fitted, so there is no tree for it: fit again, and "
                "pass a copy if a callback or another thread writes to the table."
            )
        return values

    def beside(self, rows: list[tuple[int, int]]) -> list[Threshold]:
        """Return thresholds, each by a row with the value below it and one with that above."""
        low, high = self._values()[np.array(rows).T].tolist()
        return list(place("number", None, low, high, self.as_floats))


def digest_of(values: NDArray[Any]) -> int:
    """Return a checksum of the bytes of an array of numbers."""
    return crc32(np.ascontiguousarray(values).data)


def in_units(values: NDArray[Any], per_unit: Fraction) -> list[Any]:
    """Return values as Python numbers in their unit: ints, floats or Decimals.

    >>> in_units(np.array([125]), Fraction(100))
    [Decimal('1.25')]
    """
    numbers: list[Any] = values.tolist()
    if per_unit == 1:
        return numbers
    if per_unit < 1:  # days, seconds and so on: whole nanoseconds
        return [number * per_unit.denominator for number in numbers]
    places = len(str(per_unit.numerator)) - 1
    return [Decimal(f"{number}E-{places}") for number in numbers]


def fit_floats(numbers: list[Any]) -> bool:
    """Return whether numbers are floats, or whole numbers that are exact as floats."""
    floats = all(isinstance(number, float) for number in numbers)
    return floats or all(isinstance(number, int) and abs(number) <= _FLOATS for number in numbers)


def place(
    kind: str, zone: str | None, low: list[Any], high: list[Any], as_floats: bool
) -> tuple[Threshold, ...]:
    """Return a threshold for every gap, given the values below and above it."""
    if kind == "number" and as_floats:
        return tuple(float_thresholds(np.array(low, float), np.array(high, float)).tolist())
    if kind == "sets":
        return tuple(low)  # categories of equal rates follow each other, and the last has the place
    pairs = zip(low, high, strict=True)
    if kind == "number":
        return tuple(exact_threshold(a, b) for a, b in pairs)
    if kind in ("datetime", "time", "duration"):
        offset = zone_offset(zone)
        return tuple(time_threshold(a, b, offset) for a, b in pairs)
    return tuple(day_threshold(a, b) for a, b in pairs)  # or a position among ordered categories


def float_thresholds(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return thresholds t with low <= t < high: the middle, in as few digits as are needed.

    Below infinity it is infinity, which stands for the test "is less than infinity".

    >>> float_thresholds(np.array([45.0, 0.0]), np.array([46.0, 1 / 3]))
    array([45.5  ,  0.167])
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # Half of each, not half of the sum or the difference: those overflow for huge values.
        middle = low / 2 + high / 2
        gap = high - low
        digits = np.ceil(-np.log10(gap * 0.02))
        scale = 10.0 ** np.abs(digits)
        short = np.where(
            digits > 0, np.rint(middle * scale) / scale, np.rint(middle / scale) * scale
        )
        # Beyond 2**53 the scaled number has no fraction to round; 10**22 is the last exact power.
        exact = (np.abs(middle * scale) < 2.0**53) & (np.abs(digits) <= 22)
        short = np.where(exact & (np.abs(short - middle) <= gap * 0.01), short, middle)
    threshold = np.where((low <= short) & (short < high), short, middle)
    # Between neighbouring floats the middle rounds to one of them; it must not be the upper one.
    result: NDArray[np.float64] = np.where((low <= threshold) & (threshold < high), threshold, low)
    # Next to an infinity there is no middle: the threshold separates the infinity from all other
    # numbers, and the two infinities by their sign.
    result = np.where(np.isinf(high), np.where(np.isinf(low), 0.0, np.inf), result)
    return result + 0.0  # not -0.0


def exact_threshold(low: Threshold, high: Threshold) -> Threshold:
    """Return a threshold t with low <= t < high, near the middle and of few digits.

    >>> exact_threshold(2**60, 2**60 + 1), exact_threshold(10**20, 3 * 10**20)
    (1152921504606846976, 200000000000000000000)
    >>> exact_threshold(Decimal("0.10"), Decimal("0.15"))
    Decimal('0.125')
    """
    if low == float("-inf"):
        return 0.0 if high == float("inf") else float("-inf")
    if high == float("inf"):
        return float("inf")
    bottom, top = Fraction(low), Fraction(high)
    gap, middle = top - bottom, (bottom + top) / 2
    whole = isinstance(low, int) and isinstance(high, int)
    # The largest power of ten with a multiple near enough to the middle.
    power = len(str(int(gap))) if gap >= 1 else 0
    while True:
        unit = Fraction(10) ** power
        rounded = round(middle / unit) * unit
        if abs(rounded - middle) <= gap / 100 and bottom <= rounded < top:
            break
        if whole and power == 0:
            return math.floor(middle)
        power -= 1
    if rounded.denominator == 1:
        return int(rounded)
    digits = int(rounded / unit)
    return Decimal(f"{digits}E{power}")


def day_threshold(low: int, high: int) -> int:
    """Return a day d with low <= d < high, in the middle."""
    return low + (high - low) // 2


def time_threshold(low: int, high: int, offset: Callable[[int], int] = lambda _: 0) -> int:
    """Return a time t with low <= t < high, in nanoseconds, near the middle and round.

    ``offset`` gives the zone's offset from UTC, which determines what is round.

    >>> hour = 3_600_000_000_000
    >>> time_threshold(9 * hour + 1, 17 * hour + 5) / hour
    13.0
    """
    gap, middle = high - low, low + (high - low) // 2
    ahead = offset(middle)
    for unit in _ROUND_TIMES:
        rounded = (middle + ahead + unit // 2) // unit * unit - ahead
        if 100 * abs(rounded - middle) <= gap and low <= rounded < high:
            return rounded
    return middle
