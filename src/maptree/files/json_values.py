"""Checks of values read from JSON. The ValueError says what is wrong, and where."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

# More numbers than this with one hash were chosen for it: of 64-bit numbers, nine have it.
_EQUAL_HASHES = 64


def fields(
    value: object, where: str, names: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, Any]:
    """Return an object that has exactly these fields, and possibly the optional ones."""
    if not isinstance(value, dict):
        raise ValueError(f"{where} is {show(value)}: it must have the fields {', '.join(names)}.")
    missing = [name for name in names if name not in value]
    unknown = [str(name) for name in value if name not in (*names, *optional)]
    if missing or unknown:
        what = (
            f"is missing {', '.join(missing)}" if missing else f"has unknown {', '.join(unknown)}"
        )
        raise ValueError(f"{where} {what}: its fields are {', '.join(names)}.")
    return value


def items(value: object, where: str, length: int | None = None) -> list[Any]:
    """Return a list, of this length if one is given."""
    if not isinstance(value, list):
        raise ValueError(f"{where} is {show(value)}: it must be a list.")
    if length is not None and len(value) != length:
        raise ValueError(f"{where} has {len(value)} entries: it must have {length}.")
    return value


def text(value: object, where: str) -> str:
    """Return a string."""
    if not isinstance(value, str):
        raise ValueError(f"{where} is {show(value)}: it must be text.")
    return value


def boolean(value: object, where: str) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{where} is {show(value)}: it must be true or false.")
    return value


def whole(value: object, where: str, least: int, most: int) -> int:
    """Return a whole number from ``least`` to ``most``.

    >>> whole(True, "tree.left[2]", 0, 9)
    Traceback (most recent call last):
    ValueError: tree.left[2] is True: it must be a whole number from 0 to 9.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(
            f"{where} is {show(value)}: it must be a whole number from {least} to {most}."
        )
    return value


def number(value: object, where: str, least: float = -math.inf, most: float = math.inf) -> float:
    """Return a finite number from ``least`` to ``most``."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            finite = float(value)
        except OverflowError:
            finite = math.inf
        if math.isfinite(finite) and least <= finite <= most:
            return finite
    span = "" if math.isinf(least) and math.isinf(most) else f" from {least:g} to {most:g}"
    raise ValueError(f"{where} is {show(value)}: it must be a finite number{span}.")


def number_or_infinity(value: object, where: str) -> float:
    """Return a number; infinities are text, as ``write_number`` writes them."""
    if isinstance(value, str) and value in ("inf", "-inf"):
        return float(value)
    return number(value, where)


def write_number(value: float) -> float | str:
    """Return a number for JSON, which has no infinities.

    >>> write_number(1.5), write_number(-math.inf)
    (1.5, '-inf')
    """
    return str(value) if math.isinf(value) else value


def repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs a second time.

    >>> repeated(["a", "b", "a"])
    'a'
    """
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def refuse_equal_hashes(values: Iterable[object], where: str) -> None:
    """Refuse numbers of which many have one hash: each look-up would compare one with them all."""
    counts = Counter(hash(value) for value in values if not isinstance(value, str))
    if counts and max(counts.values()) > _EQUAL_HASHES:
        raise ValueError(f"{where} has more than {_EQUAL_HASHES} numbers with the same hash.")


def show(value: object) -> str:
    """Show a value in a message, shortened: a file may hold anything."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"  # Python does not write the longest ones
    written = repr(value)
    return written if len(written) <= 60 else f"{written[:57]}..."
