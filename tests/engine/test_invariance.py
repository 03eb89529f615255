"""What must not matter: the order of rows, the names of columns and classes, rows written twice
instead of weighted, which shortcuts are on, which kernel counts bits.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from checks import (
    CONSTRAINTS,
    SWITCHES,
    TOLERANCE,
    best,
    check_optimal,
    signature,
    solve,
    without,
)
from maptree import _core
from problems import BLOCK_SIZES, KINDS, SCALE, big_few_distinct, case, every_kind, generate, seeds


@seeds(2)
@every_kind
def test_runs_repeat(kind: str, seed: int, tally: Counter[str]) -> None:
    tally["runs repeat"] += 1
    problem = case(kind, seed)
    for budget in (-1, 5):
        first, second = (solve(problem, max_expansions=budget) for _ in range(2))
        assert signature(first) == signature(second)


@seeds(4)
@every_kind
def test_order_of_rows(kind: str, seed: int, tally: Counter[str]) -> None:
    """The identical tree: ties never depend on the order of rows, at any stop."""
    tally[f"order of rows: {kind}"] += 1
    problem = case(kind, seed)
    order = np.random.default_rng(seed).permutation(len(problem.y))
    for options, budget in product((_core.Options(), _core.Options.paper()), (-1, 5)):
        result = solve(problem, options, max_expansions=budget)
        shuffled = solve(problem.with_rows(order), options, max_expansions=budget)
        assert signature(result) == signature(shuffled), str(problem)


@seeds(4)
@every_kind
def test_names_do_not_matter(kind: str, seed: int, tally: Counter[str]) -> None:
    """Columns in another order or complemented, classes renamed: the same optimum."""
    tally[f"columns and labels: {kind}"] += 1
    problem = case(kind, seed)
    rng = np.random.default_rng(seed)
    n_features = problem.X.shape[1]
    for same in (
        problem.with_columns(rng.permutation(n_features)),
        problem.with_labels(rng.permutation(problem.n_classes)),
        problem.with_complement(int(rng.integers(n_features))),
    ):
        result = solve(same)
        assert result.status == "optimal"
        assert result.upper == pytest.approx(best(problem), abs=TOLERANCE), str(same)


@seeds(2)
@every_kind
def test_weights_are_repeated_rows(kind: str, seed: int, tally: Counter[str]) -> None:
    """Weight 0 is a row that is not there, weight 3 a row that is there three times."""
    tally[f"weights = repeated rows: {kind}"] += 1
    problem = generate(kind, seed, max_weight=4)
    variants = _core.Options(), without("fold_rows"), _core.Options(min_samples_leaf=3)
    for options, budget in product(variants, (-1, 3)):
        weighted = solve(problem, options, max_expansions=budget)
        repeated = solve(problem.repeated(), options, max_expansions=budget)
        assert signature(weighted) == signature(repeated), str(problem)
    check_optimal(problem, solve(problem))


@seeds(2)
@every_kind
@pytest.mark.parametrize("switch", SWITCHES)
def test_each_switch(kind: str, seed: int, switch: str, tally: Counter[str]) -> None:
    tally[f"without {switch}"] += 1
    problem = case(kind, seed)
    check_optimal(problem, solve(problem, without(switch)))


@seeds(16)
@every_kind
def test_any_switches(kind: str, seed: int, tally: Counter[str]) -> None:
    """Random sets of switches off, half of them under constraints."""
    tally["random switches off"] += 1
    problem = case(kind, seed)
    rng = np.random.default_rng([seed, *kind.encode()])
    off = [switch for switch in SWITCHES if rng.random() < 0.5]
    constraints = CONSTRAINTS[rng.integers(len(CONSTRAINTS))] if rng.random() < 0.5 else {}
    check_optimal(problem, solve(problem, without(*off, **constraints)), **constraints)


@pytest.mark.cases
@pytest.mark.parametrize("kernel", _core.kernels())
def test_kernels(kernel: str, tally: Counter[str]) -> None:
    """Counting bits another way changes nothing, to the last expansion."""
    some = [generate(kind, seed) for kind in KINDS for seed in range(2 * SCALE)]
    wide = [generate(kind, seed, n_rows=1000, n_features=14) for kind in KINDS for seed in range(2)]
    ends = [big_few_distinct(n_rows, n_features=6) for n_rows in BLOCK_SIZES]
    for problem, switches in product(some + wide + ends, ([], ["compact"])):
        tally[f"kernel {kernel}"] += 1
        result, plain = (
            solve(problem, without(*switches, kernel=name), max_expansions=40)
            for name in (kernel, "plain")
        )
        assert signature(result) == signature(plain), str(problem)
        assert result.subproblems == plain.subproblems
