"""How good a tree is: its posterior probability, its size, and its predictions on test rows.

Whichever system made the tree, the training rows in its leaves are counted here. There are three
test log likelihoods per row, all natural logarithms:

- ``ll_own``: of the leaf's training frequencies, clipped at 0.001 from 0 and 1. What CART reports.
- ``ll_predictive``: of the posterior mean (count + rho) / (rows + sum of rho), the probability that
  Bayes' rule gives to the next label. The proper one.
- ``ll_marginal``: the published experiments': the marginal likelihood of the test labels in the
  leaves under a fresh prior. It takes from the training rows no more than the splits, and gains
  from test labels that agree with each other, even if they contradict the training labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from experiments.data import Split
from maptree import Tree, log_posterior

LEAST = 0.001


def score(tree: Tree, split: Split, prior: Mapping[str, Any]) -> dict[str, Any]:
    """Return all scores; those on test rows are None if there are no test rows."""
    counts = _counts(tree, split.X_train, split.y_train)
    posterior = log_posterior(tree, split.X_train, split.y_train, **prior)
    majority = counts.argmax(axis=1)
    scores: dict[str, Any] = {
        # A tree with a test that is constant on its rows has prior probability 0.
        "log_posterior": posterior if math.isfinite(posterior) else None,
        "nodes": tree.node_count,
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "train_accuracy": _accuracy(tree, majority, split.X_train, split.y_train),
        "test_accuracy": None,
        "ll_own": None,
        "ll_predictive": None,
        "ll_marginal": None,
    }
    if split.X_test is None or split.y_test is None:
        return scores
    rho = _pseudo_counts(prior.get("rho"), tree.n_classes)
    leaves = tree.apply(split.X_test)
    rows = counts.sum(axis=1, keepdims=True)
    # A leaf that no training row reaches gives all classes the same probability.
    frequency = np.where(rows > 0, counts / np.maximum(rows, 1), 1 / tree.n_classes)
    mean = (counts + rho) / (rows + rho.sum())
    test_counts = _counts(tree, split.X_test, split.y_test)
    scores["test_accuracy"] = _accuracy(tree, majority, split.X_test, split.y_test)
    scores["ll_own"] = _mean_log(frequency.clip(LEAST, 1 - LEAST)[leaves, split.y_test])
    scores["ll_predictive"] = _mean_log(mean[leaves, split.y_test])
    scores["ll_marginal"] = float(_log_marginal(test_counts, rho).sum() / len(split.y_test))
    return scores


def _counts(tree: Tree, X: NDArray[np.uint8], y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the rows of each class that end in each node; zero at inner nodes."""
    counts = np.zeros((tree.node_count, tree.n_classes), dtype=np.int64)
    np.add.at(counts, (tree.apply(X), y), 1)
    return counts


def _accuracy(
    tree: Tree, majority: NDArray[np.intp], X: NDArray[np.uint8], y: NDArray[np.int64]
) -> float:
    return float((majority[tree.apply(X)] == y).mean())


def _mean_log(probabilities: NDArray[np.float64]) -> float:
    return float(np.log(probabilities).mean())


def _pseudo_counts(rho: Any, classes: int) -> NDArray[np.float64]:
    given = 5 / classes if rho is None else rho
    return np.broadcast_to(np.asarray(given, dtype=np.float64), (classes,))


def _log_marginal(counts: NDArray[np.int64], rho: NDArray[np.float64]) -> NDArray[np.float64]:
    """log B(counts + rho) / B(rho) of each node; 0 where there is no row."""
    classes = (gammaln(counts + rho) - gammaln(rho)).sum(axis=1)
    total = gammaln(counts.sum(axis=1) + rho.sum()) - gammaln(rho.sum())
    return np.asarray(classes - total)
