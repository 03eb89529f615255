"""CART as a baseline: scikit-learn's fully grown tree, pruned by the posterior.

The pruning is exact. Bottom-up, a split is kept if it costs less than a leaf, together with the
best pruning below it. The result is the pruning of the grown tree with the lowest cost.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.tree import DecisionTreeClassifier

from maptree import Tree, log_posterior

CRITERIA = ("gini", "entropy")


def measure(X: NDArray[Any], y: NDArray[Any]) -> list[dict[str, Any]]:
    """Grow and prune a tree by each criterion, at the default prior: cost, seconds and size."""
    lines = []
    for criterion in CRITERIA:
        started = time.perf_counter()
        tree, cost = prune(grow(X, y, criterion), X)
        seconds = time.perf_counter() - started
        again = -log_posterior(tree, X, y)
        if not np.isclose(cost, again, rtol=0, atol=1e-6):
            raise RuntimeError(f"the pruned tree costs {cost}, but log_posterior gives {again}")
        lines.append(
            {
                "criterion": criterion,
                "cost": cost,
                "seconds": seconds,
                "leaves": tree.n_leaves,
                "depth": tree.depth,
            }
        )
    return lines


def grow(X: NDArray[Any], y: NDArray[Any], criterion: str) -> Tree:
    """Grow a tree with scikit-learn on a 0/1 matrix until no node can be split."""
    model = DecisionTreeClassifier(criterion=criterion, random_state=0).fit(X, y)
    grown = model.tree_
    labels = np.asarray(y)[:, np.newaxis] == model.classes_
    counts = model.decision_path(X).T @ labels.astype(np.int64)
    # Its thresholds are 0.5, so its left child is the false branch, as in a Tree.
    feature = np.where(grown.children_left < 0, -1, grown.feature)
    return Tree(feature, grown.children_left, grown.children_right, counts)


def prune(
    tree: Tree,
    X: NDArray[Any],
    alpha: float = 0.95,
    beta: float = 0.5,
    rho: float | None = None,
) -> tuple[Tree, float]:
    """Return the cheapest pruning of a tree with its cost, the negative log posterior."""
    leaf, split = node_costs(tree, X, alpha, beta, rho)
    cost = leaf.copy()
    splits = tree.feature >= 0
    for node in np.flatnonzero(splits)[::-1]:  # children come after their parents
        below = split[node] + cost[tree.left[node]] + cost[tree.right[node]]
        splits[node] = below < leaf[node]
        cost[node] = min(below, leaf[node])

    kept = np.zeros(tree.node_count, dtype=bool)
    kept[0] = True
    for node in np.flatnonzero(splits):
        kept[[tree.left[node], tree.right[node]]] = kept[node]
    number = np.cumsum(kept) - 1
    pruned = Tree(
        np.where(splits, tree.feature, -1)[kept],
        np.where(splits, number[tree.left], -1)[kept],
        np.where(splits, number[tree.right], -1)[kept],
        tree.counts[kept],
    )
    return pruned, float(cost[0])


def node_costs(
    tree: Tree, X: NDArray[Any], alpha: float, beta: float, rho: float | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what each node costs as a leaf, and what it adds to its children as a split."""
    reached = tree.decision_path(X).tocsc()
    valid = np.empty(tree.node_count)  # |V|: how many columns are not constant on the node's rows
    for node in range(tree.node_count):
        rows = X[reached.indices[reached.indptr[node] : reached.indptr[node + 1]]]
        valid[node] = (rows.any(axis=0) & ~rows.all(axis=0)).sum()

    rho = 5 / tree.n_classes if rho is None else rho
    total = rho * tree.n_classes
    likelihood = (
        gammaln(tree.counts.sum(axis=1) + total)
        - gammaln(total)
        - (gammaln(tree.counts + rho) - gammaln(rho)).sum(axis=1)
    )
    p_split = alpha * (1.0 + tree.depths) ** -beta
    leaf = np.where(valid > 0, -np.log1p(-p_split), 0.0) + likelihood
    split = -np.log(p_split) + np.log(np.maximum(valid, 1))
    return leaf, split
