"""What the page's script needs to answer a case as ``predict_proba`` does.

Every test comes with what it is compared with, in a form that JavaScript reads without rounding:
a number both as the largest float that is not above the threshold, for values that are floats, and
exactly, in decimal digits, for whole and decimal numbers; nanoseconds as digits; categories by
their position in the field's options.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from maptree.drawing import layout as at
from maptree.drawing.tree_view import TreeView
from maptree.encoding.schema import Column, Test, Threshold, all_tests
from maptree.encoding.value_text import category_text
from maptree.tables.clock import SECOND
from maptree.tables.exact import floor_to

# Digits of a probability after the point in the page's data.
_DIGITS = 9
_CLOCK = ("datetime", "time", "duration")


def page_data(view: TreeView, missing: bool) -> dict[str, Any]:
    """Return the tree, and one field for every column that it asks about, as JSON values.

    ``missing`` tells whether values may be missing at all.
    """
    tests, schema = all_tests(view.words.schema), view.words.schema
    columns = sorted({int(view.words.columns[n.test]) for n in view.nodes if n.test >= 0})
    field_of = {column: i for i, column in enumerate(columns)}
    estimates: dict[tuple[float, float, float], int] = {}
    nodes = []
    for node in view.nodes:
        triples = zip(node.mean, node.interval[:, 0], node.interval[:, 1], strict=True)
        known = [tuple(round(float(number), _DIGITS) for number in triple) for triple in triples]
        asked = None
        if node.test >= 0:
            column = int(view.words.columns[node.test])
            asked = {"field": field_of[column], **_question(schema[column], tests[node.test])}
        nodes.append(
            {
                "children": node.children,
                "test": asked,
                "title": view.title(node),
                "side": node.side,
                "rule": node.rule,
                "counts": node.counts.tolist(),
                "estimates": [estimates.setdefault(t, len(estimates)) for t in known],  # type: ignore[arg-type]
            }
        )
    return {
        "nodes": nodes,
        "order": view.order,
        "estimates": list(estimates),
        "classes": view.classes,
        "colours": view.colours,
        "size": {
            "box": view.place().box,
            "height": at.BOX_HEIGHT,
            "columnGap": at.COLUMN_GAP,
            "rowGap": at.ROW_GAP,
            "margin": at.MARGIN,
        },
        "fields": [_field(schema[column], view.words.name(column), missing) for column in columns],
    }


def _field(column: Column, name: str, missing: bool) -> dict[str, Any]:
    """Describe what a reader can enter for a column."""
    field: dict[str, Any] = {"name": name, "kind": column.kind, "missing": missing}
    if column.kind in ("boolean", "category", "ordered"):
        options = [category_text(category) for category in column.categories]
        return field | {"kind": "options", "options": options, "other": column.kind != "boolean"}
    if column.kind in ("constant", "identifier"):
        return field | {"kind": "options", "options": ["there is a value"], "other": False}
    if column.kind == "number":
        decimal = any(isinstance(threshold, Decimal) for threshold in column.thresholds)
        return field | {"decimal": decimal or "decimal" in column.dtype.lower()}
    if column.kind in _CLOCK:
        whole = all(int(threshold) % SECOND == 0 for threshold in column.thresholds)
        return field | {"step": "1" if whole else "0.001", "utc": column.zone is not None}
    return field


def _question(column: Column, test: Test) -> dict[str, Any]:
    if test.asks == "missing":
        return {"asks": "missing"}
    value = test.value
    assert value is not None
    if test.asks == "equals":
        return {"asks": "equals", "value": column.categories.index(value)}
    if column.kind == "number":
        return {"asks": "at most", "value": _number(value)}  # type: ignore[arg-type]
    return {"asks": "at most", "value": str(value) if column.kind in _CLOCK else int(value)}


def _number(threshold: Threshold) -> dict[str, Any]:
    """Return a threshold as the largest float that is not above it, and exactly.

    >>> _number(45.5), _number(math.inf)["exact"]
    ({'float': '45.5', 'exact': '45.5'}, 'inf')
    >>> _number(2**53 + 1)
    {'float': '9007199254740992.0', 'exact': '9007199254740993'}
    """
    largest = float(floor_to(np.dtype(np.float64), threshold))
    floating = repr(largest).replace("inf", "Infinity")
    if isinstance(threshold, float) and math.isinf(threshold):
        return {"float": floating, "exact": "inf" if threshold > 0 else "-inf"}
    return {"float": floating, "exact": format(Decimal(threshold), "f")}
