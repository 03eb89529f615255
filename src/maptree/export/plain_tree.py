"""The neutral form that every export starts from: a tree whose tests name their columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from maptree.schema.columns import IN_ORDER, Column, Schema, Test
from maptree.trees.fitted import FittedTree
from maptree.trees.leaf_probabilities import LEVEL
from maptree.trees.outcomes import Measured, Numbers
from maptree.trees.predictive import MOST_MEAN, NegativeBinomial, StudentT
from maptree.words.measured import LeafWords
from maptree.words.numbers import probability_text
from maptree.words.tests import TestWords

Label = str | bool | int | float

_LINE = 60  # characters per line in a picture; longer text is cut in the middle
# Characters of all lists of categories in an export, and what each name has around it.
MOST_LISTED = 1 << 23
_AROUND = 32


@dataclass(frozen=True)
class Estimate:
    """What a node predicts of a number, or of a count with an exposure of 1."""

    mean: float  # of counts, the rate per unit of exposure
    low: float  # the ends of the 95% predictive interval
    high: float
    shape: tuple[float, ...]  # degrees of freedom and scale of Student's t; size of counts

    @property
    def values(self) -> tuple[float, ...]:
        """All of them, as exports list them."""
        return self.mean, self.low, self.high, *self.shape


@dataclass(frozen=True)
class Node:
    """A node: the test of an inner node, and what is known about the training rows that reach it.

    Every test is false for a missing value, except the test for missing values; so it is for a
    category that was not seen.
    """

    number: int
    depth: int
    test: int  # among all tests; -1 at a leaf
    column: int  # among the columns; -1 at a leaf
    asks: Test | None  # None at a leaf
    no: int  # the child for each answer; -1 at a leaf
    yes: int
    rows: int  # training rows
    counts: tuple[int, ...]  # of each class; one if the tree predicts numbers or counts
    probabilities: tuple[float, ...]  # what predict_proba gives; none for numbers and counts
    estimate: Estimate | None = None  # of numbers and counts

    @property
    def is_leaf(self) -> bool:
        """Whether this is a leaf."""
        return self.asks is None

    @property
    def prediction(self) -> int:
        """The most probable class; ties go to the first."""
        return self.probabilities.index(max(self.probabilities))

    @property
    def measured(self) -> Estimate:
        """What a node of numbers or counts predicts."""
        assert self.estimate is not None
        return self.estimate

    @property
    def missing(self) -> int:
        """The child for a missing value; -1 at a leaf."""
        return self.yes if self.asks is not None and self.asks.asks == "missing" else self.no


@dataclass(frozen=True)
class PlainTree:
    """A tree with its columns and classes as plain values. Node 0 is the root.

    >>> from maptree import MAPTreeClassifier
    >>> model = MAPTreeClassifier().fit([[40], [50]] * 8, ["no", "yes"] * 8)
    >>> plain = PlainTree.of(model.fitted_)
    >>> plain.nodes[0].asks, plain.nodes[2].probabilities
    (Test(asks='at most', value=45.0), (0.8076923076923077, 0.19230769230769232))
    """

    schema: Schema
    labels: tuple[Label, ...]  # none if the tree predicts numbers or counts
    nodes: tuple[Node, ...]
    outcome: str = "classes"  # or "numbers", "counts"
    leaf_words: LeafWords | None = None  # of numbers and counts

    @classmethod
    def of(cls, fitted: FittedTree) -> PlainTree:
        """Convert a fitted tree."""
        tree, schema, measured = fitted.tree, fitted.schema, fitted.measured
        estimates = [None] * tree.node_count if measured is None else _estimates(measured, fitted)
        means = [()] * tree.node_count if measured else fitted.probabilities.tolist()
        rows, nodes = tree.rows.tolist(), []
        for number, test in enumerate(tree.feature.tolist()):
            inner = test >= 0
            nodes.append(
                Node(
                    number=number,
                    depth=int(tree.depths[number]),
                    test=test,
                    column=schema.column_of_test[test] if inner else -1,
                    asks=schema.tests[test] if inner else None,
                    no=int(tree.left[number]),
                    yes=int(tree.right[number]),
                    rows=rows[number],
                    counts=tuple(tree.counts[number].tolist()),
                    probabilities=tuple(means[number]),
                    estimate=estimates[number],
                )
            )
        labels = tuple(_plain_label(label) for label in fitted.classes)
        if measured is None:
            return cls(schema, labels, tuple(nodes))
        return cls(
            schema,
            labels,
            tuple(nodes),
            measured.name,
            LeafWords(fitted, measured),
        )

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the table."""
        return self.schema.columns

    @property
    def leaves(self) -> list[Node]:
        """The leaves, by number."""
        return [node for node in self.nodes if node.is_leaf]

    @cached_property
    def used(self) -> list[int]:
        """The columns that the tree tests, in their order."""
        return sorted({node.column for node in self.nodes if not node.is_leaf})

    @cached_property
    def words(self) -> TestWords:
        """Puts the tests into words."""
        return TestWords(self.schema)

    @cached_property
    def asked(self) -> dict[int, list[Test]]:
        """The tests that the tree uses, by column, without repeats."""
        asked: dict[int, dict[Test, None]] = {column: {} for column in self.used}
        for node in self.nodes:
            if node.asks is not None:
                asked[node.column][node.asks] = None
        return {column: list(tests) for column, tests in asked.items()}

    def refuse_exposure(self) -> None:
        """Refuse to multiply by an exposure what is not a rate."""
        if self.outcome != "counts":
            raise TypeError(
                f"exposure is for trees that predict counts, but this one predicts {self.outcome}: "
                "omit it."
            )

    def refuse_long_lists(self, target: str, tests: Iterable[tuple[int, Test]]) -> None:
        """Refuse to list the categories of these tests, given with their columns, at any length.

        A test of an ordered column or of sets is a list of categories in most targets. With
        thousands of categories and tests the lists grow with the square of the model.
        """
        totals: dict[int, list[int]] = {}  # characters of a column's categories up to each
        listed: Counter[int] = Counter()
        for number, test in tests:
            column = self.columns[number]
            if column.kind not in IN_ORDER or test.asks != "at most":
                continue
            if number not in totals:
                sizes = (len(str(category)) + _AROUND for category in column.categories)
                totals[number] = list(accumulate(sizes, initial=0))
            start, stop = column.places_of(test)[1:]
            listed[number] += totals[number][stop] - totals[number][start]
        if listed.total() > MOST_LISTED:
            name = self.columns[listed.most_common(1)[0][0]].name
            raise ValueError(
                f"The categories of column {short(name)!r}, listed in every test, would make "
                f"about {listed.total() >> 20:,} MiB of {target}; at most {MOST_LISTED >> 20} are "
                "written. to_onnx and to_sklearn list them once; a smaller tree lists fewer."
            )

    def refuse_repeated_names(self, target: str) -> None:
        """Refuse columns that a target cannot tell apart by name."""
        times = Counter(column.name for column in self.columns)
        for column in self.used:
            name = self.columns[column].name
            if times[name] > 1:
                raise ValueError(
                    f"Two columns are called {short(name)!r}, but {target} finds columns by name: "
                    "pass distinct feature_names."
                )


