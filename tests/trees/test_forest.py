"""Many trees in flat arrays."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from maptree.trees.forest import Trees
from maptree.trees.tree import Tree


def random_trees(n_trees, n_tests, most_leaves, seed=0):
    """Trees of random shapes, and the same one after the other in flat arrays."""
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(n_trees):
        feature, left, right = [], [], []

        def grow(n_leaves, feature=feature, left=left, right=right):
            node = len(feature)
            for values in (feature, left, right):
                values.append(-1)
            if n_leaves > 1:
                less = int(rng.integers(1, n_leaves))
                feature[node] = int(rng.integers(n_tests))
                left[node], right[node] = grow(less), grow(n_leaves - less)
            return node

        grow(int(rng.integers(1, most_leaves + 1)))
        trees.append(Tree(feature, left, right, rng.integers(0, 9, (len(feature), 3))))
    sizes = [tree.node_count for tree in trees]
    arrays = [
        np.concatenate([getattr(tree, name) for tree in trees])
        for name in ("feature", "left", "right", "counts")
    ]
    return trees, Trees(np.cumsum([0, *sizes[:-1]]), np.array(sizes), *arrays)


def test_it_is_a_sequence_of_trees():
    trees, flat = random_trees(20, 5, 8)
    assert len(flat) == 20
    assert list(flat) == trees
    assert flat[-1] == trees[-1]
    assert list(flat[3:9:2]) == trees[3:9:2]
    assert trees[4] in flat
    assert list(flat.take(np.array([7, 7, 2]))) == [trees[7], trees[7], trees[2]]
    assert len(flat[:0]) == 0
    with pytest.raises(IndexError):
        flat[20]
    assert list(pickle.loads(pickle.dumps(flat))) == trees
    with pytest.raises(AttributeError):
        flat.starts = None


def test_sizes():
    trees, flat = random_trees(50, 5, 8)
    assert flat.n_leaves().tolist() == [tree.n_leaves for tree in trees]
    assert flat.depths().tolist() == [tree.depth for tree in trees]
    tests, tree = flat[10:20].splits()
    for number in range(10):
        feature = trees[10 + number].feature
        assert tests[tree == number].tolist() == feature[feature >= 0].tolist()
    assert repr(flat) == "Trees(50 trees of 1 to 8 leaves)"
    assert repr(flat[:0]) == "Trees(0 trees)"


@pytest.mark.parametrize("n_tests", [2, 30])  # with few tests most paths are shared
@pytest.mark.parametrize("n_rows", [1, 500, 40_000])  # the last in more than one block
def test_sums_at_leaves_are_those_of_tree_after_tree(n_tests, n_rows):
    trees, flat = random_trees(30, n_tests, 8)
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (n_rows, n_tests))
    values = rng.normal(size=(len(flat.feature), 2))
    asked = []

    def answer(test, rows):
        asked.extend((test, row) for row in rows[:1].tolist())
        return X[rows, test] == 1

    found = flat.sum_at_leaves(values, n_rows, answer)
    expected = sum(
        values[start + tree.apply(X)] for start, tree in zip(flat.starts, trees, strict=True)
    )
    np.testing.assert_allclose(found, expected)
    assert len(asked) == len(set(asked))  # each test once


def test_trees_that_hardly_begin_alike_ask_each_row_once_a_node():
    """The slowest case: what two trees do not share is asked again."""
    _, flat = random_trees(100, 100, 20)
    X = np.random.default_rng(2).integers(0, 2, (1000, 100), dtype=np.uint8)
    asked = []

    def answer(test, rows):
        asked.append(len(rows))
        return X[rows, test] == 1

    found = flat.sum_at_leaves(np.ones((len(flat.feature), 2)), len(X), answer)
    assert (found == 100).all()
    assert len(asked) <= flat.splits()[0].size
    assert sum(asked) <= len(X) * flat.depths().sum()
