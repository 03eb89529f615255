"""Columns with many thresholds of which only some are kept: those that a tree tests.

A model file keeps these, and so does a fitted model where there are very many. Tests keep their
numbers, and columns the number of their thresholds.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from maptree.schema.columns import Column, Schema
from maptree.schema.on_demand import Item, OnDemand, sizes_of
from maptree.schema.placing import ReadAgain

# A fitted model keeps all thresholds of a column with no more than these.
FEW_THRESHOLDS = 4096


class NotKeptError(ValueError):
    """A test that the tree does not use, of a model that has only those that it does."""

    def __init__(self) -> None:
        super().__init__(
            "This model has only the thresholds that its tree tests, because it was loaded "
            f"from a file or the column has more than {FEW_THRESHOLDS:,}. Fit "
            "BinaryEncoder(max_thresholds=None) to the training table for all of them."
        )


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
            raise NotKeptError()
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


# For some tests, a row with the value below the threshold and one with that above.
Beside = Mapping[int, tuple[int, int]]


def keep_thresholds(
    schema: Schema, tests: Iterable[int], few: int = 0, beside: Beside | None = None
) -> Schema:
    """Return a schema that keeps only the thresholds of some tests in columns with many.

    Columns with a ``few`` keep all. ``beside`` is needed for those whose values were not kept.
    """
    used, first = sorted(set(tests)), schema.first_tests

    def kept(j: int, column: Column) -> Column:
        if len(column.thresholds) <= few:
            return column
        of_column = [test for test in used if first[j] <= test < first[j] + len(column.thresholds)]
        return _keep(column, [test - first[j] for test in of_column], of_column, beside or {})

    return _with_others(schema, kept)


def without_others(schema: Schema, tests: Iterable[int]) -> tuple[Schema, dict[int, int]]:
    """Return a schema in which columns with many thresholds have only those of some tests.

    Tests have other numbers then: the second value is the number of each of ``tests``.
    """
    used = sorted(set(tests))
    kept = keep_thresholds(schema, used)
    small = _with_others(kept, lambda _, column: _only(column))
    place = {}
    for test in used:
        j = schema.column_of_test[test]
        position, thresholds = test - schema.first_tests[j], kept.columns[j].thresholds
        if isinstance(thresholds, Kept):
            # The test for missing values is behind all thresholds.
            behind = max(0, position - len(thresholds))
            position = bisect_left(thresholds.positions, position) + behind
        place[test] = small.first_tests[j] + position
    return small, place


def _with_others(schema: Schema, change: Callable[[int, Column], Column]) -> Schema:
    """Return a schema with other columns in place of those with many thresholds."""
    if schema.binary:
        return schema
    columns = [
        change(j, column) if isinstance(column.thresholds, OnDemand) else column
        for j, column in enumerate(schema.columns)
    ]
    return replace(schema, columns=tuple(columns))


def _keep(column: Column, positions: Sequence[int], tests: Sequence[int], beside: Beside) -> Column:
    every, size = column.thresholds, len(column.thresholds)
    if isinstance(every, Kept):
        return column
    if isinstance(every, ReadAgain) and tests and all(test in beside for test in tests):
        thresholds = every.beside([beside[test] for test in tests])
    else:
        thresholds = [every[position] for position in positions]
    levels = [column.levels[position] for position in positions]
    sizes = sizes_of(column.levels)
    return replace(
        column,
        thresholds=Kept(size, positions, thresholds),
        levels=KeptLevels(size, positions, levels, sizes),
    )


def _only(column: Column) -> Column:
    assert isinstance(column.thresholds, Kept)
    return replace(column, thresholds=column.thresholds.items, levels=())
