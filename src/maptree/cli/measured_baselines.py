"""What a tree of numbers or counts is compared with: one leaf, and a regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maptree.cli.training_table import TrainingTable
from maptree.engine.interrupts import raising
from maptree.trees.fitted import FittedTree
from maptree.trees.measured_scores import (
    LINEAR_REGRESSION,
    ONE_LEAF,
    POISSON_REGRESSION,
    MeasuredBaseline,
    PredictedRows,
    score_measured,
)
from maptree.trees.outcomes import Counts

Rows = NDArray[np.intp]


class MeasuredBaselines:
    """Predictions of held-out rows by what is simpler, fitted where the trees are."""

    def __init__(self, given: TrainingTable, rows: Rows, seed: int) -> None:
        self._given = given
        self._y = given.target.labels[rows]
        self._random = np.random.default_rng(seed)
        self._one_leaf = PredictedRows.empty(len(rows))
        self._regression = PredictedRows.empty(len(rows))
        self._name = LINEAR_REGRESSION

    def add(self, fitted: FittedTree, fit_on: Rows, test_on: Rows, places: Rows) -> bool:
        """Predict the rows ``test_on``, at these places among the held-out rows.

        Returns False if Ctrl-C ended it.
        """
        measured = fitted.measured
        assert measured is not None
        y = self._given.target.labels[test_on]
        exposure = None if self._given.exposure is None else self._given.exposure[test_on]
        root = np.zeros(len(test_on), dtype=np.intp)
        whole = PredictedRows.by_tree(measured, fitted.tree, root, y, exposure)
        self._one_leaf.put(places, whole)
        if isinstance(measured, Counts):
            self._name = POISSON_REGRESSION
        try:
            found = raising(self._regress, fitted, fit_on, test_on)
        except KeyboardInterrupt:
            return False
        self._regression.put(places, found)
        return True

    def _regress(self, fitted: FittedTree, fit_on: Rows, test_on: Rows) -> PredictedRows:
        from maptree.encoding.answering import read_answers
        from maptree.estimators.measured_baselines import MOST_ROWS, regression

        given = self._given
        if len(fit_on) > MOST_ROWS:
            fit_on = np.sort(self._random.choice(fit_on, MOST_ROWS, replace=False))
        training, others = (
            # As for the tree: text that only held-out rows have may not be readable.
            read_answers(fitted.schema, given.table.take(rows), strict=False)
            for rows in (fit_on, test_on)
        )
        y, exposure = given.target.labels, given.exposure
        exposures = None if exposure is None else (exposure[fit_on], exposure[test_on])
        return regression(fitted, training, y[fit_on], others, y[test_on], exposures)

    def scores(self) -> list[MeasuredBaseline]:
        """Return the scores of all held-out rows."""
        return [
            score_measured(found, self._y).as_baseline(name)
            for found, name in ((self._regression, self._name), (self._one_leaf, ONE_LEAF))
        ]
