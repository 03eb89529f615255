"""Kinds of columns: which tests they get, and what is said about them."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import (
    BinaryEncoder,
    IdentifierWarning,
    MAPTreeClassifier,
    MCMCTreeClassifier,
)
from problems import examples
from random_tables import SIZES, as_objects, tables
from samples import classifier, sampler

UTC = dt.UTC


def names(X, y=None, **params):
    return BinaryEncoder(**params).fit(X, y).get_feature_names_out().tolist()


def test_two_values_give_one_test():
    assert names([["no"], ["yes"], ["no"]]) == ["x0 = yes"]
    assert names([[3], [7], [3]]) == ["x0 <= 5"]
    assert names([[0, 2], [1, 3]]) == ["x0 = 1", "x1 <= 2.5"]
    assert names([["a"], [None], ["a"]]) == ["x0 is missing"]
    assert names([["no"], ["yes"], [None]]) == ["x0 = yes", "x0 is missing"]
    assert names(pd.DataFrame({"b": [True, False, None]})) == ["b = True", "b is missing"]


def test_ordered_categories_are_cut_by_their_order():
    sizes = ["small", "medium", "very large", "small"]
    frame = pd.DataFrame({"size": pd.Categorical(sizes, SIZES, ordered=True)})
    encoder = BinaryEncoder().fit(frame)
    # Nothing large was seen: the threshold is halfway.
    assert encoder.get_feature_names_out().tolist() == ["size = small", "size <= large"]
    assert encoder.transform(frame).tolist() == [[1, 1], [0, 1], [0, 0], [1, 1]]
    words = encoder.words()
    assert words.condition([(0, False)]) == "size > small"
    assert words.condition([(0, False), (1, True)]) == "small < size <= large"
    for other in (
        pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(SIZES))}),
        pl.DataFrame({"size": sizes}),
        pa.table({"size": pa.array(sizes).dictionary_encode()}),
        pd.DataFrame({"size": pd.Categorical(sizes)}),
    ):
        assert encoder.transform(other).tolist() == [[1, 1], [0, 1], [0, 0], [1, 1]]
    # A category that is in no order is neither small nor at most large.
    assert encoder.transform(pd.DataFrame({"size": ["tiny", "small"]})).tolist() == [[0, 0], [1, 1]]


def test_categories_keep_their_type():
    frame = pd.DataFrame({"zip": pd.Categorical([10, 20, 30]), "half": pd.Categorical([0.5, 1, 2])})
    encoder = BinaryEncoder().fit(frame)
    assert encoder.schema_[0].categories == (10, 20, 30)
    assert encoder.schema_[1].categories == (0.5, 1.0, 2.0)
    assert encoder.get_feature_names_out().tolist()[:3] == ["zip = 10", "zip = 20", "zip = 30"]
    answers = np.hstack([np.eye(3), np.eye(3)])
    np.testing.assert_array_equal(encoder.transform(frame), answers)
    plain = pd.DataFrame({"zip": [10, 20, 30], "half": [0.5, 1, 2]})  # no longer categorical
    np.testing.assert_array_equal(encoder.transform(plain), answers)
    with pytest.raises(TypeError, match="'zip'"):
        encoder.transform(pd.DataFrame({"zip": [dt.date(2020, 1, 1)], "half": [1]}))


def test_intervals_are_categories_by_their_text():
    frame = pd.DataFrame({"band": pd.cut([1, 5, 9, 2], [0, 3, 6, 10])})
    encoder = BinaryEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ['band = "(0, 3]"', 'band <= "(3, 6]"']
    assert encoder.transform(frame).tolist() == [[1, 1], [0, 1], [0, 0], [1, 1]]


def test_the_most_frequent_categories_get_tests():
    column = ["a"] * 3 + ["b"] * 2 + ["c"] * 2 + ["d"] * 2 + ["e"]
    X = [[value] for value in column]
    assert names(X, max_categories=3) == ["x0 = a", "x0 = b", "x0 = c"]
    assert names(X[::-1], max_categories=3) == ["x0 = a", "x0 = b", "x0 = c"]
    assert names(X, max_categories=1) == ["x0 = a"]
    encoder = BinaryEncoder(max_categories=3).fit(X)
    assert "3 most frequent of 5 categories" in encoder.schema_[0].note
    assert encoder.transform([["e"]]).tolist() == [[0, 0, 0]]
    weights = [1] * 9 + [10]
    weighted = BinaryEncoder(max_categories=1).fit(X, sample_weight=weights)
    assert weighted.schema_[0].categories == ("e",)


def test_identifiers_get_no_test_and_a_warning():
    frame = pd.DataFrame({"name": [f"person {i}" for i in range(40)], "age": np.arange(40) % 7})
    with pytest.warns(IdentifierWarning, match="'name': 40 different values in 40 rows"):
        encoder = BinaryEncoder().fit(frame)
    assert encoder.schema_[0].kind == "identifier"
    assert encoder.test_columns_.tolist() == [1] * 6
    assert "like an identifier" in encoder.report()
    # Any type will do for it in transform.
    assert encoder.transform(frame.assign(name=1)).shape == (40, 6)
    with pytest.warns(IdentifierWarning, match="'name'") as caught:
        model = classifier().fit(frame, frame["age"] > 3)
    assert caught[0].filename == __file__
    assert model.score(frame, frame["age"] > 3) == 1
    with pytest.warns(IdentifierWarning) as caught:
        sampler(MCMCTreeClassifier).fit(frame, frame["age"] > 3)
    assert caught[0].filename == __file__
    frame.loc[3, "name"] = None
    with pytest.warns(IdentifierWarning, match="only a test for missing values"):
        assert names(frame)[0] == "name is missing"


def test_whole_numbers_that_all_differ_are_pointed_out():
    mixed = np.random.default_rng(0).permutation(100)[:, np.newaxis] * 3 + 7
    encoder = BinaryEncoder().fit(mixed)
    assert "drop it if it is an identifier" in encoder.schema_[0].note
    assert len(encoder.test_columns_) == 32


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "Int64", "text"])
def test_whole_numbers_that_rise_or_fall_with_the_rows_are_warned_of(dtype):
    numbers = np.arange(1, 101)
    columns = {"id": numbers, "left": 200 - 2 * numbers, "year": numbers // 2}
    if dtype == "text":
        frame = pd.DataFrame(
            {name: [f"${n:,}" for n in column] for name, column in columns.items()}
        )
    else:
        frame = pd.DataFrame(columns).astype(dtype)
    frame["half"] = numbers / 2
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(numbers, "D")
    for estimator in (BinaryEncoder(), classifier(), sampler(MCMCTreeClassifier)):
        with pytest.warns(IdentifierWarning) as caught:
            estimator.fit(frame, numbers > 50)
        assert caught[0].filename == __file__
        assert str(caught[0].message) == (
            "'id': whole numbers that all differ and rise with the rows, like an identifier: drop "
            "the column if it only numbers them; 'left': whole numbers that all differ and fall "
            "with the rows, like an identifier: drop the column if it only numbers them."
        )
    # Missing values and other orders; few rows may be sorted by chance.
    frame.loc[7, ["id", "left"]] = None
    with pytest.warns(IdentifierWarning, match="'id'.*'left'"):
        encoder = BinaryEncoder().fit(frame)
    assert all(column.tests for column in encoder.schema_)
    BinaryEncoder().fit(frame.sample(frac=1, random_state=1))
    BinaryEncoder().fit(frame[:19])


@examples(20)
@given(tables(max_rows=15), st.data())
@pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")
def test_weights_are_repetitions(drawn, data):
    (rows,) = drawn
    frame = as_objects(rows)
    exactly = {"min_size": len(rows), "max_size": len(rows)}
    weights = data.draw(st.lists(st.integers(0, 3), **exactly).filter(any))
    y = np.array(data.draw(st.lists(st.integers(0, 2), **exactly)))
    limits = {"max_thresholds": 4, "max_categories": 3}
    weighted = BinaryEncoder(**limits).fit(frame, y, sample_weight=weights)
    repeated = BinaryEncoder(**limits).fit(
        frame.loc[np.repeat(frame.index, weights)], np.repeat(y, weights)
    )
    if weighted.passthrough_ == repeated.passthrough_:
        for mine, other in zip(weighted.schema_, repeated.schema_, strict=True):
            assert (mine.kind, mine.thresholds, mine.categories, mine.has_missing) == (
                (other.kind, other.thresholds, other.categories, other.has_missing)
            )


def test_report():
    frame = pd.DataFrame(
        {
            "age": [20.0, None, 60.0, 70.0],
            "planet": ["earth"] * 4,
            "nothing": [None] * 4,
            "number": ["1", "2", "3", "1"],
            "answer": ["yes", "no", "yes", "no"],
            "a long name that does not fit into a narrow table": [1, 2, 3, 4],
        }
    )
    report = BinaryEncoder().fit(frame).report()
    lines = report.splitlines()
    assert lines[0].split() == ["Column", "Kind", "Tests", "Note"]
    assert lines[1].split()[:3] == ["age", "number", "3"]
    assert "some values are missing" in lines[1]
    assert "every value is earth: no test" in lines[2]
    assert "every value is missing: no test" in lines[3]
    assert "text that reads as numbers" in lines[4]
    assert "the other value is no" in report
    assert max(map(len, lines)) < 80
    kinds = [column.kind for column in BinaryEncoder().fit(frame).schema_]
    assert kinds == ["number", "constant", "constant", "category", "category", "number"]


def test_text_that_reads_as_numbers_is_pointed_out():
    """A single ? in a file makes a column of numbers one of text, and its values categories."""
    numbers = [f"{i / 8}" for i in range(30)]
    frame = pd.DataFrame(
        {
            "few": ["1", "2", "?", "3", "2"] * 6,
            "many": ["?", *numbers[1:]],
            "words": ["1", "n/a", "?"] * 10,
            "two": ["1", "?"] * 15,
        }
    )
    with pytest.warns(IdentifierWarning, match=r"many.*reads as numbers except \?: convert it"):
        notes = [column.note for column in BinaryEncoder().fit(frame).schema_]
    assert "reads as numbers except ?: convert it to get thresholds, and ? if it means" in notes[0]
    assert notes[2:] == ["", "the other value is 1"]


def test_dates_are_compared_by_day_and_datetimes_by_time():
    days = pd.to_datetime(["2021-03-01", "2021-03-05", "2021-03-09"])
    encoder = BinaryEncoder().fit(pd.DataFrame({"joined": days}))
    assert encoder.schema_[0].kind == "date"
    assert encoder.get_feature_names_out().tolist() == [
        "joined <= 2021-03-03",
        "joined <= 2021-03-07",
    ]
    late = pd.DataFrame({"joined": pd.to_datetime(["2021-03-03 23:59:59", "2021-03-04 00:00:00"])})
    assert encoder.transform(late).tolist() == [[1, 1], [0, 1]]
    for unit in ("s", "ms", "us", "ns"):
        same = pd.DataFrame({"joined": late["joined"].astype(f"datetime64[{unit}]")})
        assert encoder.transform(same).tolist() == [[1, 1], [0, 1]]
    times = BinaryEncoder().fit(late)
    assert times.schema_[0].kind == "datetime"
    dates = pl.DataFrame({"joined": [dt.date(2021, 3, 3), dt.date(2021, 3, 4)]})
    assert times.transform(dates).tolist() == [[1], [0]]
    arrays = np.array(["2021-03-01", "2021-03-09"], dtype="M8[D]")[:, np.newaxis]
    assert names(arrays) == ["x0 <= 2021-03-05"]
    assert names(arrays.astype("M8[M]").astype("M8[D]") + np.array([[0], [31]])) == [
        "x0 <= 2021-03-16"
    ]
    assert names(np.array([["2020"], ["2022"]], dtype="M8[Y]")) == ["x0 <= 2020-12-31"]
    assert names(np.array([[0], [4]], dtype="M8[2D]")) == ["x0 <= 1970-01-05"]
    assert names(np.array([[0], [24]], dtype="M8[7h]")) == ["x0 <= 1970-01-04 12:00"]
    assert names(np.array([[0], [2]], dtype="m8[W]")) == ["x0 <= 7 d 00:00:00"]


@pytest.mark.parametrize("dtype", ["M8[D]", "M8[us]", "m8[s]"])
def test_times_in_the_other_byte_order(dtype):
    X = np.arange(-3, 6).astype(dtype)[:, np.newaxis]
    swapped = X.astype(X.dtype.newbyteorder())
    encoder = BinaryEncoder().fit(X)
    assert BinaryEncoder().fit(swapped).schema_[0].thresholds == encoder.schema_[0].thresholds
    np.testing.assert_array_equal(encoder.transform(swapped), encoder.transform(X))


def test_time_zones():
    berlin = pd.to_datetime(["2021-07-01 00:00", "2021-07-03 00:00"]).tz_localize("Europe/Berlin")
    frame = pd.DataFrame({"seen": berlin})
    encoder = BinaryEncoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["seen <= 2021-07-02 00:00+02:00"]
    elsewhere = pd.DataFrame({"seen": berlin.tz_convert("Asia/Tokyo")})
    for other in (frame, elsewhere, pl.from_pandas(elsewhere), pa.Table.from_pandas(elsewhere)):
        assert encoder.transform(other).tolist() == [[1], [0]]
    objects = pd.DataFrame({"seen": pd.Series(list(elsewhere["seen"]), dtype=object)})
    assert encoder.transform(objects).tolist() == [[1], [0]]
    with pytest.raises(TypeError, match=r"no time zone in column 'seen'.*a time zone when fitted"):
        encoder.transform(pd.DataFrame({"seen": berlin.tz_localize(None)}))
    with pytest.raises(TypeError, match=r"a time zone in column 'seen'.*no time zone when fitted"):
        BinaryEncoder().fit(pd.DataFrame({"seen": berlin.tz_localize(None)})).transform(frame)


def test_far_away_and_fine_times():
    far = np.array([["0001-01-01T00:00:01"], ["9999-12-31T00:00:01"]], dtype="M8[s]")
    assert names(far) == ["x0 <= 5000-07-02 00:00"]
    assert BinaryEncoder().fit_transform(far.astype("M8[us]")).tolist() == [[1], [0]]
    objects = far.astype(object)
    assert BinaryEncoder().fit(far).transform(objects).tolist() == [[1], [0]]
    fine = pa.table({"t": pa.array([1, 2, 3], pa.time64("ns"))})
    assert BinaryEncoder().fit_transform(fine).tolist() == [[1, 1], [0, 1], [0, 0]]
    assert BinaryEncoder().fit_transform(pl.from_arrow(fine)).tolist() == [[1, 1], [0, 1], [0, 0]]
    stamps = pd.DataFrame({"t": pd.Series(pd.to_datetime([1, 2, 3], unit="ns"), dtype=object)})
    assert BinaryEncoder().fit_transform(stamps).tolist() == [[1, 1], [0, 1], [0, 0]]


def test_names_that_are_no_text():
    X = pd.DataFrame({0: [1.5, 2.5, 3.5], 1: ["a", "b", "c"]})
    encoder = BinaryEncoder().fit(X)
    assert not hasattr(encoder, "feature_names_in_")
    assert encoder.get_feature_names_out().tolist()[:3] == ["x0 <= 2", "x0 <= 3", "x1 = a"]


def test_names_of_several_levels_are_joined():
    X = pd.DataFrame([[1.5, "a"], [2.5, "b"], [3.5, "c"]])
    X.columns = pd.MultiIndex.from_tuples([("price", 2021), ("shop", "")])
    encoder = BinaryEncoder().fit(X)
    assert encoder.feature_names_in_.tolist() == ["price / 2021", "shop"]
    assert names(X)[:3] == ["price / 2021 <= 2", "price / 2021 <= 3", "shop = a"]
    assert (
        encoder.transform(X).tolist()
        == encoder.transform(X.set_axis(["price / 2021", "shop"], axis=1)).tolist()
    )
    with pytest.raises(ValueError, match="order"):
        encoder.transform(X[X.columns[::-1]])
    numbers = pd.DataFrame(
        [[1, 2], [3, 4]], columns=pd.MultiIndex.from_product([["a"], ["x", "y"]])
    )
    assert names(numbers) == ["a / x <= 2", "a / y <= 3"]
    numbers.columns = pd.MultiIndex.from_tuples([("a", "b / c"), ("a / b", "c")])
    with pytest.raises(ValueError, match="Two columns of X have the same name"):
        names(numbers)


def test_a_frame_of_0_and_1_passes_untouched():
    columns = {"a": [0, 1, 1], "b": [1.0, 0.0, 0.0], "c": [True, True, True], "d": [0, 0, 0]}
    for X in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        encoder = BinaryEncoder().fit(X)
        assert encoder.passthrough_
        assert encoder.get_feature_names_out().tolist() == list("abcd")
        expected = np.column_stack([np.array(v, dtype=np.uint8) for v in columns.values()])
        np.testing.assert_array_equal(encoder.transform(X), expected)
        packed = encoder.transform_packed(X)
        np.testing.assert_array_equal(np.unpackbits(packed, 1, 3, "little").T, expected)
        for how in ("auto", None):
            model = classifier(encoder=how).fit(X, ["n", "y", "y"])
            matrix = classifier(encoder=None).fit(expected, ["n", "y", "y"])
            assert model.tree_ == matrix.tree_
            np.testing.assert_array_equal(model.predict(X), matrix.predict(expected))
            assert len(model.rules()) == len(matrix.rules())
        # One value that is neither: constant columns lose their tests.
        more = X.assign(e=["u", "v", "v"]) if isinstance(X, pd.DataFrame) else None
        if more is not None:
            assert names(more) == ["a = 1", "b = 1", "e = v"]


def test_0_1_columns_of_text_in_predict():
    model = MAPTreeClassifier().fit(pd.DataFrame({"a": [0, 1]}), [0, 1])
    with pytest.raises(TypeError, match=r"column 'a', 'yes' at row 0, but it held 0 and 1"):
        model.predict(pd.DataFrame({"a": ["yes", "no"]}))
    with pytest.raises(ValueError, match="X has 7 at row 1, column 'a'"):
        model.predict(pl.DataFrame({"a": [0, 7]}))
