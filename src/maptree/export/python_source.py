"""A tree as a Python module that needs only the standard library."""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from maptree.export.decision_list import Rule, written_rules
from maptree.export.plain_tree import PlainTree
from maptree.export.thresholds import MICROSECOND, day_text, moment_text
from maptree.schema.columns import IN_ORDER, Column, Test
from maptree.tables.clock import SECOND
from maptree.trees.fitted import FittedTree

_MISSING_FUNCTION = """

def _missing(value):
    return value is None or value != value
"""
_AT_MOST_FUNCTION = """

def _at_most(value, bound, column):
    try:
        return not _missing(value) and value <= bound
    except (TypeError, ValueError):
        raise TypeError(f"{column} is {value!r}: it cannot be compared with {bound!r}.") from None
"""
_BELOW_FUNCTION = """

def _below(value, bound, column):
    try:
        return not _missing(value) and value < bound
    except (TypeError, ValueError):
        raise TypeError(f"{column} is {value!r}: it cannot be compared with {bound!r}.") from None
"""
_DAY_FUNCTION = '''

def _day(value):
    """A datetime counts by its day."""
    if isinstance(value, datetime.datetime) and not _missing(value):
        return value.date()
    return value
'''
_MOMENT_FUNCTION = '''

def _moment(value):
    """A date counts as its midnight."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    return value
'''
_TYPED_FUNCTION = '''

def _typed(value, column):
    """Refuse text: it was read as a number, a date or a time when the tree was fitted."""
    if isinstance(value, str):
        raise TypeError(f"{column} is the text {value!r}: pass a number, a date or a time.")
    return value
'''
_CLASS_FUNCTIONS = '''

def predict(row):
    """Return the most probable label."""
    return LABELS[_CLASSES[leaf(row)]]


def predict_proba(row):
    """Return the probability of each label."""
    return _PROBABILITIES[leaf(row)]
'''
_NUMBER_FUNCTIONS = '''

def predict(row):
    """Return the mean of the predictive distribution."""
    return _LEAVES[leaf(row)][0]


def predict_interval(row):
    """Return the ends of the 95% predictive interval."""
    return _LEAVES[leaf(row)][1:3]


def predict_dist(row):
    """Return degrees of freedom, location and scale of the predictive Student's t distribution."""
    location, _, _, df, scale = _LEAVES[leaf(row)]
    return df, location, scale
'''
_COUNT_FUNCTIONS = '''

def _exposed(exposure):
    if not exposure > 0:
        raise ValueError(f"exposure is {exposure!r}: pass a number above 0.")
    return exposure


def predict(row, exposure=1.0):
    """Return the mean of the predictive distribution: the rate of the leaf times the exposure."""
    return _LEAVES[leaf(row)][0] * _exposed(exposure)


def predict_interval(row):
    """Return the ends of the 95% predictive interval of a count with an exposure of 1."""
    return _LEAVES[leaf(row)][1:3]


def predict_dist(row, exposure=1.0):
    """Return n and p of the predictive negative binomial distribution, of mean n (1 - p) / p."""
    rate, _, _, size = _LEAVES[leaf(row)]
    return size, size / (size + rate * _exposed(exposure))
'''
# The later functions use the first.
_FUNCTIONS = {
    "_missing(": _MISSING_FUNCTION,
    "_typed(": _TYPED_FUNCTION,
    "_at_most(": _AT_MOST_FUNCTION,
    "_below(": _BELOW_FUNCTION,
    "_day(": _DAY_FUNCTION,
    "_moment(": _MOMENT_FUNCTION,
}


def write_python(fitted: FittedTree) -> str:
    """Return a module with functions for the leaf of a row, and for what it predicts."""
    tree = PlainTree.of(fitted)
    tree.refuse_repeated_names("Python")
    rules = "\n".join(_rule(tree, rule) for rule in written_rules(tree, "Python"))
    kinds = {tree.columns[column].kind for column in tree.used}
    used = [function for call, function in _FUNCTIONS.items() if call in rules]
    if used and used[0] != _MISSING_FUNCTION:
        used.insert(0, _MISSING_FUNCTION)
    functions = "".join(used)
    values = [test.value for column in tree.used for test in tree.asked[column]]
    imports = "import datetime\n" if kinds & {"date", "datetime", "time", "duration"} else ""
    imports += (
        "from decimal import Decimal\n" if any(isinstance(v, Decimal) for v in values) else ""
    )
    constants, predictions = _of_classes(tree) if tree.outcome == "classes" else _of_measured(tree)
    return f'''\
"""A decision tree as standalone Python. A row is a mapping from column names to values."""
{imports and chr(10)}{imports}
{constants}{functions}

def leaf(row):
    """Return the number of the leaf's node in the tree. The first true condition decides."""
{rules}
{predictions}'''


