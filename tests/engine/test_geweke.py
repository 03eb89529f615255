"""Data drawn from the prior and fitted again return the prior (Geweke, JASA 2004).

A chain over trees and labels together: labels are drawn given the tree, then the sampler moves the
tree given the labels. If the sampler keeps the posterior, the trees are those of the prior. This
sees faults that no single data set shows, such as a likelihood that does not belong to the prior.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from checks import arrays_of, nested
from maptree import _core
from oracle import distribution

# Rows repeat, so that some leaves cannot be split; so do columns, and one is a complement.
BASE = np.array(
    [[int(v) for v in row] for row in ("000", "000", "001", "010", "011", "100", "111")]
)
X = np.hstack([BASE, BASE[:, :1], 1 - BASE[:, 1:2]]).astype(np.uint8)
PRIOR = {"alpha": 0.8, "beta": 0.6}
WEIGHTS = [3, 1, 1, 20, 2]
N_ROUNDS = 10_000
N_BATCHES = 40

STATISTICS = {
    "leaves": lambda tree: n_leaves(tree),
    "depth": lambda tree: depth(tree),
    "uses x0": lambda tree: float(0 in splits(tree)),
    "splits first on x4": lambda tree: float(tree[:1] == (4,)),
    "lone leaf": lambda tree: float(not tree),
}


def n_leaves(tree):
    return n_leaves(tree[1]) + n_leaves(tree[2]) if tree else 1


def depth(tree):
    return 1 + max(depth(tree[1]), depth(tree[2])) if tree else 0


def splits(tree):
    return {tree[0], *splits(tree[1]), *splits(tree[2])} if tree else set()


def draw_labels(tree, rho, rng):
    """Class probabilities of every leaf, and labels from them."""
    y = np.empty(len(X), dtype=np.int32)

    def fill(tree, rows):
        if not tree:
            y[rows] = rng.choice(len(rho), size=len(rows), p=rng.dirichlet(rho))
            return
        true = X[rows, tree[0]] == 1
        fill(tree[1], rows[~true])
        fill(tree[2], rows[true])

    fill(tree, np.arange(len(X)))
    return y


def move_tree(tree, y, rho, n_iterations, seed, weights):
    """Some iterations of the sampler from a tree."""
    tests = None if weights is None else np.array(weights, np.uint32)
    samples = _core.sample_mcmc(
        _core.Dataset(_core.pack(X), y, None, len(rho), fold_columns=False, test_weights=tests),
        _core.Prior(PRIOR["alpha"], PRIOR["beta"], np.array(rho)),
        n_samples=1,
        burn_in=0,
        thin=n_iterations,
        n_chains=1,
        seed=seed,
        initial=arrays_of(tree),
        limits=_core.Limits(),
    )
    last = int(samples.sample[0, 0])
    nodes = slice(samples.offsets[last], samples.offsets[last + 1])
    return nested(samples.feature[nodes], samples.left[nodes], samples.right[nodes])


@pytest.mark.parametrize(
    ("rho", "n_iterations", "weights"),
    [
        ((0.5, 0.5), 2, None),
        ((2.5, 2.5), 10, None),
        ((0.3, 1.0, 2.0), 5, None),
        ((0.5, 1.0), 5, WEIGHTS),
    ],
)
def test_trees_of_labels_of_trees_are_those_of_the_prior(rho, n_iterations, weights):
    prior, _ = distribution(X.tolist(), [0] * len(X), n_classes=1, **PRIOR, test_weights=weights)
    rng = np.random.default_rng(5)
    trees = list(prior)
    tree = trees[rng.choice(len(trees), p=list(prior.values()))]
    drawn = []
    for seed in range(N_ROUNDS):
        tree = move_tree(tree, draw_labels(tree, rho, rng), rho, n_iterations, seed, weights)
        drawn.append(tree)
    for name, statistic in STATISTICS.items():
        values = np.array([statistic(tree) for tree in drawn], dtype=float)
        expected = sum(p * statistic(tree) for tree, p in prior.items())
        # Means of long batches hardly depend on one another, so their spread gives the error of
        # the mean whatever the correlation from round to round.
        means = values.reshape(N_BATCHES, -1).mean(axis=1)
        error = means.std(ddof=1) / math.sqrt(N_BATCHES)
        assert abs(values.mean() - expected) < 4 * error, name
        assert error < 0.05 * max(0.5, values.std())  # or the test would see nothing
