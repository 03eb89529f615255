"""The table that ``maptree fit`` is given: its columns and its target, checked.

Nothing slow is imported here, so that what cannot be fitted is refused at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maptree.cli.column_weights import parse_weights, refuse_weights
from maptree.cli.files import Source
from maptree.cli.first_and_without import refuse_wishes
from maptree.cli.mistakes import USAGE, Refusal, refuse_unknown, split_names
from maptree.cli.settings import Plan, refuse_number_of_rho, refuse_other_tasks
from maptree.cli.target import Target, read_exposure, read_target
from maptree.cli.task import CLASSES, COUNT


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
    exposure: NDArray[np.float64] | None = None  # of the rows, where events were counted

    @property
    def wishes(self) -> dict[str, Any]:
        """What is wished of columns, as parameters of the estimator."""
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
    _refuse_exposure(plan, names, drop, source.name)
    target = read_target(source, plan.target, plan.positive, plan.task)
    _refuse_options(plan, target)
    exposure = None
    if plan.exposure is not None:
        exposure = read_exposure(source, plan.exposure, target.rows)
    set_aside = [(name, "dropped") for name in drop]
    aside = {plan.target, *drop}
    if plan.exposure is not None:
        set_aside.append((plan.exposure, "the exposure"))
        aside.add(plan.exposure)
    kept = [name for name in names if name not in aside]
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
    return TrainingTable(source, target, table, set_aside, weights, first, without, exposure)


def _refuse_exposure(plan: Plan, names: list[str], drop: list[str], where: str) -> None:
    """Refuse an exposure that is not a column of its own."""
    name = plan.exposure
    if name is None:
        return
    refuse_unknown([name], names, where)
    if name == plan.target:
        raise Refusal(f"--exposure {name} is the target: name another column.", USAGE)
    if name in drop:
        fault = f"--exposure {name} is a column that --drop leaves out"
        raise Refusal(f"{fault}: an exposure is never tested, so drop others.", USAGE)
    weighted = parse_weights(plan.column_weights, names, where)
    wished = {*split_names(plan.first, names), *split_names(plan.without, names), *weighted}
    if name in wished:
        raise Refusal(
            f"--exposure {name} is never tested: leave it out of --first, --without and "
            "--column-weights.",
            USAGE,
        )


def _refuse_options(plan: Plan, target: Target) -> None:
    """Refuse options that are for another kind of target."""
    refuse_other_tasks(plan.parameters, target.task)
    if target.task == CLASSES:
        refuse_number_of_rho(plan.parameters["rho"], len(target.counts))
        return
    if plan.positive is not None:
        fault = f"--positive names a class, but the target is taken as a {target.task}"
        raise Refusal(f"{fault}: leave it out, or pass --task classes.", USAGE)
    if plan.average is not None:
        raise Refusal(
            f"--average is for classes, but the target is taken as a {target.task}: the samplers "
            "draw trees for classes only. Leave it out; or pass --task classes, if it is one of "
            "classes.",
            USAGE,
        )
    numbers = target.labels
    if target.task == COUNT and plan.exposure is None and (numbers == numbers[0]).all():
        raise Refusal(
            f"The target {target.name!r} is {numbers[0]:g} in every row: there is nothing to "
            "learn. Name another target, or --exposure, if the events of rows were counted for "
            "different lengths of time."
        )


def _counts_rows(column: Any) -> bool:
    if not pa.types.is_integer(column.type) or column.null_count or len(column) < 2:
        return False
    steps = np.diff(column.to_numpy())
    return bool((steps == 1).all())
