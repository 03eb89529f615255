"""``--task``: whether a target is one of classes, a number, or a count.

Without the option it is decided by the values, and said. Up to 20 different values are classes,
as in a fit from Python, unless hardly any is repeated and some are not whole. More numbers are a
number: nobody wants one of 59 classes as the number of visits. That numbers could be counts is
only pointed out: where events were counted for different lengths of time, an exposure is needed,
which only the user knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from maptree.cli.mistakes import USAGE, Refusal
from maptree.parameters.names import nearest
from maptree.tables.labels import FEW_LABELS

if TYPE_CHECKING:
    from maptree.cli.numbers_in_columns import ReadNumbers

CLASSES, NUMBER, COUNT = TASKS = ("classes", "number", "count")
LIKELIHOODS = {NUMBER: "normal", COUNT: "poisson"}

_TWO = 2  # numbers that are always classes: 0 and 1
_ROWS_PER_VALUE = 2  # at most as many, and fractions are not classes
_LARGEST_COUNT = 1000  # up to which whole numbers look like counts


def read_task(task: str | None, exposure: str | None) -> str | None:
    """Check the options; None: the values decide."""
    if task is not None and task not in TASKS:
        meant = "".join(f" Did you mean {name}?" for name in nearest(task, TASKS)[:1])
        raise Refusal(f"--task {task} is unknown: pass {', '.join(TASKS)}.{meant}", USAGE)
    if exposure is None:
        return task
    if task not in (COUNT, None):
        raise Refusal(f"--exposure is for counts, not for --task {task}: leave one out.", USAGE)
    return COUNT


def choose_task(found: ReadNumbers, n_rows: int) -> tuple[str, str]:
    """Return what numbers are taken for, and a sentence about it and how to change it."""
    n, whole = found.n_different, found.whole
    counts = whole and found.least >= 0
    if n <= FEW_LABELS and (whole or n_rows > _ROWS_PER_VALUE * n or n <= _TWO):
        if n <= _TWO:
            return CLASSES, ""
        others = "--task number" + " or --task count" * counts
        return CLASSES, f"Its {n} different numbers are taken as classes: pass {others} otherwise."
    said = f"Taken as a number, because it has {n:,} different values: this is a regression."
    if counts and found.least <= 1 and found.most <= _LARGEST_COUNT:
        return NUMBER, f"{said} Pass --task count if it counts events, --task classes for classes."
    return NUMBER, f"{said} Pass --task classes if they are classes."