def _estimates(measured: Measured, fitted: FittedTree) -> list[Estimate | None]:
    """Return what each node predicts; refuse what no language has a number for."""
    tree, tail = fitted.tree, (1 - LEVEL) / 2
    found = measured.predictive(tree)
    # The rate is the mean of the distribution, without its rounding errors.
    mean = found.mean if isinstance(measured, Numbers) else measured.rates(tree)
    columns, most = [mean], MOST_MEAN if isinstance(found, NegativeBinomial) else math.inf
    if (mean <= most).all():
        shape = [found.df, found.scale] if isinstance(found, StudentT) else [found.n]
        columns += [found.quantile(tail), found.quantile(1 - tail), *shape]
    usable = np.isfinite(columns).all(axis=0) & (mean <= most)
    if not usable.all():
        raise ValueError(
            f"What node {int(np.argmin(usable))} predicts is too large for an export: fit y, or "
            "the exposure, in another unit."
        )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [Estimate(mean, low, high, tuple(more)) for mean, low, high, *more in rows]


def _plain_label(label: Any) -> Label:
    """Return a label as a Python value; anything but text and numbers becomes text."""
    if isinstance(label, (np.bool_, np.integer, np.floating)):
        label = label.item()
    if isinstance(label, (bool, int, float)):
        return label
    return str(label)


def short(text: str, most: int = 60) -> str:
    """Cut text in the middle.

    >>> short("a" * 40 + "b" * 40, 21)
    'aaaaaaaaaa…bbbbbbbbbb'
    """
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[:half]}…{text[-half:]}"


def node_lines(tree: PlainTree, node: Node) -> list[str]:
    """Return the test of an inner node, or what a leaf predicts and its rows."""
    if not node.is_leaf:
        return [short(tree.words.test(node.test), _LINE)]
    if tree.leaf_words is not None:
        predicted, _, rows = tree.leaf_words.predicted(node.number).rpartition(", n = ")
        return [short(predicted, _LINE), f"n = {rows}"]
    label = short(str(tree.labels[node.prediction]), _LINE)
    return [f"{label} {probability_text(max(node.probabilities))}", f"n = {node.rows:,}"]


def edge_words(tree: PlainTree, node: Node) -> tuple[str, str]:
    """Return the labels of the two edges, for yes and for no.

    If values were missing in training, the edge that they take says so.
    """
    asked = node.asks is not None and node.asks.asks == "missing"
    missing = tree.columns[node.column].has_missing and not asked
    return "yes", "no or missing" if missing else "no"
