"""Tables with numbers and dates as text: the same tree from every container and file."""

from __future__ import annotations

import itertools
import json
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from command import QUICK, call
from maptree import (
    AmbiguousTextWarning,
    BinaryEncoder,
    IdentifierWarning,
    MAPTreeClassifier,
    MCMCTreeClassifier,
    load_model,
    scan_parquet,
)

N = 160
FILES = ("csv", "jsonl", "parquet", "feather")


def written() -> pd.DataFrame:
    """A table as people write it; every column but the last has something to do with y."""
    rng = np.random.default_rng(3)
    y = rng.random(N) < 0.5
    size = np.where(y, 4000, 2500) + rng.normal(0, 900, N).round(2)
    # Some of the last days of a month, so that day and month can be told apart.
    days = pd.Timestamp("2018-01-01") + pd.to_timedelta(np.abs(size).round() + np.arange(N), "D")
    moments = days + pd.to_timedelta(np.abs(size).round(), "min")
    frame = {
        "thousands": [f"{x:,.0f}" for x in size],
        "german": [f"{x:_.2f}".replace(".", ",").replace("_", ".") for x in size],
        "comma": [f"{x / 1000:.1f}".replace(".", ",") for x in size],
        "spaces": [f"{x:_.0f}".replace("_", " ") for x in size],
        "dollars": [f"${x:,.2f}" for x in size],
        "euros": [f"{x:_.2f} EUR".replace(".", ",").replace("_", ".") for x in size],
        "percent": [f"{x / 100:.1f} %" for x in size],
        "slashes": [day.strftime("%Y/%m/%d") for day in days],
        "points": [day.strftime("%d.%m.%Y") for day in days],
        "american": [day.strftime("%m/%d/%Y") for day in days],
        "named": [day.strftime("%b %d, %Y") for day in days],
        "iso": [day.strftime("%Y-%m-%d") for day in days],
        "moment": [moment.strftime("%Y-%m-%d %H:%M") for moment in moments],
        "clock": [moment.strftime("%H:%M") for moment in moments],
        "colour": rng.choice(["red", "green", "blue"], N).tolist(),
        "y": np.where(y, "yes", "no").tolist(),
    }
    for name in list(frame)[:-1]:
        frame[name][5] = None
    return pd.DataFrame(frame)


def of_tests(model):
    schema = [(column.kind, column.tests) for column in model.encoder_.schema_]
    return [model.export_text(), model.encoder_.get_feature_names_out().tolist(), schema]


def test_blanks_are_part_of_text_and_not_of_numbers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    jobs = ["clerk", "clerk ", " boss", "boss", "cook"] * 20
    lines = [f"{job}, {i % 7} ,{'yes ' if job == 'clerk' else 'no'}" for i, job in enumerate(jobs)]
    Path("t.csv").write_text("\n".join(["job,n,y", *lines, " NA ,3,no"]))
    frame = pd.read_csv("t.csv", na_values=[" NA "])
    told = call(capsys, "fit", "t.csv", "-t", "y", *QUICK)
    assert told.code == 0, told.err
    model = load_model("t.model.json")
    assert of_tests(model) == of_tests(
        MAPTreeClassifier(max_expansions=30).fit(frame[["job", "n"]], frame["y"])
    )
    assert model.predict(frame[["job", "n"]]).tolist() == frame["y"].tolist()
    told = call(capsys, "score", "t.model.json", "t.csv", "--json")
    assert json.loads(told.out)["accuracy"] == 1


