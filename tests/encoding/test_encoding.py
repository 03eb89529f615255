"""Numbers to binary tests."""

from __future__ import annotations

import math
import pickle
import random
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from maptree import BinaryEncoder
from maptree.encoding.ranking import rank
from maptree.encoding.thresholds import choose_gaps
from maptree.schema.placing import float_thresholds
from maptree.tables.labels import _positions
from problems import examples

finite = st.floats(allow_nan=False, allow_infinity=False)
columns = st.lists(
    st.one_of(finite, st.integers(-5, 5).map(float), st.floats(0, 1, width=16)), min_size=1
)


def chosen_thresholds(values, codes, weights, limit):
    gaps = choose_gaps(values, codes, weights, limit)
    return float_thresholds(gaps.low, gaps.high)


def names(encoder):
    return encoder.get_feature_names_out().tolist()


def unpack(packed, n_rows):
    return np.unpackbits(packed, axis=1, count=n_rows, bitorder="little").T


# Thresholds


@examples(100)
@given(columns)
def test_thresholds_part_every_pair_of_neighbouring_values(values):
    column = np.array(values)
    thresholds = chosen_thresholds(column, None, None, limit=10**6)
    distinct = np.unique(column)
    assert len(thresholds) == len(distinct) - 1
    assert (distinct[:-1] <= thresholds).all()
    assert (thresholds < distinct[1:]).all()


@examples(40)
@given(st.lists(st.integers(-1000, 1000), min_size=2, unique=True))
def test_thresholds_of_whole_numbers_are_halfway(values):
    distinct = np.sort(np.array(values, dtype=float))
    thresholds = chosen_thresholds(distinct, None, None, limit=10**6)
    # Within a hundredth of the gap where the middle of a wide gap has more digits than that.
    off = np.abs(thresholds - (distinct[:-1] + distinct[1:]) / 2)
    assert (off <= 0.01 * np.diff(distinct)).all()
    assert (off[np.diff(distinct) < 25] == 0).all()


def test_thresholds_have_few_digits_and_say_what_they_do():
    column = np.array([[0.5488135039273248], [0.5507979025745755]])
    encoder = BinaryEncoder().fit(column)
    assert names(encoder) == ["x0 <= 0.54981"]
    assert encoder.test_thresholds_.tolist() == [0.54981]


@pytest.mark.parametrize("low", [1.0, -1.0, 0.1, 1e300, 5e-324, -5e-324, 0.0, 2.0**53])
def test_adjacent_floats_are_parted(low):
    high = np.nextafter(low, np.inf)
    X = np.array([[low], [high]])
    assert BinaryEncoder().fit_transform(X).tolist() == [[1], [0]]


def test_the_widest_gap_does_not_overflow():
    largest = np.finfo(float).max
    encoder = BinaryEncoder().fit([[-largest], [largest]])
    assert encoder.test_thresholds_.tolist() == [0.0]
    assert encoder.transform([[-largest], [largest]]).tolist() == [[1], [0]]
    assert BinaryEncoder().fit([[1e308], [1.6e308]]).test_thresholds_ == pytest.approx([1.3e308])


def test_float32_and_large_integers():
    low, high = np.float32(0.1), np.nextafter(np.float32(0.1), np.float32(1))
    X = np.array([[low], [high]], dtype=np.float32)
    assert BinaryEncoder().fit_transform(X).tolist() == [[1], [0]]
    X = np.array([[2**62], [2**62 + 1024], [-(2**63)]])
    assert BinaryEncoder().fit_transform(X).tolist() == [[0, 1], [0, 0], [1, 1]]
    # Closer than float64 can tell apart.
    assert BinaryEncoder().fit_transform([[2**62], [2**62 + 1]]).tolist() == [[1], [0]]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float16, np.float32, ">f8"])
def test_types_of_numbers(dtype):
    X = np.array([[3, 7], [100, 7], [50, 8]]).astype(dtype)
    encoder = BinaryEncoder().fit(X)
    assert names(encoder) == ["x0 <= 26.5", "x0 <= 75", "x1 <= 7.5"]
    assert encoder.transform(X).tolist() == [[1, 1, 1], [0, 0, 1], [0, 1, 0]]


# Which thresholds


def test_no_cut_between_values_pure_in_one_class():
    X = np.array([[1], [2], [3], [4], [5], [6.0]])
    assert names(BinaryEncoder().fit(X, list("aaabbb"))) == ["x0 <= 3.5"]
    # A mixed value is not pure, whichever class is in the majority.
    X = np.array([[1], [2], [2], [2], [3], [4.0]])
    assert names(BinaryEncoder().fit(X, list("aaabaa"))) == ["x0 <= 1.5", "x0 <= 2.5"]
    # Pure on both sides, of different classes.
    assert names(BinaryEncoder().fit([[1], [2], [3.0]], list("abc"))) == ["x0 <= 1.5", "x0 <= 2.5"]


