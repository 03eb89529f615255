"""A column of Python objects, or of numpy dates and durations, as values."""

from __future__ import annotations

import datetime as dt
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Complex, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.tables.clock import DAY, SECOND, UNITS
from maptree.tables.deadline import check_deadline, in_pieces
from maptree.tables.values import Categories, Values, none_if_empty, nothing

_EPOCH = dt.datetime(1970, 1, 1)
_EPOCH_UTC = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)

# Type names of pandas' NA and NaT, so that they are recognised without importing pandas.
_MISSING_TYPES = ("NAType", "NaTType", "NoneType", "MaskedConstant")
# Types whose values are compared with themselves in C, without surprises.
_PLAIN = {bool, int, float, str, type(None)}
# Types with a value that stands for a missing one.
_WITH_NAN = (float, np.floating, Decimal, np.datetime64, np.timedelta64)
# Numbers that no array type holds have this many digits at most, before or after the point: a
# threshold between 1 and Decimal("1e100000000") would have a hundred million.
_MOST_DIGITS = 1000
_LARGEST = 10**_MOST_DIGITS
_LARGEST_INT = 2**63 - 1
# The size of a Decimal of that many digits, which tells their number without counting them.
_LARGEST_SIZE = Decimal(10**_MOST_DIGITS - 1).__sizeof__()

_TOO_MANY_DIGITS = (
    f"a number of more than {_MOST_DIGITS:,} digits",
    ": convert the column to float, or leave the row out.",
)
_NO_FLOAT = ", which no float equals: convert the column to float."


def read_objects(
    column: NDArray[np.object_],
    dtype: str,
    where: str,
    masked: NDArray[np.bool_] | None = None,
) -> Values:
    """Convert a column of Python objects to values; ``where`` names it in messages.

    >>> values = read_objects(np.array(["red", None, "blue"], dtype=object), "object", "column 0")
    >>> values.kind, values.data, list(values.categories)
    ('category', array([ 0, -1,  1], dtype=int32), ['red', 'blue'])
    """
    objects = column.tolist()
    missing = find_missing(objects)
    if masked is not None:
        missing |= masked
    present = np.flatnonzero(~missing)
    if len(present) == 0:
        return nothing(len(column), dtype)
    if len(present) < len(column):
        objects = column[present].tolist()
    each = list(map(type, objects))
    families: dict[str, int] = {}  # and the first row of each
    for type_ in set(each):
        row = int(present[each.index(type_)])
        family = _family(column[row])
        families[family] = min(families.get(family, row), row)
    family = _common(families, column, where)
    if family == "text":
        return _text(objects, present, missing, dtype)
    try:
        data, per_unit, zone = _CONVERT[family](objects, where)
    except _UnusableError as error:
        row = int(present[error.position])
        raise ValueError(f"X has {error.what} at row {row}, {where}{error.remedy}") from None
    if len(present) < len(column):
        whole = np.zeros(len(column), dtype=data.dtype)
        whole[present] = data
        if data.dtype.kind == "f":
            whole[missing] = np.nan
        data = whole
    kind = family.removesuffix(" with a time zone")
    return Values(kind, dtype, data, none_if_empty(missing), per_unit, zone=zone)


def read_times(
    data: NDArray[Any],
    dtype: str,
    where: str,
    masked: NDArray[np.bool_] | None = None,
    zone: str | None = None,
) -> Values:
    """Convert an array of numpy dates or durations to values; ``where`` names it in messages.

    >>> read_times(np.array(["2021-03-04", "NaT"], "M8[D]"), "date", "column 0").data[0]
    np.int64(18690)
    """
    missing = np.isnat(data) if masked is None else np.isnat(data) | masked
    unit, step = np.datetime_data(data.dtype)
    kind = "datetime" if data.dtype.kind == "M" else "duration"
    if kind == "datetime" and unit in ("Y", "M", "W"):
        data, unit, step = data.astype("datetime64[D]"), "D", 1
    whole = np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("=")).view(np.int64)
    if kind == "datetime" and unit == "D":
        return Values("date", dtype, whole, none_if_empty(missing), Fraction(1, step))
    if unit not in UNITS:
        raise TypeError(
            f"X holds times in units of {unit!r} in {where}: convert them to nanoseconds "
            f"(astype('{data.dtype.kind}8[ns]'))."
        )
    per_unit = Fraction(1, step * UNITS[unit])
    return Values(kind, dtype, whole, none_if_empty(missing), per_unit, zone=zone)


