"""Reading y as numbers and counts, exposures, and both in units of their table."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import measured_oracle
from maptree.tables.numbers import are_fractions, read_counts, read_exposure, read_numbers
from maptree.tables.standard_units import exposure_units, standardise
from problems import examples

# Reading


@pytest.mark.parametrize(
    "y",
    [
        [1, 2.5, -3],
        (1, 2.5, -3),
        np.array([1, 2.5, -3], dtype=np.float32),
        np.array([1, 2.5, -3], dtype=np.longdouble),
        np.array([1, 2.5, -3], dtype=object),
        [Decimal(1), Decimal("2.5"), Decimal(-3)],
        [1, Fraction(5, 2), np.int8(-3)],
        pd.Series([1, 2.5, -3], index=[7, 8, 9]),
        pd.Series([1, 2.5, -3], dtype="Float64"),
        pd.Series([1, 2.5, -3], dtype="double[pyarrow]"),
        pd.Series([1, 2.5, -3], dtype="category"),
        pl.Series([1.0, 2.5, -3.0]),
        pa.chunked_array([[1, 2.5], [-3.0]]),
    ],
    ids=lambda y: f"{type(y).__module__}.{type(y).__name__}",
)
def test_numbers_of_all_kinds(y):
    found = read_numbers(y, 3)
    assert found.dtype == np.float64
    assert found.tolist() == [1, 2.5, -3]


def test_whole_numbers_of_all_types():
    for dtype in ("i1", "u1", "i8", "u8", ">i4"):
        assert read_numbers(np.array([1, 2], dtype=dtype), 2).tolist() == [1, 2]
    assert read_numbers([10**300, 1], 2)[0] == 1e300
    assert not np.signbit(read_numbers([-0.0], 1)[0])


MISSING = [
    [1.0, np.nan],
    [1.0, None],
    [1, Decimal("NaN")],
    np.ma.masked_array([1.0, 2.0], [False, True]),
    pd.Series([1, None], dtype="Int64"),
    pl.Series([1, None]),
    pa.array([1, None]),
]


@pytest.mark.parametrize("y", MISSING, ids=lambda y: type(y).__name__)
def test_missing_numbers_are_refused_with_their_row(y):
    with pytest.raises(ValueError, match=r"y has a missing number at row 1: drop the row"):
        read_numbers(y, 2)


@pytest.mark.parametrize(
    ("y", "error", "words"),
    [
        (["740", "800"], TypeError, r"y has '740' at row 0, which is text: convert it to numbers"),
        ([740, "800"], TypeError, r"y has '800' at row 1, which is text"),
        (np.array(["a", "b"]), TypeError, r"if they are classes, use MAPTreeClassifier"),
        (pd.Series(["a", "b"]), TypeError, "which is text"),
        ([True, False], TypeError, r"y has True at row 0, a truth value.*use MAPTreeClassifier"),
        ([1, False], TypeError, "y has False at row 1, a truth value"),
        (np.array([1, 0], dtype=bool), TypeError, "a truth value"),
        (pd.Series([True, False], dtype="boolean"), TypeError, "a truth value"),
        (np.array(["2020-01-01"] * 2, "M8[D]"), TypeError, "of type datetime64: pass numbers"),
        ([1, [2]], ValueError, "sequences of different lengths"),
        ([1, {}], TypeError, "y has {} at row 1, of type dict"),
        ([1, 1j], ValueError, "Complex data not supported"),
        ([1, np.inf], ValueError, "y has inf at row 1, which is infinite"),
        ([-(10**400), 1], ValueError, "y has -inf at row 0, which is infinite or too large"),
        ([Decimal("1e400"), 1], ValueError, "y has inf at row 0"),
        ([1, 1.7e308], ValueError, r"y has 1.7e\+308 at row 1, which is too large"),
        ([1], ValueError, "X has 2 rows but y has 1 numbers: pass one number per row"),
        (None, ValueError, "The regressor requires y to be passed, but the target y is None"),
        (3, ValueError, "got the single value 3"),
        ([[1, 2], [3, 4]], ValueError, "several outputs are not supported"),
    ],
)
def test_what_is_no_number_is_refused(y, error, words):
    with pytest.raises(error, match=words):
        read_numbers(y, 2)


def test_no_rows():
    with pytest.raises(ValueError, match="y is empty"):
        read_numbers([], 0)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, -1], 'y has -1 at row 1, but likelihood="poisson" is for counts.*likelihood="normal'),
        ([0, 1.5], "y has 1.5 at row 1.*If they are rates, pass the counts"),
        ([0, 1e16], r"y has 1e\+16 at row 1, which is more than the 33,554,432 events"),
        ([0, np.nan], "a missing number at row 1"),
    ],
)
def test_what_is_no_count_is_refused(y, words):
    with pytest.raises(ValueError, match=words):
        read_counts(y, 2)


def test_counts():
    found = read_counts([0.0, Decimal(3)], 2)
    assert found.dtype == np.int64
    assert found.tolist() == [0, 3]


@pytest.mark.parametrize(
    ("exposure", "words"),
    [
        ([1, 0], "exposure has 0 at row 1: pass numbers above 0"),
        ([-0.5, 1], "exposure has -0.5 at row 0"),
        ([1, None], "exposure has a missing number at row 1"),
        ([1, np.inf], "exposure has inf at row 1"),
        ([1], "X has 2 rows but exposure has 1 numbers"),
        (0, "exposure has 0 at row 0"),
    ],
)
def test_what_is_no_exposure_is_refused(exposure, words):
    with pytest.raises(ValueError, match=words):
        read_exposure(exposure, 2)


def test_text_is_no_exposure():
    with pytest.raises(TypeError, match=r"exposure has '1' at row 0, which is text"):
        read_exposure(["1", "2"], 2)


def test_fractions_are_no_labels():
    assert are_fractions([0.5, 1.0])
    assert are_fractions(pd.Series([0.5, np.nan]))
    for labels in ([1.0, 2.0], [1, 2], ["0.5"], [np.nan, 1.0], [[1], [1, 2]]):
        assert not are_fractions(labels)


# Units of the table

numbers = st.lists(
    st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda v: round(v, 3)), min_size=2, max_size=12
)


@examples(60)
@given(numbers, st.data())
def test_steps_are_those_of_exact_arithmetic(y, data):
    weights = data.draw(
        st.one_of(st.none(), st.lists(st.integers(0, 4), min_size=len(y), max_size=len(y)))
    )
    if weights is not None and not any(weights):
        weights[0] = 1
    found = standardise(np.array(y), None if weights is None else np.array(weights))
    assert found.z.tolist() == measured_oracle.steps(y, weights)


@pytest.mark.parametrize("factor", [100, 0.01, -1, -0.3, 1e290, 1e-290, 1e-300, 3.7, 2.0**-900])
def test_the_unit_does_not_matter(factor):
    rng = np.random.default_rng(0)
    for y in (
        rng.normal(size=200) * 50 + 700,
        rng.integers(0, 9, 99).astype(float),
        np.array([0.0, 1.0]),
        np.round(rng.lognormal(5, 1, 300), 2),
    ):
        once, again = standardise(y, None), standardise(y * factor, None)
        assert again.z.tolist() == (np.sign(factor) * once.z).astype(int).tolist()
        assert again.sd == pytest.approx(abs(factor) * once.sd)
        assert again.mean == pytest.approx(factor * once.mean)


def test_neither_does_the_zero_nor_the_order():
    rng = np.random.default_rng(1)
    y = rng.integers(-500, 500, 300) / 8
    found = standardise(y, None)
    for shift in (1, -37.25, 1e6, 2.0**40):
        assert standardise(y + shift, None).z.tolist() == found.z.tolist()
    order = rng.permutation(len(y))
    shuffled = standardise(y[order], None)
    assert shuffled.z.tolist() == found.z[order].tolist()
    assert (shuffled.mean, shuffled.sd) == (found.mean, found.sd)


def test_extreme_magnitudes():
    for y in ([1e300, -1e300, 5e299], [1e-300, 2e-300, 4e-300], [1e300, 1.0, 1e-300]):
        found = standardise(np.array(y), None)
        assert found.z.tolist() == measured_oracle.steps(y)
        assert np.isfinite([found.mean, found.sd]).all()
        assert found.sd > 0
    with pytest.raises(ValueError, match=r"y varies by less than 2e-308.*y \* 1e300"):
        standardise(np.array([0.0, 5e-324]), None)


def test_weights_are_copies_and_rows_of_weight_0_are_not_there():
    y, weights = np.array([1.0, 4.0, 1e300, 9.0]), np.array([2, 1, 0, 3])
    found = standardise(y, weights)
    copies = standardise(np.repeat(y, weights), None)
    assert np.repeat(found.z, weights).tolist() == copies.z.tolist()
    assert found.z[2] == 0
    assert found.sd == pytest.approx(copies.sd)


def test_constant_numbers():
    for y in ([5.0], [5.0, 5.0], [-1e300] * 3):
        found = standardise(np.array(y), None)
        assert (found.mean, found.sd, found.z.any()) == (y[0], 0.0, False)
    assert standardise(np.array([5.0, 7.0]), np.array([3, 0])).sd == 0


def test_one_row_far_from_all_others():
    y = np.zeros(100_000)
    y[17] = 1e-3
    found = standardise(y, None)
    assert found.z[17] == pytest.approx(256 * np.sqrt(len(y) - 1), abs=1)
    assert int((found.z**2).sum()) == pytest.approx(256**2 * len(y), rel=1e-3)


@examples(40)
@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=10))
def test_exposures_are_those_of_exact_arithmetic(given):
    found = exposure_units(np.array(given), None)
    assert found.in_means.tolist() == measured_oracle.exposures(given)
    assert found.mean == pytest.approx(np.mean(given))
    assert found.per_mean == (1 if len(set(given)) == 1 else 65536)


def test_small_exposures_are_one_unit():
    found = exposure_units(np.array([1e-300, 1.0, 1e300]), None)
    assert found.units.tolist() == [1, 1, 3 * 65536]
    assert exposure_units(np.array([2.0, 5.0, 2.0]), np.array([1, 0, 1])).per_mean == 1
