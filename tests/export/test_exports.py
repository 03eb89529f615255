"""Exports: random tables in Python and SQLite, hostile names, and what is refused.

tests/system runs every target on many rows; here is what needs no more than pip installs.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import sqlite3
import struct
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from maptree import BinaryEncoder, MAPTreeClassifier, Tree
from maptree.export.encoded_inputs import c_names
from maptree.export.plain_tree import PlainTree
from maptree.export.sql import output_names
from maptree.export.sql_dialects import exact_quotient
from maptree.schema.columns import Column, Schema
from models import HOSTILE_NAMES, asking, category, change, fitted_of, model_of, number
from problems import examples
from random_tables import as_objects, in_sets, random_tree, tables

pytestmark = pytest.mark.filterwarnings("ignore::maptree.IdentifierWarning")


# Random tables


def random_model(train, seed):
    rng = np.random.default_rng(seed)
    encoder = BinaryEncoder(max_thresholds=5, max_categories=4).fit(as_objects(train))
    if seed % 2:
        encoder = in_sets(encoder, rng)
    tree = random_tree(encoder.transform(as_objects(train)), rng)
    return model_of(encoder.schema_, tree, encoder=encoder)


def rows_alike(model, train, other):
    """Rows of the second table whose values are of the types in the first."""
    if model.encoder_.passthrough_:
        return []  # other numbers than 0 and 1 would be refused
    types = {type(value) for row in train for value in row.values()} | {type(None)}
    return [row for row in other if {type(value) for value in row.values()} <= types]


@examples(20)
@given(tables(n_tables=2), st.integers(0, 2**32 - 1))
def test_python_source_of_any_table(drawn, seed):
    train, other = drawn
    model = random_model(train, seed)
    module = {}
    exec(model.to_python(), module)
    for rows in filter(None, (train, rows_alike(model, train, other))):
        leaves = model.tree_.apply(model.encoder_.transform(as_objects(rows)))
        assert [module["leaf"](row) for row in rows] == leaves.tolist()


@examples(20)
@given(tables(n_tables=2), st.integers(0, 2**32 - 1))
def test_sqlite_of_any_table(drawn, seed):
    """Texts cannot hold NUL or halves of surrogates there, nor numbers be beyond 64 bits."""
    train, other = ([sqlite_row(row) for row in rows] for rows in drawn)
    model = random_model(train, seed)
    connection = sqlite3.connect(":memory:")
    for rows in filter(None, (train, rows_alike(model, train, other))):
        names = list(rows[0])
        quoted = ", ".join(f'"{name}"' for name in names)
        connection.execute(f"CREATE TABLE rows (number, {quoted})")
        marks = ", ".join("?" * (1 + len(names)))
        listed = ([i, *(sqlite_value(row[n]) for n in names)] for i, row in enumerate(rows))
        connection.executemany(f"INSERT INTO rows VALUES ({marks})", listed)
        found = connection.execute(model.to_sql("sqlite", "rows", keep=["number"]))
        leaves = model.tree_.apply(model.encoder_.transform(as_objects(rows)))
        assert [row[1] for row in sorted(found)] == leaves.tolist()
        connection.execute("DROP TABLE rows")


def sqlite_row(row):
    return {
        name: "?" if isinstance(value, str) and not usable(value) else value
        for name, value in row.items()
        if name != "beyond"
    } or {"age": 1}


def usable(text):
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)


def sqlite_value(value):
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.timedelta):
        return value // dt.timedelta(microseconds=1) * 1000
    if isinstance(value, dt.datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value


@examples(40)
@given(st.integers(0, 2**64 - 1) | st.floats(0, 1).map(lambda p: bits(p)))
def test_sqlite_computes_exactly_the_float(pattern):
    value = struct.unpack("d", struct.pack("Q", pattern))[0]
    if math.isfinite(value):
        connection = sqlite3.connect(":memory:")
        found = connection.execute(f"SELECT {exact_quotient(value)}").fetchone()[0]
        assert found == value


def bits(value):
    return struct.unpack("Q", struct.pack("d", value))[0]


# Names


@pytest.mark.parametrize("name", HOSTILE_NAMES, ids=lambda name: repr(name[:20]))
def test_hostile_names_of_columns_and_labels_stay_data(name):
    model = asking(number(1.5, name=name), category(name, "other", name="other"))
    change(model, classes=np.array(["fine", name]))
    rows = [{name: x, "other": text} for x in (1.0, 2.0, None) for text in (name, "?", None)]
    frame = pd.DataFrame(rows).astype({name: float, "other": object})
    expected = model.apply(frame).tolist()
    module = {}
    exec(model.to_python(), module)
    assert [module["leaf"](row) for row in rows] == expected
    assert module["predict"](rows[0]) == model.predict(frame)[0]
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.register("frame", frame.assign(number=range(len(frame))))
    connection.execute('CREATE TABLE "my ""data" AS FROM frame')
    sql = model.to_sql("duckdb", 'my "data', keep=["number"])
    found = sorted(connection.execute(sql).fetchall())
    assert [row[1] for row in found] == expected
    assert [row[2] for row in found] == model.predict(frame).tolist()
    np.testing.assert_array_equal([row[3:] for row in found], model.predict_proba(frame))
    described = json.loads(model.to_json())
    assert (described["columns"][0]["name"], described["classes"][1]) == (name, name)
    assert "</script>" not in model.to_javascript()
    assert model.to_c().isascii()


def test_c_names_differ():
    names = c_names(["a b", "a_b", "A b", "a-b", "", " ", "名", "1", "long", "NULL", "INT64_MIN"])
    assert len({name.lower() for name in names}) == len(names)
    assert all(name.isidentifier() and not name.startswith("_") for name in names)
    assert not {"long", "NULL", "INT64_MIN"} & set(names)


def test_names_of_added_columns():
    def names(labels, *columns):
        schema = tuple(number(1.0, name=column) for column in columns or ("x",))
        tree = Tree([-1], [-1], [-1], [[1] * len(labels)])
        plain = PlainTree.of(fitted_of(Schema(schema), tree, labels))
        return output_names(plain)

    assert names(["no", "yes"]) == ["leaf", "prediction", "proba_no", "proba_yes"]
    assert names(["no", "No"])[2:] == ["proba_0", "proba_1"]
    assert names(["x" * 100, "y"])[2:] == ["proba_0", "proba_1"]
    assert names([0, 1], "Leaf")[:2] == ["maptree_leaf", "maptree_prediction"]


def test_kept_columns_that_are_called_as_added_ones():
    model = asking(number(1.5))
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE data AS SELECT 1.0 AS x, 7 AS "Prediction", 8 AS id')
    found = connection.execute(model.to_sql("sqlite", keep=["Prediction", "id"]))
    names = [column[0] for column in found.description]
    assert names[:4] == ["Prediction", "id", "maptree_leaf", "maptree_prediction"]
    assert found.fetchone()[:3] == (7, 8, 1)
    assert "maptree_" not in model.to_sql("sqlite", keep=["id"])


def test_feature_names_rename_columns():
    model = asking(number(1.5, name="age"))
    assert '"years"' in model.to_sql(feature_names=["years"])
    assert "years" in model.to_dot(feature_names=["years"])
    with pytest.raises(ValueError, match="feature_names has 2 names, but the table had 1"):
        model.to_python(feature_names=["a", "b"])


# Models of other shapes


@pytest.mark.parametrize("encoder", ["auto", None])
def test_a_model_of_0_and_1(encoder):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (100, 3))
    model = MAPTreeClassifier(encoder=encoder).fit(X, X[:, 0] & X[:, 1])
    module = {}
    exec(model.to_python(), module)
    rows = [dict(zip(("x0", "x1", "x2"), row, strict=True)) for row in X.tolist()]
    assert [module["leaf"](row) for row in rows] == model.apply(X).tolist()
    assert [module["predict"](row) for row in rows] == model.predict(X).tolist()
    assert "row->x0 == 1.0" in model.to_c()


@pytest.mark.parametrize("value", ["45", [1], pd.Timestamp("2020-01-01")])
def test_python_source_names_the_column_that_it_cannot_use(value):
    module = {}
    exec(asking(number(1.5)).to_python(), module)
    with pytest.raises(TypeError, match=r"^x is .*: it cannot be compared with 1.5.$"):
        module["predict"]({"x": value})
    model = MAPTreeClassifier().fit(pd.DataFrame({"price": ["$1", "$9"] * 9}), [0, 1] * 9)
    exec(model.to_python(), module)
    with pytest.raises(TypeError, match=r"^price is the text '\$1': pass a number"):
        module["predict"]({"price": "$1"})


def test_a_single_leaf():
    model = MAPTreeClassifier().fit([[3.5], [3.5]], ["a", "b"])
    module = {}
    exec(model.to_python(), module)
    assert module["predict_proba"]({}) == (0.5, 0.5)
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data AS SELECT 1 AS x0")
    assert connection.execute(model.to_sql(dialect="sqlite")).fetchall() == [(1, 0, "a", 0.5, 0.5)]
    with pytest.raises(ValueError, match="has no tests"):
        model.to_sklearn()
    assert len(model.to_dict()["nodes"]) == 1
    assert "[{a 0.50" in model.to_latex()


def test_labels_that_are_no_text():
    for labels in ([0, 1], [False, True], [2.0, 3.0]):
        model = asking(number(1.5))
        change(model, classes=np.array(labels))
        module = {}
        exec(model.to_python(), module)
        found = [module["predict"]({"x": x}) for x in (1, 2)]
        assert found == model.predict(pd.DataFrame({"x": [1.0, 2.0]})).tolist()
        assert type(found[0]) is type(labels[0])


# What is refused, with a remedy


@pytest.mark.parametrize(
    ("column", "exports", "message"),
    [
        (number(math.inf), "to_sql", "standard SQL has no infinity"),
        (
            number(Decimal("0.1234567890123456")),
            "to_c to_javascript to_onnx",
            "hold only 15 digits",
        ),
        (number(2**70, dtype="object"), "to_c to_onnx", "cannot compare exactly"),
        (number(0.5, 2**60, dtype="object"), "to_c to_onnx", "as well as with 0.5"),
        (category("a\0b"), "to_sql to_c", "NUL"),
        (category("a\ud800b"), "to_sql to_c to_onnx", "surrogate"),
        (category("a", 1), "to_c to_onnx", "both text and numbers as categories"),
        (Column("x", "date", "", thresholds=(10**7,)), "to_sql to_python", "1 to 9999"),
        (number(1.5, name=""), "to_sql", "A name is empty"),
    ],
)
def test_what_cannot_be_represented_is_refused(column, exports, message):
    model = asking(column)
    for export in exports.split():
        if export == "to_onnx":
            pytest.importorskip("onnx")
        with pytest.raises(ValueError, match=message):
            getattr(model, export)()


def test_columns_that_a_database_cannot_tell_apart_are_refused():
    model = asking(number(1.5, name="age"), number(1.5, name="Age"))
    for dialect in ("duckdb", "sqlite"):
        with pytest.raises(ValueError, match="differ only in case"):
            model.to_sql(dialect=dialect)
    assert model.to_sql(dialect="postgresql").count("data.") == 3
    with pytest.raises(ValueError, match="Two columns are called 'x'"):
        model.to_python(feature_names=["x", "x"])
    with pytest.raises(ValueError, match="longer than 63 bytes"):
        asking(number(1.5, name="é" * 40)).to_sql(dialect="postgresql")


def test_mistakes_are_named():
    model = asking(number(1.5))
    with pytest.raises(ValueError, match="dialect='mysql' is unknown: pass one of ansi"):
        model.to_sql(dialect="mysql")
    with pytest.raises(ValueError, match="prefix='int' is not a C identifier"):
        model.to_c(prefix="int")
    with pytest.raises(NotFittedError):
        MAPTreeClassifier().to_json()


def test_a_library_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="pip install onnx"):
        asking(number(1.5)).to_onnx()
