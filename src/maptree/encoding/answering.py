"""The answers of a table's rows to the tests of a schema, and the leaves they lead to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from maptree import _core
from maptree.schema.columns import Column, Schema, Test
from maptree.tables.binary import NOT_BINARY, add_binary_table, is_binary_matrix, refuse_not_binary
from maptree.tables.clock import DAY
from maptree.tables.deadline import check_deadline
from maptree.tables.exact import exactly, floor_to
from maptree.tables.row_hashes import RowHashes
from maptree.tables.table import Matrix, Table, read_table
from maptree.tables.values import Categories, Values
from maptree.tables.writing import UnreadableTextError, read_as_written
from maptree.tables.written_dates import CLOCK, ISO, DateWriting
from maptree.trees.fitted import FittedTree
from maptree.trees.seen_rows import Overlap
from maptree.trees.tree import Tree

_NOT_AS_FITTED = (
    "the matrix was all 0/1 when fitted, so only 0 and 1 have a meaning. Encode X in the same way "
    "as for fit."
)

# Rows compared together: a whole number of bytes of packed answers, and few enough for the cache.
_BLOCK = 1 << 15

# The position of categories that were seen but have no test; that of unknown ones is -1.
_OTHER = -2

# Values, the comparison, the bound as an array of one value, and where values are missing.
PlainTest = tuple[NDArray[Any], str, NDArray[Any], NDArray[np.bool_] | None]

_KIND_WORDS = {
    "number": "numbers",
    "boolean": "booleans",
    "category": "text or categories",
    "ordered": "categories",
    "date": "dates",
    "datetime": "dates with a time of day",
    "time": "times of day",
    "duration": "durations",
}
_ISO = {"date": DateWriting(ISO), "datetime": DateWriting(ISO), "time": DateWriting(CLOCK)}
# For each fitted kind, the kinds of values that its tests apply to.
_ACCEPTED = {
    "number": {"number", "boolean"},
    "boolean": {"number", "boolean"},
    "category": {"category", "ordered"},
    "ordered": {"category", "ordered"},
    "date": {"date", "datetime"},
    "datetime": {"date", "datetime"},
    "time": {"time"},
    "duration": {"duration"},
}


@dataclass(frozen=True)
class PreparedColumn:
    """Values of a column, ready to be compared with the column's tests.

    Every test is false for a missing value, except the test for missing values. The same goes for
    a category that was not seen when the tests were chosen.
    """

    values: Values
    tests: tuple[Test, ...]
    # For each test, what values.data is compared with; None: the test is false for every row.
    bounds: tuple[Any, ...]

    def answer(self, test: int, rows: NDArray[np.intp] | slice | None = None) -> NDArray[np.bool_]:
        """Return the answers of some rows, or of all, to one test of the column."""
        values, asks, bound = self.values, self.tests[test].asks, self.bounds[test]
        missing = values.missing if values.missing is None or rows is None else values.missing[rows]
        data = values.data if rows is None else values.data[rows]
        if asks == "missing":
            return values.keep(rows).is_missing()
        if bound is None:
            return np.zeros(len(data), dtype=bool)
        if data.dtype.kind == "O":
            return _answer_objects(data, missing, asks == "equals", bound)
        answers: NDArray[np.bool_] = data == bound if asks == "equals" else data <= bound
        return answers if missing is None else answers & ~missing

    def plain(self, test: int) -> PlainTest:
        """Return one test in the form that the core takes, for a column that holds no objects."""
        values, asks, bound = self.values, self.tests[test].asks, self.bounds[test]
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
        n_rows = len(self.values)
        packed = np.empty((len(self.tests), -(-n_rows // 8)), dtype=np.uint8)
        for start in range(0, n_rows, _BLOCK):
            rows = slice(start, min(start + _BLOCK, n_rows))
            answers = self._answer_all(rows)
            packed[:, start // 8 : -(-rows.stop // 8)] = np.packbits(
                answers, axis=1, bitorder="little"
            )
        return packed

    def _answer_all(self, rows: slice) -> NDArray[np.bool_]:
        plain = len(self.tests) - (self.tests[-1].asks == "missing" if self.tests else 0)
        kinds = {test.asks for test in self.tests[:plain]}
        data = self.values.data[rows]
        if data.dtype.kind == "O" or len(kinds) != 1 or None in self.bounds[:plain]:
            each = [self.answer(test, rows) for test in range(len(self.tests))]
            return np.array(each, dtype=bool).reshape(len(each), len(data))
        # All at once: with many columns and few rows, the calls would dominate.
        bounds = np.array(self.bounds[:plain], dtype=data.dtype)[:, np.newaxis]
        answers = np.empty((len(self.tests), len(data)), dtype=bool)
        compare = np.equal if kinds == {"equals"} else np.less_equal
        compare(data, bounds, out=answers[:plain])
        if self.values.missing is not None:
            answers[:plain] &= ~self.values.missing[rows]
        if plain < len(self.tests):
            answers[plain] = self.values.keep(rows).is_missing()
        return answers


def prepare(column: Column, values: Values, where: str) -> PreparedColumn:
    """Prepare values for the tests of a fitted column; ``where`` names the column in messages."""
    check_kind(column, values, where)
    kind = values.kind
    plain = [test.value for test in column.tests if test.asks != "missing"]
    if not plain or kind == "nothing":
        return PreparedColumn(values, column.tests, (None,) * len(column.tests))
    if column.kind in ("category", "ordered") and kind in ("category", "ordered"):
        values, bounds = _prepare_categories(column, values, plain)
    elif column.kind in ("boolean", "category"):
        values = _as_numbers(values)
        bounds = [_equal(values, value) for value in plain]
    else:
        values = _as_numbers(values)
        bounds = [_bound(column, values, threshold) for threshold in plain]
    if len(bounds) < len(column.tests):
        bounds.append(None)
    return PreparedColumn(values, column.tests, tuple(bounds))


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


def _prepare_categories(
    column: Column, values: Values, plain: Sequence[Any]
) -> tuple[Values, list[Any]]:
    """Number the values by their positions among the fitted categories."""
    unknown = len(column.categories) if column.kind == "ordered" else -1
    position = {category: i for i, category in enumerate(column.categories)}
    position |= dict.fromkeys(column.others or (), _OTHER)
    table = np.full(len(values.categories) + 1, unknown, dtype=np.int32)
    table[:-1] = [position.get(category, unknown) for category in values.categories]
    # Position -1, missing, finds the last entry.
    numbered = _with_data(values, table[values.data])
    bounds = plain if column.kind == "ordered" else [position[category] for category in plain]
    return numbered, list(bounds)


def _is_unknown(column: Column, values: Values) -> NDArray[np.bool_]:
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


class Answers:
    """The answers of a table's rows to the tests of a schema.

    The table is checked at once; a column is read when a test first needs it. Unless ``strict``,
    text that is not written like the fitted column counts as missing.
    """

    def __init__(self, schema: Schema, table: Table, strict: bool = True) -> None:
        self.n_rows = table.n_rows
        self._schema = schema
        self._table = table
        self._strict = strict
        self._read = check_table(schema, table, strict)
        ends = accumulate(len(column.tests) for column in schema.columns)
        self._first = [
            end - len(column.tests) for end, column in zip(ends, schema.columns, strict=True)
        ]
        self._prepared: dict[int, PreparedColumn] = {}

    def __call__(self, test: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return the answers of some rows to one test."""
        column, number = self._column_of(test)
        return column.answer(number, rows)

    def leaves(self, tree: Tree) -> NDArray[np.intp]:
        """Return the leaf of a tree over the tests that each row ends in."""
        inner = tree.feature >= 0
        used, position = np.unique(tree.feature[inner], return_inverse=True)
        tests = [self._column_of(test) for test in used.tolist()]
        if any(column.values.data.dtype.kind == "O" for column, _ in tests):
            return tree.route(self.n_rows, self)  # the core does not take Python's numbers
        feature = tree.feature.copy()
        feature[inner] = position
        plain = [column.plain(number) for column, number in tests]
        leaves = _core.route(self.n_rows, feature, tree.left, tree.right, plain)
        return leaves.astype(np.intp, copy=False)

    def unforeseen(self, tree: Tree) -> NDArray[np.bool_]:
        """Return the rows with a value that the rules of a tree do not mention.

        That is a missing value in a column without missing values in ``fit``, or a category that
        was not seen in ``fit`` in a column whose categories the rules name.
        """
        rows = np.zeros(self.n_rows, dtype=bool)
        for test in np.unique(tree.feature[tree.feature >= 0]).tolist():
            column = self._schema.columns[self._schema.column_of_test[test]]
            values = self._column_of(test)[0].values
            missing = values.is_missing()
            if not column.has_missing:
                rows |= missing
            if column.kind == "ordered":
                rows |= (values.data == len(column.categories)) & ~missing
            elif column.others is not None:
                rows |= _is_unknown(column, values) & ~missing
        return rows

    def row_hashes(self) -> RowHashes:
        """Return the hashes of the rows, over all columns with a test."""
        hashes, table = RowHashes(self.n_rows), self._table
        whole = self._schema.binary and len(self._schema.tested) == table.n_columns
        if whole and isinstance(table, Matrix) and is_binary_matrix(table):
            add_binary_table(hashes, table)
            return hashes
        for j, column in enumerate(self._schema.columns):
            if column.tests:
                values = _read_column(self._schema, table, j, self._strict)
                add_column(hashes, j, column, values)
        return hashes

    def _column_of(self, test: int) -> tuple[PreparedColumn, int]:
        """Return the column that a test is about, and the number of the test in that column."""
        j = self._schema.column_of_test[test]
        if j not in self._prepared:
            self._prepared[j] = self.column(j)
        return self._prepared[j], test - self._first[j]

    def column(self, j: int) -> PreparedColumn:
        """Read a column and return it ready for its tests."""
        values = self._read.pop(j, None)
        if values is None:
            values = _read_column(self._schema, self._table, j, self._strict)
        return prepare(self._schema.columns[j], values, self._table.label(j))


