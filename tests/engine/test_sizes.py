"""Trees of at most so many leaves, against brute force: optima, stops, sweeps."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from checks import TOLERANCE, signature, solve, tree_of
from maptree import _core
from oracle import best_of_size, tree_cost
from problems import Problem, case, every_kind, seeds, weighted_case
from stops import budgets

SWITCHES = (
    "fold_columns",
    "fold_rows",
    "pair_expansion",
    "distinct_rows_bound",
    "structure_bound",
    "greedy_start",
    "improve",
    "depth_transfer",
    "graded_proof",
)


def best(problem: Problem, leaves: int, **constraints: Any) -> float:
    data = problem.X.tolist(), problem.y.tolist(), problem.weights
    return best_of_size(*data, leaves=leaves, **problem.prior | constraints)[0]


def n_leaves(result: _core.Result) -> int:
    return int((result.feature < 0).sum())


def check(problem: Problem, result: _core.Result, leaves: int, **constraints: Any) -> None:
    optimum = best(problem, leaves, **constraints)
    assert result.lower <= optimum + TOLERANCE, str(problem)
    assert result.upper >= optimum - TOLERANCE, str(problem)
    assert (result.status == "optimal") == (result.lower == result.upper), str(problem)
    assert n_leaves(result) <= leaves, str(problem)
    data = problem.X, problem.y, problem.weights
    cost = tree_cost(tree_of(result), *data, **problem.prior | constraints)
    assert cost == pytest.approx(result.upper, abs=TOLERANCE), str(problem)


@seeds(6)
@every_kind
def test_optimum(kind: str, seed: int, tally: Counter[str]) -> None:
    for problem in (case(kind, seed, 40, 5), weighted_case(kind, seed, 40, 5)):
        for leaves in (1, 2, 3, 4, 5, 7):
            tally["sizes"] += 1
            result = solve(problem, _core.Options(max_leaves=leaves))
            assert result.status == "optimal"
            check(problem, result, leaves)


@seeds(1)
@every_kind
@pytest.mark.parametrize("switch", SWITCHES)
def test_every_stop_without(kind: str, seed: int, switch: str, tally: Counter[str]) -> None:
    """Bounds enclose the optimum of so few leaves, whatever is switched off."""
    problem = weighted_case(kind, seed, 40, 5)
    for leaves in (3, 6):
        options = _core.Options(**{switch: False}, max_leaves=leaves)
        whole = solve(problem, options)
        assert whole.status == "optimal"
        check(problem, whole, leaves)
        for budget in budgets(whole.expansions):
            tally["stops of sizes"] += 1
            check(problem, solve(problem, options, max_expansions=budget), leaves)
        assert signature(solve(problem, options)) == signature(whole)


@seeds(3)
@every_kind
def test_other_constraints(kind: str, seed: int) -> None:
    problem = case(kind, seed, 40, 5)
    for constraints in ({"max_depth": 2}, {"min_samples_leaf": 3}, {"max_depth": 3}):
        for leaves in (3, 5):
            result = solve(problem, _core.Options(max_leaves=leaves, **constraints))
            check(problem, result, leaves, **constraints)
            assert result.status == "optimal"


@seeds(4)
@every_kind
def test_sweeps_find_trees_of_each_size(kind: str, seed: int) -> None:
    problem = weighted_case(kind, seed, 40, 5)
    dataset = _core.Dataset(
        _core.pack(problem.X),
        problem.y.astype(np.int32),
        None if problem.weights is None else problem.weights.astype(np.int64),
        problem.n_classes,
        test_weights=None
        if problem.test_weights is None
        else problem.test_weights.astype(np.uint32),
    )
    prior = _core.Prior(problem.alpha, problem.beta, np.array(problem.rho))
    found = _core.sweep_sizes(dataset, prior, _core.Options(max_leaves=5), _core.Limits())
    sizes = [n_leaves(result) for result in found]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 1
    for result in found:
        check(problem, result, n_leaves(result))
    # Trees to begin with are taken over.
    again = _core.search(
        dataset, prior, _core.Options(max_leaves=5), _core.Limits(max_expansions=0), None, found
    )
    assert again.upper == min(result.upper for result in found)


@pytest.mark.parametrize("leaves", [0, -2, 129])
def test_sizes_out_of_range(leaves: int) -> None:
    with pytest.raises(ValueError, match="max_leaves must be -1, or 1 to 128"):
        solve(case("noise", 0), _core.Options(max_leaves=leaves))


def test_paper_mode_has_no_sizes() -> None:
    with pytest.raises(ValueError, match="max_leaves needs depth_first"):
        solve(case("noise", 0), _core.Options.paper(max_leaves=3))


def test_sweeps_end_by_patience() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(400, 40))
    y = (rng.random(400) < 0.3 + 0.4 * X[:, 0]).astype(np.int32)
    dataset = _core.Dataset(_core.pack(X), y, None, 2)
    prior = _core.Prior(0.95, 0.5, np.array([2.5, 2.5]))

    def readings(patience: float) -> int:
        read = 0

        def clock() -> float:
            nonlocal read
            read += 1
            return 0.0

        limits = _core.Limits(patience=patience, clock=clock)
        found = _core.sweep_sizes(dataset, prior, _core.Options(max_leaves=16), limits)
        assert n_leaves(found[0]) == 1
        return read

    once = readings(0.1)
    assert once == readings(0.1)  # work decides, not the clock
    assert readings(0.0) < once < readings(0.3)
