"""The posterior probability of a given tree, computed from its definition.

This is an independent check on the search: it shares no code with it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.special import gammaln

from maptree.parameters.outcomes import (
    NU,
    SHAPE,
    STEPS,
    CountPrior,
    NumberPrior,
    read_count_prior,
    read_likelihood,
    read_number_prior,
)
from maptree.parameters.prior import Prior, read_alpha, read_beta, read_prior
from maptree.tables.binary import first_not_binary
from maptree.tables.labels import Codes, class_numbers
from maptree.tables.numbers import read_counts, read_exposure, read_numbers
from maptree.tables.standard_units import exposure_units, standardise
from maptree.tables.weights import read_weights
from maptree.trees.tree import Tree

# Bytes of packed columns examined at a time, so that temporary arrays stay small.
_BLOCK = 1 << 20

Weights = NDArray[np.int64] | None
# What the rows of a leaf cost: minus the log of the probability, or density, of their outcomes.
LeafCost = Callable[[NDArray[np.bool_]], float]


def log_posterior(
    tree: Tree,
    X: ArrayLike,
    y: ArrayLike,
    alpha: float = 0.95,
    beta: float = 0.5,
    rho: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    test_weights: ArrayLike | None = None,
    *,
    likelihood: str | None = None,
    kappa: float | None = None,
    nu: float = NU,
    noise: float | None = None,
    shape: float = SHAPE,
    exposure: ArrayLike | None = None,
) -> float:
    """Return the unnormalised log posterior log P(tree, y | X) of a tree, in nats.

    Parameters
    ----------
    tree : Tree
        Its ``counts`` and ``sums`` are not used: they are recomputed from X and y.
    X : array of shape (rows, tests)
        The 0/1 answers to the tests, as from ``BinaryEncoder.transform``. Duplicate and constant
        columns matter, because the prior depends on them.
    y : array of shape (rows,)
        Labels. If there are as many distinct labels as the tree has classes, they are the classes
        in sorted order; otherwise they must be class numbers 0, 1, ... With a likelihood, numbers
        or counts.
    alpha, beta, rho
        The prior, as in ``MAPTreeClassifier``.
    sample_weight : array of shape (rows,), optional
        How often each row counts; whole numbers.
    test_weights : array of shape (tests,), optional
        How probable the tests are, compared with one another: numbers above 0, such as
        ``test_weights_`` of a classifier or ``BinaryEncoder.test_weights()``. None: all the same,
        which is ``split_prior="tests"``.
    likelihood : "normal", "poisson" or None, default=None
        That of numbers or counts, as in ``MAPTreeRegressor``; None: y has labels.
    kappa, nu, noise, shape, exposure
        The prior of leaves and the exposure, as in ``MAPTreeRegressor``.

    Returns
    -------
    float
        Of numbers, with the density of y divided by its standard deviation; it may be positive.
        ``-inf`` for a tree with a test that is constant on the rows of its node, because such a
        tree has prior probability 0.

    Examples
    --------
    >>> from maptree import Tree, log_posterior
    >>> leaf = Tree([-1], [-1], [-1], [[2, 2]])
    >>> X, y = [[0, 1], [0, 1], [1, 1], [1, 1]], ["no", "no", "yes", "yes"]
    >>> round(log_posterior(leaf, X, y), 4)
    -6.0842
    >>> split = Tree([0, -1, -1], [1, -1, -1], [2, -1, -1], [[2, 2], [2, 0], [0, 2]])
    >>> round(log_posterior(split, X, y), 4)
    -2.5156

    The prior of a model that was fitted to raw columns:

    >>> from maptree import MAPTreeClassifier
    >>> X, y = [[20, "a"], [40, "b"], [60, "a"], [80, "b"]] * 5, [0, 0, 1, 1] * 5
    >>> model = MAPTreeClassifier(column_weights={0: 3}).fit(X, y)
    >>> answers, weights = model.encoder_.transform(X), model.test_weights_
    >>> score = log_posterior(model.tree_, answers, y, test_weights=weights)
    >>> round(score, 4) == round(model.certificate_.log_posterior, 4)
    True
    """
    if not isinstance(tree, Tree):
        raise TypeError(
            f"tree is a {type(tree).__name__}: pass a maptree.Tree, such as model.tree_."
        )
    if issparse(X):
        raise TypeError("X is a sparse matrix: pass X.toarray().")
    answers = np.asarray(X)
    if answers.ndim != 2 or answers.shape[0] == 0:
        raise ValueError(f"X has shape {answers.shape}: pass a 0/1 matrix with at least one row.")
    if answers.shape[1] <= tree.feature.max():
        raise ValueError(
            f"X has {answers.shape[1]} columns but the tree uses test {tree.feature.max()}: "
            "pass the encoded matrix that the tree was fitted on."
        )
    bad = first_not_binary(answers)
    if bad is not None:
        row, column = bad
        raise ValueError(
            f"X[{row}, {column}] is {answers[row, column]!r}: pass the 0/1 answers to the tests, "
            "as from BinaryEncoder().fit_transform(X)."
        )
    n_rows = answers.shape[0]
    weights = read_weights(sample_weight, n_rows)
    prior = Prior(read_alpha(alpha), read_beta(beta), np.empty(0))
    leaf: LeafCost
    if likelihood is None:
        prior = read_prior(alpha, beta, rho, tree.n_classes)
        leaf = _of_classes(class_numbers(y, n_rows, tree.n_classes), weights, prior.rho)
    elif read_likelihood(likelihood) == "normal":
        wanted = read_number_prior(kappa, nu, noise)
        if not wanted.is_known:
            raise ValueError(
                "noise is missing: pass that of the model, as in noise=model.noise_, "
                "kappa=model.kappa_."
            )
        of_leaves = wanted.known()
        leaf = _of_numbers(read_numbers(y, n_rows), weights, of_leaves)
    else:
        found = read_exposure(1 if exposure is None else exposure, n_rows)
        leaf = _of_counts(read_counts(y, n_rows), found, weights, read_count_prior(shape))
    of_tests = _read_test_weights(test_weights, answers.shape[1])
    columns = np.packbits(answers != 0, axis=0, bitorder="little").T
    present = np.ones(n_rows, dtype=bool) if weights is None else weights > 0
    return -_cost(tree, np.ascontiguousarray(columns), of_tests, present, leaf, prior)


def _read_test_weights(given: ArrayLike | None, n_tests: int) -> NDArray[np.float64]:
    """Return the weights of the tests; None is 1 for each."""
    if given is None:
        return np.ones(n_tests)
    weights = np.asarray(given)
    if weights.shape != (n_tests,):
        raise ValueError(
            f"test_weights has shape {weights.shape} but X has {n_tests:,} tests: pass one weight "
            "per test, such as test_weights_ of the classifier."
        )
    if weights.dtype.kind not in "iuf":
        raise TypeError(f"test_weights has type {weights.dtype}: pass numbers above 0.")
    with np.errstate(over="ignore"):  # of longer floats
        found = weights.astype(np.float64)
    bad = ~((found > 0) & np.isfinite(found))
    if bad.any():
        test = int(np.argmax(bad))
        more = ""
        if weights[test] == 0:
            more = (
                " A classifier that has only the thresholds of its tree does not know the weights "
                "of others: take BinaryEncoder(max_thresholds=None).fit(X, y).test_weights()."
            )
        raise ValueError(f"test_weights[{test}] is {weights[test]!s}: pass numbers above 0.{more}")
    return found


def _cost(
    tree: Tree,
    columns: NDArray[np.uint8],
    of_tests: NDArray[np.float64],
    present: NDArray[np.bool_],
    leaf_cost: LeafCost,
    prior: Prior,
) -> float:
    """Return the cost of a tree over packed columns (one row of bytes per test).

    ``of_tests``: the weights of the tests; ``present``: the rows that count.
    """
    at = {0: np.packbits(present, bitorder="little")}
    varying = np.full(tree.node_count, -np.inf)  # log of the weight of the tests that vary
    likelihood = np.zeros(tree.node_count)
    possible = np.ones(tree.node_count, dtype=bool)
    for node in range(tree.node_count):  # parents come before their children
        rows = at.pop(node)
        varies = _varies(columns, rows)
        if varies.any():
            heaviest = of_tests[varies].max()  # by which they are divided: the sum may be too large
            varying[node] = np.log((of_tests[varies] / heaviest).sum()) + np.log(heaviest)
        test = tree.feature[node]
        if test < 0:
            mask = np.unpackbits(rows, count=len(present), bitorder="little").view(bool)
            likelihood[node] = leaf_cost(mask) if mask.any() else 0.0
        else:
            possible[node] = varies[test]
            at[int(tree.left[node])] = rows & ~columns[test]
            at[int(tree.right[node])] = rows & columns[test]

    # In logarithms: p_split itself may be too small for a float.
    log_p_split = np.log(prior.alpha) - prior.beta * np.log1p(tree.depths)
    stop = -np.log1p(-np.exp(log_p_split))
    subtree = np.where(varying > -np.inf, stop, 0.0) + likelihood
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:
        if possible[node]:
            chosen = varying[node] - np.log(of_tests[tree.feature[node]])
            split = -log_p_split[node] + chosen
            subtree[node] = split + subtree[tree.left[node]] + subtree[tree.right[node]]
        else:
            subtree[node] = np.inf
    return float(subtree[0])


def _varies(columns: NDArray[np.uint8], rows: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which columns are not constant on these rows."""
    used = np.flatnonzero(rows)  # a small node touches few bytes of each column
    mask = rows[used]
    everywhere = len(used) == columns.shape[1]
    varies = np.zeros(len(columns), dtype=bool)
    step = max(1, _BLOCK // max(1, len(used)))
    for start in range(0, len(columns), step):
        block = columns[start : start + step]
        ones = (block if everywhere else block[:, used]) & mask
        varies[start : start + step] = ones.any(axis=1) & (ones != mask).any(axis=1)
    return varies


def _of_classes(codes: Codes, weights: Weights, rho: NDArray[np.float64]) -> LeafCost:
    """-log of B(counts + rho) / B(rho), B the multivariate Beta function."""
    total = rho.sum()

    def cost(rows: NDArray[np.bool_]) -> float:
        # Sums of whole numbers below 2**53 are exact in floats.
        some = None if weights is None else weights[rows]
        counts = np.bincount(codes[rows], some, minlength=len(rho))
        of_classes = (gammaln(counts + rho) - gammaln(rho)).sum()
        return float(gammaln(counts.sum() + total) - gammaln(total) - of_classes)

    return cost


def _of_numbers(y: NDArray[np.float64], weights: Weights, prior: NumberPrior) -> LeafCost:
    """-log of a multivariate t density: by the mean of the rows, and squares around it."""
    u = standardise(y, weights).z / STEPS
    times = np.ones(len(u)) if weights is None else weights.astype(np.float64)
    kappa, freedom, spread = prior.kappa, prior.nu, prior.nu * prior.noise

    def cost(rows: NDArray[np.bool_]) -> float:
        n, some, of_some = times[rows].sum(), u[rows], times[rows]
        mean = (some @ of_some) / n
        squares = (some - mean) ** 2 @ of_some + n * kappa / (n + kappa) * mean**2
        constant = gammaln(freedom / 2) - gammaln((freedom + n) / 2)
        constant += n / 2 * np.log(np.pi * spread) + np.log1p(n / kappa) / 2
        return float(constant + (freedom + n) / 2 * np.log1p(squares / spread))

    return cost


def _of_counts(
    y: NDArray[np.int64], exposure: NDArray[np.float64], weights: Weights, prior: CountPrior
) -> LeafCost:
    """-log of Poisson probabilities, whose rate is averaged over its gamma distribution."""
    e = exposure_units(exposure, weights).in_means
    times = np.ones(len(y)) if weights is None else weights.astype(np.float64)
    shape = prior.shape
    rate = shape * times.sum() / max(1.0, float(y @ times))  # of the gamma distribution

    def cost(rows: NDArray[np.bool_]) -> float:
        events, seen = y[rows] @ times[rows], e[rows] @ times[rows]
        alone = (y[rows] * np.log(e[rows]) - gammaln(y[rows] + 1.0)) @ times[rows]
        logs = shape * np.log(rate) - (shape + events) * np.log(rate + seen)
        return float(gammaln(shape) - gammaln(shape + events) - logs - alone)

    return cost
