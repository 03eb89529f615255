"""A search stopped after every number of expansions: its bounds, and those of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import paper
from checks import check, check_optimal, signature, solve
from maptree import _core
from oracle import LEAF, tree_cost
from problems import Problem

# Both in 2^-32 nats, where a logarithm may round to the next unit.
ROUNDING = 1e-8


def budgets(expansions: int) -> Iterator[int]:
    """Every budget up to 6, then steps of a third, and the last."""
    budget = 0
    while budget < expansions:
        yield budget
        budget = max(budget + 1, budget * 4 // 3)
    yield expansions


def check_stops(problem: Problem, options: _core.Options, tally: Counter[str]) -> None:
    whole = solve(problem, options)
    check_optimal(problem, whole)
    last: _core.Result | None = None
    for budget in budgets(whole.expansions):
        tally["stops"] += 1
        result = solve(problem, options, max_expansions=budget)
        check(problem, result)
        assert result.expansions <= budget, str(problem)
        assert result.status in ("optimal", "expansion_limit"), str(problem)
        if last is not None:
            assert result.lower >= last.lower, str(problem)
            assert result.upper <= last.upper, str(problem)
        last = result
    assert last is not None
    assert signature(last) == signature(whole), str(problem)


def check_paper_mode(problem: Problem) -> None:
    steps: list[tuple[float, float]] = []
    rows = problem.repeated()
    theirs = paper.maptree(
        rows.X, rows.y, **problem.prior, on_step=lambda *bounds: steps.append(bounds)
    )
    # The paper has no tree before its first expansion; the core has a lone leaf from the start,
    # and is done at once where that is what the root's bound allows.
    lone_leaf = tree_cost(LEAF, rows.X, rows.y, **problem.prior)
    steps[0] = steps[0][0], min(steps[0][1], lone_leaf)
    expansions = 0 if steps[0][0] >= lone_leaf - ROUNDING else theirs.expansions
    for budget in budgets(expansions):
        ours = solve(problem, _core.Options.paper(), max_expansions=budget)
        lower, upper = steps[budget]
        assert ours.expansions == budget, str(problem)
        assert ours.lower == pytest.approx(lower, abs=ROUNDING), str(problem)
        assert ours.upper == pytest.approx(upper, abs=ROUNDING), str(problem)
    ours = solve(problem, _core.Options.paper())
    assert ours.status == "optimal"
    assert ours.expansions == expansions, str(problem)
