"""What follows from class probabilities where something is decided by them.

Counts and costs at probability thresholds, precision and recall of classes, ROC AUC. Rows are
``Scored``: probabilities of nodes or rows, and the weights of the rows of each class there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from maptree.parameters.costs import cheapest

Floats = NDArray[np.float64]

_MOST = 1000  # thresholds; rows predicted by an average of trees may all differ


@dataclass(frozen=True)
class Scored:
    """Rows with known classes.

    Rows with the same probabilities, such as those of a leaf, are one entry: with many classes,
    the probabilities of all rows would take far more memory. Entries without rows do not count.
    """

    probabilities: Floats  # (entries, classes)
    entries: NDArray[np.intp]  # the entry of each row
    labels: NDArray[np.intp]  # the class number of each row
    weights: Floats  # of each row

    @classmethod
    def of(
        cls,
        probabilities: Floats,
        labels: NDArray[np.intp],
        leaves: NDArray[np.intp] | None = None,
        weights: Floats | None = None,
    ) -> Scored:
        """Take rows whose class is known; -1 is an unknown class. Rows of weight 0 do not count."""
        at = np.arange(len(labels)) if leaves is None else leaves
        each = np.ones(len(labels)) if weights is None else weights
        kept = (labels >= 0) & (each > 0)
        return cls(probabilities, at[kept], labels[kept], each[kept])

    @property
    def n_classes(self) -> int:
        """The number of classes of the model."""
        return int(self.probabilities.shape[1])

    @cached_property
    def _by_class(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """The rows in the order of their classes, where each class begins, and all weights."""
        ends = np.bincount(self.labels, minlength=self.n_classes).cumsum()
        order = np.argsort(self.labels, kind="stable")
        total: Floats = np.bincount(self.entries, self.weights, len(self.probabilities))  # type: ignore[assignment]
        return order, np.concatenate([[0], ends]), total

    def has_both(self, k: int) -> bool:
        """Return whether there are rows of a class and rows of others."""
        _, starts, _ = self._by_class
        return bool(0 < starts[k + 1] - starts[k] < len(self.labels))

    def sums(self, k: int) -> tuple[Floats, Floats]:
        """Return for each entry the weight of its rows of a class, and of all others."""
        order, starts, total = self._by_class
        rows = order[starts[k] : starts[k + 1]]
        ours: Floats = np.bincount(self.entries[rows], self.weights[rows], len(total))  # type: ignore[assignment]
        return ours, np.maximum(total - ours, 0.0)  # not -1e-17


def roc_auc(scored: Scored, k: int) -> float | None:
    """Return the area under the ROC curve of a class against all others; None: one side is empty.

    That is the probability that a row of the class gets a higher probability of it than a row of
    another class, ties counted by half.

    >>> leaves = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> rows = Scored.of(leaves, np.array([0, 1, 1]), np.array([0, 1, 0]))
    >>> roc_auc(rows, 1)
    0.75
    """
    if not scored.has_both(k):
        return None
    positive, negative = scored.sums(k)
    _, level = np.unique(scored.probabilities[:, k], return_inverse=True)
    ours, others = np.bincount(level, positive), np.bincount(level, negative)
    below = others.cumsum() - others
    return float((ours * (below + others / 2)).sum() / (ours.sum() * others.sum()))


def macro_roc_auc(scored: Scored) -> float | None:
    """Return the ROC AUC of two classes, or the mean over classes, each against all others.

    A class without rows, or with all of them, has none, and is left out of the mean.
    """
    if scored.n_classes <= 2:
        return roc_auc(scored, scored.n_classes - 1)
    present = np.unique(scored.labels).tolist()
    found = [area for k in present if (area := roc_auc(scored, k)) is not None]
    return float(np.mean(found)) if found else None


@dataclass(frozen=True)
class ClassDecisions:
    """The rows of one class, where each row is predicted as its most probable class.

    Attributes
    ----------
    label : str
        The class.
    rows, predicted, right : float
        Rows of the class, rows predicted as it, and rows that are both.
    roc_auc : float or None
        Against all other classes; None if there are no rows of the class, or no others.
    """

    label: str
    rows: float
    predicted: float
    right: float
    roc_auc: float | None

    @property
    def precision(self) -> float | None:
        """The share of the class among the rows predicted as it; None if there are none."""
        return _share(self.right, self.predicted)

    @property
    def recall(self) -> float | None:
        """The share of its rows that are predicted as it; None if there are none."""
        return _share(self.right, self.rows)


def by_class(scored: Scored, names: list[str]) -> tuple[ClassDecisions, ...]:
    """Return precision, recall and ROC AUC of every class."""
    predicted = scored.probabilities.argmax(axis=1)[scored.entries]
    right = scored.labels == predicted
    rows, as_it, hits = (
        np.bincount(codes, weights, scored.n_classes).tolist()
        for codes, weights in (
            (scored.labels, scored.weights),
            (predicted, scored.weights),
            (predicted[right], scored.weights[right]),
        )
    )
    return tuple(
        ClassDecisions(name, rows[k], as_it[k], hits[k], roc_auc(scored, k))
        for k, name in enumerate(names)
    )


@dataclass(frozen=True)
class AtThreshold:
    """What happens if a class is predicted from a probability on.

    Attributes
    ----------
    threshold : float
        The class is predicted where its probability is at least this; infinity: nowhere.
    true_positives, false_positives, true_negatives, false_negatives : float
        Numbers of rows, or sums of their weights.
    cost : float or None
        What the predictions cost together, if costs are given.
    """

    threshold: float
    true_positives: float
    false_positives: float
    true_negatives: float
    false_negatives: float
    cost: float | None = None

    @property
    def precision(self) -> float | None:
        """The share of positives among the predicted ones; None if none is predicted."""
        return _share(self.true_positives, self.true_positives + self.false_positives)

    @property
    def recall(self) -> float | None:
        """The share of positives that are predicted; None if there are none."""
        return _share(self.true_positives, self.true_positives + self.false_negatives)


@dataclass(frozen=True)
class Thresholds:
    """Probability thresholds of one class, rising.

    Attributes
    ----------
    rows : tuple of AtThreshold
        One for every decision that a threshold can make on these rows, or many of them if there
        are thousands, unless some were asked for.
    most_probable, least_expected, best : int or None
        The position in ``rows`` that decides like ``predict``, like ``predict`` with costs, and
        the one whose cost is least on these rows.
    """

    rows: tuple[AtThreshold, ...]
    most_probable: int | None = None
    least_expected: int | None = None
    best: int | None = None

    def few(self, most: int) -> list[int]:
        """Return positions to show: the first, the last, the marked ones, others evenly spread."""
        n = len(self.rows)
        marked = [self.most_probable, self.least_expected, self.best]
        kept = {0, n - 1, *(i for i in marked if i is not None)}
        if n <= most:
            return list(range(n))
        others = np.linspace(0, n - 1, most - len(kept) + 2).round().astype(int)
        return sorted(kept.union(others.tolist()))


def at_thresholds(
    scored: Scored, k: int, costs: Floats | None = None, wanted: Floats | None = None
) -> Thresholds:
    """Count what happens at probability thresholds of class k; costs are those of two classes.

    >>> leaves = np.array([[0.9, 0.1], [0.4, 0.6]])
    >>> rows = Scored.of(leaves, np.array([0, 1, 1]), np.array([0, 1, 0]))
    >>> [(at.threshold, at.true_positives) for at in at_thresholds(rows, 1).rows]
    [(0.0, 2.0), (0.5, 1.0), (1.0, 0.0)]
    """
    used = np.unique(scored.entries)
    values, first, level = np.unique(
        scored.probabilities[used, k], return_index=True, return_inverse=True
    )
    # At threshold i the class is predicted from the i-th value on; at the last, nowhere.
    sides = [np.bincount(level, side[used], len(values)) for side in scored.sums(k)]
    missed, rejected = (np.concatenate([[0.0], side.cumsum()]) for side in sides)
    hits, false = (np.concatenate([side[::-1].cumsum()[::-1], [0.0]]) for side in sides)
    decided = chosen = best = total = None
    if scored.n_classes == 2:  # of more, the most probable class depends on all probabilities
        each = scored.probabilities[used[first]]
        decided = _from(each.argmax(axis=1) == k)
        if costs is not None:
            chosen = _from(cheapest(each, costs) == k)
            (a, b), (c, d) = costs[np.ix_([k, 1 - k], [k, 1 - k])]
            total = a * hits + b * missed + c * false + d * rejected
    if wanted is not None:
        places, given = np.searchsorted(values, wanted), wanted.tolist()
    else:
        cheap = None if total is None else _least(total, chosen)
        places = _spread(len(values) + 1, (decided, chosen, cheap))
        given = [_threshold(values, i) for i in places.tolist()]
    if total is not None:
        best = _least(total[places], _index(places, chosen))
    numbers = (side[places].tolist() for side in (hits, false, rejected, missed))
    prices = [None] * len(places) if total is None else total[places].tolist()
    rows = (AtThreshold(*row) for row in zip(given, *numbers, prices, strict=True))
    return Thresholds(tuple(rows), _index(places, decided), _index(places, chosen), best)


def _spread(n: int, marked: Sequence[int | None]) -> NDArray[np.intp]:
    """Return all of n places, or many of them evenly spread and those that are marked."""
    spread = np.linspace(0, n - 1, min(n, _MOST)).round().astype(np.intp)
    return np.union1d(spread, np.array([i for i in marked if i is not None], dtype=np.intp))


def _index(places: NDArray[np.intp], place: int | None) -> int | None:
    if place is None or place not in places:
        return None
    return int(np.argmax(places == place))


def _least(costs: Floats, near: int | None) -> int:
    """Return where costs are least; of several places the one nearest to another."""
    least = np.flatnonzero(costs == costs.min())
    return int(least[0] if near is None else least[np.abs(least - near).argmin()])


def _from(positive: NDArray[np.bool_]) -> int | None:
    """Return from which of rising probabilities on the class is predicted.

    None: where wrong predictions are cheaper than right ones, the lower probabilities may be.
    """
    first = len(positive) - int(positive.sum())
    return first if bool(positive[first:].all()) else None


def _threshold(values: Floats, i: int) -> float:
    """Return a threshold that predicts from the i-th of rising probabilities on, with few digits.

    >>> [_threshold(np.array([0.14705882, 0.5, 0.85294117]), i) for i in range(4)]
    [0.0, 0.5, 0.7, 1.0]
    """
    if i == 0:
        return 0.0
    if i == len(values):
        return 1.0 if values[-1] < 1 else math.inf
    return _between(float(values[i - 1]), float(values[i]))


def _between(low: float, high: float) -> float:
    """Return a number above ``low`` and at most ``high``: 0.5, or one of as few digits as possible.

    >>> _between(0.1, 0.9), _between(0.25, 0.75001), _between(0.61, 0.63), _between(0.61, 0.612)
    (0.5, 0.5, 0.62, 0.611)
    """
    if low < 0.5 <= high:
        return 0.5
    middle = (Fraction(low) + Fraction(high)) / 2
    for digits in range(1, 18):
        number = float(round(middle, digits))
        if low < number <= high:
            return number
    return high


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole > 0 else None


@dataclass(frozen=True)
class TotalCosts:
    """What ways to decide cost on the scored rows, together.

    Attributes
    ----------
    matrix : array (K, K)
        The cost of predictions: a row per true class, a column per predicted class.
    most_probable, least_expected : float
        Of predicting the most probable class, and the one of least expected cost.
    expected : float
        What the probabilities say that the latter should cost.
    constant : float
        Of always predicting the class that is cheapest by the class frequencies in training.
    constant_label : str
        That class.
    """

    matrix: Floats
    most_probable: float
    least_expected: float
    expected: float
    constant: float
    constant_label: str


def total_costs(scored: Scored, costs: Floats, frequencies: Floats, names: list[str]) -> TotalCosts:
    """Add up what predictions cost."""
    probabilities = scored.probabilities
    chosen = cheapest(probabilities, costs)
    always = int(cheapest(frequencies[np.newaxis], costs)[0])
    least = (probabilities @ costs).min(axis=1)[scored.entries]
    return TotalCosts(
        matrix=costs,
        most_probable=_cost(scored, probabilities.argmax(axis=1), costs),
        least_expected=_cost(scored, chosen, costs),
        expected=float((least * scored.weights).sum()),
        constant=_cost(scored, np.full(len(probabilities), always), costs),
        constant_label=names[always],
    )


def _cost(scored: Scored, predicted: NDArray[np.intp], costs: Floats) -> float:
    of_rows = costs[scored.labels, predicted[scored.entries]]
    return float((of_rows * scored.weights).sum())
