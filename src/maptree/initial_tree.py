"""Reading ``initial_tree``: the tree that chains start from."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from maptree.encoding import BinaryEncoder
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
            column, threshold = theirs[feature[node]]
            if (column, threshold) not in number:
                asked = "= 1" if threshold is None else f"<= {threshold:g}"
                raise ValueError(
                    f"initial_tree asks whether column {column} {asked}, which is none of the "
                    f"tests of this table: {_REMEDY}."
                )
            feature[node] = number[column, threshold]
    elif feature.max() >= len(tests):
        raise ValueError(
            f"initial_tree asks test {feature.max()}, but the table has {len(tests)} tests: "
            f"{_REMEDY}."
        )
    return feature, tree.left, tree.right


def _tests(encoder: BinaryEncoder | None, n_columns: int) -> list[tuple[int, float | None]]:
    """Return the column and the threshold of every test; None for the test "is 1"."""
    if encoder is None:
        return [(column, None) for column in range(n_columns)]
    pairs = zip(encoder.test_columns_.tolist(), encoder.test_thresholds_.tolist(), strict=True)
    return [(column, None if math.isnan(cut) else cut) for column, cut in pairs]
