"""How good predictions are: accuracy, log loss, calibration, ROC AUC, confusion; a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maptree.trees.decisions import Scored, macro_roc_auc
from maptree.trees.training import BaselineScores, HeldOutScores

_BINS = 10
MOST_FREQUENT, LOGISTIC_REGRESSION = "most frequent class", "logistic regression"


@dataclass(frozen=True)
class Bin:
    """Rows whose most probable class has a probability in a range."""

    low: float
    high: float
    rows: int
    probability: float  # on average
    right: float  # share


@dataclass(frozen=True)
class Scores:
    """How predictions compare with the labels.

    Rows of classes that the model does not know count as wrong, and are left out of the log loss.
    """

    rows: int
    accuracy: float
    log_loss: float
    calibration_error: float
    bins: tuple[Bin, ...]
    confusions: NDArray[np.int64]  # (pairs that occur, 3): label or -1, prediction, rows
    n_classes: int
    unknown: int
    roc_auc: float | None  # of more than two classes the mean, each against all others

    @property
    def confusion(self) -> NDArray[np.int64]:
        """The confusion matrix (label, prediction), for few classes: it has a row for each.

        The last row is for unknown labels.
        """
        table = np.zeros((self.n_classes + 1, self.n_classes), dtype=np.int64)
        label, prediction, rows = self.confusions.T
        table[label, prediction] = rows  # -1 is the last row
        return table

    def kept(self, method: str, baselines: Sequence[BaselineScores] = ()) -> HeldOutScores:
        """Return the scores that a model file holds."""
        return HeldOutScores(
            method,
            self.rows,
            self.accuracy,
            self.log_loss,
            self.calibration_error,
            self.roc_auc,
            tuple(baselines),
        )

    def as_baseline(self, name: str) -> BaselineScores:
        """Return the scores of something that the tree is compared with."""
        return BaselineScores(name, self.accuracy, self.log_loss, self.roc_auc)


def score(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.intp],
    leaves: NDArray[np.intp] | None = None,
) -> Scores:
    """Compare class probabilities with class numbers; -1 is an unknown class.

    ``probabilities`` has a row for each label or, with ``leaves``, for each node of a tree, and
    ``leaves`` has the node of each label: a tenth of a million rows of a thousand classes each
    would be a gigabyte.

    >>> scores = score(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> scores.accuracy, round(scores.log_loss, 3), round(scores.calibration_error, 3)
    (0.5, 0.511, 0.35)
    """
    at = np.arange(len(labels)) if leaves is None else leaves
    predicted = probabilities.argmax(axis=1)[at]
    confidence = probabilities.max(axis=1)[at]
    right = predicted == labels
    known = labels >= 0
    given = probabilities[at[known], labels[known]]
    usable = given > 0
    pairs, rows = np.unique(
        np.stack([np.where(known, labels, -1), predicted], axis=1), axis=0, return_counts=True
    )
    bins = _bins(confidence, right)
    return Scores(
        rows=len(labels),
        accuracy=float(right.mean()),
        log_loss=float(-np.log(given[usable]).mean()) if usable.any() else 0.0,
        calibration_error=sum(b.rows * abs(b.probability - b.right) for b in bins) / len(labels),
        bins=bins,
        confusions=np.column_stack([pairs, rows]),
        n_classes=probabilities.shape[1],
        unknown=int((~known).sum() + (~usable).sum()),
        roc_auc=macro_roc_auc(Scored.of(probabilities, labels, leaves)),
    )


def most_frequent(training_counts: NDArray[np.int64], labels: NDArray[np.intp]) -> BaselineScores:
    """Score the class frequencies in training as probabilities; -1 is an unknown class.

    >>> found = most_frequent(np.array([30, 10]), np.array([0, 1]))
    >>> found.name, found.accuracy, round(found.log_loss, 3), found.roc_auc
    ('most frequent class', 0.5, 0.837, 0.5)
    """
    frequencies = (training_counts / training_counts.sum())[np.newaxis]
    scores = score(frequencies, labels, np.zeros(len(labels), dtype=np.intp))
    return scores.as_baseline(MOST_FREQUENT)


def _bins(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> tuple[Bin, ...]:
    number = np.minimum((confidence * _BINS).astype(int), _BINS - 1)
    return tuple(
        Bin(
            b / _BINS,
            (b + 1) / _BINS,
            int(inside.sum()),
            float(confidence[inside].mean()),
            float(right[inside].mean()),
        )
        for b in range(_BINS)
        if (inside := number == b).any()
    )
