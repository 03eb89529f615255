"""The oracles are checked against one another and against what must hold of any posterior."""

from __future__ import annotations

import math
from collections import Counter
from itertools import islice, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from oracle import LEAF, Tree, all_trees, optimum, tree_cost
from paper import maptree
from problems import (
    BLOCK_SIZES,
    SCALE,
    Problem,
    big_few_distinct,
    collision_problem,
    every_kind,
    examples,
    generate,
    problems,
    with_test_weights,
)

# Floats against whole numbers of 2^-32 nats: a thousand roundings are still below it.
TOLERANCE = 1e-6

PRIORS: list[dict[str, Any]] = [
    {"alpha": 0.95, "beta": 0.5},
    {"alpha": 0.5, "beta": 4.0},
    {"alpha": 0.999, "beta": 0.0},
    {"alpha": 0.2, "beta": 8.0},
]
CONSTRAINTS: list[dict[str, Any]] = [{}, {"max_depth": 1}, {"min_samples_leaf": 3}]
THREE_COLUMNS = list(product([0, 1], repeat=3))


def cost_of(problem: Problem, **constraints: int) -> float:
    return optimum(problem.X, problem.y, problem.weights, **problem.prior, **constraints)[0]


# The definition


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("rows", [THREE_COLUMNS, THREE_COLUMNS[2:7], [(0, 0, 1), (1, 1, 1)] * 2])
def test_prior_sums_to_one(rows: list[tuple[int, ...]], prior: dict[str, Any]) -> None:
    """With one class every likelihood is 1, and what is left is the prior over trees."""
    for test_weights in (None, [1, 1, 1], [5, 1, 2], [1, 10**6, 3]):
        trees = all_trees(rows, [0] * len(rows), n_classes=1, **prior, test_weights=test_weights)
        assert math.fsum(math.exp(-cost) for _, cost in trees) == pytest.approx(1)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rho", [0.1, 2.5, 20.0, None])
def test_labels_sum_to_the_prior(n_classes: int, rho: float | None) -> None:
    """For every tree, P(T, Y | X) summed over all labels Y is P(T | X)."""
    X = [(0, 0), (0, 0), (1, 0), (1, 1), (0, 1)]
    prior = dict(all_trees(X, [0] * len(X), n_classes=1))
    summed: Counter[Tree] = Counter()
    for y in product(range(n_classes), repeat=len(X)):
        for tree, cost in all_trees(X, y, n_classes=n_classes, rho=rho):
            summed[tree] += math.exp(-cost)  # type: ignore[assignment]
    assert summed == pytest.approx({tree: math.exp(-cost) for tree, cost in prior.items()})


def test_number_of_trees() -> None:
    for n_features, number in enumerate([1, 2, 9, 244]):
        X = list(product([0, 1], repeat=n_features)) * 2
        assert sum(1 for _ in all_trees(X, [0] * len(X), n_classes=2)) == number


def test_copies_and_complements_count_in_the_prior() -> None:
    X, y = [[0], [1]], [0, 1]
    wide = [[0, 0, 1], [1, 1, 0]]
    split = (0, LEAF, LEAF)
    once, thrice = tree_cost(split, X, y, n_classes=2), tree_cost(split, wide, y, n_classes=2)
    assert thrice - once == pytest.approx(math.log(3))


def test_a_test_is_as_probable_as_its_weight() -> None:
    """Among the tests of the root: with depth 1 there is nothing else to choose."""
    X, y = THREE_COLUMNS, [0] * 8
    trees = dict(all_trees(X, y, n_classes=1, max_depth=1, test_weights=[5, 1, 2]))
    splits = {tree[0]: math.exp(-cost) for tree, cost in trees.items() if tree}
    shares = [splits[feature] / sum(splits.values()) for feature in range(3)]
    assert shares == pytest.approx([5 / 8, 1 / 8, 2 / 8])


def test_a_weight_of_two_is_two_copies() -> None:
    """A column and its copy share what a column of their weights has."""
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 1]
    copied = [[a, b, b] for a, b in X]
    tree = (1, LEAF, (0, LEAF, LEAF))
    weighted = tree_cost(tree, X, y, n_classes=2, test_weights=[1, 2])
    assert weighted == pytest.approx(tree_cost(tree, copied, y, n_classes=2) - math.log(2))
    scaled = tree_cost(tree, X, y, n_classes=2, test_weights=[1000, 2000])
    assert scaled == pytest.approx(weighted)


def test_leaf_of_identical_rows_stops_for_free() -> None:
    one_kind = tree_cost(LEAF, [[0, 1], [0, 1]], [0, 1], n_classes=2)
    two_kinds = tree_cost(LEAF, [[0, 1], [1, 1]], [0, 1], n_classes=2)
    assert two_kinds - one_kind == pytest.approx(-math.log(1 - 0.95))


