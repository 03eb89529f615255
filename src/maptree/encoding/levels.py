"""The levels of a column's thresholds, from coarse to fine.

Level 0 is the threshold that divides the rows most evenly, level 1 the ones that do so with the
rows on either side of it, and so on. docs/design/prior.md says what they are for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def most_levels(n_thresholds: int) -> int:
    """Return the largest number of levels: one more than even divisions take.

    >>> [most_levels(n) for n in (1, 2, 3, 4, 7, 8, 15, 16)]
    [2, 3, 3, 4, 4, 5, 5, 6]
    """
    return n_thresholds.bit_length() + 1


def levels(below: ArrayLike, total: int) -> NDArray[np.int64]:
    """Return the level of each threshold, given how many of ``total`` rows are at most it.

    ``below`` increases. In each stretch between thresholds of earlier levels the threshold nearest
    to the middle of its rows comes next, the lower one on ties. Where many rows have few values the
    divisions are uneven and would go on and on: then the last level takes all that are left.

    >>> levels([1, 2, 3, 4, 5, 6, 7], 8)
    array([2, 1, 2, 0, 2, 1, 2])
    >>> levels([90, 92, 94, 96, 98], 100)  # 90 rows of one value
    array([0, 2, 1, 2, 3])
    """
    twice = 2 * np.asarray(below, dtype=np.int64)  # so that middles are whole numbers
    last = most_levels(len(twice)) - 1
    level = np.full(len(twice), last, dtype=np.int64)
    # Stretches: thresholds from `first` to before `end`, and the rows below and at most their ends.
    first, end = np.array([0]), np.array([len(twice)])
    for number in range(last):
        some = first < end
        first, end = first[some], end[some]
        if not len(first):
            break
        low = np.where(first > 0, twice[first - 1], 0)
        high = np.where(end < len(twice), twice[np.minimum(end, len(twice) - 1)], 2 * total)
        middle = (low + high) // 2
        above = np.clip(np.searchsorted(twice, middle), first, end - 1)
        under = np.maximum(above - 1, first)
        nearest = np.where(middle - twice[under] <= twice[above] - middle, under, above)
        level[nearest] = number
        first, end = (
            np.stack([first, nearest + 1], axis=1).ravel(),
            np.stack([nearest, end], axis=1).ravel(),
        )
    return level
