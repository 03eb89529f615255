"""Python source and the JSON description, run on Python values."""

from __future__ import annotations

import datetime as dt
import json
import platform
from decimal import Decimal

import maptree
from mixed_table import TYPES


def test_the_tree_asks_about_every_column_and_nearly_every_test(mixed):
    tree = mixed.model.tree_
    asked = set(tree.feature[tree.feature >= 0].tolist())
    columns = mixed.model.encoder_.test_columns_
    assert set(columns[list(asked)].tolist()) == set(range(len(TYPES)))
    assert len(asked) > 0.9 * len(columns)
    # Rows end in many leaves, and the leaves differ.
    assert len(set(mixed.model.apply(mixed.table).tolist())) > 0.5 * tree.n_leaves


def test_python(case, compare):
    module = {}
    exec(compile(case.model.to_python(), "exported", "exec"), module)
    rows = case.rows
    assert module["LABELS"] == tuple(case.model.classes_)
    compare(
        "Python",
        platform.python_version(),
        case,
        [module["leaf"](row) for row in rows],
        [module["predict_proba"](row) for row in rows],
        [module["predict"](row) for row in rows],
    )


def test_json(case, compare):
    tree = json.loads(case.model.to_json())
    leaves = [walk(tree, row) for row in case.rows]
    nodes = [tree["nodes"][leaf] for leaf in leaves]
    compare(
        "JSON",
        f"{tree['format']} {tree['version']}, maptree {maptree.__version__}",
        case,
        leaves,
        [node["probabilities"] for node in nodes],
        [tree["classes"][node["prediction"]] for node in nodes],
    )


def walk(tree, row):
    number = 0
    while "operator" in (node := tree["nodes"][number]):
        column = tree["columns"][node["column"]]
        value = row[column["name"]]
        if value is None or value != value:
            number = node["missing"]
        else:
            number = node["yes" if answer(node, column["kind"], value) else "no"]
    return number


def answer(node, kind, value):
    bound = node.get("value")
    if node["operator"] == "is missing":
        return False
    if node["operator"] in ("in", "not in"):
        return (value in bound) == (node["operator"] == "in")
    if isinstance(bound, dict):
        [(what, text)] = bound.items()
        bound = {"decimal": Decimal, "float": float}[what](text)
    elif kind == "date":
        bound = dt.date.fromisoformat(bound)
    elif kind == "datetime":
        bound = dt.datetime.fromisoformat(bound)
    elif kind == "time":
        bound = dt.time.fromisoformat(bound)
    elif kind == "duration":
        sign = -1 if bound.startswith("-") else 1
        micro = Decimal(bound.strip("-PTS")) * 10**6
        bound = sign * dt.timedelta(microseconds=int(micro))
    if node["operator"] == "=":
        return value == bound
    return value < bound if node["operator"] == "<" else value <= bound
