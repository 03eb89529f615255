"""One table, many containers: the same columns give the same tests and the same answers."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maptree import (
    BinaryEncoder,
    MCMCTreeClassifier,
    SMCTreeClassifier,
)
from maptree.tables import frames
from problems import examples
from random_tables import SIZES, as_objects, tables
from samples import classifier, sampler

UTC = dt.UTC


def names(X, y=None, **params):
    return BinaryEncoder(**params).fit(X, y).get_feature_names_out().tolist()


# Containers

RAW = {
    "age": [25, None, 46, 60, 33, 47],
    "score": [0.5, 1.5, None, float("inf"), -1.0, 2.0],
    "member": [True, False, None, True, False, True],
    "colour": ["red", "blue", None, "green", "red", "blue"],
    "joined": [dt.date(2021, 3, day) for day in (1, 4, 9, 16, 25)] + [None],
    "seen": [dt.datetime(2021, 3, day, 12, day) for day in (1, 4, 9, 16, 25)] + [None],
    "zoned": [dt.datetime(2021, 3, day, 12, tzinfo=UTC) for day in (1, 4, 9, 16, 25)] + [None],
    "at": [dt.time(hour, 30) for hour in (1, 4, 9, 16, 22)] + [None],
    "wait": [dt.timedelta(hours=hours) for hours in (1, 4, 9, 16, 25)] + [None],
    "price": [Decimal(f"{cents}.25") for cents in (1, 4, 9, 16, 25)] + [None],
}
EXPECTED = [
    *("age <= 29", "age <= 39.5", "age <= 46.5", "age <= 53.5", "age is missing"),
    *("score <= -0.25", "score <= 1", "score <= 1.75", "score < inf", "score is missing"),
    *("member = True", "member is missing"),
    *("colour = blue", "colour = green", "colour = red", "colour is missing"),
    *(f"joined <= 2021-03-{day}" for day in ("02", "06", "12", "20")),
    "joined is missing",
    *(f"seen <= 2021-03-{day}" for day in ("03 00:00", "07 00:00", "13 00:00", "21 00:00")),
    "seen is missing",
    *(f"zoned <= 2021-03-{day} 00:00+00:00" for day in ("03", "07", "13", "21")),
    "zoned is missing",
    *("at <= 03:00", "at <= 07:00", "at <= 13:00", "at <= 19:30", "at is missing"),
    *(f"wait <= {time}:00" for time in ("02:30", "06:30", "12:30", "20:30")),
    "wait is missing",
    *("price <= 2.75", "price <= 6.8", "price <= 12.8", "price <= 20.8", "price is missing"),
]


def as_arrays():
    return np.array([list(row) for row in zip(*RAW.values(), strict=True)], dtype=object)


FRAMES = {
    "pandas objects": lambda: pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in RAW.items()}
    ),
    "pandas": lambda: pd.DataFrame(RAW),
    "pandas nullable": lambda: pd.DataFrame(RAW).convert_dtypes(),
    "pandas arrow": lambda: pa.table(RAW).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.DataFrame(RAW),
    "polars in chunks": lambda: pl.concat(
        [pl.DataFrame(RAW)[:2], pl.DataFrame(RAW)[2:]], rechunk=False
    ),
    "pyarrow": lambda: pa.table(RAW),
    "pyarrow in chunks": lambda: pa.concat_tables([pa.table(RAW)[:2], pa.table(RAW)[2:]]),
}


@pytest.fixture(scope="module")
def reference():
    return BinaryEncoder().fit(FRAMES["pyarrow"]())


def test_tests_in_words(reference):
    words = reference.get_feature_names_out().tolist()
    assert words == EXPECTED


@pytest.mark.parametrize("kind", FRAMES)
def test_containers_of_raw_tables(reference, kind):
    X = FRAMES[kind]()
    encoder = BinaryEncoder().fit(X)
    np.testing.assert_array_equal(
        encoder.get_feature_names_out(), reference.get_feature_names_out()
    )
    answers = reference.transform(FRAMES["pyarrow"]())
    np.testing.assert_array_equal(encoder.transform(X), answers)
    np.testing.assert_array_equal(reference.transform(X), answers)
    packed = np.unpackbits(encoder.transform_packed(X), axis=1, count=6, bitorder="little").T
    np.testing.assert_array_equal(packed, answers)
    assert encoder.feature_names_in_.tolist() == list(RAW)


def test_polars_without_pyarrow(reference, monkeypatch):
    monkeypatch.setattr(frames, "_has_arrow", lambda: False)
    sizes = pl.Series(["m", None, "s", "m", "l", "m"], dtype=pl.Enum(["s", "m", "l"]))
    plans = pl.Series(["a", None, "b", "a", "c", "b"], dtype=pl.Categorical)
    X = pl.DataFrame(RAW).with_columns(size=sizes, plan=plans)
    encoder = BinaryEncoder().fit(X)
    n_tests = len(reference.test_columns_)
    np.testing.assert_array_equal(
        encoder.transform(X)[:, :n_tests], reference.transform(pl.DataFrame(RAW))
    )
    assert encoder.get_feature_names_out().tolist()[n_tests:] == [
        *("size = s", "size <= m", "size is missing"),
        *("plan = a", "plan = b", "plan = c", "plan is missing"),
    ]
    monkeypatch.undo()
    np.testing.assert_array_equal(
        BinaryEncoder().fit(X).transform(X.to_arrow()), encoder.transform(X)
    )


def test_dictionaries_of_arrow():
    odd = pa.DictionaryArray.from_arrays([0, 1, 2, 3, None], pa.array(["a", "b", "a", None]))
    encoder = BinaryEncoder().fit(pa.table({"x": odd}))
    assert encoder.get_feature_names_out().tolist() == ["x = b", "x is missing"]
    assert encoder.transform(pa.table({"x": odd}))[:, 0].tolist() == [0, 1, 0, 0, 0]
    floats = pa.DictionaryArray.from_arrays([0, 1, 2, 3], pa.array([0.5, float("nan"), 1.5, 2.5]))
    encoder = BinaryEncoder().fit(pa.table({"x": floats}))
    assert encoder.schema_[0].categories == (0.5, 1.5, 2.5)
    assert encoder.transform(pa.table({"x": floats}))[:, 3].tolist() == [0, 1, 0, 0]


def test_arrays_and_lists_of_objects(reference):
    X = as_arrays()
    encoder = BinaryEncoder().fit(X)
    expected = reference.get_feature_names_out().tolist()
    assert encoder.get_feature_names_out(list(RAW)).tolist() == expected
    answers = reference.transform(FRAMES["pyarrow"]())
    np.testing.assert_array_equal(encoder.transform(X), answers)
    np.testing.assert_array_equal(encoder.transform(X.tolist()), answers)


@examples(20)
@given(tables(max_rows=12), st.data())
@pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")
def test_random_tables_in_polars_and_arrow(drawn, data):
    (rows,) = drawn
    frame = as_objects(rows)
    columns = {}
    for name in frame:
        values = [row[name] for row in rows]
        if name == "beyond":
            continue  # no type of theirs holds it
        columns[name] = pl.Series(values, dtype=pl.Enum(SIZES) if name == "size" else None)
    if not columns:
        return
    y = data.draw(st.none() | st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    expected = BinaryEncoder(max_thresholds=6).fit(frame[list(columns)], y)
    answers = expected.transform(frame[list(columns)])
    polars = pl.DataFrame(columns)
    for X in (polars, polars.to_arrow()):
        encoder = BinaryEncoder(max_thresholds=6).fit(X, y)
        for mine, other in zip(encoder.schema_, expected.schema_, strict=True):
            assert (mine.kind, mine.thresholds, mine.categories, mine.has_missing) == (
                (other.kind, other.thresholds, other.categories, other.has_missing)
            )
        np.testing.assert_array_equal(encoder.transform(X), answers)
        np.testing.assert_array_equal(expected.transform(X), answers)


# Estimators


@pytest.mark.parametrize("kind", FRAMES)
def test_all_classifiers_take_all_containers(kind):
    X = FRAMES[kind]()
    y = ["n", "n", "y", "y", "n", "y"]
    for model in (classifier(), sampler(MCMCTreeClassifier), sampler(SMCTreeClassifier)):
        model.fit(X, y)
        reference = type(model)(**model.get_params()).fit(FRAMES["pyarrow"](), y)
        probabilities = model.predict_proba(X)
        np.testing.assert_array_equal(probabilities, reference.predict_proba(FRAMES["pyarrow"]()))
        assert model.rules() == reference.rules()


@pytest.mark.parametrize(
    "labels",
    [
        pl.Series(["b", "a"] * 10),
        pl.Series(["b", "a"] * 10, dtype=pl.Categorical),
        pl.Series(["b", "a"] * 10, dtype=pl.Enum(["b", "a", "c"])),
        pa.chunked_array([["b", "a"] * 5, ["b", "a"] * 5]),
        pa.array(["b", "a"] * 10).dictionary_encode(),
        pd.Series(["b", "a"] * 10, dtype="category"),
    ],
    ids=lambda labels: str(getattr(labels, "dtype", getattr(labels, "type", None))),
)
def test_labels_of_text_in_other_containers(labels):
    model = classifier().fit([[0], [1]] * 10, labels)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.predict([[0], [1]]).tolist() == ["b", "a"]


def test_missing_labels_in_other_containers():
    for labels in (pl.Series(["a", None]), pa.chunked_array([["a", None]])):
        with pytest.raises(ValueError, match="missing label at row 1"):
            classifier().fit([[0], [1]], labels)
    for labels in (pl.Series([True, False]), pa.array([3, 4]), pl.Series([1.0, 2.0])):
        assert len(classifier().fit([[0], [1]], labels).classes_) == 2


def test_frames_are_read_only_where_the_tree_asks():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=200), "y": rng.choice(["a", "b", "c"], 200)})
    model = classifier().fit(frame, frame["x"] > 0)
    assert model.rules()[0].startswith("x ")
    bad = frame.with_columns(y=pl.lit(None))  # a type that says nothing
    assert (model.predict(bad) == model.predict(frame)).all()


@pytest.mark.parametrize("container", [pd.DataFrame, pl.DataFrame, pa.table])
def test_names_are_listed_no_more_often_for_more_columns(monkeypatch, container):
    """Listing them takes a step for every column: once for each column would be quadratic."""
    listed = []
    inherited = nw.DataFrame.columns.fget
    counting = property(lambda frame: listed.append(frame) or inherited(frame))
    monkeypatch.setattr(nw.DataFrame, "columns", counting)
    times = []
    for n in (5, 50):
        X = container({f"c{j}": ["a", "b", "c"] if j % 2 else [1.5, 2.5, 3.5] for j in range(n)})
        listed.clear()
        encoder = BinaryEncoder().fit(X)
        encoder.transform(X)
        classifier().fit(X, [0, 1, 0]).predict(X)
        times.append(len(listed))
    assert times[0] == times[1] > 0


def test_narwhals_is_loaded_only_for_frames():
    script = (
        "import sys, maptree\n"
        "before = 'maptree.tables.frames' in sys.modules\n"
        "maptree.MAPTreeClassifier().fit([[0, 'a'], [1, 'b']] * 3, [0, 1] * 3)\n"
        "print(before or 'maptree.tables.frames' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
