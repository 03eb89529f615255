"""Where to cut a column of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree.tables.labels import Codes

# Up to so many classes, a look at all rows for each of them takes less time than it saves.
_FEW = 16


@dataclass(frozen=True)
class Gaps:
    """Gaps between neighbouring values of a column, to cut in."""

    low: NDArray[Any]  # the value below each chosen gap, in the type of the column
    high: NDArray[Any]  # the value above
    ends: NDArray[Any]  # the least and the greatest value of the column
    n_values: int  # distinct values
    n_useful: int  # gaps where the class can change, of which some were chosen


def choose_gaps(
    values: NDArray[Any],
    codes: Codes | None,
    weights: NDArray[np.int64] | None,
    limit: int,
) -> Gaps:
    """Choose at most ``limit`` gaps of a column without missing values.

    See ``BinaryEncoder`` for which gaps are kept. Rows of weight 0 are not looked at.

    >>> gaps = choose_gaps(np.array([3.0, 1.0, 2.0, 2.0]), None, None, 16)
    >>> gaps.low, gaps.high
    (array([1., 2.]), array([2., 3.]))
    >>> choose_gaps(np.array([3.0, 1.0, 2.0, 2.0]), np.array([1, 0, 0, 0], np.int32), None, 16).low
    array([2.])
    """
    if weights is not None and not weights.all():
        kept = weights > 0
        values, weights = values[kept], weights[kept]
        codes = None if codes is None else codes[kept]
    ordered, codes, weights = _sort(values, codes, weights)
    cuts = ordered[1:] != ordered[:-1]  # between a row and the next
    n_values = int(np.count_nonzero(cuts)) + 1
    if codes is not None:
        cuts = _where_class_can_change(codes, cuts)
    starts = np.flatnonzero(cuts) + 1  # the first row above each cut
    n_useful = len(starts)
    if n_useful > limit:
        below = starts if weights is None else np.cumsum(weights)[starts - 1]
        total = len(ordered) if weights is None else int(weights.sum())
        starts = starts[_by_quantile(below, total, limit)]
    return Gaps(ordered[starts - 1], ordered[starts], ordered[[0, -1]], n_values, n_useful)


def _sort(
    values: NDArray[Any], codes: Codes | None, weights: NDArray[np.int64] | None
) -> tuple[NDArray[Any], Codes | None, NDArray[np.int64] | None]:
    """Return the values in order, and with them their class numbers and weights.

    Rows of one value stay together; their order does not matter.
    """
    if codes is None and weights is None:
        return np.sort(values), None, None
    counts = np.zeros(0, dtype=np.intp) if codes is None else np.bincount(codes)
    if codes is None or weights is not None or len(counts) > _FEW:
        order = np.argsort(values)
        by_value = None if codes is None else codes[order]
        return values[order], by_value, None if weights is None else weights[order]
    # Sorting is several times as fast as finding the order. So each class is sorted by itself, and
    # the order is only that of merging runs, which the stable sort does in one pass.
    runs = np.empty_like(values)
    ends = np.cumsum(counts)
    for code, end in enumerate(ends.tolist()):
        run = runs[end - counts[code] : end]
        run[:] = values[codes == code]
        run.sort()
    order = np.argsort(runs, kind="stable")
    classes: Codes = np.repeat(np.arange(len(counts)).astype(codes.dtype), counts)
    return runs[order], classes[order], None


def _where_class_can_change(codes: Codes, cuts: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the cuts without those whose neighbouring values are pure in one and the same class.

    Cutting inside a run of values that are pure in one class separates no classes that a cut at
    an end of the run does not (Fayyad and Irani 1992), and would use up thresholds.
    """
    changes = codes[1:] != codes[:-1]
    useful: NDArray[np.bool_] = cuts & changes
    # A value that is not pure has a change inside; the cuts on both sides of it are kept, too.
    places = np.flatnonzero(cuts)
    mixed = np.zeros(len(places) + 1, dtype=bool)  # by value
    mixed[np.searchsorted(places, np.flatnonzero(changes & ~cuts))] = True
    useful[places[mixed[1:]]] = True
    useful[places[mixed[:-1]]] = True
    return useful


def _by_quantile(below: NDArray[np.int64], total: int, limit: int) -> NDArray[np.intp]:
    """Choose ``limit`` of the cuts so that the groups of rows between them are about even.

    A stretch between two cuts that holds more than an even share is a group of its own, and the
    other rows are shared out among the groups that are left, so that a column with one heavy
    value still gets all its cuts where the other rows are.
    """
    ends = np.concatenate([[0.0], below, [total]])
    stretches = ends[1:] - ends[:-1]
    groups = limit + 1
    share = total / groups
    while True:
        heavy = stretches > share
        fair = stretches[~heavy].sum() / (groups - heavy.sum())
        if fair >= share:
            break
        share = fair
    levelled = np.cumsum(np.minimum(stretches, share))[:-1]
    targets = np.arange(1, groups) * share
    right = np.clip(np.searchsorted(levelled, targets), 1, len(levelled) - 1)
    nearest = np.where(targets - levelled[right - 1] <= levelled[right] - targets, right - 1, right)
    # No stretch exceeds a share, so two targets meet at one cut only where they are equally near.
    steps = np.arange(limit)
    distinct = np.maximum.accumulate(nearest - steps) + steps
    chosen: NDArray[np.intp] = np.minimum(distinct, len(below) - limit + steps)
    return chosen


def place_cuts(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a threshold t with low <= t < high: the middle, in as few digits as are needed.

    Below infinity it is infinity, which stands for the test "is less than infinity".

    >>> place_cuts(np.array([45.0, 0.0]), np.array([46.0, 1 / 3]))
    array([45.5  ,  0.167])
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # Half of each, not half of the sum or the difference: those overflow for huge values.
        middle = low / 2 + high / 2
        gap = high - low
        digits = np.ceil(-np.log10(gap * 0.02))
        scale = 10.0 ** np.abs(digits)
        short = np.where(
            digits > 0, np.rint(middle * scale) / scale, np.rint(middle / scale) * scale
        )
        # Beyond 2**53 the scaled number has no fraction to round; 10**22 is the last exact power.
        exact = (np.abs(middle * scale) < 2.0**53) & (np.abs(digits) <= 22)
        short = np.where(exact & (np.abs(short - middle) <= gap * 0.01), short, middle)
    threshold = np.where((low <= short) & (short < high), short, middle)
    # Between neighbouring floats the middle rounds to one of them; it must not be the upper one.
    result: NDArray[np.float64] = np.where((low <= threshold) & (threshold < high), threshold, low)
    # Beside an infinity there is no middle: the infinity is cut off, and alone with the other the
    # sign tells them apart.
    result = np.where(np.isinf(high), np.where(np.isinf(low), 0.0, np.inf), result)
    return result + 0.0  # not -0.0
