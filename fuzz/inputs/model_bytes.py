"""Any bytes as a model file: refused with a ValueError, or a model that can be used.

A model that was read predicts; its text, its exports and its picture can be made or are refused
with a ValueError; its Python source gives the leaf that it gives itself; and it is written and read
back as it was.
"""

from __future__ import annotations

import json
import random
import sqlite3
import warnings
from typing import Any

import numpy as np
import pandas as pd

from maptree import MAPTreeClassifier, MAPTreeRegressor
from maptree.estimators.saved import restored, stored
from maptree.files.strict_json import dump, parse
from maptree.model_file.reading import parse_model
from maptree.model_file.writing import _values

MOST_BYTES = 6_000

Model = MAPTreeClassifier | MAPTreeRegressor

_ROWS = {
    "number": [1, None, 10**6],
    "boolean": [True, None, False],
    "date": [pd.Timestamp("2021-03-04").date(), None, None],
    "datetime": [pd.Timestamp("2021-03-04 12:30"), None, None],
    "time": [pd.Timestamp("2021-03-04 12:30").time(), None, None],
    "duration": [pd.Timedelta(seconds=3), None, None],
}


def try_input(content: bytes) -> None:
    """Read a model and use it."""
    try:
        model = restored(parse_model(parse(content)))
    except ValueError:
        return
    written = dump(_values(stored(model)))
    assert dump(_values(stored(restored(parse_model(parse(written)))))) == written
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _use(model)


def _use(model: Model) -> None:
    rows = _rows(model)
    leaves = model.apply(rows)
    assert len(model.predict(rows)) == 3
    if isinstance(model, MAPTreeRegressor):
        assert np.isfinite(model.predict(rows)).all()
    else:
        assert np.isfinite(model.predict_proba(rows)).all()
    assert np.isfinite(model.predict_interval(rows)).all()
    assert model.decision_path(rows).shape == (3, model.tree_.node_count)
    n_leaves = model.tree_.n_leaves
    assert len(model.rules()) == n_leaves
    assert len(model.export_text().splitlines()) >= n_leaves
    str(model.certificate_)
    for make in (model.to_dot, model.to_mermaid, model.to_latex, model.to_c, model.to_javascript):
        _try(make)
    described = _try(model.to_json)
    if described is not None:
        assert len(json.loads(described)["nodes"]) == model.tree_.node_count
    _run_python(model, rows, leaves)
    _run_sqlite(model)


def _try(make: Any, *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except ValueError:  # a name or value that the target cannot hold
        return None


def _rows(model: Model) -> Any:
    """Three rows with values of the kinds that the columns have, and missing ones."""
    schema = model.fitted_.schema
    if model.encoder_ is None:
        return np.zeros((3, len(schema.columns)), dtype=np.int8)
    columns = []
    for column in schema.columns:
        values = _ROWS.get(column.kind, ["red", None, "unknown"])
        if column.kind in ("category", "ordered", "sets") and column.categories:
            text = [c for c in column.categories if isinstance(c, str)]
            values = [(text or column.categories)[0], None, (text or column.categories)[-1]]
        if column.zone is not None:
            values = [pd.Timestamp("2021-03-04 12:30", tz="UTC"), None, None]
        if schema.binary:
            values = [1, 0, 1]
        columns.append(pd.Series(values, dtype=object))
    frame = pd.concat(columns, axis=1)
    if not schema.named:
        return frame.to_numpy()
    frame.columns = pd.Index(schema.names, dtype=object)
    return frame


def _run_python(model: Model, rows: Any, leaves: Any) -> None:
    """Run the exported Python; it takes a dict of plain values for a row."""
    source = _try(model.to_python)
    if source is None or not isinstance(rows, pd.DataFrame):
        return
    exported: dict[str, Any] = {}
    exec(source, exported)  # our own source, whatever names are in it
    for row, leaf in zip(rows.to_dict("records"), leaves, strict=True):
        found = exported["leaf"]({name: _plain(value) for name, value in row.items()})
        assert found == leaf, (row, found, leaf)


def _plain(value: Any) -> Any:
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    return value.to_pytimedelta() if isinstance(value, pd.Timedelta) else value


def _run_sqlite(model: Model) -> None:
    """Run the exported SQL on an empty table: whatever names are in it, it is one query."""
    sql = _try(model.to_sql, "sqlite", "t")
    names = model.fitted_.schema.names
    if sql is None or len({name.lower() for name in names}) < len(names) or "" in names:
        return
    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in names)
    connection = sqlite3.connect(":memory:")
    try:
        try:
            connection.execute(f"CREATE TABLE t ({columns})")
        except (sqlite3.Error, ValueError):  # a name with NUL or half of a surrogate pair
            return
        assert connection.execute(sql).fetchall() == []
    finally:
        connection.close()


# Mutations that keep the JSON valid, in addition to those of libFuzzer, which rarely do.

_SCALARS = json.loads(r"""[
    null, true, false, -1, 0, 1, 2, 0.5, -0.5, 1e300, -1e-300, 2147483648, 9223372036854775808,
    1000000000000000000000000000000, "", "x", "inf", "-inf", "nan", "auto", "optimal", "time_limit",
    "|O", "<U1", "<i8", "|b1", "<f8", "UTC", "number", "boolean", "category", "ordered", "date",
    "sets", "datetime", "time", "duration", "2021-03-04", "2021-03-04T12:30:00", "12:30:00", "PT3S",
    "numbers", "counts", "normal", "poisson",
    "\ud800", "\u0000", "\u00e9", "a\"b", "\n", {"decimal": "0.5"}, {"decimal": "1e9999"},
    {"float": "inf"}, [], {}
]""")


def mutate(content: bytes, seed: int) -> bytes | None:
    """Change one or two values; None if the content is not JSON."""
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return None
    if not isinstance(values, dict) or not values:
        return None
    rng = random.Random(seed)
    for _ in range(rng.randint(1, 2)):
        _change(list(places(values)), rng)
    return json.dumps(values).encode()


def _change(places: list[tuple[Any, Any]], rng: random.Random) -> None:
    if not places:
        return
    # Parts that repeat, such as the trace, are chosen as rarely as others.
    container, key = rng.choice(places)
    value = container[key]
    kind = rng.randrange(6)
    if kind == 0:
        other, place = rng.choice(places)
        container[key] = json.loads(json.dumps(other[place]))
    elif kind == 1 and isinstance(container, list):
        container.insert(key, json.loads(json.dumps(value)))
    elif kind == 2 and isinstance(container, list):
        del container[key]
    elif kind == 3 and isinstance(value, (int, float)) and not isinstance(value, bool):
        container[key] = value + rng.choice([-2, -1, 1, 2, 0.5])
    elif kind == 4 and isinstance(value, str):
        at = rng.randrange(len(value) + 1)
        container[key] = (
            value[:at] + rng.choice(["", "9", '"', "'", "\\", "é", "\0"]) + value[at + 1 :]
        )
    else:
        container[key] = rng.choice(_SCALARS)


def places(values: Any) -> Any:
    """Yield every place in nested values, as (container, key)."""
    keys = list(values) if isinstance(values, dict) else range(len(values))
    for key in keys:
        yield values, key
        if isinstance(values[key], (dict, list)):
            yield from places(values[key])
