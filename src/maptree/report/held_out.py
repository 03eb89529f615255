"""How well a tree does on rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from maptree.scoring import Scores, score
from maptree.tables.labels import read_labels

# Groups of rows in the calibration chart, at most, and classes in the confusion table.
_MOST_GROUPS, _MOST_CLASSES = 10, 12


@dataclass(frozen=True)
class Group:
    """Rows whose answers are about equally probable: how probable, and how often right."""

    said: float
    right: float
    low: float  # the interval in which the true share lies with 95%, given these rows
    high: float
    n: int


@dataclass(frozen=True)
class HeldOut:
    """Scores on rows that were not used for fitting."""

    scores: Scores
    majority: float  # the accuracy of always giving the class most frequent in training
    prior_log_loss: float  # the log loss of the class frequencies of training
    groups: list[Group]
    classes: list[int]  # the classes of the table; -1: all others
    confusion: NDArray[np.int64]  # (true, answered); one row more where labels are unknown


def hold_out(classifier: Any, proba: NDArray[np.float64], labels: NDArray[np.intp]) -> HeldOut:
    """Compare a fitted classifier's answers with class numbers; -1 is a class it does not know."""
    counts = classifier.tree_.counts[0]
    frequency = (counts + classifier.rho_) / (counts + classifier.rho_).sum()
    scores = score(proba, labels)
    classes, confusion = _few_classes(scores.confusion)
    return HeldOut(
        scores=scores,
        majority=float((labels == np.argmax(counts)).mean()),
        prior_log_loss=float(-np.log(frequency[labels[labels >= 0]]).mean()),
        groups=_groups(proba.max(axis=1), proba.argmax(axis=1) == labels),
        classes=classes,
        confusion=confusion if scores.unknown else confusion[:-1],
    )


def class_numbers(classes: NDArray[Any], y: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the position of each label among the fitted classes, -1 for another."""
    labels, codes = read_labels(y, n_rows)
    position = {label: k for k, label in enumerate(classes.tolist())}
    numbers = np.array([position.get(label, -1) for label in labels.tolist()], dtype=np.intp)
    if (numbers < 0).all():
        raise ValueError(
            f"y has {_few(labels)}, none of which was a label when the tree was fitted "
            f"({_few(classes)}): pass labels of the same type."
        )
    return numbers[codes]


def _few(labels: NDArray[Any]) -> str:
    return ", ".join([*map(repr, labels[:3].tolist()), *(["..."] if len(labels) > 3 else [])])


def _groups(said: NDArray[np.float64], right: NDArray[np.bool_]) -> list[Group]:
    """Group rows by the probability of their answer: one value a group, or about even groups."""
    order = np.argsort(said, kind="stable")
    values, first = np.unique(said[order], return_index=True)
    if len(values) > _MOST_GROUPS:
        even = np.arange(1, _MOST_GROUPS) * len(said) // _MOST_GROUPS
        first = np.unique(
            [0, *first[np.searchsorted(first, even, side="left").clip(max=len(first) - 1)]]
        )
    groups = []
    for rows in np.split(order, first[1:]):
        n, k = len(rows), int(right[rows].sum())
        low, high = betaincinv(k + 0.5, n - k + 0.5, [0.025, 0.975])
        groups.append(Group(float(said[rows].mean()), k / n, float(low), float(high), n))
    return groups


def _few_classes(table: NDArray[np.int64]) -> tuple[list[int], NDArray[np.int64]]:
    """Keep the most frequent of many classes in a table of confusions, and join the rest."""
    n_classes = table.shape[1]
    if n_classes <= _MOST_CLASSES:
        return list(range(n_classes)), table
    often = table.sum(axis=0) + table[:-1].sum(axis=1)
    frequent = np.sort(np.argsort(-often, kind="stable")[:_MOST_CLASSES])
    place = np.full(n_classes, _MOST_CLASSES)
    place[frequent] = np.arange(_MOST_CLASSES)
    down = np.append(place, _MOST_CLASSES + 1)  # the last row is of unknown labels
    small = np.zeros((_MOST_CLASSES + 2, _MOST_CLASSES + 1), dtype=np.int64)
    np.add.at(small, (down[:, np.newaxis], place), table)
    return [*frequent.tolist(), -1], small
