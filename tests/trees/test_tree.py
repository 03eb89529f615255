"""The flat tree."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from scipy.sparse import isspmatrix_csr

from maptree import Tree

#        0: test 2
#   1: leaf      2: test 0
#              3: leaf   4: leaf
FEATURE, LEFT, RIGHT = [2, -1, 0, -1, -1], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1]
COUNTS = [[5, 4], [5, 0], [0, 4], [0, 1], [0, 3]]


@pytest.fixture
def tree():
    return Tree(FEATURE, LEFT, RIGHT, COUNTS)


def test_shape(tree):
    assert (tree.node_count, tree.n_leaves, tree.depth, tree.n_classes) == (5, 3, 2, 2)
    assert tree.depths.tolist() == [0, 1, 1, 2, 2]
    assert tree.parents().tolist() == [-1, 0, 0, 2, 2]
    lone = Tree([-1], [-1], [-1], [[1, 2, 3]])
    assert (lone.node_count, lone.n_leaves, lone.depth, lone.n_classes) == (1, 1, 0, 3)


def test_left_is_where_the_test_is_false(tree):
    X = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]])
    assert tree.apply(X).tolist() == [1, 1, 3, 4]
    assert tree.apply(X.astype(bool)).tolist() == [1, 1, 3, 4]
    assert tree.apply(X[:0]).tolist() == []


def test_decision_path(tree):
    X = np.array([[0, 0, 0], [1, 0, 1]])
    paths = tree.decision_path(X)
    assert isspmatrix_csr(paths)
    assert paths.toarray().tolist() == [[1, 1, 0, 0, 0], [1, 0, 1, 0, 1]]
    assert paths.indices[paths.indptr[1] : paths.indptr[2]].tolist() == [0, 2, 4]


def test_a_matrix_too_narrow_for_the_tree(tree):
    with pytest.raises(ValueError, match="test 2"):
        tree.apply([[0, 1]])
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        tree.apply([0, 1, 0])


def test_equality_and_hash(tree):
    same = Tree(np.array(FEATURE, dtype=np.int64), LEFT, RIGHT, COUNTS)
    assert tree == same
    assert hash(tree) == hash(same)
    assert tree != Tree(FEATURE, LEFT, RIGHT, np.array(COUNTS) + 1)
    assert tree != Tree([1, *FEATURE[1:]], LEFT, RIGHT, COUNTS)
    assert tree != "tree"


def test_it_cannot_be_changed(tree):
    with pytest.raises(dataclasses.FrozenInstanceError):
        tree.feature = tree.left
    for copy in (tree, pickle.loads(pickle.dumps(tree))):
        for array in (copy.feature, copy.left, copy.right, copy.counts, copy.depths):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_it_does_not_keep_the_callers_arrays():
    counts = np.array(COUNTS, dtype=np.int64)
    tree = Tree(FEATURE, LEFT, RIGHT, counts)
    counts[0, 0] = 99
    assert tree.counts[0, 0] == 5


def test_pickle(tree):
    assert pickle.loads(pickle.dumps(tree)) == tree


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"feature": np.array([], int)}, "one node"),
        ({"left": [1, -1, 3, -1]}, "left has 4"),
        ({"counts": COUNTS[:4]}, "counts has 4"),
        ({"counts": [[-1, 4], *COUNTS[1:]]}, "negative"),
        ({"counts": np.zeros((5, 0), int)}, "no classes"),
        ({"feature": [2, -1, 0, -2, -1]}, "below -1"),
        ({"left": [1, 3, 3, -1, -1]}, "leaf a child"),
        ({"right": [2, -1, 3, -1, -1]}, "exactly one"),
        ({"right": [2, -1, 5, -1, -1]}, "later node"),
        ({"right": [2, -1, 0, -1, -1]}, "later node"),
        ({"right": [2, -1, -1, -1, -1]}, "later node"),
        ({"feature": [-1] * 5, "left": [-1] * 5, "right": [-1] * 5}, "exactly one"),
        ({"feature": [2.0, -1, 0, -1, -1]}, "whole numbers"),
        ({"counts": [5, 4, 3, 2, 1]}, "2-dimensional"),
    ],
)
def test_arrays_that_are_no_tree(change, message):
    arrays = {"feature": FEATURE, "left": LEFT, "right": RIGHT, "counts": COUNTS}
    with pytest.raises(ValueError, match=message):
        Tree(**(arrays | change))


def test_arrays_are_copied_unless_nobody_can_write_them():
    counts = np.array([[2, 1]])
    view = counts[:]
    view.setflags(write=False)
    given, seen = Tree([-1], [-1], [-1], counts), Tree([-1], [-1], [-1], view)
    counts[0, 0] = 7
    assert given.counts.tolist() == seen.counts.tolist() == [[2, 1]]
    final = np.array([[2, 1]])
    final.setflags(write=False)
    assert Tree([-1], [-1], [-1], final).counts is final
