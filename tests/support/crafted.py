"""Tables made to mislead a search that recognises sets of rows by keys that anybody can know.

A set of rows was once named by the exclusive or of 128 bits a row, two mixes of the
row's number. Such a sum is linear over GF(2), so elimination finds sets of the same name at once:
with 256 rows there are at least 2**128 sets of the name 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from maptree import Tree
from problems import Matrix, Vector

N_ROWS = 256
N_FREE = 8  # columns in addition to the two that are planted
MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Crafted:
    """Columns 0 and 1 tell two disjoint sets of rows of the same name.

    The first is noise. In the second the labels are the parity of columns 2 to 4, which only a tree
    that goes through column 1 can tell: `planted`.
    """

    X: Matrix
    y: Vector
    planted: Tree


def mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def public_key(slot: int) -> int:
    """The 128 bits of a row, as they were."""
    seed, step = 0x6D617074726565, 0x9E3779B97F4A7C15
    high, low = (mix((seed + (2 * slot + i) * step) & MASK) for i in (1, 2))
    return high << 64 | low


def rows_of_name_zero(rng: np.random.Generator) -> Vector:
    """Many rows whose keys cancel: all that can be chosen freely are in, the rest follow."""
    pivots: dict[int, tuple[int, int]] = {}  # by leading bit: a sum of keys, and the rows in it
    freely = []
    for slot in rng.permutation(N_ROWS).tolist():
        key, rows = public_key(slot), 1 << slot
        while key and key.bit_length() in pivots:
            other, others = pivots[key.bit_length()]
            key, rows = key ^ other, rows ^ others
        if key:
            pivots[key.bit_length()] = key, rows
        else:
            freely.append(rows)
    chosen = 0
    for rows in freely:
        chosen ^= rows
    return np.array([chosen >> slot & 1 for slot in range(N_ROWS)], dtype=bool)


def craft(seed: int) -> Crafted:
    """Rows are distinct and sorted by label, half and half, so that a row's number is its slot."""
    rng = np.random.default_rng([seed, 11])
    y = np.repeat([1, 0], N_ROWS // 2)  # in the order of their counts: (0, 1), then (1, 0)
    cancelling = rows_of_name_zero(rng)
    slots = np.flatnonzero(cancelling)
    first = np.zeros(N_ROWS, dtype=bool)
    # As many of either class in the first set as in the second: counts do not tell them apart.
    for k in (0, 1):
        of_class = rng.permutation(slots[y[slots] == k])
        first[of_class[: len(of_class) // 2]] = True
    second = cancelling & ~first

    X = np.zeros((N_ROWS, 2 + N_FREE), dtype=np.uint8)
    X[:, 0], X[:, 1] = first, second
    values = np.arange(1 << N_FREE)
    answer = (values ^ values >> 1) & 1
    for rows, told in ((first, False), (second, True), (~cancelling, False)):
        free = rng.permutation(values)
        drawn = np.empty(N_ROWS, dtype=np.int64)
        if told:
            for k in (0, 1):
                of_class = rows & (y == k)
                drawn[of_class] = free[answer[free] == k][: of_class.sum()]
        else:
            drawn[rows] = free[: rows.sum()]
        X[rows, 2:] = drawn[rows, None] >> np.arange(N_FREE) & 1
    return Crafted(X, y, planted_tree(X, y))


def planted_tree(X: Matrix, y: Vector) -> Tree:
    """Column 1; where it is true columns 2, 3 and 4, whatever the others say."""
    feature: list[int] = []
    left: list[int] = []
    right: list[int] = []
    counts: list[Vector] = []

    def add(rows: Vector, columns: tuple[int, ...]) -> int:
        node = len(feature)
        feature.append(columns[0] if columns else -1)
        left.append(-1)
        right.append(-1)
        counts.append(np.bincount(y[rows], minlength=2))
        if columns:
            column = X[:, columns[0]] == 1
            left[node] = add(rows & ~column, () if columns[0] == 1 else columns[1:])
            right[node] = add(rows & column, columns[1:])
        return node

    add(np.ones(len(y), dtype=bool), (1, 2, 3))
    return Tree(feature, left, right, counts)
