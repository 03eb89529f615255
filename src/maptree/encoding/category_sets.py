"""Sets of categories: their order, learnt from the labels, and whether they are worth it.

A set is made of the first or the last categories in the order of the rates of their classes. With
two classes the best division of a node's rows into two sets of categories is one of these (Breiman
et al. 1984); with more, the first principal component of the rates gives an order that is near it
(Coppersmith, Hong and Hosking 1999). docs/design/encoding.md has the measurements.
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
# Categories, times classes, times classes: a tenth of a second of work. Beyond, there are no sets.
_MOST_WORK = 1 << 15
# Random divisions of the rows into halves, to see whether sets are worth it.
_DIVISIONS, _SEED = 8, 0
_DIGITS = 12  # of a place in the order: rates that differ by a rounding error are equal

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class InSets:
    """A column of categories whose values are positions in an order."""

    values: Values
    unknown: int  # the position that unknown categories are given


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
    if not explains(counts):
        return None
    order = Order.of(counts)
    if order.position.min() == order.position.max():
        return None
    listed = Categories.of([names[by_name[i]] for i in order.order])
    made = Values("sets", values.dtype, order.position[data], categories=listed)
    return InSets(made, order.unknown)


@dataclass(frozen=True)
class Order:
    """Categories in the order of the rates of their classes.

    Attributes
    ----------
    order : int array (categories,)
        The categories, by number, from the first to the last.
    position : int array (categories,)
        The position of each category; those of equal rates have that of their last.
    unknown : int
        The position of the category whose rates are nearest to those of all rows.
    """

    order: NDArray[np.intp]
    position: NDArray[np.intp]
    unknown: int

    @classmethod
    def of(cls, counts: Counts) -> Order:
        """Order categories by how many rows of each class they have.

        >>> found = Order.of(np.array([[5, 5], [0, 9], [9, 0], [0, 9]]))
        >>> found.order, found.position, found.unknown
        (array([2, 0, 1, 3]), array([1, 3, 0, 3]), 1)
        """
        place = _places(counts)
        order = np.argsort(place, kind="stable")
        in_order = place[order]
        position = np.searchsorted(in_order, place, side="right") - 1
        return cls(order, position, int(np.argmin(np.abs(in_order))))


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


def explains(counts: Counts) -> bool:
    """Return whether the best set explains the classes so well that it is worth its name.

    The rows are divided into halves. The best set by one half must raise the log likelihood of the
    other half by log 2 for each category but one more than the best single category does, added up
    over both halves: about what it takes to say which categories are in it. That is the mean of
    several divisions, so that it does not depend on one.

    Divisions are random, but depend on the counts alone: neither on the order of the rows nor on
    whether a row is given twice or has a weight of 2. Categories must be in an order that tells
    nothing about their classes.
    """
    draw, whole = np.random.default_rng(_SEED), counts.astype(np.int64)
    gain = 0.0
    for _ in range(_DIVISIONS):
        check_deadline()
        gain += _gain_of_sets(counts, draw.binomial(whole, 0.5))
    return gain / _DIVISIONS > math.log(2) * (len(counts) - 1)


def _gain_of_sets(counts: Counts, half: NDArray[np.int64]) -> float:
    """Return by how much more sets raise the log likelihood than single categories do."""
    gain = 0.0
    for learnt, other in ((half, counts - half), (counts - half, half)):
        seen = learnt.sum(axis=1) > 0
        if np.count_nonzero(seen) < 2:
            return 0.0
        order = np.argsort(_places(learnt[seen]), kind="stable")
        sides = [rows[seen][order].cumsum(axis=0) for rows in (learnt, other)]
        gain += _gain(sides[0][:-1], sides[1][:-1], sides[0][-1], sides[1][-1])
        gain -= _gain(learnt[seen], other[seen], sides[0][-1], sides[1][-1])
    return gain


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


def _gain(learnt: Counts, other: Counts, all_learnt: Counts, all_other: Counts) -> float:
    """Choose the best division by some rows, and return what it adds to the evidence of others.

    Divisions are given by the counts of one side of each, and by those of both sides.
    """
    best = int(np.argmax(_gains(learnt, all_learnt)))
    return float(_gains(other[best : best + 1], all_other)[0])


def _gains(inside: Counts, every: Counts) -> Counts:
    return _evidence(inside) + _evidence(every - inside) - _evidence(every[np.newaxis])


def _evidence(counts: Counts) -> Counts:
    """Return the log likelihood of rows of these classes in one leaf."""
    from scipy.special import gammaln  # slow to import, and few tables need it

    prior = np.full(counts.shape[1], _LEAF)
    of_classes: Counts = (gammaln(counts + prior) - gammaln(prior)).sum(axis=1)
    of_rows: Counts = gammaln((counts + prior).sum(axis=1)) - gammaln(prior.sum())
    return of_classes - of_rows
