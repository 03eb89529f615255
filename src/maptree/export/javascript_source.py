"""A tree as an ES module."""

from __future__ import annotations

import json
import math
from typing import Any

from maptree.export.decision_list import Rule, written_rules
from maptree.export.plain_tree import PlainTree
from maptree.export.thresholds import iso_end, nearest_float
from maptree.schema.columns import IN_ORDER, Column, Test
from maptree.trees.fitted import FittedTree

_SAFE = 2**53 - 1

# Equal ISO 8601 times can differ as text, so they are brought to one form and compared with "<".
_TIME_FUNCTION = """
// ISO 8601 text in the form used for comparison; a Date only if the column has a time zone.
function time(value, zoned) {
  if (isMissing(value)) return undefined;
  if (value instanceof Date && zoned) value = value.toISOString();
  if (typeof value !== "string") throw new TypeError("Pass dates and times as ISO 8601 text.");
  const parts = /^(.*?)(Z|[+-]\\d\\d(?::?\\d\\d)?)?$/s.exec(value.replace("T", " "));
  const zone = value.includes(":") ? parts[2] : undefined;
  if (zone !== undefined && !zoned) throw new TypeError(`Pass ${value} without a time zone.`);
  if (zone === undefined) return value.replace("T", " ");
  if (!/^(Z|[+-]00(:?00)?)$/.test(zone)) throw new TypeError(`Pass ${value} in UTC.`);
  return parts[1];
}
"""


# Text that was read as a number or a date when the tree was fitted, but is not read here.
_NUMBER_FUNCTION = """
function number(value) {
  if (typeof value === "string") throw new TypeError(`${value} is text: pass a number.`);
  return value;
}
"""
_ISO_FUNCTION = """
function iso(value) {
  if (typeof value === "string" && !/^(\\d{4}-\\d\\d-\\d\\d|\\d\\d:\\d\\d)/.test(value)) {
    throw new TypeError(`${value} is not ISO 8601 text.`);
  }
  return value;
}
"""


_CLASS_FUNCTIONS = """\
// The most probable label.
export function predict(row) {
  return labels[classes[leaf(row)]];
}

// The probability of each label.
export function predictProba(row) {
  return probabilities[leaf(row)].slice();
}
"""
_NUMBER_FUNCTIONS = """\
// The mean of the predictive distribution.
export function predict(row) {
  return leaves[leaf(row)][0];
}

// The ends of the 95% predictive interval.
export function predictInterval(row) {
  return leaves[leaf(row)].slice(1, 3);
}

// Degrees of freedom, location and scale of the predictive Student's t distribution.
export function predictDist(row) {
  const [loc, , , df, scale] = leaves[leaf(row)];
  return { df, loc, scale };
}
"""
_COUNT_FUNCTIONS = """\
function exposed(exposure) {
  if (!(exposure > 0)) throw new RangeError(`exposure is ${exposure}: pass a number above 0.`);
  return Number(exposure);
}

// The mean of the predictive distribution: the rate of the leaf times the exposure.
export function predict(row, exposure = 1) {
  return leaves[leaf(row)][0] * exposed(exposure);
}

// The ends of the 95% predictive interval of a count with an exposure of 1.
export function predictInterval(row) {
  return leaves[leaf(row)].slice(1, 3);
}

// n and p of the predictive negative binomial distribution; its mean is n (1 - p) / p.
export function predictDist(row, exposure = 1) {
  const [rate, , , n] = leaves[leaf(row)];
  return { n, p: n / (n + rate * exposed(exposure)) };
}
"""


def write_javascript(fitted: FittedTree) -> str:
    """Return an ES module with functions for the leaf of a row, and for what it predicts."""
    tree = PlainTree.of(fitted)
    tree.refuse_repeated_names("JavaScript")
    rules = "\n".join(_rule(tree, rule) for rule in written_rules(tree, "JavaScript"))
    times = any(tree.columns[c].kind in ("date", "datetime", "time") for c in tree.used)
    checks = "".join(
        function
        for call, function in (("number(", _NUMBER_FUNCTION), ("iso(", _ISO_FUNCTION))
        if call in rules
    )
    constants, predictions = _of_classes(tree) if tree.outcome == "classes" else _of_measured(tree)
    return f"""\
// A decision tree as a standalone ES module. A row is an object with a property for every column.
{constants}
function isMissing(value) {{
  if (value instanceof Date) return Number.isNaN(value.getTime());
  return value === null || value === undefined || value !== value;
}}

// null would be compared as 0.
function atMost(value, bound) {{
  return !isMissing(value) && value <= bound;
}}
{_TIME_FUNCTION if times else ""}{checks}
// The number of the leaf's node in the tree. The first true condition decides.
export function leaf(row) {{
{rules}
}}

{predictions}"""