def test_constraints_take_trees_away_and_leave_costs() -> None:
    X, y = THREE_COLUMNS, [0, 1, 1, 0, 1, 0, 0, 1]
    free = dict(all_trees(X, y, n_classes=2))
    for max_depth, min_samples_leaf in product([0, 1, 2, None], [1, 2, 3, 9]):
        limits: dict[str, Any] = {"max_depth": max_depth, "min_samples_leaf": min_samples_leaf}
        for tree, cost in free.items():
            fits = depth_of(tree) <= (3 if max_depth is None else max_depth) and (
                tree == LEAF or lightest_leaf(tree, X) >= min_samples_leaf
            )
            limited = tree_cost(tree, X, y, n_classes=2, **limits)
            assert limited == pytest.approx(cost if fits else math.inf)
        assert dict(all_trees(X, y, n_classes=2, **limits)).keys() == {
            tree for tree in free if tree_cost(tree, X, y, n_classes=2, **limits) < math.inf
        }


def depth_of(tree: Tree) -> int:
    return 1 + max(depth_of(tree[1]), depth_of(tree[2])) if tree else 0


def lightest_leaf(tree: Tree, X: list[tuple[int, ...]]) -> int:
    if not tree:
        return len(X)
    feature, left, right = tree
    zeros, ones = [row for row in X if not row[feature]], [row for row in X if row[feature]]
    return min(lightest_leaf(left, zeros), lightest_leaf(right, ones))


# Cached minimum against enumeration


@examples(30)
@given(problem=problems(max_rows=8, max_features=3, max_weight=3, max_test_weight=9))
def test_optimum_is_the_least_of_all_trees(problem: Problem, tally: Counter[str]) -> None:
    tally["optimum = least of all trees"] += 1
    for limits in CONSTRAINTS:
        model = {"X": problem.X, "y": problem.y, "weights": problem.weights, **problem.prior}
        model.update(limits)
        trees = dict(all_trees(**model))
        least, tree = optimum(**model)
        assert least == pytest.approx(min(trees.values()))
        assert trees[tree] == pytest.approx(least)
        for tree, cost in islice(trees.items(), 50):
            assert tree_cost(tree, **model) == pytest.approx(cost)


@pytest.mark.cases
@every_kind
def test_weights_are_repeated_rows(kind: str, tally: Counter[str]) -> None:
    for seed in range(2 * SCALE):
        tally[f"weights = repeated rows: {kind}"] += 1
        problem = generate(kind, seed, max_weight=4)
        for limits in CONSTRAINTS:
            repeated = cost_of(problem.repeated(), **limits)
            assert cost_of(problem, **limits) == pytest.approx(repeated)


# The paper's algorithms against brute force


def check_paper(problem: Problem) -> None:
    """Bounds enclose the optimum and never widen, and the tree is worth its upper bound."""
    optimal, steps = cost_of(problem), []
    result = maptree(
        problem.X, problem.y, **problem.prior, on_step=lambda *bounds: steps.append(bounds)
    )
    assert result.lower == result.upper, str(problem)
    assert result.upper == pytest.approx(optimal, abs=TOLERANCE), str(problem)
    assert tree_cost(result.tree, problem.X, problem.y, **problem.prior) == pytest.approx(
        optimal, abs=TOLERANCE
    )
    assert len(steps) == result.expansions + 1
    for (lower, upper), (next_lower, next_upper) in pairwise(steps):
        assert lower <= next_lower <= optimal + TOLERANCE
        assert upper >= next_upper >= optimal - TOLERANCE


@pytest.mark.cases
@every_kind
def test_paper_finds_the_optimum(kind: str, tally: Counter[str]) -> None:
    for seed in range(10 * SCALE):
        tally[f"paper = brute force: {kind}"] += 1
        check_paper(generate(kind, seed))
        check_paper(with_test_weights(generate(kind, seed), seed))


@examples(30)
@given(problem=problems())
def test_paper_finds_the_optimum_of_any_problem(problem: Problem, tally: Counter[str]) -> None:
    tally["paper = brute force: hypothesis"] += 1
    check_paper(problem)


@pytest.mark.cases
@pytest.mark.parametrize("n_rows", BLOCK_SIZES)
def test_paper_with_many_rows(n_rows: int, tally: Counter[str]) -> None:
    for seed in range(SCALE):
        tally["paper = brute force: many rows"] += 1
        check_paper(big_few_distinct(n_rows, seed))


