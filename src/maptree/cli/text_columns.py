"""The types of text columns: plain numbers, booleans, dates and times as in ISO 8601, or text.

A column has a type if all its values, without blanks around them, have that type. Text keeps its
blanks, as it does in data frames and databases. 01234 is not a number: postcodes and
identifiers with leading zeros stay text. What else people write for numbers and dates is read in
``tables/writing.py``, for every kind of table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from maptree.cli.mistakes import Refusal
from maptree.schema.kept_thresholds import Kept

if TYPE_CHECKING:
    from maptree.schema.columns import Column

_WHOLE = r"^[+-]?(0|[1-9][0-9]*)$"
NUMBER = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$|^[+-]?(?i:inf|infinity)$"
_ANY_NUMBER = NUMBER.replace("(0|[1-9][0-9]*)", "[0-9]+")
_WHOLE_OR_INFINITE = r"^[+-]?([0-9]+|(?i:inf|infinity))$"
# Where the comma is the decimal mark: 1.234 and 1.234,5.
_WITH_GROUPS = r"^[+-]?(0|[1-9][0-9]*|[1-9][0-9]{0,2}(\.[0-9]{3})+)(,[0-9]+)?$"
_BOOLEAN = r"^(?i:true|false)$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_TIME = r"^[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$"
_DATETIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_ZONED = _DATETIME + r" ?(Z|[+-][0-9]{2}:?[0-9]{2})$"

Convert = Callable[[Any], Any]


def _whole(column: Any) -> Any:
    return pc.replace_substring_regex(column, r"^\+", "").cast(pa.int64())


def _number(column: Any) -> Any:
    return pc.replace_substring_regex(column, r"^\+", "").cast(pa.float64())


def _any_number(column: Any, about: Column) -> Any:
    """Read numbers so that the result for a row does not depend on the other rows.

    A column that was fitted as floats is read as floats. Others are read as whole numbers, which
    is exact beyond 2**53. Values beyond 64 bits or infinite become the largest 64-bit number of
    their sign, which gives the same answers. Only if some values are fractions does the whole
    column become floats.
    """
    if about.dtype.lower().startswith(("float", "double")):
        return _number(column)
    try:
        return _whole(column)
    except pa.ArrowInvalid:
        numbers = _number(column)
    thresholds = about.thresholds.items if isinstance(about.thresholds, Kept) else about.thresholds
    asked = (*thresholds, *about.categories)
    far = any(abs(float(value)) >= 2**62 for value in asked)
    if far or not _all(column, _WHOLE_OR_INFINITE):
        return numbers
    beyond = pc.greater_equal(pc.abs(numbers), 2.0**63)
    last = pc.if_else(pc.greater(numbers, 0), pa.scalar(2**63 - 1), pa.scalar(-(2**63)))
    return pc.if_else(beyond, last, _whole(pc.if_else(beyond, "0", column)))


def _boolean(column: Any) -> Any:
    return pc.equal(pc.utf8_lower(column), "true")


def _date(column: Any) -> Any:
    return column.cast(pa.date32())


def _datetime(column: Any) -> Any:
    return column.cast(pa.timestamp("us"))


def _zoned(column: Any) -> Any:
    return pc.replace_substring(column, " +", "+").cast(pa.timestamp("us", "UTC"))


def _time(column: Any) -> Any:
    return (
        pc.binary_join_element_wise("1970-01-01", column, " ")
        .cast(pa.timestamp("us"))
        .cast(pa.time64("us"))
    )


TIMES = ("date", "datetime", "time")
# In the order in which they are tried.
_NUMBERS: tuple[tuple[str, Convert], ...] = (
    (_BOOLEAN, _boolean),
    (_WHOLE, _whole),
    (NUMBER, _number),
)
_TIMES: tuple[tuple[str, Convert], ...] = (
    (_DATE, _date),
    (_DATETIME + "$", _datetime),
    (_ZONED, _zoned),
    (_TIME, _time),
)
# By kind of a fitted column: the form of its values, how to read them (None: as numbers of the
# fitted type), and what messages call them.
_KINDS: dict[str, tuple[tuple[tuple[str, Convert | None], ...], str]] = {
    "number": (((_ANY_NUMBER, None), (_BOOLEAN, _boolean)), "numbers"),
    "boolean": (((_BOOLEAN, _boolean), (_ANY_NUMBER, None)), "true and false"),
    "date": (((_DATE, _date), (_DATETIME + "$", _datetime)), "dates such as 2021-03-04"),
    "datetime": (((_DATETIME + "$", _datetime), (_DATE, _date)), "times such as 2021-03-04 12:30"),
    "zoned": (((_ZONED, _zoned),), "times with a zone such as 2021-03-04 12:30Z"),
    "time": (((_TIME, _time),), "times of day such as 12:30"),
    "duration": ((), "durations, which CSV has no form for (use Parquet)"),
}


def infer(column: Any, decimal: str | None = None, only_times: bool = False) -> Any:
    """Infer the type of a text column and convert it; ``only_times`` for formats with numbers.

    >>> infer(pa.chunked_array([["1", None, "25"]])).type, infer(pa.chunked_array([["01"]])).type
    (DataType(int64), DataType(string))
    """
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])
    trimmed = column if only_times else pc.utf8_trim_whitespace(column)
    read = _with_points(trimmed, decimal)
    if decimal == "," and _has(trimmed, ".") and _all(trimmed, _WITH_GROUPS):
        return column  # read later, with points between thousands
    for form, convert in _TIMES if only_times else (*_NUMBERS, *_TIMES):
        if _all(read, form):
            try:
                return convert(read)
            except pa.ArrowInvalid:  # February 30th, numbers of 20 digits
                return column
    return column


def as_fitted(column: Any, about: Column, decimal: str | None = None) -> Any:
    """Convert a text column to the type it had when a model was fitted."""
    if about.writing is not None:
        return column  # which the model reads
    if not about.tests or column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))]) if not about.tests else column
    kind = about.kind
    if kind in ("category", "ordered", "sets"):
        if any(isinstance(category, str) for category in about.categories):
            return column
        kind = "boolean" if isinstance(about.categories[0], bool) else "number"
    if kind not in _KINDS:  # constant except for missing values
        return column
    column = pc.utf8_trim_whitespace(column)
    forms, called = _KINDS["zoned" if about.zone is not None else kind]
    read = _with_points(column, decimal) if kind in ("number", "boolean") else column
    for form, convert in forms:
        if _all(read, form):
            try:
                return convert(read) if convert is not None else _any_number(read, about)
            except pa.ArrowInvalid:
                break
    commas = ""
    if kind in ("number", "boolean") and _has_commas(column):
        commas = " Pass --decimal , for decimal commas, or remove them if they separate thousands."
    row = _first_other(read, [form for form, _ in forms])
    raise Refusal(
        f"Column {about.name!r} has {column[row].as_py()!r} in row {row + 1:,}, but the model was "
        f"fitted on {called}. Fix the value; if it is missing, leave the cell empty or pass its "
        f"word with --missing.{commas}"
    )


def _has_commas(column: Any) -> bool:
    """Return whether every value of a text column is a number, with a comma in some.

    >>> _has_commas(pa.chunked_array([["1,5", "2"]])), _has_commas(pa.chunked_array([["1", "2"]]))
    (True, False)
    """
    return _all(column, r"^[+-]?[0-9]+(,[0-9]+)*$") and _has(column, ",")


def _has(column: Any, mark: str) -> bool:
    return bool(pc.any(pc.match_substring(column, mark)).as_py())


def _all(column: Any, form: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, form)).as_py())


def _first_other(column: Any, forms: list[str]) -> int:
    for form in forms[:1]:
        other = pc.invert(pc.match_substring_regex(column, form)).fill_null(False)
        row = pc.index(other, True).as_py()
        if row >= 0:
            return int(row)
    return int(pc.index(pc.is_valid(column), True).as_py())


def _with_points(column: Any, decimal: str | None) -> Any:
    if decimal != ",":
        return column
    commas = pc.match_substring_regex(column, r"^[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?$")
    return pc.if_else(commas, pc.replace_substring(column, decimal, "."), column)
