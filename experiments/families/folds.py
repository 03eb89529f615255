"""Cells of settings on folds: what generalisation and hyperparameters have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from experiments.budgets import Budget
from experiments.cells import Cell
from experiments.settings import Setting

UNLIMITED = ("cart", "cart-cv")  # they have no time limit


def limit_of(setting: Setting, budget: Budget) -> float | None:
    """Return the time limit of a setting in seconds."""
    return None if setting.system in UNLIMITED else budget.limit


def on_folds(
    family: str, settings: Iterable[Setting], budget: Budget, sets: Sequence[str]
) -> list[Cell]:
    """Every setting on every fold of every set."""
    settings = list(settings)
    return [
        Cell(
            family,
            setting.system,
            setting.params,
            {"kind": "cp4im", "name": name, "fold": fold},
            limit=limit_of(setting, budget),
        )
        for name in sets
        for fold in budget.folds
        for setting in settings
    ]
