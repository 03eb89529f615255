"""Sets of categories: their order and groups, learnt from the labels, and what that must pay for.

A set is made of the first or the last categories in the order of the rates of their classes. With
two classes the best division of a node's rows into two sets of categories is one of these (Breiman
et al. 1984); with more, the first principal component of the rates gives an order that is near it
(Coppersmith, Hong and Hosking 1999).

The order follows the labels, noise and all, and a tree that could divide it anywhere would take the
noise for knowledge. So it is first divided into groups, and only where the labels pay for it; sets
divide none. docs/design/encoding.md has the reasons and the measurements.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.tables.deadline import check_deadline
from maptree.tables.labels import Codes
from maptree.tables.values import Categories, Values

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


def in_sets(values: Values, codes: Codes, weights: NDArray[np.int64] | None) -> InSets | None:
    """Put the categories of a column without missing values in order, if sets are worth it.

    They must be text: numbers that were declared to be categories may be passed as numbers later.
    """
    seen = np.unique(values.data)
    if _work(len(seen), codes) > _MOST_WORK:
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
    counts = class_counts(data, len(names), codes, weights)
    order = Order.of(counts)
    # The price a second time, and what the best test of a single category gains.
    if order.gain <= best_single(counts) + _PRICE * len(counts):
        return None
    listed = Categories.of([names[by_name[i]] for i in order.order])
    made = Values("sets", values.dtype, order.position[data], categories=listed)
    return InSets(made, order.unknown, len(np.unique(order.position)))


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
    def of(cls, counts: Counts) -> Order:
        """Order categories by how many rows of each class they have, and divide the order.

        >>> found = Order.of(np.array([[9, 1], [0, 9], [9, 0], [1, 9]]))
        >>> found.order, found.position, found.unknown
        (array([2, 0, 3, 1]), array([1, 3, 1, 3]), 1)
        """
        place = _places(counts)
        order = np.argsort(place, kind="stable")
        in_order = place[order]
        ends, gain = _divide(counts[order], in_order[1:] > in_order[:-1])
        position = np.empty(len(order), dtype=np.intp)
        position[order] = ends[np.searchsorted(ends, np.arange(len(order)))]
        unknown = int(np.argmin(np.abs(in_order)))
        return cls(order, position, int(position[order[unknown]]), gain)


def _divide(counts: Counts, differ: NDArray[np.bool_]) -> tuple[NDArray[np.intp], float]:
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
            gains = _gains(below[start + 1 : end] - below[start], below[end] - below[start])
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


def _work(n: int, codes: Codes) -> int:
    return n * (int(codes.max()) + 1) ** 2


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


def best_single(counts: Counts) -> float:
    """Return by how much the best test of a single category raises the log evidence.

    >>> best_single(np.array([[9.0, 1], [1, 9], [9, 1]])) > 0
    True
    """
    return float(_gains(counts, counts.sum(axis=0)).max())


def _places(counts: Counts) -> NDArray[np.float64]:
    """Return the place of each category on the axis along which rates differ most.

    0 is the place of all rows. With two classes it is the rate of the second.
    """
    rows = counts.sum(axis=1, keepdims=True)
    every = counts.sum(axis=0) / counts.sum()
    rates = (counts + _SMOOTHING * every) / (rows + _SMOOTHING) - every
    axis = np.array([0.0, 1.0])
    if counts.shape[1] != 2:
        axis = np.linalg.eigh((rates * rows).T @ rates)[1][:, -1]
        axis = axis if axis[np.argmax(np.abs(axis))] > 0 else -axis
    places: NDArray[np.float64] = (rates @ axis).round(_DIGITS)
    return places


def _gains(inside: Counts, every: Counts) -> Counts:
    return _evidence(inside) + _evidence(every - inside) - _evidence(every[np.newaxis])


def _evidence(counts: Counts) -> Counts:
    """Return the log likelihood of rows of these classes in one leaf."""
    from scipy.special import gammaln  # slow to import, and few tables need it

    prior = np.full(counts.shape[1], _LEAF)
    of_classes: Counts = (gammaln(counts + prior) - gammaln(prior)).sum(axis=1)
    of_rows: Counts = gammaln((counts + prior).sum(axis=1)) - gammaln(prior.sum())
    return of_classes - of_rows
