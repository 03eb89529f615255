"""Sets of categories: their order and groups, learnt from the labels, and what that must pay for.

A set is made of the first or the last categories in the order of the rates of their classes. With
two classes the best division of a node's rows into two sets of categories is one of these (Breiman
et al. 1984); with more, the first principal component of the rates gives an order that is near it
(Coppersmith, Hong and Hosking 1999). Numbers and counts have the order of their means, which is the
best one where squared errors count.

The order follows the labels, noise and all, and a tree that could divide it anywhere would take the
noise for knowledge. So it is first divided into groups, and only where the labels pay for it; sets
divide none. docs/design/encoding.md has the reasons and the measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from maptree.tables.deadline import check_deadline
from maptree.tables.labels import Codes
from maptree.tables.values import Categories, Values
from maptree.trees.outcomes import Amounts, Measured

# Every category gets so many rows more, of the classes of the whole table: few rows say little.
_SMOOTHING = 20
_LEAF = 2.5  # rows of each class, which the prior adds to a leaf with two classes
# What a division must raise the log evidence by, for each category: to say on which side it is.
_PRICE = math.log(2)
# Categories, times classes, times classes: a tenth of a second of work. Beyond, there are no sets.
_MOST_WORK = 1 << 15
# Divisions within divisions: each level looks once at every category.
_MOST_LEVELS = 16
_DIGITS = 12  # of a place in the order: rates that differ by a rounding error are equal

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class InSets:
    """A column of categories whose values are positions in an order."""

    values: Values
    unknown: int  # the position that unknown categories are given
    n_groups: int


def in_sets(
    values: Values, outcome: Codes | Amounts, weights: NDArray[np.int64] | None
) -> InSets | None:
    """Put the categories of a column without missing values in order, if sets are worth it.

    They must be text: numbers that were declared to be categories may be passed as numbers later.
    """
    seen = np.unique(values.data)
    if _work(len(seen), outcome) > _MOST_WORK:
        return None
    names = [values.categories[int(i)] for i in seen]
    if not all(isinstance(name, str) for name in names):
        return None
    check_deadline()
    # Sorted, so that nothing depends on the order in which a table has its categories.
    by_name = sorted(range(len(names)), key=lambda i: str(names[i]))
    number = np.empty(len(names), dtype=np.intp)
    number[by_name] = np.arange(len(names))
    data = number[np.searchsorted(seen, values.data)]
    leaf: Leaf
    if isinstance(outcome, Amounts):
        leaf, counts = _MeasuredLeaf(outcome.outcome), sums_of(data, len(names), outcome, weights)
    else:
        leaf, counts = _ClassLeaf(), class_counts(data, len(names), outcome, weights)
    order = Order.of(counts, leaf)
    # The price a second time, and what the best test of a single category gains.
    if order.gain <= best_single(counts, leaf) + _PRICE * len(counts):
        return None
    listed = Categories.of([names[by_name[i]] for i in order.order])
    made = Values("sets", values.dtype, order.position[data], categories=listed)
    return InSets(made, order.unknown, len(np.unique(order.position)))


class Leaf(Protocol):
    """What the sums of some rows say; of classes these are the counts of each."""

    def evidence(self, sums: Counts) -> Counts:
        """Return the log likelihood of the rows in one leaf, for each of several leaves."""

    def places(self, sums: Counts) -> Counts:
        """Return the place of each category on the axis along which categories differ most.

        0 is the place of all rows.
        """


@dataclass(frozen=True)
class Order:
    """Categories in the order of the rates of their classes, in groups.

    Attributes
    ----------
    order : int array (categories,)
        The categories, by number, from the first to the last.
    position : int array (categories,)
        The position of each category, which is that of the last of its group.
    unknown : int
        The position of the category whose rates are nearest to those of all rows.
    gain : float
        By how much the groups raise the log evidence, less what they cost; 0: there is one group.
    """

    order: NDArray[np.intp]
    position: NDArray[np.intp]
    unknown: int
    gain: float

    @classmethod
    def of(cls, counts: Counts, leaf: Leaf | None = None) -> Order:
        """Order categories by how many rows of each class they have, and divide the order.

        Or by other sums, of which ``leaf`` says what they mean.

        >>> found = Order.of(np.array([[9, 1], [0, 9], [9, 0], [1, 9]]))
        >>> found.order, found.position, found.unknown
        (array([2, 0, 3, 1]), array([1, 3, 1, 3]), 1)
        """
        leaf = _ClassLeaf() if leaf is None else leaf
        place = leaf.places(counts).round(_DIGITS)
        order = np.argsort(place, kind="stable")
        in_order = place[order]
        ends, gain = _divide(counts[order], in_order[1:] > in_order[:-1], leaf)
        position = np.empty(len(order), dtype=np.intp)
        position[order] = ends[np.searchsorted(ends, np.arange(len(order)))]
        unknown = int(np.argmin(np.abs(in_order)))
        return cls(order, position, int(position[order[unknown]]), gain)


def _divide(
    counts: Counts, differ: NDArray[np.bool_], leaf: Leaf
) -> tuple[NDArray[np.intp], float]:
    """Return the last category of each group of an order, and what all divisions gain.

    A part of the order is divided where that raises the log evidence most, if that is more than
    ``_PRICE`` for each of its categories; neighbours of equal rates are not divided.
    """
    below = np.vstack([np.zeros(counts.shape[1]), counts.cumsum(axis=0)])
    ends, gain = [], 0.0
    parts = [(0, len(counts), 0)]
    while parts:
        start, end, level = parts.pop()
        check_deadline()
        if end - start > 1 and level < _MOST_LEVELS:
            every = below[end] - below[start]
            gains = _gains(below[start + 1 : end] - below[start], every, leaf)
            gains[~differ[start : end - 1]] = -math.inf
            best = int(np.argmax(gains))
            net = float(gains[best]) - _PRICE * (end - start)
            if net > 0:
                gain += net
                middle = start + best + 1
                parts += [(start, middle, level + 1), (middle, end, level + 1)]
                continue
        ends.append(end - 1)
    return np.sort(np.array(ends, dtype=np.intp)), gain


def _work(n: int, outcome: Codes | Amounts) -> int:
    n_sums = 3 if isinstance(outcome, Amounts) else int(outcome.max()) + 1
    return n * n_sums**2


def class_counts(
    categories: NDArray[Any], n: int, codes: Codes, weights: NDArray[np.int64] | None
) -> Counts:
    """Return how many rows each of n categories has of each class.

    >>> class_counts(np.array([0, 1, 1]), 2, np.array([0, 0, 1], np.uint8), None)
    array([[1., 0.],
           [1., 1.]])
    """
    n_classes = int(codes.max()) + 1
    cells = categories.astype(np.intp) * n_classes + codes
    return np.bincount(cells, weights, n * n_classes).astype(float).reshape(n, n_classes)


def sums_of(
    categories: NDArray[Any], n: int, amounts: Amounts, weights: NDArray[np.int64] | None
) -> Counts:
    """Return how many rows each of n categories has, and the sums of their numbers or counts."""
    columns = [np.ones(len(categories)), *amounts.of_rows.T]
    times = 1 if weights is None else weights
    return np.stack([np.bincount(categories, column * times, n) for column in columns], axis=1)


def best_single(counts: Counts, leaf: Leaf | None = None) -> float:
    """Return by how much the best test of a single category raises the log evidence.

    >>> best_single(np.array([[9.0, 1], [1, 9], [9, 1]])) > 0
    True
    """
    return float(_gains(counts, counts.sum(axis=0), leaf or _ClassLeaf()).max())


def _gains(inside: Counts, every: Counts, leaf: Leaf) -> Counts:
    outside = leaf.evidence(every - inside)
    return leaf.evidence(inside) + outside - leaf.evidence(every[np.newaxis])


class _ClassLeaf:
    """Classes: with two of them, the place is the rate of the second."""

    def evidence(self, sums: Counts) -> Counts:
        from scipy.special import gammaln  # slow to import, and few tables need it

        prior = np.full(sums.shape[1], _LEAF)
        of_classes: Counts = (gammaln(sums + prior) - gammaln(prior)).sum(axis=1)
        of_rows: Counts = gammaln((sums + prior).sum(axis=1)) - gammaln(prior.sum())
        return of_classes - of_rows

    def places(self, sums: Counts) -> Counts:
        rows = sums.sum(axis=1, keepdims=True)
        every = sums.sum(axis=0) / sums.sum()
        rates = (sums + _SMOOTHING * every) / (rows + _SMOOTHING) - every
        axis = np.array([0.0, 1.0])
        if sums.shape[1] != 2:
            axis = np.linalg.eigh((rates * rows).T @ rates)[1][:, -1]
            axis = axis if axis[np.argmax(np.abs(axis))] > 0 else -axis
        places: Counts = rates @ axis
        return places


@dataclass(frozen=True)
class _MeasuredLeaf:
    """Numbers and counts: the number of rows, and two sums."""

    outcome: Measured

    def evidence(self, sums: Counts) -> Counts:
        return self.outcome.evidence(sums[:, 0], sums[:, 1:])

    def places(self, sums: Counts) -> Counts:
        return self.outcome.means(sums[:, 0], sums[:, 1:], _SMOOTHING)