@pytest.mark.filterwarnings("ignore::maptree.AmbiguousTextWarning")
def test_every_container_and_file_gives_the_same_tree(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = written()
    frame.to_csv("t.csv", index=False)
    frame.to_json("t.jsonl", orient="records", lines=True)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pa.parquet.write_table(table, "t.parquet")
    pa.feather.write_feather(table, "t.feather")
    X, y = frame.drop(columns="y"), frame["y"]
    tables = {
        "pandas": X,
        "pandas.read_csv": pd.read_csv("t.csv").drop(columns="y"),
        "polars": pl.read_csv("t.csv").drop("y"),
        "pyarrow": table.drop_columns("y"),
        "scan_parquet": scan_parquet("t.parquet").drop("y"),
        "objects": X.astype(object),
    }
    models = {how: MAPTreeClassifier(max_expansions=30).fit(X, y) for how, X in tables.items()}
    for kind in FILES:
        told = call(capsys, "fit", f"t.{kind}", "-t", "y", "-m", f"{kind}.model.json", *QUICK)
        assert told.code == 0, told.err
        models[f"maptree fit t.{kind}"] = load_model(f"{kind}.model.json")
    expected = of_tests(models["pandas"])
    assert {kind for kind, _ in expected[2]} == {"number", "date", "datetime", "time", "category"}
    same = {how: of_tests(model) == expected for how, model in models.items()}
    assert same == dict.fromkeys(models, True)
    # Every model reads every kind of table, also if it was fitted on another kind.
    answers = models["pandas"].encoder_.transform(X)
    for how in ("pandas", "maptree fit t.csv"):
        for rows in tables.values():
            assert (models[how].encoder_.transform(rows) == answers).all()
    labels = models["pandas"].predict(X).tolist()
    for model, rows in itertools.product(("csv", "parquet"), ("csv", "jsonl", "parquet")):
        told = call(capsys, "predict", f"{model}.model.json", f"t.{rows}")
        assert told.code == 0, told.err
        assert told.out.split()[1:] == labels


def column_of(*texts):
    return pd.DataFrame({"x": [*texts] * 6}), ["no", "yes"] * (3 * len(texts))


def test_the_encoder_says_what_it_read():
    encoder = BinaryEncoder().fit(written()[["dollars", "percent", "points"]])
    kinds = [column.kind for column in encoder.schema_]
    assert kinds == ["number", "number", "date"]
    report = encoder.report()
    for text in (
        "text such as $",
        "is read as dates, day first",
        "% is read as ",
    ):
        assert text in " ".join(report.split())
    names = encoder.get_feature_names_out().tolist()
    assert names[0].startswith("dollars <= $")
    assert any(name.startswith("percent <= ") and name.endswith("%") for name in names)


def test_ambiguous_text_is_warned_of():
    X, y = column_of("4,321", "1,000")
    for estimator in (
        BinaryEncoder(),
        MAPTreeClassifier(),
        MCMCTreeClassifier(n_samples=2, n_chains=1),
    ):
        with pytest.warns(AmbiguousTextWarning, match="4,321 is read as 4321: set decimal") as said:
            estimator.fit(X, y)
        assert said[0].filename == __file__
    assert BinaryEncoder(decimal=".").fit(X).schema_[0].thresholds == (2660.0,)
    assert BinaryEncoder(decimal=",").fit(X).schema_[0].thresholds == (2.66,)
    X, y = column_of("01/02/2020", "03/04/2020")
    with pytest.warns(AmbiguousTextWarning, match="set dates to dmy or mdy"):
        assert BinaryEncoder().fit(X).schema_[0].kind == "category"
    for dates, day in (("dmy", "2020-03-03"), ("mdy", "2020-02-02")):
        encoder = BinaryEncoder(dates=dates).fit(X)
        assert encoder.get_feature_names_out().tolist() == [f"x <= {day}"]
    X, y = column_of("$3", "4 EUR")
    with pytest.warns(AmbiguousTextWarning, match="several currencies"):
        BinaryEncoder().fit(X)
    # As an identifier there is one warning, not two.
    frame = pd.DataFrame({"x": [f"0{i % 9 + 1}/02/{1900 + i}" for i in range(40)]})
    with pytest.warns(IdentifierWarning, match="set dates to dmy or mdy") as said:
        BinaryEncoder().fit(frame)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("parameter", "value"), [("dates", "ymd"), ("decimal", "'"), ("dates", 3), ("decimal", "")]
)
def test_parameters_are_checked(parameter, value):
    with pytest.raises(ValueError, match=f"{parameter}={value!r} is unknown: pass '"):
        BinaryEncoder(**{parameter: value}).fit([["a"], ["b"]])


