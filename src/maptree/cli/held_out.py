"""Rows that are held out in ``maptree fit``, and the scores of trees on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maptree.cli.baselines import Baselines
from maptree.cli.descriptions import (
    measured_document,
    measured_text,
    scores_document,
    scores_text,
)
from maptree.cli.measured_baselines import MeasuredBaselines
from maptree.cli.mistakes import Refusal
from maptree.cli.settings import HoldingOut
from maptree.cli.training_table import TrainingTable
from maptree.trees.fitted import FittedTree
from maptree.trees.measured_scores import MeasuredScores, PredictedRows, score_measured
from maptree.trees.scores import Scores, score
from maptree.trees.training import BaselineScores, HeldOutScores
from maptree.words.baselines import AVERAGE, TREE, comparison_cells
from maptree.words.text_table import columns_of

Rows = NDArray[np.intp]
# Fits to some rows; the number is that of the fold. None: Ctrl-C ended it.
FitRows = Callable[[Rows, int], FittedTree | None]


@dataclass(frozen=True)
class HeldOut:
    """Scores on held-out rows, in the forms in which they are kept, printed and emitted."""

    kept: HeldOutScores | MeasuredScores
    text: str
    document: dict[str, Any]


def split_rows(given: TrainingTable, held: HoldingOut) -> tuple[Rows, Rows | None]:
    """Return the rows to fit on and those of ``--test-fraction``; classes keep their shares."""
    labels, fraction = given.target.labels, held.test_fraction
    if fraction is None:
        return np.arange(len(labels), dtype=np.intp), None
    held_out = round(len(labels) * fraction)
    if not 1 <= held_out < len(labels):
        raise Refusal(
            f"--test-fraction {fraction:g} of {len(labels):,} rows leaves none to fit on or none "
            "to test on: pass another fraction, or --cv."
        )
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    even = False
    if not given.target.measured:
        _, counts = np.unique(labels, return_counts=True)
        even = counts.min() >= 2 and min(held_out, len(labels) - held_out) >= len(counts)
    kind = StratifiedShuffleSplit if even else ShuffleSplit
    splitter = kind(n_splits=1, test_size=held_out, random_state=held.seed)
    fit_on, test_on = next(splitter.split(labels, labels))
    return np.sort(fit_on), np.sort(test_on)


def measure(
    given: TrainingTable,
    held: HoldingOut,
    fitted: FittedTree,
    test_on: Rows | None,
    fit: FitRows,
) -> HeldOut | None:
    """Score on held-out rows, those of the fit or those of folds; None if Ctrl-C ended it."""
    labels = given.target.labels
    if test_on is not None:
        method = f"{held.test_fraction:g} of the rows, seed {held.seed}"
        fit_on = np.delete(np.arange(len(labels), dtype=np.intp), test_on)
        folds = [(fit_on, test_on)]
    else:
        assert held.cv is not None
        method = f"{held.cv}-fold cross-validation, seed {held.seed}"
        folds = _folds(given, held.cv, held.seed)

    def tree_of(rows: Rows, fold: int) -> FittedTree | None:
        return fitted if test_on is not None else fit(rows, fold)

    of_target = _measured if given.target.measured else _classes
    return of_target(given, held, method, folds, tree_of)


def _folds(given: TrainingTable, n_folds: int, seed: int) -> list[tuple[Rows, Rows]]:
    """Return the rows to fit on and to test on, of each fold."""
    from sklearn.model_selection import KFold, StratifiedKFold

    labels, kind = given.target.labels, KFold
    if not given.target.measured and np.unique(labels, return_counts=True)[1].min() >= n_folds:
        kind = StratifiedKFold
    splitter = kind(n_splits=n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(labels, labels))


def _classes(
    given: TrainingTable,
    held: HoldingOut,
    method: str,
    folds: list[tuple[Rows, Rows]],
    tree_of: FitRows,
) -> HeldOut | None:
    labels = given.target.labels
    classes, codes = np.unique(labels, return_inverse=True)
    # The rows that are held out, and the place of each among them.
    rows = np.sort(np.concatenate([test_on for _, test_on in folds]))
    # Of the nodes of all trees; with many classes, those of the rows would take far more memory.
    # An average has those of the rows.
    nodes: list[NDArray[np.float64]] = []
    leaves = np.empty(len(rows), dtype=np.intp)
    others = Baselines(given.table, labels, codes[rows], classes, held.seed)
    name = TREE
    for fold, (fit_on, test_on) in enumerate(folds, start=1):
        fitted, places = tree_of(fit_on, fold), np.searchsorted(rows, test_on)
        if fitted is None or not others.add(fitted, fit_on, test_on, places):
            return None
        known = np.searchsorted(classes, fitted.classes)
        probabilities, at = _predicted(fitted, given.table.take(test_on))
        leaves[places] = sum(map(len, nodes)) + at
        nodes.append(np.zeros((len(probabilities), len(classes))))
        nodes[-1][:, known] = probabilities
        name = TREE if fitted.average is None else AVERAGE
    scores = score(np.concatenate(nodes), codes[rows], leaves)
    return _of_classes(scores, others.scores(), method, name, [str(label) for label in classes])


def _of_classes(
    scores: Scores, baselines: list[BaselineScores], method: str, name: str, classes: list[str]
) -> HeldOut:
    document = {"method": method} | scores_document(scores, classes)
    document["baselines"] = [vars(baseline) for baseline in baselines]
    cells = comparison_cells(scores.as_baseline(name), baselines)
    text = f"{scores_text(scores)}\n{columns_of(cells)}"
    return HeldOut(scores.kept(method, baselines), text, document)


def _predicted(fitted: FittedTree, X: pa.Table) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return class probabilities, and for each row which of them are its own."""
    from maptree.encoding.answering import predicted, read_answers

    # Text that only held-out rows have may not be readable like that of the others.
    return predicted(fitted, read_answers(fitted.schema, X, strict=False))


def _measured(
    given: TrainingTable,
    held: HoldingOut,
    method: str,
    folds: list[tuple[Rows, Rows]],
    tree_of: FitRows,
) -> HeldOut | None:
    from maptree.encoding.answering import read_answers

    y, exposure = given.target.labels, given.exposure
    rows = np.sort(np.concatenate([test_on for _, test_on in folds]))
    found = PredictedRows.empty(len(rows))
    others = MeasuredBaselines(given, rows, held.seed)
    for fold, (fit_on, test_on) in enumerate(folds, start=1):
        fitted, places = tree_of(fit_on, fold), np.searchsorted(rows, test_on)
        if fitted is None or not others.add(fitted, fit_on, test_on, places):
            return None
        assert fitted.measured is not None
        answers = read_answers(fitted.schema, given.table.take(test_on), strict=False)
        of_rows = None if exposure is None else exposure[test_on]
        leaves = answers.leaves(fitted.tree)
        found.put(
            places,
            PredictedRows.by_tree(fitted.measured, fitted.tree, leaves, y[test_on], of_rows),
        )
    kept = score_measured(found, y[rows]).kept(method, others.scores())
    return HeldOut(kept, measured_text(kept), measured_document(kept))
