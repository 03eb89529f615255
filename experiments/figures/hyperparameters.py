"""Hyperparameters: MAPTree with seven priors, measured as in generalisation."""

from __future__ import annotations

from functools import partial

from experiments.comparison import standings
from experiments.figures import boxes
from experiments.figures.sheet import Sheet
from experiments.results import Results
from experiments.settings import CART_4, HYPERPARAMETERS

CAPTION = (
    "MAPTree with seven pairs of alpha, beta (rho 2.5; the default is 0.95, 0.5) on {folds} of 10 "
    "folds, {limit:g} s a fit; measured and drawn as in generalisation."
)


def sheets(results: Results) -> list[Sheet]:
    """Return the figure."""
    rows = results.of("hyperparameters")
    measured = standings(rows, (*HYPERPARAMETERS, CART_4), results.sets)
    return [
        Sheet(
            name="hyperparameters",
            title="Hyperparameters",
            caption=CAPTION.format(folds=len(results.budget.folds), limit=results.budget.limit),
            picture=partial(boxes.picture, measured, "alpha, beta"),
            tables=[boxes.summary(measured)],
            details=[boxes.details(measured)],
        )
    ]
