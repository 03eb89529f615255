"""Tables of tests in DuckDB, SQLite and PostgreSQL, with the column row_id in front."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def read(rows):
    """Split rows of (row_id, leaf, prediction, probabilities ...), brought into order."""
    rows = sorted(rows)
    return [r[1] for r in rows], [r[3:] for r in rows], [r[2] for r in rows]


def duckdb_table(connection, name: str, table: pa.Table) -> None:
    """Create a table in DuckDB; ``name`` is quoted already."""
    connection.register("given", table.add_column(0, "row_id", pa.array(range(len(table)))))
    connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
    connection.unregister("given")


_AFFINITY = {"double": "REAL", "float": "REAL", "int64": "INTEGER", "bool": "INTEGER"}


def sqlite_table(connection, name: str, table: pa.Table) -> None:
    """Create a table in SQLite; ``name`` is quoted already."""
    columns = ", ".join(
        f"{quoted(field.name)} {_AFFINITY.get(str(field.type), _sqlite_type(field.type))}"
        for field in table.schema
    )
    connection.execute(f"CREATE TABLE {name} (row_id INTEGER, {columns})")
    marks = ", ".join("?" * (1 + len(table.schema)))
    rows = ((i, *map(_sqlite_value, row.values())) for i, row in enumerate(table.to_pylist()))
    connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)


def _sqlite_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return "REAL"
    # Texts compare without regard to case, unless the query says otherwise.
    return "INTEGER" if pa.types.is_duration(kind) else "TEXT COLLATE NOCASE"


def _sqlite_value(value: Any) -> Any:
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


def postgresql_table(connection, name: str, table: pa.Table) -> None:
    """Create a table in PostgreSQL; ``name`` is quoted already."""
    # Texts that differ in case are equal.
    connection.execute("CREATE EXTENSION IF NOT EXISTS citext")
    columns = ", ".join(
        f"{quoted(field.name)} {_POSTGRESQL.get(str(field.type), 'citext')}"
        for field in table.schema
    )
    connection.execute(f"CREATE TABLE {name} (row_id bigint, {columns})")
    with connection.cursor().copy(f"COPY {name} FROM STDIN") as copy:
        for i, row in enumerate(table.to_pylist()):
            copy.write_row([i, *row.values()])
