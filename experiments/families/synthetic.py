"""Synthetic: all systems on labels that known trees have made, by number of rows and noise."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.budgets import Budget
from experiments.cells import Cell
from experiments.families.folds import limit_of
from experiments.settings import COMPARED, MAIN, NOISES


def cells(budget: Budget, sets: Sequence[str]) -> list[Cell]:
    """Return the cells; it needs none of the sets."""
    return [
        Cell(
            "synthetic",
            setting.system,
            setting.params,
            {"kind": "synthetic", "tree": tree, "rows": rows, "noise": noise},
            limit=limit_of(setting, budget),
        )
        for tree in budget.trees
        for rows in budget.rows
        for noise in NOISES
        for setting in (COMPARED if budget.all_settings else MAIN)
    ]
