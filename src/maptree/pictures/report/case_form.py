"""The data with which the page's script predicts a case exactly as the model does.

Every test has its threshold or category in a form that JavaScript reads without rounding: a number
as the largest float that is not above the threshold, for float values, and exactly in decimal
digits, for whole and decimal numbers; nanoseconds as digits; categories by their position in the
field's options.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from maptree.pictures import layout as at
from maptree.pictures.class_view import ClassTree
from maptree.pictures.measured_view import MeasuredTree
from maptree.pictures.tree_view import AnyTree
from maptree.schema.columns import IN_ORDER, Column, Test, Threshold
from maptree.tables.clock import SECOND
from maptree.tables.exact import floor_to
from maptree.trees.outcomes import Counts
from maptree.words.values import category_text, threshold_text

# Decimal places of the ends of an interval of a probability.
_DIGITS = 6
# Of the intervals of a number or a count, as in measured.js.
LEVELS = (0.5, 0.9, 0.95)
_CLOCK = ("datetime", "time", "duration")


def page_data(view: AnyTree) -> dict[str, Any]:
    """Return the tree, and one field for every column that it tests, as JSON values."""
    schema = view.fitted.schema
    # In the order of the tree: the column that the root tests comes first.
    inner = sorted((node for node in view.nodes if node.test >= 0), key=lambda node: node.depth)
    columns = list(dict.fromkeys(schema.column_of_test[node.test] for node in inner))
    field_of = {column: i for i, column in enumerate(columns)}
    asked: dict[int, list[Test]] = {column: [] for column in columns}
    for node in inner:
        asked[schema.column_of_test[node.test]].append(schema.tests[node.test])
    nodes, known = _of_classes(view) if isinstance(view, ClassTree) else _of_measured(view)
    for i, values in enumerate(nodes):
        node = view.nodes[i]
        if node.test >= 0:  # the rules of the leaves are in the table of rules
            column, test = schema.column_of_test[node.test], schema.tests[node.test]
            question = {"field": field_of[column], **_question(schema.columns[column], test)}
            values |= {"children": node.children, "test": question, "rule": node.rule}
    return {
        "nodes": nodes,
        "order": view.order,
        **known,
        "size": {
            "box": view.place().box,
            "height": at.BOX_HEIGHT,
            "columnGap": at.COLUMN_GAP,
            "rowGap": at.ROW_GAP,
            "margin": at.MARGIN,
        },
        "fields": [
            _field(schema.columns[column], asked[column], schema.takes_missing)
            | {"range": _range(schema.columns[column], asked[column])}
            for column in columns
        ],
    }


Values = tuple[list[dict[str, Any]], dict[str, Any]]  # of the nodes, and of the tree


def _of_classes(view: ClassTree) -> Values:
    """Return counts, from which the page computes probabilities, and the ends of intervals."""
    # An interval depends on the number of rows, those of the class, and its rho: many are equal.
    rho = view.fitted.prior.rho.tolist()
    like = [rho.index(value) for value in rho]
    intervals: dict[str, list[float]] = {}
    nodes: list[dict[str, Any]] = []
    for node in view.nodes:
        counts = node.counts.tolist()
        for count, first, pair in zip(counts, like, node.interval.tolist(), strict=True):
            intervals[f"{node.n},{count},{first}"] = [_rounded(end) for end in pair]
        nodes.append({"counts": counts})
    known = {
        "intervals": intervals,
        "rho": rho,
        "classes": view.classes,
        "colours": view.colours,
    }
    return nodes, known


def _of_measured(view: MeasuredTree) -> Values:
    """Return means and intervals; of counts what the page computes these from."""
    measured, tree = view.measured, view.fitted.tree
    counts = isinstance(measured, Counts)
    nodes: list[dict[str, Any]] = [
        {
            "n": node.n,
            "values": [node.mean, _few_digits(node.low), _few_digits(node.high)],
            "held": node.held,
        }
        for node in view.nodes
    ]
    if isinstance(measured, Counts):
        sizes, seen = measured.posterior(tree)
        for values, size, exposure in zip(nodes, sizes.tolist(), seen.tolist(), strict=True):
            values["gamma"] = [size, exposure * measured.exposure]
    else:
        found = measured.predictive(tree)
        ends = [[found.quantile((1 + side * level) / 2) for side in (-1, 1)] for level in LEVELS]
        for i, (node, values) in enumerate(zip(view.nodes, nodes, strict=True)):
            if node.test < 0:
                values["intervals"] = [[_few_digits(float(end[i])) for end in two] for two in ends]
    return nodes, {
        "name": view.name,
        "counts": counts,
        "exposed": isinstance(measured, Counts) and measured.exposed,
        "usual": view.usual,
        "scale": [view.scale.low, view.scale.high],
        "shape": {
            "left": at.INSET,
            "room": view.place().bar,
            "top": at.SHAPE_TOP,
            "base": at.SHAPE_BASE,
        },
    }


def _few_digits(end: float) -> float:
    """Return an end of an interval in nine digits."""
    return float(f"{end:.9g}")


def _range(column: Column, tests: Sequence[Test]) -> str:
    """Return which numbers or dates the tree compares a column with; empty for other columns.

    >>> age = Column("age", "number", "int64", thresholds=(30.5, 45.5, 60.0))
    >>> _range(age, age.tests), _range(age, age.tests[1:2])
    ('compared with 30.5 to 60', 'compared with 45.5')
    """
    if column.kind in ("boolean", "category", *IN_ORDER):
        return ""
    values = [test.value for test in tests if test.asks == "at most"]
    if not values:
        return ""
    low, high = (threshold_text(column, end) for end in (min(values), max(values)))  # type: ignore[type-var, arg-type]
    return f"compared with {low}" if low == high else f"compared with {low} to {high}"


def _rounded(end: float) -> float:
    """Return an end of an interval in few digits, and not as 0 or 1 unless it is.

    >>> _rounded(0.1234564), _rounded(1e-30), _rounded(1 - 1e-12), _rounded(1.0)
    (0.123456, 1e-07, 0.9999999, 1.0)
    """
    least = 10.0 ** -(_DIGITS + 1)
    return end if end in (0.0, 1.0) else min(max(round(end, _DIGITS), least), 1 - least)


def _field(column: Column, asked: Sequence[Test], missing: bool) -> dict[str, Any]:
    """Describe the form field of a column; ``missing``: values may be missing."""
    field: dict[str, Any] = {"name": column.name, "kind": column.kind, "missing": missing}
    field["seenMissing"] = column.has_missing
    if column.kind in ("boolean", "category", *IN_ORDER):
        seen = (*column.categories, *(column.others or ()))
        options = [category_text(category) for category in seen]
        field |= {"kind": "options", "options": options, "other": column.kind != "boolean"}
        return field | {"sets": True} if column.kind == "sets" else field
    if column.kind in ("constant", "identifier"):
        return field | {"kind": "options", "options": ["there is a value"], "other": False}
    if column.kind == "number":
        decimal = any(isinstance(threshold, Decimal) for threshold in _few(column, asked))
        return field | {"decimal": decimal or "decimal" in column.dtype.lower()}
    if column.kind in _CLOCK:
        return field | {"step": _step(_few(column, asked)), "zone": column.zone}
    return field


def _few(column: Column, asked: Sequence[Test]) -> Sequence[Any]:
    """Return the thresholds of a column, or of many those that the tree tests."""
    if isinstance(column.thresholds, tuple):
        return column.thresholds
    return [test.value for test in asked if test.asks == "at most"]


def _step(thresholds: Sequence[Any]) -> str | None:
    """Return the step in seconds of a browser's time input; None if it would have to be finer."""
    steps = (SECOND, "1"), (SECOND // 1000, "0.001")
    for step, seconds in steps:
        if all(int(threshold) % step == 0 for threshold in thresholds):
            return seconds
    return None


def _question(column: Column, test: Test) -> dict[str, Any]:
    if test.asks == "missing":
        return {"asks": "missing"}
    value = test.value
    assert value is not None
    if test.asks == "equals":
        return {"asks": "equals", "value": column.categories.index(value)}
    if column.kind == "number":
        return {"asks": "at most", "value": _number(value)}  # type: ignore[arg-type]
    question = {"asks": "at most", "value": str(value) if column.kind in _CLOCK else int(value)}
    if column.kind == "sets" and not column.categories_of(test)[0]:
        question["other"] = len(column.categories)  # what the field calls any other value
    return question


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
