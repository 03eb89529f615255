"""Logistic regression on the rows that a tree is fitted to, to compare the tree with."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from maptree.encoding.answering import Answers
from maptree.encoding.linear_columns import LinearColumns
from maptree.trees.fitted import FittedTree

# More training rows are thinned to these: they would take longer than the tree and change little.
MOST_ROWS = 50_000
# Probabilities that are held at a time, of rows and classes.
MOST_PROBABILITIES = 1 << 24


def logistic_regression(
    fitted: FittedTree, training: Answers, labels: NDArray[np.intp], others: Answers
) -> NDArray[np.float64]:
    """Return the class probabilities of other rows, (rows, classes of the tree).

    The regression is scikit-learn's, with its usual penalty. Columns are those that the tree may
    test, standardised; ``labels`` are class numbers of the training rows.
    """
    # Both are slow to import, and nothing else needs them.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    found = np.zeros((others.n_rows, len(fitted.classes)))
    present = np.unique(labels)
    if len(present) == 1:
        found[:, present[0]] = 1.0
        return found
    columns = LinearColumns(fitted.schema, training, fitted.constraints.without_columns)
    model = LogisticRegression(max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(columns.training, labels)
    found[:, present] = model.predict_proba(columns.of(others))
    return found
