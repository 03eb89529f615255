"""A tree as a scikit-learn tree over the answers to the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree as SklearnTree

from maptree.encoding.encoder import BinaryEncoder
from maptree.schema.kept_thresholds import without_others
from maptree.trees.fitted import FittedTree
from maptree.trees.tree import Tree

# A test is a column of 0 and 1; values up to this are 0 and go to the left child.
_HALF = 0.5


def make_pipeline(fitted: FittedTree) -> Pipeline:
    """Return a fitted Pipeline of an encoder and a DecisionTreeClassifier."""
    classes, tree = fitted.classes, fitted.tree
    # Columns with all their thresholds would give very many tests.
    schema, place = without_others(fitted.schema, fitted.used_tests)
    feature = [place.get(test, -1) for test in tree.feature.tolist()]
    n_tests = len(schema.tests)
    if n_tests == 0:
        raise ValueError(
            "The tree has no tests, and scikit-learn has no trees without columns. The class "
            "probabilities are the same for every row: take them from predict_proba."
        )
    encoder = BinaryEncoder.of_schema(schema)
    model = DecisionTreeClassifier()
    model.n_features_in_ = n_tests
    model.n_outputs_ = 1
    model.classes_ = classes
    model.n_classes_ = np.intp(len(classes))
    model.max_features_ = n_tests
    over_tests = Tree(feature, tree.left, tree.right, tree.counts)
    model.tree_ = _sklearn_tree(over_tests, n_tests, fitted.probabilities)
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
