"""What leaves of numbers and counts predict: against scipy, Bayes' rule and the rows themselves."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from maptree import NegativeBinomial, StudentT, Tree
from maptree.parameters.outcomes import CountPrior, NumberPrior
from maptree.parameters.prior import Prior
from maptree.schema.columns import Schema
from maptree.tables.standard_units import exposure_units
from maptree.trees.fitted import FittedTree
from maptree.trees.outcomes import Classes, Counts, Numbers, constant_of_counts
from maptree.trees.training import TrainingSummary
from measured_oracle import normal_cost, poisson_cost


def leaf(rows, *sums):
    return Tree([-1], [-1], [-1], [[rows]], [list(sums)])


def tree_of(amounts):
    return leaf(len(amounts), *amounts.sum(axis=0).tolist())


NUMBERS = np.random.default_rng(0).normal(700, 120, 9).round(1)
PRIORS = [NumberPrior(), NumberPrior(2.0, 5.0, 0.7), NumberPrior(0.01, 0.5, 0.02)]


@pytest.mark.parametrize("prior", PRIORS)
def test_a_number_is_predicted_by_bayes_rule(prior):
    """The density of one more row is a ratio of the densities of all of them."""
    outcome, amounts = Numbers.of(NUMBERS, None, prior)
    found = outcome.predictive(tree_of(amounts))
    u = (amounts[:, 0] / 256).tolist()
    for y in (500.0, 700.0, 1200.0):
        new = (y - outcome.mean) / outcome.sd
        parts = prior.kappa, prior.nu, prior.noise
        expected = normal_cost(u, *parts) - normal_cost([*u, new], *parts)
        given = found.log_density(np.array([y]))[0] + np.log(outcome.sd)
        assert given == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("shape", [0.5, 1.0, 20.0])
def test_a_count_is_predicted_by_bayes_rule(shape):
    y, e = np.array([0, 3, 1, 7]), np.array([1.0, 2.0, 0.5, 4.5])
    exposures = exposure_units(e, None)
    outcome, amounts = Counts.of(y, exposures, None, True, CountPrior(shape))
    tree = tree_of(amounts)
    rate = shape / (y.sum() / 4)
    seen = exposures.in_means.tolist()
    for new, exposure in ((0, 1.0), (4, 3.0), (30, 0.25)):
        found = outcome.predictive(tree, np.array([0]), np.array([exposure]))
        expected = poisson_cost(y.tolist(), seen, shape, rate)
        expected -= poisson_cost([*y.tolist(), new], [*seen, exposure / e.mean()], shape, rate)
        assert found.log_density(np.array([new]))[0] == pytest.approx(expected, abs=1e-9)
        mean = exposure * outcome.rates(tree)[0]
        assert found.mean[0] == pytest.approx(mean)
        assert mean == pytest.approx(exposure * (shape + 11) / ((rate + 4) * e.mean()), rel=1e-4)


def test_the_interval_of_a_rate_is_credible():
    outcome = Counts(2.5, 4.0, 1, True, CountPrior(1.5))
    tree = leaf(6, 13, 6)
    low, high = (outcome.rate_quantile(tree, q)[0] for q in (0.05, 0.95))
    posterior = stats.gamma(1.5 + 13, scale=1 / (1.5 / 2.5 + 6) / 4.0)
    assert posterior.cdf([low, high]) == pytest.approx([0.05, 0.95])


def test_densities_and_quantiles_are_those_of_scipy():
    t = StudentT(np.array([3.5, 200.0]), np.array([1.0, -700.0]), np.array([0.5, 30.0]))
    counts = NegativeBinomial(np.array([0.7, 300.0]), np.array([0.2, 0.9]))
    for dist, y in ((t, np.array([2.0, -650.0])), (counts, np.array([3.0, 40.0]))):
        scipys = dist.to_scipy()
        log = getattr(scipys, "logpdf", None) if dist is t else scipys.logpmf
        np.testing.assert_allclose(dist.log_density(y), log(y), rtol=1e-12)
        np.testing.assert_allclose(dist.mean, scipys.mean(), rtol=1e-12)
        for q in (0.025, 0.5, 0.99):
            np.testing.assert_allclose(dist.quantile(q), scipys.ppf(q), rtol=1e-9)
        again = dist.take(np.array([1, 1, 0]))
        assert again.mean.tolist() == dist.mean[[1, 1, 0]].tolist()


def test_a_predictive_density_integrates_to_one():
    outcome, amounts = Numbers.of(NUMBERS, None, NumberPrior())
    found = outcome.predictive(tree_of(amounts))
    total, _ = quad(lambda y: np.exp(found.log_density(np.array([y]))[0]), -5000, 6000, limit=200)
    assert total == pytest.approx(1, abs=1e-4)


def test_what_was_observed():
    outcome, amounts = Numbers.of(NUMBERS, None, NumberPrior())
    (mean,), (sd,) = outcome.observed(tree_of(amounts))
    assert mean == pytest.approx(NUMBERS.mean(), abs=NUMBERS.std() / 256)
    assert sd == pytest.approx(NUMBERS.std(), rel=1e-3)
    counts, rows = Counts.of(
        np.array([2, 0, 5]),
        exposure_units(np.array([1.0, 2.0, 4.0]), None),
        None,
        True,
        CountPrior(),
    )
    (events,), (exposure,) = counts.observed(tree_of(rows))
    assert (events, exposure) == (7, pytest.approx(7, rel=1e-4))


@pytest.mark.parametrize("prior", PRIORS)
def test_the_evidence_of_numbers_is_their_cost(prior):
    outcome, amounts = Numbers.of(NUMBERS, None, prior)
    found = outcome.evidence(np.array([9.0]), amounts.sum(axis=0, keepdims=True).astype(float))
    u = amounts[:, 0] / 256
    assert -found[0] == pytest.approx(normal_cost(u, prior.kappa, prior.nu, prior.noise))


def test_the_evidence_of_counts_and_the_constant_are_their_cost():
    y, weights = np.array([0, 3, 1, 7]), np.array([1, 2, 1, 3])
    exposures = exposure_units(np.array([1.0, 2.0, 0.5, 4.5]), weights)
    outcome, amounts = Counts.of(y, exposures, weights, True, CountPrior(0.8))
    sums = (amounts * weights[:, None]).sum(axis=0, keepdims=True).astype(float)
    cost = constant_of_counts(y, exposures, weights) - outcome.evidence(np.array([7.0]), sums)[0]
    copies = np.repeat(y, weights), np.repeat(exposures.in_means, weights)
    rate = 0.8 / (copies[0].sum() / 7)
    assert cost == pytest.approx(poisson_cost(*map(list, copies), 0.8, rate))


def test_no_events_at_all():
    exposures = exposure_units(np.ones(5), None)
    outcome, _ = Counts.of(np.zeros(5, np.int64), exposures, None, False, CountPrior())
    assert outcome.rate == 1 / 5
    with pytest.raises(ValueError, match=r"y sums to 4e\+07, which is more than the 33,554,432"):
        Counts.of(np.full(5, 8_000_000), exposures, None, False, CountPrior())


# Trees with sums, and what is made for classes only


def test_a_tree_with_sums():
    tree = Tree([0, -1, -1], [1, -1, -1], [2, -1, -1], [[5], [2], [3]], [[0, 9], [-4, 6], [4, 3]])
    assert repr(tree) == "Tree(node_count=3, n_leaves=2, depth=1)"
    assert tree.rows.tolist() == [5, 2, 3]
    again = pickle.loads(pickle.dumps(tree))
    assert again == tree
    assert hash(again) == hash(tree)
    other = Tree(tree.feature, tree.left, tree.right, tree.counts, tree.sums + 1)
    assert other != tree
    assert Tree([-1], [-1], [-1], [[5]]).sums.shape == (1, 0)
    with pytest.raises(ValueError, match="sums are two for every node, next to one count"):
        Tree([-1], [-1], [-1], [[5, 3]], [[1, 1]])
    with pytest.raises(ValueError, match="sums are two for every node"):
        Tree([-1], [-1], [-1], [[5]], [[1]])
    with pytest.raises(ValueError, match="sums has 2 entries but feature has 1"):
        Tree([-1], [-1], [-1], [[5]], [[1, 1], [1, 1]])


def fitted(measured):
    tree = leaf(3, 0, 300)
    prior = Prior(0.95, 0.5, np.empty(0))
    return FittedTree(
        tree=tree,
        schema=Schema.of_matrix(1, None),
        classes=np.empty(0),
        prior=prior,
        training=TrainingSummary.of(tree, None),
        trace=np.empty(0),
        measured=measured,
    )


def test_what_is_for_classes_refuses_numbers():
    numbers = Numbers(1.0, 2.0, NumberPrior())
    one = fitted(numbers)
    assert one.outcome == numbers
    assert one.training.class_counts == ()
    assert one.training.rows == 3
    for name in ("labels", "probabilities"):
        with pytest.raises(TypeError, match="is not made for trees that predict numbers yet"):
            getattr(one, name)
    assert one.is_of_the_table_of(fitted(numbers))
    assert not one.is_of_the_table_of(fitted(Numbers(1.0, 3.0, NumberPrior())))


def test_the_outcome_of_classes():
    from maptree import MAPTreeClassifier

    model = MAPTreeClassifier().fit([[0], [1]] * 3, ["a", "b"] * 3)
    outcome = model.fitted_.outcome
    assert isinstance(outcome, Classes)
    assert outcome.labels.tolist() == ["a", "b"]
    assert outcome.rho.tolist() == [2.5, 2.5]
