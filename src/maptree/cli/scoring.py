"""How good predictions are: accuracy, log loss, calibration, confusion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.cli.screen import columns_of
from maptree.training import HeldOutScores

_BINS = 10
_MOST_CLASSES = 6  # in a table of confusions
_SHOWN = 16  # characters of a class


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
    confusion: NDArray[np.int64]  # (label, prediction); the last row is of unknown labels
    unknown: int

    def kept(self, method: str) -> HeldOutScores:
        """Return what goes into the model file."""
        return HeldOutScores(
            method, self.rows, self.accuracy, self.log_loss, self.calibration_error
        )


def score(probabilities: NDArray[np.float64], labels: NDArray[np.intp]) -> Scores:
    """Compare class probabilities with class numbers; -1 is a class that is not among them.

    >>> scores = score(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> scores.accuracy, round(scores.log_loss, 3), round(scores.calibration_error, 3)
    (0.5, 0.511, 0.35)
    """
    n_classes = probabilities.shape[1]
    predicted = probabilities.argmax(axis=1)
    confidence = probabilities.max(axis=1)
    right = predicted == labels
    known = labels >= 0
    given = probabilities[np.flatnonzero(known), labels[known]]
    usable = given > 0
    confusion = np.zeros((n_classes + 1, n_classes), dtype=np.int64)
    np.add.at(confusion, (np.where(known, labels, n_classes), predicted), 1)
    bins = _bins(confidence, right)
    return Scores(
        rows=len(labels),
        accuracy=float(right.mean()),
        log_loss=float(-np.log(given[usable]).mean()) if usable.any() else 0.0,
        calibration_error=sum(b.rows * abs(b.probability - b.right) for b in bins) / len(labels),
        bins=bins,
        confusion=confusion,
        unknown=int((~known).sum() + (~usable).sum()),
    )


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


def scores_text(scores: Scores) -> str:
    """Put scores into words."""
    lines = [
        f"Accuracy {scores.accuracy:.3f}, log loss {scores.log_loss:.3f} nats, calibration "
        f"error {scores.calibration_error:.3f}.",
    ]
    if scores.unknown:
        lines.append(
            f"{scores.unknown:,} rows have a class that the model does not know: counted as wrong, "
            "and left out of the log loss."
        )
    lines.append("Calibration: the probability of the predicted class, and how often it is right.")
    rows = [["  probability", "rows", "predicted", "right"]]
    rows += [
        [f"  {b.low:.1f} to {b.high:.1f}", f"{b.rows:,}", f"{b.probability:.3f}", f"{b.right:.3f}"]
        for b in scores.bins
    ]
    return "\n".join([*lines, columns_of(rows)])


def confusion_text(scores: Scores, classes: Sequence[str]) -> str:
    """Put into words what was taken for what."""
    short = [name if len(name) <= _SHOWN else f"{name[: _SHOWN - 3]}..." for name in classes]
    table = scores.confusion
    if len(classes) <= _MOST_CLASSES and sum(map(len, short)) + 2 * len(short) + _SHOWN < 78:
        rows = [["  label", *short]]
        rows += [[f"  {name}", *map(str, table[k])] for k, name in enumerate(short)]
        if table[-1].any():
            rows.append(["  (unknown)", *map(str, table[-1])])
        return f"Confusion: labels down, predictions across.\n{columns_of(rows)}"
    wrong: list[tuple[int, str, str]] = [
        (int(table[i, j]), name, short[j])
        for i, name in enumerate([*short, "(unknown)"])
        for j in range(len(short))
        if i != j and table[i, j]
    ]
    wrong.sort(key=lambda entry: -entry[0])
    rows = [["  label", "prediction", "rows"]]
    rows += [[f"  {a}", b, f"{n:,}"] for n, a, b in wrong[:10]]
    return f"The most frequent confusions:\n{columns_of(rows, left=2)}"


def scores_document(scores: Scores, classes: Sequence[str]) -> dict[str, Any]:
    """Return scores for ``--json``."""
    return {
        "rows": scores.rows,
        "accuracy": scores.accuracy,
        "log_loss": scores.log_loss,
        "calibration_error": scores.calibration_error,
        "unknown": scores.unknown,
        "calibration": [vars(b) for b in scores.bins],
        "confusion": {
            name: dict(zip(classes, scores.confusion[k].tolist(), strict=True))
            for k, name in enumerate(classes)
        },
    }
