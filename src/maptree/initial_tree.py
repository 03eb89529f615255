"""Reading ``initial_tree``: the tree that chains start from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import cast

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.encoder import BinaryEncoder
from maptree.encoding.schema import Column, Test
from maptree.encoding.wording import TestWords
from maptree.tree import Tree

Arrays = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]

_REMEDY = "pass a Tree over the tests of this table, a classifier fitted to it, or None"


def read_initial_tree(
    given: object, encoder: BinaryEncoder | None, n_columns: int
) -> Arrays | None:
    """Return a tree's feature, left and right, its tests numbered as ``encoder`` numbers them.

    A Tree has these numbers already. The tests of a fitted classifier are looked up by column and
    threshold, because its encoder may have chosen others beside them.

    >>> read_initial_tree(Tree([1, -1, -1], [1, -1, -1], [2, -1, -1], [[2], [1], [1]]), None, 2)[0]
    array([ 1, -1, -1], dtype=int32)
    """
    if given is None:
        return None
    tree = getattr(given, "tree_", given)
    if not isinstance(tree, Tree):
        if hasattr(given, "get_params"):
            raise ValueError(
                f"initial_tree={given!r} is not fitted: {_REMEDY}. A copy that scikit-learn makes "
                "of a classifier is not fitted; pass its tree_ where copies are made."
            )
        raise TypeError(f"initial_tree is a {type(given).__name__}: {_REMEDY}.")
    tests = _tests(encoder, n_columns)
    feature = tree.feature
    if tree is not given:
        theirs = _tests(
            getattr(given, "encoder_", None), getattr(given, "n_features_in_", n_columns)
        )
        number = {test: i for i, test in enumerate(tests)}
        feature = feature.copy()
        for node in np.flatnonzero(feature >= 0):
            test = theirs[feature[node]]
            if test not in number:
                raise ValueError(
                    f"initial_tree asks whether {_in_words(given, feature[node])}, which is none "
                    f"of the tests of this table: {_REMEDY}."
                )
            feature[node] = number[test]
    elif feature.max() >= len(tests):
        raise ValueError(
            f"initial_tree asks test {feature.max()}, but the table has {len(tests)} tests: "
            f"{_REMEDY}."
        )
    return feature, tree.left, tree.right


def _tests(encoder: BinaryEncoder | None, n_columns: int) -> list[Hashable]:
    """Return every test, in a form that is the same for the same test of another encoder."""
    if encoder is None:
        return [(column, "equals", 1) for column in range(n_columns)]
    return [
        (j, test.asks, _value(column, test))
        for j, column in enumerate(encoder.schema_)
        for test in column.tests
    ]


def _value(column: Column, test: Test) -> Hashable:
    """Return what a test compares with; a category, not its position among others."""
    by_position = column.kind == "ordered" and test.asks == "at most"
    return column.categories[cast(int, test.value)] if by_position else test.value


def _in_words(given: object, test: int) -> str:
    encoder = getattr(given, "encoder_", None)
    if encoder is None:
        return f"column {test} = 1"
    names = [f"column {j}" for j in range(encoder.n_features_in_)]
    return TestWords(encoder.schema_, names).test(int(test))
