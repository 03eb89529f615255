"""Rows of a file for a fitted tree: the columns that it tests, and their known classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maptree.cli.files import Source
from maptree.cli.mistakes import USAGE, Refusal, hint, listed, refuse_unknown
from maptree.cli.target import known_labels
from maptree.trees.fitted import FittedTree
from maptree.trees.seen_rows import Overlap

if TYPE_CHECKING:
    from maptree.encoding.answering import Answers


def answers_for(fitted: FittedTree, source: Source) -> Answers:
    """Return the answers of a file's rows; refuse text that is not written as in ``fit``."""
    from maptree.encoding.answering import read_answers
    from maptree.tables.writing import UnreadableTextError, called

    schema = fitted.schema
    if source.decimal is not None:  # this file is written in another way
        schema = schema.with_decimal(source.decimal)
    try:
        return read_answers(schema, rows_for(fitted, source))
    except UnreadableTextError as error:
        raise Refusal(
            f"{error.where[:1].upper()}{error.where[1:]} has {error.text!r} in row "
            f"{error.row + 1:,}, but the model was fitted on {called(error.writing)}. Fix the "
            "value; if it is missing, leave the cell empty or pass its word with --missing."
        ) from None


def rows_for(fitted: FittedTree, source: Source) -> Any:
    """Return a table with all columns of the fitted one, to predict on.

    The file needs only the columns that the tree tests. Others are passed as missing, or as 0
    where missing values are not allowed: no test uses them.
    """
    schema = fitted.schema
    if not schema.named:
        return _by_position(fitted, source)
    names, n_rows = schema.names, source.table.num_rows
    absent = [names[j] for j in fitted.needed_columns if names[j] not in source.columns]
    if absent:
        tests = "tree tests" if fitted.average is None else "trees test"
        raise Refusal(
            f"{source.name} has no {'columns' if len(absent) > 1 else 'column'} "
            f"{listed(absent)}, which the {tests}. {hint(absent, source.columns)}"
        )
    nothing = pa.nulls(n_rows) if schema.takes_missing else pa.array(np.zeros(n_rows, np.int8))
    return pa.table(
        {
            column.name: source.as_fitted(column.name, column)
            if column.name in source.columns
            else nothing
            for column in schema.columns
        }
    )


def _by_position(fitted: FittedTree, source: Source) -> Any:
    """Take the columns by position, for a tree that was fitted on a table without names."""
    columns = fitted.schema.columns
    if len(source.columns) != len(columns):
        raise Refusal(
            f"The model was fitted on {len(columns):,} columns without names, but {source.name} "
            f"has {len(source.columns):,}: pass the same columns in the same order."
        )
    arrays = [
        source.as_fitted(name, about).to_numpy(zero_copy_only=False)
        for name, about in zip(source.columns, columns, strict=True)
    ]
    return np.stack([array.astype(object) for array in arrays], axis=1)


@dataclass(frozen=True)
class LabelledRows:
    """Rows with known classes: their predictions, and the numbers of their classes."""

    target: str
    answers: Answers  # of all rows of the file
    rows: NDArray[np.intp]  # those with a class
    probabilities: NDArray[np.float64]  # of the nodes of a tree, or of an average's rows
    leaves: NDArray[np.intp]  # which of these are a row's
    of_tree: NDArray[np.intp]  # the leaves of the tree, whether it predicts alone or not
    codes: NDArray[np.intp]  # -1: a class that the model does not know
    without: int  # rows left out because they have no class
    overlap: Overlap  # with the training rows

    @property
    def averaged(self) -> NDArray[np.float64] | None:
        """The probabilities of each row, of an average; None where a tree predicts alone."""
        return None if self.of_tree is self.leaves else self.probabilities[self.leaves]


def labelled_rows(fitted: FittedTree, source: Source, target: str | None) -> LabelledRows:
    """Find the columns of a fitted tree and its target in a file."""
    name = target_in(fitted, source, target)
    codes, unknown = known_labels(source, name, fitted.classes)
    rows = np.flatnonzero(codes != -2)
    if len(rows) == unknown:
        raise Refusal(
            f"{source.name}: no row of {name!r} has a class that the model knows "
            f"({', '.join(fitted.labels[:12])}). Pass the right --target."
        )
    from maptree.encoding.answering import predicted

    answers = answers_for(fitted, source)
    probabilities, at = predicted(fitted, answers)
    at = at[rows]
    of_tree = at if fitted.average is None else answers.leaves(fitted.tree)[rows]
    overlap = find_overlap(fitted, source, answers, rows, codes[rows])
    without = len(codes) - len(rows)
    return LabelledRows(
        name, answers, rows, probabilities, at, of_tree, codes[rows], without, overlap
    )


def target_in(fitted: FittedTree, source: Source, target: str | None) -> str:
    """Return the name of the target in a file."""
    name = target or fitted.training.target
    if name is None:
        raise Refusal("The model does not say what it predicts: pass --target.", USAGE)
    refuse_unknown([name], source.columns, source.name)
    return name


def find_overlap(
    fitted: FittedTree,
    source: Source,
    answers: Answers,
    rows: NDArray[np.intp],
    codes: NDArray[np.intp],
) -> Overlap:
    """Compare rows with the training rows, if the file has all columns of those.

    ``codes``: the number of each row's class, or what numbers and counts are recognised by.
    """
    from maptree.encoding.answering import training_overlap

    tested = [column.name for column in fitted.schema.columns if column.tests]
    absent = set(tested) - set(source.columns) if fitted.schema.named else set()
    if absent and fitted.training.seen is not None:
        names = listed([name for name in tested if name in absent])
        few = "columns" if len(absent) > 1 else "column"
        return Overlap(len(codes), unknown=f"{source.name} has no {few} {names}")
    return training_overlap(fitted, answers.row_hashes().keep(rows), codes)
