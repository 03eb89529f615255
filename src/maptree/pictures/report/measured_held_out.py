"""How well a tree predicts rows with known numbers or counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maptree.trees.fitted import FittedTree
from maptree.trees.measured_scores import (
    ONE_LEAF,
    MeasuredBaseline,
    MeasuredScores,
    PredictedRows,
    in_rows,
    interval,
    score_measured,
)
from maptree.trees.outcomes import Measured
from maptree.trees.predictive import Floats
from maptree.trees.seen_rows import Overlap
from maptree.trees.tree import Tree

# Of the intervals whose cover is shown.
LEVELS = (0.5, 0.9, 0.95)
# Rows that are drawn as dots; of more, the cells of a grid show how many there are.
_MOST_DOTS = 400
_COLUMNS, _ROWS = 48, 30
# Shares of the rows that the picture may leave out below and above, where they are far away; how
# many times as large it would be with them.
_TAIL, _FAR = 0.005, 1.7


@dataclass(frozen=True)
class Cover:
    """The share of rows whose y is in its interval, and how wide these are on average."""

    level: float
    share: float
    width: float


@dataclass(frozen=True)
class LeafRows:
    """What was predicted for the rows that reached a leaf, and what they had."""

    leaf: int
    rows: int
    predicted: float  # on average; it differs between rows with different exposures
    observed: float
    rmse: float
    log_score: float | None
    covers: tuple[Cover, ...]


@dataclass(frozen=True, eq=False)
class Observed:
    """Predicted and observed numbers of rows, for a picture of limited size.

    ``dots`` are rows; ``cells`` are column, row and number of rows, on a grid over both ranges.
    """

    x: tuple[float, float]
    y: tuple[float, float]
    dots: NDArray[np.float64]  # (rows, 2)
    cells: NDArray[np.int64]  # (cells, 3)
    grid: tuple[int, int]
    outside: int  # rows that are left out


@dataclass(frozen=True)
class MeasuredHeldOut:
    """Scores on rows with known numbers or counts."""

    scores: MeasuredScores
    overlap: Overlap  # with the training rows
    baseline: MeasuredBaseline  # one leaf: the mean of y, whatever the row
    covers: tuple[Cover, ...]
    baseline_covers: tuple[Cover, ...]
    leaves: tuple[LeafRows, ...]  # in the order of the tree's arrays
    observed: Observed


def hold_out_measured(
    fitted: FittedTree,
    leaves: NDArray[np.intp],
    y: Floats,
    overlap: Overlap,
    exposure: Floats | None = None,
) -> MeasuredHeldOut:
    """Compare the predictions at leaves with numbers or counts."""
    measured, tree = fitted.measured, fitted.tree
    assert measured is not None  # a tree of classes has hold_out
    rows = _Rows.of(measured, tree, leaves, y, exposure)
    root = _Rows.of(measured, tree, np.zeros_like(leaves), y, exposure)
    reached = np.unique(leaves).tolist()
    return MeasuredHeldOut(
        scores=score_measured(rows.predicted, y),
        overlap=overlap,
        baseline=score_measured(root.predicted, y).as_baseline(ONE_LEAF),
        covers=rows.covers(),
        baseline_covers=root.covers(),
        leaves=tuple(_of_leaf(leaf, rows.keep(leaves == leaf)) for leaf in reached),
        observed=observe(rows.predicted.mean, y),
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows with the ends of their intervals at all levels."""

    y: Floats
    predicted: PredictedRows
    ends: tuple[tuple[Floats, Floats], ...]

    @classmethod
    def of(
        cls,
        measured: Measured,
        tree: Tree,
        leaves: NDArray[np.intp],
        y: Floats,
        exposure: Floats | None,
    ) -> _Rows:
        predicted = PredictedRows.by_tree(measured, tree, leaves, y, exposure)
        if exposure is None:  # quantiles once per leaf
            found = measured.predictive(tree)
            pairs = (interval(found, level) for level in LEVELS)
            ends = tuple((low.take(leaves), high.take(leaves)) for low, high in pairs)
        else:
            of_rows = in_rows(measured, tree, leaves, exposure)
            ends = tuple(interval(of_rows, level) for level in LEVELS)
        return cls(y, predicted, ends)

    def keep(self, mask: NDArray[np.bool_]) -> _Rows:
        predicted = PredictedRows(*(values[mask] for values in vars(self.predicted).values()))
        ends = tuple((low[mask], high[mask]) for low, high in self.ends)
        return _Rows(self.y[mask], predicted, ends)

    def covers(self) -> tuple[Cover, ...]:
        return tuple(
            Cover(
                level,
                float(((low <= self.y) & (self.y <= high)).mean()),
                float((high - low).mean()),
            )
            for level, (low, high) in zip(LEVELS, self.ends, strict=True)
        )


def _of_leaf(leaf: int, rows: _Rows) -> LeafRows:
    scores = score_measured(rows.predicted, rows.y)
    return LeafRows(
        leaf=leaf,
        rows=scores.rows,
        predicted=float(rows.predicted.mean.mean()),
        observed=float(rows.y.mean()),
        rmse=scores.rmse.value,
        log_score=None if scores.log_score is None else scores.log_score.value,
        covers=rows.covers(),
    )


def observe(predicted: Floats, y: Floats) -> Observed:
    """Return what a picture of predicted and observed numbers shows.

    >>> observe(np.array([1.0, 2.0]), np.array([1.5, 3.0])).dots
    array([[1. , 1.5],
           [2. , 3. ]])
    >>> observe(np.repeat([1.0, 2.0], 300), np.arange(600.0)).cells[:, 2].sum()
    np.int64(600)
    """
    x_ends = _with_room(float(predicted.min()), float(predicted.max()))
    low, high = float(y.min()), float(y.max())
    first, last = (float(end) for end in np.quantile(y, [_TAIL, 1 - _TAIL]))
    if high / 2 - low / 2 > _FAR * (last / 2 - first / 2) > 0:
        low, high = first, last
    y_ends, n_rows = _with_room(low, high), _ROWS
    if high - low < _ROWS and (y == np.floor(y)).all():  # a cell for each count
        low, high = np.floor(low), np.ceil(high)
        y_ends, n_rows = (low - 0.5, high + 0.5), round(high - low) + 1
    inside = (y >= y_ends[0]) & (y <= y_ends[1])
    shown, seen = predicted[inside], y[inside]
    dots, cells = np.empty((0, 2)), np.empty((0, 3), dtype=np.int64)
    if len(shown) <= _MOST_DOTS:
        dots = np.stack([shown, seen], axis=1)
    else:
        columns, rows = _bins(shown, x_ends, _COLUMNS), _bins(seen, y_ends, n_rows)
        places, counts = np.unique(columns * n_rows + rows, return_counts=True)
        cells = np.stack([places // n_rows, places % n_rows, counts], axis=1)
    return Observed(x_ends, y_ends, dots, cells, (_COLUMNS, n_rows), int((~inside).sum()))


def _with_room(low: float, high: float) -> tuple[float, float]:
    pad = 0.04 * (high - low) or abs(low) / 10 or 1.0
    return low - pad, high + pad


def _bins(values: Floats, ends: Sequence[float], n: int) -> NDArray[np.int64]:
    share = (values - ends[0]) / (ends[1] - ends[0])
    return np.minimum((share * n).astype(np.int64), n - 1)
