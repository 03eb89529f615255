"""The levels of a column's thresholds, from coarse to fine.

Level 0 is the threshold that divides the rows most evenly, level 1 the ones that do so with the
rows on either side of it, and so on. docs/design/prior.md says what they are for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from maptree import _core


def most_levels(n_thresholds: int) -> int:
    """Return the largest number of levels: one more than even divisions take.

    >>> [most_levels(n) for n in (1, 2, 3, 4, 7, 8, 15, 16)]
    [2, 3, 3, 4, 4, 5, 5, 6]
    """
    return n_thresholds.bit_length() + 1


def levels(below: ArrayLike, total: int) -> NDArray[np.int8]:
    """Return the level of each threshold, given how many of ``total`` rows are at most it.

    ``below`` increases. In each stretch between thresholds of earlier levels the threshold nearest
    to the middle of its rows comes next, the lower one on ties. Where many rows have few values the
    divisions are uneven and would go on and on: then the last level takes all that are left.

    >>> levels([1, 2, 3, 4, 5, 6, 7], 8).tolist()
    [2, 1, 2, 0, 2, 1, 2]
    >>> levels([90, 92, 94, 96, 98], 100).tolist()  # 90 rows of one value
    [0, 2, 1, 2, 3]
    """
    rows = np.ascontiguousarray(below, dtype=np.int64)
    return _core.levels(rows, total, most_levels(len(rows)) - 1)
