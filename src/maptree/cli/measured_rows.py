"""Rows of a file for a tree of numbers or counts: their leaves, known values and exposures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from maptree.cli.files import Source
from maptree.cli.mistakes import USAGE, Refusal, refuse_unknown
from maptree.cli.rows import answers_for, find_overlap, target_in
from maptree.cli.target import read_exposure, read_measured
from maptree.cli.task import COUNT, NUMBER
from maptree.trees.fitted import FittedTree
from maptree.trees.outcomes import Counts, Measured, Numbers
from maptree.trees.predictive import Floats
from maptree.trees.seen_rows import Overlap

if TYPE_CHECKING:
    from maptree.encoding.answering import Answers


@dataclass(frozen=True)
class MeasuredRows:
    """Rows whose number or count is known."""

    target: str
    note: str  # how text was read
    answers: Answers  # of all rows of the file
    rows: NDArray[np.intp]  # those with a number
    leaves: NDArray[np.intp]
    y: Floats
    exposure: Floats | None
    without: int  # rows left out because they have no number
    overlap: Overlap  # with the training rows


def measured_rows(
    fitted: FittedTree,
    measured: Measured,
    source: Source,
    target: str | None,
    exposure: str | None,
) -> MeasuredRows:
    """Find the columns of a tree and its target in a file."""
    name = target_in(fitted, source, target)
    found = read_measured(source, name, NUMBER if isinstance(measured, Numbers) else COUNT)
    rows = np.flatnonzero(~np.isnan(found.values))
    y = found.values[rows]
    need_exposure(measured, exposure)
    exposures = exposure_in(measured, source, exposure, rows)
    answers = answers_for(fitted, source)
    known_by = y.view(np.int64) if isinstance(measured, Numbers) else y.astype(np.int64)
    return MeasuredRows(
        target=name,
        note=found.note,
        answers=answers,
        rows=rows,
        leaves=answers.leaves(fitted.tree)[rows],
        y=y,
        exposure=exposures,
        without=len(found.values) - len(rows),
        overlap=find_overlap(fitted, source, answers, rows, known_by),
    )


def need_exposure(measured: Measured, exposure: str | None) -> None:
    """Refuse to compare counts with rates, where the model was fitted with an exposure."""
    if isinstance(measured, Counts) and measured.exposed and exposure is None:
        raise Refusal(
            "The model was fitted to counts with an exposure: pass the column that has it, as in "
            "--exposure COLUMN.",
            USAGE,
        )


def exposure_in(
    measured: Measured, source: Source, exposure: str | None, rows: NDArray[np.intp]
) -> Floats | None:
    """Return the exposure of some rows of a file; None if there is none."""
    if exposure is None:
        return None
    if isinstance(measured, Numbers):
        fault = "--exposure is for models of counts, and this one predicts numbers"
        raise Refusal(f"{fault}: leave it out.", USAGE)
    refuse_unknown([exposure], source.columns, source.name)
    return read_exposure(source, exposure, rows)


def refuse_exposure_of_classes(fitted: FittedTree, exposure: str | None) -> None:
    """Refuse an exposure for a model of classes."""
    if fitted.measured is None and exposure is not None:
        fault = "--exposure is for models of counts, and this one predicts classes"
        raise Refusal(f"{fault}: leave it out.", USAGE)