def test_declared_categories_stay_categories():
    X, _ = column_of("$3", "$4", "$5")
    encoder = BinaryEncoder().fit(X.astype("category"))
    assert encoder.get_feature_names_out().tolist() == ["x = $3", "x = $4", "x = $5"]
    # But where text was read, categories are read, too.
    encoder = BinaryEncoder().fit(X)
    assert (encoder.transform(X.astype("category")) == encoder.transform(X)).all()


def test_text_that_cannot_be_read_later_is_refused():
    X, y = column_of("$3", "$4")
    model = MAPTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X has 'four' at row 1, column 'x', but it held numbers"):
        model.predict(pd.DataFrame({"x": ["$3", "four"]}))
    assert model.predict(pd.DataFrame({"x": [3, 4]})).tolist() == ["no", "yes"]
    assert model.predict(pd.DataFrame({"x": ["3", None]})).tolist() == ["no", "yes"]


def test_rows_that_do_not_count_do_not_decide():
    X, y = column_of("$3", "$4")
    X = pd.concat([X, pd.DataFrame({"x": ["four"]})])
    weights = [1] * (len(X) - 1) + [0]
    weighted = MAPTreeClassifier().fit(X, [*y, "no"], sample_weight=weights)
    assert weighted.rules() == MAPTreeClassifier().fit(X[:-1], y).rules()


def test_text_is_not_read_after_the_time_limit(monkeypatch):
    """A column that is not read in time is left out as a whole."""
    seen = iter(range(100))
    monkeypatch.setattr("maptree.tables.deadline.time.perf_counter", lambda: float(next(seen)))
    from maptree.encoding.choosing import Rows, TablePass
    from maptree.schema.columns import EncoderParameters
    from maptree.tables.table import read_table

    frame = pd.DataFrame({name: [f"{i},5" for i in range(30_000)] for name in "abc"})
    chosen = TablePass(
        read_table(BinaryEncoder(), frame, reset=True), Rows(), EncoderParameters(), True
    )
    chosen.run(deadline=6.5)  # a number of looks at the clock
    assert [column.kind for column in chosen.schema] == ["number", "unread", "unread"]


def test_the_schema_and_the_model_keep_how_text_is_read(tmp_path):
    frame = written()
    X, y = frame[["euros", "points", "clock", "colour"]], frame["y"]
    model = MAPTreeClassifier(encoder=BinaryEncoder(dates="dmy"), max_expansions=30).fit(X, y)
    values = model.encoder_.to_dict()
    assert [column.get("writing") for column in values["columns"]] == [
        {"decimal": ",", "unit": "EUR", "unit_first": False},
        {"form": "31.12.2021"},
        {"form": "12:30"},
        None,
    ]
    assert values["parameters"].pop("category_sets") is False
    assert values["parameters"] == {"dates": "dmy", "max_categories": 32, "max_thresholds": 32}
    values["parameters"]["category_sets"] = False
    assert BinaryEncoder.from_dict(values).schema_ == model.encoder_.schema_
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.encoder.get_params() == model.encoder.get_params()
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_models_without_such_text_are_written_as_before():
    """No field says how text is read where there is only one way."""
    encoder = BinaryEncoder().fit(
        pd.DataFrame({"age": [1, 2, 3], "colour": ["red", "blue", "red"]})
    )
    values = encoder.to_dict()
    assert values["parameters"].pop("category_sets") is False
    assert values["parameters"] == {"max_categories": 32, "max_thresholds": 32}
    fields = ["name", "kind", "dtype", "thresholds", "categories", "missing", "zone", "note"]
    first, second = values["columns"]
    assert list(first) == [*fields, "levels"]
    assert list(second) == [*fields, "others"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"writing": {"decimal": ";", "unit": "", "unit_first": True}}, "a point or a comma"),
        ({"writing": {"decimal": ".", "unit": "x", "unit_first": True}}, "a currency, % or empty"),
        ({"writing": {"decimal": ".", "unit": "$", "unit_first": 1}}, "true or false"),
        ({"writing": {"decimal": "."}}, "is missing unit"),
        ({"writing": {"form": "31.12.2021"}}, "is not how a number column is written"),
        ({"writing": {"form": "31. XII"}}, "must be one of"),
        ({"writing": {"form": []}}, "must be text"),
        ({"writing": {"form": "12:30", "unit": ""}}, "unknown unit"),
        ({"writing": None}, "must have the fields"),
    ],
)
def test_a_schema_is_checked(change, message):
    values = BinaryEncoder().fit(written()[["dollars"]]).to_dict()
    values["columns"][0] |= change
    with pytest.raises(ValueError, match=message):
        BinaryEncoder.from_dict(values)