def find_missing(objects: list[Any]) -> NDArray[np.bool_]:
    """Return which objects stand for missing values, whatever their type.

    >>> find_missing([1.5, None, float("nan"), Decimal("sNaN"), "nan"])
    array([False,  True,  True,  True, False])
    """
    check_deadline()
    each = list(map(type, objects))  # only C functions: several times as fast as a loop
    always = {t for t in set(each) if t.__name__ in _MISSING_TYPES}
    missing = np.fromiter(map(always.__contains__, each), dtype=bool, count=len(each))
    sometimes = tuple(t for t in set(each) if issubclass(t, _WITH_NAN))
    if sometimes == (Decimal,) and len(set(each)) == 1:
        nan = [flag for piece in in_pieces(objects) for flag in map(Decimal.is_nan, piece)]
        missing |= np.array(nan, dtype=bool)
    elif sometimes and set(each) <= _PLAIN:
        nan = [flag for piece in in_pieces(objects) for flag in map(operator.ne, piece, piece)]
        missing |= np.array(nan, dtype=bool)
    elif sometimes:
        nan = [
            isinstance(value, sometimes) and _is_nan(value)
            for piece in in_pieces(objects)
            for value in piece
        ]
        missing |= np.array(nan, dtype=bool)
    return missing


def _is_nan(value: Any) -> bool:
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(value))
    return value.is_nan() if isinstance(value, Decimal) else bool(value != value)


def _family(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (Real, Decimal)) and not isinstance(value, np.timedelta64):
        return "number"
    if isinstance(value, np.datetime64):
        return "date" if np.datetime_data(value)[0] in "YMWD" else "datetime"
    if isinstance(value, dt.datetime):
        return "datetime" if value.tzinfo is None else "datetime with a time zone"
    if isinstance(value, dt.date):
        return "date"
    if isinstance(value, dt.time):
        return "time"
    if isinstance(value, (dt.timedelta, np.timedelta64)):
        return "duration"
    return type(value).__name__


def _common(families: dict[str, int], column: NDArray[np.object_], where: str) -> str:
    """Return the common kind of a column's values; refuse mixtures that cannot be compared."""
    kinds = set(families)
    for family, row in families.items():
        if family not in _CONVERT and family != "text":
            if isinstance(column[row], Complex):
                raise ValueError(
                    f"Complex data not supported: X has {column[row]!r} at row {row}, {where}. "
                    "Pass the real and the imaginary parts as separate columns."
                )
            # scikit-learn's checks look for "argument must be", "string" and "number".
            raise TypeError(
                f"X has {column[row]!r} at row {row}, {where}: the argument must be a column of "
                f"strings, numbers, booleans, dates, times or durations, not of {family}."
            )
    if len(kinds) == 1:
        return kinds.pop()
    for mixture in ({"number", "boolean"}, {"date", "datetime"}):
        if kinds == mixture:
            return "number" if "number" in mixture else "datetime"
    examples = ", ".join(f"{column[row]!r} at row {row}" for row in sorted(families.values()))
    raise TypeError(
        f"X has values of mixed types in {where} ({examples}): convert the column to numbers or "
        "to text, and use None for missing values."
    )