def _of_classes(tree: PlainTree) -> tuple[str, str]:
    """Return what a module holds about its leaves, and the functions that look it up."""
    rows = "\n".join(f"    {leaf.number}: {leaf.probabilities!r}," for leaf in tree.leaves)
    best = ", ".join(f"{leaf.number}: {leaf.prediction}" for leaf in tree.leaves)
    labels = ", ".join(ascii(label) for label in tree.labels)
    constants = f"""\
LABELS = ({labels},)

_PROBABILITIES = {{
{rows}
}}
_CLASSES = {{{best}}}
"""
    return constants, _CLASS_FUNCTIONS


def _of_measured(tree: PlainTree) -> tuple[str, str]:
    """Do the same for numbers and counts."""
    rows = "\n".join(f"    {leaf.number}: {leaf.measured.values!r}," for leaf in tree.leaves)
    numbers = tree.outcome == "numbers"
    holds = "mean, interval, degrees of freedom, scale" if numbers else "rate, interval, size"
    constants = f"""\
# Of each leaf: {holds}.
_LEAVES = {{
{rows}
}}
"""
    return constants, _NUMBER_FUNCTIONS if numbers else _COUNT_FUNCTIONS


def _rule(tree: PlainTree, rule: Rule) -> str:
    if not rule.answers:
        return f"    return {rule.leaf}"
    conditions = []
    for answer in rule.answers:
        condition = _condition(tree.columns[answer.column], answer.test)
        conditions.append(condition if answer.yes else f"not {condition}")
    return f"    if {' and '.join(conditions)}:\n        return {rule.leaf}"


def _condition(column: Column, test: Test) -> str:
    name, value = ascii(column.name), test.value
    x = f"row[{name}]"
    if column.writing is not None:
        x = f"_typed({x}, {name})"
    if test.asks == "missing":
        return f"_missing({x})"
    if column.kind == "boolean":
        return f"{x} == 1"
    if column.kind == "category":
        return f"{x} == {_constant(value)}"
    if column.kind in IN_ORDER:
        inside, categories = column.categories_of(test)
        listed = f"({', '.join(map(_constant, categories))},)"
        return f"{x} in {listed}" if inside else f"(not _missing({x}) and {x} not in {listed})"
    if column.kind == "number":
        compare = "_below" if value == math.inf else "_at_most"
        return f"{compare}({x}, {_constant(value)}, {name})"
    given = {"date": f"_day({x})", "datetime": f"_moment({x})"}.get(column.kind, x)
    return f"_at_most({given}, {_time(column, value)}, {name})"


def _constant(value: Any) -> str:
    """Write a number or text in ASCII, so that it reads back the same."""
    if isinstance(value, float) and math.isinf(value):
        return 'float("inf")' if value > 0 else 'float("-inf")'
    return ascii(value)


def _time(column: Column, threshold: Any) -> str:
    """Write a threshold as an expression of the module datetime."""
    micro = threshold // MICROSECOND
    if column.kind == "date":
        return repr(date.fromisoformat(day_text(column, threshold)))
    if column.kind == "datetime":
        moment = datetime.fromisoformat(moment_text(column, micro * MICROSECOND))
        text = repr(moment)
        return text if column.zone is None else f"{text[:-1]}, tzinfo=datetime.timezone.utc)"
    if column.kind == "time":
        seconds, rest = divmod(micro, SECOND // MICROSECOND)
        return repr(time(seconds // 3600, seconds // 60 % 60, seconds % 60, rest))
    try:
        return repr(timedelta(microseconds=micro))
    except OverflowError:
        raise ValueError(
            f"Column {column.name!r} is compared with a duration too long for Python's timedelta: "
            "convert the column to numbers before fit."
        ) from None