def test_parameters_in_a_schema_are_checked():
    values = BinaryEncoder().fit(written()[["dollars"]]).to_dict()
    for name, value in (("dates", "ymd"), ("decimal", None), ("dates", ["dmy"]), ("decimals", ",")):
        with pytest.raises(ValueError, match="parameters"):
            BinaryEncoder.from_dict(values | {"parameters": values["parameters"] | {name: value}})


# Exports take numbers, dates and times; text is an error or has no leaf, but never a wrong one


@pytest.fixture(scope="module")
def exported():
    rng = np.random.default_rng(1)
    size, days = rng.integers(500, 9000, N), rng.integers(0, 700, N)
    points = (pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D")).strftime("%d.%m.%Y")
    X = pd.DataFrame({"dollars": [f"${x:,}.50" for x in size], "points": points})
    y = np.where((size > 4000) & (days > 300), "yes", "no")
    model = MAPTreeClassifier(max_expansions=50).fit(X, y)
    assert len(model.fitted_.used_columns) == 2
    typed = pd.DataFrame(
        {
            "dollars": X["dollars"].str.strip("$").str.replace(",", "").astype(float),
            "points": pd.to_datetime(X["points"], format="%d.%m.%Y"),
        }
    )
    assert model.predict(typed).tolist() == model.predict(X).tolist()
    return model, X, typed


def test_python_refuses_text(exported):
    model, X, typed = exported
    module: dict[str, object] = {}
    exec(model.to_python(), module)
    rows = [{"dollars": d, "points": p.date()} for d, p in typed.itertuples(index=False)]
    assert [module["predict"](row) for row in rows] == model.predict(X).tolist()
    for row in X.to_dict("records"):
        with pytest.raises(TypeError, match=r"is the text .*: pass a number, a date or a time"):
            module["predict"](row)


def test_databases_give_text_no_leaf_or_refuse_it(exported):
    model, X, typed = exported
    typed = typed.assign(points=typed["points"].dt.strftime("%Y-%m-%d"))
    connection = sqlite3.connect(":memory:")
    for name, rows in (("typed", typed), ("raw", X)):
        connection.execute(f"CREATE TABLE {name} (dollars, points)")
        connection.executemany(f"INSERT INTO {name} VALUES (?, ?)", rows.itertuples(index=False))
        found = connection.execute(model.to_sql("sqlite", name, keep=[])).fetchall()
        expected = model.predict(X).tolist() if name == "typed" else [None] * len(X)
        assert [row[1] for row in found] == expected
    raw = pa.table({"dollars": ["1.234"] * 3, "points": pa.array([0] * 3, pa.date32())})
    with duckdb.connect() as connection:
        connection.register("raw", raw)
        with pytest.raises(duckdb.BinderException, match="Cannot compare values of type VARCHAR"):
            connection.execute(model.to_sql("duckdb", "raw", keep=[]))


def test_javascript_checks_text(exported):
    module = exported[0].to_javascript()
    assert 'atMost(number(row["dollars"]), ' in module
    assert 'time(iso(row["points"]), false) < ' in module
    assert "function number(value)" in module
    assert "function iso(value)" in module
    plain = MAPTreeClassifier().fit([[1], [2]] * 6, [0, 1] * 6).to_javascript(["x"])
    assert "number(" not in plain


def test_scikit_learn_reads_text(exported):
    model, X, _ = exported
    assert model.to_sklearn().predict(X).tolist() == model.predict(X).tolist()
