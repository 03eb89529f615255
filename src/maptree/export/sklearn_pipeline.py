"""A tree as scikit-learn's own, over the answers to the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree as SklearnTree

from maptree.encoding.encoder import BinaryEncoder
from maptree.trees.fitted import FittedTree
from maptree.trees.tree import Tree

# A test is a column of 0 and 1; at most this is 0, and the left child.
_HALF = 0.5


def make_pipeline(fitted: FittedTree) -> Pipeline:
    """Return a fitted Pipeline of an encoder and a DecisionTreeClassifier."""
    classes, n_tests = fitted.classes, len(fitted.schema.tests)
    if n_tests == 0:
        raise ValueError(
            "The table gave no tests, and scikit-learn has no trees without columns: there is "
            "nothing to export but the class probabilities, which are the same for every row."
        )
    encoder = BinaryEncoder.of_schema(fitted.schema)
    model = DecisionTreeClassifier()
    model.n_features_in_ = n_tests
    model.n_outputs_ = 1
    model.classes_ = classes
    model.n_classes_ = np.intp(len(classes))
    model.max_features_ = n_tests
    model.tree_ = _sklearn_tree(fitted.tree, n_tests, fitted.probabilities)
    return Pipeline([("encoder", encoder), ("tree", model)])


def _sklearn_tree(tree: Tree, n_tests: int, means: NDArray[np.float64]) -> SklearnTree:
    made = SklearnTree(n_tests, np.array([tree.n_classes], dtype=np.intp), 1)
    state = made.__getstate__()
    nodes = np.zeros(tree.node_count, dtype=state["nodes"].dtype)
    leaf = tree.feature < 0
    nodes["left_child"] = tree.left
    nodes["right_child"] = tree.right
    nodes["feature"] = np.where(leaf, -2, tree.feature)  # -2: scikit-learn's mark of a leaf
    nodes["threshold"] = np.where(leaf, -2.0, _HALF)
    nodes["impurity"] = 1.0 - (means**2).sum(axis=1)  # Gini
    nodes["n_node_samples"] = tree.counts.sum(axis=1)
    nodes["weighted_n_node_samples"] = tree.counts.sum(axis=1)
    state |= {
        "max_depth": tree.depth,
        "node_count": tree.node_count,
        "nodes": nodes,
        "values": np.ascontiguousarray(means[:, np.newaxis, :]),
    }
    made.__setstate__(state)
    return made