def _read_column(schema: Schema, table: Table, j: int, strict: bool) -> Values:
    """Read a column, text in the way in which it was read when fitted.

    Dates and times that were not text when fitted may be text as in ISO 8601.
    """
    column, values, where = schema.columns[j], table.read(j), table.label(j)
    writing = column.writing or _ISO.get(column.kind)
    if writing is None or values.kind not in ("category", "ordered"):
        return values
    try:
        return read_as_written(values, writing, column.zone is not None, where, strict)
    except UnreadableTextError:
        if column.writing is not None:
            raise
        return values  # which is refused for its kind


def check_table(schema: Schema, table: Table, strict: bool = True) -> dict[int, Values]:
    """Refuse columns that the tests do not apply to; return those that had to be read."""
    columns = None if len(schema.tested) == table.n_columns else schema.tested
    if not schema.takes_missing:
        refuse_not_binary(table, NOT_BINARY, columns=columns)
        return {}
    read = {}
    for j, column in enumerate(schema.columns):
        # For most columns the type is enough to know that they fit, so they need not be read.
        if column.tests and table.kind(j) not in accepted_kinds(column):
            read[j] = _read_column(schema, table, j, strict)
            check_kind(column, read[j], table.label(j))
    if schema.binary:
        refuse_not_binary(table, _NOT_AS_FITTED, missing=True, columns=columns)
    return read


def training_overlap(fitted: FittedTree, hashes: RowHashes, codes: NDArray[np.intp]) -> Overlap:
    """Return how many rows a tree was fitted to, from their hashes and class numbers."""
    training = fitted.training
    if training.seen is None:
        return Overlap(len(codes), unknown="the model has no record of its training rows")
    return training.seen.overlap(hashes, codes, training.rows)


def read_answers(schema: Schema, X: Any, strict: bool = True) -> Answers:
    """Read a table without an estimator, and return the answers of its rows."""
    return Answers(schema, read_table(FittedColumns(schema), X, reset=False), strict)


class FittedColumns(BaseEstimator):  # type: ignore[misc]
    """What scikit-learn's validation needs of an estimator: the columns that a table must have."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.n_features_in_ = len(schema.columns)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.schema.takes_missing
        return tags
