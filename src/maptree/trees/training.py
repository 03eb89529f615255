"""What a model was fitted on and when, as its file records it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Self

from maptree.trees.measured_scores import MeasuredScores
from maptree.trees.seen_rows import SeenRows
from maptree.trees.tree import Tree


@dataclass(frozen=True)
class BaselineScores:
    """How well something simpler, or something else, predicts the same rows.

    Attributes
    ----------
    name : str
        "most frequent class", which predicts the class frequencies in training, or "logistic
        regression".
    accuracy, log_loss, roc_auc
        As in ``HeldOutScores``.
    """

    name: str
    accuracy: float
    log_loss: float
    roc_auc: float | None = None


@dataclass(frozen=True)
class HeldOutScores:
    """How well a model predicts rows that it was not fitted on.

    Attributes
    ----------
    method : str
        Which rows these were, in words: "0.2 of the rows, seed 0", "5-fold cross-validation".
    rows : int
        Number of rows.
    accuracy : float
        The share of rows whose most probable class is the right one.
    log_loss : float
        The mean of -log(probability of the right class), in nats.
    calibration_error : float
        The expected calibration error: the mean absolute difference between the probability of the
        predicted class and the share of correct predictions, in ten bins.
    roc_auc : float or None
        The area under the ROC curve of two classes; of more the mean over classes, each against
        all others. None if the rows are all of one class, and in models of earlier versions.
    baselines : tuple of BaselineScores
        Others on the same rows.
    """

    method: str
    rows: int
    accuracy: float
    log_loss: float
    calibration_error: float
    roc_auc: float | None = None
    baselines: tuple[BaselineScores, ...] = ()

    def as_baseline(self, name: str) -> BaselineScores:
        """Return the scores that baselines have, too."""
        return BaselineScores(name, self.accuracy, self.log_loss, self.roc_auc)


@dataclass(frozen=True)
class TrainingSummary:
    """How a tree was fitted.

    Attributes
    ----------
    rows : int
        Number of training rows, counted with their weights.
    class_counts : tuple of int
        Number of these rows per class; none if the tree predicts numbers or counts.
    date : str
        When the fit ended, in UTC, as in "2026-03-04T12:30:00Z".
    library : str
        The version of maptree.
    target : str or None
        The name of the label column, if it has one.
    held_out : HeldOutScores, MeasuredScores or None
        Scores on held-out rows, if they were computed; the second if the tree predicts numbers or
        counts.
    seen : SeenRows or None
        By what training rows are recognised; None if there was no time for it, and in models of
        earlier versions.
    """

    rows: int
    class_counts: tuple[int, ...]
    date: str
    library: str
    target: str | None = None
    held_out: HeldOutScores | MeasuredScores | None = None
    seen: SeenRows | None = None

    @classmethod
    def of(cls, tree: Tree, y: Any, seen: SeenRows | None = None) -> Self:
        """Describe a fit that has just ended."""
        counts = tuple(int(count) for count in tree.counts[0])
        name = getattr(y, "name", None)
        return cls(
            rows=sum(counts),
            class_counts=() if tree.sums.shape[1] else counts,
            date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            library=version("maptree"),
            target=name if isinstance(name, str) and name else None,
            seen=seen,
        )
