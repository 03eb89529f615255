"""Decimal thresholds where a language has no decimal numbers."""

from __future__ import annotations

from decimal import Decimal

from maptree.encoding.schema import Column, Threshold

# Decimal numbers of so many digits are different floats if they are different.
_DIGITS = 15


def nearest_float(column: Column, threshold: Threshold, target: str) -> float:
    """Return the float for the threshold of a column of decimal numbers that is passed as floats.

    Rounding keeps the order, and tells decimals of up to 15 digits apart: so d <= t and
    float(d) <= float(t) have the same answer.

    >>> from decimal import Decimal
    >>> nearest_float(Column("price", "number", "object"), Decimal("0.125"), "C")
    0.125
    """
    if isinstance(threshold, Decimal) and len(threshold.normalize().as_tuple().digits) > _DIGITS:
        raise ValueError(
            f"Column {column.name!r} is compared with {threshold}: {target} has no decimal "
            f"numbers, and floats hold {_DIGITS} digits. Convert the column to floats or to whole "
            "numbers before fit."
        )
    return float(threshold)
