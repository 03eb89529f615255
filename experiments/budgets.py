"""How much of the paper's protocol is run: for an answer in half an hour, or all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Budget:
    """The limits of a run. Times are in seconds per fit."""

    name: str
    long_run: float  # speed: the one run by time; runs by expansions end then, too
    limit: float  # the other families
    folds: tuple[int, ...]  # of the ten
    trees: tuple[int, ...]  # of the twenty synthetic ones
    rows: tuple[int, ...]  # training rows of a synthetic tree
    all_settings: bool  # False: the settings of the main figures


FULL = Budget(
    name="full",
    long_run=600,
    limit=60,
    folds=tuple(range(10)),
    trees=tuple(range(20)),
    rows=tuple(range(100, 1001, 100)),
    all_settings=True,
)
QUICK = Budget(
    name="quick",
    long_run=10,
    limit=2,
    folds=(0, 1, 2),
    trees=(0, 1, 2, 3, 4),
    rows=(100, 400, 1000),
    all_settings=False,
)
# Claims about speed and proofs are judged on runs of a minute at least.
MINUTE = replace(QUICK, name="minute", long_run=60)

BUDGETS = {budget.name: budget for budget in (QUICK, MINUTE, FULL)}
