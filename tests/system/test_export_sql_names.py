"""SQL for tables whose columns are called like words of SQL, or worse.

A database takes some words for a column of that name where there is one, whatever the query meant.
So every keyword is the name of a column here: one of the model's, and one that the model does not
know, next to it.
"""

from __future__ import annotations

import sqlite3

import pyarrow as pa
import pytest

from models import HOSTILE_NAMES, asking, number
from sql_tables import duckdb_table, postgresql_table, quoted, read, sqlite_table

# Python's sqlite3 does not give sqlite3_keyword_name: these are from sqlite.org/lang_keywords.html.
SQLITE_KEYWORDS = """
    abort action add after all alter always analyze and as asc attach autoincrement before begin
    between by cascade case cast check collate column commit conflict constraint create cross
    current current_date current_time current_timestamp database default deferrable deferred delete
    desc detach distinct do drop each else end escape except exclude exclusive exists explain fail
    filter first following for foreign from full generated glob group groups having if ignore
    immediate in index indexed initially inner insert instead intersect into is isnull join key last
    left like limit match materialized natural no not nothing notnull null nulls of offset on or
    order others outer over partition plan pragma preceding primary query raise range recursive
    references regexp reindex release rename replace restrict returning right rollback row rows
    savepoint select set table temp temporary then ties to transaction trigger unbounded union
    unique update using vacuum values view virtual when where window with within without
""".split()  # noqa: SIM905
# No keywords, but SQLite takes them for values or the number of a row where no column has the name.
SQLITE_WORDS = ["true", "false", "rowid", "oid", "_rowid_"]
# Words of the query itself: its tables, columns, functions, types and values.
OUR_WORDS = """
    data leaves leaf prediction proba_yes maptree_leaf isnan replace to_microseconds double
    precision timestamp_ns interval integer text c nan infinity number
""".split()  # noqa: SIM905


def keywords_inside_and_outside(case, keywords, create, run):
    """Call the model's columns by some keywords and other columns by all of the rest, in turn."""
    table = case.table.slice(0, 60)
    expected = case.model.apply(table).tolist()
    names = table.column_names
    others = pa.array([0, 1, None] * 20, pa.int64())
    words = list(dict.fromkeys([*keywords, *OUR_WORDS]))
    for first in range(0, len(words), len(names)):
        inside = (words + words)[first : first + len(names)]
        wide = table.rename_columns(inside)
        for outside in words:
            if outside not in inside:
                wide = wide.append_column(outside, others)
        create(f'"t{first}"', wide)
        # Python's DuckDB needs pytz to fetch a moment in a time zone.
        for keep in (["row_id"],) if run.dialect == "duckdb" else (["row_id"], None):
            sql = case.model.to_sql(run.dialect, f"t{first}", keep=keep, feature_names=inside)
            rows = run(sql)
            if keep is None:
                rows = [(row[0], *row[len(wide.column_names) + 1 :]) for row in rows]
            assert read(rows)[0] == expected, f"among {inside}"
    return len(words)


class Run:
    """Runs a query of a dialect."""

    def __init__(self, connection, dialect):
        self.connection, self.dialect = connection, dialect

    def __call__(self, sql):
        return self.connection.execute(sql).fetchall()


def test_every_keyword_of_sqlite(mixed, note):
    connection = sqlite3.connect(":memory:")
    n_words = keywords_inside_and_outside(
        mixed,
        SQLITE_KEYWORDS + SQLITE_WORDS,
        lambda name, table: sqlite_table(connection, name, table),
        Run(connection, "sqlite"),
    )
    note("SQLite, keywords as names", sqlite3.sqlite_version, n_words, "0")


def test_one_keyword_next_to_the_columns_of_a_model_in_sqlite(mixed):
    table = mixed.table.slice(0, 20)
    expected = mixed.model.apply(table).tolist()
    sql = mixed.model.to_sql("sqlite", "t", keep=["row_id"])
    connection = sqlite3.connect(":memory:")
    sqlite_table(connection, "t", table)
    wrong = []
    for word in [*SQLITE_KEYWORDS, *SQLITE_WORDS, *OUR_WORDS]:
        connection.execute(f"ALTER TABLE t ADD COLUMN {quoted(word)}")
        for value in (0, None):
            connection.execute(f"UPDATE t SET {quoted(word)} = ?", [value])
            if read(connection.execute(sql))[0] != expected:
                wrong.append((word, value))
        connection.execute(f"ALTER TABLE t DROP COLUMN {quoted(word)}")
    assert wrong == []


