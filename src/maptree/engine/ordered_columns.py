"""Columns with all their thresholds, which the core takes as ranks.

The core numbers tests differently: first those whose answers are packed, then the thresholds of
ordered columns, each group in the order of the schema. And it has no test for missing values in an
ordered column: these have the highest rank, so the last threshold is true where there *is* a value.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.schema.columns import Column, Schema
from maptree.schema.on_demand import WholeNumbers
from maptree.schema.placing import EveryThreshold, ReadAgain
from maptree.trees.tree import Tree

Ranks = NDArray[np.uint32]

_SECONDS_A_VALUE = 1e-8


class OrderedColumns:
    """The ranks of some columns, and how the core numbers the tests of a schema beside them.

    ``of_tests`` are the weights of all tests; None: all the same.
    """

    def __init__(
        self,
        schema: Schema,
        ranks: Mapping[int, Ranks],
        of_tests: NDArray[np.uint32] | None = None,
    ) -> None:
        self._ranks = [(ranks[j], len(schema.columns[j].tests) + 1) for j in sorted(ranks)]
        packed = [j for j in range(len(schema.columns)) if j not in ranks]
        columns = np.array([*packed, *sorted(ranks)], dtype=np.intp)
        sizes = np.diff(schema.first_tests)[columns]
        # Columns in the core's order: their first test there, and in the schema.
        self._core_first = np.cumsum(sizes) - sizes
        self._first = np.array(schema.first_tests)[columns]
        self._ends = self._first + sizes
        # Tests for missing values, by their numbers in the schema.
        last = [schema.first_tests[j + 1] - 1 for j in ranks if schema.columns[j].has_missing]
        self._missing = np.array(last, dtype=np.int32)
        self._weights = None if of_tests is None else self._in_core_order(of_tests)
        # Columns whose values are not kept, by their first threshold in the schema and the last.
        later = [j for j in ranks if isinstance(schema.columns[j].thresholds, ReadAgain)]
        self._later = [(schema.first_tests[j], len(schema.columns[j].thresholds)) for j in later]
        self.n_bytes_of_schema = sum(_n_bytes(column) for column in schema.columns)

    @property
    def n_bytes(self) -> int:
        """Memory held by the ranks and the weights of tests."""
        weights = 0 if self._weights is None else self._weights.nbytes
        return sum(ranks.nbytes for ranks, _ in self._ranks) + weights

    def take(self) -> tuple[list[tuple[Ranks, int]], NDArray[np.uint32] | None]:
        """Hand over the ranks and their numbers, and the weights; nothing of them is kept."""
        taken = self._ranks, self._weights
        self._ranks, self._weights = [], None
        return taken

    def _in_core_order(self, of_tests: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Return a value for every test in the core's order, given those in the schema's."""
        if (self._first == self._core_first).all():
            return of_tests
        stretches = zip(self._first.tolist(), self._ends.tolist(), strict=True)
        return np.concatenate([of_tests[first:end] for first, end in stretches])

    def seconds_after(self, n_rows: int) -> float:
        """Return how long it takes at most, after a search, to find the values that were not kept.

        Columns are read again, and the core looks at the rank of every row.
        """
        return _SECONDS_A_VALUE * n_rows * len(self._later)

    def rows_beside(self, dataset: _core.Dataset, found: Tree) -> dict[int, tuple[int, int]]:
        """Return, for thresholds of a tree of the core whose values were not kept, by their numbers
        in the schema: a row with the value below, and one with that above."""
        tests = np.unique(found.feature[found.feature >= 0])
        numbers = self._in_schema(tests)
        later = np.zeros(len(tests), dtype=bool)
        for first, size in self._later:
            later |= (first <= numbers) & (numbers < first + size)
        rows = dataset.rows_beside(tests[later].tolist())
        return dict(zip(numbers[later].tolist(), rows, strict=True))

    def _in_schema(self, tests: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the numbers in the schema of tests of the core."""
        column = np.searchsorted(self._core_first, tests, side="right") - 1
        numbers: NDArray[np.int32] = tests + (self._first - self._core_first)[column]
        return numbers.astype(np.int32)

    def tree(self, found: Tree) -> tuple[Tree, NDArray[np.intp]]:
        """Return a tree of the core over the tests of the schema, and its nodes in the core's tree.

        >>> age = Column("age", "number", "f8", thresholds=(1.5, 2.5), has_missing=True)
        >>> member = Column("member", "boolean", "bool", categories=(False, True))
        >>> columns = OrderedColumns(Schema((age, member)), {0: np.arange(4, dtype=np.uint32)})
        >>> found = Tree([3, -1, -1], [1, -1, -1], [2, -1, -1], [[4], [1], [3]])  # is there an age?
        >>> tree, nodes = columns.tree(found)
        >>> tree.feature.tolist(), tree.counts.tolist(), nodes.tolist()  # is the age missing?
        ([2, -1, -1], [[4], [3], [1]], [0, 2, 1])
        """
        inner = found.feature >= 0
        feature = found.feature.copy()
        feature[inner] = self._in_schema(feature[inner])
        asks_missing = np.isin(feature, self._missing)
        if not asks_missing.any():
            tree = Tree(feature, found.left, found.right, found.counts)
            return tree, np.arange(len(feature))
        left = np.where(asks_missing, found.right, found.left)
        right = np.where(asks_missing, found.left, found.right)
        nodes = _preorder(left, right)
        place = np.argsort(nodes)
        tree = Tree(
            feature[nodes],
            np.where(left[nodes] < 0, -1, place[left[nodes]]),
            np.where(right[nodes] < 0, -1, place[right[nodes]]),
            found.counts[nodes],
        )
        return tree, nodes


def _preorder(left: NDArray[np.int32], right: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the nodes of a tree, each followed by those of its false branch, then of its true."""
    nodes, stack = [], [0]
    while stack:
        node = stack.pop()
        nodes.append(node)
        if left[node] >= 0:
            stack += [int(right[node]), int(left[node])]
    return np.array(nodes, dtype=np.intp)


def _n_bytes(column: Column) -> int:
    values, levels = column.thresholds, column.levels
    return (values.values.nbytes if isinstance(values, EveryThreshold) else 0) + (
        levels.array.nbytes if isinstance(levels, WholeNumbers) else 0
    )
