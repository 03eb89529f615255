"""Generalisation: all systems on folds of the sets."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.budgets import Budget
from experiments.cells import Cell
from experiments.families.folds import on_folds
from experiments.settings import COMPARED, MAIN


def cells(budget: Budget, sets: Sequence[str]) -> list[Cell]:
    """Return the cells."""
    return on_folds("generalisation", COMPARED if budget.all_settings else MAIN, budget, sets)