@examples(40)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=40),
    st.integers(1, 12),
)
def test_thresholds_against_a_plain_loop(rows, limit):
    values = np.array([float(v) + 2 for v, _ in rows])
    codes = np.array([c for _, c in rows], dtype=np.int32)
    distinct = sorted(set(values))
    useful = []
    for low, high in pairwise(distinct):
        a, b = set(codes[values == low]), set(codes[values == high])
        if not (a == b and len(a) == 1):
            useful.append((low + high) / 2)
    thresholds = chosen_thresholds(values, codes, None, limit)
    assert set(thresholds) <= set(useful)
    assert len(thresholds) == min(limit, len(useful))
    assert (np.diff(thresholds) > 0).all()


def test_too_many_thresholds_are_thinned_by_quantile():
    X = np.random.default_rng(0).permutation(np.arange(3300.0)).reshape(-1, 1)
    thresholds = BinaryEncoder().fit(X).test_thresholds_
    assert np.diff(thresholds, prepend=-0.5, append=3299.5).tolist() == [100.0] * 33
    assert len(BinaryEncoder(max_thresholds=3).fit(X).test_thresholds_) == 3


def test_a_heavy_value_does_not_use_up_the_thresholds():
    for heavy in (-1.0, 1000.0, 500.5):
        X = np.concatenate([np.arange(160.0) * 6, np.full(5000, heavy)]).reshape(-1, 1)
        thresholds = BinaryEncoder(max_thresholds=16).fit(X).test_thresholds_
        assert len(thresholds) == 16
        light = np.arange(160.0) * 6
        groups = np.diff(np.searchsorted(light, thresholds), prepend=0, append=160)
        assert groups.max() <= 12


def test_the_rows_order_does_not_matter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 2)).round(2), rng.integers(0, 3, 300)
    one = BinaryEncoder().fit(X, y)
    order = rng.permutation(300)
    other = BinaryEncoder().fit(X[order], y[order])
    np.testing.assert_array_equal(one.test_thresholds_, other.test_thresholds_)
    np.testing.assert_array_equal(one.test_columns_, other.test_columns_)


@examples(20)
@given(st.integers(0, 2**32))
def test_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 30, size=(60, 2)), rng.integers(0, 3, 60)
    X[0] = [40, 41]  # not 0/1 throughout
    weights = rng.integers(0, 5, 60)
    weights[0] = 1
    weighted = BinaryEncoder(max_thresholds=5).fit(X, y, sample_weight=weights)
    repeated = BinaryEncoder(max_thresholds=5).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_array_equal(weighted.test_thresholds_, repeated.test_thresholds_)
    np.testing.assert_array_equal(weighted.test_columns_, repeated.test_columns_)


# Kinds of columns


def test_a_matrix_of_0_and_1_passes_untouched():
    for dtype in (bool, np.uint8, np.int64, np.float32):
        X = np.array([[0, 1, 1], [1, 1, 0]]).astype(dtype)  # a constant column too
        encoder = BinaryEncoder().fit(X)
        assert encoder.passthrough_
        assert names(encoder) == ["x0", "x1", "x2"]
        np.testing.assert_array_equal(encoder.transform(X), X)


def test_columns_of_a_mixed_matrix():
    X = np.array([[0, 5.0, 3, 7], [1, 5.0, 4, 7], [1, 5.0, 4, 8], [0, 5.0, 3, 9]])
    encoder = BinaryEncoder().fit(X)
    assert names(encoder) == ["x0 = 1", "x2 <= 3.5", "x3 <= 7.5", "x3 <= 8.5"]
    assert encoder.test_columns_.tolist() == [0, 2, 3, 3]
    assert not encoder.passthrough_
    expected = [[0, 1, 1, 1], [1, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 0]]
    assert encoder.transform(X).tolist() == expected


def test_a_new_value_in_a_0_1_column_is_not_1():
    encoder = BinaryEncoder().fit([[0, 5.0], [1, 6.0]])
    assert encoder.transform([[2, 5.0], [0.5, 6.0]])[:, 0].tolist() == [0, 0]


def test_only_constant_columns_give_no_test():
    encoder = BinaryEncoder().fit([[5.0, 3], [5.0, 3]])
    assert encoder.transform([[1.0, 2], [3, 4]]).shape == (2, 0)
    assert encoder.transform_packed([[1.0, 2], [3, 4]]).shape == (0, 1)
    assert names(encoder) == []


