"""The same test in another schema: trees over one set of tests, told in terms of another."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, cast

from maptree.schema.columns import Column, Schema, Test, Threshold

if TYPE_CHECKING:
    from maptree.tables.values import Category


def find_test(number: int, theirs: Schema, schema: Schema) -> int | None:
    """Return the number of the same test in a schema; None if it has no such test.

    Columns are the same by name, where both tables had names, else by position.

    >>> age = Column("age", "number", "int64", thresholds=(30, 40))
    >>> find_test(0, Schema((age,)), Schema((Column("id", "constant", "int64"), age)))
    0
    >>> other = Column("age", "number", "int64", thresholds=(20, 40, 60))
    >>> [find_test(test, Schema((age,)), Schema((other,))) for test in (0, 1)]
    [None, 1]
    """
    j = theirs.column_of_test[number]
    at = _same_column(j, theirs, schema)
    if at is None:
        return None
    column, test = schema.columns[at], theirs.tests[number]
    value, n_thresholds = _value(theirs.columns[j], test), len(column.thresholds)
    if test.asks != "at most":
        others = column.tests[n_thresholds:]
        found = schema.first_tests[at] + n_thresholds
        return found + others.index(test) if test in others else None
    if column.kind == "sets" or theirs.columns[j].kind == "sets":
        return _find_set(theirs.columns[j], test, schema, at)
    if column.kind == "ordered":  # a category, not its position among others
        value = column.categories.index(value) if value in column.categories else None
    if value is None or isinstance(value, str):
        return None
    place = bisect_left(column.thresholds, value)
    if place == n_thresholds or column.thresholds[place] != value:
        return None
    return schema.first_tests[at] + place


def _same_column(j: int, theirs: Schema, schema: Schema) -> int | None:
    if theirs.named and schema.named:
        name = theirs.columns[j].name
        if j < len(schema.columns) and schema.columns[j].name == name:
            return j
        names = schema.names
        return names.index(name) if name in names else None
    return j if j < len(schema.columns) else None


def _find_set(theirs: Column, test: Test, schema: Schema, j: int) -> int | None:
    """Return the number of the test for the same categories; None if there is none."""
    column = schema.columns[j]
    if column.kind != theirs.kind:
        return None
    inside, wanted = theirs.categories_of(test)
    last = len(wanted) - 1 if inside else len(column.categories) - len(wanted) - 1
    place = bisect_left(column.thresholds, last)
    if place == len(column.thresholds) or column.thresholds[place] != last:
        return None
    same_side, found = column.categories_of(column.tests[place])
    if same_side != inside or set(found) != set(wanted):
        return None
    return schema.first_tests[j] + place


def _value(column: Column, test: Test) -> Threshold | Category | None:
    """Return what a test compares with; a category, not its position among others."""
    by_position = column.kind == "ordered" and test.asks == "at most"
    return column.categories[cast(int, test.value)] if by_position else test.value
