"""Whether a tree is monotone, against the predictions for every case of a grid."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from maptree.schema.columns import Column, Schema, Test
from maptree.trees.monotone import is_monotone
from maptree.trees.tree import Tree
from problems import seeds

AGE = Column("age", "number", "f8", thresholds=(1.5, 2.5, 3.5), has_missing=True)
SIZE = Column("size", "ordered", "enum", thresholds=(0, 1), categories=("s", "m", "l"))
COLOUR = Column("colour", "category", "str", categories=("blue", "red"), has_missing=True)
MEMBER = Column("member", "boolean", "bool", categories=(False, True), has_missing=True)
SCHEMA = Schema((AGE, SIZE, COLOUR, MEMBER))
# Every value that tests can tell apart; None is missing.
VALUES: list[list[Any]] = [[1, 2, 3, 4, None], [0, 1, 2], ["blue", "red", "x", None], [0, 1, None]]


def answer(column: int, test: Test, value: Any) -> bool:
    if test.asks == "missing":
        return value is None
    if value is None:
        return False
    if test.asks == "at most":
        return bool(value <= test.value)
    return bool(value == test.value)


def random_tree(rng: np.random.Generator) -> Tree:
    """Of tests that may or may not part anything."""
    feature: list[int] = []
    left: list[int] = []
    right: list[int] = []

    def grow(depth: int) -> int:
        node = len(feature)
        feature.append(-1)
        left.append(-1)
        right.append(-1)
        if depth < 4 and rng.random() < 0.75:
            feature[node] = int(rng.integers(len(SCHEMA.tests)))
            left[node] = grow(depth + 1)
            right[node] = grow(depth + 1)
        return node

    grow(0)
    return Tree(feature, left, right, np.ones((len(feature), 2), dtype=np.int64))


def leaf(tree: Tree, case: tuple[Any, ...]) -> int:
    node = 0
    while tree.feature[node] >= 0:
        test = int(tree.feature[node])
        column = SCHEMA.column_of_test[test]
        true = answer(column, SCHEMA.tests[test], case[column])
        node = int(tree.right[node] if true else tree.left[node])
    return node


@seeds(300)
def test_as_on_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = random_tree(rng)
    # A few values: small trees are often monotone, large ones seldom.
    probability = rng.choice([0.1, 0.5, 0.9][: 2 + seed % 2], size=tree.node_count)
    reached = {case: leaf(tree, case) for case in itertools.product(*VALUES)}
    for column in (0, 1, 3):
        for direction in (1, -1):
            expected = all(
                direction * (probability[reached[case]] - probability[reached[other]]) <= 0
                for case in reached
                for value in VALUES[column]
                if case[column] is not None and value is not None and case[column] < value
                for other in [(*case[:column], value, *case[column + 1 :])]
            )
            found = is_monotone(tree, SCHEMA, probability, {column: direction})
            # A path whose answers contradict each other is a leaf that no case reaches.
            if set(np.flatnonzero(tree.feature < 0)) == set(reached.values()):
                assert found == expected
            else:
                assert not found or expected
