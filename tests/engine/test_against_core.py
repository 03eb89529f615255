"""The core against the oracles: the same optimum, bounds that enclose it.

The core must be what brute force says at the end, and honest at every stop on the way. What it must
be blind to is in test_invariance.py. MAPTREE_CASES=20 runs twenty times as many random cases.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import CONSTRAINTS, SWITCHES, check, check_optimal, solve, tree_of, without
from maptree import _core
from oracle import LEAF
from problems import (
    BLOCK_SIZES,
    Problem,
    big_few_distinct,
    case,
    collision_problem,
    every_kind,
    examples,
    problems,
    seeds,
)
from stops import check_paper_mode, check_stops

# The optimum


@seeds(30)
@every_kind
def test_optimum(kind: str, seed: int, tally: Counter[str]) -> None:
    tally[f"optimum: {kind}"] += 1
    problem = case(kind, seed)
    check_optimal(problem, solve(problem))


@seeds(2)
@every_kind
def test_optimum_of_larger_problems(kind: str, seed: int, tally: Counter[str]) -> None:
    tally[f"optimum, larger: {kind}"] += 1
    problem = case(kind, seed, n_rows=90, n_features=7)
    check_optimal(problem, solve(problem))


@seeds(1)
@pytest.mark.parametrize("n_rows", BLOCK_SIZES)
def test_optimum_at_word_ends(n_rows: int, seed: int, tally: Counter[str]) -> None:
    tally["optimum: rows around the ends of words"] += 1
    problem = big_few_distinct(n_rows, seed)
    check_optimal(problem, solve(problem))
    check_optimal(problem, solve(problem, without("fold_rows")))


@seeds(1)
@every_kind
@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_constrained_optimum(
    kind: str, seed: int, constraints: dict[str, Any], tally: Counter[str]
) -> None:
    tally[f"constrained optimum: {kind}"] += 1
    problem = case(kind, seed)
    check_optimal(problem, solve(problem, _core.Options(**constraints)), **constraints)


def test_lone_leaf_may_be_lighter_than_min_samples_leaf() -> None:
    problem = case("separable", 0, n_rows=12)
    result = solve(problem, _core.Options(min_samples_leaf=13))
    assert tree_of(result) == LEAF
    assert result.status == "optimal"


@examples(60)
@given(problem=problems(max_weight=3), data=st.data())
def test_optimum_of_any_problem_with_any_options(
    problem: Problem, data: st.DataObject, tally: Counter[str]
) -> None:
    """Switches, constraints and budget all at once."""
    tally["any problem, any options"] += 1
    off = data.draw(st.sets(st.sampled_from(SWITCHES)), label="switched off")
    budget = data.draw(st.sampled_from([-1, 0, 1, 2, 3, 5, 8]), label="max_expansions")
    constraints = data.draw(st.sampled_from([{}, *CONSTRAINTS]), label="constraints")
    options = without(*off, **constraints)
    result = solve(problem, options, max_expansions=budget)
    verify = check_optimal if budget < 0 else check
    verify(problem, result, **constraints)


# Known traps


def test_traps() -> None:
    """Bounds that look right and are not: stop in the perfect split, stop after two splits, and
    the optimum of what is left without a group of identical rows.
    """
    common: dict[str, Any] = {"n_classes": 2, "alpha": 0.95, "beta": 0.5}
    X = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [1, 1], [1, 1]], dtype=np.uint8)
    mixed = Problem(X, np.array([1, 1, 1, 0, 0, 0]), rho=(10.0, 10.0), **common)
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, dtype=np.uint8)
    xor = Problem(X, np.array([0, 1, 1, 0] * 10), rho=(2.5, 2.5), **common)
    X = np.array([[0, 0]] * 2 + [[1, 0]] * 20 + [[1, 1]] * 20, dtype=np.uint8)
    group = Problem(X, np.array([0, 1] + [0] * 40), rho=(2.5, 2.5), **common)
    for problem, cost in ((mixed, 5.26), (xor, 15.79), (group, 9.95)):
        result = solve(problem)
        check_optimal(problem, result)
        assert result.upper == pytest.approx(cost, abs=0.005)


@seeds(20)
def test_collisions(seed: int, tally: Counter[str]) -> None:
    """Row sets that differ by rows 63 and 127 are two sets; see problems.collision_problem."""
    tally["collisions"] += 1
    problem = collision_problem(seed, n_rows=260 if seed // 4 % 2 else 130)
    check_optimal(problem, solve(problem))
    check_optimal(problem, solve(problem, _core.Options.paper()))


# Every stop


@seeds(2)
@every_kind
def test_every_stop(kind: str, seed: int, tally: Counter[str]) -> None:
    """Bounds enclose the optimum, and more work never makes a bound or a tree worse."""
    for n_rows, n_features in ((None, None), (70, 6)):
        problem = case(kind, seed, n_rows, n_features)
        for options in (_core.Options(), _core.Options.paper()):
            check_stops(problem, options, tally)


@seeds(1)
@every_kind
@pytest.mark.parametrize("switch", SWITCHES)
def test_every_stop_without(kind: str, seed: int, switch: str, tally: Counter[str]) -> None:
    problem = case(kind, seed, n_rows=40, n_features=5)
    check_stops(problem, without(switch), tally)


@seeds(1)
@every_kind
@pytest.mark.parametrize("constraints", CONSTRAINTS, ids=str)
def test_every_constrained_stop(
    kind: str, seed: int, constraints: dict[str, Any], tally: Counter[str]
) -> None:
    problem = case(kind, seed, n_rows=40, n_features=5)
    for budget in range(6):
        tally["constrained stops"] += 1
        options = _core.Options(**constraints)
        check(problem, solve(problem, options, max_expansions=budget), **constraints)


@seeds(1)
@every_kind
def test_a_greedy_start_never_hurts(kind: str, seed: int, tally: Counter[str]) -> None:
    problem = case(kind, seed, n_rows=60, n_features=6)
    for budget in (0, 1, 5):
        tally["greedy start"] += 1
        greedy = solve(problem, max_expansions=budget)
        check(problem, greedy)
        assert greedy.upper <= solve(problem, without("greedy_start"), max_expansions=budget).upper


def test_a_greedy_start_is_better_than_a_leaf() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 10, dtype=np.uint8)
    problem = Problem(X, X[:, 0].astype(np.int64), 2, 0.95, 0.5, (2.5, 2.5))
    greedy = solve(problem, max_expansions=0)
    assert greedy.expansions == 0
    assert list(greedy.feature) == [0, -1, -1]
    leaf = solve(problem, without("greedy_start", "improve"), max_expansions=0)
    assert greedy.upper < leaf.upper


# The paper's algorithms


@seeds(5)
@every_kind
def test_paper_mode(kind: str, seed: int, tally: Counter[str]) -> None:
    """The same bounds after every expansion, and as many of them, as the transcription."""
    tally[f"paper mode: {kind}"] += 1
    check_paper_mode(case(kind, seed))


@examples(20)
@given(problem=problems(max_weight=2))
def test_paper_mode_on_any_problem(problem: Problem, tally: Counter[str]) -> None:
    tally["paper mode: hypothesis"] += 1
    check_paper_mode(problem)


@seeds(1)
@pytest.mark.parametrize("n_rows", BLOCK_SIZES)
def test_paper_mode_at_word_ends(n_rows: int, seed: int, tally: Counter[str]) -> None:
    tally["paper mode: rows around the ends of words"] += 1
    check_paper_mode(big_few_distinct(n_rows, seed, n_features=4))


def test_paper_mode_is_all_switches_off() -> None:
    options = _core.Options.paper(max_depth=3, min_samples_leaf=2)
    assert not any(getattr(options, switch) for switch in SWITCHES)
    assert (options.max_depth, options.min_samples_leaf) == (3, 2)
    assert all(getattr(_core.Options(), switch) for switch in SWITCHES)


@seeds(1)
@every_kind
def test_constrained_paper_mode(kind: str, seed: int, tally: Counter[str]) -> None:
    tally["paper mode, constrained"] += 1
    problem = case(kind, seed)
    for constraints in CONSTRAINTS:
        options = _core.Options.paper(**constraints)
        check_optimal(problem, solve(problem, options), **constraints)
