"""How a column's values are passed in targets with only floats, integers and strings: C, ONNX.

- float: a double; NaN where a value is missing. Booleans are 0 and 1.
- whole: a 64-bit integer; the smallest where a value is missing (like numpy's NaT). Dates are days
  since 1970-01-01, other times nanoseconds, as in ``Column``.
- text: UTF-8.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from maptree.export.plain_tree import PlainTree
from maptree.export.thresholds import nearest_float
from maptree.schema.columns import IN_ORDER, Column, Test
from maptree.tables.exact import floor_to

MISSING_WHOLE = -(2**63)
_INT64 = np.dtype(np.int64)
_FLOATS = 2**53
_NUMERIC = ("int", "float", "double", "bool", "decimal")
_TIMES = ("date", "time", "duration", "timedelta")

_LONGEST = 40
# Keywords of C and C++, and what compilers and standard headers may define as macros.
_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl
    complex concept const consteval constexpr constinit continue decltype default delete do double
    dynamic_cast else enum errno explicit export extern false float for friend goto i386 if
    imaginary import inline int linux long module mutable namespace new noexcept not not_eq nullptr
    operator or or_eq private protected public register reinterpret_cast requires restrict return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename typeof union unix unsigned using virtual void volatile
    wchar_t while xor xor_eq NULL NAN INFINITY EOF
"""
_RESERVED = frozenset(_WORDS.split())
_MACRO = re.compile(r"(U?INT|PTRDIFF|SIG_ATOMIC|SIZE|WCHAR|WINT|DBL|FLT|LDBL)\d*_[A-Z0-9_]*")

InputType = Literal["float", "whole", "text"]


@dataclass(frozen=True)
class Input:
    """A column that the tree tests: its C identifier and type."""

    column: int
    name: str
    type: InputType
    unit: str  # in words

    def bound(self, column: Column, test: Test, target: str) -> Any:
        """Return what the value is compared with: x <= bound, or x = bound."""
        value: Any = test.value
        if self.type == "text":
            return value
        if self.type == "whole":
            bound = floor_to(_INT64, value) if test.asks == "at most" else value
            if bound is None:
                raise ValueError(
                    f"Column {column.name!r} is compared with {value} {self.unit}, which does not "
                    f"fit into the 64 bits of {target}: scale the column before fit."
                )
            return int(bound)
        return nearest_float(column, value, target)


def encoded_inputs(tree: PlainTree, target: str, taken: Sequence[str] = ()) -> list[Input]:
    """Return the inputs for the columns that the tree tests; no name is in ``taken``."""
    names = c_names([tree.columns[column].name for column in tree.used], taken)
    return [
        Input(column, name, *_type(tree.columns[column], tree.asked[column], target))
        for column, name in zip(tree.used, names, strict=True)
    ]


def _type(column: Column, tests: list[Test], target: str) -> tuple[InputType, str]:
    kind = column.kind
    if kind in _UNITS:
        return "whole", _UNITS[kind] if column.zone is None else "nanoseconds since 1970-01-01, UTC"
    values = [test.value for test in tests if test.value is not None]
    if kind == "number":
        return _number_type(column, values, target)
    if kind in ("category", *IN_ORDER):
        texts = {isinstance(category, str) for category in column.categories}
        if len(texts) > 1:
            raise ValueError(
                f"Column {column.name!r} has both text and numbers as categories, for which "
                f"{target} has no type: convert them to text before fit."
            )
        if texts == {True}:
            return "text", "text"
        if kind == "ordered":
            raise ValueError(
                f"Column {column.name!r} has numbers as ordered categories, for which {target} has "
                "no type: convert them to text or to plain numbers before fit."
            )
        return _number_type(column, values, target)
    if kind == "boolean":
        return "float", "1 or 0"
    # Constants and identifiers, which are only tested for missing values.
    dtype = column.dtype.lower()
    if any(name in dtype for name in _TIMES):
        return "whole", "any number but the smallest"
    if kind == "constant" and any(name in dtype for name in _NUMERIC):
        return "float", "any number"
    return "text", "any text"


def _number_type(column: Column, values: list[Any], target: str) -> tuple[InputType, str]:
    """Use floats for numbers, unless they are compared with whole numbers too large for floats."""
    whole = [v for v in values if isinstance(v, int) and abs(v) >= _FLOATS]
    if not whole:
        return "float", "number"
    others = [v for v in values if not isinstance(v, int) and v != math.floor(v)]
    if others or max(map(abs, whole)) >= 2**63:
        raise ValueError(
            f"Column {column.name!r} is compared with {max(whole, key=abs)}"
            f"{f' as well as with {others[0]}' if others else ''}, which {target} cannot compare "
            "exactly: scale the column before fit."
        )
    return "whole", "whole number"


_UNITS = {
    "date": "days since 1970-01-01",
    "datetime": "nanoseconds since 1970-01-01",
    "time": "nanoseconds since midnight",
    "duration": "nanoseconds",
}


def c_names(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """Return an identifier for each name; all differ by more than case, also from ``taken``.

    >>> c_names(["age", "Größe (cm)", "int", "2nd", "", "age", "_x"])
    ['age', 'Grosse_cm', 'int_', 'x2nd', 'x', 'age_2', 'x_x']
    >>> c_names(["age", "Leaf"], taken=["leaf"])
    ['age', 'Leaf_2']
    """
    found: list[str] = []
    folded = {name.casefold() for name in taken}
    numbers: dict[str, int] = {}  # by identifier, the last number after it that is taken
    for name in names:
        first = _clean(name)
        unique, number = first, numbers.get(first.casefold(), 1)
        while unique.casefold() in folded:
            number += 1
            unique = f"{first}_{number}"
        numbers[first.casefold()] = number
        folded.add(unique.casefold())
        found.append(unique)
    return found


def _clean(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore")
    cleaned = re.sub(r"[^0-9A-Za-z]+", "_", plain.decode()).rstrip("_")[:_LONGEST]
    if not cleaned or not cleaned[0].isalpha():
        cleaned = f"x{cleaned}"
    if cleaned in _RESERVED or _MACRO.fullmatch(cleaned):
        cleaned += "_"
    return cleaned
