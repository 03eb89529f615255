"""A fitted encoder as JSON: the round trip is exact, and nonsense is refused with its place."""

from __future__ import annotations

import copy
import datetime as dt
import json
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import BinaryEncoder
from problems import examples
from random_tables import as_objects, tables

pytestmark = pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")


def round_trip(encoder):
    text = json.dumps(encoder.to_dict(), allow_nan=False)
    return BinaryEncoder.from_dict(json.loads(text))


@examples(30)
@given(tables(), st.integers(1, 8))
def test_the_round_trip_is_exact(drawn, most):
    (rows,) = drawn
    frame = as_objects(rows)
    encoder = BinaryEncoder(max_thresholds=most, max_categories=most).fit(frame)
    again = round_trip(encoder)
    assert again.schema_ == encoder.schema_
    assert again.get_params() == encoder.get_params()
    assert again.passthrough_ == encoder.passthrough_
    assert again.feature_names_in_.tolist() == encoder.feature_names_in_.tolist()
    types = [
        [type(value) for value in (*column.thresholds, *column.categories)]
        for column in encoder.schema_
    ]
    assert types == [
        [type(value) for value in (*column.thresholds, *column.categories)]
        for column in again.schema_
    ]
    np.testing.assert_array_equal(again.transform(frame), encoder.transform(frame))
    np.testing.assert_array_equal(again.get_feature_names_out(), encoder.get_feature_names_out())


def test_tables_without_names_and_of_0_and_1():
    encoder = BinaryEncoder(max_thresholds=np.int64(3)).fit(np.array([[0, 1], [1, 1]]))
    again = round_trip(encoder)
    assert again.passthrough_
    assert not hasattr(again, "feature_names_in_")
    assert again.get_feature_names_out().tolist() == ["x0", "x1"]
    assert again.n_features_in_ == 2


GOOD = (
    BinaryEncoder()
    .fit(
        pd.DataFrame(
            {
                "age": [20.0, 40.0, 60.0],
                "colour": ["red", "blue", "green"],
                "size": pd.Categorical(["s", "m", "l"], ["s", "m", "l"], ordered=True),
                "joined": pd.to_datetime(["2021-03-01", "2021-03-05", "2021-03-09"]),
                "member": [True, False, True],
                "seen": pd.to_datetime([1, 3, 5], unit="h", utc=True),
            }
        )
    )
    .to_dict()
)


def test_what_the_json_looks_like():
    assert GOOD["columns"][0] == {
        "name": "age",
        "kind": "number",
        "dtype": "float64",
        "thresholds": [30.0, 50.0],
        "categories": [],
        "missing": False,
        "zone": None,
        "note": "",
        "levels": [0, 1],
    }
    assert GOOD["columns"][1]["categories"] == ["blue", "green", "red"]
    assert GOOD["columns"][2]["thresholds"] == [0, 1]
    assert GOOD["columns"][3]["thresholds"] == ["2021-03-03", "2021-03-07"]
    assert GOOD["columns"][4]["categories"] == [False, True]


