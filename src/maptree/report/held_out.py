"""How well a tree does on rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

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

    n: int
    accuracy: float
    majority: float  # the accuracy of always giving the class most frequent in training
    log_loss: float
    prior_log_loss: float  # the log loss of the class frequencies of training
    groups: list[Group]
    classes: list[int]  # the classes of the table; -1: all others
    confusion: NDArray[np.int64]  # (true, answered)


def score(classifier: Any, X: Any, y: Any) -> HeldOut:
    """Compare a fitted classifier's answers with the labels of other rows."""
    proba = classifier.predict_proba(X)
    truth = _class_numbers(classifier.classes_, y, len(proba))
    answer = np.argmax(proba, axis=1)
    counts = classifier.tree_.counts[0]
    frequency = (counts + classifier.rho_) / (counts + classifier.rho_).sum()
    right = answer == truth
    rows = np.arange(len(truth))
    classes, confusion = _confusion(truth, answer, len(classifier.classes_))
    return HeldOut(
        n=len(truth),
        accuracy=float(right.mean()),
        majority=float((truth == np.argmax(counts)).mean()),
        log_loss=float(-np.log(proba[rows, truth]).mean()),
        prior_log_loss=float(-np.log(frequency[truth]).mean()),
        groups=_groups(proba[rows, answer], right),
        classes=classes,
        confusion=confusion,
    )


def _class_numbers(classes: NDArray[Any], y: Any, n_rows: int) -> NDArray[np.intp]:
    """Return the position of each label among the fitted classes."""
    labels, codes = read_labels(y, n_rows)
    position = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [label for label in labels.tolist() if label not in position]
    if unknown:
        raise ValueError(
            f"y has {', '.join(map(repr, unknown[:3]))}, which was no label when the tree was "
            f"fitted ({', '.join(map(repr, classes[:3].tolist()))}, ...): leave these rows out, or "
            "pass labels of the same type."
        )
    numbers = np.array([position[label] for label in labels.tolist()], dtype=np.intp)
    return numbers[codes]


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


def _confusion(
    truth: NDArray[np.intp], answer: NDArray[np.intp], n_classes: int
) -> tuple[list[int], NDArray[np.int64]]:
    """Count pairs of true class and answer; of many classes the most frequent, and the rest."""
    table = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(table, (truth, answer), 1)
    if n_classes <= _MOST_CLASSES:
        return list(range(n_classes)), table
    frequent = np.sort(
        np.argsort(-(table.sum(axis=0) + table.sum(axis=1)), kind="stable")[:_MOST_CLASSES]
    )
    place = np.full(n_classes, _MOST_CLASSES)
    place[frequent] = np.arange(_MOST_CLASSES)
    small = np.zeros((_MOST_CLASSES + 1, _MOST_CLASSES + 1), dtype=np.int64)
    np.add.at(small, (place[truth], place[answer]), 1)
    return [*frequent.tolist(), -1], small
