"""Paths of a tree that no search can have found, or that are too long to be described.

A search splits rows by tests whose answers differ among them. So no test on a path has an answer
that the tests above it determine, which also bounds the depth: a path has each test once at most.
What describes paths takes time and space with their lengths. A file could make these grow with the
square of its size, so their sum is limited as well, to what is nearly linear.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from maptree.files.json_values import show
from maptree.schema.columns import IN_ORDER, Schema, Test
from maptree.trees.tree import Tree

# Tests on the paths to all leaves: any shape of a thousand leaves is allowed, in larger trees paths
# of this length on average. One-hot columns make long paths: a search that found them is not lost.
MOST_TESTS = 500_000
MOST_TESTS_PER_LEAF = 512
# Categories of a set that a rule names at most.
_NAMED = 8
# Characters of the tests on the paths to all leaves.
MOST_TEXT = 1 << 26


class _Known(NamedTuple):
    """What the tests on a path tell about a column."""

    above: int = -1  # the last of the thresholds that were exceeded, by position
    at_most: int | None = None  # the first of those that were not
    decided: bool = False  # one category, or missing

    def answers(self, test: Test, position: int) -> bool:
        """Return whether the answer to another test follows."""
        if self.decided:
            return True
        if test.asks == "missing":
            return self.at_most is not None
        return test.asks == "at most" and (
            position <= self.above or (self.at_most is not None and position >= self.at_most)
        )

    def after(self, test: Test, position: int, answer: bool) -> _Known:
        """Return what is known after a test."""
        if test.asks != "at most":
            return self._replace(decided=answer)
        return self._replace(at_most=position) if answer else self._replace(above=position)


def refuse_impossible_paths(tree: Tree, schema: Schema) -> None:
    """Refuse tests whose answers are known, and paths that are too long in total."""
    feature, left, right = tree.feature.tolist(), tree.left.tolist(), tree.right.tolist()
    column_of, tests = schema.column_of_test, schema.tests
    first = schema.first_tests
    on_path: set[int] = set()
    known: dict[int, _Known] = {}
    # A test that is left for good, or a node with what its parent's test tells about its column.
    stack: list[tuple[int, int, _Known]] = [(0, -1, _Known())]
    while stack:
        node, column, tells = stack.pop()
        known[column] = tells
        if node < 0:
            on_path.remove(~node)
            continue
        number = feature[node]
        if number < 0:
            continue
        column = column_of[number]
        test, position, before = tests[number], number - first[column], known.get(column, _Known())
        if number in on_path or before.answers(test, position):
            raise ValueError(
                f"tree.feature[{node}] is {number}, a test of {show(schema.columns[column].name)} "
                "whose answer follows from the tests above it. No search finds such a tree."
            )
        on_path.add(number)
        stack.append((~number, column, before))
        stack.append((right[node], column, before.after(test, position, True)))
        stack.append((left[node], column, before.after(test, position, False)))
    _refuse_long_paths(tree, schema)


def _refuse_long_paths(tree: Tree, schema: Schema) -> None:
    leaves = tree.feature < 0
    n_tests = int(tree.depths[leaves].sum())
    most = max(MOST_TESTS, MOST_TESTS_PER_LEAF * tree.n_leaves)
    if n_tests > most:
        raise ValueError(
            f"tree: the paths to its {tree.n_leaves:,} leaves have {n_tests:,} tests in total; at "
            f"most {most:,}. With a smaller max_depth there are fewer."
        )
    sizes = _test_sizes(set(tree.feature[tree.feature >= 0].tolist()), schema)
    above = [0] * tree.node_count  # characters of the tests above a node
    in_rules = 0
    left, right = tree.left.tolist(), tree.right.tolist()
    for node, number in enumerate(tree.feature.tolist()):  # children follow their parents
        if number < 0:
            in_rules += above[node]
        else:
            above[left[node]] = above[right[node]] = above[node] + sizes[number]
    if in_rules > MOST_TEXT:
        raise ValueError(
            f"tree: the tests on the paths to all leaves take {in_rules:,} characters; at most "
            f"{MOST_TEXT:,}."
        )


def refuse_long_tests(tests: Iterable[int], schema: Schema) -> None:
    """Refuse tests that would take too much text if each is written once."""
    in_words = sum(_test_sizes(tests, schema).values())
    if in_words > MOST_TEXT:
        raise ValueError(
            f"the tests of all trees take {in_words:,} characters; at most {MOST_TEXT:,}."
        )


def _test_sizes(tests: Iterable[int], schema: Schema) -> dict[int, int]:
    """Return the characters, at most, of each of some tests in a rule."""
    sizes = {}
    longest: dict[int, int] = {}
    for number in tests:
        j = schema.column_of_test[number]
        column, test = schema.columns[j], schema.tests[number]
        size = 0 if test.value is None else len(str(test.value))
        if column.kind in IN_ORDER and test.asks == "at most":  # a category, or some of a set
            if j not in longest:
                longest[j] = max(len(str(name)) for name in column.categories)
            _, start, stop = column.places_of(test)
            size = longest[j] * (min(stop - start, _NAMED) if column.kind == "sets" else 1)
        sizes[number] = len(column.name) + size
    return sizes
