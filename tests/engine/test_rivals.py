"""The list of the most probable trees against brute force: what is in it, in which order, up to
where it is complete, and what it says when it is stopped. MAPTREE_CASES=20: twenty times as many.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import CONSTRAINTS, SWITCHES, TOLERANCE, nested, without
from maptree import Tree, _core, log_posterior
from oracle import all_partitions, leaves_of, tree_cost
from problems import Problem, case, every_kind, examples, problems, seeds, weighted_case

ALL = 10**6


def rivals(
    problem: Problem,
    most: int = ALL,
    within: float = math.inf,
    options: _core.Options | None = None,
    ordered: Any = (),
    **limits: Any,
) -> _core.Rivals:
    options = _core.Options() if options is None else options
    tests, weights = problem.test_weights, problem.weights
    table = problem.X[:, : problem.X.shape[1] - sum(n - 1 for _, n in ordered)]
    dataset = _core.Dataset(
        _core.pack(np.ascontiguousarray(table)),
        problem.y.astype(np.int32),
        None if weights is None else weights.astype(np.int64),
        problem.n_classes,
        fold_rows=options.fold_rows,
        fold_columns=options.fold_columns,
        test_weights=None if tests is None else tests.astype(np.uint32),
        ordered=ordered,
    )
    prior = _core.Prior(problem.alpha, problem.beta, np.array(problem.rho))
    return _core.rivals(dataset, prior, options, most, within, _core.Limits(**limits))


def check_list(
    problem: Problem, found: _core.Rivals, most: int, within: float = math.inf, **constraints: Any
) -> None:
    """The list is a beginning of the true one, and all that is left out is as dear as it says."""
    data = problem.X.tolist(), problem.y.tolist(), problem.weights
    every = all_partitions(*data, **problem.prior, **constraints)
    costs = [cost for cost, *_ in found.trees]
    assert len(costs) <= min(most, len(every))
    assert costs == sorted(costs)
    assert np.allclose(costs, [cost for cost, _ in every[: len(costs)]], atol=TOLERANCE)
    known = {parts: cost for cost, parts in every}
    there = frozenset(
        row for row in range(len(problem.X)) if problem.weights is None or problem.weights[row] > 0
    )
    listed = set()
    for cost, feature, left, right, counts, _ in found.trees:
        tree = nested(feature, left, right)
        parts = frozenset(leaves_of(tree, problem.X.tolist(), there))
        assert parts not in listed  # trees that part the rows alike are one
        listed.add(parts)
        assert abs(known[parts] - cost) < TOLERANCE  # and that one is the cheapest
        assert abs(tree_cost(tree, *data, **problem.prior, **constraints) - cost) < TOLERANCE
        score = log_posterior(
            Tree(feature, left, right, counts),
            problem.X,
            problem.y,
            problem.alpha,
            problem.beta,
            np.array(problem.rho),
            problem.weights,
            problem.test_weights,
        )
        assert abs(score + cost) < TOLERANCE
    others = [cost for cost, parts in every if parts not in listed]
    assert found.complete <= min(others, default=math.inf) + TOLERANCE
    assert not costs or found.complete >= costs[-1]
    if found.status != "optimal":
        return
    far = bool(costs) and found.complete > costs[0] + within
    assert len(costs) == most or far or (math.isinf(found.complete) and not others)
    assert all(cost <= costs[0] + within + TOLERANCE for cost in costs)


@seeds(25)
@every_kind
def test_lists_all_trees(kind: str, seed: int, tally: Counter[str]) -> None:
    problem = case(kind, seed, None, 1 + seed % 3)
    found = rivals(problem)
    tally[f"rivals: {kind}"] += len(found.trees)
    assert found.status == "optimal"
    assert math.isinf(found.complete)
    check_list(problem, found, ALL)


@seeds(15)
@every_kind
@pytest.mark.parametrize("weighted", [False, True])
def test_lists_some_trees(kind: str, seed: int, weighted: bool, tally: Counter[str]) -> None:
    problem = (weighted_case if weighted else case)(kind, seed, None, 1 + seed % 3)
    most, within = (1, 2, 7, 20)[seed % 4], (math.inf, 2.0, 0.0, 0.5, 5.0)[seed % 5]
    found = rivals(problem, most, within)
    tally["rivals: some"] += len(found.trees)
    check_list(problem, found, most, within)


@seeds(2)
@every_kind
@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_lists_within_constraints(kind: str, seed: int, constraints: dict[str, Any]) -> None:
    problem = case(kind, seed, None, 3)
    found = rivals(problem, options=_core.Options(**constraints))
    check_list(problem, found, ALL, **constraints)


@seeds(3)
@pytest.mark.parametrize("switch", SWITCHES)
def test_no_switch_matters(switch: str, seed: int) -> None:
    problem = case("noise", seed, 12, 3)
    usual, other = rivals(problem), rivals(problem, options=without(switch))
    assert [cost for cost, *_ in usual.trees] == [cost for cost, *_ in other.trees]


@seeds(60)
def test_ordered_columns(seed: int, tally: Counter[str]) -> None:
    """Thresholds as ranks; brute force sees each as a column."""
    rng = np.random.default_rng(seed)
    n, sizes = int(rng.integers(2, 9)), rng.integers(2, 4, size=2)
    ranks = [rng.integers(size, size=n).astype(np.uint32) for size in sizes]
    binary = rng.integers(2, size=(n, seed % 2))
    thresholds = [r[:, None] <= np.arange(s - 1) for r, s in zip(ranks, sizes, strict=True)]
    X = np.hstack([binary, *thresholds]).astype(np.uint8)
    y, tests = rng.integers(2, size=n), rng.integers(1, 5, size=X.shape[1])
    constraints = ({}, {"max_depth": 2}, {"min_samples_leaf": 2}, {"max_depth": 1})[seed % 4]
    problem = Problem(X, y, 2, 0.95, 0.5, (1.0, 1.0), None, tests if seed % 3 else None)
    ordered = [(r, int(s)) for r, s in zip(ranks, sizes, strict=True)]
    found = rivals(problem, options=_core.Options(**constraints), ordered=ordered)
    tally["rivals: ordered"] += len(found.trees)
    check_list(problem, found, ALL, **constraints)


@seeds(40)
@pytest.mark.parametrize("as_ranks", [False, True])
def test_equal_tests_of_unequal_weight(as_ranks: bool, seed: int, tally: Counter[str]) -> None:
    """Where both stay, the dearer may be solved first; the cheaper one is the one that counts."""
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(4, 8))
    first, second = (
        np.unique(rng.integers(3, size=n), return_inverse=True)[1].astype(np.uint32)
        for _ in range(2)
    )
    if min(first.max(), second.max()) == 0:
        first[0], second[-1] = first.max() + 1, second.max() + 1
    columns = [(ranks, int(ranks.max()) + 1) for ranks in (first, second, first)]
    X = np.hstack([ranks[:, None] <= np.arange(size - 1) for ranks, size in columns])
    tests = np.concatenate([np.full(size - 1, rng.integers(1, 6)) for _, size in columns])
    y, weights = rng.integers(2, size=n), rng.integers(1, 20, size=n)
    problem = Problem(X.astype(np.uint8), y, 2, 0.95, 0.5, (2.5, 2.5), weights, tests)
    options = _core.Options() if as_ranks else without("fold_columns")
    found = rivals(problem, options=options, ordered=columns if as_ranks else ())
    tally["rivals: equal tests"] += len(found.trees)
    check_list(problem, found, ALL)


def test_the_cheaper_of_two_equal_tests_is_listed() -> None:
    """A list that once left it out, and called itself complete."""
    first, second = np.uint32([1, 0, 1, 2]), np.uint32([2, 2, 0, 1])
    columns = [(first, 3), (second, 3), (first, 3)]
    X = np.hstack([ranks[:, None] <= np.arange(2) for ranks, _ in columns]).astype(np.uint8)
    y, weights, tests = (
        np.array([0, 0, 1, 0]),
        np.array([17, 1, 4, 1]),
        np.array([3, 3, 1, 1, 2, 2]),
    )
    problem = Problem(X, y, 2, 0.95, 0.5, (2.5, 2.5), weights, tests)
    found = rivals(problem, ordered=columns)
    check_list(problem, found, ALL)
    assert round(found.trees[3][0], 4) == 12.0646


@seeds(4)
@every_kind
def test_what_is_stopped_is_a_beginning(kind: str, seed: int) -> None:
    problem = case(kind, seed, None, 3)
    whole = rivals(problem, 50)
    complete = 0.0
    for most in range(0, whole.expansions + 1, 1 + whole.expansions // 20):
        found = rivals(problem, 50, max_expansions=most)
        check_list(problem, found, 50)
        assert found.status == ("optimal" if most == whole.expansions else "expansion_limit")
        assert found.expansions <= most
        assert found.complete >= complete
        complete = found.complete


@examples(60)
@given(problems(max_rows=8, max_features=3, max_weight=3, max_test_weight=4), st.integers(1, 12))
def test_any_problem(problem: Problem, most: int) -> None:
    check_list(problem, rivals(problem, most), most)


def test_only_accepted_trees_are_listed() -> None:
    problem = case("noise", 3, 12, 3)
    every = rivals(problem)
    found = _core.rivals(
        _core.Dataset(_core.pack(problem.X), problem.y.astype(np.int32), None, problem.n_classes),
        _core.Prior(problem.alpha, problem.beta, np.array(problem.rho)),
        _core.Options(),
        3,
        math.inf,
        _core.Limits(),
        None,
        lambda rival: len(rival[1]) == 5,  # three leaves
    )
    wanted = [cost for cost, feature, *_ in every.trees if len(feature) == 5][:3]
    assert [cost for cost, *_ in found.trees] == wanted
    assert found.examined == [cost for cost, *_ in every.trees].index(wanted[-1]) + 1


def test_an_error_in_accept_is_raised() -> None:
    problem = case("noise", 3, 12, 3)
    dataset = _core.Dataset(
        _core.pack(problem.X), problem.y.astype(np.int32), None, problem.n_classes
    )
    prior = _core.Prior(problem.alpha, problem.beta, np.array(problem.rho))

    def fail(rival: object) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _core.rivals(dataset, prior, _core.Options(), 3, math.inf, _core.Limits(), None, fail)