def test_a_schema_of_an_earlier_version_has_no_levels():
    values = copy.deepcopy(GOOD)
    del values["columns"][0]["levels"]
    encoder = BinaryEncoder.from_dict(values)
    assert encoder.schema_[0].levels == ()
    assert encoder.to_dict() == values


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((), [], "encoder is .* fields"),
        (("columns",), [], "columns is empty"),
        (("columns",), {}, "columns is .* list"),
        (("columns", 0), 3, r"columns\[0\] is 3"),
        (("columns", 0, "kind"), "colour", r"columns\[0\].kind is 'colour'"),
        (("columns", 0, "kind"), ["x"], r"columns\[0\].kind is .* text"),
        (("columns", 0, "kind"), "category", "thresholds is not empty"),
        (("columns", 0, "name"), 3, r"columns\[0\].name is 3"),
        (("columns", 0, "thresholds"), [50.0, 30.0], "must increase"),
        (("columns", 0, "thresholds"), [30.0, 30.0], "must increase"),
        (("columns", 0, "thresholds"), [True], r"thresholds\[0\]: True is not a number"),
        (("columns", 0, "thresholds"), [float("nan")], "nan is not a number"),
        (("columns", 0, "thresholds"), [1.0, "many"], r"thresholds\[1\]: 'many' is not a number"),
        (("columns", 0, "thresholds"), [{"decimal": "x"}], "is not a number"),
        (("columns", 0, "thresholds"), [{"decimal": "inf"}], "is not a number"),
        (("columns", 0, "thresholds"), [{"decimal": 3}], "is not a number"),
        (("columns", 0, "thresholds"), "30", "must be a list"),
        (("columns", 0, "levels"), [0], "levels has 1 entries: it must have one per threshold"),
        (("columns", 0, "levels"), [0, 2], "every number from 0 to its largest"),
        (("columns", 0, "levels"), [1, 1], "every number from 0 to its largest"),
        (("columns", 0, "levels"), [0, -1], r"levels\[1\] is -1"),
        (("columns", 0, "levels"), [0, 0.5], r"levels\[1\] is 0.5"),
        (("columns", 0, "levels"), None, r"columns\[0\].levels is None"),
        (("columns", 1, "levels"), [0], "one per threshold"),
        (("columns", 0, "missing"), 1, r"columns\[0\].missing is 1: it must be true or false"),
        (("columns", 0, "zone"), "UTC", "only datetimes have a time zone"),
        (("columns", 0, "extra"), 1, r"columns\[0\] has unknown extra"),
        (("columns", 5, "zone"), "Mars/Foo", r"columns\[5\].zone is 'Mars/Foo', .* tzdata"),
        (("columns", 5, "zone"), "../../../etc/passwd", "as a time zone"),
        (("columns", 5, "zone"), "Europe", "as a time zone"),
        (("columns", 5, "zone"), "", "as a time zone"),
        (("columns", 5, "zone"), "+99:99", "as a time zone"),
        (("columns", 1, "categories"), ["red", "red"], "twice"),
        (("columns", 1, "categories"), [], "empty"),
        (("columns", 1, "categories"), [["red"]], r"categories\[0\]"),
        (("columns", 1, "categories"), [None], r"categories\[0\]: None"),
        (("columns", 2, "thresholds"), [2], "not a position before the last of 3"),
        (("columns", 2, "thresholds"), [-1], "not a position"),
        (("columns", 2, "thresholds"), [0.5], "not a whole number"),
        (("columns", 3, "thresholds"), ["2021-13-01"], r"columns\[3\].thresholds\[0\]"),
        (("columns", 3, "thresholds"), [18690], "is not text"),
        (("columns", 4, "categories"), ["no", "yes"], "not .false, true. or .0, 1."),
        (("passthrough",), True, r"columns\[0\] is of kind 'number'"),
        (("passthrough",), "no", "passthrough"),
        (("named",), None, "named"),
        (("parameters",), {}, "is missing max_thresholds"),
        (("parameters", "max_thresholds"), 0, "max_thresholds"),
        (("parameters", "max_thresholds"), "16", "max_thresholds"),
    ],
)
def test_nonsense_is_refused_with_its_place(path, value, message):
    values = copy.deepcopy(GOOD)
    if path:
        inner = values
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value
    else:
        values = value
    with pytest.raises(ValueError, match=message):
        BinaryEncoder.from_dict(values)


class Nameless(dt.tzinfo):
    """A zone that nobody could look up."""

    def utcoffset(self, when):
        return dt.timedelta(hours=1)

    def dst(self, when):
        return dt.timedelta(0)


@pytest.mark.parametrize(
    ("zone", "kept"),
    [
        (dt.UTC, "UTC"),
        (dt.timezone(dt.timedelta(hours=-3, minutes=-30)), "UTC-03:30"),
        (dt.timezone(dt.timedelta(seconds=15)), "UTC"),
        (ZoneInfo("Europe/Berlin"), "Europe/Berlin"),
        (Nameless(), "UTC"),
    ],
)
def test_every_zone_that_is_written_is_read(zone, kept):
    X = [[dt.datetime(2021, 3, day, tzinfo=zone)] for day in (1, 2, 3)]
    encoder = BinaryEncoder().fit(X)
    again = round_trip(encoder)
    assert again.schema_ == encoder.schema_
    assert again.schema_[0].zone == kept
    assert again.transform(X).tolist() == [[1, 1], [0, 1], [0, 0]]
    constant = BinaryEncoder().fit([[X[0][0], 1], [X[0][0], 2]])
    assert round_trip(constant).schema_ == constant.schema_


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@examples(60)
@given(st.data())
def test_any_edit_is_read_or_refused(data):
    """Whatever a part is replaced by: a fitted encoder or a ValueError, nothing else."""
    values = copy.deepcopy(GOOD)
    places = [(values, key) for key in values]
    for column in values["columns"]:
        places += [(column, key) for key in column]
        places += [(column["thresholds"], i) for i in range(len(column["thresholds"]))]
        places += [(column["categories"], i) for i in range(len(column["categories"]))]
    inner, key = data.draw(st.sampled_from(places))
    inner[key] = data.draw(junk)
    try:
        encoder = BinaryEncoder.from_dict(values)
    except ValueError:
        return
    assert round_trip(encoder).schema_ == encoder.schema_
    encoder.get_feature_names_out()
    encoder.report()
