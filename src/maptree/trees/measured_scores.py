"""How good predictions of numbers and counts are: errors, log scores, and what intervals hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from maptree.trees.outcomes import Measured, Numbers
from maptree.trees.predictive import Floats, Predictive
from maptree.trees.tree import Tree

LEVEL_OF_COVER = 0.9  # of the intervals whose cover is a score
ONE_LEAF, LINEAR_REGRESSION, POISSON_REGRESSION = (
    "one leaf",
    "linear regression",
    "Poisson regression",
)


@dataclass(frozen=True)
class Estimate:
    """A score of some rows, and its standard error over these rows; None of a single row."""

    value: float
    error: float | None = None


@dataclass(frozen=True)
class MeasuredBaseline:
    """How well something simpler, or something else, predicts the same numbers or counts.

    Attributes
    ----------
    name : str
        "one leaf", the tree without a split; "linear regression" or "Poisson regression".
    rmse, r2, log_score
        As in ``MeasuredScores``.
    """

    name: str
    rmse: float
    r2: float | None
    log_score: float | None


@dataclass(frozen=True)
class MeasuredScores:
    """How well a model predicts the numbers or counts of some rows.

    Attributes
    ----------
    rows : int
        Number of rows.
    rmse : Estimate
        The root of the mean squared difference between y and the mean that is predicted.
    r2 : Estimate or None
        1 less the share of the squared differences in those from the mean of these rows; None if
        y is the same in all of them.
    log_score : Estimate or None
        The mean log density of y, of counts the mean log probability, in nats; None where it is
        not finite, as with predictions from rows of equal y.
    level : float
        Of the predictive intervals.
    cover : Estimate
        The share of rows whose y is in its interval.
    width : float
        Of these intervals, on average.
    method : str
        Which rows these were, in words, if they were held out: "5-fold cross-validation".
    baselines : tuple of MeasuredBaseline
        Others on the same rows.
    """

    rows: int
    rmse: Estimate
    r2: Estimate | None
    log_score: Estimate | None
    level: float
    cover: Estimate
    width: float
    method: str = ""
    baselines: tuple[MeasuredBaseline, ...] = ()

    def kept(self, method: str, baselines: Sequence[MeasuredBaseline] = ()) -> MeasuredScores:
        """Return the scores that a model file holds."""
        return replace(self, method=method, baselines=tuple(baselines))

    def as_baseline(self, name: str) -> MeasuredBaseline:
        """Return the scores that baselines have, too."""
        r2, log_score = (None if one is None else one.value for one in (self.r2, self.log_score))
        return MeasuredBaseline(name, self.rmse.value, r2, log_score)


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """What is predicted of rows whose y is known, and the log density of that y."""

    mean: Floats
    low: Floats
    high: Floats
    log_density: Floats

    @classmethod
    def of(cls, found: Predictive, y: Floats, level: float = LEVEL_OF_COVER) -> PredictedRows:
        """Return those of a distribution for each row."""
        low, high = interval(found, level)
        return cls(found.mean, low, high, log_density(found, y))

    @classmethod
    def by_tree(
        cls,
        measured: Measured,
        tree: Tree,
        leaves: NDArray[np.intp],
        y: Floats,
        exposure: Floats | None = None,
        level: float = LEVEL_OF_COVER,
    ) -> PredictedRows:
        """Return those of a tree, from the leaves of the rows: quantiles once per leaf if they can.

        >>> from maptree.parameters.outcomes import NumberPrior
        >>> tree = Tree([-1], [-1], [-1], [[2]], [[512, 131072]])
        >>> numbers = Numbers(10.0, 3.0, NumberPrior(kappa=2, nu=2, noise=0.5))
        >>> PredictedRows.by_tree(numbers, tree, np.array([0, 0]), np.array([9.0, 14.0])).mean
        array([11.5, 11.5])
        """
        of_rows = in_rows(measured, tree, leaves, exposure)
        if exposure is not None:
            return cls.of(of_rows, y, level)
        low, high = interval(measured.predictive(tree), level)
        return cls(of_rows.mean, low.take(leaves), high.take(leaves), log_density(of_rows, y))

    @classmethod
    def empty(cls, n_rows: int) -> PredictedRows:
        """Return room for rows that are predicted part by part."""
        return cls(*(np.full(n_rows, np.nan) for _ in range(4)))

    def put(self, rows: NDArray[np.intp], part: PredictedRows) -> None:
        """Fill in some rows."""
        for name, values in vars(part).items():
            getattr(self, name)[rows] = values


def in_rows(
    measured: Measured, tree: Tree, leaves: NDArray[np.intp], exposure: Floats | None = None
) -> Predictive:
    """Return the distribution of each row, from its leaf."""
    if isinstance(measured, Numbers) or exposure is None:
        return measured.predictive(tree).take(leaves)
    return measured.predictive(tree, leaves, exposure)


def interval(found: Predictive, level: float) -> tuple[Floats, Floats]:
    """Return the ends of central intervals."""
    tail = (1.0 - level) / 2.0
    return found.quantile(tail), found.quantile(1.0 - tail)


def log_density(found: Predictive, y: Floats) -> Floats:
    """Return the log density of one y in each; NaN or infinite where there is no density."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return found.log_density(y)


def score_measured(predicted: PredictedRows, y: Floats) -> MeasuredScores:
    """Compare predictions with numbers or counts.

    >>> one = PredictedRows(np.array([1.0, 4.0]), np.array([0.0, 3.5]), np.array([2.0, 6.0]),
    ...                     np.array([-1.0, -2.0]))
    >>> found = score_measured(one, np.array([1.0, 2.0]))
    >>> round(found.rmse.value, 3), found.cover.value, found.width, found.log_score.value
    (1.414, 0.5, 2.25, -1.5)
    """
    # In multiples of the largest number: squares of large ones would be infinite.
    unit = float(max(np.abs(y).max(), np.abs(predicted.mean).max())) or 1.0
    scaled = y / unit
    errors, squares = (scaled - predicted.mean / unit) ** 2, (scaled - scaled.mean()) ** 2
    mse, variance = float(errors.mean()), float(squares.mean())
    of_mse = _error(errors)
    rmse = float(np.sqrt(mse))
    finite = bool(np.isfinite(predicted.log_density).all())
    r2 = None
    if y.min() < y.max():
        of_r2 = _error(errors - mse / variance * squares)
        r2 = Estimate(1 - mse / variance, None if of_r2 is None else of_r2 / variance)
    return MeasuredScores(
        rows=len(y),
        rmse=Estimate(
            rmse * unit, None if of_mse is None else of_mse / (2 * rmse) * unit if rmse else 0.0
        ),
        r2=r2,
        log_score=_mean(predicted.log_density) if finite else None,
        level=LEVEL_OF_COVER,
        cover=_mean(((predicted.low <= y) & (y <= predicted.high)).astype(np.float64)),
        width=float((predicted.high - predicted.low).mean()),
    )


def _mean(values: Floats) -> Estimate:
    return Estimate(float(values.mean()), _error(values))


def _error(values: Floats) -> float | None:
    """Return the standard error of a mean."""
    n = len(values)
    return float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else None
