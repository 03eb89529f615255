"""SQL, run in DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import datetime as dt
import sqlite3
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from maptree import MAPTreeClassifier
from maptree.schema.columns import Column
from models import asking, category, change, number
from sql_tables import duckdb_table, postgresql_table, read, sqlite_table


def test_duckdb(case, compare):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    duckdb_table(connection, '"my ""table"""', case.table)
    sql = case.model.to_sql("duckdb", 'my "table"', keep=["row_id"])
    compare("DuckDB", duckdb.__version__, case, *read(connection.execute(sql).fetchall()))


def test_sqlite(case, compare):
    connection = sqlite3.connect(":memory:")
    sqlite_table(connection, "leaves", case.table)
    sql = case.model.to_sql("sqlite", "leaves", keep=["row_id"])
    compare("SQLite", sqlite3.sqlite_version, case, *read(connection.execute(sql)))


@pytest.mark.system
def test_postgresql(case, compare, postgresql):
    with postgresql() as connection:
        connection.execute('CREATE SCHEMA "it\'s"')
        postgresql_table(connection, '"it\'s"."my ""table"""', case.table)
        sql = case.model.to_sql("postgresql", ("it's", 'my "table"'), keep=["row_id"])
        version = connection.execute("SHOW server_version").fetchone()[0].split()[0]
        compare("PostgreSQL", version, case, *read(connection.execute(sql).fetchall()))
        settings = "SET standard_conforming_strings = off; SET intervalstyle = sql_standard; "
        settings += (
            "SET datestyle = 'German'; SET timezone = 'Asia/Kolkata'; SET extra_float_digits = 0"
        )
        connection.execute(settings + "; SET backslash_quote = on; SET escape_string_warning = off")
        leaves = read(connection.execute(sql).fetchall())[0]
        np.testing.assert_array_equal(leaves, case.model.apply(case.table))


@pytest.mark.system
def test_standard_sql_in_postgresql(postgresql):
    """Standard SQL knows neither infinities nor NaN; DuckDB does not know all of its literals."""
    day, moment = dt.date(2021, 3, 4), dt.datetime(2021, 3, 4, 12, 30, 0, 1)
    n_days = (day - dt.date(1970, 1, 1)).days
    nanoseconds = (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1) * 1000
    columns = [
        number(0.1, name="real", has_missing=True),
        number(2**60, name="whole", dtype="int64"),
        number(Decimal("0.125"), name="exact", dtype="decimal128(5, 3)"),
        Column("yes", "boolean", "bool", categories=(False, True)),
        category("it's", name="text"),
        Column("size", "ordered", "enum", thresholds=(1,), categories=("s", "m", "l")),
        Column("day", "date", "date", thresholds=(n_days,)),
        Column("moment", "datetime", "datetime", thresholds=(nanoseconds,)),
        Column("time", "time", "time", thresholds=(nanoseconds % (86_400 * 10**9),)),
        Column("wait", "duration", "duration", thresholds=(10**9,)),
    ]
    step = dt.timedelta(microseconds=1)
    later = [
        (0.1, np.nextafter(0.1, 1).item(), "DOUBLE PRECISION"),
        (2**60, 2**60 + 1, "BIGINT"),
        (Decimal("0.125"), Decimal("0.126"), "DECIMAL(5, 3)"),
        (True, False, "BOOLEAN"),
        ("it's", "IT'S", "VARCHAR(9)"),
        ("m", "l", "VARCHAR(9)"),
        (day, day + dt.timedelta(days=1), "DATE"),
        (moment, moment + step, "TIMESTAMP"),
        (moment.time(), (moment + step).time(), "TIME"),
        (dt.timedelta(seconds=1), dt.timedelta(seconds=1) + step, "INTERVAL"),
    ]
    # In row i every column but i answers no; then the same with the rest missing.
    no, yes = [after for _, after, _ in later], [at for at, _, _ in later]
    rows = [no, [None] * len(no)]
    for rest in (no, [None] * len(no)):
        rows += [[*rest[:i], yes[i], *rest[i + 1 :]] for i in range(len(yes))]
    model = asking(*columns)

    names = [column.name for column in columns]
    types = ", ".join(f'"{name}" {kind}' for name, (_, _, kind) in zip(names, later, strict=True))
    with postgresql() as connection:
        connection.execute(f"CREATE TABLE data (number INTEGER, {types})")
        marks = ", ".join(["%s"] * (1 + len(names)))
        for i, row in enumerate(rows):
            connection.execute(f"INSERT INTO data VALUES ({marks})", [i, *row])
        found = connection.execute(model.to_sql(keep=["number"], dialect="ansi")).fetchall()
    leaves = read(found)[0]
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    assert leaves == model.apply(table).tolist()
    assert len(set(leaves)) == len(columns) + 2