def _text(
    objects: list[Any],
    present: NDArray[np.intp],
    missing: NDArray[np.bool_],
    dtype: str,
) -> Values:
    position = {text: i for i, text in enumerate(dict.fromkeys(objects))}
    data = np.full(len(missing), -1, dtype=np.int32)
    data[present] = np.fromiter(map(position.__getitem__, objects), np.int32, len(objects))
    categories = Categories.of([str(text) for text in position])
    return Values("category", dtype, data, none_if_empty(missing), categories=categories, text=True)


class _UnusableError(Exception):
    """A number that cannot be used: its position among those present, what it is, the remedy."""

    def __init__(self, position: int, what: str, remedy: str) -> None:
        super().__init__(what)
        self.position = position
        self.what = what
        self.remedy = remedy


# Conversions return the array, how much of it is one unit, and the time zone.
Converted = tuple[NDArray[Any], Fraction, str | None]


def _booleans(objects: Sequence[Any], where: str) -> Converted:
    return np.array(objects, dtype=bool), Fraction(1), None


def _numbers(objects: Sequence[Any], where: str) -> Converted:
    """Choose a type that holds all numbers exactly: whole, float, or the objects themselves."""
    types = set(map(type, objects))
    if types == {float}:
        return np.array(objects, dtype=np.float64), Fraction(1), None
    if types == {int} and -_LARGEST_INT <= min(objects) <= max(objects) <= _LARGEST_INT:
        return np.array(objects, dtype=np.int64), Fraction(1), None
    plain: list[int | float | Decimal] = []
    for piece in in_pieces(objects):
        try:
            plain += map(_plain_number, piece)
        except (ValueError, OverflowError):
            raise _unusable(objects, len(plain)) from None
    types = set(map(type, plain))
    if types == {int}:
        for dtype in (np.int64, np.uint64):
            limits = np.iinfo(dtype)
            if min(plain) >= limits.min and max(plain) <= limits.max:
                return np.array(plain, dtype=dtype), Fraction(1), None
    elif Decimal not in types and all(map(_is_float, plain)):
        return np.array(plain, dtype=np.float64), Fraction(1), None
    check_deadline()
    if Decimal in types:
        _refuse_many_digits(plain)
    exact = np.empty(len(plain), dtype=object)
    exact[:] = plain
    return exact, Fraction(1), None


def _refuse_many_digits(numbers: Sequence[Any]) -> None:
    decimals = [number for number in numbers if type(number) is Decimal]
    if max(map(Decimal.__sizeof__, decimals)) <= _LARGEST_SIZE:
        return
    for position, number in enumerate(numbers):
        if type(number) is Decimal and len(number.as_tuple().digits) > _MOST_DIGITS:
            raise _UnusableError(position, *_TOO_MANY_DIGITS)


def _unusable(objects: Sequence[Any], start: int) -> _UnusableError:
    """Return the error for the first number, from a position on, that cannot be converted."""
    for position in range(start, len(objects)):
        try:
            _plain_number(objects[position])
        except OverflowError:
            return _UnusableError(position, *_TOO_MANY_DIGITS)
        except ValueError:
            value = objects[position]
            return _UnusableError(position, repr(value), _NO_FLOAT)
    raise AssertionError("every number can be converted")


def _is_float(value: int | float | Decimal) -> bool:
    try:
        return isinstance(value, float) or int(float(value)) == value
    except OverflowError:
        return False


def _plain_number(value: Any) -> int | float | Decimal:
    """Return a number in a type that holds it.

    An OverflowError says that it has too many digits, a ValueError that no float equals it.
    """
    if type(value) is Decimal or isinstance(value, Decimal):
        if not value.is_finite():
            return float(value)
        if not value:
            return 0  # which Decimal("0E-100000000") is, too
        if not -_MOST_DIGITS <= value.adjusted() < _MOST_DIGITS:
            raise OverflowError
        return Decimal(value)
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        whole = int(value)
        if not -_LARGEST < whole < _LARGEST:
            raise OverflowError
        return whole
    if isinstance(value, Fraction) and max(abs(value.numerator), value.denominator) >= _LARGEST:
        raise OverflowError
    rounded = float(value)
    if rounded != value:  # a fraction, or a long double
        raise ValueError
    return rounded