def _of_classes(tree: PlainTree) -> tuple[str, str]:
    """Return what a module holds about its leaves, and the functions that look it up."""
    best = ", ".join(f"{leaf.number}: {leaf.prediction}" for leaf in tree.leaves)
    labels = ", ".join(js_value(label) for label in tree.labels)
    constants = f"""\
export const labels = [{labels}];

const probabilities = {{
{_rows({leaf.number: leaf.probabilities for leaf in tree.leaves})}
}};
const classes = {{ {best} }};
"""
    return constants, _CLASS_FUNCTIONS


def _of_measured(tree: PlainTree) -> tuple[str, str]:
    """Do the same for numbers and counts."""
    numbers = tree.outcome == "numbers"
    holds = "mean, interval, degrees of freedom, scale" if numbers else "rate, interval, size"
    constants = f"""\
// Of each leaf: {holds}.
const leaves = {{
{_rows({leaf.number: leaf.measured.values for leaf in tree.leaves})}
}};
"""
    return constants, _NUMBER_FUNCTIONS if numbers else _COUNT_FUNCTIONS


def _rows(of_leaves: dict[int, tuple[float, ...]]) -> str:
    return ",\n".join(
        f"  {number}: [{', '.join(map(repr, values))}]" for number, values in of_leaves.items()
    )


def _rule(tree: PlainTree, rule: Rule) -> str:
    if not rule.answers:
        return f"  return {rule.leaf};"
    conditions = []
    for answer in rule.answers:
        condition = _condition(tree.columns[answer.column], answer.test)
        negated = (
            f"!{condition}" if condition.startswith(("atMost", "isMiss")) else f"!({condition})"
        )
        conditions.append(condition if answer.yes else negated)
    return f"  if ({' && '.join(conditions)}) return {rule.leaf};"


def _condition(column: Column, test: Test) -> str:
    x, value = f"row[{js_text(column.name)}]", test.value
    if column.writing is not None:
        x = f"{'number' if column.kind in ('number', 'boolean') else 'iso'}({x})"
    if test.asks == "missing":
        return f"isMissing({x})"
    if column.kind == "boolean":  # true, 1 and 1n are equal to 1, but so is "1"
        return f'typeof {x} !== "string" && {x} == 1'
    if column.kind in IN_ORDER:
        inside, categories = column.categories_of(test)
        among = f"[{', '.join(map(js_value, categories))}].includes({x})"
        return among if inside else f"(!isMissing({x}) && !{among})"
    if column.kind == "category":
        return f"{x} === {js_value(value)}"
    if column.kind in ("date", "datetime", "time"):
        zoned = "true" if column.zone is not None else "false"
        return f"time({x}, {zoned}) < {js_text(iso_end(column, value))}"
    if value == math.inf:
        return f"!isMissing({x}) && {x} < Infinity"
    return f"atMost({x}, {_number(column, value)})"


def _number(column: Column, threshold: Any) -> str:
    if isinstance(threshold, int):
        return str(threshold) if abs(threshold) <= _SAFE else f"{threshold}n"
    if threshold == -math.inf:
        return "-Infinity"
    return repr(nearest_float(column, threshold, "JavaScript"))


def js_value(value: Any) -> str:
    """Write a category or a label."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return js_text(value)
    if isinstance(value, int):
        return str(value) if abs(value) <= _SAFE else f"{value}n"
    return repr(value) if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def js_text(text: str) -> str:
    r"""Write text as a string that is also safe inside an HTML script element.

    >>> print(js_text('</script> "é" \u2028'))
    "\u003c/script> \"\u00e9\" \u2028"
    """
    return json.dumps(text).replace("<", "\\u003c")
