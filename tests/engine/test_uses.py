"""Columns that may not be tested everywhere, against brute force: what comes first, what is out."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import SWITCHES, check, check_optimal, signature, solve, tree_of, without
from maptree import _core
from oracle import LEAF, all_trees, optimum, tree_cost
from problems import Problem, case, every_kind, examples, problems, seeds, weighted_case
from stops import budgets


def random_wishes(problem: Problem, seed: int) -> dict[str, Any]:
    """Columns that come first, and columns that are not tested: some of either, or none."""
    rng = np.random.default_rng([seed, problem.X.shape[1]])
    columns = range(problem.X.shape[1])
    first = None if seed % 3 == 1 else tuple(j for j in columns if rng.random() < 0.4)
    left_out = () if seed % 3 == 2 else tuple(j for j in columns if rng.random() < 0.3)
    if first is not None:
        first = tuple(j for j in first if j not in left_out)
    return {"first": first, "without": left_out}


@seeds(12)
@every_kind
def test_optimum(kind: str, seed: int, tally: Counter[str]) -> None:
    tally[f"wishes: {kind}"] += 1
    for problem in (case(kind, seed), weighted_case(kind, seed)):
        wishes = random_wishes(problem, seed)
        check_optimal(problem, solve(problem, **wishes), **wishes)
        check_optimal(problem, solve(problem, _core.Options.paper(), **wishes), **wishes)


@seeds(1)
@every_kind
@pytest.mark.parametrize("switch", SWITCHES)
def test_every_stop_without(kind: str, seed: int, switch: str, tally: Counter[str]) -> None:
    """Bounds enclose the optimum of the trees that are wished, whatever is switched off."""
    for number, problem in enumerate((case(kind, seed, 40, 5), weighted_case(kind, seed, 40, 5))):
        wishes = random_wishes(problem, seed + number)
        options = without(switch)
        whole = solve(problem, options, **wishes)
        check_optimal(problem, whole, **wishes)
        for budget in budgets(whole.expansions):
            tally["stops with wishes"] += 1
            result = solve(problem, options, **wishes, max_expansions=budget)
            check(problem, result, **wishes)
        assert signature(result) == signature(whole)


@examples(60)
@given(problem=problems(max_weight=3), data=st.data())
def test_any_problem_with_any_options(
    problem: Problem, data: st.DataObject, tally: Counter[str]
) -> None:
    tally["wishes: any problem, any options"] += 1
    columns = st.sets(st.integers(0, problem.X.shape[1] - 1))
    left_out = data.draw(columns, label="without")
    first = data.draw(st.none() | columns, label="first")
    wishes: dict[str, Any] = {
        "first": None if first is None else tuple(sorted(first - left_out)),
        "without": tuple(sorted(left_out)),
    }
    off = data.draw(st.sets(st.sampled_from(SWITCHES)), label="switched off")
    others = data.draw(
        st.sampled_from([{}, {"max_depth": 1}, {"max_depth": 2}, {"min_samples_leaf": 3}])
    )
    result = solve(problem, without(*off, **others), **wishes)
    check_optimal(problem, result, **wishes, **others)


def test_a_copy_that_may_be_tested_is_named() -> None:
    """Of equal columns the heaviest is searched: here only a lighter copy may come first."""
    X = np.array([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]] * 6, dtype=np.uint8)
    weights = np.array([8, 2, 1])
    problem = Problem(X, X[:, 0].astype(np.int64), 2, 0.95, 0.5, (2.5, 2.5), None, weights)
    for wishes in ({"first": (1,)}, {"first": None, "without": (0,)}):
        result = solve(problem, **wishes)
        assert tree_of(result) == (1, LEAF, LEAF)
        check_optimal(problem, result, **wishes)


def test_a_lone_leaf_is_always_allowed() -> None:
    problem = case("separable", 3, n_rows=20)
    n_columns = problem.X.shape[1]
    for wishes in ({"first": ()}, {"first": None, "without": tuple(range(n_columns))}):
        result = solve(problem, **wishes)
        assert tree_of(result) == LEAF
        assert result.status == "optimal"


def test_the_oracles_agree() -> None:
    """The least of all trees that do as wished, of the costs that all trees have."""
    problem = case("noise", 5, n_rows=12, n_features=3)
    data = problem.X.tolist(), problem.y.tolist()
    costs = dict(all_trees(*data, **problem.prior))

    def tests(tree: Any) -> set[int]:
        return {tree[0]} | tests(tree[1]) | tests(tree[2]) if tree else set()

    for first, left_out in (((0,), ()), (None, (1,)), ((2,), (0,))):
        wished = {
            tree: cost
            for tree, cost in costs.items()
            if not tests(tree) & set(left_out) and (not tree or first is None or tree[0] in first)
        }
        wishes = problem.prior | {"first": first, "without": left_out}
        assert optimum(*data, **wishes)[0] == pytest.approx(min(wished.values()))
        other = next(tree for tree in costs if tree not in wished)
        assert tree_cost(other, *data, **wishes) == np.inf


def test_wishes_that_change_nothing_change_nothing() -> None:
    problem = case("noise", 1, n_rows=60, n_features=6)
    everything = tuple(range(6))
    assert signature(solve(problem, first=everything)) == signature(solve(problem))


@pytest.mark.parametrize(
    ("uses", "message"),
    [([0], "one entry a column"), ([0, 3], "0 .anywhere., 1 .below the root. and 2")],
)
def test_uses_are_checked(uses: list[int], message: str) -> None:
    table = _core.pack(np.array([[0, 1], [1, 0]], dtype=np.uint8))
    labels = np.array([0, 1], dtype=np.int32)
    with pytest.raises(ValueError, match=message):
        _core.Dataset(table, labels, None, 2, uses=np.array(uses, dtype=np.uint8))


def test_samplers_refuse_them() -> None:
    table = _core.pack(np.array([[0, 1], [1, 0]], dtype=np.uint8))
    labels = np.array([0, 1], dtype=np.int32)
    uses = np.array([0, 1], dtype=np.uint8)
    dataset = _core.Dataset(table, labels, None, 2, fold_columns=False, uses=uses)
    with pytest.raises(ValueError, match="may test every column everywhere"):
        _core.sample_mcmc(
            dataset,
            _core.Prior(0.95, 0.5, np.array([2.5, 2.5])),
            n_samples=1,
            burn_in=0,
            thin=1,
            n_chains=1,
            seed=0,
            limits=_core.Limits(),
        )
