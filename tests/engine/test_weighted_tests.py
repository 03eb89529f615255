"""Tests with weights: the core, brute force, the paper's algorithms and the scorer agree."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import (
    CONSTRAINTS,
    SWITCHES,
    TOLERANCE,
    check,
    check_optimal,
    signature,
    solve,
    without,
)
from maptree import _core, log_posterior
from maptree.trees.tree import Tree
from problems import (
    BLOCK_SIZES,
    Problem,
    big_few_distinct,
    case,
    every_kind,
    examples,
    problems,
    seeds,
    weighted_case,
    with_test_weights,
)
from stops import check_paper_mode, check_stops


@seeds(10)
@every_kind
def test_optimum(kind: str, seed: int, tally: Counter[str]) -> None:
    tally[f"optimum, weights of tests: {kind}"] += 1
    problem = weighted_case(kind, seed)
    result = solve(problem)
    check_optimal(problem, result)
    check_scorer(problem, result)


def check_scorer(problem: Problem, result: _core.Result) -> None:
    """The scorer of the library says the same of the tree."""
    tree = Tree(result.feature, result.left, result.right, result.counts)
    prior = problem.alpha, problem.beta, problem.rho
    score = log_posterior(tree, problem.X, problem.y, *prior, problem.weights, problem.test_weights)
    assert -score == pytest.approx(result.upper, abs=TOLERANCE), str(problem)


@seeds(1)
@every_kind
def test_optimum_of_larger_problems(kind: str, seed: int, tally: Counter[str]) -> None:
    tally[f"optimum, weights of tests, larger: {kind}"] += 1
    problem = weighted_case(kind, seed, n_rows=90, n_features=7)
    check_optimal(problem, solve(problem))


@seeds(1)
@every_kind
@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_constrained_optimum(
    kind: str, seed: int, constraints: dict[str, Any], tally: Counter[str]
) -> None:
    tally[f"constrained optimum, weights of tests: {kind}"] += 1
    problem = weighted_case(kind, seed)
    check_optimal(problem, solve(problem, _core.Options(**constraints)), **constraints)


@examples(60)
@given(problem=problems(max_weight=3, max_test_weight=2**25), data=st.data())
def test_optimum_of_any_problem_with_any_options(
    problem: Problem, data: st.DataObject, tally: Counter[str]
) -> None:
    tally["any problem, any options, weights of tests"] += 1
    off = data.draw(st.sets(st.sampled_from(SWITCHES)), label="switched off")
    budget = data.draw(st.sampled_from([-1, 0, 1, 2, 3, 5, 8]), label="max_expansions")
    constraints = data.draw(st.sampled_from([{}, *CONSTRAINTS]), label="constraints")
    result = solve(problem, without(*off, **constraints), max_expansions=budget)
    (check_optimal if budget < 0 else check)(problem, result, **constraints)


@seeds(1)
@every_kind
def test_every_stop(kind: str, seed: int, tally: Counter[str]) -> None:
    problem = weighted_case(kind, seed, n_rows=50, n_features=6)
    for options in (_core.Options(), _core.Options.paper()):
        check_stops(problem, options, tally)


@every_kind
@pytest.mark.parametrize("switch", SWITCHES)
def test_every_stop_without(kind: str, switch: str, tally: Counter[str]) -> None:
    seed = SWITCHES.index(switch)
    check_stops(weighted_case(kind, seed, n_rows=30, n_features=5), without(switch), tally)


@seeds(5)
@every_kind
def test_paper_mode(kind: str, seed: int, tally: Counter[str]) -> None:
    tally[f"paper mode, weights of tests: {kind}"] += 1
    check_paper_mode(weighted_case(kind, seed))


@pytest.mark.parametrize("n_rows", BLOCK_SIZES)
def test_rows_around_the_ends_of_words(n_rows: int, tally: Counter[str]) -> None:
    tally["optimum, weights of tests: rows around the ends of words"] += 1
    problem = with_test_weights(big_few_distinct(n_rows), n_rows)
    check_optimal(problem, solve(problem))


@seeds(3)
@every_kind
def test_equal_weights_change_nothing(kind: str, seed: int, tally: Counter[str]) -> None:
    """Bit for bit: bounds, tree, and the number of expansions."""
    tally["equal weights"] += 1
    problem = case(kind, seed)
    n_tests = problem.X.shape[1]
    for options in (_core.Options(), _core.Options.paper()):
        plain = signature(solve(problem, options))
        for weight in (1, 7, 2**24):
            equal = replace(problem, test_weights=np.full(n_tests, weight))
            assert signature(solve(equal, options)) == plain, str(problem)


@seeds(3)
@every_kind
def test_a_common_factor_changes_nothing(kind: str, seed: int, tally: Counter[str]) -> None:
    tally["common factor"] += 1
    problem = replace(case(kind, seed), test_weights=np.arange(1, 1 + case(kind, seed).X.shape[1]))
    scaled = replace(problem, test_weights=problem.test_weights * 30)
    assert signature(solve(scaled)) == signature(solve(problem)), str(problem)


@pytest.mark.parametrize(
    "weights",
    [[1, 0, 1], [1, 1], [1, 1, 1, 1], [2**31 - 1, 1, 1], [2**32 - 1, 2**32 - 1, 2**32 - 2]],
)
def test_weights_that_cannot_be_used(weights: list[int]) -> None:
    X = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 1]], dtype=np.uint8)
    labels, tests = np.array([0, 1, 0], np.int32), np.array(weights, np.uint32)
    with pytest.raises(ValueError, match="weight"):
        _core.Dataset(_core.pack(X), labels, None, 2, test_weights=tests)
