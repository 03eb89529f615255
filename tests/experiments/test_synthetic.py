"""The synthetic problems of the paper's experiments: the trees, the rows and the noise."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from experiments import synthetic
from experiments.synthetic import sample

TREES = synthetic.trees()


def paths(tree):
    """The features on the way to each leaf, leaves from the left."""
    parents = tree.parents()
    for leaf in np.flatnonzero(tree.feature < 0):
        path = []
        node = int(parents[leaf])
        while node >= 0:
            path.append(int(tree.feature[node]))
            node = int(parents[node])
        yield path


def test_there_are_twenty_different_trees_of_fifteen_inner_nodes():
    assert len(TREES) == len(set(TREES)) == 20
    for tree in TREES:
        assert (tree.feature >= 0).sum() == 15
        assert tree.n_leaves == 16
        assert tree.feature.max() < 40


def test_no_feature_comes_twice_on_a_path():
    for tree in TREES:
        for path in paths(tree):
            assert len(path) == len(set(path))


def test_leaf_labels_alternate_from_the_left():
    firsts = set()
    for tree in TREES:
        leaves = tree.counts[tree.feature < 0]  # nodes are in preorder
        assert (leaves.sum(axis=1) == 1).all()
        assert (np.diff(leaves[:, 1]) != 0).all()
        firsts.add(int(leaves[0, 1]))
    assert firsts == {0, 1}


def test_nodes_are_divided_evenly_between_the_subtrees():
    rng = np.random.default_rng(0)
    left = np.zeros(15, dtype=int)
    for _ in range(1500):
        tree = synthetic.random_tree(15, 40, rng)
        below_left = tree.right[0] - tree.left[0]  # preorder: the left subtree's nodes
        left[(below_left - 1) // 2] += 1
    assert left.min() > 60  # 100 expected of each number from 0 to 14
    assert left.max() < 145


def test_roots_use_all_features():
    rng = np.random.default_rng(0)
    roots = {int(synthetic.random_tree(1, 5, rng).feature[0]) for _ in range(100)}
    assert roots == set(range(5))


def test_prefixes_nest_and_test_rows_stay():
    whole = sample(3, 1000, 0.1)
    for rows in range(100, 1001, 100):
        part = sample(3, rows, 0.1)
        assert part.X_train.shape == (rows, 40)
        np.testing.assert_array_equal(part.X_train, whole.X_train[:rows])
        np.testing.assert_array_equal(part.y_train, whole.y_train[:rows])
        np.testing.assert_array_equal(part.X_test, whole.X_test)
        np.testing.assert_array_equal(part.y_test, whole.y_test)


@pytest.mark.parametrize("tree", [0, 7, 19])
def test_noise_flips_training_labels_only(tree):
    clean, some, more = (sample(tree, 1000, noise) for noise in (0, 0.1, 0.25))
    truth = TREES[tree]
    np.testing.assert_array_equal(clean.y_train, synthetic.labels(truth, clean.X_train))
    for noisy, share in ((some, 0.1), (more, 0.25)):
        np.testing.assert_array_equal(noisy.X_train, clean.X_train)
        np.testing.assert_array_equal(noisy.y_test, synthetic.labels(truth, noisy.X_test))
        flipped = noisy.y_train != clean.y_train
        assert abs(flipped.mean() - share) < 0.05
        assert set(np.unique(noisy.y_train)) == {0, 1}
    # The same draws for both, so more noise flips what less noise flips.
    assert not ((some.y_train != clean.y_train) & (more.y_train == clean.y_train)).any()


def test_features_are_fair_coins_and_all_rows_are_different():
    everything = np.stack([sample(tree, 1000, 0).X_train for tree in range(20)])
    assert abs(everything.mean() - 0.5) < 0.003
    assert (abs(everything.mean(axis=(0, 1)) - 0.5) < 0.02).all()
    first = sample(0, 1000, 0)
    rows = np.concatenate([first.X_train, first.X_test])
    assert len(np.unique(rows, axis=0)) == 2000


def test_what_there_is_not_is_refused():
    for wrong in ((20, 100, 0), (-1, 100, 0), (0, 1001, 0), (0, 0, 0), (0, 100, 2)):
        with pytest.raises(ValueError, match="there is no tree"):
            sample(*wrong)


def test_the_data_are_as_published():
    """A digest of all of it. Compared with the published generator's by hand, once."""
    digest = hashlib.sha256()
    for tree in range(20):
        made = sample(tree, 1000, 0.25)
        for part in (made.X_train, made.y_train, made.X_test, made.y_test):
            digest.update(part.astype(np.uint8).tobytes())
    assert digest.hexdigest()[:16] == "7ce90710af9fac4b"
