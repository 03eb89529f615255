"""CART pruned by the posterior, the yardstick of the benchmarks."""

from __future__ import annotations

import numpy as np
import pytest

import cart
from maptree import Tree, log_posterior
from samples import noisy


def prunings(tree, node=0):
    """Every set of inner nodes that a pruning of the subtree below a node can keep."""
    yield frozenset()
    if tree.feature[node] >= 0:
        for left in prunings(tree, tree.left[node]):
            for right in prunings(tree, tree.right[node]):
                yield {int(node)} | left | right


def with_splits(tree, splits):
    """The tree that splits at these nodes only."""
    feature, left, right, counts = [], [], [], []

    def add(node):
        at = len(feature)
        inner = node in splits
        feature.append(int(tree.feature[node]) if inner else -1)
        left.append(-1)
        right.append(-1)
        counts.append(tree.counts[node])
        if inner:
            left[at] = add(int(tree.left[node]))
            right[at] = add(int(tree.right[node]))
        return at

    add(0)
    return Tree(feature, left, right, np.array(counts))


@pytest.mark.parametrize("criterion", cart.CRITERIA)
@pytest.mark.parametrize("prior", [(0.95, 0.5, None), (0.6, 1.5, 0.3), (0.99, 0.1, 8.0)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_pruning_is_the_best_of_all(criterion, prior, n_classes):
    alpha, beta, rho = prior
    for seed in range(3):
        X, y = noisy(n_rows=24, n_columns=4, n_classes=n_classes, seed=seed)
        grown = cart.grow(X, y, criterion)
        assert grown.n_leaves > 4
        costs = [
            -log_posterior(with_splits(grown, splits), X, y, alpha, beta, rho)
            for splits in prunings(grown)
        ]
        pruned, cost = cart.prune(grown, X, alpha, beta, rho)
        assert cost == pytest.approx(min(costs), abs=1e-9)
        assert -log_posterior(pruned, X, y, alpha, beta, rho) == pytest.approx(cost, abs=1e-9)


def test_a_grown_tree_parts_what_differs():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    y = X[:, 0] ^ X[:, 1]
    grown = cart.grow(X, y, "gini")
    assert grown.n_leaves == 4
    assert sorted(grown.counts[grown.feature < 0].max(axis=1)) == [5, 5, 5, 5]
    assert (
        np.bincount(grown.apply(X), minlength=7) == grown.counts.sum(1) * (grown.feature < 0)
    ).all()


def test_measure_scores_both_criteria():
    X, y = noisy(n_rows=60)
    lines = cart.measure(X, np.where(y == 1, "yes", "no"))
    assert [line["criterion"] for line in lines] == ["gini", "entropy"]
    assert all(line["cost"] > 0 and line["seconds"] > 0 for line in lines)
