"""Linear and Poisson regression on the rows that a tree is fitted to, to compare the tree with."""

from __future__ import annotations

import warnings

import numpy as np

from maptree.encoding.answering import Answers
from maptree.encoding.linear_columns import LinearColumns
from maptree.estimators.baselines import MOST_ROWS
from maptree.trees.fitted import FittedTree
from maptree.trees.measured_scores import PredictedRows
from maptree.trees.outcomes import Counts
from maptree.trees.predictive import Floats, StudentT

__all__ = ["MOST_ROWS", "regression"]

# A log rate beyond that of the rows by more than this is an extrapolation gone wrong.
_FAR = 10.0


def regression(
    fitted: FittedTree,
    training: Answers,
    y: Floats,
    others: Answers,
    their_y: Floats,
    exposures: tuple[Floats, Floats] | None = None,
) -> PredictedRows:
    """Predict other rows by a regression on the columns that the tree may test, standardised.

    For numbers it is scikit-learn's ridge regression with its usual penalty, and the errors are
    normal with the variance of the residuals; for counts its Poisson regression, with the same
    penalty for all rows together. ``exposures`` are those of both groups of rows.
    """
    columns = LinearColumns(fitted.schema, training, fitted.constraints.without_columns)
    if isinstance(fitted.measured, Counts):
        return _poisson(columns, y, others, their_y, exposures)
    from sklearn.linear_model import Ridge

    assert fitted.measured is not None
    # In standard units: the penalty does not depend on the unit of y, and no square is infinite.
    mean, sd = fitted.measured.mean, fitted.measured.sd or 1.0
    standard = y / sd - mean / sd
    model = Ridge().fit(columns.training, standard)
    residuals = standard - model.predict(columns.training)
    free = max(len(y) - columns.training.shape[1] - 1, 1)
    scale = sd * float(np.sqrt((residuals**2).sum() / free))
    n = others.n_rows
    predicted = mean + sd * model.predict(columns.of(others))
    spread = StudentT(np.full(n, float(free)), predicted, np.full(n, scale))
    return PredictedRows.of(spread, their_y)


def _poisson(
    columns: LinearColumns,
    y: Floats,
    others: Answers,
    their_y: Floats,
    exposures: tuple[Floats, Floats] | None,
) -> PredictedRows:
    from scipy.special import gammaln, xlogy
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import PoissonRegressor

    given, theirs = exposures or (np.ones(len(y)), np.ones(len(their_y)))
    if not y.any():
        rates = np.full(len(their_y), 1 / given.sum())  # as in the tree: one event in all
    else:
        mean = float(y.sum() / given.sum())
        model = PoissonRegressor(alpha=1 / len(y), max_iter=300)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(columns.training, y / given / mean, sample_weight=given)
        linear = model.intercept_ + columns.of(others) @ model.coef_
        rates = mean * np.exp(np.clip(linear, -_FAR, _FAR))
    predicted = rates * theirs
    logs: Floats = xlogy(their_y, predicted) - predicted - gammaln(their_y + 1)
    return PredictedRows(predicted, predicted, predicted, logs)  # no intervals: nobody reads them
