"""Columns with many thresholds of which only some are kept: those that a tree tests.

A model file keeps these. Tests keep their numbers, and columns the number of their thresholds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from maptree.schema.columns import Column, Schema
from maptree.schema.on_demand import Item, OnDemand


class NotKeptError(ValueError):
    """A test that the tree does not use, of a model that was loaded from a file."""


class Kept(OnDemand[Item]):
    """Some items of a longer sequence, at their places; to look at another is an error.

    >>> kept = Kept(1000, (3, 7), (30.5, 45.5))
    >>> len(kept), kept[7]
    (1000, 45.5)
    """

    def __init__(self, size: int, positions: Sequence[int], items: Sequence[Item]) -> None:
        self.positions = tuple(positions)
        self.items = tuple(items)
        self._size = size

    def __len__(self) -> int:
        return self._size

    def _block(self, start: int, stop: int) -> list[Item]:
        return [self._at(i) for i in range(start, stop)]

    def _at(self, position: int) -> Item:
        place = bisect_left(self.positions, position)
        if place == len(self.positions) or self.positions[place] != position:
            raise NotKeptError(
                "This model was loaded from a file, which has only the thresholds that its tree "
                "tests. Fit BinaryEncoder(max_thresholds=None) to the training table for all of "
                "them."
            )
        return self.items[place]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kept):
            return False if isinstance(other, (tuple, OnDemand)) else NotImplemented
        return vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self._size, self.positions, self.items))

    def __repr__(self) -> str:
        return f"<{len(self.positions):,} of {self._size:,}>"


class KeptLevels(Kept[int]):
    """The levels of thresholds that are kept, and how many of all thresholds have each level."""

    def __init__(
        self, size: int, positions: Sequence[int], items: Sequence[int], sizes: Sequence[int]
    ) -> None:
        super().__init__(size, positions, items)
        self.sizes = tuple(sizes)

    __hash__ = Kept.__hash__


def keep_thresholds(schema: Schema, tests: Iterable[int]) -> Schema:
    """Return a schema that keeps only the thresholds of some tests in columns with many."""
    used = sorted(set(tests))
    first = schema.first_tests
    columns = [
        _keep(column, [test - first[j] for test in used if first[j] <= test < first[j + 1]])
        for j, column in _with_many(schema)
    ]
    return _replaced(schema, columns)


def _with_many(schema: Schema) -> list[tuple[int, Column]]:
    if schema.binary:
        return []
    return [(j, c) for j, c in enumerate(schema.columns) if isinstance(c.thresholds, OnDemand)]


def _replaced(schema: Schema, columns: Sequence[Column]) -> Schema:
    """Return a schema with other columns in place of those with many thresholds."""
    if not columns:
        return schema
    places = [j for j, _ in _with_many(schema)]
    other = dict(zip(places, columns, strict=True))
    return replace(
        schema, columns=tuple(other.get(j, column) for j, column in enumerate(schema.columns))
    )


def _keep(column: Column, tests: Sequence[int]) -> Column:
    if isinstance(column.thresholds, Kept):
        return column
    size = len(column.thresholds)
    positions = [test for test in tests if test < size]
    thresholds = [column.thresholds[position] for position in positions]
    levels = [column.levels[position] for position in positions]
    sizes = np.bincount(np.asarray(column.levels)).tolist()
    return replace(
        column,
        thresholds=Kept(size, positions, thresholds),
        levels=KeptLevels(size, positions, levels, sizes),
    )


def without_others(schema: Schema, tests: Iterable[int]) -> tuple[Schema, dict[int, int]]:
    """Return a schema in which columns with many thresholds have only those of some tests.

    Tests have other numbers then: the second value is the number of each of ``tests``.
    """
    used = sorted(set(tests))
    kept = keep_thresholds(schema, used)
    columns, place = [], {}
    for _, column in _with_many(kept):
        assert isinstance(column.thresholds, Kept)
        assert isinstance(column.levels, KeptLevels)
        columns.append(
            replace(column, thresholds=column.thresholds.items, levels=column.levels.items)
        )
    small = _replaced(kept, columns)
    for test in used:
        j = schema.column_of_test[test]
        position = test - schema.first_tests[j]
        thresholds = kept.columns[j].thresholds
        if isinstance(thresholds, Kept):
            position = bisect_left(thresholds.positions, position) + (
                position - len(thresholds) if position >= len(thresholds) else 0
            )
        place[test] = small.first_tests[j] + position
    return small, place