@pytest.mark.long
def test_every_keyword_of_duckdb(mixed, note):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    listed = connection.execute("SELECT keyword_name FROM duckdb_keywords()").fetchall()
    n_words = keywords_inside_and_outside(
        mixed,
        [word for (word,) in listed],
        lambda name, table: duckdb_table(connection, name, table),
        Run(connection, "duckdb"),
    )
    assert len(listed) > 400
    note("DuckDB, keywords as names", duckdb.__version__, n_words, "0")


@pytest.mark.system
def test_every_keyword_of_postgresql(mixed, note, postgresql):
    with postgresql() as connection:
        listed = connection.execute("SELECT word FROM pg_get_keywords()").fetchall()
        n_words = keywords_inside_and_outside(
            mixed,
            [word for (word,) in listed],
            lambda name, table: postgresql_table(connection, name, table),
            Run(connection, "postgresql"),
        )
        version = connection.execute("SHOW server_version").fetchone()[0].split()[0]
    assert len(listed) > 400
    note("PostgreSQL, keywords as names", version, n_words, "0")


PAIRS = [
    *[(name, "other") for name in HOSTILE_NAMES],
    ("", "other"),
    ("a", "A"),
    ("é", "É"),
    ("ß", "SS"),
    ("ß", "ẞ"),
    ("\u0131", "I"),  # without a dot
    ("İ", "i"),
    ("\u212a", "k"),  # the sign for kelvin, which is k in lower case
    ("\u03c3", "\u03c2"),  # both are small sigmas
    ("é", "e\u0301"),  # the same letter, written in two ways
    ("a", "a "),
    ("a", "a"),
    ('"', '""'),
    ("a.b", "data.a"),
    ("x" * 63, "x" * 62),
    ("x" * 63 + "a", "x" * 63 + "b"),
    ("é" * 32, "é" * 31),
    ("\ud800", "other"),
    ("a\0b", "a"),
]
TWICE = [("a", "a"), ("", "other"), ("\ud800", "other"), ("a\0b", "a")]
SAME_CASE = [("a", "A"), ("é", "É"), ("ß", "ẞ"), ("\u212a", "k")]


def refused_names(create, run):
    """The pairs that a model of two columns cannot have; with all others it predicts the same."""
    model = asking(number(1.5, name="first"), number(0.5, name="second", has_missing=True))
    table = pa.table({"first": [1.0, 2, 3, 1, None], "second": [0.0, None, 1, 1, 1]})
    expected = model.apply(table).tolist()
    refused = []
    for i, names in enumerate(PAIRS):
        try:
            sql = model.to_sql(run.dialect, f"t{i}", keep=["row_id"], feature_names=names)
        except ValueError:
            refused.append(names)
            continue
        create(f'"t{i}"', table.rename_columns(list(names)))
        assert read(run(sql))[0] == expected, names
    return refused


def test_odd_names_in_sqlite():
    connection = sqlite3.connect(":memory:")
    found = refused_names(
        lambda name, table: sqlite_table(connection, name, table), Run(connection, "sqlite")
    )
    assert sorted(found) == sorted(TWICE + SAME_CASE)


def test_odd_names_in_duckdb():
    connection = pytest.importorskip("duckdb").connect()
    found = refused_names(
        lambda name, table: duckdb_table(connection, name, table), Run(connection, "duckdb")
    )
    assert sorted(found) == sorted(TWICE + SAME_CASE)


@pytest.mark.system
def test_odd_names_in_postgresql(postgresql):
    long = [
        names for names in PAIRS if max(len(name.encode("utf-8", "replace")) for name in names) > 63
    ]
    with postgresql() as connection:
        found = refused_names(
            lambda name, table: postgresql_table(connection, name, table),
            Run(connection, "postgresql"),
        )
    assert sorted(found) == sorted(TWICE + long)