def _dates(objects: Sequence[Any], where: str) -> Converted:
    days = [
        int(v.astype("datetime64[D]").astype(np.int64))
        if isinstance(v, np.datetime64)
        else v.toordinal() - _EPOCH.toordinal()
        for v in objects
    ]
    return np.array(days, dtype=np.int64), Fraction(1), None


def _datetimes(objects: Sequence[Any], where: str) -> Converted:
    return *_whole([_point(value, _EPOCH) for value in objects]), None


def _datetimes_in_zone(objects: Sequence[Any], where: str) -> Converted:
    zone = objects[0].tzinfo
    name = getattr(zone, "key", None) or getattr(zone, "zone", None) or str(zone)
    return *_whole([_point(value, _EPOCH_UTC) for value in objects]), name


def _point(value: Any, epoch: dt.datetime) -> int:
    if isinstance(value, np.datetime64):
        unit, step = np.datetime_data(value)
        if unit in "YMW":
            value, unit, step = value.astype("datetime64[D]"), "D", 1
        return _in_nanoseconds(int(value.astype(np.int64)), unit, step)
    if not isinstance(value, dt.datetime):
        return int(value.toordinal() - epoch.toordinal()) * DAY
    if type(value) is dt.datetime:
        return _nanoseconds(value - epoch)
    # A pandas Timestamp: it has nanoseconds, and its differences are not Python's timedelta.
    stamp: Any = value
    return _nanoseconds(stamp.to_pydatetime(warn=False) - epoch) + int(stamp.nanosecond)


def _nanoseconds(difference: dt.timedelta) -> int:
    return int(difference // dt.timedelta(microseconds=1)) * 1000


def _times(objects: Sequence[Any], where: str) -> Converted:
    for value in objects:
        if value.tzinfo is not None:
            raise TypeError(
                f"X has {value!r} in {where}: times of day with a time zone cannot be ordered. "
                "Pass them without a zone, or as datetimes."
            )
    times = [
        ((v.hour * 60 + v.minute) * 60 + v.second) * SECOND + v.microsecond * 1000 for v in objects
    ]
    return np.array(times, dtype=np.int64), Fraction(1), None


def _durations(objects: Sequence[Any], where: str) -> Converted:
    durations = []
    for value in objects:
        if isinstance(value, np.timedelta64):
            unit, step = np.datetime_data(value)
            durations.append(_in_nanoseconds(int(value.astype(np.int64)), unit, step))
        else:
            durations.append(_nanoseconds(value) + int(getattr(value, "nanoseconds", 0)))
    return *_whole(durations), None


def _in_nanoseconds(count: int, unit: str, step: int) -> int:
    if unit not in UNITS:
        raise TypeError(f"X has times in units of {unit!r}: convert them to nanoseconds ('ns').")
    return count * step * UNITS[unit]


def _whole(nanoseconds: Sequence[int]) -> tuple[NDArray[np.int64], Fraction]:
    """Return whole numbers in the finest unit in which all fit into 64 bits, and that unit."""
    limit = np.iinfo(np.int64).max
    for unit in (1, 10**3, 10**6, SECOND):
        inside = min(nanoseconds) >= -limit * unit and max(nanoseconds) <= limit * unit
        if inside and all(value % unit == 0 for value in nanoseconds):
            numbers = [value // unit for value in nanoseconds]
            return np.array(numbers, dtype=np.int64), Fraction(1, unit)
    raise ValueError("X has times too far apart to compare: convert them to one unit.")


_CONVERT: dict[str, Callable[[Sequence[Any], str], Converted]] = {
    "boolean": _booleans,
    "number": _numbers,
    "date": _dates,
    "datetime": _datetimes,
    "datetime with a time zone": _datetimes_in_zone,
    "time": _times,
    "duration": _durations,
}
