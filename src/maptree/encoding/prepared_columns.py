"""A column of a table, ready to be compared with the tests of a fitted column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.schema.columns import IN_ORDER, Column, Test
from maptree.tables.clock import DAY
from maptree.tables.deadline import check_deadline
from maptree.tables.exact import exactly, floor_to
from maptree.tables.row_hashes import RowHashes
from maptree.tables.values import Categories, Values

# Rows compared together: a whole number of bytes of packed answers, and few enough for the cache.
_BLOCK = 1 << 15
# Answers of a block at most, where a column has many tests.
_ANSWERS = 1 << 24

# The position of categories that were seen but have no test; that of unknown ones is -1.
_OTHER = -2

# Values, the comparison, the bound as an array of one value, and where values are missing.
PlainTest = tuple[NDArray[Any], str, NDArray[Any], NDArray[np.bool_] | None]

_KIND_WORDS = {
    "number": "numbers",
    "boolean": "booleans",
    "category": "text or categories",
    "ordered": "categories",
    "sets": "text or categories",
    "date": "dates",
    "datetime": "dates with a time of day",
    "time": "times of day",
    "duration": "durations",
}
# For each fitted kind, the kinds of values that its tests apply to.
_ACCEPTED = {
    "number": {"number", "boolean"},
    "boolean": {"number", "boolean"},
    "category": {"category", "ordered"},
    "ordered": {"category", "ordered"},
    "sets": {"category", "ordered"},
    "date": {"date", "datetime"},
    "datetime": {"date", "datetime"},
    "time": {"time"},
    "duration": {"duration"},
}


@dataclass(frozen=True)
class PreparedColumn:
    """Values of a column, ready to be compared with the column's tests.

    Every test is false for a missing value, except the test for missing values. The same goes for
    a category that was not seen when the tests were chosen, unless the column is tested in sets:
    then it is treated like one that was.
    """

    values: Values
    tests: Sequence[Test]
    # What values.data is compared with in a test for a threshold or a category; None: the test is
    # false for every row.
    bound_of: Callable[[Any], Any]

    def answer(self, test: int, rows: NDArray[np.intp] | slice | None = None) -> NDArray[np.bool_]:
        """Return the answers of some rows, or of all, to one test of the column."""
        values, asks = self.values, self.tests[test].asks
        missing = values.missing if values.missing is None or rows is None else values.missing[rows]
        data = values.data if rows is None else values.data[rows]
        if asks == "missing":
            return values.keep(rows).is_missing()
        bound = self.bound_of(self.tests[test].value)
        if bound is None:
            return np.zeros(len(data), dtype=bool)
        if data.dtype.kind == "O":
            return _answer_objects(data, missing, asks == "equals", bound)
        answers: NDArray[np.bool_] = data == bound if asks == "equals" else data <= bound
        return answers if missing is None else answers & ~missing

    def plain(self, test: int) -> PlainTest:
        """Return one test in the form that the core takes, for a column that holds no objects."""
        values, asks = self.values, self.tests[test].asks
        bound = None if asks == "missing" else self.bound_of(self.tests[test].value)
        if asks == "missing" and values.missing is None and values.data.dtype.kind == "f":
            bound = np.nan
        elif asks == "missing" and values.missing is not None:
            return values.missing.view(np.uint8), "equals", np.ones(1, np.uint8), None
        elif bound is None:
            zeros = np.broadcast_to(np.uint8(0), len(values))
            return zeros, "equals", np.ones(1, np.uint8), None
        data = np.require(values.data, requirements="A")
        return data, asks, np.array([bound], dtype=data.dtype), values.missing

    def pack(self) -> NDArray[np.uint8]:
        """Return all answers: shape (tests, ceil(rows / 8)), row r at bit r % 8 of byte r // 8."""
        n_rows, tests = len(self.values), tuple(self.tests)
        bounds = [self.bound_of(test.value) for test in tests if test.asks != "missing"]
        packed = np.empty((len(tests), -(-n_rows // 8)), dtype=np.uint8)
        block = max(8, min(_BLOCK, _ANSWERS // max(1, len(tests)) // 8 * 8))
        for start in range(0, n_rows, block):
            rows = slice(start, min(start + block, n_rows))
            answers = self._answer_all(tests, bounds, rows)
            packed[:, start // 8 : -(-rows.stop // 8)] = np.packbits(
                answers, axis=1, bitorder="little"
            )
        return packed

    def _answer_all(
        self, tests: tuple[Test, ...], bounds: list[Any], rows: slice
    ) -> NDArray[np.bool_]:
        plain = len(bounds)
        kinds = {test.asks for test in tests[:plain]}
        data = self.values.data[rows]
        if data.dtype.kind == "O" or len(kinds) != 1 or None in bounds:
            each = [self.answer(test, rows) for test in range(len(tests))]
            return np.array(each, dtype=bool).reshape(len(each), len(data))
        # All at once: with many columns and few rows, the calls would dominate.
        compared = np.array(bounds, dtype=data.dtype)[:, np.newaxis]
        answers = np.empty((len(tests), len(data)), dtype=bool)
        compare = np.equal if kinds == {"equals"} else np.less_equal
        compare(data, compared, out=answers[:plain])
        if self.values.missing is not None:
            answers[:plain] &= ~self.values.missing[rows]
        if plain < len(tests):
            answers[plain] = self.values.keep(rows).is_missing()
        return answers


def prepare(column: Column, values: Values, where: str) -> PreparedColumn:
    """Prepare values for the tests of a fitted column; ``where`` names the column in messages."""
    check_kind(column, values, where)
    kind = values.kind
    if column.kind not in _ACCEPTED or kind == "nothing":
        return PreparedColumn(values, column.tests, lambda _: None)
    if column.kind in ("category", *IN_ORDER) and kind in ("category", "ordered"):
        return _prepare_categories(column, values)
    values = _as_numbers(values)
    if column.kind in ("boolean", "category"):
        return PreparedColumn(values, column.tests, lambda value: _equal(values, value))
    return PreparedColumn(values, column.tests, lambda value: _bound(column, values, value))


def accepted_kinds(column: Column) -> set[str]:
    """Return the kinds of values that a fitted column's tests apply to."""
    kinds = set(_ACCEPTED.get(column.kind, _KIND_WORDS)) | {"nothing"}
    numbers = not any(isinstance(category, str) for category in column.categories)
    if column.kind == "category" and numbers:
        kinds |= {"number", "boolean"}
    return kinds


def check_kind(column: Column, values: Values, where: str) -> None:
    """Refuse values that a fitted column's tests do not apply to."""
    if values.kind not in accepted_kinds(column):
        raise TypeError(
            f"X holds {_KIND_WORDS[values.kind]} ({values.dtype}) in {where}{_example(values)}, "
            f"but it held {_held(column)} ({column.dtype}) when fitted: pass the same kind."
        )
    dates = {column.kind, values.kind} <= {"date", "datetime"}
    if dates and (column.zone is None) != (values.zone is None):
        had, has = ("no", "a") if column.zone is None else ("a", "no")
        raise TypeError(
            f"X holds dates with {has} time zone in {where} ({values.dtype}), but {had} time "
            f"zone when fitted ({column.dtype}): convert them to match."
        )


def _held(column: Column) -> str:
    numbers = column.kind == "boolean" and not isinstance(column.categories[0], bool)
    return "0 and 1" if numbers else _KIND_WORDS[column.kind]


def _example(values: Values) -> str:
    """Quote the first text where numbers were expected: often it is a word for a missing value."""
    row = int(np.argmin(values.is_missing())) if len(values) else 0
    if not len(values.categories) or not len(values) or values.is_missing()[row]:
        return ""
    return f", {values.categories[int(values.data[row])]!r} at row {row}"


def _bound(column: Column, values: Values, threshold: Any) -> Any:
    per_unit = values.per_unit
    if column.kind == "date" and values.kind == "datetime":
        threshold = (threshold + 1) * DAY - 1  # the end of the day
    elif column.kind == "datetime" and values.kind == "date":
        per_unit = per_unit / DAY
    if values.data.dtype.kind == "O":
        return threshold
    return floor_to(values.data.dtype, threshold, per_unit)


def _equal(values: Values, value: Any) -> Any:
    if values.data.dtype.kind == "O":
        return value
    return exactly(values.data.dtype, value, values.per_unit)


def _as_numbers(values: Values) -> Values:
    """Return booleans as 0 and 1, without a copy."""
    if values.data.dtype.kind != "b":
        return values
    return _with_data(values, values.data.view(np.uint8))


def _prepare_categories(column: Column, values: Values) -> PreparedColumn:
    """Number the values by their positions among the fitted categories."""
    by_position = column.kind in IN_ORDER
    beyond = len(column.categories) if by_position else -1
    unknown = beyond if column.unknown is None else column.unknown
    position = {category: i for i, category in enumerate(column.categories)}
    position |= dict.fromkeys(column.others or (), _OTHER)
    table = np.full(len(values.categories) + 1, unknown, dtype=np.int32)
    table[:-1] = [position.get(category, unknown) for category in values.categories]
    table[-1] = beyond  # position -1, missing, finds the last entry
    numbered = _with_data(values, table[values.data])
    return PreparedColumn(
        numbered, column.tests, (lambda value: value) if by_position else position.__getitem__
    )


def is_unknown(column: Column, values: Values) -> NDArray[np.bool_]:
    """Return which of the values, prepared for the tests, are none of the known categories."""
    if values.kind in ("category", "ordered"):
        unknown: NDArray[np.bool_] = values.data == -1
        return unknown
    known = {*column.categories, *(column.others or ())}
    per_unit = values.per_unit
    return np.array([value / per_unit not in known for value in values.data.tolist()], dtype=bool)


def _with_data(values: Values, data: NDArray[Any]) -> Values:
    return replace(values, data=data, categories=Categories.of(()))


def _answer_objects(
    data: NDArray[np.object_], missing: NDArray[np.bool_] | None, equals: bool, bound: Any
) -> NDArray[np.bool_]:
    """Compare Python numbers, which compare exactly whatever their types."""
    check_deadline()
    present = data if missing is None else data[~missing]
    compare = np.equal if equals else np.less if bound == np.inf else np.less_equal
    found: NDArray[np.bool_] = compare(present, bound).astype(bool)
    if missing is None:
        return found
    answers = np.zeros(len(data), dtype=bool)
    answers[~missing] = found
    return answers


def add_column(hashes: RowHashes, number: int, column: Column, values: Values) -> None:
    """Add a column to the hashes of rows, as far as its tests depend on its values."""
    if column.tests:
        hashes.add(number, values, only_missing=column.kind in ("constant", "identifier"))
