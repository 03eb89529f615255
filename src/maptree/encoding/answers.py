"""The answers of a table's rows to the tests of a schema, and the leaves these lead to."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.encoding.asking import Asked, ask
from maptree.encoding.schema import Column, columns_of_tests
from maptree.tables.table import Table
from maptree.tables.values import Values
from maptree.tree import Tree


class Answers:
    """The answers of a checked table. A column is read when a test asks about it first.

    ``read`` has columns that have been read already.
    """

    def __init__(
        self, schema: tuple[Column, ...], table: Table, read: Mapping[int, Values]
    ) -> None:
        self.n_rows = table.n_rows
        self._schema = schema
        self._table = table
        self._read = read
        self._columns = columns_of_tests(schema)
        ends = accumulate(len(column.tests) for column in schema)
        self._first = [end - len(column.tests) for end, column in zip(ends, schema, strict=True)]
        self._asked: dict[int, Asked] = {}

    def __call__(self, test: int, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return the answers of some rows to one test."""
        asked, number = self._ask(test)
        return asked.answer(number, rows)

    def leaves(self, tree: Tree) -> NDArray[np.intp]:
        """Return the leaf of a tree over the tests that each row ends in."""
        inner = tree.feature >= 0
        used, position = np.unique(tree.feature[inner], return_inverse=True)
        tests = [self._ask(test) for test in used.tolist()]
        if any(asked.values.data.dtype.kind == "O" for asked, _ in tests):
            return tree.route(self.n_rows, self)  # the core does not know Python's numbers
        feature = tree.feature.copy()
        feature[inner] = position
        plain = [asked.plain(number) for asked, number in tests]
        leaves = _core.route(self.n_rows, feature, tree.left, tree.right, plain)
        return leaves.astype(np.intp, copy=False)

    def unforeseen(self, tree: Tree) -> NDArray[np.bool_]:
        """Return the rows with a value that the rules of a tree leave unsaid.

        It is missing in a column where none was at ``fit``, or an ordered category not seen then.
        """
        rows = np.zeros(self.n_rows, dtype=bool)
        for test in np.unique(tree.feature[tree.feature >= 0]).tolist():
            column, values = self._schema[self._columns[test]], self._ask(test)[0].values
            missing = values.is_missing()
            if not column.has_missing:
                rows |= missing
            if column.kind == "ordered":
                rows |= (values.data == len(column.categories)) & ~missing
        return rows

    def _ask(self, test: int) -> tuple[Asked, int]:
        """Return the column that a test is about, ready to be asked, and its number there."""
        j = self._columns[test]
        if j not in self._asked:
            values = self._read[j] if j in self._read else self._table.read(j)
            self._asked[j] = ask(self._schema[j], values, self._table.label(j))
        return self._asked[j], test - self._first[j]
