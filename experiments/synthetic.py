"""Labels made by a known tree, with noise: does a system recover it?

The draws, their order and their seeds are those of the published experiments, so the data are the
same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from maptree import Tree

TREES = 20
INNER_NODES = 15
FEATURES = 40
ROWS = 1000  # of each of the two parts
TREE_SEED = 42
DATA_SEED = 21


@dataclass(frozen=True)
class Sample:
    """Training rows with noisy labels, test rows with true ones."""

    X_train: NDArray[np.uint8]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.uint8]
    y_test: NDArray[np.int64]


def sample(tree: int, rows: int, noise: float) -> Sample:
    """Return the first training rows of a tree, with labels flipped at a given rate."""
    if not (0 <= tree < TREES and 0 < rows <= ROWS and 0 <= noise <= 1):
        raise ValueError(f"there is no tree {tree} with {rows} rows and noise {noise}")
    X_train, X_test = _features()[:, tree]
    truth = trees()[tree]
    flipped = _uniform()[tree] < noise  # so what a little noise flips, more noise flips as well
    y_train = labels(truth, X_train) ^ flipped
    return Sample(X_train[:rows], y_train[:rows], X_test, labels(truth, X_test))


def labels(tree: Tree, X: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the label of the leaf that each row ends in."""
    return np.asarray(tree.counts[tree.apply(X), 1])


@cache
def trees() -> list[Tree]:
    """Return the trees, all from one stream: the tenth depends on the nine before it."""
    rng = np.random.default_rng(TREE_SEED)
    return [random_tree(INNER_NODES, FEATURES, rng) for _ in range(TREES)]


def random_tree(inner: int, features: int, rng: np.random.Generator) -> Tree:
    """Draw a tree with a number of inner nodes; a leaf's counts, [1, 0] or [0, 1], give its label.

    The root's feature is drawn uniformly, then how many of the other inner nodes go to the left,
    uniformly from 0 to all of them; then the subtrees, the left one first. No feature occurs twice
    on a path. Labels alternate from leaf to leaf, from the left; the first is drawn.
    """
    feature: list[int] = []
    left: list[int] = []
    right: list[int] = []

    def grow(inner: int, free: list[int]) -> int:
        node = len(feature)
        feature.append(-1)
        left.append(-1)
        right.append(-1)
        if inner > 0:
            test = int(rng.choice(free))
            others = [other for other in free if other != test]
            to_the_left = int(rng.integers(inner))
            feature[node] = test
            left[node] = grow(to_the_left, others)
            right[node] = grow(inner - 1 - to_the_left, others)
        return node

    grow(inner, list(range(features)))
    counts = np.zeros((len(feature), 2), dtype=np.int64)
    label = int(rng.choice([False, True]))
    for node in np.flatnonzero(np.array(feature) < 0):  # preorder: leaves from the left
        counts[node, label] = 1
        label = 1 - label
    return Tree(feature, left, right, counts)


@cache
def _features() -> NDArray[np.uint8]:
    """(training or test, tree, row, feature): fair coins."""
    rng = np.random.default_rng(DATA_SEED)
    return rng.integers(2, size=(2, TREES, ROWS, FEATURES)).astype(np.uint8)


@cache
def _uniform() -> NDArray[np.float64]:
    """(tree, row): a label is flipped where this is below the noise."""
    return np.random.default_rng(DATA_SEED).random((TREES, ROWS))
