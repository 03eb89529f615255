"""A tree as plain JSON values, for machines."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

from maptree.export.plain_tree import Node, PlainTree
from maptree.export.thresholds import moment_text
from maptree.schema.columns import IN_ORDER, Column, Test
from maptree.tables.clock import date_text, iso_duration, time_text
from maptree.trees.fitted import FittedTree

FORMAT = "maptree.tree"
VERSION = 1
VERSION_OF_MEASURED = 2  # numbers and counts


def describe(fitted: FittedTree) -> dict[str, Any]:
    """Return the tree as JSON values; docs/exports.md says what they mean."""
    tree = PlainTree.of(fitted)
    tree.refuse_long_lists("JSON", ((n.column, n.asks) for n in tree.nodes if n.asks is not None))
    if tree.outcome == "classes":
        predicts: dict[str, Any] = {"version": VERSION, "classes": list(tree.labels)}
    else:
        predicts = {"version": VERSION_OF_MEASURED, "outcome": tree.outcome}
    return {
        "format": FORMAT,
        **predicts,
        "columns": [
            {"name": column.name, "kind": column.kind, "dtype": column.dtype, "zone": column.zone}
            for column in tree.columns
        ],
        "nodes": [_node(tree, node) for node in tree.nodes],
    }


def write_json(fitted: FittedTree, indent: int | None = 2) -> str:
    """Return the tree as JSON text."""
    return json.dumps(describe(fitted), indent=indent, allow_nan=False)


def _node(tree: PlainTree, node: Node) -> dict[str, Any]:
    described = _predicted(tree, node)
    if node.asks is not None:
        column = tree.columns[node.column]
        described |= {
            "column": node.column,
            **_test(column, node.asks),
            "text": tree.words.test(node.test),
            "yes": node.yes,
            "no": node.no,
            "missing": node.missing,
        }
    return described


def _predicted(tree: PlainTree, node: Node) -> dict[str, Any]:
    if tree.outcome == "classes":
        return {
            "counts": list(node.counts),
            "probabilities": list(node.probabilities),
            "prediction": node.prediction,
        }
    found = node.measured
    names = ("df", "scale") if tree.outcome == "numbers" else ("size",)
    return {
        "rows": node.rows,
        "prediction": found.mean,
        "interval": [found.low, found.high],
        **dict(zip(names, found.shape, strict=True)),
    }


def _test(column: Column, test: Test) -> dict[str, Any]:
    if test.asks == "missing":
        return {"operator": "is missing"}
    if test.asks == "equals":
        return {"operator": "=", "value": _number(test.value)}
    if column.kind in IN_ORDER:
        inside, categories = column.categories_of(test)
        return {"operator": "in" if inside else "not in", "value": [_number(c) for c in categories]}
    if test.value == math.inf:
        return {"operator": "<", "value": _number(test.value)}
    return {"operator": "<=", "value": _threshold(column, test.value)}


def _threshold(column: Column, value: Any) -> Any:
    if column.kind == "date":
        return date_text(value)
    if column.kind == "datetime":
        return moment_text(column, value).replace(" ", "T") + ("Z" if column.zone else "")
    if column.kind == "time":
        return time_text(value, seconds=True)
    return iso_duration(value) if column.kind == "duration" else _number(value)


def _number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    if isinstance(value, float) and math.isinf(value):
        return {"float": str(value)}
    return value
