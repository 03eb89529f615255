"""What a model was fitted on, and when: what its file says about where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Self

from maptree.trees.tree import Tree


@dataclass(frozen=True)
class HeldOutScores:
    """How well a model does on rows that it was not fitted on.

    Attributes
    ----------
    method : str
        Which rows these were, in words: "0.2 of the rows, seed 0", "5-fold cross-validation".
    rows : int
        How many.
    accuracy : float
        The share of rows whose most probable class is the right one.
    log_loss : float
        The mean of -log(probability of the right class), in nats.
    calibration_error : float
        The expected calibration error: how far, on average, the probability of the most probable
        class is from the share of rows where it is right, in ten bins.
    """

    method: str
    rows: int
    accuracy: float
    log_loss: float
    calibration_error: float


@dataclass(frozen=True)
class TrainingSummary:
    """Where a fitted tree comes from.

    Attributes
    ----------
    rows : int
        Number of training rows, repetitions counted.
    class_counts : tuple of int
        How many of them are of each class.
    date : str
        When the fit ended, in UTC, such as "2026-03-04T12:30:00Z".
    library : str
        The version of maptree.
    target : str or None
        The name of the label column, where labels came with one.
    held_out : HeldOutScores or None
        Scores on other rows, where somebody measured them.
    """

    rows: int
    class_counts: tuple[int, ...]
    date: str
    library: str
    target: str | None = None
    held_out: HeldOutScores | None = None

    @classmethod
    def of(cls, tree: Tree, y: Any) -> Self:
        """Describe a fit that has just ended."""
        counts = tuple(int(count) for count in tree.counts[0])
        name = getattr(y, "name", None)
        return cls(
            rows=sum(counts),
            class_counts=counts,
            date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            library=version("maptree"),
            target=name if isinstance(name, str) and name else None,
        )
