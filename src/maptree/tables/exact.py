"""Comparing a column with a number exactly, whatever the types of the two.

Comparing an array of int64 with 45.5 would round the array to float64, where 2**53 and 2**53 + 1
are equal. So the number is rounded instead, down to a value of the array's own type: no value of
that type lies between the two, so the comparison has the same result for every value.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

# A threshold t is the test "x <= t". Infinity is the test "x < inf" instead, because every
# number is <= inf.
Number = int | float | Decimal | Fraction


def floor_to(dtype: np.dtype[Any], threshold: Number, per_unit: Fraction = Fraction(1)) -> Any:
    """Return the largest b of a type for which x <= b is the test; None if there is none.

    ``x`` stands for x / per_unit of the unit that the threshold is in.

    >>> print(floor_to(np.dtype(np.int8), 45.5), floor_to(np.dtype(np.int8), 1e9))
    45 127
    >>> float(floor_to(np.dtype(np.float32), 0.1)), float(np.float32(0.1))
    (0.09999999403953552, 0.10000000149011612)
    >>> print(floor_to(np.dtype(np.int64), Decimal("1.25"), Fraction(100)))
    125
    """
    if dtype.kind == "f" and isinstance(threshold, float) and dtype.itemsize == 8 and per_unit == 1:
        return np.finfo(dtype).max if threshold == math.inf else threshold
    if isinstance(threshold, float) and math.isinf(threshold):
        if threshold > 0:
            return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max
        return dtype.type(-math.inf) if dtype.kind == "f" else None
    exact = Fraction(threshold) * per_unit
    if dtype.kind == "f":
        return _float_at_most(dtype, exact)
    limits = np.iinfo(dtype)
    whole = math.floor(exact)
    return None if whole < limits.min else dtype.type(min(whole, int(limits.max)))


def _float_at_most(dtype: np.dtype[Any], exact: Fraction) -> Any:
    largest = np.finfo(dtype).max
    if exact >= Fraction(float(largest)):
        return largest
    if exact < -Fraction(float(largest)):
        return dtype.type(-math.inf)
    rounded = dtype.type(float(exact))  # to the nearest, so at most one step too high
    if Fraction(float(rounded)) > exact:
        rounded = np.nextafter(rounded, dtype.type(-math.inf))
    return rounded


def exactly(dtype: np.dtype[Any], value: Number, per_unit: Fraction = Fraction(1)) -> Any:
    """Return the b of a type for which x = b is the test for a value; None if there is none.

    >>> print(exactly(np.dtype(np.int8), 3.0), exactly(np.dtype(np.int8), 3.5))
    3 None
    """
    if isinstance(value, float) and not math.isfinite(value):
        return dtype.type(value) if dtype.kind == "f" else None
    exact = Fraction(value) * per_unit
    below = floor_to(dtype, exact)
    if below is None or not np.isfinite(below) or Fraction(below.item()) != exact:
        return None
    return below
