"""Asking the core, and what must hold of every answer: the tests' side of the contract."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest

from maptree import _core
from oracle import LEAF, Tree, optimum, tree_cost
from problems import Problem, Vector

# The core counts in 2^-32 nats and the oracle in floats: a thousand roundings stay below it.
TOLERANCE = 1e-6

SWITCHES = (
    "fold_columns",
    "fold_rows",
    "compact",
    "pair_expansion",
    "distinct_rows_bound",
    "equivalent_rows_bound",
    "few_leaves_bound",
    "structure_bound",
    "varying_bound",
    "greedy_start",
    "improve",
    "depth_first",
    "depth_transfer",
    "graded_proof",
)

CONSTRAINTS: list[dict[str, Any]] = [
    {"max_depth": 0},
    {"max_depth": 1},
    {"max_depth": 2},
    {"max_depth": 3},
    {"min_samples_leaf": 2},
    {"min_samples_leaf": 5},
    {"max_depth": 2, "min_samples_leaf": 3},
    {"min_samples_leaf": 1000},
]


def without(*switches: str, **others: Any) -> _core.Options:
    """Options with these switches off and the others as given."""
    off: dict[str, Any] = dict.fromkeys(switches, False)
    return _core.Options(**off, **others)


def solve(
    problem: Problem,
    options: _core.Options | None = None,
    first: Iterable[int] | None = None,
    without: Iterable[int] = (),
    **limits: Any,
) -> _core.Result:
    """A search; ``first`` and ``without`` are columns, as in the oracle."""
    options = _core.Options() if options is None else options
    uses = np.full(problem.X.shape[1], 0 if first is None else 1, dtype=np.uint8)
    uses[[*(first or ())]] = 0
    uses[[*without]] = 2
    tests = problem.test_weights
    dataset = _core.Dataset(
        _core.pack(problem.X),
        problem.y.astype(np.int32),
        None if problem.weights is None else problem.weights.astype(np.int64),
        problem.n_classes,
        fold_rows=options.fold_rows,
        fold_columns=options.fold_columns,
        test_weights=None if tests is None else tests.astype(np.uint32),
        uses=uses,
    )
    prior = _core.Prior(problem.alpha, problem.beta, np.array(problem.rho))
    return _core.search(dataset, prior, options, _core.Limits(**limits))


@cache
def best(problem: Problem, max_depth: int | None = None, **others: Any) -> float:
    """The oracle's optimum, worked out once for all tests of the same problem."""
    data = problem.X.tolist(), problem.y.tolist(), problem.weights
    constraints = {"max_depth": max_depth, **others}
    return optimum(*data, **problem.prior | constraints)[0]


def tree_of(result: Any) -> Tree:
    """The tree of what has feature, left and right, as the oracles write it."""
    return nested(result.feature, result.left, result.right)


def nested(feature: Vector, left: Vector, right: Vector, node: int = 0) -> Tree:
    if feature[node] < 0:
        return LEAF
    children = (nested(feature, left, right, int(child[node])) for child in (left, right))
    return int(feature[node]), *children


def arrays_of(tree: Tree) -> tuple[Vector, Vector, Vector]:
    """Feature, left and right of a tree, in preorder."""
    feature, left, right = [], [], []

    def add(tree: Tree) -> int:
        node = len(feature)
        feature.append(tree[0] if tree else -1)
        for child in (left, right):
            child.append(-1)
        if tree:
            left[node], right[node] = add(tree[1]), add(tree[2])
        return node

    add(tree)
    return tuple(np.array(values, dtype=np.int32) for values in (feature, left, right))


def signature(result: _core.Result) -> tuple[Any, ...]:
    """All that must repeat from run to run: everything but times and bytes."""
    tree = [result.feature, result.left, result.right, result.counts]
    arrays = tuple(array.tolist() for array in tree)
    return result.status, result.lower, result.upper, result.expansions, *arrays


def check(problem: Problem, result: _core.Result, **constraints: Any) -> None:
    """What holds at every stop, whatever the options."""
    optimal = best(problem, **constraints)
    assert result.lower <= result.upper, str(problem)
    assert result.lower <= optimal + TOLERANCE, str(problem)
    assert result.upper >= optimal - TOLERANCE, str(problem)
    assert (result.status == "optimal") == (result.lower == result.upper), str(problem)
    tree = tree_of(result)
    # The cost is infinite if the tree breaks a constraint.
    cost = tree_cost(tree, problem.X, problem.y, problem.weights, **problem.prior | constraints)
    assert cost == pytest.approx(result.upper, abs=TOLERANCE), str(problem)
    check_arrays(problem, result)
    check_trace(result, optimal)
    if result.status == "optimal":
        assert result.proved_depth == -1
    elif "max_depth" not in constraints:
        # No tree up to this depth is better than the one returned.
        assert result.proved_depth >= 0
        shallow = best(problem, result.proved_depth, **constraints)
        assert shallow >= result.upper - TOLERANCE, str(problem)


def check_arrays(problem: Problem, result: _core.Result) -> None:
    """Nodes are in preorder and hold the weighted class counts of the rows that reach them."""
    order: list[int] = []
    reach: list[tuple[int, np.ndarray[Any, Any]]] = [(0, np.full(len(problem.y), True))]
    while reach:
        node, rows = reach.pop()
        order.append(node)
        weights = None if problem.weights is None else problem.weights[rows]
        counts = np.bincount(problem.y[rows], weights, minlength=problem.n_classes)
        assert result.counts[node].tolist() == counts.tolist(), str(problem)
        children = int(result.left[node]), int(result.right[node])
        if result.feature[node] < 0:
            assert children == (-1, -1), str(problem)
        else:
            ones = problem.X[:, result.feature[node]] == 1
            reach += [(children[1], rows & ones), (children[0], rows & ~ones)]
    assert order == list(range(len(result.feature))), str(problem)


def check_trace(result: _core.Result, optimal: float) -> None:
    _, expansions, lower, upper = result.trace.T
    assert np.all(np.diff(expansions) >= 0)
    assert np.all(np.diff(lower) >= 0)
    assert np.all(np.diff(upper) <= 0)
    assert np.all(lower <= optimal + TOLERANCE)
    assert np.all(upper >= optimal - TOLERANCE)


def check_optimal(problem: Problem, result: _core.Result, **constraints: Any) -> None:
    check(problem, result, **constraints)
    assert result.status == "optimal", str(problem)
    assert result.upper == pytest.approx(best(problem, **constraints), abs=TOLERANCE), str(problem)
