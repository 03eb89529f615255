"""Reading ``initial_tree``: the tree that chains start from."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.numbers import bad_value
from maptree.schema.columns import Schema
from maptree.schema.same_tests import find_test
from maptree.trees.fitted import FittedTree
from maptree.trees.tree import Tree
from maptree.words.tests import TestWords

Arrays = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
Start = Arrays | Literal["search"] | None

_REMEDY = (
    'pass "search", a Tree over the tests of this table, a classifier fitted to it, or None for a '
    "single leaf"
)


def read_initial_tree(given: object, schema: Schema) -> Start:
    """Return a tree's feature, left and right, its tests numbered as in ``schema``.

    "search" and None, a single leaf, are returned as they are.

    A Tree has these numbers already. The tests of a fitted classifier are looked up by column and
    threshold, because its encoder may have chosen other tests as well.

    >>> tree = Tree([1, -1, -1], [1, -1, -1], [2, -1, -1], [[2], [1], [1]])
    >>> read_initial_tree(tree, Schema.of_matrix(2))[0]
    array([ 1, -1, -1], dtype=int32)
    """
    if given is None or isinstance(given, str):
        if given not in (None, "search"):
            raise bad_value("initial_tree", given, "is unknown", _REMEDY)
        return "search" if given else None
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
        number = find_test(int(feature[node]), fitted.schema, schema)
        if number is None:
            raise ValueError(
                f"initial_tree tests {_in_words(fitted.schema, int(feature[node]))}, which is not "
                f"among the tests of this table: {_REMEDY}."
            )
        feature[node] = number
    return feature


def _in_words(schema: Schema, test: int) -> str:
    names = [f"column {j}" for j in range(len(schema.columns))]
    return TestWords(schema.renamed(names)).test(test)
