"""The table that ``maptree fit`` is given: its columns and its target, checked.

Nothing slow is imported here, so that what cannot be fitted is refused at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from maptree.cli.column_weights import parse_weights, refuse_weights
from maptree.cli.files import Source
from maptree.cli.first_and_without import refuse_wishes
from maptree.cli.mistakes import USAGE, Refusal, refuse_unknown, split_names
from maptree.cli.settings import Plan, refuse_number_of_rho
from maptree.cli.target import Target, read_target


@dataclass(frozen=True)
class TrainingTable:
    """What to fit on."""

    source: Source
    target: Target
    table: pa.Table  # the rows with a label, and the columns to fit on
    set_aside: list[tuple[str, str]]  # columns that were left out, and why
    column_weights: dict[str, float]  # those that were given
    first: list[str]  # columns that are to come first,
    without: list[str]  # and those that are not to be tested

    @property
    def wishes(self) -> dict[str, Any]:
        """What is wished of columns, as parameters of the classifier."""
        return {
            "column_weights": self.column_weights or None,
            "first_columns": self.first or None,
            "without_columns": self.without or None,
        }


def read_training_table(plan: Plan, source: Source) -> TrainingTable:
    """Return the labels and the columns to fit on; refuse what cannot be fitted."""
    names = source.columns
    weights = parse_weights(plan.column_weights, names, source.name)
    refuse_unknown([plan.target], names, source.name)
    drop = split_names(plan.drop, names)
    refuse_unknown(drop, names, source.name)
    if plan.target in drop:
        fault = f"--drop {plan.target} is the target"
        raise Refusal(f"{fault}: drop other columns, or name another target.", USAGE)
    target = read_target(source, plan.target, plan.positive)
    refuse_number_of_rho(plan.parameters["rho"], len(target.counts))
    set_aside = [(name, "dropped") for name in drop]
    kept = [name for name in names if name != plan.target and name not in drop]
    refuse_weights(weights, kept, plan.target, drop)
    first, without = (split_names(given, names) for given in (plan.first, plan.without))
    refuse_unknown([*first, *without], names, source.name)
    refuse_wishes(first, without, kept, plan.target, drop, weights)
    table = source.typed(kept)
    for name in kept:
        unnamed = name.startswith("column_") and name not in {*weights, *first, *without}
        if unnamed and _counts_rows(table.column(name)):
            set_aside.append((name, "no name in the header, and it only numbers the rows"))
            table = table.drop_columns([name])
    if table.num_columns == 0:
        raise Refusal(
            f"{source.name} has no columns other than the target and those left out: leave out "
            "fewer."
        )
    if target.n_unlabelled:
        table = table.take(target.rows)
    return TrainingTable(source, target, table, set_aside, weights, first, without)


def _counts_rows(column: Any) -> bool:
    if not pa.types.is_integer(column.type) or column.null_count or len(column) < 2:
        return False
    steps = np.diff(column.to_numpy())
    return bool((steps == 1).all())
