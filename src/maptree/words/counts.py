"""Counts and times in words."""

from __future__ import annotations


def count(n: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> count(1, "leaf", "leaves"), count(2000, "row")
    ('1 leaf', '2,000 rows')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def seconds_text(seconds: float) -> str:
    """Return a time with its unit.

    >>> seconds_text(0.0123), seconds_text(9.96), seconds_text(432)
    ('0.012 s', '10 s', '7 min 12 s')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 9.95 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes / 60:.1f} h"
