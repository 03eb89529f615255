"""Columns that users name: by name or number, one or several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral

from maptree.parameters.names import nearest
from maptree.parameters.numbers import bad_type, bad_value


class NoSuchColumn(ValueError):  # noqa: N818 (said of a name, before it is known in which parameter)
    """A name or number that is not that of one column: what is wrong, and what to pass."""

    def __init__(self, fault: str, remedy: str) -> None:
        super().__init__(f"{fault}: {remedy}")
        self.fault = fault
        self.remedy = remedy


def position(key: str | int, names: Sequence[str]) -> int:
    """Return the position of a column.

    >>> position("sex", ["age", "sex"]), position(0, ["age", "sex"])
    (1, 0)
    """
    if isinstance(key, int):
        if 0 <= key < len(names):
            return key
        remedy = f"pass a number from 0 to {len(names) - 1:,}, or a name"
        raise NoSuchColumn("is not about a column of X", remedy)
    places = [j for j, name in enumerate(names) if name == key]
    if len(places) == 1:
        return places[0]
    if places:
        raise NoSuchColumn(f"is about {len(places):,} columns of that name", "pass their numbers")
    meant = " or ".join(map(repr, nearest(key, names)))
    remedy = f"pass {meant} if that is meant" if meant else "pass a column's name or number"
    raise NoSuchColumn("is not about a column of X", remedy)


def read_columns(parameter: str, value: object) -> tuple[str | int, ...]:
    """Return the columns that a parameter names: one, or several; None names none.

    >>> read_columns("first_columns", "age"), read_columns("first_columns", [0, "sex"])
    (('age',), (0, 'sex'))
    """
    if value is None:
        return ()
    remedy = 'pass the name or number of a column, such as "age", or a list of them'
    if isinstance(value, (str, Integral)):
        value = [value]
    unnamed = (Mapping, bytes, bytearray)  # these can be iterated, but name no columns
    if isinstance(value, unnamed) or not isinstance(value, Iterable):
        raise bad_type(parameter, value, "does not name columns", remedy)
    keys: list[str | int] = []
    for key in value:
        if isinstance(key, bool) or not isinstance(key, (str, Integral)):
            raise bad_type(parameter, value, f"has {key!r}, which is not a column", remedy)
        keys.append(str(key) if isinstance(key, str) else int(key))
    if not keys:
        raise bad_value(parameter, value, "names no column", "pass one or more, or None")
    return tuple(keys)


def find_columns(
    parameter: str, keys: Sequence[str | int], names: Sequence[str]
) -> tuple[int, ...]:
    """Return the positions of columns that a parameter names, in the order of the table.

    >>> find_columns("first_columns", ("sex", 0), ["age", "sex", "postcode"])
    (0, 1)
    """
    found = []
    for key in keys:
        try:
            found.append(position(key, names))
        except NoSuchColumn as error:
            raise bad_value(parameter, key, error.fault, error.remedy) from None
    return tuple(sorted(set(found)))


def find_wishes(
    first: Sequence[str | int],
    without: Sequence[str | int],
    names: Sequence[str],
    unused: Iterable[int] = (),
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the positions of ``first_columns`` and ``without_columns``; refuse what contradicts.

    ``unused``: columns of weight 0, which have no tests.

    >>> find_wishes(["age"], [2], ["age", "sex", "postcode"])
    ((0,), (2,))
    """
    come_first = find_columns("first_columns", first, names)
    left_out = find_columns("without_columns", without, names)
    if left_out and not set(range(len(names))) - {*left_out, *unused}:
        remedy = "leave one to test"
        raise bad_value("without_columns", _given(without), "leaves out every column", remedy)
    for j in come_first:
        if j in left_out:
            fault = f"has {names[j]!r}, which without_columns leaves out"
            raise bad_value("first_columns", _given(first), fault, "name it in one of the two")
        if j in unused:
            fault = f"has {names[j]!r}, which has weight 0 in column_weights"
            raise bad_value("first_columns", _given(first), fault, "pass a weight above 0")
    return come_first, left_out


def _given(keys: Sequence[str | int]) -> object:
    return keys[0] if len(keys) == 1 else list(keys)
