"""A tree as a scikit-learn tree over the answers to the tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import Tree as SklearnTree

from maptree.encoding.encoder import BinaryEncoder
from maptree.schema.kept_thresholds import without_others
from maptree.trees.fitted import FittedTree
from maptree.trees.outcomes import Counts, Measured
from maptree.trees.tree import Tree

# A test is a column of 0 and 1; values up to this are 0 and go to the left child.
_HALF = 0.5


def make_pipeline(fitted: FittedTree) -> Pipeline:
    """Return a fitted Pipeline of an encoder and a decision tree of scikit-learn."""
    tree = fitted.tree
    # Columns with all their thresholds would give very many tests.
    schema, place = without_others(fitted.schema, fitted.used_tests)
    feature = [place.get(test, -1) for test in tree.feature.tolist()]
    n_tests = len(schema.tests)
    if n_tests == 0:
        what, method = "What it predicts is", "predict"
        if fitted.measured is None:
            what, method = "The class probabilities are", "predict_proba"
        raise ValueError(
            f"The tree has no tests, and scikit-learn has no trees without columns. {what} the "
            f"same for every row: take {'them' if fitted.measured is None else 'it'} from {method}."
        )
    over_tests = Tree(feature, tree.left, tree.right, tree.counts)
    model = _classifier(fitted) if fitted.measured is None else _regressor(fitted.measured)
    model.n_features_in_ = n_tests
    model.n_outputs_ = 1
    model.max_features_ = n_tests
    if fitted.measured is None:
        means = fitted.probabilities
        impurities = 1.0 - (means**2).sum(axis=1)  # Gini
    else:
        means, impurities = _of_measured(fitted.measured, tree)
    model.tree_ = _sklearn_tree(over_tests, n_tests, means, impurities)
    return Pipeline([("encoder", BinaryEncoder.of_schema(schema)), ("tree", model)])


def _classifier(fitted: FittedTree) -> DecisionTreeClassifier:
    model = DecisionTreeClassifier()
    model.classes_ = fitted.classes
    model.n_classes_ = np.intp(len(fitted.classes))
    return model


def _regressor(measured: Measured) -> DecisionTreeRegressor:
    counts = isinstance(measured, Counts)
    return DecisionTreeRegressor(criterion="poisson" if counts else "squared_error")


def _of_measured(measured: Measured, tree: Tree) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the prediction and the impurity of each node.

    The impurity of numbers is their variance. That of counts, a deviance, does not follow from
    what a node knows, and is 0.
    """
    if isinstance(measured, Counts):
        return measured.rates(tree)[:, np.newaxis], np.zeros(tree.node_count)
    with np.errstate(over="ignore"):
        variance = measured.observed(tree)[1] ** 2
    largest = np.finfo(np.float64).max
    return measured.predictive(tree).mean[:, np.newaxis], np.minimum(variance, largest)


def _sklearn_tree(
    tree: Tree, n_tests: int, means: NDArray[np.float64], impurities: NDArray[np.float64]
) -> SklearnTree:
    made = SklearnTree(n_tests, np.array([tree.n_classes], dtype=np.intp), 1)
    state = made.__getstate__()
    nodes = np.zeros(tree.node_count, dtype=state["nodes"].dtype)
    leaf = tree.feature < 0
    nodes["left_child"] = tree.left
    nodes["right_child"] = tree.right
    nodes["feature"] = np.where(leaf, -2, tree.feature)  # -2: scikit-learn's mark of a leaf
    nodes["threshold"] = np.where(leaf, -2.0, _HALF)
    nodes["impurity"] = impurities
    nodes["n_node_samples"] = tree.rows
    nodes["weighted_n_node_samples"] = tree.rows
    state |= {
        "max_depth": tree.depth,
        "node_count": tree.node_count,
        "nodes": nodes,
        "values": np.ascontiguousarray(means[:, np.newaxis, :]),
    }
    made.__setstate__(state)
    return made
