"""On tiny data both samplers give the posterior that brute force enumerates."""

from __future__ import annotations

import math

import numpy as np
import pytest

from maptree import MCMCTreeClassifier, SMCTreeClassifier, log_posterior
from maptree.trees.leaf_probabilities import posterior_mean
from oracle import distribution
from tiny import TINY, estimated, exact, total_variation

CLOSE = 0.02  # total variation


def fitted(model, name, **params):
    problem = TINY[name]
    prior = {"alpha": problem.alpha, "beta": problem.beta, "rho": problem.rho}
    if problem.test_weights is not None:
        prior["column_weights"] = dict(enumerate(problem.test_weights.tolist()))
    model.set_params(encoder=None, random_state=1, **prior, **params)
    return model.fit(problem.X, problem.y)


@pytest.mark.parametrize("name", TINY)
def test_chains_visit_trees_as_often_as_is_their_probability(name):
    model = fitted(MCMCTreeClassifier(n_samples=250_000), name)
    posterior, _ = exact(name)
    assert total_variation(estimated(model), posterior) < CLOSE
    check_what_follows(model, name)


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("growth", ["node", "level"])
def test_particles_weigh_what_their_trees_are_worth(name, growth):
    model = fitted(SMCTreeClassifier(n_particles=8000, n_islands=40), name, growth=growth)
    posterior, log_evidence = exact(name)
    assert total_variation(estimated(model), posterior) < CLOSE
    assert abs(model.log_evidence_ - log_evidence) < 3 * model.log_evidence_error_
    check_what_follows(model, name)


def check_what_follows(model, name):
    """Weights, predictions and summaries are those of the exact posterior, as close as it is."""
    problem, (posterior, _) = TINY[name], exact(name)
    assert model.weights_.sum() == pytest.approx(1)
    for tree, value in zip(model.trees_[:50], model.tree_log_posteriors_, strict=False):
        prior = problem.alpha, problem.beta, problem.rho
        weights = problem.test_weights
        score = log_posterior(tree, problem.X, problem.y, *prior, test_weights=weights)
        assert value == pytest.approx(score, abs=1e-6)
    best = max(posterior.values())
    found = math.exp(model.log_posterior_ - model.tree_log_posteriors_[0])
    assert found * posterior[next(iter(estimated(model)))] == pytest.approx(best)

    means = sum(p * predicted(tree, problem) for tree, p in posterior.items())
    np.testing.assert_allclose(model.predict_proba(problem.X), means, atol=CLOSE)
    summary = model.posterior_summary()
    for n_leaves in range(1, len(problem.y) + 1):
        share = sum(p for tree, p in posterior.items() if leaves(tree) == n_leaves)
        assert summary.leaves.get(n_leaves, 0.0) == pytest.approx(share, abs=CLOSE)
    used = {split.name: split for split in summary.columns}
    for column in range(problem.X.shape[1]):
        share = sum(p for tree, p in posterior.items() if column in splits(tree))
        expected = sum(p * splits(tree).count(column) for tree, p in posterior.items())
        if share > 0:
            assert used[f"x{column}"].probability == pytest.approx(share, abs=CLOSE)
            assert used[f"x{column}"].expected_splits == pytest.approx(expected, abs=5 * CLOSE)
        else:
            assert f"x{column}" not in used


def predicted(tree, problem):
    """The class probabilities of all rows by one tree."""
    means = np.empty((len(problem.y), problem.n_classes))

    def fill(tree, rows):
        if not tree:
            counts = np.bincount(problem.y[rows], minlength=problem.n_classes)
            means[rows] = posterior_mean(counts[np.newaxis], np.array(problem.rho))
            return
        true = problem.X[rows, tree[0]] == 1
        fill(tree[1], rows[~true])
        fill(tree[2], rows[true])

    fill(tree, np.arange(len(problem.y)))
    return means


def leaves(tree):
    return leaves(tree[1]) + leaves(tree[2]) if tree else 1


def splits(tree):
    return [tree[0], *splits(tree[1]), *splits(tree[2])] if tree else []


@pytest.mark.parametrize("resampling", ["systematic", "multinomial"])
@pytest.mark.parametrize("growth", ["node", "level"])
@pytest.mark.parametrize("proposal", ["optimal", "prior"])
@pytest.mark.parametrize(
    "name", ["three classes", "duplicate rows", "complementary column", "weights of tests"]
)
def test_the_evidence_is_unbiased_with_few_particles(name, proposal, growth, resampling):
    """However few: a bias would show in the mean of many islands, which resample at every step."""
    model = fitted(
        SMCTreeClassifier(n_particles=8, n_islands=10_000, ess_threshold=1.0),
        name,
        proposal=proposal,
        growth=growth,
        resampling=resampling,
    )
    assert (
        model.resamplings_.mean() > 0.5
    )  # an island whose particles all stop at the root has none
    assert abs(model.log_evidence_ - exact(name)[1]) < 3 * model.log_evidence_error_
    # The weights over all islands are those of the posterior, too.
    assert total_variation(estimated(model), exact(name)[0]) < 2 * CLOSE


def test_the_prior_returns_where_labels_say_nothing():
    """With one class every tree explains the labels equally."""
    problem = TINY["complementary column"]
    given = {"encoder": None, "alpha": 0.7, "beta": 0.3, "random_state": 2}
    y = np.zeros(len(problem.y), dtype=int)
    prior, _ = distribution(problem.X.tolist(), y.tolist(), n_classes=1, alpha=0.7, beta=0.3)
    check_prior(problem.X, y, prior, given)


def check_prior(X, y, prior, given):
    chains = MCMCTreeClassifier(n_samples=250_000, **given).fit(X, y)
    assert total_variation(estimated(chains), prior) < CLOSE
    filters = SMCTreeClassifier(n_particles=100_000, **given).fit(X, y)
    assert total_variation(estimated(filters), prior) < CLOSE
    assert filters.log_evidence_ == pytest.approx(0, abs=1e-6)


def test_the_prior_of_weighted_tests_returns_where_labels_say_nothing():
    problem = TINY["weights of tests"]
    y = np.zeros(len(problem.y), dtype=int)
    weights = problem.test_weights.tolist()
    prior, _ = distribution(
        problem.X.tolist(), y.tolist(), n_classes=1, alpha=0.7, beta=0.3, test_weights=weights
    )
    given = {"encoder": None, "alpha": 0.7, "beta": 0.3, "random_state": 2}
    check_prior(problem.X, y, prior, given | {"column_weights": dict(enumerate(weights))})