@pytest.mark.parametrize("threshold", [45_000 * 10**9, 45_000 * 10**9 + 1])
@pytest.mark.parametrize("kind", ["TIME", "TIME_NS"])
def test_times_of_both_precisions_in_duckdb(kind, threshold):
    connection = pytest.importorskip("duckdb").connect()
    model = asking(Column("t", "time", "", thresholds=(threshold,)))
    connection.execute(f"""
        CREATE TABLE data AS
        SELECT number, CAST(text AS {kind}) AS t
        FROM (VALUES (0, '12:30:00'), (1, '12:30:00.000000001'), (2, '12:30:00.000000002'),
            (3, '12:30:00.000001')) AS rows (number, text)
    """)
    found = read(connection.execute(model.to_sql("duckdb", keep=["number"])).fetchall())[0]
    n_yes = 3 if kind == "TIME" else 1 + threshold % 10  # TIME has lost the nanoseconds
    assert found == [1] * n_yes + [2] * (4 - n_yes)


def test_a_frame_of_polars_in_duckdb():
    """Its times become TIME_NS there, and the other types what they are in polars."""
    connection = pytest.importorskip("duckdb").connect()
    pl = pytest.importorskip("polars")
    start, hours = dt.datetime(2021, 3, 4), [dt.timedelta(hours=i % 24) for i in range(96)]
    moments = pl.Series([start + hour for hour in hours])
    columns = {
        "at": moments.dt.time(),
        "seen": moments.cast(pl.Datetime("ns")),
        "zoned": moments.dt.replace_time_zone("Asia/Tokyo"),
        "wait": moments - start,
    }
    for name, values in columns.items():
        frame = pl.DataFrame({name: values, "number": range(96)})
        model = MAPTreeClassifier().fit(frame[[name]], [hour.seconds > 40_000 for hour in hours])
        connection.register("frame", frame.to_arrow())
        sql = model.to_sql("duckdb", "frame", keep=["number"])
        leaves = read(connection.execute(sql).fetchall())[0]
        assert leaves == model.apply(frame[[name]]).tolist()
        assert len(set(leaves)) > 1


def fitted_without_an_encoder():
    X = pd.DataFrame({"a": [False, False, True, True] * 20, "b": [False, True] * 40})
    return MAPTreeClassifier(encoder=None).fit(X, X["a"] & X["b"]), X


def boolean_rows(kind):
    """All answers, and missing ones, in columns of a type."""
    return f"""
        CREATE TABLE data AS
        SELECT number, CAST(a AS {kind}) AS a, CAST(b AS {kind}) AS b
        FROM (VALUES (0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1), (4, NULL, 1), (5, 1, NULL))
            AS rows (number, a, b)
    """


@pytest.mark.parametrize("kind", ["BOOLEAN", "INTEGER", "DOUBLE PRECISION"])
@pytest.mark.parametrize("dialect", ["ansi", "duckdb"])
def test_without_an_encoder_in_duckdb(dialect, kind):
    connection = pytest.importorskip("duckdb").connect()
    model, X = fitted_without_an_encoder()
    connection.execute(boolean_rows(kind))
    found = read(connection.execute(model.to_sql(dialect, keep=["number"])).fetchall())
    assert found[0][:4] == model.apply(X)[:4].tolist()
    assert found[2] == [False, False, False, True, False, False]


