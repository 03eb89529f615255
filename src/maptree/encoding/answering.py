"""The answers of a table's rows to the tests of a schema, and the leaves they lead to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from maptree import _core
from maptree.encoding.prepared_columns import (
    PreparedColumn,
    accepted_kinds,
    add_column,
    check_kind,
    is_unknown,
    prepare,
)
from maptree.schema.columns import Schema
from maptree.tables.binary import NOT_BINARY, add_binary_table, is_binary_matrix, refuse_not_binary
from maptree.tables.row_hashes import RowHashes
from maptree.tables.table import Table, read_table
from maptree.tables.values import Values
from maptree.tables.writing import UnreadableTextError, read_as_written
from maptree.tables.written_dates import CLOCK, ISO, DateWriting
from maptree.trees.fitted import FittedTree
from maptree.trees.seen_rows import Overlap
from maptree.trees.tree import Tree

_NOT_AS_FITTED = (
    "the matrix was all 0/1 when fitted, so only 0 and 1 have a meaning. If these are counts, pass "
    "X > 0 to fit and predict; otherwise encode X in the same way as for fit."
)
_ISO = {"date": DateWriting(ISO), "datetime": DateWriting(ISO), "time": DateWriting(CLOCK)}


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
                rows |= is_unknown(column, values) & ~missing
        return rows

    def row_hashes(self) -> RowHashes:
        """Return the hashes of the rows, over all columns with a test."""
        hashes, table = RowHashes(self.n_rows), self._table
        whole = self._schema.binary and len(self._schema.tested) == table.n_columns
        if whole and is_binary_matrix(table):
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
        return self._prepared[j], test - self._schema.first_tests[j]

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


def predicted(fitted: FittedTree, answers: Answers) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return class probabilities, and for each row which of them are its own.

    They are those of the nodes of a tree, and of an average those of the rows.
    """
    if fitted.average is None:
        return fitted.probabilities, answers.leaves(fitted.tree)
    rows = np.arange(answers.n_rows, dtype=np.intp)
    return fitted.average.probabilities(fitted.prior.rho, answers), rows


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
