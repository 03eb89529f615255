"""SQL, run in DuckDB, SQLite and PostgreSQL."""

from __future__ import annotations

import datetime as dt
import sqlite3
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest


def read(rows):
    """Split rows of (row_id, leaf, prediction, probabilities ...), brought into order."""
    rows = sorted(rows)
    return [r[1] for r in rows], [r[3:] for r in rows], [r[2] for r in rows]


def test_duckdb(case, compare):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    numbered = case.table.append_column("row_id", pa.array(range(len(case.table))))
    connection.register("given", numbered)
    connection.execute('CREATE TABLE "my ""table""" AS SELECT * FROM given')
    sql = case.model.to_sql('my "table"', "duckdb", keep=["row_id"])
    compare("DuckDB", duckdb.__version__, case, *read(connection.execute(sql).fetchall()))


_AFFINITY = {"double": "REAL", "float": "REAL", "int64": "INTEGER", "bool": "INTEGER"}


def test_sqlite(case, compare):
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(
        f"{quoted(field.name)} {_AFFINITY.get(str(field.type), sqlite_type(field.type))}"
        for field in case.table.schema
    )
    connection.execute(f"CREATE TABLE leaves (row_id INTEGER, {columns})")
    marks = ", ".join("?" * (1 + len(case.table.schema)))
    rows = ((i, *map(sqlite_value, row.values())) for i, row in enumerate(case.rows))
    connection.executemany(f"INSERT INTO leaves VALUES ({marks})", rows)
    sql = case.model.to_sql("leaves", "sqlite", keep=["row_id"])
    compare("SQLite", sqlite3.sqlite_version, case, *read(connection.execute(sql)))


def sqlite_type(kind):
    if pa.types.is_decimal(kind):
        return "REAL"
    # Texts compare without regard to case, unless the query says otherwise.
    return "INTEGER" if pa.types.is_duration(kind) else "TEXT COLLATE NOCASE"


def sqlite_value(value):
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dt.timedelta):
        return value // dt.timedelta(microseconds=1) * 1000
    if isinstance(value, dt.datetime):
        moment = value if value.tzinfo is None else value.astimezone(dt.UTC)
        return moment.isoformat("T" if moment.second % 2 else " ")
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else value


_POSTGRESQL = {
    "double": "double precision",
    "float": "real",
    "int64": "bigint",
    "bool": "boolean",
    "decimal128(10, 2)": "numeric(10, 2)",
    "date32[day]": "date",
    "timestamp[us]": "timestamp",
    "timestamp[us, tz=Europe/Berlin]": "timestamptz",
    "time64[us]": "time",
    "duration[us]": "interval",
}


@pytest.mark.system
def test_postgresql(case, compare, postgresql):
    columns = ", ".join(
        f"{quoted(field.name)} {_POSTGRESQL.get(str(field.type), 'text')}"
        for field in case.table.schema
    )
    with postgresql() as connection:
        connection.execute('CREATE SCHEMA "it\'s"')
        connection.execute(f'CREATE TABLE "it\'s"."my ""table""" (row_id bigint, {columns})')
        with connection.cursor().copy('COPY "it\'s"."my ""table""" FROM STDIN') as copy:
            for i, row in enumerate(case.rows):
                copy.write_row([i, *row.values()])
        sql = case.model.to_sql(("it's", 'my "table"'), "postgresql", keep=["row_id"])
        version = connection.execute("SHOW server_version").fetchone()[0].split()[0]
        compare("PostgreSQL", version, case, *read(connection.execute(sql).fetchall()))
        settings = "SET standard_conforming_strings = off; SET intervalstyle = sql_standard; "
        settings += (
            "SET datestyle = 'German'; SET timezone = 'Asia/Kolkata'; SET extra_float_digits = 0"
        )
        connection.execute(settings + "; SET backslash_quote = on; SET escape_string_warning = off")
        leaves = read(connection.execute(sql).fetchall())[0]
        np.testing.assert_array_equal(leaves, case.model.apply(case.table))


def quoted(name):
    doubled = name.replace('"', '""')
    return f'"{doubled}"'