def test_without_an_encoder_in_sqlite():
    model, X = fitted_without_an_encoder()
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE data (number, a BOOLEAN, b BOOLEAN)")
    rows = X[:4].reset_index().astype(object).to_numpy().tolist()
    connection.executemany("INSERT INTO data VALUES (?, ?, ?)", rows)
    found = read(connection.execute(model.to_sql("sqlite", keep=["number"])))
    assert found[0] == model.apply(X)[:4].tolist()


def test_text_in_place_of_numbers_in_sqlite():
    """As `.import` of the sqlite3 program makes it: 10 is below 9 there, and nothing is missing."""
    X = pd.DataFrame({"x": [1.0, 9.0, 10.0, None] * 10})
    model = MAPTreeClassifier().fit(X, ["low", "low", "high", "none"] * 10)
    connection = sqlite3.connect(":memory:")
    for kind, rows in {"TEXT": ["1.0", "9.0", "10.0", ""], "REAL": ["1.0", 9, "10", None]}.items():
        connection.execute(f"CREATE TABLE as_{kind} (x {kind})")
        connection.executemany(f"INSERT INTO as_{kind} VALUES (?)", [[row] for row in rows])
        found = connection.execute(model.to_sql("sqlite", f"as_{kind}")).fetchall()
        expected = [None] * 4 if kind == "TEXT" else model.predict(X[:4]).tolist()
        assert [row[2] for row in found] == expected


@pytest.mark.system
@pytest.mark.parametrize("kind", ["BOOLEAN", "INTEGER", "SMALLINT", "DOUBLE PRECISION", "NUMERIC"])
def test_without_an_encoder_in_postgresql(kind, postgresql):
    model, X = fitted_without_an_encoder()
    with postgresql() as connection:
        connection.execute(boolean_rows(kind))
        for dialect in ("ansi", "postgresql"):
            found = read(connection.execute(model.to_sql(dialect, keep=["number"])).fetchall())
            assert found[0][:4] == model.apply(X)[:4].tolist()
            assert found[2] == [False, False, False, True, False, False]


@pytest.mark.system
@pytest.mark.parametrize("labels", [[2.0, 3.5], [2, 3], [False, True], ["2", "3"]])
def test_labels_keep_their_type_in_postgresql(labels, postgresql):
    model = asking(number(1.5))
    change(model, classes=np.array(labels))
    with postgresql() as connection:
        connection.execute("CREATE TABLE data AS SELECT 1 AS number, 1.0 AS x")
        (row,) = connection.execute(model.to_sql("postgresql", keep=["number"])).fetchall()
    assert row[2] == model.predict(pd.DataFrame({"x": [1.0]}))[0]
    assert type(row[2]) is type(labels[0])


ZONED = """
    CREATE TABLE data AS
    SELECT number, CAST(text AS TIMESTAMP WITH TIME ZONE) AS zoned
    FROM (VALUES (0, '2021-03-04 12:30:00+00:00'), (1, '2021-03-04 12:30:00.000001+00:00'))
        AS rows (number, text)
"""


def asking_for_a_moment():
    """A model whose first leaf is for times up to 2021-03-04 12:30 in UTC."""
    moment = dt.datetime(2021, 3, 4, 12, 30, tzinfo=dt.UTC)
    nanoseconds = int(moment.timestamp()) * 10**9
    return asking(Column("zoned", "datetime", "", thresholds=(nanoseconds,), zone="Europe/Berlin"))


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
@pytest.mark.parametrize("dialect", ["ansi", "duckdb"])
def test_time_zone_of_the_session_in_duckdb(dialect, zone):
    connection = pytest.importorskip("duckdb").connect()
    connection.execute(f"SET timezone = '{zone}'")
    connection.execute(ZONED)
    sql = asking_for_a_moment().to_sql(dialect, keep=["number"])
    assert read(connection.execute(sql).fetchall())[0] == [1, 2]


@pytest.mark.system
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC"])
def test_time_zone_of_the_session_in_postgresql(zone, postgresql):
    with postgresql() as connection:
        connection.execute(f"SET timezone = '{zone}'")
        connection.execute(ZONED)
        for dialect in ("ansi", "postgresql"):
            sql = asking_for_a_moment().to_sql(dialect, keep=["number"])
            assert read(connection.execute(sql).fetchall())[0] == [1, 2]
