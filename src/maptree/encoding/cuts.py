"""Where in a gap between two values to cut, so that the text of the test is short and exact.

For arrays of floats see ``thresholds.place_cuts``; here are whole numbers beyond those that floats
hold, decimal numbers, and times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

_SECOND = 10**9
# Nanoseconds in a day, an hour, a minute, a second, and so on down to one.
_ROUND = (86_400 * _SECOND, 3_600 * _SECOND, 60 * _SECOND, _SECOND, 10**6, 10**3, 1)


def cut_numbers(low: int | float | Decimal, high: int | float | Decimal) -> int | float | Decimal:
    """Return a threshold t with low <= t < high, near the middle and of few digits.

    >>> cut_numbers(2**60, 2**60 + 1), cut_numbers(10**20, 3 * 10**20)
    (1152921504606846976, 200000000000000000000)
    >>> cut_numbers(Decimal("0.10"), Decimal("0.15"))
    Decimal('0.125')
    """
    if low == float("-inf"):
        return 0.0 if high == float("inf") else float("-inf")
    if high == float("inf"):
        return float("inf")
    bottom, top = Fraction(low), Fraction(high)
    gap, middle = top - bottom, (bottom + top) / 2
    whole = isinstance(low, int) and isinstance(high, int)
    # The first power of ten from above whose multiple nearest to the middle is near enough.
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


def cut_days(low: int, high: int) -> int:
    """Return a day d with low <= d < high, in the middle."""
    return low + (high - low) // 2


def cut_times(low: int, high: int, offset: Callable[[int], int] = lambda _: 0) -> int:
    """Return a time t with low <= t < high, in nanoseconds, near the middle and round.

    ``offset`` says by how much a clock there is ahead, which decides what is round.

    >>> hour = 3_600_000_000_000
    >>> cut_times(9 * hour + 1, 17 * hour + 5) / hour
    13.0
    """
    gap, middle = high - low, low + (high - low) // 2
    ahead = offset(middle)
    for unit in _ROUND:
        rounded = (middle + ahead + unit // 2) // unit * unit - ahead
        if 100 * abs(rounded - middle) <= gap and low <= rounded < high:
            return rounded
    return middle
