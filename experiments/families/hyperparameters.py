"""Hyperparameters: MAPTree with seven priors on folds of the sets, and what it is measured by."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.budgets import Budget
from experiments.cells import Cell
from experiments.families.folds import on_folds
from experiments.settings import CART_4, HYPERPARAMETERS


def cells(budget: Budget, sets: Sequence[str]) -> list[Cell]:
    """Return the cells."""
    return on_folds("hyperparameters", (*HYPERPARAMETERS, CART_4), budget, sets)
