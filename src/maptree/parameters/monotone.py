"""Monotone wishes: the direction in which a probability may change with a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral

from maptree.parameters.names import nearest
from maptree.parameters.numbers import bad_type, bad_value

_NAME = "monotone"
_DIRECTION = "pass 1 (must not fall) or -1 (must not rise)"


def read_monotone(value: object, names: Sequence[str]) -> dict[int, int]:
    """Return a direction, 1 or -1, for each column of a wish, by the number of the column.

    >>> read_monotone({"age": 1, 2: -1}, ["age", "sex", "income"])
    {0: 1, 2: -1}
    """
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        remedy = 'pass a dict of columns and directions, such as {"age": 1}'
        raise bad_type(_NAME, value, "is not a dict", remedy)
    wishes: dict[int, int] = {}
    for key, direction in value.items():
        column = _find(key, names)
        if isinstance(direction, bool) or not isinstance(direction, Integral):
            raise bad_type(f"{_NAME}[{key!r}]", direction, "is not a direction", _DIRECTION)
        if direction not in (1, -1):
            raise bad_value(f"{_NAME}[{key!r}]", direction, "is not a direction", _DIRECTION)
        if column in wishes:
            fault = f"has two wishes about {names[column]!r}"
            raise bad_value(_NAME, value, fault, "pass one")
        wishes[column] = int(direction)
    return wishes


def _find(key: object, names: Sequence[str]) -> int:
    """Return the number of a column, given by name or number."""
    if isinstance(key, bool) or not isinstance(key, (str, Integral)):
        raise bad_type(_NAME, key, "is not a column", "pass names or numbers of columns")
    if isinstance(key, str):
        places = [j for j, name in enumerate(names) if name == key]
        if len(places) == 1:
            return places[0]
        meant = " or ".join(map(repr, nearest(key, names)))
        remedy = f"pass {meant} if that is meant" if meant else "pass a column's name or number"
        fault = "is the name of several columns" if places else "is not a column of X"
        raise bad_value(_NAME, key, fault, "pass their numbers" if places else remedy)
    if not 0 <= int(key) < len(names):
        remedy = f"pass a number from 0 to {len(names) - 1:,}, or a name"
        raise bad_value(_NAME, key, "is not a column of X", remedy)
    return int(key)
