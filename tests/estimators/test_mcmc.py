"""What only MCMCTreeClassifier has: chains, their diagnostics, where they start."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from maptree import MAPTreeClassifier, MCMCTreeClassifier, Tree
from samples import noisy, sampler


def test_what_chains_keep():
    X, y = noisy()
    model = MCMCTreeClassifier(n_samples=50, burn_in=30, thin=3, n_chains=2, random_state=0).fit(
        X, y
    )
    assert model.samples_.shape == (2, 50)
    assert model.log_posteriors_.shape == (2, (30 + 50 * 3) // 3)
    assert np.isfinite(model.log_posteriors_).all()
    kept = model.log_posteriors_[:, -50:]
    np.testing.assert_array_equal(model.tree_log_posteriors_[model.samples_], kept)
    shares = np.bincount(model.samples_.ravel(), minlength=len(model.trees_)) / 100
    np.testing.assert_allclose(model.weights_, shares)
    assert model.log_posterior_ >= model.log_posteriors_.max()
    assert model.trace_["steps"][-1] == 2 * (30 + 50 * 3)


def test_acceptance():
    X, y = noisy()
    model = sampler(MCMCTreeClassifier, initial_tree=None).fit(X, y)
    assert list(model.acceptance_) == ["grow", "prune", "change", "swap"]
    assert sum(move.proposed for move in model.acceptance_.values()) == 2 * 300
    for move in model.acceptance_.values():
        assert 0 < move.accepted < move.proposed
        assert move.rate == move.accepted / move.proposed


def test_diagnostics():
    X, y = noisy()
    model = MCMCTreeClassifier(random_state=0).fit(X, y)
    found = model.diagnostics()
    assert (found.n_chains, found.n_draws) == (4, 250)
    assert 0.99 < found.r_hat < 1.05
    assert 100 < found.ess < 2000
    assert str(found).startswith(f"R-hat {found.r_hat:.3f}, effective sample size")
    assert math.isnan(MCMCTreeClassifier(n_samples=3).fit(X, y).diagnostics().r_hat)


@pytest.mark.parametrize("encoder", ["auto", None])
def test_chains_start_from_a_given_tree(encoder):
    X, y = noisy(n_classes=3)
    optimum = MAPTreeClassifier(time_limit=None, encoder=encoder).fit(X, y)
    for initial in (optimum, optimum.tree_):
        model = MCMCTreeClassifier(
            n_samples=1, burn_in=0, thin=1, initial_tree=initial, encoder=encoder, random_state=0
        ).fit(X, y)
        assert model.tree_ == optimum.tree_
        assert model.log_posterior_ == optimum.certificate_.log_posterior
    again = MCMCTreeClassifier(initial_tree=optimum.tree_, n_samples=5, random_state=0)
    assert clone(again).fit(X, y).tree_ == optimum.tree_


def test_the_tests_of_a_fitted_classifier_are_looked_up():
    """Thresholds lie where the class changes, so other labels give the same one another number."""
    X = np.repeat(np.arange(6.0), 8)[:, np.newaxis]
    few, many = X[:, 0] > 2, (X[:, 0] > 2) ^ (np.arange(48) % 8 == 0)
    one = MAPTreeClassifier().fit(X, few)
    assert one.tree_.feature.tolist() == [0, -1, -1]
    model = MCMCTreeClassifier(
        n_samples=1, burn_in=0, thin=1, n_chains=1, initial_tree=one, random_state=0
    )
    model.fit(X, many)
    assert model.encoder_.test_thresholds_.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert model.tree_.feature.tolist() == [2, -1, -1]
    other = MAPTreeClassifier(max_depth=1).fit(X, X[:, 0] > 3)
    with pytest.raises(ValueError, match=r"initial_tree tests column 0 <= 3.5, which is"):
        model.set_params(initial_tree=other).fit(X, few)


SPLIT = Tree([0, -1, -1], [1, -1, -1], [2, -1, -1], [[1, 1], [1, 0], [0, 1]])
TWICE = Tree(
    [0, 0, -1, -1, -1], [1, 2, -1, -1, -1], [4, 3, -1, -1, -1], [[1, 1]] * 5
)  # asks the same again


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("leaf", ValueError, 'initial_tree=.leaf. is unknown: pass "search", a Tree'),
        (3, TypeError, "initial_tree=3 is not a tree"),
        (MAPTreeClassifier(), ValueError, "not fitted"),
        (Tree([7, -1, -1], [1, -1, -1], [2, -1, -1], [[1, 1]] * 3), ValueError, "uses test 7"),
        (TWICE, ValueError, "initial tree|initial_tree"),
        (Tree([1, -1, -1], [1, -1, -1], [2, -1, -1], [[1, 1]] * 3), ValueError, "initial"),
    ],
)
def test_trees_that_chains_cannot_start_from(given, error, message):
    X, y = [[0, 1], [1, 1], [0, 1], [1, 1]], [0, 1, 0, 1]
    model = MCMCTreeClassifier(random_state=0).fit(X, y)
    model.set_params(initial_tree=given)
    before = dict(model.__dict__)
    with pytest.raises(error, match=message):
        model.fit(X, y)
    assert model.__dict__ == before
    assert MCMCTreeClassifier(initial_tree=SPLIT, n_samples=1).fit(X, y).status_ == "complete"


def test_chains_that_stand_still_on_different_trees_are_warned_of():
    """Their R-hat is infinite, and no length would be long enough."""
    X, y = [[0, 1], [1, 0], [1, 1], [0, 0]] * 3, [0, 1, 0, 1] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chains = [
            MCMCTreeClassifier(
                n_samples=4, burn_in=0, thin=1, n_chains=2, initial_tree=None, random_state=seed
            ).fit(X, y)
            for seed in range(40)
        ]
    assert any(model.diagnostics().r_hat == np.inf for model in chains)
