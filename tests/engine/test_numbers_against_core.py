"""The search for numbers and counts against brute force, through MAPTreeRegressor."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from checks import tree_of
from maptree import MAPTreeRegressor, log_posterior
from measured_oracle import Table, all_trees, optimum
from problems import seeds


def made_up(likelihood: str, seed: int, **constraints: Any) -> Table:
    """A random table with duplicate rows, weights, exposures and weights of tests."""
    rng = np.random.default_rng([seed, likelihood == "normal"])
    n_rows, n_tests = int(rng.integers(1, 30)), int(rng.integers(1, 5))
    X = rng.integers(0, 2, (n_rows, n_tests))
    if rng.random() < 0.3:
        X[:, -1] = 1 - X[:, 0]
    level = X @ rng.normal(0, 2, n_tests)
    exposure = np.ones(n_rows)
    if likelihood == "normal":
        y = (level + rng.normal(0, rng.choice([0.1, 1, 5]), n_rows)).round(int(rng.integers(0, 4)))
        prior = tuple(rng.choice([0.01, 0.1, 1, 10], 3).tolist())
    else:
        exposure = rng.choice([0.25, 1.0, 3.0], n_rows) if rng.random() < 0.5 else exposure
        y = rng.poisson(np.exp(level.clip(-3, 3)) * exposure)
        prior = (float(rng.choice([0.1, 1, 10])),)
    weights = rng.integers(0, 4, n_rows) if rng.random() < 0.4 else np.ones(n_rows, int)
    weights[0] = max(1, weights[0])
    return Table(
        X=tuple(map(tuple, X.tolist())),
        y=tuple(y.tolist()),
        likelihood=likelihood,
        weights=tuple(weights.tolist()),
        exposure=tuple(exposure.tolist()),
        prior=prior,
        alpha=float(rng.choice([0.5, 0.95])),
        beta=float(rng.choice([0.0, 0.5, 2.0])),
        **constraints,
    )


def parameters(table: Table) -> dict[str, Any]:
    if table.likelihood == "normal":
        return dict(zip(("kappa", "nu", "noise"), table.prior, strict=True))
    return {"shape": table.prior[0]}


def fit(table: Table, **others: Any) -> MAPTreeRegressor:
    model = MAPTreeRegressor(
        alpha=table.alpha,
        beta=table.beta,
        likelihood=table.likelihood,
        encoder=None,
        max_depth=None if np.isinf(table.max_depth) else table.max_depth,
        min_samples_leaf=table.min_samples_leaf,
        **{"time_limit": None} | parameters(table) | others,
    )
    exposure = table.exposure if table.likelihood == "poisson" else None
    return model.fit(np.array(table.X), table.y, sample_weight=table.weights, exposure=exposure)


def scored(table: Table, tree: Any) -> float:
    exposure = table.exposure if table.likelihood == "poisson" else None
    return log_posterior(
        tree,
        np.array(table.X),
        table.y,
        table.alpha,
        table.beta,
        sample_weight=table.weights,
        likelihood=table.likelihood,
        exposure=exposure,
        **parameters(table),
    )


@pytest.mark.filterwarnings("ignore::maptree.TargetWarning")
@pytest.mark.parametrize("likelihood", ["normal", "poisson"])
@seeds(60)
def test_the_optimum_is_that_of_brute_force(
    likelihood: str, seed: int, tally: Counter[str]
) -> None:
    tally[f"optimum: {likelihood}"] += 1
    constraints = ({}, {"max_depth": 1}, {"min_samples_leaf": 3})[seed % 3]
    table = made_up(likelihood, seed, **constraints)
    model = fit(table)
    cost, _ = optimum(table)
    assert model.certificate_.optimal
    assert model.certificate_.log_posterior == pytest.approx(-cost, abs=1e-6)
    assert scored(table, model.tree_) == pytest.approx(-cost, abs=1e-6)


@pytest.mark.filterwarnings("ignore::maptree.TargetWarning")
@pytest.mark.parametrize("likelihood", ["normal", "poisson"])
@seeds(15)
def test_a_search_that_was_stopped_is_honest(
    likelihood: str, seed: int, tally: Counter[str]
) -> None:
    tally[f"stops: {likelihood}"] += 1
    table = made_up(likelihood, 1000 + seed)
    cost, _ = optimum(table)
    for expansions in (1, 2, 4, 8):
        model = fit(table, max_expansions=expansions)
        certificate = model.certificate_
        assert certificate.log_posterior <= -cost + 1e-6 <= certificate.log_posterior_bound + 2e-6
        assert certificate.log_posterior == pytest.approx(scored(table, model.tree_), abs=1e-6)
        trace = model.trace_
        assert trace["log_posterior"][-1] == certificate.log_posterior
        assert trace["log_posterior_bound"][-1] == certificate.log_posterior_bound


@pytest.mark.filterwarnings("ignore::maptree.TargetWarning")
@pytest.mark.parametrize("likelihood", ["normal", "poisson"])
@seeds(10)
def test_alternatives_are_those_of_brute_force(
    likelihood: str, seed: int, tally: Counter[str]
) -> None:
    tally[f"alternatives: {likelihood}"] += 1
    table = made_up(likelihood, 2000 + seed, max_depth=2)
    model = fit(table)
    listed = model.alternatives(5)
    best: dict[frozenset[Any], float] = {}
    for nested, cost in all_trees(table):
        parts = frozenset(_leaves(nested, table, table.root))
        best[parts] = min(cost, best.get(parts, np.inf))
    expected = [-cost for cost in sorted(best.values())[:5]]
    assert [one.log_posterior for one in listed] == pytest.approx(expected, abs=1e-6)
    for one in listed:
        assert scored(table, one.tree) == pytest.approx(one.log_posterior, abs=1e-6)
    assert tree_of(listed[0].tree) is not None


def _leaves(tree: Any, table: Table, rows: frozenset[int]) -> Any:
    if not tree:
        yield rows
        return
    test, left, right = tree
    ones = frozenset(row for row in rows if table.X[row][test])
    yield from _leaves(left, table, rows - ones)
    yield from _leaves(right, table, ones)


@pytest.mark.filterwarnings("ignore::maptree.TargetWarning")
@pytest.mark.parametrize("likelihood", ["normal", "poisson"])
@seeds(5)
def test_the_tree_holds_the_sums_of_its_rows(likelihood: str, seed: int) -> None:
    table = made_up(likelihood, 3000 + seed)
    model = fit(table)
    X, weights = np.array(table.X), np.array(table.weights)
    paths = model.decision_path(X).toarray() * weights[:, np.newaxis]
    assert model.tree_.counts[:, 0].tolist() == paths.sum(axis=0).tolist()
    if likelihood == "poisson":
        events = paths.T @ np.array(table.y)
        assert model.tree_.sums[:, 0].tolist() == events.tolist()
    else:
        mean, sd = model.fitted_.measured.mean, model.fitted_.measured.sd
        found, _ = model.fitted_.measured.observed(model.tree_)
        expected = paths.T @ np.array(table.y) / paths.sum(axis=0)
        np.testing.assert_allclose(found, expected, atol=sd / 256 + 1e-9 * abs(mean))