def test_names_of_a_data_frame():
    frame = pd.DataFrame({"age": [30, 45, 46], "colour = red": [True, False, True]})
    encoder = BinaryEncoder().fit(frame, [0, 0, 1])
    assert names(encoder) == ["age <= 45.5", "colour = red"]
    assert encoder.feature_names_in_.tolist() == ["age", "colour = red"]
    output = encoder.set_output(transform="pandas").transform(frame)
    assert output.columns.tolist() == ["age <= 45.5", "colour = red"]
    # Names go when an array without them is fitted.
    assert not hasattr(encoder.fit(frame.to_numpy(dtype=float)), "feature_names_in_")


# Packing


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 63, 64, 65, 127, 128, 129])
@pytest.mark.parametrize("binary", [True, False])
def test_packed_is_transform_by_column(n_rows, binary):
    rng = np.random.default_rng(n_rows)
    X = rng.integers(0, 2 if binary else 40, size=(n_rows, 5)).astype(float)
    if not binary:
        X[:, 1] %= 2
        X[0, 0] = 41
    encoder = BinaryEncoder(max_thresholds=20).fit(X)
    packed = encoder.transform_packed(X)
    assert packed.shape == (len(encoder.test_columns_), -(-n_rows // 8))
    np.testing.assert_array_equal(unpack(packed, n_rows), encoder.transform(X))
    # The bits beyond the last row are zero.
    spare = np.unpackbits(packed, axis=1, bitorder="little")[:, n_rows:]
    assert not spare.any()


def test_memory_order_does_not_matter():
    X = np.random.default_rng(1).normal(size=(50, 6)).round(1)
    encoder = BinaryEncoder().fit(X)
    answers = encoder.transform(X)
    for same in (np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[::-1][::-1]):
        np.testing.assert_array_equal(BinaryEncoder().fit(same).transform(same), answers)
        np.testing.assert_array_equal(unpack(encoder.transform_packed(same), 50), answers)


# As a transformer


def test_clone_and_pickle():
    X = np.random.default_rng(2).normal(size=(20, 3))
    encoder = BinaryEncoder(max_thresholds=4).fit(X)
    assert clone(encoder).max_thresholds == 4
    again = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(again.transform(X), encoder.transform(X))
    assert names(again) == names(encoder)


def test_before_fit():
    for method in (BinaryEncoder().transform, BinaryEncoder().transform_packed):
        with pytest.raises(NotFittedError):
            method([[0.0]])


@pytest.mark.parametrize("value", [0, -1, 1.5, "all", True])
def test_max_thresholds_out_of_range(value):
    with pytest.raises((ValueError, TypeError), match=r"max_thresholds=.*or None for all"):
        BinaryEncoder(max_thresholds=value).fit([[1.0], [2.0]])


def test_a_failed_fit_changes_nothing():
    encoder = BinaryEncoder().fit([[1.0], [2.0]])
    before = dict(encoder.__dict__)
    for X, y in (([[1j]], None), ([[1.0, 2.0]], [None]), ([["a"], [1]], None)):
        with pytest.raises((ValueError, TypeError)):
            encoder.fit(X, y)
        assert encoder.__dict__ == before


def test_a_matrix_that_was_0_1_must_stay_so():
    encoder = BinaryEncoder().fit(pd.DataFrame({"a": [0, 1], "b": [1, 0]}))
    for method in (encoder.transform, encoder.transform_packed):
        with pytest.raises(ValueError, match=r"X has 3 at row 1, column 'b'.*0/1"):
            method(pd.DataFrame({"a": [0, 1], "b": [1, 3]}))


SAME_HASH = 2**61 - 1  # numbers that differ by multiples of it


@pytest.mark.parametrize("seed", range(40))
def test_ranks_of_numbers_that_no_array_holds(seed):
    rng = random.Random(seed)
    bases = (2**200, 10**30, 5, -(2**70), Decimal("0.1"))
    pool = [rng.choice(bases) + rng.randrange(4) * rng.choice((1, SAME_HASH)) for _ in range(6)]
    pool += [Decimal(n) for n in pool[:2]] + [Decimal("0.1") + Decimal("1e-25"), math.inf]
    numbers = rng.choices(pool, k=rng.randrange(1, 20))
    distinct, ranks = rank(numbers)
    assert distinct == sorted(set(numbers))
    assert [distinct[k] for k in ranks] == numbers


class Counted(int):
    """A whole number that counts how often it is compared for equality."""

    compared = 0
    __hash__ = int.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return int(self) == int(other)

    def __ne__(self, other):
        return not self == other


@pytest.mark.parametrize("use", ["rank", "score"])
def test_numbers_that_all_have_one_hash_take_no_quadratic_work(use):
    numbers = [Counted(2**200 + i * SAME_HASH) for i in range(500)]
    assert len(set(map(hash, numbers))) == 1
    Counted.compared = 0
    if use == "rank":
        assert rank(numbers)[1].tolist() == list(range(500))
    else:
        classes = np.array(numbers, dtype=object)
        assert _positions(numbers, classes.tolist()) == list(range(500))
    assert 500 <= Counted.compared < 3000
