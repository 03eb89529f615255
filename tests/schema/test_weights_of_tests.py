"""The weights of tests against their definition in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import Column
from maptree.encoding.levels import levels
from maptree.parameters.split_prior import MOST_ODDS
from maptree.schema.weights_of_tests import weights_of_tests
from problems import examples


def numbers(*found, missing=False):
    return Column("n", "number", "", tuple(range(len(found))), has_missing=missing, levels=found)


def flag(missing=False):
    return Column("f", "boolean", "", categories=(0, 1), has_missing=missing)


def categories(n, missing=False):
    names = tuple(f"c{i}" for i in range(n))
    return Column("c", "category", "", categories=names, has_missing=missing)


CONSTANT = Column("k", "constant", "")
ONLY_MISSING = Column("m", "constant", "", has_missing=True)


def masses(column):
    """What each test has of its column's mass."""
    found = list(column.levels) or [0] * (len(column.tests) - column.has_missing)
    if column.has_missing:
        found.append(max(found, default=-1) + 1)
    return [Fraction(1, len(set(found)) * found.count(level)) for level in found]


def weigh(columns, split_prior, column_weights=None):
    column_weights = [1] * len(columns) if column_weights is None else column_weights
    found = weights_of_tests(columns, split_prior, column_weights)
    n_tests = sum(len(column.tests) for column in columns)
    return [1] * n_tests if found is None else found.tolist()


def test_equal_weights_are_none():
    assert weights_of_tests([flag(), flag()], "columns", (1.0, 1.0)) is None
    assert weights_of_tests([flag(), numbers(0, 1)], "tests", (3.0, 3.0)) is None
    assert weights_of_tests([CONSTANT], "columns", (1.0,)) is None
    assert weights_of_tests([ONLY_MISSING, flag()], "columns", (1.0, 1.0)) is None


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([flag(), numbers(1, 0, 1)], [4, 1, 2, 1]),
        ([numbers(2, 1, 2, 0, 2, 1, 2)], [1, 2, 1, 4, 1, 2, 1]),
        ([numbers(1, 0, 1, missing=True), flag()], [1, 2, 1, 2, 6]),
        ([flag(missing=True), flag()], [1, 1, 2]),
        ([categories(4), flag()], [1, 1, 1, 1, 4]),
        ([categories(4, missing=True), flag()], [1, 1, 1, 1, 4, 8]),
        ([CONSTANT, ONLY_MISSING, categories(2)], [2, 1, 1]),
    ],
)
def test_the_column_first_and_then_the_test(columns, expected):
    found = np.array(weigh(columns, "columns"))
    # Thirds are rounded: in the lightest unit they differ from the expected by next to nothing.
    np.testing.assert_allclose(found / found.sum(), np.array(expected) / sum(expected), rtol=1e-6)


def test_a_threshold_that_is_missing_has_the_mass_of_the_median():
    found = weigh([numbers(1, 0, 2, missing=True), flag()], "columns")
    assert found[3] == found[1]


def test_column_weights_multiply():
    columns = [flag(), numbers(0, 1), CONSTANT, flag()]
    assert weigh(columns, "tests", (2, 1, 7, 3)) == [2, 1, 1, 3]
    assert weigh(columns, "tests", (0.5, 0.25, 7, 0.75)) == [2, 1, 1, 3]
    assert weigh(columns, "columns", (2, 1, 7, 3)) == [4, 1, 1, 6]
    tiny = math.ldexp(1, -1000)  # only odds matter
    assert weigh(columns, "columns", (2 * tiny, tiny, 7, 3 * tiny)) == [4, 1, 1, 6]


def test_the_numbers_themselves():
    """They are the prior, so another unit or rounding would be another prior."""
    third, sixth = 5592405, 2796203  # of 2**24, to the nearest whole number
    found = weigh([numbers(1, 0, 1, missing=True), flag()], "columns")
    assert found == [sixth, third, sixth, third, 2**24]


def test_no_weight_is_below_1():
    fine = numbers(*levels(np.arange(1, 4096), 4096).tolist())
    found = weigh([fine, flag()], "columns", (1.0, float(MOST_ODDS)))
    assert min(found) == 1
    assert found.count(1) > 2048


drawn_columns = st.lists(
    st.one_of(
        st.builds(flag, st.booleans()),
        st.builds(categories, st.integers(1, 40), st.booleans()),
        st.builds(
            lambda sizes, missing: numbers(
                *levels(np.cumsum(sizes)[:-1], sum(sizes)).tolist(), missing=missing
            ),
            st.lists(st.integers(1, 100), min_size=2, max_size=70),
            st.booleans(),
        ),
        st.sampled_from([CONSTANT, ONLY_MISSING]),
    ),
    min_size=1,
    max_size=6,
)


@examples(80)
@given(drawn_columns, st.data())
def test_whole_weights_are_near_the_definition(columns, data):
    odds = st.sampled_from([1.0, 2.0, 0.25, 1 / 3, 1000.0, float(MOST_ODDS) / 1000])
    column_weights = [data.draw(odds) for _ in columns]
    for split_prior in ("tests", "columns"):
        found = weigh(columns, split_prior, column_weights)
        assert min(found, default=1) >= 1
        assert sum(found) < 2**31
        assert math.gcd(*found) <= 1
        shares = [
            (1 if split_prior == "tests" else mass) * Fraction(weight)
            for column, weight in zip(columns, column_weights, strict=True)
            for mass in masses(column)
        ]
        total = sum(shares)
        for weight, share in zip(found, shares, strict=True):
            # Half a unit of rounding, of this weight and in proportion of the sum of all.
            off = 0.5 + len(found) * 0.5 * share / total
            assert abs(weight - sum(found) * share / total) <= off + 1e-6 or weight == 1


def test_weights_fit_into_31_bits_whatever_the_table():
    wide = [numbers(1, 0, 1) for _ in range(5000)]
    found = weigh(wide, "columns")
    assert set(found) == {1, 2}
    assert sum(found) < 2**31
    heavy = weigh([flag(), *wide], "columns", [float(MOST_ODDS), *[1.0] * 5000])
    assert sum(heavy) < 2**31
    assert heavy[0] / sum(heavy[1:4]) == pytest.approx(MOST_ODDS, rel=1e-3)
    long = numbers(*levels(np.arange(1, 2**20), 2**20).tolist())
    found = np.array(weigh([long, flag()], "columns"))
    assert found[:-1].min() >= 1
    assert found.sum() < 2**31
    # Twenty levels of the same mass, but for the rounding of the finest, of 1.6 rows each.
    of_level = np.bincount(long.levels, found[:-1])
    np.testing.assert_allclose(of_level[:14], of_level[0], rtol=0.01)
    assert of_level.max() <= 1.3 * of_level[0]


def test_a_schema_without_levels_has_no_weights_of_columns():
    old = Column("age", "number", "", thresholds=(1, 2))
    assert weigh([old, flag()], "tests", (1, 2)) == [1, 1, 2]
    with pytest.raises(ValueError, match=r"'age' has no levels .* fit again"):
        weigh([old], "columns")
