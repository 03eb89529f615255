"""Speed: how good a tree is found how soon, on whole sets."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.budgets import Budget
from experiments.cells import Cell
from experiments.settings import DRAWS, EXPANSIONS, PRIOR, SAMPLERS, SEARCHES, SEEDS


def cells(budget: Budget, sets: Sequence[str]) -> list[Cell]:
    """Searches by expansions and one by time; samplers by draws, each with every seed."""
    made = []
    for name in sets:
        data = {"kind": "cp4im", "name": name, "fold": None}
        for search in SEARCHES:
            for expansions in (*EXPANSIONS, None):
                params = PRIOR if expansions is None else PRIOR | {"max_expansions": expansions}
                made.append(Cell("speed", search, params, data, limit=budget.long_run))
        for sampler, (_, draws) in SAMPLERS.items():
            for number in DRAWS:
                made += [
                    Cell("speed", sampler, PRIOR | {draws: number}, data, seed, budget.long_run)
                    for seed in SEEDS
                ]
    return made
