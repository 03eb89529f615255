"""Parquet files, read a column at a time."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from maptree import BinaryEncoder, MAPTreeClassifier, MCMCTreeClassifier, ParquetTable, scan_parquet
from samples import classifier, sampler


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 5000
    age = rng.integers(18, 90, n)
    colour = rng.choice(["red", "blue", "green"], n)
    return pa.table(
        {
            "id": [f"person {i}" for i in range(n)],
            "age": pa.array(age, mask=rng.random(n) < 0.1),
            "colour": pa.array(colour, mask=rng.random(n) < 0.1),
            "joined": [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in age],
            "member": age > 60,
            "income": np.where((age > 45) & (colour == "red"), "high", "low"),
        }
    )


@pytest.fixture(scope="module")
def path(people, tmp_path_factory):
    path = tmp_path_factory.mktemp("parquet") / "people.parquet"
    pq.write_table(people, path, row_group_size=700)
    return path


def test_a_file_is_a_table(path, people):
    table = scan_parquet(path)
    assert isinstance(table, ParquetTable)
    assert table.shape == people.shape
    assert len(table) == 5000
    assert table.columns == people.column_names
    assert table.drop("id", "income").columns == ["age", "colour", "joined", "member"]
    assert table.select("member", "age").columns == ["member", "age"]
    assert repr(table) == "ParquetTable(5,000 rows, 6 columns)"
    assert table["income"].to_pylist() == people["income"].to_pylist()
    for wrong in (lambda: table["salary"], lambda: table.drop("salary"), lambda: table.select("x")):
        with pytest.raises(KeyError, match="no column is named"):
            wrong()


def test_a_file_gives_what_the_table_gives(path, people):
    table = scan_parquet(path)
    X, inside = table.drop("id", "income"), people.drop(["id", "income"])
    one, other = (
        BinaryEncoder().fit(X, table["income"]),
        BinaryEncoder().fit(inside, people["income"]),
    )
    assert one.schema_ == other.schema_
    np.testing.assert_array_equal(one.transform_packed(X), other.transform_packed(inside))
    np.testing.assert_array_equal(one.transform(inside), other.transform(X))
    for kind in (classifier, lambda: sampler(MCMCTreeClassifier)):
        model = kind().fit(X, table["income"])
        reference = kind().fit(inside, people["income"])
        assert model.tree_ == reference.tree_
        assert model.rules() == reference.rules()
        np.testing.assert_array_equal(model.predict_proba(X), reference.predict_proba(inside))
    assert table.names is None  # what the caller holds is as it was


def test_a_folder_of_files(people, tmp_path):
    for i in range(3):
        pq.write_table(people[i * 1000 : (i + 1) * 1000], tmp_path / f"part{i}.parquet")
    table = scan_parquet(tmp_path)
    assert table.shape == (3000, 6)
    X = table.drop("id", "income")
    expected = BinaryEncoder().fit(people[:3000].drop(["id", "income"]))
    assert BinaryEncoder().fit(X).schema_ == expected.schema_


def test_only_the_columns_of_the_tree_are_read_in_predict(path, monkeypatch):
    table = scan_parquet(path)
    X = table.drop("id", "income", "member", "joined")
    model = MAPTreeClassifier(max_depth=1, max_expansions=50).fit(X, table["income"])
    read = []
    monkeypatch.setattr(
        ParquetTable,
        "_load",
        lambda self, name, f=ParquetTable._load: read.append(name) or f(self, name),
    )
    model.predict(X)
    assert len(read) == 1


def test_other_columns(path):
    table = scan_parquet(path)
    model = classifier().fit(table.select("age", "colour"), table["income"])
    with pytest.raises(ValueError, match="same order"):
        model.predict(table.select("colour", "age"))
    with pytest.raises(ValueError, match="member"):
        model.predict(table.select("age", "member"))
    with pytest.raises(FileNotFoundError):
        scan_parquet(path.with_name("other.parquet"))


def test_an_empty_file(tmp_path):
    path = tmp_path / "empty.parquet"
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), path)
    with pytest.raises(ValueError, match="at least one row"):
        BinaryEncoder().fit(scan_parquet(path))


def test_predict_on_a_wide_file_lists_its_columns_once(tmp_path, monkeypatch):
    X = pa.table({f"c{j}": np.arange(4.0) + j for j in range(30)})
    pq.write_table(X, tmp_path / "wide.parquet")
    table = scan_parquet(tmp_path / "wide.parquet")
    model = classifier().fit(table, [0, 0, 1, 1])
    made = []
    whole = ParquetTable.empty_frame
    monkeypatch.setattr(ParquetTable, "empty_frame", lambda self: made.append(1) or whole(self))
    model.predict(table)
    assert len(made) == 1
