"""How well a tree predicts rows with known classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from maptree.trees.fitted import FittedTree
from maptree.trees.scores import Scores, most_frequent, score
from maptree.trees.seen_rows import Overlap
from maptree.trees.training import BaselineScores
from maptree.words.decisions import Decisions, decide

# The most groups of rows in the calibration chart, and classes in the confusion matrix.
_MOST_GROUPS, _MOST_CLASSES = 10, 12


@dataclass(frozen=True)
class Group:
    """Rows with similar predicted probabilities: the probability, and the share correct."""

    predicted: float
    right: float
    low: float  # 95% credible interval of the true share, given these rows
    high: float
    n: int


@dataclass(frozen=True)
class HeldOut:
    """Scores on rows with known classes."""

    scores: Scores
    overlap: Overlap  # with the training rows
    baseline: BaselineScores  # of the most frequent class in training
    decisions: Decisions
    groups: list[Group]
    classes: list[int]  # the classes of the matrix; -1: all others
    confusion: NDArray[np.int64]  # (true, predicted); one more row if some labels are unknown
    of_tree: Scores | None = None  # of the most probable tree alone, where many are averaged


def hold_out(
    fitted: FittedTree,
    leaves: NDArray[np.intp],
    labels: NDArray[np.intp],
    overlap: Overlap,
    costs: NDArray[np.float64] | None = None,
    positive: int | None = None,
    averaged: NDArray[np.float64] | None = None,
) -> HeldOut:
    """Compare the predictions at leaves with class numbers; -1 is an unknown class.

    ``costs`` is a matrix, ``positive`` the class that probability thresholds are about,
    ``averaged`` the probabilities of the rows where many trees are averaged.
    """
    counts, proba, of_tree = fitted.tree.counts[0], fitted.probabilities, None
    if averaged is not None:
        of_tree = score(proba, labels, leaves)
        proba, leaves = averaged, np.arange(len(labels), dtype=np.intp)
    scores = score(proba, labels, leaves)
    classes, confusion = _few_classes(scores)
    return HeldOut(
        scores=scores,
        overlap=overlap,
        baseline=most_frequent(counts, labels),
        decisions=decide(
            proba, labels, fitted.labels, counts, leaves, costs=costs, positive=positive
        ),
        groups=_groups(proba.max(axis=1)[leaves], proba.argmax(axis=1)[leaves] == labels),
        classes=classes,
        confusion=confusion if scores.unknown else confusion[:-1],
        of_tree=of_tree,
    )


def _groups(predicted: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Group]:
    """Group rows by predicted probability: one group per value, or groups of about equal size."""
    order = np.argsort(predicted, kind="stable")
    values, first = np.unique(predicted[order], return_index=True)
    if len(values) > _MOST_GROUPS:
        even = np.arange(1, _MOST_GROUPS) * len(predicted) // _MOST_GROUPS
        first = np.unique(
            [0, *first[np.searchsorted(first, even, side="left").clip(max=len(first) - 1)]]
        )
    groups = []
    for rows in np.split(order, first[1:]):
        n, k = len(rows), int(right[rows].sum())
        low, high = betaincinv(k + 0.5, n - k + 0.5, [0.025, 0.975])
        groups.append(Group(float(predicted[rows].mean()), k / n, float(low), float(high), n))
    return groups


def _few_classes(scores: Scores) -> tuple[list[int], NDArray[np.int64]]:
    """Keep the most frequent classes in a confusion matrix, and merge the rest."""
    n_classes = scores.n_classes
    if n_classes <= _MOST_CLASSES:
        return list(range(n_classes)), scores.confusion
    label, prediction, rows = scores.confusions.T
    often = np.zeros(n_classes, dtype=np.int64)
    np.add.at(often, prediction, rows)
    np.add.at(often, label[label >= 0], rows[label >= 0])
    frequent = np.sort(np.argsort(-often, kind="stable")[:_MOST_CLASSES])
    place = np.full(n_classes, _MOST_CLASSES)
    place[frequent] = np.arange(_MOST_CLASSES)
    down = np.append(place, _MOST_CLASSES + 1)  # the last row is for unknown labels
    small = np.zeros((_MOST_CLASSES + 2, _MOST_CLASSES + 1), dtype=np.int64)
    np.add.at(small, (down[label], place[prediction]), rows)  # label -1 is the last
    return [*frequent.tolist(), -1], small
