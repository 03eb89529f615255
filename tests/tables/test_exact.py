"""Comparisons are exact: of columns of one type with thresholds of another, and of times."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import BinaryEncoder
from maptree.schema.placing import day_threshold, exact_threshold, time_threshold
from maptree.tables.clock import (
    DAY,
    date_text,
    datetime_text,
    duration_text,
    iso_duration,
    read_date,
    read_datetime,
    read_duration,
    read_time,
    time_text,
)
from maptree.tables.exact import exactly, floor_to
from problems import examples

TYPES = [np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float32, np.float64]
numbers = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(2**70), 2**70),
    st.integers(2**53 - 3, 2**53 + 3),
    st.integers(2**63 - 3, 2**63 + 3),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-300, max_value=300),
    st.sampled_from([float(np.float32(0.1)), 0.1, 2.0**1023, 127.5, 1e38, 3.5e38, -3.5e38]),
)


def exact(value):
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, float) and math.isinf(value) else Fraction(value)


@st.composite
def values_of_a_type(draw):
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    near = draw(numbers)
    if dtype.kind == "f":
        width = 8 * dtype.itemsize
        some = draw(st.lists(st.floats(allow_nan=False, width=width), min_size=1, max_size=5))
        with np.errstate(over="ignore"):
            base = np.clip(float(near), -1e308, 1e308).astype(dtype)
        some += [base, np.nextafter(base, dtype.type(9e9)), np.nextafter(base, dtype.type(-9e9))]
    else:
        limits = np.iinfo(dtype)
        some = draw(st.lists(st.integers(limits.min, limits.max), min_size=1, max_size=5))
        whole = 0 if math.isinf(near) else int(near)
        some += [min(max(whole + step, limits.min), limits.max) for step in (-1, 0, 1)]
    return np.array(some, dtype=dtype), near


@examples(80)
@given(values_of_a_type(), st.sampled_from([1, 100, Fraction(1, 1000)]))
def test_bounds_answer_as_the_numbers_themselves(drawn, per_unit):
    column, threshold = drawn
    per_unit = Fraction(per_unit)
    bound = floor_to(column.dtype, threshold, per_unit)
    answers = np.zeros(len(column), bool) if bound is None else column <= bound
    less = threshold == math.inf
    expected = [
        exact(value) < math.inf
        if less
        else exact(value)
        <= (threshold if math.isinf(threshold) else Fraction(threshold) * per_unit)
        for value in column
    ]
    assert answers.tolist() == expected
    same = exactly(column.dtype, threshold, per_unit)
    answers = np.zeros(len(column), bool) if same is None else column == same
    scaled = threshold if math.isinf(threshold) else Fraction(threshold) * per_unit
    assert answers.tolist() == [exact(value) == scaled for value in column]


whole = st.integers(-(10**40), 10**40) | st.integers(2**60, 2**60 + 3)
decimals = st.decimals(-1000, 1000, places=4)


@examples(60)
@given(
    st.tuples(whole, whole) | st.tuples(decimals, decimals) | st.tuples(st.floats(-1e9, 1e9), whole)
)
def test_exact_cuts_part_their_values(pair):
    low, high = sorted(pair)
    if low == high:
        return
    threshold = exact_threshold(low, high)
    assert low <= threshold < high
    gap, middle = Fraction(high) - Fraction(low), (Fraction(low) + Fraction(high)) / 2
    if not (isinstance(low, int) and isinstance(high, int) and gap < 100):
        assert abs(Fraction(threshold) - middle) <= gap / 100


def test_exact_cuts_beside_infinities():
    infinity = math.inf
    assert exact_threshold(-infinity, infinity) == 0
    assert exact_threshold(-infinity, Decimal(1)) == -infinity
    assert exact_threshold(10**30, infinity) == infinity  # that is: less than infinity


@examples(40)
@given(st.integers(-(2**62), 2**62), st.integers(1, 2**62))
def test_cuts_of_times(low, gap):
    assert low <= time_threshold(low, low + gap) < low + gap
    assert low <= day_threshold(low, low + gap) < low + gap


# Types that change between fit and transform

INTS = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1]


@pytest.mark.parametrize(
    "column",
    [
        np.array(INTS),
        np.array(INTS, dtype=np.uint64),
        np.array(INTS, dtype=object),
        [Decimal(value) for value in INTS],
        pd.array(INTS, "Int64"),
        pl.Series(INTS),
        pl.Series(INTS, dtype=pl.Int128),
        pl.Series([Decimal(value) for value in INTS]),
        pa.array(INTS),
        pa.array([Decimal(value) for value in INTS]),
        pa.array([Decimal(value) for value in INTS], pa.decimal256(60, 2)),
    ],
    ids=lambda column: str(getattr(column, "dtype", getattr(column, "type", "list"))),
)
def test_whole_numbers_that_floats_cannot_tell_apart(column):
    table = {"x": column}
    if isinstance(column, pl.Series):
        X = pl.DataFrame(table)
    elif isinstance(column, pa.Array):
        X = pa.table(table)
    else:
        X = pd.DataFrame(table)
    encoder = BinaryEncoder().fit(X)
    triangle = [[int(i <= j) for j in range(4)] for i in range(5)]
    assert encoder.transform(X).tolist() == triangle
    for other in (pd.DataFrame({"x": INTS}), pl.DataFrame({"x": INTS}), pa.table({"x": INTS})):
        assert encoder.transform(other).tolist() == triangle
    # The floats nearest to them: 2**53 + 1 becomes 2**53, and 2**63 - 1 becomes 2**63.
    floats = pd.DataFrame({"x": np.array(INTS, dtype=np.float64)})
    assert encoder.transform(floats).tolist() == [triangle[i] for i in (0, 1, 1, 3, 4)]
    again = BinaryEncoder.from_dict(encoder.to_dict())
    assert again.transform(X).tolist() == triangle


def test_decimals_are_cut_and_compared_as_decimals():
    prices = [Decimal("0.10"), Decimal("0.15"), Decimal("0.20"), None]
    X = pa.table({"price": prices})
    encoder = BinaryEncoder().fit(X)
    assert encoder.get_feature_names_out().tolist() == [
        "price <= 0.125",
        "price <= 0.175",
        "price is missing",
    ]
    expected = [[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 1]]
    for other in (
        X,
        pl.DataFrame({"price": prices}),
        pd.DataFrame({"price": prices}),
        pa.table({"price": pa.array(prices, pa.decimal256(50, 3))}),
    ):
        assert encoder.transform(other).tolist() == expected
    # 0.125 is a float, the float nearest to 0.175 is below it, its successor above.
    edge = [0.125, np.nextafter(0.125, 1), 0.175, np.nextafter(0.175, 1)]
    assert encoder.transform(pd.DataFrame({"price": edge})).tolist() == [
        [1, 1, 0],
        [0, 1, 0],
        [0, 1, 0],
        [0, 0, 0],
    ]


def test_float32_against_thresholds_of_float64():
    column = np.array([0.1, 0.2, 0.3])
    encoder = BinaryEncoder().fit(column[:, np.newaxis])
    for threshold in encoder.test_thresholds_:
        near = np.float32(threshold)
        edge = np.array(
            [np.nextafter(near, np.float32(0)), near, np.nextafter(near, np.float32(1))]
        )
        wide = edge.astype(np.float64)[:, np.newaxis]
        np.testing.assert_array_equal(
            encoder.transform(edge[:, np.newaxis]), encoder.transform(wide)
        )


# Text of dates and times


@examples(40)
@given(st.integers(-(10**13), 10**13), st.integers(0, DAY - 1))
def test_dates_and_times_read_back(days, nanoseconds):
    assert read_date(date_text(days)) == days
    assert read_time(time_text(nanoseconds)) == nanoseconds
    point = days * DAY + nanoseconds
    for separator in " T":
        assert read_datetime(datetime_text(point, None, separator)) == point
    assert read_duration(iso_duration(point)) == point


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        (None, "2021-07-04 12:00"),
        ("UTC", "2021-07-04 12:00+00:00"),
        ("Europe/Berlin", "2021-07-04 14:00+02:00"),
        ("America/New_York", "2021-07-04 08:00-04:00"),
        ("+05:30", "2021-07-04 17:30+05:30"),
        ("UTC-03:00", "2021-07-04 09:00-03:00"),
        ("no such zone", "2021-07-04 12:00+00:00"),
        ("../../etc/passwd", "2021-07-04 12:00+00:00"),
    ],
)
def test_datetimes_say_their_offset(zone, text):
    assert datetime_text(read_datetime("2021-07-04T12:00"), zone) == text


def test_durations_in_words():
    assert duration_text(0) == "00:00:00"
    assert duration_text(-(3 * DAY + 10**6)) == "-3 d 00:00:00.001"


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_date, "2021-3-4"),
        (read_date, "2021-02-30"),
        (read_date, "today"),
        (read_time, "24:00"),
        (read_time, "12:60"),
        (read_time, "noon"),
        (read_datetime, "2021-03-04"),
        (read_datetime, "2021-03-04T12"),
        (read_duration, "P1D"),
        (read_duration, "PTS"),
    ],
)
def test_text_that_is_no_time(read, text):
    with pytest.raises(ValueError, match=r"\d|is no"):
        read(text)
