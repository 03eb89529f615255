"""Reading ``initial_tree``: the tree that chains start from."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from maptree.schema.columns import Column, Schema, Test, Threshold
from maptree.trees.fitted import FittedTree
from maptree.trees.tree import Tree
from maptree.words.tests import TestWords

if TYPE_CHECKING:
    from maptree.tables.values import Category

Arrays = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]

_REMEDY = "pass a Tree over the tests of this table, a classifier fitted to it, or None"


def read_initial_tree(given: object, schema: Schema) -> Arrays | None:
    """Return a tree's feature, left and right, its tests numbered as in ``schema``.

    A Tree has these numbers already. The tests of a fitted classifier are looked up by column and
    threshold, because its encoder may have chosen other tests as well.

    >>> tree = Tree([1, -1, -1], [1, -1, -1], [2, -1, -1], [[2], [1], [1]])
    >>> read_initial_tree(tree, Schema.of_matrix(2))[0]
    array([ 1, -1, -1], dtype=int32)
    """
    if given is None:
        return None
    fitted = given if isinstance(given, FittedTree) else getattr(given, "fitted_", None)
    if isinstance(fitted, FittedTree):
        return _renumbered(fitted, schema), fitted.tree.left, fitted.tree.right
    if isinstance(given, Tree):
        n_tests = len(schema.tests)
        if given.feature.max() >= n_tests:
            raise ValueError(
                f"initial_tree uses test {given.feature.max()}, but the table has {n_tests:,} "
                f"tests: {_REMEDY}."
            )
        return given.feature, given.left, given.right
    if hasattr(given, "get_params"):
        raise ValueError(
            f"initial_tree={given!r} is not fitted: {_REMEDY}. Copies that scikit-learn makes "
            "of a classifier are not fitted; there, pass its tree_."
        )
    raise TypeError(f"initial_tree={given!r} is not a tree: {_REMEDY}.")


def _renumbered(fitted: FittedTree, schema: Schema) -> NDArray[np.int32]:
    feature = fitted.tree.feature.copy()
    for node in np.flatnonzero(feature >= 0):
        number = _find(int(feature[node]), fitted.schema, schema)
        if number is None:
            raise ValueError(
                f"initial_tree tests {_in_words(fitted.schema, int(feature[node]))}, which is not "
                f"among the tests of this table: {_REMEDY}."
            )
        feature[node] = number
    return feature


def _find(number: int, theirs: Schema, schema: Schema) -> int | None:
    """Return the number of the same test in a schema; None if it has no such test."""
    j = theirs.column_of_test[number]
    if j >= len(schema.columns):
        return None
    column, test = schema.columns[j], theirs.tests[number]
    value, n_thresholds = _value(theirs.columns[j], test), len(column.thresholds)
    if test.asks != "at most":
        others = column.tests[n_thresholds:]
        return schema.first_tests[j] + n_thresholds + others.index(test) if test in others else None
    if column.kind == "sets" or theirs.columns[j].kind == "sets":
        return _find_set(theirs.columns[j], test, schema, j)
    if column.kind == "ordered":  # a category, not its position among others
        value = column.categories.index(value) if value in column.categories else None
    if value is None or isinstance(value, str):
        return None
    place = bisect_left(column.thresholds, value)
    if place == n_thresholds or column.thresholds[place] != value:
        return None
    return schema.first_tests[j] + place


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


def _in_words(schema: Schema, test: int) -> str:
    names = [f"column {j}" for j in range(len(schema.columns))]
    return TestWords(schema.renamed(names)).test(test)
