"""What a tree is compared with on held-out rows: the most frequent class, logistic regression."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from maptree.engine.interrupts import raising
from maptree.trees.fitted import FittedTree
from maptree.trees.scores import LOGISTIC_REGRESSION, MOST_FREQUENT, score
from maptree.trees.training import BaselineScores

Rows = NDArray[np.intp]


class Baselines:
    """Probabilities of held-out rows, from baselines that are fitted where the trees are.

    ``labels`` are those of the table, ``codes`` the class numbers of the held-out rows.
    """

    def __init__(
        self, table: pa.Table, labels: NDArray[Any], codes: Rows, classes: NDArray[Any], seed: int
    ) -> None:
        from maptree.estimators.baselines import MOST_PROBABILITIES

        self._table = table
        self._labels = labels
        self._codes = codes
        self._classes = classes
        self._random = np.random.default_rng(seed)
        self._frequencies: list[NDArray[np.float64]] = []  # per fold
        self._fold = np.empty(len(codes), dtype=np.intp)
        # With very many rows and classes they would take more memory than the tree.
        few = len(codes) * len(classes) <= MOST_PROBABILITIES
        self._probabilities = np.zeros((len(codes), len(classes))) if few else None

    def add(self, fitted: FittedTree, fit_on: Rows, test_on: Rows, places: Rows) -> bool:
        """Predict the rows ``test_on``, at these places among the held-out rows.

        Returns False if Ctrl-C ended it.
        """
        known = np.searchsorted(self._classes, fitted.classes)
        counts = fitted.tree.counts[0]
        frequencies = np.zeros(len(self._classes))
        frequencies[known] = counts / counts.sum()
        self._fold[places] = len(self._frequencies)
        self._frequencies.append(frequencies)
        if self._probabilities is None:
            return True
        try:
            found = raising(self._regress, fitted, fit_on, test_on)
        except KeyboardInterrupt:
            return False
        self._probabilities[places[:, np.newaxis], known] = found
        return True

    def _regress(self, fitted: FittedTree, fit_on: Rows, test_on: Rows) -> NDArray[np.float64]:
        from maptree.encoding.answering import read_answers
        from maptree.estimators.baselines import MOST_ROWS, logistic_regression
        from maptree.tables.labels import numbers_among

        if len(fit_on) > MOST_ROWS:
            fit_on = np.sort(self._random.choice(fit_on, MOST_ROWS, replace=False))
        training, others = (
            # As for the tree: text that only held-out rows have may not be readable.
            read_answers(fitted.schema, self._table.take(rows), strict=False)
            for rows in (fit_on, test_on)
        )
        labels = numbers_among(fitted.classes, self._labels[fit_on], len(fit_on))
        return logistic_regression(fitted, training, labels, others)

    def scores(self) -> list[BaselineScores]:
        """Return the scores of all held-out rows."""
        constant = score(np.array(self._frequencies), self._codes, self._fold)
        # Frequencies differ between folds, by the rows held out: together they would rank these.
        area = None if constant.roc_auc is None else 0.5
        scored = [replace(constant.as_baseline(MOST_FREQUENT), roc_auc=area)]
        if self._probabilities is not None:
            found = score(self._probabilities, self._codes)
            scored.insert(0, found.as_baseline(LOGISTIC_REGRESSION))
        return scored
