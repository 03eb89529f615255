"""The paper's four experiments, each a list of cells."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.budgets import BUDGETS, Budget
from experiments.cells import Cell
from experiments.data import available
from experiments.families import generalisation, hyperparameters, speed, synthetic

_MODULES = {
    "speed": speed,
    "generalisation": generalisation,
    "synthetic": synthetic,
    "hyperparameters": hyperparameters,
}
FAMILIES = tuple(_MODULES)


def cells(
    family: str, budget: str | Budget = "quick", sets: Sequence[str] | None = None
) -> list[Cell]:
    """Return the cells of a family, on these sets or on all that there are.

    >>> len(cells("speed", "quick", ["vote"])), len(cells("synthetic", "quick", []))
    (120, 405)
    """
    wanted = BUDGETS[budget] if isinstance(budget, str) else budget
    if sets is None:
        sets = [] if family == "synthetic" else available()[0]
    return _MODULES[family].cells(wanted, sets)
