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
from maptree.schema.kept_thresholds import KeptLevels
from maptree.schema.on_demand import sizes_of

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
    Where a threshold was not kept (``schema/kept_thresholds.py``), its weight is not known: 0.

    >>> age = Column("age", "number", "int64", thresholds=(30, 40, 50), levels=(1, 0, 1))
    >>> smoker = Column("smoker", "boolean", "bool", categories=(False, True))
    >>> weights_of_tests((age, smoker), "columns", (1.0, 1.0)).tolist()
    [1, 2, 1, 4]
    >>> weights_of_tests((age, smoker), "tests", (1.0, 5.0)).tolist()
    [1, 1, 1, 5]
    """
    by_level = weights_of_levels(columns, split_prior, column_weights)
    if by_level is None:
        return None
    tested = [column for column in columns if column.tests]
    out = np.empty(sum(len(column.tests) for column in tested), dtype=np.uint32)
    first = 0
    for column, weights in zip(tested, by_level, strict=True):
        end = first + len(column.tests)
        out[first:end] = _by_test(column, split_prior, weights)
        first = end
    return out


def weights_of_levels(
    columns: Sequence[Column], split_prior: str, column_weights: Sequence[float]
) -> list[NDArray[np.uint32]] | None:
    """Return, for every column with tests, the weight of a test of each level.

    None: all tests weigh the same. Needs only the number of tests of each level.
    """
    if isinstance(columns, BinaryColumns) and len(set(column_weights)) == 1:
        return None  # one test each; they are not all made to see that
    tested = [(c, w) for c, w in zip(columns, column_weights, strict=True) if c.tests]
    if _all_the_same(tested, split_prior):
        return None
    lightest = Fraction(min(weight for _, weight in tested))
    shapes = [(weight, _level_sizes(column, split_prior)) for column, weight in tested]
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
    if len(set(whole.values())) == 1:
        return None
    by_level = {
        shape: np.array([whole[share] for share in shares[shape]], np.uint32) for shape in shares
    }
    return [by_level[shape] for shape in shapes]


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


def _level_sizes(column: Column, split_prior: str) -> tuple[int, ...]:
    """Return the number of a column's tests of each level.

    Thresholds have their own levels; categories are all of one; the test for missing values has one
    for itself. Where all tests weigh the same they are of one level.
    """
    if split_prior == "tests":
        return (len(column.tests),)
    if len(column.levels) != len(column.thresholds):
        raise ValueError(
            f"Column {column.name!r} has no levels of its thresholds, because its schema is of an "
            'earlier version: fit again for split_prior="columns".'
        )
    if isinstance(column.levels, KeptLevels):
        sizes = column.levels.sizes
    elif column.thresholds:
        sizes = sizes_of(column.levels)
    else:
        sizes = (len(column.tests) - column.has_missing,)
    return (*filter(None, sizes), *(1,) * column.has_missing)


def _by_test(column: Column, split_prior: str, by_level: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the weights of a column's tests, given those of its levels."""
    weights = np.full(len(column.tests), by_level[0], dtype=np.uint32)
    if split_prior == "tests":
        return weights
    if isinstance(column.levels, KeptLevels):
        weights[:] = 0
        weights[list(column.levels.positions)] = by_level[list(column.levels.items)]
    elif column.thresholds:
        weights[: len(column.thresholds)] = by_level[np.asarray(column.levels)]
    if column.has_missing:
        weights[-1] = by_level[-1]
    return weights


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
