"""Whether the probability that a tree predicts rises, or falls, with a column.

Cases that differ in one column only are compared: whatever the other columns say, the probability
must not change in the wrong direction as that column grows. Missing values are not compared with
others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from maptree.schema.columns import Schema
from maptree.trees.tree import Tree

# Kinds of columns whose values have an order of their own.
ORDERED = ("number", "ordered", "date", "datetime", "time", "duration", "boolean")

# Two probabilities that differ by less are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class _Part:
    """What the answers along a path leave of one column."""

    above: float = -math.inf  # the greatest threshold that a value is above, by its place
    at_most: float = math.inf
    equal: int | None = None  # the category, by its place
    unequal: frozenset[int] = frozenset()
    missing: bool = False  # only missing values
    present: bool = False  # no missing values

    def meets(self, other: _Part) -> bool:
        """Return whether one value can be in both."""
        if not (self.present or other.present):
            return True  # a missing value
        if self.missing or other.missing:
            return False
        named = {part.equal for part in (self, other)} - {None}
        return (
            max(self.above, other.above) < min(self.at_most, other.at_most)
            and len(named) < 2
            and not named & (self.unequal | other.unequal)
        )

    def may_be_below(self, other: _Part) -> bool:
        """Return whether a value of this part can be less than one of the other."""
        return not self.missing and not other.missing and self.above < other.at_most


@dataclass(frozen=True)
class _Leaf:
    probability: float
    parts: Mapping[int, _Part] = field(default_factory=dict)  # by column

    def part(self, column: int) -> _Part:
        return self.parts.get(column, _Part())


def is_monotone(
    tree: Tree, schema: Schema, probability: NDArray[np.float64], wishes: Mapping[int, int]
) -> bool:
    """Return whether the probability at the leaves, given by node, satisfies all wishes.

    A wish is a column's number and a direction: 1 must not fall, -1 must not rise with it.

    >>> from maptree.schema.columns import Column
    >>> schema = Schema((Column("age", "number", "f8", thresholds=(30, 50)),))
    >>> tree = Tree([0, 1, -1, -1, -1], [1, 2, -1, -1, -1], [4, 3, -1, -1, -1], [[1]] * 5)
    >>> probability = np.array([0.5, 0.6, 0.9, 0.4, 0.2])  # 0.2 to 30, 0.4 to 50, then 0.9
    >>> is_monotone(tree, schema, probability, {0: 1})
    True
    >>> is_monotone(tree, schema, probability, {0: -1})
    False
    """
    leaves = _leaves(tree, schema, probability)
    for column, direction in wishes.items():
        for low in leaves:
            for high in leaves:
                wrong = direction * (low.probability - high.probability) > _ROUNDING
                if wrong and _compared(low, high, column):
                    return False
    return True


def _compared(low: _Leaf, high: _Leaf, column: int) -> bool:
    """Return whether two cases that differ only in a column, the lower first, end in these."""
    others = (low.parts.keys() | high.parts.keys()) - {column}
    return low.part(column).may_be_below(high.part(column)) and all(
        low.part(other).meets(high.part(other)) for other in others
    )


def _leaves(tree: Tree, schema: Schema, probability: NDArray[np.float64]) -> list[_Leaf]:
    found = []
    stack: list[tuple[int, dict[int, _Part]]] = [(0, {})]
    while stack:
        node, parts = stack.pop()
        test = int(tree.feature[node])
        if test < 0:
            found.append(_Leaf(float(probability[node]), parts))
            continue
        column = schema.column_of_test[test]
        place = test - schema.first_tests[column]
        for child, answer in ((tree.left[node], False), (tree.right[node], True)):
            part = _narrowed(parts.get(column, _Part()), schema, column, place, answer)
            stack.append((int(child), {**parts, column: part}))
    return found


def _narrowed(part: _Part, schema: Schema, column: int, place: int, answer: bool) -> _Part:
    """Return what an answer to a test, by its place among those of its column, leaves."""
    about = schema.columns[column]
    if about.has_missing and place == len(about.tests) - 1:
        return replace(part, missing=answer, present=not answer)
    # Tests are false for a missing value.
    part = replace(part, present=part.present or answer)
    if about.kind == "boolean":  # no is place -1, yes is place 0
        return replace(part, above=-1) if answer else replace(part, at_most=-1)
    if about.kind == "category":
        if answer:
            return replace(part, equal=place)
        return replace(part, unequal=part.unequal | {place})
    if answer:
        return replace(part, at_most=min(part.at_most, place))
    return replace(part, above=max(part.above, place))
