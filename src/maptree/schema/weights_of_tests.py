"""The weights of tests: how probable each is, before the labels are known, where a node splits.

docs/design/prior.md defines them, and says what rounding them to whole numbers means.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from maptree.schema.columns import BinaryColumns, Column

# All weights together stay below this; the core adds them up in 32 bits.
_MOST = 2**31
# The mass of the lightest column is a power of two, at most this one.
_MOST_BITS = 24
_FEWEST_BITS = -64  # far below what any table needs: every test weighs 1 long before


def weights_of_tests(
    columns: Sequence[Column], split_prior: str, column_weights: Sequence[float]
) -> NDArray[np.uint32] | None:
    """Return the weight of every test, whole numbers of at least 1; None if all are the same.

    ``column_weights`` has one for every column; that of a column without tests does not matter.

    >>> age = Column("age", "number", "int64", thresholds=(30, 40, 50), levels=(1, 0, 1))
    >>> smoker = Column("smoker", "boolean", "bool", categories=(False, True))
    >>> weights_of_tests((age, smoker), "columns", (1.0, 1.0)).tolist()
    [1, 2, 1, 4]
    >>> weights_of_tests((age, smoker), "tests", (1.0, 5.0)).tolist()
    [1, 1, 1, 5]
    """
    if isinstance(columns, BinaryColumns) and len(set(column_weights)) == 1:
        return None  # one test each; they are not all made to see that
    tested = [(c, w) for c, w in zip(columns, column_weights, strict=True) if c.tests]
    if _all_the_same(tested, split_prior):
        return None
    lightest = Fraction(min(weight for _, weight in tested))
    levels = [_levels(column, split_prior) for column, _ in tested]
    sizes = [tuple(np.bincount(level).tolist()) for level in levels]
    shapes = [(weight, of_levels) for (_, weight), of_levels in zip(tested, sizes, strict=True)]
    # Many columns have the same shape, in a 0/1 table all of them.
    shares = {
        (weight, of_levels): _shares(Fraction(weight) / lightest, of_levels, split_prior)
        for weight, of_levels in set(shapes)
    }
    how_many: Counter[Fraction] = Counter()
    for shape, n_columns in Counter(shapes).items():
        for share, size in zip(shares[shape], shape[1], strict=True):
            how_many[share] += n_columns * size
    whole = _rounded(how_many)
    by_level = {
        shape: np.array([whole[share] for share in shares[shape]], np.uint32) for shape in shares
    }
    if len(set(whole.values())) == 1:
        return None
    return np.concatenate(
        [by_level[shape][level] for shape, level in zip(shapes, levels, strict=True)]
    )


def _all_the_same(tested: Sequence[tuple[Column, float]], split_prior: str) -> bool:
    """Return whether all tests weigh the same for a reason that is seen at once."""
    if len({weight for _, weight in tested}) > 1:
        return False
    return split_prior == "tests" or all(len(column.tests) == 1 for column, _ in tested)


def _shares(mass: Fraction, sizes: Sequence[int], split_prior: str) -> list[Fraction]:
    """Return the share of a test of each level, for a column of some mass."""
    if split_prior == "tests":
        return [mass for _ in sizes]
    return [mass / len(sizes) / size for size in sizes]


def _levels(column: Column, split_prior: str) -> NDArray[np.integer]:
    """Return the level of every test of a column.

    Thresholds have their own; categories are all of one; the test for missing values has one for
    itself. Where all tests weigh the same they are of one level.
    """
    if split_prior == "tests":
        return np.zeros(len(column.tests), dtype=np.int8)
    if len(column.levels) != len(column.thresholds):
        raise ValueError(
            f"Column {column.name!r} has no levels of its thresholds, because its schema is of an "
            'earlier version: fit again for split_prior="columns".'
        )
    plain = len(column.tests) - column.has_missing
    found = np.asarray(column.levels) if column.thresholds else np.zeros(plain, np.int8)
    if column.has_missing:
        found = np.append(found, found.max(initial=-1) + found.dtype.type(1))
    return found


def _rounded(how_many: Counter[Fraction]) -> dict[Fraction, int]:
    """Return whole numbers for shares, in the largest unit in which all tests stay below 2^31.

    They have no common divisor.
    """
    for bits in range(_MOST_BITS, _FEWEST_BITS, -1):
        unit = Fraction(2) ** bits
        whole = {share: max(1, math.floor(share * unit + Fraction(1, 2))) for share in how_many}
        if sum(whole[share] * n for share, n in how_many.items()) < _MOST:
            break
    divisor = math.gcd(*whole.values())
    return {share: weight // divisor for share, weight in whole.items()}
