"""Reading ``initial_tree``: the tree that chains start from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from maptree.schema.columns import Column, Schema, Test
from maptree.trees.fitted import FittedTree
from maptree.trees.tree import Tree
from maptree.words.tests import TestWords

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
    number = {test: i for i, test in enumerate(_tests(schema))}
    theirs, feature = _tests(fitted.schema), fitted.tree.feature.copy()
    for node in np.flatnonzero(feature >= 0):
        test = theirs[feature[node]]
        if test not in number:
            raise ValueError(
                f"initial_tree tests {_in_words(fitted.schema, int(feature[node]))}, which is not "
                f"among the tests of this table: {_REMEDY}."
            )
        feature[node] = number[test]
    return feature


def _tests(schema: Schema) -> list[Hashable]:
    """Return every test, in a form that is equal for the same test of another schema."""
    return [
        (j, test.asks, _value(column, test))
        for j, column in enumerate(schema.columns)
        for test in column.tests
    ]


def _value(column: Column, test: Test) -> Hashable:
    """Return what a test compares with; a category, not its position among others."""
    by_position = column.kind == "ordered" and test.asks == "at most"
    return column.categories[cast(int, test.value)] if by_position else test.value


def _in_words(schema: Schema, test: int) -> str:
    names = [f"column {j}" for j in range(len(schema.columns))]
    return TestWords(schema.renamed(names)).test(test)
