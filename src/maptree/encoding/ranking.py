"""Ranks of values: of arrays, and of numbers that no array type holds.

These are Decimals, and whole numbers beyond 64 bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maptree import _core
from maptree.tables.deadline import check_deadline, in_pieces


@dataclass(frozen=True)
class Ranking:
    """The distinct values of a column, and the rank of each row's value among them.

    >>> ranking = Ranking.of(np.array([30, 46, 45, 30]), None)
    >>> ranking.values, ranking.ranks.tolist(), ranking.at_most.tolist()
    (array([30, 45, 46]), [0, 2, 1, 0], [2, 3, 4])
    """

    values: NDArray[Any]  # increasing
    ranks: NDArray[np.uint32]
    at_most: NDArray[np.int64]  # rows with at most each value, counted with their weights

    @classmethod
    def of(cls, data: NDArray[Any], weights: NDArray[np.int64] | None) -> Ranking:
        """Rank an array without missing values."""
        check_deadline()
        ranks, leaders, at_most = _core.rank(_keys(data), weights)
        return cls(data[leaders], ranks, at_most)


def _keys(data: NDArray[Any]) -> NDArray[np.uint64]:
    """Return whole numbers of 64 bits in the order of the values.

    >>> np.unique(_keys(np.array([0.5, -0.0, -np.inf, 0.0, -1.5])), return_inverse=True)[1].tolist()
    [3, 2, 0, 2, 1]
    """
    kind, top = data.dtype.kind, np.uint64(1 << 63)
    if kind in "bu":
        return data.astype(np.uint64)
    if kind == "i":
        return data.astype(np.int64).view(np.uint64) ^ top
    if kind == "f" and data.dtype.itemsize <= 8:
        numbers = data.astype(np.float64)
        numbers += 0.0  # not -0.0
        # The bits of positive floats increase with them, those of negative ones decrease.
        flip = (numbers.view(np.int64) >> 63).view(np.uint64)
        flip |= top
        flip ^= numbers.view(np.uint64)
        return flip
    return np.unique(data, return_inverse=True)[1].astype(np.uint64)


def rank(numbers: list[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct numbers in order, and the position of each number among them.

    They are sorted as floats, which is many times as fast, and exactly where these are equal.

    >>> rank([10**30, 2, 10**30 + 1, 2])
    ([2, 1000000000000000000000000000000, 1000000000000000000000000000001], array([1, 0, 2, 0]))
    """
    rounded = np.array([f for piece in in_pieces(numbers) for f in map(_nearest_float, piece)])
    _, first, group = np.unique(rounded, return_index=True, return_inverse=True)
    leaders = [numbers[row] for row in first.tolist()]
    several = np.zeros(len(leaders), dtype=bool)  # groups of several numbers
    start = 0
    for piece in in_pieces(numbers):
        those = group[start : start + len(piece)].tolist()
        start += len(piece)
        several[[g for number, g in zip(piece, those, strict=True) if number != leaders[g]]] = True
    if not several.any():
        return leaders, group
    # Neither sets nor dictionaries: numbers can be chosen so that all have one hash.
    rows = _in_order(numbers, np.flatnonzero(several[group]).tolist())
    is_new = np.array([True, *(numbers[a] != numbers[b] for a, b in pairwise(rows))])
    sizes = np.ones(len(leaders), dtype=np.intp)
    sizes[several] = np.bincount(group[rows], weights=is_new, minlength=len(leaders))[several]
    # Groups follow each other, so a number's rank counts the new numbers among the rows up to it,
    # and the groups of one number.
    ranks = (np.cumsum(sizes) - 1)[group]
    ranks[rows] = np.cumsum(is_new) - 1 + np.cumsum(~several)[group[rows]]
    distinct: list[Any] = [None] * int(sizes.sum())
    for row, rank in zip(first.tolist(), ranks[first].tolist(), strict=True):
        distinct[rank] = numbers[row]
    for row in np.array(rows)[is_new].tolist():
        distinct[ranks[row]] = numbers[row]
    return distinct, ranks


def _in_order(numbers: list[Any], rows: list[int]) -> list[int]:
    """Return rows sorted by their numbers; the clock is read between the pieces."""
    runs: list[int] = []
    for piece in in_pieces(rows):
        runs += sorted(piece, key=numbers.__getitem__)
    return sorted(runs, key=numbers.__getitem__)  # merges the sorted pieces


def _nearest_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # of whole numbers; a Decimal becomes infinite
        return math.inf if number > 0 else -math.inf
