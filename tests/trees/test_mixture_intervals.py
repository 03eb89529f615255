"""Credible intervals of averages: quantiles of mixtures of Beta distributions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from maptree import MCMCTreeClassifier, SMCTreeClassifier
from maptree.trees.mixture_intervals import Mixtures
from problems import seeds
from samples import noisy, sampler


def drawn(model, answers, row, n, rng):
    """Class probabilities of a row, drawn: a tree by its weight, then from the Dirichlet there."""
    leaves = np.array([tree.apply(answers[[row]])[0] for tree in model.trees_])
    counts = np.array([tree.counts[leaf] for tree, leaf in zip(model.trees_, leaves, strict=True)])
    chosen = rng.choice(len(counts), size=n, p=model.weights_)
    gammas = rng.gamma(counts[chosen] + model.rho_)
    return gammas / gammas.sum(axis=1, keepdims=True)


def cdf(model, answers, row, k, at):
    """P(probability of class k <= at), tree by tree."""
    total = 0.0
    for tree, weight in zip(model.trees_, model.weights_, strict=True):
        posterior = tree.counts[tree.apply(answers[[row]])[0]] + model.rho_
        total += weight * beta.cdf(at, posterior[k], posterior.sum() - posterior[k])
    return total


@pytest.mark.parametrize("kind", [MCMCTreeClassifier, SMCTreeClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_against_draws(kind, n_classes, level):
    X, y = noisy(n_classes=n_classes, n_rows=60)
    model = sampler(kind).fit(X, y)
    answers, rng = model.encoder_.transform(X), np.random.default_rng(0)
    ends = model.predict_interval(X, level)
    assert ends.shape == (60, n_classes, 2)
    for row in (0, 7, 31):
        sample = drawn(model, answers, row, 40_000, rng)
        expected = np.quantile(sample, [(1 - level) / 2, (1 + level) / 2], axis=0).T
        np.testing.assert_allclose(ends[row], expected, atol=0.015)
        for k in range(n_classes):
            low, high = (cdf(model, answers, row, k, end) for end in ends[row, k])
            assert low == pytest.approx((1 - level) / 2, abs=1e-9)
            assert high == pytest.approx((1 + level) / 2, abs=1e-9)


def test_intervals_are_wider_than_given_one_tree():
    """Means of the leaves differ, too: quantiles of these alone would be too narrow."""
    X, y = noisy(n_rows=60)
    model = sampler(MCMCTreeClassifier).fit(X, y)
    ends = model.predict_interval(X)
    probabilities = model.predict_proba(X)
    assert ((ends[:, :, 0] < probabilities) & (probabilities < ends[:, :, 1])).all()
    assert (np.diff(model.predict_interval(X, 0.5)) < np.diff(ends)).all()


def test_blocks_of_rows_change_nothing(monkeypatch):
    import maptree.trees.average as average

    X, y = noisy(n_classes=3)
    model = sampler(MCMCTreeClassifier).fit(X, y)
    whole = model.predict_interval(X)
    monkeypatch.setattr(average, "_LEAVES", 7 * len(model.trees_))
    np.testing.assert_array_equal(model.predict_interval(X), whole)


def test_one_class_one_tree_and_no_rows():
    X, _ = noisy()
    one = sampler(MCMCTreeClassifier).fit(X, np.zeros(len(X)))
    assert (one.predict_interval(X) == 1).all()
    lone = sampler(SMCTreeClassifier).fit([[0], [0], [0]], [0, 1, 0])
    expected = beta.ppf([0.025, 0.975], 2 + 2.5, 1 + 2.5)
    np.testing.assert_allclose(lone.predict_interval([[0]])[0, 0], expected)


@pytest.mark.parametrize("level", [0, 1, -0.5, "high"])
def test_levels_out_of_range(level):
    X, y = noisy()
    model = sampler(MCMCTreeClassifier).fit(X, y)
    with pytest.raises((ValueError, TypeError), match="level="):
        model.predict_interval(X, level)


@seeds(20)
def test_quantiles_of_extreme_mixtures(seed):
    """Peaks far apart with nothing between, and densities without bound at the ends."""
    rng = np.random.default_rng(seed)
    n = 12
    a, b = 10 ** rng.uniform(-3, 6, size=(2, n))
    numbers = rng.integers(0, n, size=(30, 5))
    weights = rng.dirichlet(np.full(5, 0.3))
    mixtures = Mixtures.of(numbers, weights)
    for probability in (0.005, 0.5, 0.9):
        found = mixtures.quantiles(a, b, probability)
        assert ((found >= 0) & (found <= 1)).all()
        for row, x in zip(numbers, found, strict=True):
            # The smallest steps of a float may step over the probability.
            below, above = np.nextafter(x, -1) - 1e-15, np.nextafter(x, 2) + 1e-15
            low, high = (weights @ beta.cdf(at, a[row], b[row]) for at in (below, above))
            assert low - 1e-9 <= probability <= high + 1e-9
