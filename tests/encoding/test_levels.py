"""The levels of thresholds: from the one nearest the median to the finest."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import BinaryEncoder
from maptree.encoding.levels import levels, most_levels
from problems import examples


def by_definition(below, total):
    """One threshold after the other, each stretch by itself."""
    found = {}
    last = len(bin(len(below))) - 2  # digits of the number of thresholds

    def divide(indices, low, high, level):
        if not indices:
            return
        if level == last:
            found.update(dict.fromkeys(indices, level))
            return
        middle = Fraction(low + high, 2)
        nearest = min(indices, key=lambda i: (abs(below[i] - middle), i))
        found[nearest] = level
        divide([i for i in indices if i < nearest], low, below[nearest], level + 1)
        divide([i for i in indices if i > nearest], below[nearest], high, level + 1)

    divide(list(range(len(below))), 0, total, 0)
    return [found[i] for i in range(len(below))]


sizes = st.lists(st.integers(1, 3) | st.sampled_from([1, 50, 10**6]), min_size=2, max_size=60)


@examples(100)
@given(sizes)
def test_levels_follow_the_definition(groups):
    """``groups``: how many rows each distinct value has."""
    below = np.cumsum(groups)[:-1]
    assert levels(below, sum(groups)).tolist() == by_definition(below.tolist(), sum(groups))


@examples(60)
@given(sizes)
def test_there_are_few_levels_and_each_has_a_threshold(groups):
    below = np.cumsum(groups)[:-1]
    found = levels(below, sum(groups))
    used = sorted(set(found.tolist()))
    assert used == list(range(len(used)))
    assert len(used) <= most_levels(len(below))
    for level in used[:-1]:
        assert np.count_nonzero(found == level) <= 2**level


@pytest.mark.parametrize("n", [1, 2, 3, 7, 15, 16, 100, 1000])
def test_even_rows_take_as_many_levels_as_bits(n):
    found = levels(np.arange(1, n + 1), n + 1)
    assert found.max() + 1 == n.bit_length()
    assert np.bincount(found)[:-1].tolist() == [2**level for level in range(n.bit_length() - 1)]


def test_ties_do_not_make_a_level_per_threshold():
    """Each value has half of the rows above it: every bisection is as uneven as can be."""
    groups = [2**k for k in reversed(range(40))] + [1]
    found = levels(np.cumsum(groups)[:-1], sum(groups))
    assert found.tolist() == [0, 1, 2, 3, 4, 5] + [6] * 34
    assert most_levels(40) == 7


def test_the_levels_of_a_table():
    frame = pd.DataFrame(
        {
            "age": [1, 2, 3, 4, 5, 6, 7, 8],
            "size": pd.Categorical(list("aabbccdd"), list("abcd"), ordered=True),
            "colour": ["red", "blue"] * 4,
        }
    )
    age, size, colour = BinaryEncoder().fit(frame).schema_
    assert age.levels == (2, 1, 2, 0, 2, 1, 2)
    assert size.levels == (1, 0, 1)
    assert colour.levels == ()


def test_missing_values_do_not_move_the_median():
    X = np.array([[1.0], [2.0], [3.0], [4.0], *[[np.nan]] * 20])
    (column,) = BinaryEncoder().fit(X).schema_
    assert column.thresholds == (1.5, 2.5, 3.5)
    assert column.levels == (1, 0, 1)


def test_rows_count_with_their_weights():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    (column,) = BinaryEncoder().fit(X, sample_weight=[1, 1, 1, 9]).schema_
    assert column.levels == (1, 2, 0)
    (repeated,) = BinaryEncoder().fit(np.repeat(X, [1, 1, 1, 9], axis=0)).schema_
    assert repeated.levels == column.levels


def test_levels_are_among_the_thresholds_that_are_chosen():
    X, y = np.arange(64)[:, np.newaxis] + 0.25, np.arange(64) // 16
    (column,) = BinaryEncoder().fit(X, y).schema_
    assert column.thresholds == (15.75, 31.75, 47.75)
    assert column.levels == (1, 0, 1)
    (few,) = BinaryEncoder(max_thresholds=3).fit(X).schema_
    assert few.thresholds == column.thresholds
    assert few.levels == column.levels