def test_paper_stops_where_it_is_told() -> None:
    problem = generate("noise", 1, n_rows=60, n_features=6)
    steps: list[tuple[float, float]] = []
    arguments: dict[str, Any] = {"X": problem.X, "y": problem.y, **problem.prior}
    whole = maptree(**arguments, on_step=lambda *bounds: steps.append(bounds))
    assert whole.expansions > 20
    for budget, bounds in enumerate(steps):
        result = maptree(**arguments, max_expansions=budget)
        assert (result.lower, result.upper) == bounds
        assert result.expansions == budget
        if budget > 0:
            cost = tree_cost(result.tree, problem.X, problem.y, **problem.prior)
            assert cost == pytest.approx(result.upper, abs=TOLERANCE)
    assert steps[0][1] == math.inf
    assert maptree(**arguments, max_expansions=0).tree == LEAF


# Known traps


def test_perfect_split_may_not_charge_stop_to_each_class() -> None:
    """Leaves can be mixed and yet stop for free; min(stop, split) twice is 5.43, too much."""
    X, y = [(0, 0), (0, 0), (1, 0), (1, 0), (1, 1), (1, 1)], [1, 1, 1, 0, 0, 0]
    cost, tree = optimum(X, y, n_classes=2, rho=10.0)
    assert cost == pytest.approx(5.26, abs=0.005)
    assert tree == (0, LEAF, (1, LEAF, LEAF))
    assert maptree(X, y, n_classes=2, rho=10.0).upper == pytest.approx(cost, abs=TOLERANCE)
    pure = 2 * -math.log(10 / 20 * 11 / 21 * 12 / 22)
    split_1 = -math.log(0.95 / math.sqrt(2))
    unsound = -math.log(0.95) + math.log(2) + pure + 2 * split_1
    assert unsound == pytest.approx(5.43, abs=0.005)


def test_pair_counts_do_not_tell_where_stop_is_free() -> None:
    """XOR, every row ten times: the four leaves hold identical rows. Charged anyway: 18.97."""
    X, y = [(0, 0), (0, 1), (1, 0), (1, 1)] * 10, [0, 1, 1, 0] * 10
    cost, tree = optimum(X, y, n_classes=2)
    assert cost == pytest.approx(15.79, abs=0.005)
    assert tree == (0, (1, LEAF, LEAF), (1, LEAF, LEAF))
    assert maptree(X, y, n_classes=2).upper == pytest.approx(cost, abs=TOLERANCE)
    stop_2 = -math.log(1 - 0.95 / math.sqrt(3))
    assert cost + 4 * stop_2 == pytest.approx(18.97, abs=0.005)


@pytest.mark.parametrize(
    ("gain", "X", "y", "removed", "prior"),
    [
        (
            0.0387,
            ["110", "010", "101", "000", "100"],
            [1, 1, 1, 1, 1],
            2,
            {"rho": 0.1},
        ),
        (
            1.1775,
            ["100", "000", "001", "001", "010", "010", "011"],
            [1, 0, 0, 1, 1, 0, 0],
            0,
            {"rho": 0.1, "alpha": 0.99, "beta": 1.0},
        ),
    ],
)
def test_removing_a_row_can_raise_the_optimum(
    gain: float, X: list[str], y: list[int], removed: int, prior: dict[str, Any]
) -> None:
    """A row that can be split off moves the others down, to where stopping is cheaper."""
    rows = np.array([list(map(int, row)) for row in X])
    more = optimum(rows, y, n_classes=2, **prior)[0]
    kept = [row for row in range(len(y)) if row != removed]
    less = optimum(rows[kept], [y[row] for row in kept], n_classes=2, **prior)[0]
    assert less - more == pytest.approx(gain, abs=1e-4)


def published_hash(rows: frozenset[int]) -> tuple[int, ...]:
    """Blocks of 64 rows, times powers of an odd number, modulo 2^64; twice."""
    blocks: Counter[int] = Counter()
    for row in rows:
        blocks[row // 64] += 1 << row % 64
    odd = (377424577268497867, 285989758769553131)
    return tuple(sum(bits * o**b for b, bits in blocks.items()) % 2**64 for o in odd)


@pytest.mark.parametrize("n_rows", [130, 260])
def test_collisions_mislead_a_search_that_trusts_the_published_hash(
    n_rows: int, tally: Counter[str]
) -> None:
    """It is proud of a wrong tree in about half of these problems; exact row sets are right."""
    wrong = 0
    n_problems = 12
    for seed in range(n_problems):
        tally["collisions"] += 1
        problem = collision_problem(seed, n_rows)
        check_paper(problem)
        X, y, prior = problem.X, problem.y, problem.prior
        trusting = maptree(X, y, **prior, subset_hash=published_hash)
        assert trusting.lower == trusting.upper
        wrong += abs(trusting.upper - cost_of(problem)) > TOLERANCE
    assert wrong > n_problems / 4
